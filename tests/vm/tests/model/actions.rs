//! What can happen.

use crate::state::{Ask, Content, Shown, State};

/// What is wrong with a batch message, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// It was signed for another network.
    Network,
    /// It does not follow the head.
    Digest,
    /// It covers an epoch more or less than it must.
    Coverage,
}

/// One action. Agents, wallets, keys, batches, challenges and asks are numbers.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Advance(u64),
    OpenTenure {
        agent: usize,
        who: usize,
    },
    /// Naming all live keys, or one less.
    TakeOver {
        agent: usize,
        who: usize,
        all: bool,
    },
    AddKey {
        agent: usize,
        who: usize,
        key: usize,
        scopes: u8,
    },
    EndKey {
        agent: usize,
        who: usize,
        key: usize,
    },
    CloseKey {
        agent: usize,
        key: usize,
    },
    OpenVault {
        agent: usize,
        who: usize,
    },
    /// In the tenure's era, or so many eras from it.
    Lock {
        agent: usize,
        who: usize,
        ahead: i64,
        amount: u64,
    },
    Queue {
        agent: usize,
        who: usize,
        era: u32,
    },
    Cancel {
        agent: usize,
        who: usize,
        era: u32,
    },
    Claim {
        agent: usize,
        who: usize,
        era: u32,
    },
    Pay {
        agent: usize,
        who: usize,
        epochs: u32,
    },
    Tick {
        agent: usize,
    },
    OpenHead {
        agent: usize,
        who: usize,
    },
    SubmitBatch {
        agent: usize,
        signer: usize,
        payer: usize,
        back: i64,
        content: Content,
        fault: Fault,
    },
    CloseBatch {
        batch: usize,
    },
    /// A draft of evidence against a batch, with a rank in its era, in another one, or without.
    Begin {
        who: usize,
        nonce: u64,
        batch: usize,
        shown: Shown,
        rank: Option<u32>,
    },
    Append {
        who: usize,
        nonce: u64,
        bytes: usize,
    },
    Seal {
        who: usize,
        nonce: u64,
        batch: usize,
        ground: u8,
    },
    /// Showing stake and challenge, or not.
    CancelEvidence {
        who: usize,
        nonce: u64,
        stake: bool,
        challenge: bool,
    },
    Submit {
        who: usize,
        nonce: u64,
    },
    Answer {
        challenge: usize,
        who: usize,
        right: bool,
    },
    Resolve {
        challenge: usize,
    },
    CloseChallenge {
        challenge: usize,
    },
    PassDraft {
        who: usize,
        nonce: u64,
    },
    PassChallenge {
        challenge: usize,
    },
    SettleEra {
        agent: usize,
        era: u32,
    },
    Ask {
        batch: usize,
        who: usize,
        tree: u8,
        index: u32,
    },
    Show {
        ask: usize,
        who: usize,
        right: bool,
    },
    SettleAsk {
        ask: usize,
    },
    CloseAsk {
        ask: usize,
    },
    Transfer {
        agent: usize,
        to: usize,
    },
    Burn {
        agent: usize,
    },
    /// Somebody sends USDC to an agent's vault.
    Give {
        agent: usize,
        who: usize,
        amount: u64,
    },
    SubmitText {
        who: usize,
        bytes: usize,
        ahead: u64,
    },
    BeginText {
        who: usize,
        nonce: u64,
        len: usize,
        honest: bool,
    },
    AppendText {
        who: usize,
        nonce: u64,
        bytes: usize,
    },
    SealText {
        who: usize,
        nonce: u64,
        ahead: u64,
    },
    CancelText {
        who: usize,
        nonce: u64,
    },
}

impl Action {
    /// Its name, for counting.
    pub(crate) fn name(&self) -> String {
        let debug = format!("{self:?}");
        debug.split([' ', '(']).next().unwrap_or_default().to_owned()
    }

    /// Whether what it names exists, and it can be sent at all.
    pub(crate) fn is_possible(&self, state: &State) -> bool {
        match self {
            Self::CloseBatch { batch }
            | Self::Begin { batch, .. }
            | Self::Seal { batch, .. }
            | Self::Ask { batch, .. } => *batch < state.batches.len(),
            Self::Answer { challenge, .. }
            | Self::Resolve { challenge }
            | Self::CloseChallenge { challenge }
            | Self::PassChallenge { challenge } => *challenge < state.challenges.len(),
            // A leaf that is asked for again has its ask where the closed one was.
            Self::Show { ask, .. } | Self::SettleAsk { ask } | Self::CloseAsk { ask } => {
                let of_leaf = |one: &Ask| state.ask_of(one.batch, one.tree, one.index);
                state.asks.get(*ask).is_some_and(|one| of_leaf(one).is_none_or(|there| there == *ask))
            }
            Self::Lock { agent, ahead, .. } => {
                state.agents[*agent].era().checked_add_signed(i32::try_from(*ahead).unwrap()).is_some()
            }
            // Only what Token-2022 would do; its refusals are not this test's matter.
            Self::Transfer { agent, to } => state.agents[*agent].holder.is_some_and(|holder| holder != *to),
            Self::Burn { agent } => state.agents[*agent].holder.is_some(),
            Self::Give { agent, who, amount } => {
                state.vaults.contains_key(&state.shard(*agent)) && state.wallets[*who].usdc >= *amount
            }
            _ => true,
        }
    }
}
