//! Which commands an agent may run on the principal's machine while it investigates (decision E9;
//! fix.md, "Investigation whitelist").
//!
//! The whitelist is a grammar. A line is split into words by rules of our own ([`MAX_LINE`], [`MAX_WORDS`]),
//! the first word names a program, and that program's table says which options, values and operands it may
//! have. **What a table does not list is refused**, so an option that a future version adds is refused too.
//! Options must be written in full: an abbreviated long option is refused, because which option it means
//! depends on the program's version.
//!
//! # What the caller must do
//!
//! This module touches no filesystem. It vouches for the words alone. Before it runs a command, the caller:
//!
//! 1. resolves every [`PathArg`] (links followed, absolute) and passes the results to [`check_paths`];
//! 2. runs [`Investigation::argv`] directly, never through a shell, with standard input from /dev/null and
//!    only the variables of [`ENVIRONMENT`] beside the principal's `PATH`, because variables such as
//!    `RIPGREP_CONFIG_PATH`, `LD_PRELOAD`, `GCC_EXEC_PREFIX` or `PAGER` start programs of their own;
//! 3. runs it in the sandbox: read-only, without network, secret paths masked, limits on time and output
//!    (decision E11). Programs that walk folders ([`Investigation::walks`]) reach files that no argument
//!    names, so for them the masks are what protects the secrets;
//! 4. scrubs the output ([`zx1-scrub`]) before it leaves the machine.
//!
//! # What the list leaves open
//!
//! - Globs outside of quotes are refused: no shell runs, so they would be taken literally, which is never
//!   meant.
//! - Options that follow links while walking (`find -L`, `grep -R`, `rg -L`, `tree -l`, `du -L`) are refused,
//!   because the links inside of a folder are not checked.
//! - `less` is only asked for its version: it is a pager, which starts other programs.
//! - `type` is a shell's own word. It is run as `which`, which answers the same question.
//! - Programs beside that list ([`names`]) may be asked for their version, and nothing else.
//! - `cargo`, `npm`, `pip` and their like answer what is installed. `cargo tree`, `cargo metadata`, `make -n`
//!   and `pip config` do not count as reading: they run programs that the project names, or print passwords.
//! - `ldd` may run code of the file that it looks at. The vectors allow it; [`Investigation::runs_input`]
//!   says so, and the sandbox is what makes it harmless.

mod find;
mod grammar;
mod refusal;
mod rules;
pub mod secret_paths;
pub mod steering;
mod words;

pub use refusal::Refusal;
pub use words::{MAX_LINE, MAX_WORDS};

use std::path::{Component, Path};

/// The environment of an investigation command, beside `PATH`. Nothing else is inherited.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONNOUSERSITE", "1"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ("CARGO_NET_OFFLINE", "true"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("DEBUGINFOD_URLS", ""),
];

/// A path among the arguments of an allowed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathArg {
    /// Which word of [`Investigation::argv`] holds it.
    pub word: usize,
    /// The path as the program will see it; relative ones count from the working folder.
    pub path: String,
}

/// A command that only reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Investigation {
    /// The program's name as it is to be run: a plain name, to be looked up in the system's `PATH`.
    pub program: String,
    /// All words, the program first.
    pub argv: Vec<String>,
    /// Which arguments are paths. Empty for a program that reads the working folder by default.
    pub paths: Vec<PathArg>,
    /// It descends into folders, so it reads files that no argument names.
    pub walks: bool,
    /// It may run code of the file that it is pointed at.
    pub runs_input: bool,
}

/// The command line of an investigation.
#[derive(Debug, Clone, Copy)]
pub struct Command;

/// A command while it is read.
#[derive(Debug, Clone)]
struct Draft {
    argv: Vec<String>,
    paths: Vec<PathArg>,
    /// Options that were given, by name.
    given: Vec<String>,
    /// Whether this is the command inside of another one.
    inner: bool,
}

