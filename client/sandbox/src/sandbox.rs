//! The caller's side: builds a sandbox, runs commands in it, reads what they changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::changes::{self, ChangeSet, Consents, Protected};
use crate::command::{Command, Keeper, LimitKind, Limits, Outcome, Stream};
use crate::commit::{Records, UndoRecord};
use crate::error::{Result, SandboxError, show};
use crate::proxy::{HostList, Proxy};
use crate::raw::Raw;
use crate::root::Sealed;
use crate::wire::{self, PROXY_PORT, ReadyInfo, Reply, Request, RunRequest, Upper};
use crate::{helper, secrets};

/// Set by [`crate::helper_main_if_asked`]: the running program can be its own helper.
static OWN_PROGRAM: AtomicBool = AtomicBool::new(false);

/// A stream may pass its limit this many times before the run is ended.
const OUTPUT_FACTOR: u64 = 64;
/// Default bound on all changes, bytes.
const DISK_LIMIT: u64 = 1 << 30;

pub(crate) fn use_own_program() {
    OWN_PROGRAM.store(true, Ordering::Relaxed);
}

/// What a run may reach outside of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Network {
    /// Nothing but its own loopback.
    #[default]
    None,
    /// HTTP and HTTPS to these host names through a proxy on its loopback, named by `http_proxy` and
    /// `https_proxy`. `*.example.org` allows all names below. Never loopback, link-local or private
    /// addresses, whatever a name resolves to (decision E11).
    Hosts(Vec<String>),
    /// These ports of its own loopback, served by the caller of [`Sandbox::run_long`]. No route, no other address.
    Services(Vec<u16>),
}

impl Network {
    /// Whether a sandbox takes these hosts, before there is one to build.
    ///
    /// # Errors
    /// [`SandboxError::BadHost`]: something else than a host name, such as an address.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::None | Self::Services(_) => Ok(()),
            Self::Hosts(hosts) => HostList::new(hosts).map(|_| ()),
        }
    }
}

/// How a sandbox is to be. Made by [`Sandbox::builder`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    work_tree: Option<PathBuf>,
    disk_limit: Option<u64>,
    masks: Vec<PathBuf>,
    helper: Option<PathBuf>,
    network: Network,
    command_line: OsString,
    path_var: Option<OsString>,
    view: Seen,
    shown: Vec<PathBuf>,
    unmasked: Vec<PathBuf>,
    sealed: Option<Sealed>,
}

/// How much of the machine is seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Seen {
    #[default]
    Everything,
    /// Of homes only the working tree, toolchains and what is named.
    NoHomes,
    /// Only the working tree, toolchains and what is named.
    Tools,
}

impl Builder {
    /// Where the command belongs: changes inside are ordinary, environment files inside are masked. Required.
    #[must_use]
    pub fn work_tree(mut self, path: impl Into<PathBuf>) -> Self {
        self.work_tree = Some(path.into());
        self
    }

    /// All changes together, bytes; they are kept in memory. 1 GiB or half of what is free by default.
    #[must_use]
    pub fn disk_limit(mut self, bytes: u64) -> Self {
        self.disk_limit = Some(bytes);
        self
    }

    /// One more secret path, besides the built-in list.
    #[must_use]
    pub fn mask(mut self, path: impl Into<PathBuf>) -> Self {
        self.masks.push(path.into());
        self
    }

    /// The helper program, if it is neither this program nor beside it.
    #[must_use]
    pub fn helper(mut self, path: impl Into<PathBuf>) -> Self {
        self.helper = Some(path.into());
        self
    }

    /// What runs may reach. Nothing by default.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// The command that failed: a fix that changes its executable needs a consent of its own.
    #[must_use]
    pub fn command_line(mut self, line: impl Into<OsString>) -> Self {
        self.command_line = line.into();
        self
    }

    /// PATH of the failed command, to find its executable. This process's by default.
    #[must_use]
    pub fn path_var(mut self, path: impl Into<OsString>) -> Self {
        self.path_var = Some(path.into());
        self
    }

    /// Of homes nothing is seen but the working tree, the folders of toolchains and what [`Builder::show`] names.
    #[must_use]
    pub fn hide_homes(mut self) -> Self {
        self.view = Seen::NoHomes;
        self
    }

    /// Nothing of this machine is seen but the working tree, programs and toolchains, and what [`Builder::show`]
    /// names: for commands of strangers on a machine that has nothing to do with them.
    #[must_use]
    pub fn tools_only(mut self) -> Self {
        self.view = Seen::Tools;
        self
    }

