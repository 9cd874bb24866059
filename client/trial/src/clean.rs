//! A clean sandbox: the contract's files and nothing else.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use zx1_market::contract::InputFile;
use zx1_market::terms::CourtLimits;
use zx1_sandbox::{Command, Limits, Network, Sandbox, SandboxError};

use crate::attempt;
use crate::place::{Place, What};
use crate::{CannotRun, Job, Ran, Trial};

/// The largest file that a command may write, in bytes.
const FILE_SIZE: u64 = 512 << 20;
/// The most that all commands of a sandbox may write, in bytes.
const DISK: u64 = 1 << 30;

/// What stands in the place of this machine's accounts.
const ACCOUNTS: [(&str, &str); 2] = [
    (
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    ),
    ("/etc/group", "root:x:0:\nnogroup:x:65534:\n"),
];

/// A place to run jobs in.
pub trait Bench: Send + Sync {
    /// Run a job in a clean sandbox: the inputs, nothing else. Blocks. The error is a sentence.
    fn run(&self, job: &Job) -> Result<Trial, CannotRun>;
}

/// A clean sandbox of zx1-sandbox: a new folder with the inputs, programs and toolchains, nothing else of this machine,
/// no network, and the limits of the contract's terms.
#[derive(Debug, Clone, Default)]
pub struct SandboxBench {
    /// Further paths that a fix must not read here: the judge's keys and data.
    pub masks: Vec<PathBuf>,
    /// The sandbox's helper program, when it is neither this program nor beside it.
    pub helper: Option<PathBuf>,
}

/// One job on its way.
struct Room<'a> {
    bench: &'a SandboxBench,
    folder: &'a Path,
    command: &'a str,
    limits: CourtLimits,
    until: Instant,
}

impl Place for Room<'_> {
    fn fresh(&self) -> Result<Sandbox, SandboxError> {
        let builder = Sandbox::builder()
            .work_tree(self.folder)
            .command_line(self.command)
            .disk_limit(DISK)
            .network(Network::None)
            .tools_only();
        let masked = self.bench.masks.iter().fold(builder, |builder, path| builder.mask(path));
        let helped = self.bench.helper.iter().fold(masked, |builder, path| builder.helper(path));
        let mut sandbox = helped.build()?;
        // The accounts of this machine are nobody's business.
        for (path, text) in ACCOUNTS {
            sandbox.put(Path::new(path), text.as_bytes())?;
        }
        Ok(sandbox)
    }

    fn run(&self, sandbox: &mut Sandbox, line: &str) -> Result<Ran, SandboxError> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let command = Command::shell(line)
            .cwd(self.folder)
            .env("PATH", path)
            .env("HOME", self.folder)
            .env("TMPDIR", "/tmp")
            .env("LC_ALL", "C.UTF-8");
        let limits = Limits {
            time: self.until.saturating_duration_since(Instant::now()),
            memory: u64::from(self.limits.memory_mib) << 20,
            processes: self.limits.processes,
            output: self.limits.output_bytes as usize,
            file_size: FILE_SIZE,
            ..Limits::default()
        };
        Ok(Ran::of(line, &sandbox.run(&command, &limits)?))
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
        let room = Room {
            bench: self,
            folder: folder.path(),
            command: &job.command,
            limits: job.limits,
            until: Instant::now() + Duration::from_secs(job.limits.reexecution.into()),
        };
        let sandbox = |e: SandboxError| failed("There is no sandbox here", &e);
        let control = attempt::control(&room, &job.command, &job.verification).map_err(sandbox)?;
        let what = What {
            fix: &job.fix,
            command: &job.command,
            corrected: job.corrected_command.as_deref(),
            from_outside: true,
            conditions: &job.verification,
            usual: job.limits.runs,
        };
        let attempt = attempt::attempt(&room, control, &what);
        Ok(attempt.map_err(sandbox)?.trial)
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
