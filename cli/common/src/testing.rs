//! What tests of both command lines need: a command on a real pseudo-terminal, and what a command said.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long anything may take.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A command on a terminal of its own.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// Starts the command in a terminal.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        // Its own process group, so that a signal to it is one to all that it started.
        command.process_group(0).env("TERM", "xterm");
        let child = command
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        // It holds the terminal's other side, which must end with the process.
        drop(command);
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The terminal answers with an error once the last process has closed it.
            while let Ok(size) = reader.read(&mut buffer) {
                if size == 0 || sender.send(buffer[..size].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, screen, seen: String::new() }
    }

    /// Waits until the screen has shown this.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + LIMIT;
        while !self.seen.contains(text) {
            let left = deadline.checked_duration_since(Instant::now()).expect(&self.seen);
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("'{text}' is not shown ({error}): {}", self.seen),
            }
        }
    }

    /// Sends keys to the terminal.
    pub fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Answers each question, which ends with the first text of a pair, with the keys of its second, until the end: the
    /// exit code and all that was shown.
    pub fn answer(mut self, answers: &[(&str, &str)]) -> (i32, String) {
        let (mut read, deadline) = (0, Instant::now() + LIMIT);
        while let Ok(bytes) = self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
            let asked = answers.iter().find(|(question, _)| self.seen[read..].contains(question));
            if let Some((_, keys)) = asked {
                read = self.seen.len();
                self.type_keys(keys);
            }
        }
        self.end()
    }

    /// Ctrl+C, as the terminal sends it to the group in the foreground.
    pub fn interrupt(&self) {
        kill_process_group(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Ends it without warning.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end, which must have shown this.
    #[track_caller]
    pub fn wait_for_end(self, text: &str) {
        let (code, seen) = self.end();
        assert!(seen.contains(text), "{code}: {seen}");
    }

    /// Waits for the end; the exit code and all that was shown.
    #[allow(clippy::must_use_candidate)] // Some tests only need the end itself.
    pub fn end(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        drop(self.keyboard);
        // A process that it has left behind may keep the terminal open.
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(500)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (status.code().unwrap_or(-1), self.seen)
    }
}

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Said {
    /// Its exit code; -1 after a signal.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Said {
    /// Asserts exit code 0 and returns what it printed.
    #[track_caller]
    pub fn ok(&self) -> &str {
        assert_eq!(self.code, 0, "{self:?}");
        &self.out
    }

    /// Asserts exit code 0 and reads standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(self.ok()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON objects of standard output, one a line.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(read).collect()
    }

    /// Asserts exit code and number, and returns what it wrote to standard error.
    #[track_caller]
    pub fn refused(&self, code: i32, number: u32) -> &str {
        assert_eq!(self.code, code, "{self:?}");
        let refusal = self.err.lines().find(|line| line.starts_with("error ")).expect(&self.err);
        assert!(refusal.starts_with(&format!("error {number}: ")), "{self:?}");
        &self.err
    }

    /// The same, and nothing on standard output.
    #[track_caller]
    pub fn refused_silently(&self, code: i32, number: u32) -> &str {
        assert_eq!(self.out, "", "{self:?}");
        self.refused(code, number)
    }
}
