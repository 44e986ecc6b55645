//! Agents behind a server that this project did not write (`examples/sdk_server.rs`, on the SDK's crate for HTTP and
//! WebSocket): edits, commands, a cancelled turn, much text, a large message, a connection that is cut, and certificates.

use super::support::{Done, Lab, PROGRAM, Running, demo};
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

const SCRIPT: &str = r#"
[agent]
capabilities = { loadSession = true }
keeps = "KEPT"

[[turn]]
match = "edit"
step = [
  { do = "write", tool = "w", path = "made.txt", text = "made here\n" },
  { do = "terminal", tool = "t", command = "sh", args = ["-c", "cat made.txt; echo run > ran.txt"] },
  { do = "say", text = "edited" },
]

[[turn]]
match = "hang"
step = [{ do = "say", text = "hanging" }, { do = "hang" }]

[[turn]]
match = "flood"
step = [{ do = "flood", chunks = 20000, text = "word " }, { do = "say", text = "end" }]

[[turn]]
default = true
step = [{ do = "say", text = "heard it" }]
"#;

/// A server with the demo agent behind it, in a lab, and a place between the two where connections can be cut.
struct Served {
    lab: Lab,
    server: Child,
    port: u16,
    between: Between,
}

/// Connections that go through, both ends of each.
type Streams = Arc<Mutex<Vec<TcpStream>>>;

struct Between {
    port: u16,
    streams: Streams,
}

impl Between {
    fn and(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let streams = Streams::default();
        let all = Arc::clone(&streams);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                for (from, to) in [(&client, &far), (&far, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Write);
                    });
                }
                all.lock().unwrap().extend([client, far]);
            }
        });
        Self { port, streams }
    }

    fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates").join(name)
}

impl Served {
    fn new(options: &[&str]) -> Self {
        Self::with(options, SCRIPT)
    }

    fn with(options: &[&str], script: &str) -> Self {
        let lab = Lab::new();
        let kept = lab.path("kept.json");
        let script = lab.write("agent.toml", &script.replace("KEPT", kept.to_str().unwrap()));
        // Cargo builds examples before it runs tests, beside the program.
        let server = Path::new(PROGRAM).with_file_name("examples").join("sdk_server");
        assert!(server.exists(), "{} is missing: `cargo build --examples` builds it", server.display());
        let mut command = lab.command(server.to_str().unwrap());
        command.args(options).args(demo(script.to_str().unwrap())).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let port = port.trim().parse().unwrap();
        Self { lab, server, port, between: Between::and(port) }
    }

    /// What is given to `exec` to reach it over this.
    fn configure(&self, scheme: &str, transport: &str) {
        let port = self.between.port;
        let text = format!(
            "default_agent = \"far\"\n[agents.far]\nurl = \"{scheme}://localhost:{port}/acp\"\n\
             transport = \"{transport}\"\nfiles = true\nterminals = true\n"
        );
        self.lab.write("config/acp-tui/config.toml", &text);
    }

    fn exec(&self, args: &[&str]) -> Done {
        self.lab.exec(args, &[])
    }

