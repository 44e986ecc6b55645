//! The files of `--review`, `--patch` and `--record`, and an agent that puts something else in their place: nothing is
//! waited for, nothing outside is written, nothing of anybody's is lost, and it is said.

use crate::exec::support::{Done, Lab, Running, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A turn in which a command changes a file and does `more`.
fn agent(lab: &Lab, more: &str) -> Vec<String> {
    let script = lab.write("work.sh", &format!("echo changed >> kept.txt\n{more}\n"));
    let path = script.to_str().unwrap();
    lab.turn(&format!(
        r#"{{ do = "terminal", tool = "t", command = "sh", args = ["{path}"] }}, {{ do = "say", text = "done" }},"#
    ))
}

fn run(lab: &Lab, options: &[&str], more: &str) -> Done {
    lab.exec(&[&["go", "--allow", "all", "--timeout", "60"], options].concat(), &agent(lab, more))
}

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What lies beside a file under a name that begins with its own.
fn beside(file: &Path) -> Vec<PathBuf> {
    let name = format!("{}.", file.file_name().unwrap().to_str().unwrap());
    let all = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&name)).collect()
}

fn is_report(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|report| report["files"][0]["path"] == "kept.txt")
}

#[test]
fn what_an_agent_puts_in_the_place_of_the_report_is_not_written_to_and_the_report_lies_beside_it() {
    for (case, put) in [
        ("a fifo", "rm -f rev.json; mkfifo rev.json"),
        ("a link to a file outside", "rm -f rev.json; ln -s ../precious rev.json"),
        ("a link to what is not there yet", "rm -f rev.json; ln -s ../fresh rev.json"),
        ("a link to itself", "rm -f rev.json; ln -s rev.json rev.json"),
        ("a file from outside", "mv -f ../precious rev.json"),
        ("a directory", "rm -f rev.json; mkdir rev.json"),
        ("a device", "rm -f rev.json; ln -s /dev/full rev.json"),
    ] {
        for is_there in [false, true] {
            let lab = Lab::new();
            let precious = lab.write("precious", "precious\n");
            let report = lab.path("work/rev.json");
            if is_there {
                std::fs::write(&report, "old\n").unwrap();
            }
            let done = run(&lab, &["--review", "rev.json"], put);
            done.assert_says(1, &["rev.json", "something else"]);
            let case = format!("{case}, there before: {is_there}");
            let kept = if precious.exists() { precious.clone() } else { report.clone() };
            assert_eq!(std::fs::read_to_string(kept).unwrap(), "precious\n", "{case}");
            assert!(!lab.path("fresh").exists(), "{case}");
            let found = beside(&report);
            assert!(found.len() == 1 && is_report(&std::fs::read(&found[0]).unwrap()), "{case}: {found:?}");
            assert!(done.err().contains(found[0].to_str().unwrap()), "{case}: {}", done.err());
        }
    }
}

#[test]
fn a_directory_that_an_agent_swaps_for_a_link_leads_nowhere_else() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("elsewhere")).unwrap();
    std::fs::create_dir(lab.path("work/out")).unwrap();
    lab.write("elsewhere/p.patch", "precious\n");
    let done = run(&lab, &["--patch", "out/p.patch"], "mv out out2; ln -s ../elsewhere out");
    done.assert_says(1, &["out/p.patch"]);
    assert_eq!(std::fs::read_to_string(lab.path("elsewhere/p.patch")).unwrap(), "precious\n");
    assert!(std::fs::read_to_string(lab.path("work/out2/p.patch")).unwrap().contains("+changed"));
}

#[test]
fn the_persons_own_link_is_written_through_to_where_it_led_at_the_start() {
    let lab = Lab::new();
    let (first, link) = (lab.write("first", "old\n"), lab.path("work/rev.json"));
    symlink("../first", &link).unwrap();
    run(&lab, &["--review", "rev.json"], "true").assert_code(0);
    assert!(is_report(&std::fs::read(&first).unwrap()));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    // Wherever the agent lets it lead.
    let second = lab.write("second", "precious\n");
    std::fs::write(&first, "old\n").unwrap();
    run(&lab, &["--review", "rev.json"], "ln -sfn ../second rev.json").assert_code(0);
    assert_eq!(std::fs::read_to_string(second).unwrap(), "precious\n");
    assert!(is_report(&std::fs::read(&first).unwrap()));
}

