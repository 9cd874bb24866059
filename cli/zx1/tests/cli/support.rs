//! A home of its own for every test, and what a command said.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A temporary home folder; `.config/zx1` in it is zx1's.
pub(crate) struct Home(tempfile::TempDir);

pub(crate) use zx1_cli_common::testing::Said;

/// What a refusal of zx1 is.
pub(crate) trait Refusal {
    /// Asserts exit code 1, this number, one sentence and a next step, and nothing on standard output.
    #[track_caller]
    fn fails(&self, number: u32) -> &str;

    /// The same with exit code 2.
    #[track_caller]
    fn is_usage(&self, number: u32) -> &str;

    /// Asserts the exit code.
    #[track_caller]
    fn code_is(&self, code: i32);
}

impl Refusal for Said {
    fn fails(&self, number: u32) -> &str {
        refused(self, 1, number)
    }

    fn is_usage(&self, number: u32) -> &str {
        refused(self, 2, number)
    }

    fn code_is(&self, code: i32) {
        assert_eq!(self.code, code, "{self:?}");
    }
}

#[track_caller]
fn refused(said: &Said, code: i32, number: u32) -> &str {
    let err = said.refused_silently(code, number);
    let sentence = err.lines().any(|line| line.starts_with("error ") && line.ends_with('.'));
    assert!(sentence || number == 7400, "no sentence: {said:?}");
    err
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With a key and a configuration.
    pub(crate) fn with_key() -> Self {
        let home = Self::new();
        home.zx1(["init"]).ok();
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The default of ZX1_HOME.
    pub(crate) fn folder(&self) -> PathBuf {
        self.path().join(".config/zx1")
    }

    /// A file with this content, and its path as text.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The command, with no environment but the home.
    pub(crate) fn command<I: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1"));
        command
            .env_clear()
            .env("HOME", self.path())
            .env("NO_COLOR", "1")
            .current_dir(self.path())
            .args(arguments);
        command
    }

    /// Runs it with an empty standard input.
    #[track_caller]
    pub(crate) fn zx1<I: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Said {
        said(&mut self.command(arguments))
    }

    /// Runs it with `--output json`.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.zx1([&["--output", "json"], arguments].concat()).json()
    }

    /// Every file below the home with its bytes: to assert that nothing has changed.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
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
        walk(self.path(), &mut found);
        found
    }
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn said(command: &mut Command) -> Said {
    command.output().unwrap().into()
}

/// A vector file of the repository.
pub(crate) fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/zx1").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
