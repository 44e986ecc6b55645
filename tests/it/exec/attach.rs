//! `--attach` and `@path`: what goes along with a prompt, by what the file is and what the agent takes.

use super::support::Lab;
use serde_json::{Value, json};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and what follows";
const ALL: &str = "[agent.capabilities]\npromptCapabilities = { image = true, audio = true, embeddedContext = true }\n";
const NONE: &str =
    "[agent.capabilities]\npromptCapabilities = { image = false, audio = false, embeddedContext = false }\n";

fn lab() -> Lab {
    let lab = Lab::new();
    for (name, bytes) in [
        ("shot.bin", PNG),
        ("said.wav", b"RIFF....WAVEfmt ".as_slice()),
        ("notes.md", b"# Notes\n"),
        ("data", b"\xff\0\xfe"),
    ] {
        std::fs::write(lab.cwd().join(name), bytes).unwrap();
    }
    lab
}

fn blocks(record: &super::support::Recording) -> Vec<Value> {
    record.calls(true, "session/prompt")[0]["params"]["prompt"].as_array().unwrap().clone()
}

#[test]
fn r_129_r_132_r_344_directories_are_named_once_and_files_in_them_are_served() {
    let lab = Lab::new();
    let further = lab.path("further");
    std::fs::create_dir(&further).unwrap();
    std::fs::write(further.join("f.txt"), "from further").unwrap();
    let file = further.canonicalize().unwrap().join("f.txt");
    let reads = format!("[[turn]]\ndefault = true\nstep = [{{ do = \"read\", path = {file:?}, tool = \"r\" }}]\n");
    let takes = "[agent.capabilities]\nsessionCapabilities = { additionalDirectories = {} }\n";
    let dir = further.to_str().unwrap();
    let args = ["look", "--add-dir", dir, "--add-dir", dir, "--add-dir", "."];
    let (done, record) = lab.record(&args, &lab.script(&format!("{takes}{reads}")));
    done.assert_code(0);
    let real = further.canonicalize().unwrap();
    assert_eq!(record.calls(true, "session/new")[0]["params"]["additionalDirectories"], json!([real]));
    let text = std::fs::read_to_string(lab.path("record.jsonl")).unwrap();
    assert!(text.contains("from further"), "{text}");
    std::fs::remove_file(lab.path("record.jsonl")).unwrap();

    let (done, record) = lab.record(&args, &lab.script(&reads));
    done.assert_says(2, &["--add-dir", "sessionCapabilities.additionalDirectories"]);
    assert!(record.calls(true, "session/prompt").is_empty());
    lab.exec(&["look", "--add-dir", "nowhere"], &lab.script("")).assert_says(2, &["--add-dir nowhere"]);
}

const FILES: [&str; 8] = ["--attach", "shot.bin", "--attach", "said.wav", "--attach", "notes.md", "--attach", "data"];

#[test]
fn r_213_r_214_what_a_file_is_its_bytes_say_and_an_agent_gets_what_it_takes() {
    let lab = lab();
    let args = [&["look"][..], &FILES].concat();
    let (done, record) = lab.record(&args, &lab.script(ALL));
    done.assert_code(0);
    let blocks = blocks(&record);
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource", "resource_link"]);
    assert_eq!((&blocks[1]["mimeType"], &blocks[2]["mimeType"]), (&json!("image/png"), &json!("audio/wav")));
    assert_eq!(blocks[3]["resource"]["text"], json!("# Notes\n"));
    assert!(blocks[3]["resource"]["uri"].as_str().unwrap().ends_with("/work/notes.md"));
    let (data, journal) = (blocks[1]["data"].as_str().unwrap(), lab.journal().1);
    assert!(!journal.contains(data) && journal.contains("shot.bin"), "{journal}");
}

#[test]
fn r_213_an_image_or_a_sound_that_the_agent_does_not_take_is_refused_by_name() {
    let lab = lab();
    let agent = lab.script(NONE);
    for (file, capability) in [("shot.bin", "promptCapabilities.image"), ("said.wav", "promptCapabilities.audio")] {
        let (done, record) = lab.record(&["look", "--attach", file], &agent);
        done.assert_says(2, &[file, capability]);
        assert!(record.calls(true, "session/prompt").is_empty());
        std::fs::remove_file(lab.path("record.jsonl")).unwrap();
    }
    let (done, record) = lab.record(&["look", "--attach", "notes.md"], &agent);
    done.assert_code(0);
    assert_eq!(blocks(&record)[1]["type"], "resource_link");
}

#[test]
fn an_image_that_the_prompt_names_goes_along_and_one_that_is_not_taken_is_a_line() {
    let lab = lab();
    std::fs::write(lab.cwd().join("a b.png"), PNG).unwrap();
    let (done, record) = lab.record(&["what is on @\"a b.png\" and @notes.md?"], &lab.script(ALL));
    done.assert_code(0);
    let kinds: Vec<Value> = blocks(&record).iter().map(|block| block["type"].clone()).collect();
    assert_eq!(kinds, [json!("text"), json!("image"), json!("resource_link")]);
    lab.exec(&["what is on @\"a b.png\"?"], &lab.script(NONE)).assert_says(2, &["a b.png", "promptCapabilities.image"]);
}

#[test]
fn files_that_cannot_go_along_are_a_clear_line() {
    let lab = lab();
    let mut large = PNG.to_vec();
    large.resize(11 << 20, 0);
    std::fs::write(lab.cwd().join("large.png"), large).unwrap();
    let agent = lab.script(ALL);
    for (file, why) in [("large.png", "at most 10"), ("none.png", "No such file"), ("/dev/zero", "not a regular file")]
    {
        lab.exec(&["look", "--attach", file], &agent).assert_says(2, &["--attach", why]);
    }
    lab.exec(&["look @large.png"], &agent).assert_says(2, &["large.png", "at most 10"]);
}