#[test]
fn a_pipe_of_the_persons_is_not_waited_for() {
    let lab = Lab::new();
    mkfifo(&lab.path("pipe"));
    run(&lab, &["--review", "../pipe"], "true").assert_says(1, &["../pipe", "nobody reads"]);
    // With somebody who reads it is as good as a file.
    let mut cat = lab.command("cat");
    cat.arg(lab.path("pipe"));
    let cat = Running::start(cat, Stdio::null());
    run(&lab, &["--review", "../pipe"], "true").assert_code(0);
    assert!(is_report(&cat.finish().stdout));
}

#[test]
fn a_reader_that_never_reads_is_not_waited_for_after_a_signal_or_the_time() {
    // More than a pipe holds.
    let much = "seq 1 60000 > kept.txt";
    for signal in [None, Some(Signal::TERM)] {
        let lab = Lab::new();
        mkfifo(&lab.path("pipe"));
        let _reader = std::fs::File::options().read(true).write(true).open(lab.path("pipe")).unwrap();
        let timeout = if signal.is_some() { "80" } else { "10" };
        let args = ["go", "--allow", "all", "--timeout", timeout, "--patch", "../pipe"];
        let running = lab.start(&args, &agent(&lab, much));
        if let Some(signal) = signal {
            wait_until("the patch is being written", || {
                let mut held = std::fs::read_dir(format!("/proc/{}/fd", running.pid)).unwrap();
                held.any(|fd| fd.is_ok_and(|fd| fd.path().read_link().is_ok_and(|to| to == lab.path("pipe"))))
            });
            running.signal(signal);
        }
        running.finish().assert_says(1, &["../pipe"]);
    }
}

#[test]
fn what_cannot_be_written_at_the_end_is_refused_before_anything_is_started() {
    let lab = Lab::new();
    lab.write("work/file", "");
    symlink("round", lab.path("work/round")).unwrap();
    symlink("gone/r", lab.path("work/astray")).unwrap();
    let mut all = vec!["no/such/r", "file/below", ".", "round", "astray"];
    if cfg!(target_os = "linux") {
        all.push("/proc/r.json");
    }
    for option in ["--review", "--patch", "--record"] {
        for file in &all {
            run(&lab, &[option, file], "touch ../started").assert_says(2, &[option, file]);
            assert!(!lab.path("started").exists(), "{option} {file}");
        }
    }
    assert_eq!(std::fs::read_dir(lab.cwd()).unwrap().count(), 3, "something was left over");
}

#[test]
fn a_recording_into_a_pipe_is_refused_before_anything_starts() {
    let lab = Lab::new();
    let (pipe, link) = (lab.path("pipe"), lab.path("link"));
    mkfifo(&pipe);
    symlink(&pipe, &link).unwrap();
    for place in [&pipe, &link] {
        let done = run(&lab, &["--record", place.to_str().unwrap()], "true");
        done.assert_says(2, &["--record ", "not a plain file"]);
    }
    assert!(!lab.path("work/kept.txt").exists(), "nothing was started");
}

#[test]
fn one_file_for_two_options_is_refused() {
    let lab = Lab::new();
    symlink("one", lab.path("work/link")).unwrap();
    for (first, second) in [("--review", "--patch"), ("--review", "--record"), ("--patch", "--record")] {
        for (one, other) in [("one", "./one"), ("one", "link"), ("link", "../work/one")] {
            for two in [[first, one, second, other], [first, other, second, one]] {
                run(&lab, &two, "touch ../started").assert_says(2, &[first, second, "the same file"]);
                assert!(!lab.path("started").exists() && !lab.path("work/one").exists(), "{two:?}");
            }
        }
    }
    run(&lab, &["--review", "/dev/null", "--patch", "/dev/null"], "true").assert_code(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_that_could_not_be_written_is_said() {
    let lab = Lab::new();
    let done = run(&lab, &["--record", "/dev/full"], "true");
    assert!(done.assert_code(0).err().contains("the recording waits for room"), "{}", done.err());
    assert!(done.out().contains("done"), "{}", done.out());
}
