//! An agent's files, for commands that work on them directly.

use crate::context::{Agent, Context};
use crate::errors::Result;
use crate::screen::warn_torn;
use std::path::PathBuf;
use zx1_log::{AnyStore, LogHandle, LogReader};
use zx1_operator::{LOCK_PATIENCE, Refusal};

pub use zx1_operator::Now;

/// The agent's folder.
pub fn folder(context: &Context, agent: &Agent) -> Result<PathBuf> {
    Ok(zx1_operator::agent_folder(context.home()?, agent))
}

/// Opens the agent's log for writing, even while another program has it open, and warns of what a crash left behind.
pub fn open_log(context: &Context, agent: &Agent) -> Result<LogHandle> {
    let log = LogHandle::open(folder(context, agent)?, *agent.mint.as_array(), LOCK_PATIENCE)?;
    log.recovery().torn.iter().for_each(warn_torn);
    Ok(log)
}

/// Opens the agent's log for reading.
pub fn reader(context: &Context, agent: &Agent) -> Result<LogReader> {
    Ok(zx1_operator::log_reader(context.home()?, agent))
}

/// The place that serves batch data: the argument, or the setting `upload`. `None` if neither is given.
pub fn store(context: &Context, argument: Option<&str>) -> Result<Option<AnyStore>> {
    let setting = context.settings()?.upload.value.as_deref();
    Ok(argument.or(setting).map(zx1_operator::place).transpose()?)
}

/// The place that serves batch data.
///
/// # Errors
/// 7521 if neither is given.
pub fn need_store(context: &Context, argument: Option<&str>) -> Result<AnyStore> {
    store(context, argument)?.ok_or_else(|| Refusal::NoStore.into())
}