impl Command {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with its number and a sentence that names the offending word and what is allowed
    /// instead.
    pub fn parse(line: &str) -> Result<Investigation, Refusal> {
        let argv = words::split(line)?;
        if argv.is_empty() {
            return Err(Refusal::Empty);
        }
        let mut draft = Draft { argv, paths: Vec::new(), given: Vec::new(), inner: false };
        draft.read()?;
        Ok(draft.finish())
    }
}

impl Draft {
    fn program(&self) -> String {
        self.argv.first().cloned().unwrap_or_default()
    }

    fn read(&mut self) -> Result<(), Refusal> {
        let program = self.program();
        if program.contains('/') {
            return Err(Refusal::ProgramPath { word: program });
        }
        let Some(rule) = rules::rule(&program) else {
            return Err(Refusal::UnknownProgram {
                word: program,
                allowed: names().collect::<Vec<_>>().join(" "),
            });
        };
        rule.read(self)
    }

    /// Notes a path, and refuses one that names a secret. `-` is standard input, which is empty.
    fn path(&mut self, path: &str, word: usize) -> Result<(), Refusal> {
        if path == "-" {
            return Ok(());
        }
        if let Some(secret) = secret_paths::is_secret(path) {
            return Err(Refusal::Secret { path: path.to_owned(), what: secret.what });
        }
        self.paths.push(PathArg { word, path: path.to_owned() });
        Ok(())
    }

    fn finish(mut self) -> Investigation {
        // The command that a `timeout` runs decides.
        let inner = rules::inner(&self.argv).unwrap_or(0);
        let name = self.argv.get(inner).cloned().unwrap_or_default();
        let walks = rules::walks(&name);
        let runs_input = name == "ldd";
        match name.as_str() {
            "type" => {
                if let Some(word) = self.argv.get_mut(inner) {
                    "which".clone_into(word);
                }
            }
            // Its configuration file could name a program that reads every file first.
            "rg" => {
                let at = inner + 1;
                self.argv.insert(at, "--no-config".into());
                for path in self.paths.iter_mut().filter(|path| path.word >= at) {
                    path.word += 1;
                }
            }
            _ => {}
        }
        Investigation { program: self.program(), argv: self.argv, paths: self.paths, walks, runs_input }
    }
}

/// All names that may begin a command: the list's, and those of which only the version may be asked.
pub fn names() -> impl Iterator<Item = &'static str> {
    rules::all().flat_map(|rule| rule.names.iter().copied())
}

/// Checks paths that the caller has resolved: absolute, links followed, no `.` or `..` left.
///
/// Each must be one of `roots` or lie below one, must not be secret (decision E11), and must be no device but
/// /dev/null. Roots are resolved paths too. Compares whole components: `/srv/app2` is not below `/srv/app`.
///
/// # Errors
///
/// The [`Refusal`] of the first path that fails.
pub fn check_paths<R: AsRef<Path>, P: AsRef<Path>>(roots: &[R], resolved: &[P]) -> Result<(), Refusal> {
    for path in resolved {
        let path = path.as_ref();
        let shown = path.to_string_lossy().into_owned();
        let odd = path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir));
        if !path.has_root() || odd {
            return Err(Refusal::Unresolved { path: shown });
        }
        if path.starts_with("/dev") {
            if path == Path::new("/dev/null") {
                continue;
            }
            return Err(Refusal::Device { path: shown });
        }
        if let Some(secret) = secret_paths::is_secret(&shown) {
            return Err(Refusal::Secret { path: shown, what: secret.what });
        }
        if !roots.iter().any(|root| path.starts_with(root.as_ref())) {
            let allowed =
                roots.iter().map(|root| root.as_ref().to_string_lossy()).collect::<Vec<_>>().join(" ");
            return Err(Refusal::OutsideRoots { path: shown, allowed });
        }
    }
    Ok(())
}
