//! The command line under test.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use serde_json::Value;

use crate::{Localnet, Running, process::binary};

/// What a command said and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// What was run, for messages.
    pub line: String,
}

impl Output {
    /// Asserts exit code 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// Asserts exit code 1 (2 for usage) and that the refusal has this number.
    #[track_caller]
    pub fn fails_with(self, number: u16) -> Self {
        assert!(self.code == 1 || self.code == 2, "{self}");
        assert_eq!(self.number(), Some(number), "{self}");
        self
    }

    /// The number of the refusal: of `error N: ...`, or of the JSON object's `code`, on standard error.
    pub fn number(&self) -> Option<u16> {
        let words = self
            .stderr
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("error ")?.split_once(':')?.0.parse().ok());
        words.or_else(|| {
            // The object may be one line, or the pretty end of the text.
            let start = self.stderr.find('{')?;
            let value: Value = serde_json::from_str(self.stderr.get(start..)?).ok()?;
            value["code"].as_u64()?.try_into().ok()
        })
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|why| panic!("no JSON ({why}): {self}"))
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr, line } = self;
        write!(f, "{line}\nexit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// The `zx1` command line with a home of its own. Clones share the home.
#[derive(Clone)]
pub struct Zx1 {
    home: Arc<tempfile::TempDir>,
    url: String,
    keypair: PathBuf,
    variables: Vec<(OsString, OsString)>,
    behind: Vec<OsString>,
}

impl Zx1 {
    /// A command line on this cluster, as its first ready-made wallet.
    #[track_caller]
    pub fn new(net: &Localnet) -> Self {
        Self {
            home: Arc::new(tempfile::Builder::new().prefix("zx1-home-").tempdir().unwrap()),
            url: net.rpc_url().to_owned(),
            keypair: net.wallet_file(0),
            variables: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// As this key file's wallet.
    pub fn keypair(mut self, file: impl Into<PathBuf>) -> Self {
        self.keypair = file.into();
        self
    }

    /// Through another RPC, such as a [`crate::FaultProxy`].
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// With one more variable in its environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    /// Run by another program, such as `nsenter`, which starts it in another network.
    pub fn behind(mut self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.behind = words.into_iter().map(|word| word.as_ref().into()).collect();
        self
    }

    /// Its configuration folder (`ZX1_HOME`).
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The command, ready to start. Of the environment it sees only what is set here and the PATH, so nothing
    /// of the developer's own configuration is read or changed.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let zx1 = binary("zx1");
        let mut command = match self.behind.split_first() {
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).arg(zx1);
                command
            }
            None => Command::new(zx1),
        };
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("ZX1_HOME", self.home.path())
            .env("ZX1_URL", &self.url)
            .env("ZX1_KEYPAIR", &self.keypair)
            .env("NO_COLOR", "1")
            .env("RUST_BACKTRACE", "1")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path());
        command
    }

    /// Runs a command to its end, with no terminal and an empty standard input.
    #[track_caller]
    pub fn run(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
        self.run_with_input(arguments, b"")
    }

    /// Runs a command with something on its standard input.
    #[track_caller]
    pub fn run_with_input(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        input: &[u8],
    ) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let line = command.get_args().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // In a thread of its own: both sides may be full.
        let writer = std::thread::spawn(move || {
            use std::io::Write;
            // It may end without reading.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            line: format!("zx1 {line}"),
        }
    }

    /// Runs a command with `--output json`, asserts exit code 0 and returns what it printed.
    #[track_caller]
    pub fn json(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Value {
        let mut all: Vec<OsString> = vec!["--output".into(), "json".into()];
        all.extend(arguments.into_iter().map(|argument| argument.as_ref().to_os_string()));
        self.run(all).ok().json()
    }

    /// Starts a command in the background.
    #[track_caller]
    pub fn spawn(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Running {
        Running::start(self.command(arguments))
    }
}
