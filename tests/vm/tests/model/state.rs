//! What the model knows. Agents, wallets, keys, batches, challenges and asks are numbers; addresses are needed
//! only for the hash chains.

use std::collections::BTreeMap;

use crate::wire::{self, Hash, Message};

pub(crate) const AGENTS: usize = 3;
/// The first three begin as owners of the agents; the others are challengers. All may do everything.
pub(crate) const WALLETS: usize = 6;
/// Whoever can sign: the wallets, and key pairs without money. Each may be listed as a key of an agent.
pub(crate) const SIGNERS: usize = 10;

// The constants of protocol.md, 11, and the amounts of decision P4, written a second time.
pub(crate) const USDC: u64 = 1_000_000;
pub(crate) const MIN_STAKE: u64 = 30 * USDC;
pub(crate) const CHALLENGE_STAKE: u64 = 5 * USDC;
pub(crate) const LOST_TO_STAKE: u64 = 1_500_000;
pub(crate) const LOST_TO_ANSWERER: u64 = 500_000;
pub(crate) const ASK_PRICE: u64 = 500_000;
pub(crate) const ASK_TO_SHOWER: u64 = 300_000;
pub(crate) const ASK_TO_STAKE: u64 = 100_000;
pub(crate) const FINE: u64 = 10 * USDC;
pub(crate) const FINE_TO_ASKER: u64 = 3 * USDC;
pub(crate) const RANK_DEPOSIT: i64 = 10_000_000;
pub(crate) const EPOCH_PRICE: u64 = USDC;
pub(crate) const GRACE: u64 = 3;
pub(crate) const WINDOW: u64 = 432_000;
pub(crate) const DELAY: u64 = 432_000;
pub(crate) const RANK_SLOTS: u64 = 300;
pub(crate) const ASK_SLOTS: u64 = 216_000;
pub(crate) const SHOW_SLOTS: u64 = 108_000;
pub(crate) const COVERED: u64 = 30;
pub(crate) const DEAL_EPOCHS: u64 = 35;
pub(crate) const LIVE_KEYS: usize = 8;
/// What every wallet has in the beginning: little enough that it can run out.
pub(crate) const START_USDC: u64 = 160 * USDC;

/// Lamports that keep a number of bytes on chain.
pub(crate) fn rent(bytes: usize) -> i64 {
    i64::try_from((128 + bytes) * 6_960).unwrap()
}
pub(crate) const TOKEN_ACCOUNT: usize = 165;
pub(crate) const TENURE: usize = 112;
pub(crate) const KEY: usize = 184;
pub(crate) const STAKE: usize = 184;
pub(crate) const SHARD: usize = 64;
pub(crate) const LEASE: usize = 80;
pub(crate) const HEAD: usize = 120;
pub(crate) const BATCH: usize = 248;
pub(crate) const CHALLENGE: usize = 416;
pub(crate) const EVIDENCE_DRAFT: usize = 392;
pub(crate) const ASK: usize = 152;
pub(crate) const LOG: usize = 72;
pub(crate) const ENTRY: usize = 136;
pub(crate) const TEXT_DRAFT: usize = 144;

// Scopes of a key.
pub(crate) const PAY: u8 = 1;
pub(crate) const BATCHES: u8 = 2;
pub(crate) const DEAL: u8 = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) usdc: u64,
    /// Lamports gained (negative: put into rent and deposits) since the beginning.
    pub(crate) lamports: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenure {
    pub(crate) owner: usize,
    pub(crate) number: u32,
    pub(crate) from: u64,
    pub(crate) era: u32,
    pub(crate) has_listed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) scopes: u8,
    pub(crate) from: u64,
    /// Last epoch in which its signatures count, once it has ended.
    pub(crate) until: Option<u64>,
    pub(crate) tenure: u32,
    /// Who listed it, and paid.
    pub(crate) owner: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stake {
    pub(crate) amount: u64,
    pub(crate) pot: u64,
    pub(crate) deposits: u64,
    pub(crate) owner: usize,
    pub(crate) open_challenges: u32,
    pub(crate) next_rank: u32,
    pub(crate) settled_rank: u32,
    pub(crate) open_asks: u32,
    pub(crate) next_ask: u32,
    /// The slot of queueing, if an unlock is queued.
    pub(crate) queued: Option<u64>,
    /// The slots in which the era ended and was slashed, if it was.
    pub(crate) ended: Option<u64>,
    pub(crate) slashed: Option<u64>,
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
    pub(crate) tenure: Option<Tenure>,
    /// The stake of each era, keyed by its number.
    pub(crate) stakes: BTreeMap<u32, Stake>,
    pub(crate) lease: Option<Lease>,
    pub(crate) head: Option<Head>,
}

