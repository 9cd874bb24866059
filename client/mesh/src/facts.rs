//! What the chain says of an author, and what follows for its messages.

use crate::reason::Reason;
use zx1_protocol::ids::WalletKey;
use zx1_protocol::keys::AgentKey;
use zx1_protocol::lease::Lease;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

/// What all authors are judged against, as the cluster has it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The present slot.
    pub slot: Slot,
    /// The smallest stake that counts, from the configuration account.
    pub min_stake: MicroUsdc,
}

/// The stake of an agent's present era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stake {
    /// What is locked.
    pub amount: MicroUsdc,
    /// Whether it is queued for unlock.
    pub is_queued: bool,
}

/// A registered agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its key accounts that have not ended, as far as they were looked for (decision P1).
    pub keys: Vec<AgentKey>,
    /// Keys for which there is no live key account of this agent.
    pub other_keys: Vec<WalletKey>,
    /// Whether `keys` are all that there are.
    pub has_all_keys: bool,
    /// Its stake; `None` when nothing is locked in the present era, or that has ended.
    pub stake: Option<Stake>,
    /// Its lease; `None` before the first payment.
    pub lease: Option<Lease>,
}

impl Facts {
    /// The key account of this key.
    pub fn key(&self, key: &WalletKey) -> Option<&AgentKey> {
        self.keys.iter().find(|it| it.key.to_bytes() == key.to_bytes())
    }

    /// Whether it is known if this key is the agent's.
    pub fn knows(&self, key: &WalletKey) -> bool {
        self.has_all_keys || self.key(key).is_some() || self.other_keys.contains(key)
    }

    /// Whether the agent may send: enough stake that is not being taken out, and a lease that is paid or in grace.
    ///
    /// # Errors
    /// What it lacks.
    pub fn check_standing(&self, min_stake: MicroUsdc, now: Epoch) -> Result<(), Reason> {
        let stake = self.stake.ok_or(Reason::StakeMissing)?;
        if stake.amount < min_stake {
            return Err(Reason::StakeTooSmall { stake: stake.amount, minimum: min_stake });
        }
        if stake.is_queued {
            return Err(Reason::StakeQueued);
        }
        let lease = self.lease.ok_or(Reason::LeaseMissing)?;
        if lease.is_live(now) { Ok(()) } else { Err(Reason::LeaseDeactivated) }
    }
}

/// What is known of an author now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'a> {
    /// Nothing yet; the cluster is being asked.
    Asked,
    /// There is no such agent.
    Absent,
    /// What was known is too old, and the cluster does not answer.
    TooOld,
    /// What serves for a verdict, at most 60 s old, or ten minutes while the cluster is away.
    Present(&'a Facts),
}

/// Which keys of an author a message needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The key that published it.
    Key(WalletKey),
    /// Any of them.
    AllKeys,
}
