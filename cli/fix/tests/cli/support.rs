//! A home of its own for every test, services as processes, and what a command said.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) use zx1_cli_common::testing::{LIMIT, Said};

/// A temporary home folder; `.fix` in it is fix's, `work` is where commands run.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self(tempfile::Builder::new().prefix("fix-cli-").tempdir().unwrap());
        std::fs::create_dir(home.work()).unwrap();
        home
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    /// From now on its commands sign with the time of a server that has a test clock.
    pub(crate) fn follows_test_clock(&self) {
        std::fs::write(self.path().join("test-clock"), "").unwrap();
    }

    /// Where commands run.
    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// A file in the working folder.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The command in the working folder, with no environment but home and path.
    pub(crate) fn command<I: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fix"));
        command
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "80")
            .current_dir(self.work())
            .stdin(Stdio::null())
            .args(arguments);
        if self.path().join("test-clock").exists() {
            command.env("FIX_TEST_CLOCK", "1");
        }
        command
    }

    /// Runs it with an empty standard input.
    #[track_caller]
    pub(crate) fn fix<I: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Said {
        said(&mut self.command(arguments))
    }

    /// Every file below a folder with its bytes.
    pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.insert(path.clone(), std::fs::read(&path).unwrap());
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(folder, &mut found);
        found
    }
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn said(command: &mut Command) -> Said {
    command.output().unwrap().into()
}

/// A service as a process: it ends with the test.
pub(crate) struct Service {
    child: Child,
    /// The line with which it said that it is ready.
    pub(crate) ready: Value,
    /// What it said afterwards.
    lines: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// Starts it and waits for its first line of JSON.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: '{line}'"));
        // What it says later must not stop it.
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                heard.lock().unwrap().push(line);
            }
        });
        Self { child, ready, lines: said }
    }

    /// Waits until it has reported this event as JSON.
    #[track_caller]
    pub(crate) fn event(&self, name: &str) -> Value {
        let deadline = Instant::now() + LIMIT;
        loop {
            let lines = self.lines.lock().unwrap().clone();
            let events = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(found) = events.into_iter().find(|event| event["event"] == name) {
                return found;
            }
            assert!(Instant::now() < deadline, "no {name}: {lines:?}");
            std::thread::yield_now();
        }
    }

    /// Ends it without warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A small HTTP server for what stands outside of a test: every request's body gets an answer, or none ever.
pub(crate) struct Http {
    pub(crate) url: String,
}

impl Http {
    /// `answer`: the body of the answer; `None` leaves whoever asked waiting.
    pub(crate) fn serve(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::serve_at("127.0.0.1:0", answer)
    }

    /// The same at this address.
    pub(crate) fn serve_at(
        address: &str,
        answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut waiting = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut size = 0;
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                        break;
                    }
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        size = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; size];
                reader.read_exact(&mut body).unwrap();
                match answer(&String::from_utf8(body).unwrap()) {
                    Some(text) => {
                        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
                        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{text}", text.len()).unwrap();
                    }
                    None => waiting.push(stream),
                }
            }
        });
        Self { url }
    }
}

/// A market with an embedded ledger that deposits for both sides.
pub(crate) struct Market {
    _home: Home,
    pub(crate) service: Service,
}

impl Market {
    pub(crate) fn start(options: &[&str]) -> Self {
        let home = Home::new();
        let arguments = [&["serve", "--auto-fund", "--port", "0"], options].concat();
        let service = Service::start(home.command(arguments));
        Self { _home: home, service }
    }

    pub(crate) fn url(&self) -> &str {
        self.service.ready["url"].as_str().unwrap()
    }

    /// An agent that takes every contract and always proposes this fix: a script in place of a model.
    pub(crate) fn scripted_agent(&self, home: &Home, fix: &str) -> Service {
        let answer = |value: Value| value.to_string();
        let propose =
            answer(serde_json::json!({ "action": "propose", "fix": fix, "explanation": "Trust me." }));
        let accept = answer(serde_json::json!({ "action": "accept" }));
        let answers: Vec<String> = std::iter::once(accept).chain(std::iter::repeat_n(propose, 8)).collect();
        let script = home.file("script.json", serde_json::to_vec(&answers).unwrap());
        self.agent(home, &["--no-rules", "--model", &format!("script:{}", script.display())])
    }

    /// An agent with the built-in rules, in a home of its own.
    pub(crate) fn agent(&self, home: &Home, options: &[&str]) -> Service {
        let arguments = [&["--json", "--server", self.url(), "agent"], options].concat();
        Service::start(home.command(arguments))
    }
}
