//! The settings of the loop for one repository: `qa.toml` in its state folder. Everything has a default.

use super::error::{QaError, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use zx1_home::config::read_toml;
use zx1_qa::budget::Amounts;
use zx1_qa::defaults::{GATE_MEMORY, GATE_SECONDS};

/// Name of the file.
pub const FILE: &str = "qa.toml";

/// The settings of one repository's loop.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Public key in base58 that signs lines of the dial. Without one the dial never reaches `propose`.
    pub maintainer_key: Option<String>,
    /// What one run may use.
    pub budget: Budget,
    /// How proposals are judged.
    pub gate: Recipe,
}

/// Limits of one run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Budget {
    pub writes: u64,
    pub lamports: u64,
    pub raw_millionths: u64,
    pub micro_usd: u64,
    pub cpu_seconds: u64,
    pub wall_seconds: u64,
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            writes: 20,
            lamports: 0,
            raw_millionths: 0,
            micro_usd: 0,
            cpu_seconds: 7_200,
            wall_seconds: 3_600,
            bytes: 256 << 20,
        }
    }
}

impl Budget {
    /// The limits as the book has them.
    pub fn amounts(&self) -> Amounts {
        Amounts {
            writes: self.writes,
            lamports: self.lamports,
            raw_millionths: self.raw_millionths,
            micro_usd: self.micro_usd,
            cpu_ms: self.cpu_seconds.saturating_mul(1_000),
            wall_ms: self.wall_seconds.saturating_mul(1_000),
            bytes: self.bytes,
        }
    }
}

/// How a tree is built, tested and asked. Each command is a program and its arguments; no shell reads them.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Recipe {
    /// Run once on the base commit; what it leaves lies under every run. Nothing by default.
    pub build: Vec<String>,
    /// Runs the tests.
    pub test: Vec<String>,
    /// The form of what the tests print: `libtest` or `unittest`.
    pub form: Form,
    /// Complains about the tree with an exit code; nothing by default.
    pub lint: Vec<String>,
    /// Gets the line that reproduces as last argument. Exit code 0: it works; 10: it fails as reported.
    pub repro: Vec<String>,
    /// Paths outside of the tree that the commands need to see.
    pub show: Vec<std::path::PathBuf>,
    /// Variables that the commands need.
    pub environment: std::collections::BTreeMap<String, String>,
    /// Wall time of all runs together, in seconds.
    pub seconds: u64,
    /// Memory of one run in bytes.
    pub memory: u64,
}

/// The form of a test runner's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `test NAME ... ok`, as Rust's test harness prints.
    #[default]
    Libtest,
    /// `NAME (CLASS) ... ok`, as Python's `unittest -v` prints.
    Unittest,
}

impl Default for Recipe {
    /// A workspace of cargo, built without a network.
    fn default() -> Self {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        Self {
            build: words("cargo build --offline --workspace --all-targets"),
            test: words("cargo test --offline --workspace --no-fail-fast"),
            form: Form::Libtest,
            lint: words("cargo clippy --offline --workspace --all-targets -- -D warnings"),
            repro: words("target/debug/zx1 qa-tool"),
            show: Vec::new(),
            environment: std::collections::BTreeMap::new(),
            seconds: GATE_SECONDS,
            memory: GATE_MEMORY,
        }
    }
}

impl Recipe {
    /// Wall time of all runs together.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Names in the tree that the commands give: a patch that changes one of them would judge itself.
    pub fn own_files(&self) -> impl Iterator<Item = &str> {
        let commands = [&self.build, &self.test, &self.lint, &self.repro];
        commands.into_iter().flatten().map(|word| word.strip_prefix("./").unwrap_or(word))
    }
}

impl Settings {
    /// Reads the file of a state folder; defaults where there is none.
    ///
    /// # Errors
    /// [`QaError::Settings`].
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let wrong = |why: String| QaError::Settings { path: path.clone(), why };
        let settings: Self = read_toml(&path).map_err(|error| wrong(error.to_string()))?.unwrap_or_default();
        settings.maintainer().map_err(|()| wrong("maintainer_key is not 32 bytes in base58".to_owned()))?;
        Ok(settings)
    }

    /// The key that signs lines of the dial.
    pub(crate) fn maintainer(&self) -> Result<Option<[u8; 32]>, ()> {
        let Some(text) = &self.maintainer_key else { return Ok(None) };
        let mut key = [0; 32];
        match bs58::decode(text).onto(&mut key) {
            Ok(32) => Ok(Some(key)),
            _ => Err(()),
        }
    }
}
