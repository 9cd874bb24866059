//! What the model knows. Agents, wallets, batches and challenges are numbers; addresses are needed only for
//! the hash chains.

use std::collections::BTreeMap;

use crate::wire::{self, Hash, Message};

pub(crate) const AGENTS: usize = 3;
/// The first three begin as owners of the agents; the others are challengers. All may do everything.
pub(crate) const WALLETS: usize = 6;

// The constants of spec section 11, in the model's own words.
pub(crate) const USDC: u64 = 1_000_000;
pub(crate) const MIN_STAKE: u64 = 10 * USDC;
pub(crate) const CHALLENGE_STAKE: u64 = 10 * USDC;
pub(crate) const EPOCH_PRICE: u64 = USDC;
pub(crate) const GRACE: u64 = 3;
pub(crate) const WINDOW: u64 = 432_000;
pub(crate) const DELAY: u64 = 432_000;
/// What every wallet has in the beginning: little enough that it can run out.
pub(crate) const START_USDC: u64 = 70 * USDC;

/// Lamports that keep so many bytes on chain.
pub(crate) fn rent(bytes: usize) -> i64 {
    i64::try_from((128 + bytes) * 6_960).unwrap()
}
pub(crate) const TOKEN_ACCOUNT: usize = 165;
pub(crate) const STAKE: usize = 128;
pub(crate) const LEASE: usize = 80;
pub(crate) const HEAD: usize = 120;
pub(crate) const BATCH: usize = 240;
pub(crate) const CHALLENGE: usize = 336;
pub(crate) const EVIDENCE_DRAFT: usize = 80;
pub(crate) const RECORD: usize = 264;
pub(crate) const LOG: usize = 72;
pub(crate) const ENTRY: usize = 136;
pub(crate) const TEXT_DRAFT: usize = 144;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) usdc: u64,
    /// Lamports gained (negative: put into rent) since the beginning.
    pub(crate) lamports: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stake {
    pub(crate) amount: u64,
    pub(crate) owner: usize,
    pub(crate) open_challenges: u32,
    /// The slot of queueing, if an unlock is queued.
    pub(crate) queued: Option<u64>,
    /// What strangers sent to the vault.
    pub(crate) gifts: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) paid_through: u64,
    pub(crate) last_paid: u64,
    /// The flags as the last payment or tick left them.
    pub(crate) grace: bool,
    pub(crate) deactivated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) last_epoch: u64,
    pub(crate) last_slot: u64,
    pub(crate) count: u64,
    pub(crate) digest: Hash,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agent {
    /// None when the NFT was burned.
    pub(crate) holder: Option<usize>,
    pub(crate) stake: Option<Stake>,
    pub(crate) lease: Option<Lease>,
    pub(crate) head: Option<Head>,
}

/// What a batch says; honest when every record of what is logged is there as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Bit n: the log holds message n.
    pub(crate) log: u8,
    /// Bit n: the arrays hold the n-th of [`RECORDS`].
    pub(crate) records: u8,
    /// The PROPOSE's bid has another value.
    pub(crate) altered: bool,
    /// The PROPOSE's bid stands there a second time, with another value.
    pub(crate) doubled: bool,
}

/// Message and ground of every record that an honest batch holds.
pub(crate) const RECORDS: [(usize, u8); 5] =
    [(wire::PROPOSE, 1), (wire::ACCEPT, 1), (wire::ACCEPT, 2), (wire::ASSIGN, 3), (wire::FEEDBACK, 4)];

impl Content {
    fn holds(bits: u8, place: usize) -> bool {
        bits >> place & 1 == 1
    }

    /// Where a message stands in the log.
    pub(crate) fn log_place(&self, message: usize) -> Option<usize> {
        (message < wire::LOGGED && Self::holds(self.log, message))
            .then(|| (0..message).filter(|n| Self::holds(self.log, *n)).count())
    }

    /// The log's entries.
    pub(crate) fn entries(&self, agent: &[u8; 32], epoch: u64) -> Vec<Vec<u8>> {
        let logged = (0..wire::LOGGED).filter(|n| Self::holds(self.log, *n));
        logged.map(|n| Message::new(agent, epoch, n).entry()).collect()
    }

    /// The value that the arrays give for the bid of a message.
    pub(crate) fn value(&self, message: usize) -> i128 {
        wire::value(message) + i128::from(self.altered && message == wire::PROPOSE)
    }

    /// Where the record of a message and ground stands in the arrays.
    pub(crate) fn record_place(&self, message: usize, ground: u8) -> Option<usize> {
        let place = RECORDS.iter().position(|record| *record == (message, ground))?;
        Self::holds(self.records, place).then(|| (0..place).filter(|n| Self::holds(self.records, *n)).count())
    }

    /// The value of the second bid.
    pub(crate) fn doubled_value() -> i128 {
        wire::value(wire::PROPOSE) + 2
    }

    /// Where the second bid stands.
    pub(crate) fn doubled_place(&self) -> Option<usize> {
        self.doubled.then(|| usize::try_from(self.records.count_ones()).unwrap())
    }

    /// The packed records.
    pub(crate) fn arrays(&self, agent: &[u8; 32], epoch: u64) -> Vec<Vec<u8>> {
        let held = RECORDS.iter().enumerate().filter(|(place, _)| Self::holds(self.records, *place));
        let mut all: Vec<_> = held
            .map(|(_, (message, ground))| {
                Message::new(agent, epoch, *message).record(*ground, self.value(*message))
            })
            .collect();
        if self.doubled {
            all.push(Message::new(agent, epoch, wire::PROPOSE).record(1, Self::doubled_value()));
        }
        all
    }

