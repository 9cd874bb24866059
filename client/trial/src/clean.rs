//! A clean sandbox: the contract's files and nothing else.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use zx1_market::contract::InputFile;
use zx1_market::terms::CourtLimits;
use zx1_sandbox::{Command, Limits, Network, Sandbox};

use crate::{CannotRun, Job, Ran, Trial};

/// The largest file that a command may write, in bytes.
const FILE_SIZE: u64 = 512 << 20;
/// The most that all commands of a sandbox may write, in bytes.
const DISK: u64 = 1 << 30;

/// A place to run jobs in.
pub trait Bench: Send + Sync {
    /// Run a job in a clean sandbox: the inputs, nothing else. Blocks. The error is a sentence.
    fn run(&self, job: &Job) -> Result<Trial, CannotRun>;
}

/// A clean sandbox of zx1-sandbox: a new folder with the inputs, no network, the machine's own home masked,
/// and the limits of the contract's terms.
#[derive(Debug, Clone, Default)]
pub struct SandboxBench {
    /// Further paths that a fix must not read here: the judge's keys and data.
    pub masks: Vec<PathBuf>,
    /// The sandbox's helper program, when it is neither this program nor beside it.
    pub helper: Option<PathBuf>,
}

/// One job on its way.
struct Room<'a> {
    folder: &'a Path,
    limits: CourtLimits,
    until: Instant,
}

impl Room<'_> {
    fn run(&self, sandbox: &mut Sandbox, line: &str) -> Result<Ran, CannotRun> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let time = self.limits.reexecution;
            return Err(CannotRun(format!("Its time, {time} s, was over before the last command.")));
        }
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let command = Command::shell(line)
            .cwd(self.folder)
            .env("PATH", path)
            .env("HOME", self.folder)
            .env("TMPDIR", "/tmp")
            .env("LC_ALL", "C.UTF-8");
        let limits = Limits {
            time: left,
            memory: u64::from(self.limits.memory_mib) << 20,
            processes: self.limits.processes,
            output: self.limits.output_bytes as usize,
            file_size: FILE_SIZE,
            ..Limits::default()
        };
        let outcome = sandbox.run(&command, &limits);
        Ok(Ran::of(line, &outcome.map_err(|e| CannotRun(format!("The sandbox failed: {e}")))?))
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
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir());
        let home = home.filter(|home| !folder.path().starts_with(home));
        let make = || {
            let builder = Sandbox::builder().work_tree(folder.path()).disk_limit(DISK).network(Network::None);
            let masked = home.iter().chain(&self.masks).fold(builder, |builder, path| builder.mask(path));
            let helped = self.helper.iter().fold(masked, |builder, path| builder.helper(path));
            helped.build().map_err(|e| failed("There is no sandbox here", &e))
        };
        let until = Instant::now() + Duration::from_secs(job.limits.reexecution.into());
        let room = Room { folder: folder.path(), limits: job.limits, until };
        let control = room.run(&mut make()?, &job.command)?;
        // What the failing command left must neither help nor hinder: the fix has a sandbox of its own.
        let mut sandbox = make()?;
        let trial = Trial::of(&job.fix, job.verified_command(), |line| room.run(&mut sandbox, line))?;
        Ok(Trial { control: Some(control), as_root: sandbox.info().privileged, ..trial })
    }
}

/// Write the inputs below a folder. Their paths were checked when the contract was read: relative, no `..`.
fn lay_out(folder: &Path, inputs: &[InputFile]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    for input in inputs {
        let path = folder.join(&input.path);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above)?;
        }
        std::fs::write(&path, &input.content)?;
        if input.executable {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// A bench with prepared answers, for tests of whoever uses one.
pub struct ScriptedBench(pub Result<Trial, CannotRun>);

impl Bench for ScriptedBench {
    fn run(&self, _: &Job) -> Result<Trial, CannotRun> {
        self.0.clone()
    }
}
