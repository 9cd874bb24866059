//! Running a fix again: what a judge's machine finds, and an agent's own proof (decision E6).

use std::path::Path;
use std::time::{Duration, Instant};

use zx1_market::chain::{Data, ReexecutionData};
use zx1_market::contract::{Contract, InputFile, Verification};
use zx1_market::{Case, Entry, PartyId};
use zx1_sandbox::{Command, Limits, Network, Sandbox};
use zx1_scrub::Scrubber;

use crate::judge::{Reexecution, Status};

/// What is to be run again. All of it was chained before the fix: the contract is the chain's first entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The command that failed.
    pub command: String,
    /// What the fix's author wants verified in its place, when the command itself was wrong.
    pub corrected_command: Option<String>,
    /// The fix: a shell command.
    pub fix: String,
    /// The files that the principal attached.
    pub inputs: Vec<InputFile>,
    /// What must hold.
    pub verification: Vec<Verification>,
}

/// Why nothing can be run, in a sentence for the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CannotRun(pub String);

impl Job {
    /// The last fix of the contract's agent, or why it cannot be run again.
    pub fn of(case: &Case, entries: &[Entry]) -> Result<Job, CannotRun> {
        let Some(agent) = case.agent() else { return cannot("There is no agent and no fix.") };
        Job::of_agent(case.contract(), entries, agent)
    }

    fn of_agent(contract: &Contract, entries: &[Entry], agent: PartyId) -> Result<Job, CannotRun> {
        let last = entries.iter().rev().filter(|entry| entry.author() == agent).find_map(|entry| match entry
            .read()
        {
            Ok((Data::Fix { fix, corrected_command, .. }, _)) => Some((fix, corrected_command)),
            _ => None,
        });
        let Some((fix, corrected_command)) = last else { return cannot("The agent has proposed no fix.") };
        if contract.task.inputs.is_empty() {
            return cannot("The contract has no input files, so there is nothing to run the command on.");
        }
        if !contract.is_machine_verifiable() {
            return cannot("The contract is verified by the principal, which no machine can do.");
        }
        let here = (std::env::consts::OS, std::env::consts::ARCH);
        let system = &contract.environment;
        let same = |there: &str, here: &str| there.is_empty() || there.eq_ignore_ascii_case(here);
        let arch = if system.arch == "arm64" { "aarch64" } else { &system.arch };
        if !same(&system.os, here.0) || !same(if arch == "amd64" { "x86_64" } else { arch }, here.1) {
            return cannot("The command failed on another kind of system than the court's.");
        }
        if contract.capabilities.network.is_some()
            || contract.capabilities.docker
            || contract.capabilities.sudo
        {
            // It may still work without; but when it fails here, that would prove nothing. `sudo` is more
            // than a principal has who is root: the sandbox's own root stands for that, here as there.
            return cannot(
                "The contract grants the network, sudo or docker, which the court's machine does not give.",
            );
        }
        Ok(Job {
            command: contract.task.command.clone(),
            corrected_command,
            fix,
            inputs: contract.task.inputs.clone(),
            verification: contract.verification.clone(),
        })
    }

    /// What is verified.
    pub fn verified_command(&self) -> &str {
        self.corrected_command.as_deref().unwrap_or(&self.command)
    }
}

fn cannot<T>(why: &str) -> Result<T, CannotRun> {
    Err(CannotRun(why.to_owned()))
}

/// How one command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; 128 and more when a signal ended it.
    pub exit: Option<i32>,
    /// Whether a limit ended it.
    pub limited: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The command that failed, before the fix.
    pub before: Ran,
    /// The fix itself.
    pub fix: Ran,
    /// The verified command, after the fix.
    pub after: Ran,
    /// Whether they ran as root of the sandbox. The principal may have been root where the court is not.
    pub as_root: bool,
}

/// A place to run jobs in.
pub trait Bench: Send + Sync {
    /// Run a job in a clean sandbox: the inputs, nothing else. Blocks. The error is a sentence.
    fn run(&self, job: &Job) -> Result<Trial, CannotRun>;
}

