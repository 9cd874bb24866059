//! The watcher: runs generations in a jail, one after the other, whatever they do.
//!
//! It decides by [`crate::machine`], whose state is on disk before anything follows from it. When the watcher is killed
//! its jail ends with it, and the next watcher goes on with a new generation. `/bot` outlives generations, not the
//! watcher; git outlives both.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use zx1_home::{Clock, Lock, files};

use crate::bootlog;
use crate::broker::Broker;
use crate::defaults::{POLL_S, PORTS, TICK_S};
use crate::error::{CapsuleError, Result};
use crate::jail::{Ender, Jail, Life};
use crate::machine::{Action, Event, Machine, State, Target};
use crate::model::ModelBroker;
use crate::policy::Identity;
use crate::refname::Branch;
use crate::signal::Kind;
use crate::spool;
use crate::status::{BudgetLeft, Status};
use crate::volume;

const BOOT: &str = include_str!("boot.sh");
/// The agent's own repository.
pub const REPOSITORY: &str = "agent.git";
/// Most of bootstrap.log that is read.
const LOG_TAIL: u64 = 64 << 10;
/// What stays of a log that is cut, at each end.
const LOG_KEEP: u64 = 256 << 10;
/// Bytes of the last output that the watcher's own log keeps.
const LAST: usize = 500;
/// How often processor time is looked at.
const CPU_EVERY: Duration = Duration::from_secs(10);
/// Lines of the transcript that a generation begins with.
const TRANSCRIPT: usize = 200;

/// The parts that a watcher holds together.
pub struct Parts {
    /// The capsule's name.
    pub name: String,
    /// The capsule's own folder.
    pub home: PathBuf,
    /// The broker of git.
    pub broker: Arc<Broker>,
    /// The broker of the model.
    pub model: Arc<ModelBroker>,
    /// Where generations live.
    pub jail: Box<dyn Jail>,
    /// Seconds between two units of work of an agent that has nothing to do.
    pub interval_s: u64,
    /// Source of the time.
    pub clock: Arc<dyn Clock>,
}

impl Parts {
    /// The parts with the interval of ten minutes.
    #[must_use]
    pub fn new(
        name: &str,
        home: &Path,
        broker: Arc<Broker>,
        model: Arc<ModelBroker>,
        jail: Box<dyn Jail>,
        clock: Arc<dyn Clock>,
    ) -> Parts {
        let (name, home) = (name.to_owned(), home.to_owned());
        Parts { name, home, broker, model, jail, interval_s: TICK_S, clock }
    }
}

enum Message {
    Event(Event),
    Note(String),
    Quit,
}

/// Speaks to a running watcher from another thread.
#[derive(Clone)]
pub struct Remote(Sender<Message>);

impl Remote {
    /// A person wants it to run, or to stop.
    pub fn tell(&self, event: Event) {
        let _ = self.0.send(Message::Event(event));
    }

    /// The watcher ends, with what runs. It goes on where it was when it is opened again.
    pub fn quit(&self) {
        let _ = self.0.send(Message::Quit);
    }
}

/// The watcher of one capsule.
pub struct Watcher {
    parts: Shared,
    machine: Machine,
    jail: Arc<Mutex<Box<dyn Jail>>>,
    ender: Arc<dyn Ender>,
    bot: OwnedFd,
    /// Signals of the person: a folder of the host.
    person: File,
    sender: Sender<Message>,
    inbox: Receiver<Message>,
    since: u64,
    /// Size of the present log.
    log: Arc<AtomicU64>,
    cpu: (Instant, u64),
    _lock: Lock,
}

/// What a life's thread needs too.
#[derive(Clone)]
struct Shared {
    name: String,
    home: PathBuf,
    broker: Arc<Broker>,
    model: Arc<ModelBroker>,
    interval_s: u64,
    clock: Arc<dyn Clock>,
}