    /// One more path that is seen where others are hidden. Secrets in it stay masked.
    #[must_use]
    pub fn show(mut self, path: impl Into<PathBuf>) -> Self {
        self.shown.push(path.into());
        self
    }

    /// A path whose secrets the user wants to be seen: it is shown, and what has a secret's name there is not
    /// masked. Paths of [`Builder::mask`] are masked all the same.
    #[must_use]
    pub fn unmask(mut self, path: impl Into<PathBuf>) -> Self {
        self.unmasked.push(path.into());
        self
    }

    /// Nothing of this machine is seen but this root. There is no working tree then and nothing to commit.
    #[must_use]
    pub fn sealed(mut self, root: Sealed) -> Self {
        self.sealed = Some(root);
        self
    }

    /// Starts the helper and lays the overlay.
    ///
    /// # Errors
    ///
    /// 9201 to 9210: what is missing to isolate. It never falls back to running bare (decision E11).
    pub fn build(self) -> Result<Sandbox> {
        let started = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        let sealed = self.sealed.as_ref().map(Sealed::request).transpose()?;
        let tree = if sealed.is_some() { PathBuf::from("/") } else { self.work_tree.unwrap_or_default() };
        let bad_tree = |error: &dyn std::fmt::Display| SandboxError::WorkTree {
            path: show(&tree),
            detail: error.to_string(),
        };
        let work_tree = std::fs::canonicalize(&tree).map_err(|error| bad_tree(&error))?;
        if !work_tree.is_dir() {
            return Err(bad_tree(&"not a directory"));
        }
        let (hosts, ports) = match self.network {
            Network::None => (None, Vec::new()),
            Network::Hosts(hosts) => (Some(HostList::new(&hosts)?), vec![PROXY_PORT]),
            Network::Services(ports) => (None, ports),
        };
        let real = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().filter_map(|path| std::fs::canonicalize(work_tree.join(path)).ok()).collect()
        };
        let unmasked = real(&self.unmasked);
        // Nothing of the machine is there to be masked.
        let masks =
            if sealed.is_some() { Vec::new() } else { secrets::paths(&work_tree, &self.masks, &unmasked) };
        let path_var = self.path_var.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        let mut shown = vec![work_tree.clone()];
        shown.extend(real(&self.shown));
        shown.extend(unmasked);
        let hidden = match self.view {
            Seen::Everything => Vec::new(),
            Seen::NoHomes => secrets::home_roots(),
            Seen::Tools => vec![PathBuf::from("/")],
        };
        if self.view == Seen::Tools {
            shown.extend(secrets::programs());
        }
        if self.view != Seen::Everything {
            shown.extend(secrets::toolchains(&path_var));
        }
        // A folder that holds a home is left out, unless the work itself is there.
        let own = shown.iter().take(1 + self.shown.len()).cloned().collect::<Vec<_>>();
        let protected = Protected::new(&work_tree, &self.command_line, &path_var);
        let disk_limit = self.disk_limit.unwrap_or_else(|| DISK_LIMIT.min(free_memory() / 2));

        let (socket, theirs) =
            socket_pair().map_err(|error| SandboxError::setup("making a socket", error))?;
        let child = spawn(self.helper.as_deref(), theirs)?;
        let unseen = if self.view == Seen::NoHomes { hidden.clone() } else { Vec::new() };
        let mut sandbox = Sandbox {
            unseen,
            shown: shown.clone(),
            replaced: BTreeMap::new(),
            socket,
            child,
            info: Info::default(),
            groups: None,
            work_tree,
            masked: masks.clone(),
            protected,
            hosts,
            ports,
            volumes: Vec::new(),
            baseline: started,
            cancel: Canceller::new()?,
        };
        let raws = |paths: &[PathBuf]| paths.iter().map(Raw::from).collect();
        let setup = Request::Setup(wire::Setup {
            work_tree: Raw::from(&sandbox.work_tree),
            disk_limit,
            masks: raws(&masks),
            hidden: raws(&hidden),
            shown: raws(&shown),
            own: raws(&own),
            sealed,
        });
        sandbox.send(&setup, &[])?;
        let (reply, volumes) = sandbox.receive()?;
        match reply {
            Reply::Ready(ready) => {
                sandbox.volumes = volumes;
                sandbox.groups = ready.groups.as_ref().map(Raw::path);
                sandbox.info = Info::from(ready);
            }
            Reply::Failed(error) => return Err(error),
            other => return Err(unexpected(&other)),
        }
        sandbox.baseline = baseline_after(started);
        Ok(sandbox)
    }
}