/// A clean sandbox of zx1-sandbox: a new folder with the inputs, no network, the machine's own home masked,
/// limits on time, memory, processes and output.
#[derive(Debug, Clone)]
pub struct SandboxBench {
    /// Time for all three commands together. Less than the courts' window for the re-execution.
    pub time: Duration,
    /// Further limits of each command.
    pub limits: Limits,
    /// Further paths that a fix must not read here: the judge's keys and data.
    pub masks: Vec<std::path::PathBuf>,
    /// The sandbox's helper program, when it is neither this program nor beside it.
    pub helper: Option<std::path::PathBuf>,
}

impl Default for SandboxBench {
    fn default() -> SandboxBench {
        let limits = Limits {
            memory: 2 << 30,
            processes: 256,
            output: 64 << 10,
            file_size: 512 << 20,
            ..Limits::default()
        };
        SandboxBench { time: Duration::from_secs(45), limits, masks: Vec::new(), helper: None }
    }
}

impl SandboxBench {
    fn one(&self, sandbox: &mut Sandbox, line: &str, work: &Path, until: Instant) -> Result<Ran, CannotRun> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CannotRun(format!(
                "Its time, {} s, was over before the last command.",
                self.time.as_secs()
            )));
        }
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let command = Command::shell(line)
            .cwd(work)
            .env("PATH", path)
            .env("HOME", work)
            .env("TMPDIR", "/tmp")
            .env("LC_ALL", "C.UTF-8");
        let limits = Limits { time: left, ..self.limits.clone() };
        let outcome =
            sandbox.run(&command, &limits).map_err(|e| CannotRun(format!("The sandbox failed: {e}")))?;
        Ok(Ran {
            exit: outcome.exit.or(outcome.signal.map(|signal| 128 + signal)),
            limited: outcome.limit_hit.is_some(),
            stdout: outcome.stdout.text().into_owned(),
            stderr: outcome.stderr.text().into_owned(),
        })
    }
}

impl Bench for SandboxBench {
    fn run(&self, job: &Job) -> Result<Trial, CannotRun> {
        let failed = |what: &str, e: &dyn std::fmt::Display| CannotRun(format!("{what}: {e}"));
        let folder = tempfile::Builder::new()
            .prefix("fix-court")
            .tempdir()
            .map_err(|e| failed("There is no place for the files", &e))?;
        lay_out(folder.path(), &job.inputs).map_err(|e| failed("The files cannot be written", &e))?;
        let home = std::env::var_os("HOME").map(std::path::PathBuf::from).filter(|home| home.is_dir());
        let home = home.filter(|home| !folder.path().starts_with(home));
        let make = || {
            let builder =
                Sandbox::builder().work_tree(folder.path()).disk_limit(1 << 30).network(Network::None);
            let masked = home.iter().chain(&self.masks).fold(builder, |builder, path| builder.mask(path));
            let helped = match &self.helper {
                Some(path) => masked.helper(path),
                None => masked,
            };
            helped.build().map_err(|e| failed("There is no sandbox here", &e))
        };
        let until = Instant::now() + self.time;
        let before = self.one(&mut make()?, &job.command, folder.path(), until)?;
        // What the failing command left must neither help nor hinder: the fix has a sandbox of its own.
        let mut sandbox = make()?;
        let fix = self.one(&mut sandbox, &job.fix, folder.path(), until)?;
        let after = self.one(&mut sandbox, job.verified_command(), folder.path(), until)?;
        Ok(Trial { before, fix, after, as_root: sandbox.info().privileged })
    }
}

