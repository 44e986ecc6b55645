//! Peak memory of the program itself. The bounds are those of the release; the full 1 GB is run by hand.
#![cfg(target_os = "linux")]

use super::support::{Done, Lab, demo};

#[track_caller]
fn assert_below(done: &Done, megabytes: u64) {
    let peak = done.peak_kib / 1024;
    eprintln!("peak {peak} MB of {megabytes} MB, {:?}", done.took);
    assert!(peak > 2, "the peak was not seen");
    assert!(peak <= megabytes, "{peak} MB");
}

#[test]
fn a_hundred_thousand_chunks_stay_below_150_mb() {
    let lab = Lab::new();
    let done = lab.exec(&["flood"], &demo("slow"));
    done.assert_code(0);
    assert_eq!(done.out().len(), 100_000 * 5 + "end\n".len());
    assert_below(&done, 150);
}

#[test]
fn a_hundred_megabytes_of_output_of_a_command_stay_below_80_mb() {
    let lab = Lab::new();
    let mut steps = String::new();
    let size = std::env::var("ACP_TUI_TEST_OUTPUT_BYTES").unwrap_or_else(|_| "100000000".to_owned());
    steps += &format!(
        r#"{{ do = "terminal", tool = "t", command = "sh", args = ["-c", "yes 0123456789012345678901234567890123456789 | head -c {size}; echo; echo last"], output_byte_limit = 100, succeeded = [{{ do = "say", text = "{{answer}}" }}] }}"#
    );
    let done = lab.exec(&["x", "--allow", "all"], &lab.turn(&steps));
    done.assert_code(0);
    assert!(done.out().ends_with("\nlast\n"), "{}", done.out());
    assert_below(&done, 80);
}

#[test]
fn a_line_above_64_mib_is_survived_below_250_mb() {
    let lab = Lab::new();
    let done = lab.exec(&["huge"], &demo("corruption"));
    assert_eq!(done.assert_code(0).out(), "after the huge line\n");
    assert_below(&done, 250);
}