/// The instant that parts old changes of the real filesystem from new ones: later than everything before the
/// build began, and not later than the time stamp of anything that happens from now on. File times move in
/// ticks of the coarse clock, so it waits for the next tick, at most 10 ms, if the helper was faster than
/// that.
fn baseline_after(started: Timespec) -> Timespec {
    loop {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        let later = (now.tv_sec, now.tv_nsec) > (started.tv_sec, started.tv_nsec);
        // A clock that was set back would keep this waiting.
        if later || now.tv_sec + 1 < started.tv_sec {
            return now;
        }
        std::thread::yield_now();
    }
}

/// What the sandbox found on this system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Info {
    /// It runs as root: root-owned files can be changed too.
    pub privileged: bool,
    /// Mechanism that bounds memory and processes.
    pub limits_by: &'static str,
    /// Mounts and directories that are not shown, because they cannot be covered.
    pub hidden: Vec<PathBuf>,
    /// Secrets that exist and are masked.
    pub masked: Vec<PathBuf>,
    /// Places of the overlays.
    pub overlays: Vec<PathBuf>,
}

impl From<ReadyInfo> for Info {
    fn from(ready: ReadyInfo) -> Self {
        let paths = |raws: Vec<Raw>| raws.iter().map(Raw::path).collect();
        Self {
            privileged: ready.privileged,
            limits_by: if ready.groups.is_some() { "cgroup v2" } else { "rlimits and watching" },
            hidden: paths(ready.hidden),
            masked: paths(ready.masked),
            overlays: paths(ready.overlays),
        }
    }
}

/// Ends the present run from another thread. Clones end the same sandbox's runs.
#[derive(Debug, Clone)]
pub struct Canceller {
    event: Arc<OwnedFd>,
}

impl Canceller {
    fn new() -> Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| SandboxError::setup("making an event", error))?;
        Ok(Self { event: Arc::new(event) })
    }

    /// Ends the present run, or the next one if none is running.
    pub fn cancel(&self) {
        let _ = rustix::io::write(&*self.event, &1u64.to_ne_bytes());
    }

    /// Forgets a cancel that came when nothing ran, so that it does not end the next run.
    pub fn clear(&self) {
        let _ = self.take();
    }

    fn take(&self) -> bool {
        rustix::io::read(&*self.event, &mut [0u8; 8]).is_ok()
    }
}

/// One overlay over the whole visible filesystem. Dropping it discards all changes.
#[derive(Debug)]
pub struct Sandbox {
    socket: OwnedFd,
    child: Child,
    info: Info,
    /// Where the helper makes the groups of runs.
    groups: Option<PathBuf>,
    work_tree: PathBuf,
    masked: Vec<PathBuf>,
    protected: Protected,
    hosts: Option<HostList>,
    ports: Vec<u16>,
    volumes: Vec<OwnedFd>,
    baseline: Timespec,
    cancel: Canceller,
    /// Directories of which only `shown` was seen.
    unseen: Vec<PathBuf>,
    shown: Vec<PathBuf>,
    /// Content that [`Sandbox::put`] has laid over files, by its hash: no command's doing.
    replaced: BTreeMap<PathBuf, String>,
}

