//! Completions, typed in the real shells: behind `fix` as behind `sudo`, with the ids of contracts that are here.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use zx1_e2e::binary;

const ID: &str = "0123456789abcdef";

/// A folder with files to complete, and a contract that fix knows.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("matrix.c"), "").unwrap();
    let server = folder.path().join(".fix/transcripts/aa");
    std::fs::create_dir_all(&server).unwrap();
    std::fs::write(server.join(format!("{ID}.json")), "").unwrap();
    folder
}

fn script(program: &str, shell: &str) -> String {
    let output = Command::new(binary(program)).args(["completions", shell]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A shell on a terminal.
struct Shell {
    child: Child,
    keys: ChildStdin,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Shell {
    fn start(folder: &Path, line: &str, setup: &str) -> Self {
        let mut script = Command::new("script");
        script.args(["-qec", line, "/dev/null"]).current_dir(folder).env_clear();
        script.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", folder);
        script.env("TERM", "dumb").env("PS1", "$ ");
        let mut child =
            script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(size) = output.read(&mut buffer) {
                if size == 0 || sender.send(buffer[..size].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut shell = Self { child, keys, screen, seen: String::new() };
        shell.keys.write_all(format!("{setup}\necho REA''DY\n").as_bytes()).unwrap();
        shell.wait_for("READY");
        shell
    }

    #[track_caller]
    fn wait_for(&mut self, text: &str) -> String {
        while !self.seen.contains(text) {
            match self.screen.recv_timeout(Duration::from_secs(60)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("'{text}' is not shown ({error}): {}", self.seen),
            }
        }
        self.seen.clone()
    }

    /// Types a line and Tab, and has the shell print what it has become instead of running it.
    #[track_caller]
    fn completes(&mut self, typed: &str, to: &str) {
        self.seen.clear();
        // To the start of the line, a word that prints it, to its end.
        self.keys.write_all(format!("{typed}\t\u{1}echo G''OT \u{5} E''ND\n").as_bytes()).unwrap();
        let seen = self.wait_for("END");
        assert!(seen.contains(&format!("GOT {to}")), "'{typed}' becomes no '{to}': {seen:?}");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn in_shell(shell: &mut Shell) {
    // A file behind a command, and not fix's own `man`.
    shell.completes("fix gcc m", "fix gcc matrix.c");
    shell.completes("fix --bounty 0.5 gcc mat", "fix --bounty 0.5 gcc matrix.c");
    shell.completes("fix run -- gcc mat", "fix run -- gcc matrix.c");
    // fix's own commands, with the contracts that are here.
    shell.completes("fix check-c", "fix check-command");
    shell.completes("fix show ", &format!("fix show {ID}"));
    shell.completes("fix dispute 01", &format!("fix dispute {ID}"));
}

#[test]
fn bash_completes_behind_fix_and_contracts() {
    let folder = folder();
    std::fs::write(folder.path().join("fix.bash"), script("fix", "bash")).unwrap();
    let line = "bash --norc --noprofile -i";
    in_shell(&mut Shell::start(folder.path(), line, "bind 'set enable-bracketed-paste off'; . ./fix.bash"));
}

#[test]
fn zsh_completes_behind_fix_and_contracts() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("functions")).unwrap();
    std::fs::write(folder.path().join("functions/_fix"), script("fix", "zsh")).unwrap();
    let setup = "bindkey -e; fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D";
    in_shell(&mut Shell::start(folder.path(), "zsh -f -i", setup));
}

#[test]
fn fish_completes_behind_fix_and_contracts() {
    let folder = folder();
    std::fs::write(folder.path().join("fix.fish"), script("fix", "fish")).unwrap();
    for (typed, wanted) in [
        ("fix gcc m", "matrix.c"),
        ("fix check-c", "check-command"),
        ("fix show ", ID),
        ("fix dispute 01", ID),
    ] {
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", &format!("source fix.fish; complete -C '{typed}'")]);
        let output = fish.current_dir(folder.path()).env("HOME", folder.path()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.lines().any(|line| line.split('\t').next() == Some(wanted)), "'{typed}': {said}");
        assert!(!typed.contains("gcc") || !said.contains("man\t"), "{said}");
    }
}

#[test]
fn a_completion_names_every_command_of_its_program() {
    for program in ["zx1", "fix"] {
        let help = Command::new(binary(program)).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let commands: Vec<&str> = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| line.starts_with("  "))
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert!(commands.len() > 20, "{program}: {commands:?}");
        for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
            let script = script(program, shell);
            for command in &commands {
                assert!(script.contains(command), "{program}, {shell}: {command}");
            }
        }
    }
}