impl Watcher {
    /// Opens it, with what the one before left.
    ///
    /// # Errors
    /// 7980 where another watcher has this capsule, 7981 for a journal that does not read.
    pub fn open(parts: Parts) -> Result<Watcher> {
        let failed = |error: io::Error| CapsuleError::WatcherIo { detail: error.to_string() };
        files::make_private_folder(&parts.home).map_err(failed)?;
        let lock = Lock::try_take(&parts.home.join("watcher.lock"))
            .map_err(|error| CapsuleError::Watched { detail: error.to_string() })?;
        let machine = match files::read_if_there(&parts.home.join("machine.json")).map_err(failed)? {
            None => Machine::default(),
            Some(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| CapsuleError::Journal { detail: error.to_string() })?,
        };
        let signals = parts.home.join("signals");
        files::make_private_folder(&signals).map_err(failed)?;
        let person = File::open(&signals).map_err(failed)?;
        let bot = parts.jail.bot().try_clone_to_owned().map_err(failed)?;
        let (sender, inbox) = channel();
        let since = parts.clock.unix_ms();
        let Parts { name, home, broker, model, jail, interval_s, clock } = parts;
        broker.set_generation(machine.generation());
        Ok(Watcher {
            parts: Shared { name, home, broker, model, interval_s, clock },
            machine,
            ender: jail.ender(),
            jail: Arc::new(Mutex::new(jail)),
            bot,
            person,
            sender,
            inbox,
            since,
            log: Arc::new(AtomicU64::new(0)),
            cpu: (Instant::now(), 0),
            _lock: lock,
        })
    }

