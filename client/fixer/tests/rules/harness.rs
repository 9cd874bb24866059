//! Runs a case in a folder of its own, with an environment of its own.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use zx1_fixer::rules::{Candidate, Diagnosis, Failure, Findings, Kind, MAX_ROUNDS, Proposal, Step, decide};
use zx1_sandbox::{Limits, Sandbox};

/// One failure and what must become of it.
#[derive(Clone, Default)]
pub(crate) struct Case {
    /// The rule that must repair it.
    pub(crate) rule: &'static str,
    /// A shell script that makes the folder.
    pub(crate) setup: &'static str,
    /// The command that fails.
    pub(crate) command: &'static str,
    /// A shell script that must succeed after the repair, besides the command itself.
    pub(crate) check: &'static str,
    /// The shell that runs the command; `sh` when empty.
    pub(crate) shell: &'static str,
    /// The contract grants the network.
    pub(crate) network: bool,
    /// Only these programs are on the search path.
    pub(crate) only_programs: &'static [&'static str],
    /// What the corrected command must read, where that matters.
    pub(crate) corrected: &'static str,
    /// Other rules that rightly propose a repair as well, less surely.
    pub(crate) also: &'static [&'static str],
}

impl Case {
    pub(crate) fn new(rule: &'static str, setup: &'static str, command: &'static str) -> Self {
        Self { rule, setup, command, ..Self::default() }
    }

    pub(crate) fn check(mut self, script: &'static str) -> Self {
        self.check = script;
        self
    }

    pub(crate) fn corrected(mut self, command: &'static str) -> Self {
        self.corrected = command;
        self
    }

    pub(crate) fn bash(mut self) -> Self {
        self.shell = "bash";
        self
    }

    pub(crate) fn network(mut self) -> Self {
        self.network = true;
        self
    }

    pub(crate) fn only_programs(mut self, programs: &'static [&'static str]) -> Self {
        self.only_programs = programs;
        self
    }
}

/// Programs that are really behind a version manager's stand-in, and the search path that names them first:
/// the stand-ins need the real home folder.
static SEARCH_PATH: LazyLock<OsString> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ask = |program: &str, arguments: &[&str]| -> Option<PathBuf> {
        let output = Command::new(program).args(arguments).output().ok()?;
        let line = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| PathBuf::from(line.trim()))
    };
    let python = ask("python3", &["-c", "import sys; print(sys.executable)"]);
    let rust = ask("rustc", &["--print", "sysroot"]).map(|root| root.join("bin"));
    let first = python.and_then(|file| file.parent().map(Path::to_path_buf)).into_iter().chain(rust);
    std::env::join_paths(first.chain(std::env::split_paths(&path))).unwrap()
});

/// A folder with a home and a work tree, and the environment that commands run in.
pub(crate) struct Workshop {
    root: TempDir,
    path: OsString,
    shell: &'static str,
    /// Everything runs in it, the set-up too: the real filesystem stays as it was.
    sandbox: Mutex<Sandbox>,
}

/// The sandbox's helper: the example of this crate, which is built with the tests.
static HELPER: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().unwrap();
    let helper = test.parent().and_then(Path::parent).unwrap().join("examples/rules-helper");
    assert!(
        helper.is_file(),
        "{} is missing; build it with `cargo build -p zx1-fixer --examples`",
        helper.display()
    );
    helper
});

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) exit: i32,
    pub(crate) output: String,
}