    /// How many records there are.
    pub(crate) fn arrays_len(&self) -> usize {
        usize::try_from(self.records.count_ones()).unwrap() + usize::from(self.doubled)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) agent: usize,
    pub(crate) epoch: u64,
    pub(crate) covers_from: u64,
    pub(crate) submitted: u64,
    /// Who signed and paid.
    pub(crate) signer: usize,
    pub(crate) content: Content,
    pub(crate) closed: bool,
}

/// What was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A log entry, with or without its payload.
    Entry { message: usize, payload: bool },
    /// An envelope of an epoch.
    Envelope { message: usize, epoch: u64 },
    /// Two bids that contradict each other.
    Bids,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) batch: usize,
    pub(crate) challenger: usize,
    pub(crate) shown: Shown,
    pub(crate) ground: u8,
    pub(crate) submitted: u64,
    /// What strangers sent to the vault.
    pub(crate) gifts: u64,
    pub(crate) answered: bool,
    pub(crate) resolved: bool,
    pub(crate) succeeded: bool,
    pub(crate) closed: bool,
}

/// Evidence in a draft: a log entry of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) batch: usize,
    pub(crate) message: usize,
    pub(crate) len: usize,
    pub(crate) written: usize,
}

/// A recorded envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) agent: usize,
    pub(crate) epoch: u64,
    pub(crate) message: usize,
    pub(crate) ground: u8,
    pub(crate) signer: usize,
}

/// A text in a draft; `honest` when the announced hash is the text's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextDraft {
    pub(crate) len: usize,
    pub(crate) written: usize,
    pub(crate) honest: bool,
}

/// Whose, and which of the owner's.
pub(crate) type Key = (usize, u64);

/// Whom an owner of an agent let act for it, and until when (Unix seconds; 0: without end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delegation {
    pub(crate) delegator: usize,
    pub(crate) expiry: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) agent_ids: [[u8; 32]; AGENTS],
    pub(crate) wallet_ids: [[u8; 32]; WALLETS],
    pub(crate) start_slot: u64,
    pub(crate) start_time: u64,
    pub(crate) slot: u64,
    pub(crate) wallets: [Wallet; WALLETS],
    pub(crate) treasury: u64,
    pub(crate) agents: [Agent; AGENTS],
    /// By agent and delegate.
    pub(crate) delegations: BTreeMap<(usize, usize), Delegation>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) challenges: Vec<Challenge>,
    pub(crate) drafts: BTreeMap<Key, Draft>,
    pub(crate) records: BTreeMap<Key, Record>,
    pub(crate) texts: BTreeMap<Key, TextDraft>,
    pub(crate) log_count: u64,
    pub(crate) log_head: Hash,
    /// Why the last action had to be refused; empty when it had to succeed.
    pub(crate) reasons: Vec<u32>,
}

impl State {
    pub(crate) fn time(&self) -> u64 {
        self.start_time + (self.slot - self.start_slot) * 2 / 5
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.time() / 86_400
    }

    /// Whether an agent's lease is paid or in grace; false without any.
    pub(crate) fn is_live(&self, agent: usize) -> bool {
        self.agents[agent].lease.as_ref().is_some_and(|lease| lease.paid_through + GRACE >= self.epoch())
    }

    /// To whom an agent's stake belongs.
    pub(crate) fn beneficiary(&self, agent: usize) -> Option<usize> {
        let agent = &self.agents[agent];
        agent.holder.or(agent.stake.as_ref().map(|stake| stake.owner))
    }

    /// Whether a queued unlock can never be claimed, as the lease was paid since.
    pub(crate) fn is_stale(&self, agent: usize) -> bool {
        let agent = &self.agents[agent];
        let queued = agent.stake.as_ref().and_then(|stake| stake.queued);
        let paid = agent.lease.as_ref().map(|lease| lease.last_paid);
        queued.zip(paid).is_some_and(|(queued, paid)| paid >= queued)
    }

    /// Whether the window that began in this slot is over.
    pub(crate) fn is_over(&self, submitted: u64) -> bool {
        self.slot > submitted + WINDOW
    }

    /// The evidence bytes of a log entry of a batch, in or out of the log.
    pub(crate) fn log_evidence(&self, batch: usize, message: usize, payload: bool) -> Vec<u8> {
        let batch = &self.batches[batch];
        let agent = &self.agent_ids[batch.agent];
        let entries = batch.content.entries(agent, batch.epoch);
        let place = wire::proof(&entries, batch.content.log_place(message));
        let message = Message::new(agent, batch.epoch, message);
        wire::log_evidence(&message.entry(), &place, payload.then_some(&message.payload[..]))
    }

    /// What has been minted must be somewhere.
    pub(crate) fn usdc_in_all(&self) -> u64 {
        let staked = self
            .agents
            .iter()
            .filter_map(|agent| agent.stake.as_ref())
            .map(|stake| stake.amount + stake.gifts);
        let disputed = self.challenges.iter().filter(|challenge| !challenge.resolved);
        self.wallets.iter().map(|wallet| wallet.usdc).sum::<u64>()
            + self.treasury
            + staked.sum::<u64>()
            + disputed.map(|challenge| CHALLENGE_STAKE + challenge.gifts).sum::<u64>()
    }
}
