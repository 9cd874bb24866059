//! Questions, on a real pseudo-terminal.

use crate::support::Home;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A command on a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_zx1"))
            .args(arguments)
            .env_clear()
            .env("HOME", home.path())
            .env("TERM", "xterm")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
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

    /// Waits until the screen shows this.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.seen.contains(text) {
            let left = deadline.checked_duration_since(Instant::now()).expect(&self.seen);
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("'{text}' is not shown ({error}): {}", self.seen),
            }
        }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; the exit code.
    fn end(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        drop(self.keyboard);
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_secs(1)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (status.code().unwrap_or(-1), self.seen)
    }
}

#[test]
fn a_passphrase_is_typed_twice_and_never_shown() {
    let home = Home::with_key();
    let file = home.path().join("b.age");
    let mut terminal = Terminal::start(&home, &["key", "backup", file.to_str().unwrap()]);
    terminal.wait_for("Passphrase:");
    terminal.type_keys("correct horse battery\r");
    terminal.wait_for("Once more:");
    terminal.type_keys("correct horse battery\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("horse"), "{seen}");
    assert!(file.exists());

    let new = Home::new();
    let mut terminal = Terminal::start(&new, &["key", "restore", file.to_str().unwrap()]);
    terminal.wait_for("Passphrase:");
    terminal.type_keys("correct horse battery\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(new.folder().join("id.json").exists());
}

#[test]
fn escape_breaks_a_backup_off_and_leaves_nothing() {
    let home = Home::with_key();
    let before = home.files();
    let mut terminal = Terminal::start(&home, &["key", "backup", "b.age"]);
    terminal.wait_for("Passphrase:");
    terminal.type_keys("\u{1b}");
    let (code, seen) = terminal.end();
    assert_eq!(code, 1, "{seen}");
    assert!(seen.contains("7402"), "{seen}");
    assert_eq!(home.files(), before);
}

#[test]
fn colours_are_there_on_a_terminal_and_only_there() {
    let home = Home::new();
    let (_, seen) = Terminal::start(&home, &["key", "show"]).end();
    assert!(seen.contains("\u{1b}[") && seen.contains("7410"), "{seen:?}");
    assert!(!home.zx1(["key", "show"]).err.contains('\u{1b}'));
}