impl Workshop {
    pub(crate) fn new(shell: &'static str, only_programs: &[&str]) -> Self {
        let root = tempfile::Builder::new().prefix("fix-rules").tempdir().unwrap();
        for folder in ["home", "work", "bin"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        let path = if only_programs.is_empty() {
            SEARCH_PATH.clone()
        } else {
            for program in only_programs {
                let file = std::env::split_paths(&*SEARCH_PATH)
                    .map(|folder| folder.join(program))
                    .find(|file| file.is_file())
                    .unwrap_or_else(|| panic!("{program} is not installed; run scripts/setup"));
                std::os::unix::fs::symlink(file, root.path().join("bin").join(program)).unwrap();
            }
            root.path().join("bin").into_os_string()
        };
        let sandbox = Sandbox::builder().work_tree(root.path()).helper(&*HELPER).build();
        let sandbox = Mutex::new(sandbox.unwrap_or_else(|e| panic!("{e}")));
        Self { root, path, shell: if shell.is_empty() { "sh" } else { shell }, sandbox }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn run_in(&self, shell: &str, script: &str, path: &OsString) -> Run {
        // Standard error goes where standard output goes, as on a terminal, so that their order is kept.
        let script = format!("exec 2>&1\n{script}");
        let git = ["AUTHOR", "COMMITTER"].into_iter().flat_map(|role| {
            [
                (format!("GIT_{role}_NAME"), "Tester".to_owned()),
                (format!("GIT_{role}_EMAIL"), "tester@example.org".to_owned()),
            ]
        });
        let mut command = zx1_sandbox::Command::argv([format!("/bin/{shell}").as_str(), "-c", &script])
            .cwd(self.work())
            .env("PATH", path)
            .env("HOME", self.root.path().join("home"))
            .env("TMPDIR", self.root.path())
            .env("LC_ALL", "C")
            .env("CARGO_NET_OFFLINE", "true")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.root.path())
            // The local folder that stands for the package mirror of the network capability.
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", self.work().join("mirror"))
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .env("npm_config_update_notifier", "false");
        for (name, value) in git {
            command = command.env(name, value);
        }
        let mut sandbox = self.sandbox.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let limits = Limits { time: Duration::from_secs(120), ..Limits::default() };
        let outcome = sandbox.run(&command, &limits).unwrap();
        assert_eq!(outcome.limit_hit, None, "{script}");
        Run { exit: outcome.exit.unwrap_or(128), output: outcome.stdout.text().into_owned() }
    }

    /// Runs a script of the test itself, with all programs.
    pub(crate) fn prepare(&self, script: &str) -> Run {
        self.run_in("sh", script, &SEARCH_PATH)
    }

    /// Runs a command as the principal does.
    pub(crate) fn run(&self, command: &str) -> Run {
        self.run_in(self.shell, command, &self.path)
    }

    /// The principal's command as a failure.
    pub(crate) fn fail(&self, command: &str, network: bool) -> Failure {
        let run = self.run(command);
        assert_ne!(run.exit, 0, "`{command}` did not fail:\n{}", run.output);
        let mut failure = Failure::new(command, run.output, run.exit);
        failure.capabilities.network = network;
        failure
    }

    /// Answers questions until the step is no question any more.
    pub(crate) fn answer(&self, mut step: impl FnMut(&Findings) -> Step) -> Step {
        let mut findings = Findings::default();
        loop {
            match step(&findings) {
                Step::Investigate(command) => {
                    assert!(findings.len() < MAX_ROUNDS, "too many questions: {findings:?}");
                    assert_readable(&command);
                    let output = self.run_in("sh", &command, &self.path).output;
                    findings.add(command, output);
                }
                end => return end,
            }
        }
    }

    /// The rules that propose something, each asked alone.
    pub(crate) fn proposing(&self, failure: &Failure) -> BTreeSet<&'static str> {
        let alone = |candidate: &Candidate<'_>| self.answer(|findings| candidate.step(findings));
        Diagnosis::of(failure)
            .iter()
            .filter(|candidate| matches!(alone(candidate), Step::Propose(_)))
            .map(|candidate| candidate.rule().id)
            .collect()
    }

    /// What all rules together say.
    pub(crate) fn decide(&self, failure: &Failure) -> Step {
        self.answer(|findings| decide(failure, findings))
    }
}