impl Agent {
    /// The era in which stakes are locked and batches land.
    pub(crate) fn era(&self) -> u32 {
        self.tenure.as_ref().map_or(0, |tenure| tenure.era)
    }
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

    /// How many entries there are.
    pub(crate) fn log_len(&self) -> usize {
        usize::try_from(self.log.count_ones()).unwrap()
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
    pub(crate) signer: usize,
    pub(crate) payer: usize,
    pub(crate) era: u32,
    pub(crate) tenure: u32,
    pub(crate) content: Content,
    pub(crate) withheld: bool,
    pub(crate) closed: bool,
}

/// What is shown against a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A log entry, with or without its payload.
    Entry { message: usize, payload: bool },
    /// An envelope of an epoch, signed by somebody.
    Envelope { message: usize, epoch: u64, signer: usize },
    /// Two bids that contradict each other.
    Bids,
}

/// What sealed evidence claims of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) batch: usize,
    pub(crate) ground: u8,
    /// Whether the bid's value is known; true on every other ground.
    pub(crate) known: bool,
    pub(crate) message: usize,
    /// Epoch of the message.
    pub(crate) epoch: u64,
}

/// How a challenge ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Open,
    Answered,
    Succeeded,
    /// With these amounts this never happens: half of a finders' part always leaves a rest.
    NothingLeft,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) claim: Claim,
    pub(crate) challenger: usize,
    pub(crate) payer: usize,
    pub(crate) rank: u32,
    pub(crate) submitted: u64,
    pub(crate) outcome: Outcome,
    pub(crate) passed: bool,
    pub(crate) closed: bool,
}

/// What a draft is to its era's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    None,
    Held,
    Used,
    Swapped,
    Passed,
}

/// Evidence in a draft, against a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) batch: usize,
    pub(crate) shown: Shown,
    pub(crate) len: usize,
    pub(crate) written: usize,
    pub(crate) sealed: Option<Claim>,
    pub(crate) state: Rank,
    pub(crate) used: bool,
    /// Lamports, beyond the rent.
    pub(crate) deposit: i64,
    pub(crate) begun: u64,
    pub(crate) rank: u32,
    pub(crate) era: u32,
}

/// How an ask stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Open,
    Shown,
    Withheld,
    Settled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) batch: usize,
    pub(crate) tree: u8,
    pub(crate) index: u32,
    pub(crate) asker: usize,
    pub(crate) created: u64,
    pub(crate) state: Asked,
    pub(crate) closed: bool,
}

/// A text in a draft; `honest` when the announced hash is the text's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextDraft {
    pub(crate) len: usize,
    pub(crate) written: usize,
    pub(crate) honest: bool,
}

