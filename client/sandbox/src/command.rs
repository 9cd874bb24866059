//! What to run, how much it may use, and what came of it.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Result, SandboxError};

/// PATH of a command that was given no environment.
pub const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A command for [`Sandbox::run`](crate::Sandbox::run).
#[derive(Debug, Clone)]
pub struct Command {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) read_only: bool,
}

impl Command {
    /// A line for `/bin/sh -c`, as fixes and failed commands are.
    #[must_use]
    pub fn shell(line: impl AsRef<OsStr>) -> Self {
        Self::argv([OsStr::new("/bin/sh"), OsStr::new("-c"), line.as_ref()])
    }

    /// A program and its arguments, without a shell. The program is searched in the command's own PATH.
    #[must_use]
    pub fn argv<S: AsRef<OsStr>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(|part| part.as_ref().to_owned()).collect(),
            env: vec![(OsString::from("PATH"), OsString::from(DEFAULT_PATH))],
            cwd: None,
            stdin: Vec::new(),
            read_only: false,
        }
    }

    /// Where to run it. The working tree by default.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = Some(path.into());
        self
    }

    /// The environment of this process, cleaned of secrets, in place of what was set before. Decision E11:
    /// verification starts from the original environment.
    #[must_use]
    pub fn env_from_current(self) -> Self {
        self.envs(std::env::vars_os())
    }

    /// This environment, cleaned of secrets, in place of what was set before.
    #[must_use]
    pub fn envs(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env = crate::secrets::clean_environment(variables);
        self
    }

    /// One more variable. It is passed even if its name looks like a secret: the caller named it.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.env.retain(|(other, _)| *other != name);
        self.env.push((name, value.into()));
        self
    }

    /// Standard input. Nothing by default.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// The whole view is read-only for this run (decision E9: investigation).
    #[must_use]
    pub fn read_only(mut self, yes: bool) -> Self {
        self.read_only = yes;
        self
    }

    /// What the kernel would refuse later, said early.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |detail: &str| Err(SandboxError::BadCommand { detail: detail.to_owned() });
        if self.argv.first().is_none_or(|program| program.is_empty()) {
            return bad("it is empty");
        }
        let has_nul = |text: &OsStr| text.as_bytes().contains(&0);
        if self.argv.iter().any(|part| has_nul(part)) {
            return bad("it holds a NUL byte");
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.as_bytes().contains(&b'=') || has_nul(name) || has_nul(value) {
                return bad("its environment holds a name or value that the kernel refuses");
            }
        }
        Ok(())
    }
}

/// Limits of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall time; then everything is killed.
    pub time: Duration,
    /// Memory of all processes together, bytes.
    pub memory: u64,
    /// Processes at the same time. Without cgroup v2 never less than the 300 that the kernel's own limit
    /// allows are cut off at once; the exact number is watched, every 10 ms.
    pub processes: u32,
    /// Bytes kept of standard output and of standard error, each. Head and tail are kept; the run is ended
    /// when a stream passes 64 times this.
    pub output: usize,
    /// Largest file that can be written, bytes. All files together:
    /// [`Builder::disk_limit`](crate::Builder::disk_limit).
    pub file_size: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
}

impl Default for Limits {
    /// 5 minutes (a contract's default `execution.timeout`), 4 GiB, 512 processes, 1 MiB of output, 4 GiB a
    /// file, 4096 descriptors.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(300),
            memory: 4 << 30,
            processes: 512,
            output: 1 << 20,
            file_size: 4 << 30,
            open_files: 4096,
        }
    }
}

/// Which limit ended a run, or was seen to refuse something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// The limit [`Limits::time`].
    Time,
    /// The limit [`Limits::memory`].
    Memory,
    /// The limit [`Limits::processes`].
    Processes,
    /// [`Limits::output`], 64 times over.
    Output,
    /// What it left behind: number, depth or size of files.
    Files,
    /// [`Canceller::cancel`](crate::Canceller::cancel) was called.
    Canceled,
}

/// Standard output or standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output of the command.
    Stdout,
    /// Standard error of the command.
    Stderr,
}

/// What was kept of a stream.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The bytes; when truncated, the first and the last half of what may be kept with a line between them.
    pub bytes: Vec<u8>,
    /// Bytes that the command wrote.
    pub total: u64,
    /// Something was left out.
    pub truncated: bool,
}

impl Output {
    /// The bytes as text, with replacement characters where they are not UTF-8.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

impl std::fmt::Debug for Output {
    /// As text: numbers of bytes tell nobody anything.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("text", &self.text())
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code; 127 when the program was not found, 126 when it could not be executed.
    pub exit: Option<i32>,
    /// Signal that ended the command.
    pub signal: Option<i32>,
    /// What the command wrote to standard output.
    pub stdout: Output,
    /// What the command wrote to standard error.
    pub stderr: Output,
    /// Wall time, set-up of the run included.
    pub wall: Duration,
    /// A limit that was hit.
    pub limit_hit: Option<LimitKind>,
}

impl Outcome {
    /// The command exited with 0 and hit no limit.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit == Some(0) && self.limit_hit.is_none()
    }
}

/// Keeps the head and the tail of a stream.
#[derive(Debug)]
pub(crate) struct Keeper {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    half: usize,
    total: u64,
}

impl Keeper {
    pub(crate) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), tail: std::collections::VecDeque::new(), half: limit / 2, total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Only the last `half` bytes can stay.
        let rest = rest.get(rest.len().saturating_sub(self.half)..).unwrap_or_default();
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn finish(self) -> Output {
        let kept = self.head.len().saturating_add(self.tail.len()) as u64;
        let left_out = self.total.saturating_sub(kept);
        let mut bytes = self.head;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[... {left_out} bytes left out ...]\n").as_bytes());
        }
        bytes.extend(self.tail);
        Output { bytes, total: self.total, truncated: left_out > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_kept_whole_ok() {
        let mut keeper = Keeper::new(10);
        keeper.push(b"abcde");
        keeper.push(b"fghij");
        assert_eq!(keeper.finish(), Output { bytes: b"abcdefghij".to_vec(), total: 10, truncated: false });
    }

    #[test]
    fn long_output_keeps_head_and_tail_and_says_so() {
        let mut keeper = Keeper::new(10);
        for piece in b"abcdefghijklmnop".chunks(3) {
            keeper.push(piece);
        }
        let output = keeper.finish();
        assert!(output.truncated);
        assert_eq!(output.total, 16);
        assert_eq!(output.text(), "abcde\n[... 6 bytes left out ...]\nlmnop");
    }

    #[test]
    fn a_command_with_nul_or_without_program_fails() {
        assert_eq!(Command::argv(["a\0b"]).check().unwrap_err().code(), 9212);
        assert_eq!(Command::argv::<&str>([]).check().unwrap_err().code(), 9212);
        assert_eq!(Command::shell("true").env("a=b", "").check().unwrap_err().code(), 9212);
        assert!(Command::shell("true").check().is_ok());
    }
}
