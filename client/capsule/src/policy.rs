//! Who may move which ref.

use std::fmt;

use crate::error::{CapsuleError, Result};
use crate::refname::{self, Branch};

/// The ref that stops a capsule, whatever it points to.
pub const STOP: &str = "refs/zx1/stop";

/// Whose repository it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The agent's own: it may merge itself.
    Own,
    /// A product that the agent works on: main is the person's.
    Product,
}

/// Who speaks. Decided by the socket, never by what comes over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// The agent of a generation.
    Agent {
        /// The generation's number.
        generation: u64,
    },
    /// The person at the host.
    Person,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Agent { generation } => write!(f, "agent/{generation}"),
            Identity::Person => f.write_str("person"),
        }
    }
}

/// What happens to a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Create,
    /// It moves to a descendant.
    Forward,
    /// It moves elsewhere.
    Force,
    /// It goes away.
    Delete,
}

/// Decides one update. `current` is the generation that runs.
///
/// # Errors
/// 7900 to 7924: why not.
pub fn decide(who: Identity, kind: Kind, current: u64, name: &str, change: Change) -> Result<()> {
    refname::check(name.as_bytes(), false)?;
    if let Identity::Agent { generation } = who
        && generation != current
    {
        return Err(CapsuleError::OldGeneration { generation, current });
    }
    let is_agent = matches!(who, Identity::Agent { .. });
    if name == STOP {
        return if is_agent { Err(CapsuleError::NotYours { name: name.to_owned() }) } else { Ok(()) };
    }
    if name == "refs/heads/main" {
        return match (who, kind, change) {
            (Identity::Agent { .. }, Kind::Product, _) => Err(CapsuleError::MainIsThePersons),
            (_, _, Change::Forward) | (Identity::Person, _, Change::Create) => Ok(()),
            (Identity::Agent { .. }, Kind::Own, Change::Create) => {
                Err(CapsuleError::NotYours { name: name.to_owned() })
            }
            _ => Err(CapsuleError::NotForward),
        };
    }
    if is_agent {
        return match Branch::of_ref(name) {
            Ok(_) => Ok(()),
            Err(_) if name.starts_with("refs/heads/bot/") => Branch::of_ref(name).map(drop),
            Err(_) => Err(CapsuleError::NotYours { name: name.to_owned() }),
        };
    }
    let known = ["refs/heads/", "refs/tags/"].iter().any(|top| name.starts_with(top));
    if known { Ok(()) } else { Err(CapsuleError::NoSuchRef { name: name.to_owned() }) }
}