/// An investigation command must fit the grammar of decision E9: one of the named programs, only options that
/// read, no character that a shell or a program could take for more.
pub(crate) fn assert_readable(command: &str) {
    if let Err(refusal) = zx1_whitelist::Command::parse(command) {
        panic!("the whitelist refuses `{command}`: {refusal}");
    }
    let plain = command.chars().all(|c| c.is_alphanumeric() || " ./_-+@,:=\"*".contains(c));
    assert!(plain, "{command}");
    let mut words = command.split(' ');
    let options: &[&str] = match words.next().unwrap() {
        "cat" | "pwd" | "which" => &[],
        "ls" => &["-aF"],
        "grep" => &["-rnw", "--include="],
        "find" => &["-maxdepth", "-type", "-name", "-mmin"],
        other => panic!("{other} is not allowed: {command}"),
    };
    for word in words.filter(|word| word.starts_with('-')) {
        assert!(options.iter().any(|option| word.starts_with(option)), "{word} of {command}");
    }
    for secret in ["/.ssh", ".env", "id_rsa", "/etc/shadow"] {
        assert!(!command.contains(secret), "{command}");
    }
}

/// Everything that a case promises; `Err` says what did not hold.
pub(crate) fn try_case(case: &Case) -> Result<(), String> {
    let shop = Workshop::new(case.shell, case.only_programs);
    let setup = shop.prepare(&format!("set -e\n{}", case.setup));
    if setup.exit != 0 {
        return Err(format!("the set-up failed:\n{}", setup.output));
    }
    let first = shop.run(case.command);
    if first.exit == 0 {
        return Err(format!("`{}` did not fail:\n{}", case.command, first.output));
    }
    let mut failure = Failure::new(case.command, first.output, first.exit);
    failure.capabilities.network = case.network;
    let context = format!("`{}` (exit {}):\n{}", failure.command, failure.exit_code, failure.error);

    // The matrix: of all rules only the expected one proposes something.
    let proposing = shop.proposing(&failure);
    let expected: BTreeSet<&str> = std::iter::once(case.rule).chain(case.also.iter().copied()).collect();
    if proposing != expected {
        let steps: Vec<_> = Diagnosis::of(&failure)
            .iter()
            .map(|candidate| (candidate.rule().id, shop.answer(|findings| candidate.step(findings))))
            .collect();
        return Err(format!("{proposing:?} propose, {expected:?} should.\n{steps:#?}\n{context}"));
    }

    let proposal = match shop.decide(&failure) {
        Step::Propose(proposal) => proposal,
        other => return Err(format!("{other:?}\n{context}")),
    };
    apply(case, &shop, &proposal).map_err(|why| format!("{why}\n{proposal:#?}\n{context}"))
}

fn apply(case: &Case, shop: &Workshop, proposal: &Proposal) -> Result<(), String> {
    if proposal.rule != case.rule {
        return Err(format!("{} was chosen", proposal.rule));
    }
    let rule = zx1_fixer::rules::catalogue().iter().find(|rule| rule.id == case.rule).unwrap();
    if (rule.kind == Kind::Command) != proposal.corrected_command.is_some() {
        return Err("the kind of repair is not the catalogue's".to_owned());
    }
    let corrected = proposal.corrected_command.as_deref();
    if !case.corrected.is_empty() && corrected != Some(case.corrected) {
        return Err(format!("the corrected command should be `{}`", case.corrected));
    }
    let fix = shop.run_in("sh", &proposal.fix, &shop.path);
    if fix.exit != 0 {
        return Err(format!("the fix ended with {}:\n{}", fix.exit, fix.output));
    }
    let again = shop.run(corrected.unwrap_or(case.command));
    if again.exit != 0 {
        return Err(format!("the command still fails with {}:\n{}", again.exit, again.output));
    }
    let check = shop.prepare(&format!("set -e\n{}", case.check));
    if check.exit != 0 {
        return Err(format!("the check failed:\n{}", check.output));
    }
    Ok(())
}

/// Tries all cases of a group and reports every one that does not hold.
pub(crate) fn try_all(cases: &[Case]) {
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| try_case(case).err().map(|why| format!("--- {}: {why}", case.rule)))
        .collect();
    assert!(failed.is_empty(), "{} of {} failed\n{}", failed.len(), cases.len(), failed.join("\n"));
}
