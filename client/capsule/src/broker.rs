//! The git broker: the agent's only way to the world.
//!
//! It speaks git's own protocol. For each connection it runs the real `git upload-pack` or `git receive-pack` over a
//! repository that nobody else touches; identity is the socket that the connection came by. Before git takes a push,
//! its hook asks here (`judge`); before a ref moves, the move is in the audit log, and from then until it has moved
//! no other generation can begin.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zx1_home::{Clock, Lock, files, socket};

use crate::audit::{Entry, Event};
use crate::caps::{PushCaps, Pushes};
use crate::defaults::{CONNECTIONS_MAX, GIT_S};
use crate::error::{CapsuleError, Result};
use crate::helper;
use crate::judge::{Push, Update, ZERO};
use crate::ledger::Ledger;
use crate::listen::{self, Listening, wait};
use crate::policy::{Identity, Kind, STOP};
use crate::report;
use crate::repository::Repository;
use crate::request::{self, Request, Service};

/// How long a client may take for its first packet, and a hook for what it says.
const FIRST: Duration = Duration::from_secs(10);
const LINGER: Duration = Duration::from_secs(2);
const MAIN: &str = "refs/heads/main";

/// Limits of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What an agent may push.
    pub caps: PushCaps,
    /// Connections at the same time.
    pub connections: usize,
    /// The longest that a connection may last.
    pub time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { caps: PushCaps::default(), connections: CONNECTIONS_MAX, time: Duration::from_secs(GIT_S) }
    }
}

/// What changes while it serves.
struct Gate {
    generation: u64,
    ledger: Ledger,
    pushes: Pushes,
}

/// Serves the repositories of one capsule.
pub struct Broker {
    repositories: BTreeMap<String, (Repository, Kind)>,
    hooks: PathBuf,
    run: PathBuf,
    gate: Mutex<Gate>,
    open: AtomicUsize,
    settings: Settings,
    clock: Arc<dyn Clock>,
    _lock: Lock,
}