/// Write the inputs below a folder. Their paths were checked when the contract was read: relative, no `..`.
fn lay_out(folder: &Path, inputs: &[InputFile]) -> std::io::Result<()> {
    for input in inputs {
        let path = folder.join(&input.path);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above)?;
        }
        std::fs::write(&path, &input.content)?;
        #[cfg(unix)]
        if input.executable {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// A bench that answers as it is told, for tests of whoever uses one.
pub struct ScriptedBench(pub Result<Trial, CannotRun>);

impl Bench for ScriptedBench {
    fn run(&self, _: &Job) -> Result<Trial, CannotRun> {
        self.0.clone()
    }
}

/// Whether everything that the contract wants holds after the fix (decision E15).
fn holds(verification: &[Verification], after: &Ran) -> bool {
    !after.limited
        && verification.iter().all(|one| match one {
            Verification::ExitCode { expected } => after.exit == Some(i32::from(*expected)),
            Verification::OutputMatch { .. } => {
                one.regex().and_then(Result::ok).is_some_and(|regex| regex.is_match(&after.stdout))
            }
            Verification::Principal => false,
        })
}

/// The longest output in a result, in bytes, each stream.
const EXCERPT: usize = 12 << 10;

/// The machine's evidence, for a ruling and for the chain.
pub fn evidence(job: &Result<Job, CannotRun>, trial: Result<Trial, CannotRun>) -> Reexecution {
    let job = match job {
        Ok(job) => job,
        Err(CannotRun(why)) => return Reexecution::not_possible(why),
    };
    let trial = match trial {
        Ok(trial) => trial,
        Err(CannotRun(why)) => return Reexecution::not_possible(why),
    };
    let mut notes = Vec::new();
    if let Some(corrected) = &job.corrected_command {
        notes.push(format!(
            "The agent says that the failing command itself was wrong: after the fix, `{}` was run in \
             place of `{}`. Whether it does what the principal wanted is not for the machine to say.",
            zx1_scrub::neutral::one_line(corrected, 300),
            zx1_scrub::neutral::one_line(&job.command, 300)
        ));
    }
    if trial.fix.exit != Some(0) {
        let code = trial.fix.exit.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        notes.push(format!("The fix itself ended with {code}."));
    }
    let passed_before = holds(&job.verification, &trial.before);
    let status = if passed_before && job.corrected_command.is_none() {
        notes.push(
            "Without the fix the command passes here too, so the failure could not be reproduced.".to_owned(),
        );
        Status::NotPossible
    } else if trial.after.limited {
        notes.push("After the fix the command hit a limit of time, memory, processes or output.".to_owned());
        Status::NotPossible
    } else if holds(&job.verification, &trial.after) {
        Status::Passed
    } else {
        if !trial.as_root {
            notes.push("It was run as an ordinary user; what needs root fails here.".to_owned());
        }
        Status::Failed
    };
    if job.inputs.iter().any(|input| find(&input.content, b"[REDACTED:")) {
        notes.push("Parts of the input files were redacted before they were attached.".to_owned());
    }
    let scrubber = Scrubber::new();
    let clean = |text: &str| zx1_scrub::neutral::fit(&scrubber.scrub(text).text, EXCERPT, None).text;
    Reexecution {
        status,
        inputs_before_fix: true,
        exit: trial.after.exit,
        stdout: clean(&trial.after.stdout),
        stderr: clean(&trial.after.stderr),
        notes: notes.join(" "),
    }
}

fn find(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The result as it is chained.
pub fn chained(found: &Reexecution) -> ReexecutionData {
    let ran = found.status != Status::NotPossible;
    let mut output = found.stdout.clone();
    if !found.stderr.is_empty() {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&found.stderr);
    }
    ReexecutionData {
        ran,
        success: ran.then_some(found.status == Status::Passed),
        exit_code: found.exit.map(i64::from),
        output,
        note: found.notes.clone(),
        signature: None,
    }
}

/// The evidence out of the chain, for a judge that was restarted and for the courts above.
pub fn from_chain(data: &ReexecutionData) -> Reexecution {
    let status = match (data.ran, data.success) {
        (true, Some(true)) => Status::Passed,
        (true, Some(false)) => Status::Failed,
        _ => Status::NotPossible,
    };
    Reexecution {
        status,
        inputs_before_fix: data.ran,
        exit: data.exit_code.and_then(|code| i32::try_from(code).ok()),
        stdout: data.output.clone(),
        stderr: String::new(),
        notes: data.note.clone(),
    }
}
