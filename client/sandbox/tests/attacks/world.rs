//! What lies in the jail, and the tools of the scenarios.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use zx1_sandbox::{Command, Limits, Outcome, Sandbox};

use crate::jail::{self, ATTACKER, plant as file};

pub(crate) const ARGUMENT: &str = "zx1-scenario";
/// The working tree.
pub(crate) const TREE: &str = "/home/u/project";
/// Set where the jail knows one user only.
pub(crate) const ONE_USER: &str = "ZX1_TEST_ONE_USER";
/// In every secret that is planted.
pub(crate) const SECRET: &str = "PLANTED-SECRET-7f3a";

/// Who starts the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Root,
    User,
}

impl Who {
    pub(crate) fn name(self) -> &'static str {
        if self == Self::Root { "root" } else { "user" }
    }

    pub(crate) fn parse(name: &str) -> Self {
        if name == "root" { Self::Root } else { Self::User }
    }
}

/// The jail was made by an ordinary user, so it knows one user only and all files are that one's.
pub(crate) fn has_one_user() -> bool {
    std::env::var_os(ONE_USER).is_some()
}

/// One attack or rule.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Commits, or leaves files of its own. Otherwise the whole jail must be untouched afterwards.
    pub(crate) may_change: bool,
    pub(crate) play: fn(Who),
}

/// Entries of a list of scenarios: `contained` ones must leave the jail untouched.
#[macro_export]
macro_rules! scenarios {
    (contained: $($contained:ident)* ; changing: $($changing:ident)* ;) => {
        pub(crate) const SCENARIOS: &[$crate::world::Scenario] = &[
            $($crate::world::Scenario { name: stringify!($contained), may_change: false, play: $contained },)*
            $($crate::world::Scenario { name: stringify!($changing), may_change: true, play: $changing },)*
        ];
    };
}

/// Plays a scenario; its panics are its failures.
pub(crate) fn play(who: Who, scenario: &Scenario) -> ExitCode {
    (scenario.play)(who);
    ExitCode::SUCCESS
}

/// Fills the throwaway root. As root of the jail.
pub(crate) fn plant() {
    crate::secrets::plant_all();
    crate::sealed::plant_image();
    file("/home/u/project/Makefile", "all:\n\tcc -o prog main.c\n", 0o644);
    file("/home/u/project/main.c", "#include <math.h>\nint main(void) { return (int)sqrt(0); }\n", 0o644);
    file("/home/u/project/tests/test_main.py", "assert False\n", 0o644);
    file("/home/u/project/lib/test_lib.py", "assert False\n", 0o644);
    file("/home/u/project/.git/config", "[core]\n", 0o644);
    file("/home/u/project/run.sh", "#!/bin/sh\nexit 1\n", 0o755);
    file("/home/u/project/deep/a/b/c", "deep\n", 0o640);
    file("/home/u/.bashrc", "# mine\n", 0o644);
    file("/home/u/documents/letter", "dear\n", 0o600);
    file("/etc/important.conf", "value = 1\n", 0o644);
    file("/mnt/data/file", "data\n", 0o666);
    file("/mnt/strange name\\\n/file", "strange\n", 0o666);
    file("/srv/locked/file", "locked\n", 0o666);
    file("/srv/site/conf.txt", "old\n", 0o644);
    for path in ["/srv/site", "/srv/site/conf.txt"] {
        jail::own(Path::new(path));
    }
    file("/tmp/shared", "shared\n", 0o666);
    file("/var/lib/state", "state\n", 0o644);
    file("/root/notes", "notes\n", 0o600);
    std::os::unix::fs::symlink("main.c", "/home/u/project/link.c").unwrap();
    std::fs::hard_link("/home/u/project/main.c", "/home/u/project/hard.c").unwrap();
    for path in ["/home/u/project/link.c", "/tmp/shared", "/mnt/data", "/mnt/data/file", "/srv/locked/file"] {
        jail::own(Path::new(path));
    }
    jail::own(Path::new("/mnt/strange name\\\n/file"));
}

/// A sandbox over the working tree.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::builder().work_tree(TREE).disk_limit(64 << 20).build().unwrap_or_else(|error| panic!("{error}"))
}

/// Limits for attacks: short.
pub(crate) fn limits() -> Limits {
    Limits { time: Duration::from_secs(30), memory: 512 << 20, processes: 64, ..Limits::default() }
}

/// Runs a shell line.
pub(crate) fn sh(sandbox: &mut Sandbox, line: &str) -> Outcome {
    sandbox.run(&Command::shell(line), &limits()).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Runs a shell line that must succeed, and gives its output.
pub(crate) fn good(sandbox: &mut Sandbox, line: &str) -> String {
    let outcome = sh(sandbox, line);
    assert!(outcome.success(), "{line}: {outcome:?}");
    outcome.stdout.text().into_owned()
}

/// Lets the attacker's program try something; every line that it says must begin with `held`.
pub(crate) fn attack(sandbox: &mut Sandbox, what: &str) -> String {
    let outcome = sandbox.run(&Command::argv([ATTACKER, crate::attacker::ARGUMENT, what]), &limits());
    let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
    let text = outcome.stdout.text().into_owned();
    let all_held = !text.is_empty() && text.lines().all(|line| line.starts_with("held"));
    let open: Vec<&str> = text.lines().filter(|line| !line.starts_with("held")).collect();
    let end = (outcome.exit, outcome.signal, outcome.limit_hit);
    assert!(outcome.success() && all_held, "{what}: {end:?}\n{open:#?}\n{}", outcome.stderr.text());
    text
}

/// A folder for records that the user may use.
pub(crate) fn records_dir(who: Who) -> PathBuf {
    PathBuf::from(if who == Who::Root {
        "/root/.local/state/fix/undo"
    } else {
        "/home/u/.local/state/fix/undo"
    })
}