impl Broker {
    /// Opens the broker of a capsule's folder. Repositories that are missing are made. `program` is what git runs as
    /// its hook: the helper, or a program whose `main` begins with [`helper::hook_main_if_asked`].
    ///
    /// What a crash left is put in order: a move of a ref that is in the log and did not happen is logged as undone.
    ///
    /// # Errors
    /// 7940, 7941, 7962, 7965; 7965 also where another process serves this folder.
    pub fn open(
        home: &Path,
        program: &Path,
        repositories: &[(&str, Kind)],
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Broker> {
        let failed = CapsuleError::repository("preparing the broker");
        let (hooks, run, git) = (home.join("hooks"), home.join("run"), home.join("git"));
        for folder in [home, &hooks, &run, &git] {
            files::make_private_folder(folder).map_err(&failed)?;
        }
        let lock = Lock::try_take(&home.join("broker.lock")).map_err(|error| failed(error.into()))?;
        for entry in std::fs::read_dir(&run).map_err(&failed)? {
            // Sockets of connections that a crash cut.
            let _ = std::fs::remove_dir_all(entry.map_err(&failed)?.path());
        }
        for name in helper::HOOKS {
            let hook = hooks.join(name);
            files::remove(&hook).map_err(&failed)?;
            std::os::unix::fs::symlink(program, &hook).map_err(&failed)?;
        }
        let (ledger, entries) = Ledger::open(&home.join("audit.log"))?;
        let mut served = BTreeMap::new();
        for (name, kind) in repositories {
            let path = git.join(name);
            let repository = if path.join("HEAD").exists() {
                Repository::open(&path)?
            } else {
                Repository::create(&path)?
            };
            served.insert((*name).to_owned(), (repository, *kind));
        }
        let mut pushes = Pushes::default();
        for at in entries.iter().filter(|entry| entry.who.starts_with("agent/")).map(|entry| entry.at_ms) {
            let _ = pushes.take(at, &settings.caps);
        }
        let broker = Broker {
            repositories: served,
            hooks: std::fs::canonicalize(hooks).map_err(&failed)?,
            run: std::fs::canonicalize(run).map_err(&failed)?,
            gate: Mutex::new(Gate { generation: 0, ledger, pushes }),
            open: AtomicUsize::new(0),
            settings,
            clock,
            _lock: lock,
        };
        broker.put_in_order(&entries)?;
        Ok(broker)
    }

    fn put_in_order(&self, entries: &[Entry]) -> Result<()> {
        let mut last: BTreeMap<(&str, &str), (&str, &str)> = BTreeMap::new();
        for entry in entries {
            let pair = match entry.event {
                Event::Undone => (entry.new.as_str(), entry.old.as_str()),
                Event::Update | Event::Cleared => (entry.old.as_str(), entry.new.as_str()),
            };
            last.insert((&entry.repository, &entry.name), pair);
        }
        for ((repository, name), (old, new)) in last {
            let Some((found, _)) = self.repositories.get(repository) else { continue };
            let now = found.resolve(name)?.unwrap_or_else(|| ZERO.to_owned());
            if now != new && now == old {
                let update = Update { old: old.to_owned(), new: new.to_owned(), name: name.to_owned() };
                let entry = self.entry("broker", repository, Event::Undone, &update);
                self.gate().ledger.append(&[entry])?;
            }
        }
        Ok(())
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        // What a thread that panicked left is a whole entry or none.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, who: &str, repository: &str, event: Event, update: &Update) -> Entry {
        Entry {
            seq: 0,
            at_ms: self.clock.unix_ms(),
            who: who.to_owned(),
            repository: repository.to_owned(),
            event,
            name: update.name.clone(),
            old: update.old.clone(),
            new: update.new.clone(),
        }
    }

    /// A repository by the name that it is served under.
    ///
    /// # Errors
    /// 7961.
    pub fn repository(&self, name: &str) -> Result<&Repository> {
        let served = self.repositories.get(name).map(|(repository, _)| repository);
        served.ok_or_else(|| CapsuleError::NoRepository { name: name.chars().take(100).collect() })
    }

    /// From now on only this generation's agent may push. Returns when no push of another one is under way past the
    /// point where it could still be refused.
    pub fn set_generation(&self, generation: u64) {
        self.gate().generation = generation;
    }

    /// Whether the stop ref is there.
    ///
    /// # Errors
    /// 7961, 7963.
    pub fn is_stopped(&self, name: &str) -> Result<bool> {
        Ok(self.repository(name)?.resolve(STOP)?.is_some())
    }

    /// Appends a line to the reports of COMMS.md on main, as a commit of the watcher's. Where there is no main, or the
    /// file is full, nothing happens.
    ///
    /// # Errors
    /// 7961 to 7965, 7940, 7941.
    pub fn report(&self, name: &str, text: &str) -> Result<()> {
        let repository = self.repository(name)?;
        repository.verify()?;
        let gate = self.gate();
        let Some(old) = repository.resolve(MAIN)? else { return Ok(()) };
        let Some(new) = report::report(repository, &old, text, self.clock.unix_secs())? else {
            return Ok(());
        };
        self.move_main(gate, name, repository, Update { old, new, name: MAIN.to_owned() })
    }

    /// Makes the first commit of a repository's main; its id. `None` where main is there, which stays as it is.
    ///
    /// # Errors
    /// 7961 to 7965, 7940, 7941.
    pub fn begin(&self, name: &str, files: &[(&str, &str)]) -> Result<Option<String>> {
        let repository = self.repository(name)?;
        repository.verify()?;
        let gate = self.gate();
        if repository.resolve(MAIN)?.is_some() {
            return Ok(None);
        }
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        let new = report::commit(repository, None, &files, "begin", self.clock.unix_secs())?;
        let update = Update { old: ZERO.to_owned(), new: new.clone(), name: MAIN.to_owned() };
        self.move_main(gate, name, repository, update)?;
        Ok(Some(new))
    }

    fn move_main(
        &self,
        mut gate: MutexGuard<'_, Gate>,
        name: &str,
        repository: &Repository,
        update: Update,
    ) -> Result<()> {
        gate.ledger.append(&[self.entry("broker", name, Event::Update, &update)])?;
        let mut command = repository.git();
        command.args(["update-ref", &update.name, &update.new, &update.old]);
        let moved = repository.ask("update-ref", command).and_then(|answer| {
            answer.ok_or_else(|| CapsuleError::Git { what: "update-ref", detail: "it said no".to_owned() })
        });
        if moved.is_err() {
            gate.ledger.append(&[self.entry("broker", name, Event::Undone, &update)])?;
        }
        moved.map(drop)
    }

    /// Serves one connection until its end.
    ///
    /// # Errors
    /// Why it was refused; the client has been told.
    pub fn serve(&self, connection: OwnedFd, who: Identity) -> Result<()> {
        let count = self.open.fetch_add(1, Ordering::SeqCst);
        let done = if count < self.settings.connections {
            self.serve_one(&connection, who)
        } else {
            Err(CapsuleError::TooManyConnections { most: self.settings.connections })
        };
        self.open.fetch_sub(1, Ordering::SeqCst);
        // Once git speaks, nothing of ours may stand between its packets.
        if let Err(error) = &done
            && !matches!(error, CapsuleError::Git { .. } | CapsuleError::AuditIo { .. })
        {
            let _ = rustix::io::write(&connection, &request::refusal(&error.to_string()));
        }
        linger(&connection);
        done
    }

    fn serve_one(&self, connection: &OwnedFd, who: Identity) -> Result<()> {
        let deadline = Instant::now() + self.settings.time;
        let request = first_packet(connection)?;
        let Some((repository, kind)) = self.repositories.get(&request.repository) else {
            return Err(CapsuleError::NoRepository { name: request.repository.chars().take(100).collect() });
        };
        if let Identity::Agent { generation } = who {
            let current = self.gate().generation;
            if generation != current {
                return Err(CapsuleError::OldGeneration { generation, current });
            }
        }
        repository.verify()?;
        if request.service == Service::ReceivePack && who != Identity::Person {
            if self.is_stopped(&request.repository)? {
                return Err(CapsuleError::Stopped);
            }
            self.settings.caps.fits(repository.size()?, 0)?;
            self.gate().pushes.take(self.clock.unix_ms(), &self.settings.caps)?;
        }
        let failed = CapsuleError::repository("starting git");
        let talk = tempfile::Builder::new().prefix("c").tempdir_in(&self.run).map_err(&failed)?;
        let (_folder, path) = socket::path_in(talk.path(), helper::SOCKET).map_err(&failed)?;
        let hooks = UnixListener::bind(path).map_err(&failed)?;
        hooks.set_nonblocking(true).map_err(&failed)?;

        let mut command = repository.git();
        command.env(helper::TALK, talk.path());
        if let Some(version) = request.version {
            command.env("GIT_PROTOCOL", format!("version={version}"));
        }
        let hooks_path = format!("core.hooksPath={}", self.hooks.display());
        let most = format!("receive.maxInputSize={}", self.settings.caps.push);
        command.args(["-c", &hooks_path, "-c", &most, request.service.word()]);
        if request.service == Service::UploadPack {
            command.args(["--strict", "--timeout=60"]);
        }
        command.arg(repository.path());
        let end = || connection.try_clone().map(Stdio::from).map_err(&failed);
        command.stdin(end()?).stdout(end()?).stderr(Stdio::null());
        let child = Running(command.spawn().map_err(&failed)?);
        let name = request.repository.as_str();
        Session {
            broker: self,
            who,
            kind: *kind,
            repository,
            name,
            approved: None,
            held: None,
            pending: Vec::new(),
        }
        .wait(child, &hooks, deadline)
    }

    /// Serves everybody who connects to a listening socket, under one identity, until the value is dropped.
    ///
    /// # Errors
    /// 7965.
    pub fn listen(self: &Arc<Broker>, listener: impl Into<OwnedFd>, who: Identity) -> Result<Listening> {
        let failed = CapsuleError::repository("listening");
        let broker = Arc::clone(self);
        listen::listen(listener.into(), move |connection| drop(broker.serve(connection, who)))
            .map_err(&failed)
    }

    /// Listens on a socket in a private folder, which only this user can reach.
    ///
    /// # Errors
    /// 7965.
    pub fn listen_at(self: &Arc<Broker>, path: &Path, who: Identity) -> Result<Listening> {
        let failed = CapsuleError::repository("listening");
        let folder = files::folder_of(path);
        files::make_private_folder(folder).map_err(&failed)?;
        files::remove(path).map_err(&failed)?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (_folder, short) = socket::path_in(folder, name).map_err(&failed)?;
        let listener = UnixListener::bind(short).map_err(&failed)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(&failed)?;
        self.listen(listener, who)
    }
}

/// Takes what a refused client still sends: closed with bytes unread, the connection would be reset, and the reason lost.
fn linger(connection: &OwnedFd) {
    let _ = rustix::net::shutdown(connection, rustix::net::Shutdown::Write);
    let until = Instant::now() + LINGER;
    let mut piece = [0u8; 1 << 14];
    while Instant::now() < until && wait(connection, until.saturating_duration_since(Instant::now())) {
        match rustix::io::read(connection, &mut piece) {
            Ok(0) => return,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn first_packet(connection: &OwnedFd) -> Result<Request> {
    let until = Instant::now() + FIRST;
    let mut digits = [0u8; 4];
    fill(connection, &mut digits, until)?;
    let mut body = vec![0u8; request::length(digits)?.saturating_sub(4)];
    fill(connection, &mut body, until)?;
    Request::parse(&body)
}

fn fill(connection: &OwnedFd, into: &mut [u8], until: Instant) -> Result<()> {
    let mut filled = 0usize;
    while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        if !wait(connection, until.saturating_duration_since(Instant::now())) {
            return Err(CapsuleError::Request);
        }
        match rustix::io::read(connection, rest) {
            Ok(0) => return Err(CapsuleError::Request),
            Ok(count) => filled = filled.saturating_add(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(CapsuleError::Request),
        }
    }
    Ok(())
}

/// A git that is killed when it is not waited for.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One connection with its git.
struct Session<'b> {
    broker: &'b Broker,
    who: Identity,
    kind: Kind,
    repository: &'b Repository,
    name: &'b str,
    /// What `pre-receive` was allowed.
    approved: Option<Vec<Update>>,
    /// Held from the entry in the log until the ref has moved.
    held: Option<MutexGuard<'b, Gate>>,
    pending: Vec<Update>,
}

impl Session<'_> {
    fn wait(mut self, mut child: Running, hooks: &UnixListener, deadline: Instant) -> Result<()> {
        loop {
            if let Some(status) = child.0.try_wait().map_err(CapsuleError::repository("waiting for git"))? {
                self.undo()?;
                let detail = || status.to_string();
                return if status.success() {
                    Ok(())
                } else {
                    Err(CapsuleError::Git { what: "upload-pack or receive-pack", detail: detail() })
                };
            }
            if Instant::now() >= deadline {
                drop(child);
                self.undo()?;
                return Err(CapsuleError::Git { what: "connection", detail: "it took too long".to_owned() });
            }
            if wait(hooks, Duration::from_millis(5))
                && let Ok((stream, _)) = hooks.accept()
            {
                let _ = self.hook(stream);
            }
        }
    }

    /// Git ended between the entry and the move: the log says what is.
    fn undo(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let mut undone = Vec::new();
        for update in pending {
            let now = self.repository.resolve(&update.name)?.unwrap_or_else(|| ZERO.to_owned());
            if now != update.new {
                undone.push(self.broker.entry("broker", self.name, Event::Undone, &update));
            }
        }
        let held = self.held.take();
        if undone.is_empty() {
            return Ok(());
        }
        held.unwrap_or_else(|| self.broker.gate()).ledger.append(&undone)
    }

    fn hook(&mut self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(FIRST))?;
        stream.set_write_timeout(Some(FIRST))?;
        let mut said = String::new();
        (&mut stream).take(helper::SAYS_MAX).read_to_string(&mut said)?;
        let answer = match self.answer(&said) {
            Ok(()) => "ok".to_owned(),
            Err(error) => format!("refused ({}): {error}", error.code()),
        };
        stream.write_all(answer.as_bytes())
    }

    fn answer(&mut self, said: &str) -> Result<()> {
        let mut parts = said.splitn(4, '\n');
        let mut next = || parts.next().ok_or(CapsuleError::Hook);
        let (hook, state, quarantine, rest) = (next()?, next()?, next()?, next()?);
        let updates = Update::parse_all(rest)?;
        match (hook, state) {
            ("pre-receive", "") => self.judge(quarantine, updates),
            ("reference-transaction", "prepared") => self.prepared(updates),
            ("reference-transaction", "committed") => {
                self.pending.clear();
                self.held = None;
                Ok(())
            }
            ("reference-transaction", "aborted") => self.undo(),
            ("reference-transaction", _) => Ok(()),
            _ => Err(CapsuleError::Hook),
        }
    }

    fn judge(&mut self, quarantine: &str, updates: Vec<Update>) -> Result<()> {
        let quarantine = (!quarantine.is_empty()).then(|| Path::new(quarantine));
        if quarantine.is_some_and(|path| !path.starts_with(self.repository.path())) {
            return Err(CapsuleError::Hook);
        }
        let current = self.broker.gate().generation;
        if self.who != Identity::Person {
            // The quarantine lies in the repository, so it is counted with it.
            self.broker.settings.caps.fits(self.repository.size()?, 0)?;
        }
        let (who, kind, repository) = (self.who, self.kind, self.repository);
        Push { who, kind, current, repository, quarantine }.judge(&updates)?;
        self.approved = Some(updates);
        Ok(())
    }

    /// The refs are locked and about to move. What was approved is written down, and the gate stays shut until it is
    /// done.
    fn prepared(&mut self, updates: Vec<Update>) -> Result<()> {
        // HEAD moves with main and has no move of its own.
        let moved: Vec<Update> = updates.into_iter().filter(|update| update.name != "HEAD").collect();
        let approved = self.approved.as_deref().unwrap_or_default();
        for update in &moved {
            let known = approved.iter().any(|other| other.name == update.name && other.new == update.new);
            if !known {
                return Err(CapsuleError::NoSuchRef { name: update.name.clone() });
            }
        }
        let mut gate = match self.held.take() {
            Some(held) => held,
            None => self.broker.gate(),
        };
        if let Identity::Agent { generation } = self.who
            && generation != gate.generation
        {
            return Err(CapsuleError::OldGeneration { generation, current: gate.generation });
        }
        let who = self.who.to_string();
        let entries: Vec<Entry> =
            moved.iter().map(|update| self.broker.entry(&who, self.name, Event::Update, update)).collect();
        gate.ledger.append(&entries)?;
        self.pending.extend(moved);
        self.held = Some(gate);
        Ok(())
    }
}