    fn trusting(&self, authority: &str, args: &[&str]) -> Done {
        let mut command = self.lab.exec_command(args, &[]);
        command.env("SSL_CERT_FILE", certificate(authority));
        Running::start(command, Stdio::null()).finish()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const BOTH: [&str; 2] = ["http", "websocket"];

#[test]
fn s_078_s_093_files_and_commands_are_served_to_an_agent_behind_a_server_of_others() {
    for transport in BOTH {
        let served = Served::new(&[]);
        served.configure("http", transport);
        let done = served.exec(&["edit it", "--json", "--allow", "all"]);
        done.assert_code(0);
        assert_eq!(done.json_text("text"), "edited", "{transport}");
        assert_eq!(done.json()[0]["transport"], transport);
        let read = |name: &str| std::fs::read_to_string(served.lab.cwd().join(name)).unwrap();
        assert_eq!((read("made.txt").as_str(), read("ran.txt").as_str()), ("made here\n", "run\n"), "{transport}");
    }
}

#[test]
fn s_084_a_server_of_others_that_speaks_http_2_alone_is_reached() {
    let served = Served::new(&["--http2"]);
    served.configure("http", "http");
    let done = served.exec(&["edit it", "--json", "--allow", "all"]);
    done.assert_code(0);
    assert_eq!(done.json_text("text"), "edited");
}

#[test]
fn s_082_a_turn_behind_a_server_of_others_is_cancelled() {
    for transport in BOTH {
        let served = Served::new(&[]);
        served.configure("http", transport);
        let mut running = served.lab.start(&["hang", "--json"], &[]);
        running.until_line("hanging");
        running.signal(Signal::INT);
        let done = running.finish();
        done.assert_code(130);
        // The agent has been told, and has answered.
        let is_told = |line: &serde_json::Value| line["type"] == "notice" && line["title"] == "stopped";
        assert!(done.json().iter().any(is_told), "{transport}: {}", done.out());
    }
}

#[test]
fn s_086_s_095_much_text_comes_whole_from_a_server_of_others() {
    for (options, transport) in [(&[][..], "http"), (&["--http2"], "http"), (&[], "websocket")] {
        let served = Served::new(options);
        served.configure("http", transport);
        let done = served.exec(&["flood"]);
        assert_eq!(done.assert_code(0).out().len(), "word ".len() * 20_000 + "end\n".len(), "{transport} {options:?}");
    }
}

#[test]
fn s_098_a_message_of_20_megabytes_comes_from_a_server_of_others() {
    let text = "0123456789abcdef".repeat(20 << 16);
    let script = format!("[[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"{text}\" }}]\n");
    for transport in BOTH {
        let served = Served::with(&[], &script);
        served.configure("http", transport);
        let done = served.exec(&["say it"]);
        // What is kept of one text is bounded elsewhere.
        assert!(done.assert_code(0).out().starts_with("0123456789abcdef"), "{transport}");
    }
}

#[test]
fn s_087_a_message_that_a_server_of_others_finds_too_long_is_refused_and_the_next_one_is_taken() {
    let served = Served::new(&[]);
    served.configure("http", "http");
    let mut command = served.lab.exec_command(&["-"], &[]);
    command.stdin(Stdio::piped());
    let mut running = Running::start(command, Stdio::piped());
    // As much as both take, but for what stands around it.
    running.give("x".repeat((16 << 20) - 16).as_bytes());
    let done = running.finish();
    assert_ne!(done.code, Some(0), "{}", done.err());
    assert!(done.err().contains("the message is too long for it (413)"), "{}", done.err());
    assert_eq!(served.exec(&["hi"]).assert_code(0).out(), "heard it\n");
}

#[test]
fn s_063_s_088_a_connection_to_a_server_of_others_is_cut_in_mid_turn_and_regained() {
    for transport in BOTH {
        let served = Served::new(&[]);
        served.configure("http", transport);
        served.exec(&["first"]).assert_code(0);
        let mut running = served.lab.start(&["hang", "--json", "--continue"], &[]);
        running.until_line("hanging");
        served.between.cut();
        let done = running.finish();
        // The agent behind it has ended with its connection: nothing says that the turn still runs.
        done.assert_code(5);
        assert!(done.err().contains("it is tried again in 1."), "{transport}: {}", done.err());
        assert!(done.err().contains("nothing says that the turn still runs"), "{transport}: {}", done.err());
        let done = served.exec(&["third", "--continue"]);
        assert!(done.assert_code(0).out().ends_with("heard it\n"), "{transport}: {}", done.out());
    }
}

#[test]
fn s_075_a_certificate_is_looked_at() {
    let tls = |name: &str, authority: &str, transport: &str, options: &[&str]| {
        let (chain, key) = (certificate(&format!("{name}.pem")), certificate(&format!("{name}.key")));
        let pair = ["--tls", chain.to_str().unwrap(), key.to_str().unwrap()];
        let served = Served::new(&[options, &pair].concat());
        served.configure("https", transport);
        served.trusting(authority, &["hi"])
    };
    for (transport, options) in [("websocket", &[][..]), ("http", &[]), ("http", &["--http2"])] {
        let done = tls("right", "authority.pem", transport, options);
        assert_eq!(done.assert_code(0).out(), "heard it\n", "{transport}");
    }
    for (name, authority, words) in [
        ("elsewhere", "authority.pem", "its certificate is for agent.example, not for localhost"),
        ("expired", "authority.pem", "its certificate has expired"),
        ("right", "stranger.pem", "its certificate is from an authority that this machine does not trust"),
    ] {
        let done = tls(name, authority, "http", &[]);
        done.assert_code(5);
        assert!(done.err().contains(words), "{name}: {}", done.err());
    }
}

#[test]
fn s_087_what_is_no_server_of_agents_is_told() {
    let served = Served::new(&[]);
    for (url, words) in [
        (format!("http://localhost:{}/health", served.port), "cannot be reached"),
        (format!("https://localhost:{}/acp", served.port), "the connection cannot be encrypted"),
    ] {
        let done = served.exec(&["hi", "--url", &url]);
        assert!(done.assert_code(5).err().contains(words), "{url}: {}", done.err());
    }
    // Somebody who says something else altogether.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://localhost:{}/acp", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
        }
    });
    let done = served.exec(&["hi", "--url", &url, "--transport", "http"]);
    assert!(done.assert_code(5).err().contains("what came is no HTTP"), "{}", done.err());
}
