//! The native jail, on `client/sandbox`: a sealed root from an image folder, `/bot` in memory, sockets of its own
//! loopback handed out. No path of the host is mounted but the image, read-only.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use zx1_sandbox::{Canceller, Command, Limits, Network, Sandbox, Sealed};

use crate::defaults::PORTS;
use crate::error::{CapsuleError, Result};
use crate::jail::{Bounds, End, Ender, Jail, Life};
use crate::processes;

/// Folders that an image needs.
const FOLDERS: [&str; 8] = ["bot", "dev", "etc", "mnt/remote", "proc", "run", "sys", "tmp"];
/// How much of the output is kept for the reason of an end; all of it is streamed.
const KEPT: usize = 8 << 10;

/// A root filesystem in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    folder: PathBuf,
    binds: Vec<(PathBuf, PathBuf)>,
}

impl Image {
    /// Looks whether a folder can be a capsule's root.
    ///
    /// # Errors
    /// 7971.
    pub fn open(folder: &Path) -> Result<Image> {
        let bad = |why| CapsuleError::Image { path: folder.display().to_string(), why };
        for name in FOLDERS {
            let meta =
                std::fs::symlink_metadata(folder.join(name)).map_err(|_| bad("a folder is missing"))?;
            if !meta.is_dir() {
                return Err(bad("something is not a folder"));
            }
        }
        let maps = std::fs::read_to_string(folder.join("etc/gitconfig")).unwrap_or_default();
        if !maps.contains("insteadOf = /mnt/remote") {
            return Err(bad("its etc/gitconfig does not lead /mnt/remote to the broker"));
        }
        // Git looks there before it reads where the name leads.
        if !folder.join("mnt/remote/HEAD").is_file() {
            return Err(bad("mnt/remote is not an empty repository"));
        }
        Ok(Image { folder: folder.to_owned(), binds: Vec::new() })
    }

    /// Shows a folder of the host at a point of the image, read-only: programs, for an image that has none.
    #[must_use]
    pub fn bind(mut self, host: impl Into<PathBuf>, point: impl Into<PathBuf>) -> Image {
        self.binds.push((host.into(), point.into()));
        self
    }
}

/// The native jail.
#[derive(Debug)]
pub struct Native {
    sandbox: Sandbox,
    limits: Limits,
    ender: Arc<NativeEnder>,
    bot: OwnedFd,
}

#[derive(Debug)]
struct NativeEnder {
    canceller: Canceller,
    helper: u32,
    /// The generation that lives.
    now: Mutex<Option<u64>>,
}

impl Ender for NativeEnder {
    fn end(&self, generation: u64) {
        // While the lock is held the life cannot give way to another one.
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if *now == Some(generation) {
            self.canceller.cancel();
        }
    }

    fn used_ms(&self) -> u64 {
        processes::used_ms_below(self.helper)
    }
}

impl Native {
    /// Makes the jail. `helper` is the sandbox's helper program, where it is neither this program nor beside it.
    ///
    /// # Errors
    /// 7970 for a bound that this machine cannot keep; 9201 to 9214 for what is missing to isolate.
    pub fn open(image: &Image, bounds: &Bounds, helper: Option<&Path>) -> Result<Native> {
        // The volumes lie in memory, so a promise of more than there is would be broken by the kernel's choice.
        if processes::memory_total().is_some_and(|total| bounds.disk.saturating_add(bounds.memory) > total) {
            return Err(CapsuleError::BoundNotGiven {
                bound: "memory and disk together exceed this machine's memory",
            });
        }
        if bounds.processes < 8 || bounds.open_files < 64 {
            return Err(CapsuleError::BoundNotGiven {
                bound: "fewer processes or descriptors than an agent needs",
            });
        }
        let mut root = Sealed::new(&image.folder).volume("/bot");
        for (host, point) in &image.binds {
            root = root.bind(host, point);
        }
        let network = Network::Services(PORTS.to_vec());
        let mut builder = Sandbox::builder().sealed(root).disk_limit(bounds.disk).network(network);
        if let Some(helper) = helper {
            builder = builder.helper(helper);
        }
        let sandbox = builder.build()?;
        let volume =
            sandbox.volume(0).ok_or(CapsuleError::BoundNotGiven { bound: "a folder /bot of its own" })?;
        let bot = volume.try_clone_to_owned().map_err(CapsuleError::repository("opening /bot"))?;
        let limits = Limits {
            time: Duration::MAX,
            memory: bounds.memory,
            processes: bounds.processes,
            output: KEPT,
            file_size: bounds.disk,
            open_files: bounds.open_files,
        };
        let (canceller, helper) = (sandbox.canceller(), sandbox.helper_id());
        let ender = Arc::new(NativeEnder { canceller, helper, now: Mutex::new(None) });
        Ok(Native { sandbox, limits, ender, bot })
    }
}

impl Jail for Native {
    fn live(&mut self, life: Life<'_>) -> Result<End> {
        let mut command = Command::argv(&life.argv).cwd("/bot").stdin(life.stdin).env("HOME", "/bot");
        // A git that was built elsewhere looks for it elsewhere.
        command = command.env("GIT_CONFIG_SYSTEM", "/etc/gitconfig");
        for (name, value) in &life.env {
            command = command.env(name, value);
        }
        let now = |value| *self.ender.now.lock().unwrap_or_else(PoisonError::into_inner) = value;
        now(Some(life.generation));
        let outcome = self.sandbox.run_long(
            &command,
            &self.limits,
            |_, bytes| (life.live)(bytes),
            |port, listener| {
                (life.serve)(port, listener);
            },
        );
        {
            let mut now = self.ender.now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = None;
            self.ender.canceller.clear();
        }
        let outcome = outcome?;
        let why = match (outcome.limit_hit, outcome.exit, outcome.signal) {
            (Some(limit), _, _) => format!("it was ended by the limit {limit:?}"),
            (None, Some(code), _) => format!("it ended with exit code {code}"),
            (None, None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None, None) => "it ended".to_owned(),
        };
        Ok(End { why, clean: outcome.success() })
    }

    fn ender(&self) -> Arc<dyn Ender> {
        let ender: Arc<NativeEnder> = Arc::clone(&self.ender);
        ender
    }

    fn bot(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd as _;
        self.bot.as_fd()
    }
}
