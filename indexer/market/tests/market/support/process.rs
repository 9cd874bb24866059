//! The server as a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use zx1_market::Millis;

/// A running `fix-server` with the `config.toml` of a folder; killed when dropped.
pub struct Process {
    child: Child,
    pub ready: Value,
}

/// The server's program with the `config.toml` of a folder, on a free port.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fix-server"));
    command.arg("--config").arg(folder.join("config.toml")).args(["--port", "0"]);
    command.env_remove("FIX_NANO_SEED").env("FIX_LOG", "error").stdin(Stdio::null());
    command
}

impl Process {
    pub fn start(folder: &Path, now: Millis, options: &[&str]) -> Process {
        let mut command = command(folder);
        command.args(["--test-clock", &now.0.to_string()]).args(options);
        Process::spawn(command).unwrap_or_else(|why| panic!("the server did not start: {why}"))
    }

    /// Start it and wait until it is ready; it may die before.
    pub fn spawn(command: Command) -> Result<Process, String> {
        Process::spawn_with(command, Stdio::inherit())
    }

    /// The same, with another standard error.
    pub fn spawn_with(mut command: Command, stderr: Stdio) -> Result<Process, String> {
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let (sender, ready) = std::sync::mpsc::channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = sender.send(line);
        });
        let Ok(line) = ready.recv_timeout(super::PATIENCE) else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the server was not ready in time");
        };
        match serde_json::from_str(&line) {
            Ok(ready) => Ok(Process { child, ready }),
            Err(_) => {
                let mut said = String::new();
                if let Some(mut stderr) = child.stderr.take() {
                    let _ = stderr.read_to_string(&mut said);
                }
                let status = child.wait().unwrap();
                Err(format!("{status} {line:?} {said}"))
            }
        }
    }

    pub fn url(&self) -> String {
        self.ready["url"].as_str().unwrap().to_owned()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: nothing is finished, nothing is closed.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and wait. Its exit status.
    pub fn stop(&mut self) -> std::process::ExitStatus {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        self.child.wait().unwrap()
    }

    /// Wait for a process that dies by itself; what it said on standard error, if that was piped.
    pub fn died(&mut self) -> String {
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        self.child.wait().unwrap();
        said
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
