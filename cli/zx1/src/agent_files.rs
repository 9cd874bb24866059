//! An agent's files and the clock that its log goes by.

use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::{Error, Failure, Result};
use crate::output;
use crate::words::count;
use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_home::{Clock as _, SystemClock};
use zx1_log::{AnyStore, LogHandle, LogReader};
use zx1_protocol::units::{Epoch, Slot};

/// How long a command waits for another one that has the log and does not share it.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const MICROS: u64 = 1_000_000;

/// The agent's folder.
pub fn folder(context: &Context, agent: &Agent) -> Result<PathBuf> {
    Ok(zx1_log::agent_dir(context.home()?, agent.mint.as_array()))
}

/// The agent's log, for writing, also while another program has it; says what a crash had left behind.
pub fn open_log(context: &Context, agent: &Agent) -> Result<LogHandle> {
    let log = LogHandle::open(folder(context, agent)?, *agent.mint.as_array(), LOCK_PATIENCE)?;
    for torn in &log.recovery().torn {
        output::warn(&format!(
            "{}: cut off {} at {} that a crash left unfinished. Nothing of it had been acknowledged.",
            torn.file.display(),
            count(torn.bytes, "byte", "bytes"),
            torn.offset
        ));
    }
    Ok(log)
}

/// The agent's log, for reading.
pub fn reader(context: &Context, agent: &Agent) -> Result<LogReader> {
    Ok(LogReader::new(folder(context, agent)?, *agent.mint.as_array()))
}

/// The place that serves batch data: the argument, or the setting `upload`. `None` when neither says.
pub fn store(context: &Context, argument: Option<&str>) -> Result<Option<AnyStore>> {
    let setting = context.settings()?.upload.value.as_deref();
    let Some(place) = argument.or(setting) else { return Ok(None) };
    let store = AnyStore::parse(place)?;
    // A file where a folder should be would look like data that nobody serves.
    if matches!(store, AnyStore::Folder(_)) && Path::new(place.trim_start_matches("file://")).is_file() {
        return Err(Error::NotAFolder { path: place.to_owned() }.into());
    }
    Ok(Some(store))
}

/// The place that serves batch data.
///
/// # Errors
/// 7521 when nobody says which.
pub fn need_store(context: &Context, argument: Option<&str>) -> Result<AnyStore> {
    store(context, argument)?.ok_or_else(|| Error::NoStore.into())
}

/// Now, as a log counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The chain's slot.
    pub slot: Slot,
    /// Unix microseconds: this machine's clock on the public clusters, the chain's on local ones, whose time
    /// can be moved (decision C6).
    pub micros: u64,
    /// The chain's epoch, which the programs go by (decision B1).
    pub epoch: Epoch,
}

impl Now {
    /// Asks the chain.
    pub async fn ask(chain: &Chain) -> Result<Self> {
        let time = chain.client.time().await?;
        let seconds = u64::try_from(time.unix).unwrap_or(0);
        let on_chain = seconds.saturating_mul(MICROS);
        let micros = if chain.identity.public.is_some() { SystemClock.unix_micros() } else { on_chain };
        Ok(Self { slot: Slot(time.slot), micros, epoch: Epoch(time.epoch) })
    }
}

/// A refusal of the protocol library, under its own number.
pub fn refused<E: Debug + Display>(code: u32, error: &E, next: &str) -> Failure {
    Failure::foreign(code, error, error).next(next)
}
