//! What a command works with. Nothing is read before a command asks for it.

use crate::budget::Budget;
use crate::config_file::{AgentEntry, ConfigFile};
use crate::declined::Declined;
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::flags::Global;
use crate::input;
use crate::keys::Key;
use crate::output::{self, Drawn, Format, Page, Report};
use crate::progress::Progress;
use crate::settings::{self, Settings};
use serde::Serialize;
use solana_address::Address;
use std::cell::OnceCell;
use std::future::Future;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use zx1_protocol::ids::AgentId;

/// Settings, key and output of this run.
#[derive(Debug)]
pub struct Context {
    flags: Global,
    home: OnceCell<PathBuf>,
    settings: OnceCell<Settings>,
    declined: Arc<Declined>,
    budget: Arc<Budget>,
    cluster: OnceCell<String>,
}

/// The agent that a command speaks of, under its local name when the configuration has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    agent: zx1_operator::Agent,
    /// What the configuration knows about it.
    pub entry: Option<AgentEntry>,
}

/// Which agent a command speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The agent that a flag or a setting names, or the only one in the configuration.
    One(Agent),
    /// The configuration holds no agent.
    None,
    /// The configuration holds several agents, of these names, and none of them is the default.
    Several(String),
}

impl Deref for Agent {
    type Target = zx1_operator::Agent;

    fn deref(&self) -> &zx1_operator::Agent {
        &self.agent
    }
}

impl Context {
    /// Keeps the flags; reads nothing.
    pub fn new(flags: Global) -> Self {
        Self {
            flags,
            home: OnceCell::new(),
            settings: OnceCell::new(),
            declined: Arc::default(),
            budget: Arc::default(),
            cluster: OnceCell::new(),
        }
    }

    /// The same run with what has been written into the configuration since.
    pub fn fresh(&self) -> Self {
        let (declined, budget) = (self.declined.clone(), self.budget.clone());
        Self { declined, budget, ..Self::new(self.flags.clone()) }
    }

    /// The global flags.
    pub fn flags(&self) -> &Global {
        &self.flags
    }

    /// The folder with zx1's configuration, logs and outbox.
    pub fn home(&self) -> Result<&PathBuf> {
        once(&self.home, settings::zx1_home)
    }

    /// The configuration file's path.
    pub fn config_path(&self) -> Result<PathBuf> {
        Ok(self.home()?.join(defaults::CONFIG))
    }

    /// The configuration as it is now.
    pub fn config(&self) -> Result<ConfigFile> {
        ConfigFile::read(&self.config_path()?)
    }

    /// Changes the configuration, under its lock, atomically.
    pub fn update_config<T>(&self, change: impl FnOnce(&mut ConfigFile) -> Result<T>) -> Result<T> {
        ConfigFile::update(&self.config_path()?, change)
    }

    /// The settings of this run.
    pub fn settings(&self) -> Result<&Settings> {
        once(&self.settings, || Settings::resolve(&self.flags, &self.config()?, self.home()?))
    }

    /// How results are shown.
    pub fn format(&self) -> Result<Format> {
        Ok(self.settings()?.output.value)
    }

    /// How an error is shown: in the format of results, as far as flags and environment name one.
    pub fn error_format(&self) -> Format {
        let flag = self.flags.setting("output").or_else(|| zx1_home::config::environment("ZX1_OUTPUT"));
        let asked = self.format().ok().or_else(|| flag?.parse().ok());
        asked.unwrap_or(Format::Display)
    }

    /// Writes a result to standard output.
    pub fn print(&self, report: &impl Report) -> Result<()> {
        Ok(output::print(report, self.format()?, self.flags.full)?)
    }

    /// Writes a result that a library defines to standard output.
    pub fn show<T: Serialize>(&self, value: &T, draw: fn(&T, &mut Page)) -> Result<()> {
        self.print(&Drawn(value, draw))
    }

    /// The cluster that this run's operator works on, as summaries name it.
    pub(crate) fn cluster_line(&self) -> String {
        self.cluster.get().cloned().unwrap_or_default()
    }

    /// Stores how summaries name the cluster, once it has answered.
    pub(crate) fn name_cluster(&self, line: String) {
        self.cluster.get_or_init(|| line);
    }

    /// Why a transaction was not approved.
    pub(crate) fn declined(&self) -> Arc<Declined> {
        self.declined.clone()
    }

    /// What this run may spend.
    pub(crate) fn budget(&self) -> Arc<Budget> {
        self.budget.clone()
    }

    /// A spinner with a text; it goes when it is dropped.
    pub fn spinner(&self, text: impl Into<String>) -> Progress {
        Progress::spinner(text, self.error_format())
    }

    /// The key that signs and pays. With --sign-only or --dry-run an address will do.
    pub fn key(&self) -> Result<Key> {
        let path = &self.settings()?.keypair.value;
        if (self.flags.sign_only || self.flags.dry_run)
            && !path.exists()
            && let Some(address) = path.to_str().and_then(|text| text.parse::<Address>().ok())
        {
            return Ok(Key::elsewhere(address));
        }
        Key::read(path)
    }

