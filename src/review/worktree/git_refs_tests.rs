//! Refs as git writes them, and what only looks like that.

use super::*;
use std::fs;

const OID: &str = "7f7375d957c66e9019fc7b8bbeedcf56a89f5695";
/// Tables as git has written them: `main`, `feature` and `a/b`, which the second one has no more, but a tag.
const TABLES: [&str; 2] = [
    "5245465401001000000000000000000100000000000000047200009d0023484541440011726566732f68656164732f6d61737465720071726566732f68656164732f612f62037f7375d957c66e9019fc7b8bbeedcf56a89f56950b3966656174757265027f7375d957c66e9019fc7b8bbeedcf56a89f56950b316d6173746572017f7375d957c66e9019fc7b8bbeedcf56a89f569500001c00003500026700019578da63c8f470757461f80f017f19b080fae2d29be1c7f22648fea9eedef7f67cd88af96153191399131d925aaf4f9a95cac020969c9f9b9b59a2a091999759929998a369a5909f97cac5d06059949a56ac9f919a9852ac9fa89f04b3e53759b6c8241525e6256758293817a52696a4a628a415e5e72ae4261697a41671713730a601454b8b526196fca181259510066d428b818581219e810900655e90bc524546540100100000000000000000010000000000000004000000000000000000000000000000000000000000000000000000000000009d000000000000000073ce8c44",
    "524546540100100000000000000000050000000000000006720000640070726566732f68656164732f612f6201053a746167732f7631005a6091f099e49bd6eac2c402008e22e72a633b657f7375d957c66e9019fc7b8bbeedcf56a89f569500001c00016700002378da6368b0284a4d2bd6cf484d4c29d64fd44f62f80f01bf191858181801ceff0db75245465401001000000000000000000500000000000000060000000000000000000000000000000000000000000000000000000000000064000000000000000012366809",
];

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn with_tables(tables: &[Vec<u8>]) -> tempfile::TempDir {
    let git = tempfile::tempdir().unwrap();
    fs::create_dir(git.path().join("reftable")).unwrap();
    let names: Vec<String> = (1..=tables.len()).map(|n| format!("0x{n}.ref")).collect();
    for (name, table) in names.iter().zip(tables) {
        fs::write(git.path().join("reftable").join(name), table).unwrap();
    }
    fs::write(git.path().join("reftable/tables.list"), names.join("\n")).unwrap();
    git
}

fn found(git: &Path) -> Option<Vec<String>> {
    let line = |(name, of): (Vec<u8>, Option<String>)| format!("{} {}", walk::show(&name), of.unwrap_or_default());
    Some(others(git)?.into_iter().map(line).collect())
}

#[test]
fn refs_are_read_from_tables_and_lists_and_a_later_table_takes_them_away() {
    let [first, second] = TABLES.map(bytes);
    let git = with_tables(std::slice::from_ref(&first));
    let names = |names: &[&str]| Some(names.iter().map(|name| format!("{name} {OID}")).collect::<Vec<_>>());
    assert_eq!(found(git.path()), names(&["refs/heads/a/b", "refs/heads/feature", "refs/heads/master"]));
    let git = with_tables(&[first.clone(), second.clone()]);
    let tag = "refs/tags/v1 5a6091f099e49bd6eac2c402008e22e72a633b65".to_owned();
    let mut expected = names(&["refs/heads/feature", "refs/heads/master"]);
    expected.as_mut().unwrap().push(tag);
    assert_eq!(found(git.path()), expected);
    fs::write(git.path().join("packed-refs"), format!("# pack-refs with: peeled\n{OID} refs/heads/old\n^{OID}\n"))
        .unwrap();
    assert!(found(git.path()).unwrap().contains(&format!("refs/heads/old {OID}")));
    fs::remove_file(git.path().join("reftable/0x1.ref")).unwrap();
    assert_eq!(found(git.path()), None, "a table is not there");
}

#[test]
fn a_table_that_is_damaged_anywhere_ends_the_reading_and_nothing_else() {
    let whole = bytes(TABLES[0]);
    for at in 0..whole.len() {
        for other in [0, 0xff, whole[at] ^ 1] {
            let mut table = whole.clone();
            table[at] = other;
            let mut refs = Refs::new();
            let _ = super::table(&table, &mut refs);
            let _ = super::table(&whole[..at], &mut refs);
        }
    }
}
