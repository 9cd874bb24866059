//! What `zx1 capsule status` shows.

use serde::{Deserialize, Serialize};

use crate::machine::{Machine, State};

/// What is left of a capsule's budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetLeft {
    /// Tokens of the capsule.
    pub tokens: u64,
    /// Seconds of the session.
    pub seconds: u64,
}

/// The state of one capsule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The capsule's name.
    pub name: String,
    /// What the watcher does.
    pub state: State,
    /// What runs, or is to run: a branch, or a revision after a rollback.
    pub branch: String,
    /// The commit that runs, once it is known.
    pub commit: Option<String>,
    /// The number of the last generation.
    pub generation: u64,
    /// Since when it has this state, RFC 3339.
    pub since: String,
    /// What is left to spend.
    pub budget: BudgetLeft,
    /// Why the last generation ended, when it failed.
    pub last_error: Option<String>,
}

impl Status {
    /// The status of a machine; `since_unix_ms` is when its state changed last.
    #[must_use]
    pub fn of(name: &str, machine: &Machine, since_unix_ms: u64, budget: BudgetLeft) -> Status {
        let at = i64::try_from(since_unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        Status {
            name: name.to_owned(),
            state: machine.state(),
            branch: machine.target().to_string(),
            commit: machine.commit().map(str::to_owned),
            generation: machine.generation(),
            since: at.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string(),
            budget,
            last_error: machine.last_error().map(str::to_owned),
        }
    }
}