    /// The key, if there is one.
    ///
    /// # Errors
    /// 7411 to 7417 when the file exists and does not hold a key.
    pub fn key_if_any(&self) -> Result<Option<Key>> {
        if self.settings()?.keypair.value.exists() { self.key().map(Some) } else { Ok(None) }
    }

    /// The key that signs batches: of its own setting, or the one that signs and pays.
    pub fn batch_key(&self) -> Result<Key> {
        self.key_in(&self.settings()?.batch_key.value)
    }

    /// The key that signs a message of this kind: deals have their own.
    pub fn message_key(&self, is_deal: bool) -> Result<Key> {
        let settings = self.settings()?;
        self.key_in(if is_deal { &settings.deal_key.value } else { &settings.peer_key.value })
    }

    fn key_in(&self, path: &Path) -> Result<Key> {
        if *path == self.settings()?.keypair.value { self.key() } else { Key::read(path) }
    }

    /// The agent that this run speaks of.
    ///
    /// # Errors
    /// 7434 none, 7435 several and no default, 7436 neither name nor mint.
    pub fn agent(&self) -> Result<Agent> {
        match self.chosen()? {
            Chosen::One(agent) => Ok(agent),
            Chosen::None => Err(Error::NoAgent.into()),
            Chosen::Several(names) => Err(Error::SeveralAgents { names }.into()),
        }
    }

    /// Which agent that is: --agent, the setting, or the only one there is.
    ///
    /// # Errors
    /// 7436 neither name nor mint.
    pub fn chosen(&self) -> Result<Chosen> {
        let config = self.config()?;
        if let Some(named) = &self.settings()?.agent.value {
            return find_agent(&config, named).map(Chosen::One);
        }
        let names: Vec<&str> = config.agents.keys().map(String::as_str).collect();
        match names.as_slice() {
            [] => Ok(Chosen::None),
            [name] => find_agent(&config, name).map(Chosen::One),
            names => Ok(Chosen::Several(names.join(", "))),
        }
    }

    /// Runs something that waits, until it is done or Ctrl+C is pressed.
    ///
    /// # Errors
    /// 7403 on Ctrl+C; the work is dropped where it waits, and what it had persisted stays.
    pub fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.run_until(work, async {
            let _ = tokio::signal::ctrl_c().await;
            Err(Error::Interrupted.into())
        })
    }

    /// Runs something that has no end of its own, until Ctrl+C or SIGTERM, which end it without an error.
    ///
    /// # Errors
    /// Those of the work.
    pub fn serve(&self, work: impl Future<Output = Result<()>>) -> Result<()> {
        self.run_until(work, async {
            match signal(SignalKind::terminate()) {
                Ok(mut terminate) => tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminate.recv() => {}
                },
                // Without a handler SIGTERM ends the process all the same.
                Err(_) => drop(tokio::signal::ctrl_c().await),
            }
            Ok(())
        })
    }

    fn run_until<T>(
        &self,
        work: impl Future<Output = Result<T>>,
        stop: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        start_log(self.flags.verbose);
        let failed = |error: std::io::Error| {
            Failure::from(Error::ReadFailed {
                path: "The runtime".to_owned(),
                why: crate::errors::reason(&error),
            })
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(failed)?;
        // A question blocks the thread that waits; then another one has to answer Ctrl+C.
        let format = self.error_format();
        runtime.spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if crate::confirm::is_asking() {
                    let failure = Failure::from(Error::Interrupted);
                    output::write_err("\n");
                    std::process::exit(failure.end(format) as i32);
                }
            }
        });
        let result = runtime.block_on(async {
            tokio::select! {
                result = work => result,
                result = stop => result,
            }
        });
        // A blocking call that still runs must not hold the process up.
        runtime.shutdown_background();
        // The operator only knows that it was not approved.
        result.map_err(|failure| self.declined.take().unwrap_or(failure))
    }
}

/// The agent of that local name or mint.
pub fn find_agent(config: &ConfigFile, named: &str) -> Result<Agent> {
    if let Some(entry) = config.agents.get(named) {
        let mint = input::address(&entry.mint, &format!("The mint of {named} in the configuration"))?.into();
        let agent = zx1_operator::Agent { name: Some(named.to_owned()), mint };
        return Ok(Agent { agent, entry: Some(entry.clone()) });
    }
    let unknown = |_| Error::UnknownAgent { name: named.to_owned() };
    let mint: AgentId = named.parse().map_err(unknown)?;
    let known = config.agents.iter().find(|(_, entry)| entry.mint == named);
    let agent = zx1_operator::Agent { name: known.map(|(name, _)| name.clone()), mint };
    Ok(Agent { agent, entry: known.map(|(_, entry)| entry.clone()) })
}

fn once<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}

/// Logs to standard error, as -v asks for.
fn start_log(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => "zx1_cli=debug,zx1_chain=info,zx1_log=info",
        2 => "zx1_cli=debug,zx1_chain=debug,zx1_log=debug",
        _ => "trace",
    };
    let _ = tracing_subscriber::fmt()
        .with_env_filter(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .try_init();
}
