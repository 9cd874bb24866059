//! Key accounts: what a key may do, and from when until when its signatures count (decision P1).

use crate::envelope::MsgType;
use crate::error::sentences;
use crate::units::{Epoch, Slot};
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, DEAL_KEY_EPOCHS, KEY_NOTICE_EPOCHS};

/// `until_epoch` of a key that has not ended.
pub const OPEN: u64 = u64::MAX;

/// What a key may do: a sum of [`Self::PAY`], [`Self::BATCH`], [`Self::DEAL`] and [`Self::PEER`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(pub u8);

/// No scope, or bits that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopesError;

sentences!(ScopesError {
    Self => "The scopes must be one or more of pay, batch, deal and peer.";
});

impl Scopes {
    /// Pays the lease.
    pub const PAY: Self = Self(1);
    /// Signs the messages of batches.
    pub const BATCH: Self = Self(2);
    /// Signs what is evidence: PROPOSE, COUNTER, ACCEPT and NOTARIZE_ASSIGN.
    pub const DEAL: Self = Self(4);
    /// Signs every other message, and is the peer id.
    pub const PEER: Self = Self(8);
    /// All of them.
    pub const ALL: Self = Self(15);

    /// Whether there is one at least, and nothing else.
    pub fn check(self) -> Result<(), ScopesError> {
        if self.0 != 0 && Self::ALL.has(self) { Ok(()) } else { Err(ScopesError) }
    }

    /// Whether all of `other` are among them.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a key of these scopes may sign messages of this type. What is evidence takes a deal key, so that
    /// the network's process, which holds a peer key only, cannot bind the agent.
    pub fn sign(self, msg_type: MsgType) -> bool {
        self.has(Self::DEAL) || (self.has(Self::PEER) && !msg_type.is_deal())
    }

    /// The scopes of either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(feature = "std")]
impl Scopes {
    /// Each with its name, in the order of their numbers.
    pub const NAMED: [(Self, &'static str); 4] =
        [(Self::PAY, "pay"), (Self::BATCH, "batch"), (Self::DEAL, "deal"), (Self::PEER, "peer")];

    /// As people write them: `pay,batch`.
    pub fn names(self) -> String {
        let named = Self::NAMED.into_iter().filter(|(scope, _)| self.has(*scope));
        named.map(|(_, name)| name).collect::<Vec<_>>().join(",")
    }

    /// Reads [`Self::names`], in any order.
    pub fn parse(text: &str) -> Result<Self, ScopesError> {
        let mut scopes = Self::default();
        for part in text.split(',') {
            let scope = Self::NAMED.into_iter().find(|(_, name)| *name == part.trim());
            scopes = scopes.and(scope.ok_or(ScopesError)?.0);
        }
        Ok(scopes)
    }
}

/// The first epoch of a key that is listed now. A first use needs no notice, since there is nothing yet that
/// the key could harm; the first key after a take-over waits for the new tenure.
pub fn first_epoch(current: Epoch, first_use: bool, first_after_take_over: bool) -> Epoch {
    let notice = match (first_use, first_after_take_over) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => KEY_NOTICE_EPOCHS,
    };
    Epoch(current.0.saturating_add(notice))
}

/// The last epoch of a key that ends now. One that is not born yet gets the epoch before its first, so that
/// no epoch is its own.
pub fn until(from: Epoch, current: Epoch) -> u64 {
    if from > current { from.0.saturating_sub(1) } else { current.0 }
}

/// Whether a message of `epoch` under this key is evidence, whatever was ended since.
pub fn counts(from: Epoch, until: u64, epoch: Epoch) -> bool {
    from <= epoch && epoch.0 <= until
}

/// Whether a key's account may be closed. A deal key's stays while a batch that covers one of its epochs can
/// land or be challenged, or its owner could make evidence void by closing it. `last_epoch` and `last_slot`
/// are the agent's head's, `None` without a head or a batch.
pub fn may_close(
    scopes: Scopes,
    ended: bool,
    until: u64,
    current: Epoch,
    last_epoch: Option<Epoch>,
    last_slot: Slot,
    now: Slot,
) -> bool {
    if !ended {
        return false;
    }
    if !scopes.has(Scopes::DEAL) {
        return true;
    }
    let covered = last_epoch.is_some_and(|last| last.0 >= until);
    let window_over = last_slot.saturating_add(CHALLENGE_WINDOW_SLOTS) < now;
    (covered && window_over) || current.0 > until.saturating_add(DEAL_KEY_EPOCHS)
}

/// A key account as whoever verifies a signature needs it.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AgentKey {
    /// Public half of the key.
    pub key: crate::signature::PublicKey,
    /// What it may sign.
    pub scopes: Scopes,
    /// The first epoch in which its signatures count.
    pub from: Epoch,
    /// The last one; [`OPEN`] while it has not ended.
    pub until: u64,
}

#[cfg(feature = "std")]
impl AgentKey {
    /// The key of an account.
    pub fn of(account: &zx1_interface::accounts::KeyAccount) -> Result<Self, crate::signature::KeyError> {
        Ok(Self {
            key: crate::signature::PublicKey::from_bytes(&account.key)?,
            scopes: Scopes(account.scopes),
            from: Epoch(account.from_epoch),
            until: account.until_epoch,
        })
    }

    /// Whether it has not ended. Receivers take messages now under such keys only; what an ended one signed in its
    /// epochs stays evidence.
    pub fn is_open(&self) -> bool {
        self.until == OPEN
    }

    /// Whether its signatures on messages of this epoch count.
    pub fn counts_in(&self, epoch: Epoch) -> bool {
        counts(self.from, self.until, epoch)
    }
}