    /// The means to speak to it while it runs.
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote(self.sender.clone())
    }

    /// Watches until [`Remote::quit`], or until nothing runs after a stop when `leave` is set.
    ///
    /// # Errors
    /// 7982: its journal cannot be written. What runs is ended then.
    pub fn watch(mut self, leave: bool) -> Result<()> {
        let done = self.go(leave);
        if let Some(generation) = self.machine.running() {
            self.ender.end(generation);
        }
        // The life's thread has the jail until nothing is left of it.
        drop(self.jail.lock().unwrap_or_else(PoisonError::into_inner));
        done
    }

    fn go(&mut self, leave: bool) -> Result<()> {
        self.step(Event::Recovered)?;
        let mut polled = Instant::now();
        loop {
            let poll = Duration::from_secs(POLL_S);
            match self.inbox.recv_timeout(poll.saturating_sub(polled.elapsed())) {
                Ok(Message::Event(event)) => {
                    if matches!(event, Event::Ended { .. }) {
                        // What it wrote last comes first.
                        self.poll()?;
                    }
                    self.step(event)?;
                }
                Ok(Message::Note(text)) => self.note(&text),
                Ok(Message::Quit) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    polled = Instant::now();
                    self.poll()?;
                    self.step(Event::Time)?;
                }
            }
            if leave && self.machine.state() == State::Stopped && self.machine.running().is_none() {
                return Ok(());
            }
        }
    }

    /// Looks at everything that the agent and the person may have left.
    fn poll(&mut self) -> Result<()> {
        if self.machine.state() == State::Stopped {
            return Ok(());
        }
        if self.parts.broker.is_stopped(REPOSITORY).unwrap_or(false) {
            return self.step(Event::Down);
        }
        if let Some(generation) = self.machine.running() {
            let folder = folder(self.machine.target());
            let boot = volume::tail(&self.bot, &format!("{folder}/logs/bootstrap.log"), LOG_TAIL)
                .unwrap_or_default();
            if bootlog::succeeded(&String::from_utf8_lossy(&boot), generation) {
                self.step(Event::Success { generation })?;
            }
            self.step(Event::Log { generation, bytes: self.log.load(Ordering::Relaxed) })?;
            let passed = self.cpu.0.elapsed();
            if passed >= CPU_EVERY {
                let used = self.ender.used_ms();
                let passed_ms = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX).max(1);
                let permille = used.saturating_sub(self.cpu.1).saturating_mul(1_000) / passed_ms;
                self.cpu = (Instant::now(), used);
                let permille = u32::try_from(permille).unwrap_or(u32::MAX);
                self.step(Event::Cpu { generation, permille })?;
            }
        }
        for kind in Kind::ALL {
            let person = self.person.try_clone().map(OwnedFd::from);
            let folders = [person.ok(), volume::folder(&self.bot, ".signal").ok()];
            for folder in folders.into_iter().flatten() {
                match spool::look(&folder, kind) {
                    Ok(None) => {}
                    Ok(Some(Ok(signal))) => {
                        self.note(&format!("signal {signal:?}"));
                        self.step(Event::Signal(signal))?;
                        let _ = spool::done(&folder, kind);
                    }
                    Ok(Some(Err(error))) => {
                        self.note(&format!("signal refused ({}): {error}", error.code()));
                        let _ = spool::done(&folder, kind);
                    }
                    Err(error) => self.note(&format!("{error} ({})", error.code())),
                }
            }
        }
        Ok(())
    }

    /// One step of the machine: on disk, then done.
    fn step(&mut self, event: Event) -> Result<()> {
        let mut todo = VecDeque::from([event]);
        while let Some(event) = todo.pop_front() {
            let before = (self.machine.state(), self.machine.generation());
            let quiet = matches!(event, Event::Time | Event::Log { .. } | Event::Cpu { .. });
            let old = self.machine.clone();
            let now = self.parts.clock.unix_ms();
            let actions = self.machine.step(now, event);
            if (self.machine.state(), self.machine.generation()) != before {
                self.since = now;
                let (state, generation) = (self.machine.state(), self.machine.generation());
                self.note(&format!("{state:?}, generation {generation}, {}", self.machine.target()));
            }
            // The clock alone is not worth a write: after a crash its time-outs begin anew.
            if !quiet || !actions.is_empty() || self.machine.state() != old.state() {
                self.save()?;
            }
            for action in actions {
                if let Some(event) = self.act(action) {
                    todo.push_back(event);
                }
            }
        }
        Ok(())
    }

    fn save(&self) -> Result<()> {
        let failed = |error: io::Error| CapsuleError::WatcherIo { detail: error.to_string() };
        let bytes = serde_json::to_vec(&self.machine).map_err(io::Error::other).map_err(failed)?;
        files::replace(&self.parts.home.join("machine.json"), &bytes).map_err(failed)?;
        let (tokens, seconds) = self.parts.model.left();
        let status = Status::of(&self.parts.name, &self.machine, self.since, BudgetLeft { tokens, seconds });
        let bytes = serde_json::to_vec(&status).map_err(io::Error::other).map_err(failed)?;
        files::replace(&self.parts.home.join("status.json"), &bytes).map_err(failed)
    }

    /// The watcher's own log. It is for people; that it cannot be written stops nothing.
    fn note(&self, text: &str) {
        use std::io::Write as _;
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).create(true).open(self.parts.home.join("watcher.log"));
        let at = self.parts.clock.unix_ms();
        let _ = file.and_then(|mut file| file.write_all(format!("{at} {text}\n").as_bytes()));
    }

    fn act(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Start { generation, target } => Some(match self.start(generation, &target) {
                Ok(commit) => Event::Launched { generation, commit },
                Err(error) => Event::Ended {
                    generation,
                    why: format!("it could not be started ({}): {error}", error.code()),
                },
            }),
            Action::End { generation } => {
                self.ender.end(generation);
                None
            }
            Action::CutLog { .. } => {
                let path = format!("{}/logs/errors.log", folder(self.machine.target()));
                let _ = volume::cut(&self.bot, &path, LOG_KEEP);
                self.log.store(0, Ordering::Relaxed);
                None
            }
            Action::Report { text } => {
                self.note(&text);
                if let Err(error) = self.parts.broker.report(REPOSITORY, &text) {
                    self.note(&format!("the report was not written ({}): {error}", error.code()));
                }
                None
            }
        }
    }

    fn start(&mut self, generation: u64, target: &Target) -> Result<String> {
        let parts = self.parts.clone();
        // From here on every older one is nobody.
        parts.broker.set_generation(generation);
        let (kind, revision) = match target {
            Target::Branch(branch) if branch.is_main() => ("main", branch.full()),
            Target::Branch(branch) => ("branch", branch.full()),
            Target::Detached(revision) => ("revision", revision.as_str().to_owned()),
        };
        let commit = parts.broker.repository(REPOSITORY)?.resolve(&format!("{revision}^{{commit}}"))?;
        let commit = commit.ok_or_else(|| CapsuleError::NoTarget { target: target.to_string() })?;
        let session = next_session(&parts.home)?;
        let boot = json!({
            "generation": generation,
            "session": session,
            "branch": target.to_string(),
            "commit": commit,
            "interval_s": parts.interval_s,
            "transcript": parts.model.last_lines(TRANSCRIPT)?,
        });
        let at = format!("/bot/{}", folder(target));
        let argv = ["/bin/sh", "-c", BOOT, "boot", kind, &at, &commit].map(str::to_owned).to_vec();
        let (jail, sender, log) = (Arc::clone(&self.jail), self.sender.clone(), Arc::clone(&self.log));
        let bot = self.bot.try_clone().map_err(CapsuleError::repository("opening /bot"))?;
        let errors = format!("{}/logs/errors.log", folder(target));
        log.store(0, Ordering::Relaxed);
        self.cpu = (Instant::now(), self.ender.used_ms());
        let live = move || {
            let mut listening = Vec::new();
            let mut serve = |port: u16, listener: std::net::TcpListener| {
                let served = match PORTS.iter().position(|own| *own == port) {
                    Some(0) => parts.broker.listen(listener, Identity::Agent { generation }),
                    Some(1) => parts.model.listen(listener, generation),
                    // Packages: nothing is served yet.
                    _ => return,
                };
                listening.extend(served.ok());
            };
            let mut early = Vec::new();
            let mut last: Vec<u8> = Vec::new();
            let mut write = |bytes: &[u8]| {
                early.extend_from_slice(bytes);
                last.extend_from_slice(bytes);
                last.drain(..last.len().saturating_sub(LAST));
                // Until the folder is cloned there is no log to write to.
                match volume::append(bot.as_fd(), &errors, &early) {
                    Ok(size) => {
                        log.store(size, Ordering::Relaxed);
                        early.clear();
                    }
                    Err(_) => early.truncate(64 << 10),
                }
            };
            let life = Life {
                generation,
                argv,
                env: Vec::new(),
                stdin: boot.to_string().into_bytes(),
                serve: &mut serve,
                live: &mut write,
            };
            let end = jail.lock().unwrap_or_else(PoisonError::into_inner).live(life);
            let why = match end {
                Ok(end) => end.why,
                Err(error) => format!("it could not be started ({}): {error}", error.code()),
            };
            // The reason is seldom more than a line.
            let last = String::from_utf8_lossy(&last).trim().replace('\n', " | ");
            let _ =
                sender.send(Message::Note(format!("generation {generation}: {why}; it said last: {last}")));
            drop(listening);
            let _ = sender.send(Message::Event(Event::Ended { generation, why }));
        };
        std::thread::Builder::new()
            .name("zx1-capsule-life".to_owned())
            .spawn(live)
            .map_err(CapsuleError::repository("starting a life"))?;
        Ok(commit)
    }
}

/// The folder of a target below `/bot`.
fn folder(target: &Target) -> String {
    let folder = match target {
        Target::Branch(branch) => branch.folder(),
        Target::Detached(_) => Branch::main().folder(),
    };
    folder.strip_prefix("/bot/").unwrap_or(&folder).to_owned()
}

/// Session numbers only grow, whatever is killed.
fn next_session(home: &Path) -> Result<u64> {
    let failed = |error: io::Error| CapsuleError::WatcherIo { detail: error.to_string() };
    let path = home.join("session");
    let text = files::read_if_there(&path).map_err(failed)?.unwrap_or_default();
    let last: u64 = String::from_utf8_lossy(&text).trim().parse().unwrap_or(0);
    let next = last.saturating_add(1);
    files::replace(&path, format!("{next}\n").as_bytes()).map_err(failed)?;
    Ok(next)
}