/// Whose, and which of the owner's.
pub(crate) type Nonce = (usize, u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) network: Hash,
    pub(crate) agent_ids: [[u8; 32]; AGENTS],
    pub(crate) signer_ids: [[u8; 32]; SIGNERS],
    pub(crate) start_slot: u64,
    pub(crate) start_time: u64,
    pub(crate) slot: u64,
    pub(crate) wallets: [Wallet; WALLETS],
    pub(crate) treasury: u64,
    /// Lamports of deposits of ranks that lapsed.
    pub(crate) burnt: i64,
    /// What strangers sent to the vaults that exist, by shard.
    pub(crate) vaults: BTreeMap<u8, u64>,
    pub(crate) agents: [Agent; AGENTS],
    /// By agent and signer.
    pub(crate) keys: BTreeMap<(usize, usize), Key>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) challenges: Vec<Challenge>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) drafts: BTreeMap<Nonce, Draft>,
    pub(crate) texts: BTreeMap<Nonce, TextDraft>,
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

    /// The shard of an agent.
    pub(crate) fn shard(&self, agent: usize) -> u8 {
        self.agent_ids[agent][0]
    }

    /// Whether an agent's lease is paid or in grace; false without any.
    pub(crate) fn is_live(&self, agent: usize) -> bool {
        self.agents[agent].lease.as_ref().is_some_and(|lease| lease.paid_through + GRACE >= self.epoch())
    }

    /// Whether a queued unlock of an era can never be claimed, as the lease was paid since.
    pub(crate) fn is_stale(&self, agent: usize, era: u32) -> bool {
        let agent = &self.agents[agent];
        let queued = agent.stakes.get(&era).and_then(|stake| stake.queued);
        let paid = agent.lease.as_ref().map(|lease| lease.last_paid);
        queued.zip(paid).is_some_and(|(queued, paid)| paid >= queued)
    }

    /// The agent's keys that have not ended.
    pub(crate) fn live_keys(&self, agent: usize) -> Vec<usize> {
        let live = self.keys.iter().filter(|((of, _), key)| *of == agent && key.until.is_none());
        live.map(|((_, signer), _)| *signer).collect()
    }

    /// Whether the window that began in this slot is over.
    pub(crate) fn is_over(&self, submitted: u64) -> bool {
        self.slot > submitted + WINDOW
    }

    /// Whether a rank that was taken in this slot holds in another.
    pub(crate) fn rank_holds(begun: u64, slot: u64) -> bool {
        slot <= begun + RANK_SLOTS
    }

    /// The stake that answers for a batch.
    pub(crate) fn stake_of(&self, batch: usize) -> Option<&Stake> {
        let batch = &self.batches[batch];
        self.agents[batch.agent].stakes.get(&batch.era)
    }

    pub(crate) fn stake_of_mut(&mut self, batch: usize) -> &mut Stake {
        let (agent, era) = (self.batches[batch].agent, self.batches[batch].era);
        self.agents[agent].stakes.get_mut(&era).unwrap()
    }

    /// The challenge of a claim, while its account is there.
    pub(crate) fn challenge_of(&self, claim: &Claim) -> Option<usize> {
        self.challenges.iter().position(|one| !one.closed && one.claim == *claim)
    }

    /// The ask for a leaf, while its account is there.
    pub(crate) fn ask_of(&self, batch: usize, tree: u8, index: u32) -> Option<usize> {
        let same = |one: &Ask| (one.batch, one.tree, one.index) == (batch, tree, index);
        self.asks.iter().position(|one| !one.closed && same(one))
    }

    /// First epoch that a batch of an agent and epoch covers now.
    pub(crate) fn covers_from(&self, agent: usize, epoch: u64) -> u64 {
        let one = &self.agents[agent];
        let after = one.head.as_ref().map_or(0, |head| head.last_epoch + 1);
        let tenure = one.tenure.as_ref().map_or(0, |tenure| tenure.from);
        after.max(tenure).max(epoch + 1 - COVERED)
    }

    /// The leaf in this place of a batch's tree.
    pub(crate) fn leaves(&self, batch: usize, tree: u8) -> Vec<Vec<u8>> {
        let one = &self.batches[batch];
        let agent = &self.agent_ids[one.agent];
        match tree {
            0 => one.content.entries(agent, one.epoch),
            _ => one.content.arrays(agent, one.epoch),
        }
    }

    /// The message's hash that a claim names.
    pub(crate) fn message(&self, claim: &Claim) -> Hash {
        let agent = self.batches[claim.batch].agent;
        Message::new(&self.agent_ids[agent], claim.epoch, claim.message).hash()
    }

    /// What is shown, as it would be claimed of a batch on a ground.
    pub(crate) fn claim(&self, (batch, from): (usize, usize), shown: Shown, ground: u8) -> Claim {
        let (message, epoch, known) = match shown {
            Shown::Entry { message, payload } => (message, self.batches[from].epoch, payload),
            Shown::Envelope { message, epoch, .. } => (message, epoch, true),
            Shown::Bids => (wire::PROPOSE, self.batches[from].epoch, true),
        };
        Claim { batch, ground, known: known || ground != 1, message, epoch }
    }

    /// The bytes that are shown, of a draft or signed.
    pub(crate) fn evidence(&self, from: usize, shown: Shown) -> Vec<u8> {
        let batch = &self.batches[from];
        let agent = &self.agent_ids[batch.agent];
        match shown {
            Shown::Entry { message, payload } => {
                let place = wire::proof(&self.leaves(from, 0), batch.content.log_place(message));
                let message = Message::new(agent, batch.epoch, message);
                wire::log_evidence(&message.entry(), &place, payload.then_some(&message.payload[..]))
            }
            Shown::Envelope { message, epoch, .. } => Message::new(agent, epoch, message).signing_bytes(),
            Shown::Bids => {
                let arrays = self.leaves(from, 1);
                let places = [batch.content.record_place(wire::PROPOSE, 1), batch.content.doubled_place()];
                let message = Message::new(agent, batch.epoch, wire::PROPOSE);
                let [first, second] = [batch.content.value(wire::PROPOSE), Content::doubled_value()]
                    .map(|value| message.record(1, value));
                let bids = [
                    (&first[..], wire::proof(&arrays, places[0])),
                    (&second[..], wire::proof(&arrays, places[1])),
                ];
                wire::double_bid_evidence(bids)
            }
        }
    }

    /// What has been minted must be somewhere.
    pub(crate) fn usdc_in_all(&self) -> u64 {
        let stakes = self.agents.iter().flat_map(|agent| agent.stakes.values());
        let held = stakes.map(|stake| stake.amount + stake.pot + stake.deposits).sum::<u64>();
        let wallets = self.wallets.iter().map(|wallet| wallet.usdc).sum::<u64>();
        wallets + self.treasury + held + self.vaults.values().sum::<u64>()
    }
}