impl Sandbox {
    /// Starts to describe a sandbox.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// What was found on this system.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// What the user should know before anything is tried: without root some changes are impossible.
    #[must_use]
    pub fn notice(&self) -> Option<&'static str> {
        (!self.info.privileged).then_some(
            "This runs as an ordinary user: files of root cannot be changed. If the fix needs that, use \
             `sudo fix`.",
        )
    }

    /// The folder of a sealed root's volume, by the order in which they were named. What commands left there is hostile:
    /// follow no link in it.
    #[must_use]
    pub fn volume(&self, index: usize) -> Option<BorrowedFd<'_>> {
        self.volumes.get(index).map(AsFd::as_fd)
    }

    /// The process that holds the view; those of a run descend from it.
    #[must_use]
    pub fn helper_id(&self) -> u32 {
        self.child.id()
    }

    /// A handle to end runs from another thread.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.cancel.clone()
    }

    /// Runs a command and waits for its end. All processes that it left are dead then.
    ///
    /// # Errors
    ///
    /// 9205 to 9213: the run could not be isolated or started. A command that fails is not an error.
    pub fn run(&mut self, command: &Command, limits: &Limits) -> Result<Outcome> {
        self.run_with(command, limits, |_, _| {})
    }

    /// The same, with the output as it comes.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_with(
        &mut self,
        command: &Command,
        limits: &Limits,
        live: impl FnMut(Stream, &[u8]),
    ) -> Result<Outcome> {
        let most = OUTPUT_FACTOR.saturating_mul(limits.output as u64);
        self.run_until(command, limits, most, live, |_, _| {})
    }

    /// A run whose output never ends it, and that goes on until its end or [`Canceller::cancel`] where
    /// [`Limits::time`] is [`Duration::MAX`](std::time::Duration::MAX). `serve` gets each listening socket of
    /// [`Network::Services`] before the command begins.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_long(
        &mut self,
        command: &Command,
        limits: &Limits,
        live: impl FnMut(Stream, &[u8]),
        serve: impl FnMut(u16, TcpListener),
    ) -> Result<Outcome> {
        self.run_until(command, limits, u64::MAX, live, serve)
    }

    fn run_until(
        &mut self,
        command: &Command,
        limits: &Limits,
        most: u64,
        mut live: impl FnMut(Stream, &[u8]),
        mut serve: impl FnMut(u16, TcpListener),
    ) -> Result<Outcome> {
        command.check()?;
        let began = Instant::now();
        let failed = |error: io::Error| SandboxError::setup("starting a run", error);
        let stdin = input(&command.stdin).map_err(failed)?;
        let (stdout, stdout_end) = pipe().map_err(failed)?;
        let (stderr, stderr_end) = pipe().map_err(failed)?;
        let request = Request::Run(self.request(command, limits));
        self.send(&request, &[stdin.as_fd(), stdout_end.as_fd(), stderr_end.as_fd()])?;
        drop((stdin, stdout_end, stderr_end));

        let mut streams = [
            (Stream::Stdout, Some(stdout), Keeper::new(limits.output)),
            (Stream::Stderr, Some(stderr), Keeper::new(limits.output)),
        ];
        let mut proxy = None;
        let mut ended_by = None;
        let mut end = None;
        while end.is_none() || streams.iter().any(|(_, pipe, _)| pipe.is_some()) {
            let ready = self.poll(&streams, end.is_none())?;
            if ready.socket {
                match self.receive()? {
                    (Reply::Listening { port }, mut fds) => {
                        let listener = fds
                            .pop()
                            .ok_or_else(|| SandboxError::setup("the run's loopback", "no socket"))?;
                        match self.hosts.clone() {
                            Some(hosts) => proxy = Some(Proxy::start(listener, hosts)?),
                            None => serve(port, TcpListener::from(listener)),
                        }
                    }
                    (Reply::Exited { exit, signal, limit }, _) => end = Some((exit, signal, limit)),
                    (Reply::Failed(error), _) => return Err(error),
                    (other, _) => return Err(unexpected(&other)),
                }
            }
            if ready.cancel && self.cancel.take() && ended_by.is_none() && end.is_none() {
                ended_by = Some(LimitKind::Canceled);
                self.send(&Request::Kill, &[])?;
            }
            for ((stream, pipe, keeper), ready) in streams.iter_mut().zip(ready.streams) {
                if ready {
                    let mut piece = [0u8; 1 << 16];
                    let count = pipe.as_ref().map_or(Ok(0), |pipe| rustix::io::read(pipe, &mut piece));
                    match count {
                        Ok(0) => *pipe = None,
                        Ok(count) => {
                            let bytes = piece.get(..count).unwrap_or_default();
                            keeper.push(bytes);
                            live(*stream, bytes);
                        }
                        Err(rustix::io::Errno::INTR) => {}
                        Err(error) => return Err(SandboxError::setup("reading output", error)),
                    }
                }
            }
            if ended_by.is_none()
                && end.is_none()
                && streams.iter().any(|(_, _, keeper)| keeper.total() > most)
            {
                ended_by = Some(LimitKind::Output);
                self.send(&Request::Kill, &[])?;
            }
        }
        drop(proxy);
        let (exit, signal, limit) = end.unwrap_or_default();
        let [stdout, stderr] = streams.map(|(_, _, keeper)| keeper.finish());
        // The caller's reason comes first: the helper calls every run that it was asked to end canceled.
        let limit_hit = ended_by.or(limit);
        Ok(Outcome { exit, signal, stdout, stderr, wall: began.elapsed(), limit_hit })
    }

    fn request(&self, command: &Command, limits: &Limits) -> RunRequest {
        let mut env = command.env.clone();
        if self.hosts.is_some() {
            let address = OsString::from(format!("http://127.0.0.1:{PROXY_PORT}"));
            for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
                env.push((OsString::from(name), address.clone()));
            }
        }
        RunRequest {
            argv: command.argv.iter().map(Raw::from).collect(),
            env: env.iter().map(|(name, value)| (Raw::from(name), Raw::from(value))).collect(),
            cwd: Raw::from(command.cwd.as_deref().unwrap_or(&self.work_tree)),
            read_only: command.read_only,
            ports: self.ports.clone(),
            no_input: command.stdin.is_empty(),
            time_ms: u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX >> 1).min(u64::MAX >> 1),
            memory: limits.memory,
            processes: limits.processes,
            file_size: limits.file_size,
            open_files: limits.open_files,
        }
    }

    fn poll(&self, streams: &[(Stream, Option<OwnedFd>, Keeper); 2], wait_for_end: bool) -> Result<Ready> {
        let [(_, stdout, _), (_, stderr, _)] = streams;
        let mut polled = vec![PollFd::new(&*self.cancel.event, PollFlags::IN)];
        let (has_socket, has_stdout, has_stderr) = (wait_for_end, stdout.is_some(), stderr.is_some());
        if has_socket {
            polled.push(PollFd::new(&self.socket, PollFlags::IN));
        }
        polled.extend(stdout.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        polled.extend(stderr.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        loop {
            match poll(&mut polled, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(SandboxError::setup("waiting for the run", error)),
                Ok(_) => break,
            }
        }
        let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |there: bool| there && events.next().unwrap_or(false);
        let cancel = next(true);
        let socket = next(has_socket);
        Ok(Ready { cancel, socket, streams: [next(has_stdout), next(has_stderr)] })
    }

    /// What all runs so far have changed, compared with the real filesystem.
    ///
    /// # Errors
    ///
    /// 9220: a file could not be read.
    pub fn changes(&mut self) -> Result<ChangeSet> {
        let uppers = self.scan()?;
        let context = changes::Context {
            work_tree: self.work_tree.clone(),
            masked: self.masked.clone(),
            protected: self.protected.clone(),
            unseen: self.unseen.clone(),
            shown: self.shown.clone(),
        };
        let mut changes = changes::compare(uppers, &context, |path| self.open(path))?;
        changes.entries.retain(|entry| {
            let hash = entry.after.as_ref().and_then(|after| after.hash.as_ref());
            hash.is_none() || self.replaced.get(&entry.path) != hash
        });
        Ok(changes)
    }

    /// Puts other content into a file of the view, before anything runs: a scrubbed copy. Where that is not possible
    /// the file is masked.
    ///
    /// # Errors
    ///
    /// 9208: neither is possible; nothing may run then.
    pub fn put(&mut self, path: &Path, content: &[u8]) -> Result<()> {
        let file = input(content).map_err(|error| SandboxError::setup("showing a scrubbed file", error))?;
        self.send(&Request::Put { path: Raw::from(path) }, &[file.as_fd()])?;
        self.done()?;
        let hash = crate::hash::reader(content).map_err(|error| SandboxError::scan(path, error))?.1;
        self.replaced.insert(path.to_owned(), hash);
        Ok(())
    }

    /// Masks one more path of the view, before anything runs.
    ///
    /// # Errors
    ///
    /// 9208: it is not possible.
    pub fn mask(&mut self, path: &Path) -> Result<()> {
        self.send(&Request::Mask { path: Raw::from(path) }, &[])?;
        self.done()
    }

    fn done(&mut self) -> Result<()> {
        match self.receive()?.0 {
            Reply::Done => Ok(()),
            Reply::Failed(error) => Err(error),
            other => Err(unexpected(&other)),
        }
    }

    /// Everything in the upper layers.
    pub(crate) fn scan(&mut self) -> Result<Vec<Upper>> {
        self.send(&Request::Scan, &[])?;
        let mut all = Vec::new();
        loop {
            match self.receive()?.0 {
                Reply::Entries(entries) => all.extend(entries),
                Reply::ScanDone => return Ok(all),
                Reply::Failed(error) => return Err(error),
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// A file as the commands left it.
    pub(crate) fn open(&mut self, path: &Path) -> Result<File> {
        self.send(&Request::Open { path: Raw::from(path) }, &[])?;
        match self.receive()? {
            (Reply::Opened, mut fds) => {
                fds.pop().map(File::from).ok_or_else(|| SandboxError::scan(path, "no file came"))
            }
            (Reply::Failed(error), _) => Err(error),
            (other, _) => Err(unexpected(&other)),
        }
    }

    /// Says why a commit would be refused, without doing anything. Success may be posted only after this
    /// (decision E11).
    ///
    /// # Errors
    ///
    /// 9221 to 9227: the changes differ, need consents, collide with others, need root or space, or may not
    /// be.
    pub fn dry_run_commit(
        &mut self,
        changes: &ChangeSet,
        consents: &Consents,
        records: &Records,
    ) -> Result<()> {
        self.check_same(changes)?;
        crate::commit::check(changes, consents, self.baseline, records)
    }

    /// Applies exactly these changes to the real filesystem, all or none, and keeps what is needed to undo
    /// them.
    ///
    /// # Errors
    ///
    /// As [`dry_run_commit`](Self::dry_run_commit), 9230 to 9236 besides. Nothing is changed then.
    pub fn commit(
        mut self,
        changes: &ChangeSet,
        consents: &Consents,
        records: &Records,
    ) -> Result<UndoRecord> {
        self.dry_run_commit(changes, consents, records)?;
        crate::commit::commit(changes, consents, self.baseline, records, |path| self.open(path))
    }

    /// Nothing runs between runs, so nothing can write after verification; this shows it.
    fn check_same(&mut self, changes: &ChangeSet) -> Result<()> {
        if changes::digest_of(&self.scan()?) == changes.digest {
            return Ok(());
        }
        let now = self.changes()?;
        Err(SandboxError::ChangedSinceVerification { path: now.first_difference(changes) })
    }

    /// Forgets all changes.
    pub fn discard(self) {}

    fn send(&mut self, request: &Request, fds: &[std::os::fd::BorrowedFd<'_>]) -> Result<()> {
        wire::send(&self.socket, request, fds).map_err(|error| self.died(&error))
    }

    fn receive(&mut self) -> Result<(Reply, Vec<OwnedFd>)> {
        match wire::receive(&self.socket) {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(self.died(&"it closed the connection")),
            Err(error) => Err(self.died(&error)),
        }
    }

    fn died(&mut self, why: &dyn std::fmt::Display) -> SandboxError {
        let status = self.child.try_wait().ok().flatten().map(|status| format!(", {status}"));
        SandboxError::HelperDied { detail: format!("{why}{}", status.unwrap_or_default()) }
    }
}

impl Drop for Sandbox {
    /// Ends the helper and waits for it: afterwards the upper layers do not exist any more.
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let status = self.child.wait();
        // A helper that was killed could not remove the group of its run.
        if let Some(groups) = &self.groups
            && !status.is_ok_and(|status| status.success())
        {
            helper::remove_left(groups);
        }
    }
}

struct Ready {
    cancel: bool,
    socket: bool,
    streams: [bool; 2],
}

fn unexpected(reply: &Reply) -> SandboxError {
    SandboxError::HelperDied { detail: format!("it answered {reply:?}") }
}

/// Starts the helper with its end of the socket as standard input.
fn spawn(wanted: Option<&Path>, socket: OwnedFd) -> Result<Child> {
    let program = helper_program(wanted)?;
    let mut command = std::process::Command::new(&program);
    command.arg(helper::ARGUMENT).env_clear().current_dir("/");
    command.stdin(Stdio::from(socket)).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| SandboxError::NoHelper { detail: format!("{}: {error}", show(&program)) })
}

fn helper_program(wanted: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = wanted {
        return Ok(path.to_owned());
    }
    if OWN_PROGRAM.load(Ordering::Relaxed) {
        // Stays right if the file is replaced by an update meanwhile.
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    let own =
        std::env::current_exe().map_err(|error| SandboxError::NoHelper { detail: error.to_string() })?;
    let found =
        own.ancestors().skip(1).take(2).map(|dir| dir.join("zx1-sandbox-init")).find(|path| path.is_file());
    found.ok_or_else(|| SandboxError::NoHelper { detail: format!("none beside {}", show(&own)) })
}

/// A file that holds the bytes, to be read from its start.
fn input(bytes: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, Write};
    if bytes.is_empty() {
        return Ok(File::open("/dev/null")?.into());
    }
    let file = rustix::fs::memfd_create("stdin", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// Bytes of memory that are free for use; 2 GiB where the kernel does not say.
fn free_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or(2 << 30, |kilobytes| kilobytes.saturating_mul(1024))
}

fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).map_err(Into::into)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(Into::into)
}
