//! Builds the instructions of Challenge.

use super::accounts;
use crate::{claim, pda};
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;
use zx1_protocol::challenge::Ground;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;

/// Who challenges what.
#[derive(Clone, Copy, Debug)]
pub struct ChallengeAddresses {
    /// Who challenges; pays stake and rent, and owns the draft.
    pub challenger: Address,
    /// The challenger's USDC account.
    pub challenger_usdc: Address,
    /// Agent id: the mint of the agent's NFT.
    pub agent: AgentId,
    /// The batch's epoch.
    pub epoch_number: u64,
    /// The batch's era.
    pub era: u32,
    /// What the evidence obliges the agent to.
    pub ground: Ground,
    /// Whether the evidence determines a bid's value; true on every other ground.
    pub value_known: bool,
    /// The message's header hash.
    pub message: Hash,
    /// Nonce of the challenger's sealed draft.
    pub nonce: u64,
    /// A USDC account of the challenger of a higher rank whose claim is taken over.
    pub replaced: Option<Address>,
}

impl ChallengeAddresses {
    /// Address of the challenged batch.
    pub fn batch(&self) -> Address {
        pda::batch(&self.agent, self.epoch_number)
    }

    /// What is claimed.
    pub fn claim(&self) -> Hash {
        claim::claim(self.ground, self.value_known, &self.message)
    }

    /// Address of the challenge.
    pub fn challenge(&self) -> Address {
        pda::challenge(&self.batch(), &self.claim())
    }

    /// Address of the challenge that claims the same with the bid's value: the challenge itself where it
    /// does so.
    pub fn stronger(&self) -> Address {
        pda::challenge(&self.batch(), &claim::claim(self.ground, true, &self.message))
    }
}

/// An era's money, and who gets what a settlement pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    /// The agent whose stake it is.
    pub agent: AgentId,
    /// Number of the agent's era.
    pub era: u32,
    /// USDC account of the first recipient: challenger, answerer, shower or asker.
    pub first: Address,
    /// USDC account of the treasury.
    pub second: Address,
}

impl Money {
    fn stake(&self) -> Address {
        pda::stake(&self.agent, self.era)
    }

    fn shard(&self) -> Address {
        pda::shard(pda::shard_of(&self.agent))
    }

    fn vault(&self) -> Address {
        pda::vault(pda::shard_of(&self.agent))
    }
}

/// Builds the instruction begin_evidence; a draft takes a rank when it has a commitment.
pub fn begin_evidence(owner: Address, draft: &data::BeginEvidence) -> Instruction {
    let ranked = draft.commit != [0; 32];
    accounts::BeginEvidence {
        owner,
        draft: pda::evidence_draft(&owner, draft.nonce),
        stake: ranked.then(|| pda::stake(&AgentId(draft.agent_id), draft.era)),
    }
    .with(draft)
}

/// Builds the instruction append_evidence.
pub fn append_evidence(owner: Address, nonce: u64, offset: u32, bytes: Vec<u8>) -> Instruction {
    accounts::AppendEvidence { owner, draft: pda::evidence_draft(&owner, nonce) }
        .with(&data::AppendEvidence { nonce, offset, bytes })
}

/// seal_evidence against a batch. For an envelope `key` is the signer's key account, and the Ed25519 check of
/// the signed bytes must be the instruction right before.
pub fn seal_evidence(
    owner: Address,
    nonce: u64,
    ground: Ground,
    batch: Address,
    key: Option<Address>,
) -> Instruction {
    accounts::SealEvidence { owner, draft: pda::evidence_draft(&owner, nonce), batch, key }
        .with(&data::SealEvidence { nonce, ground: ground as u8 })
}

/// cancel_evidence. `stake` and `challenge` show why the deposit of an unused rank comes back, or that the
/// rank's era is gone.
pub fn cancel_evidence(
    owner: Address,
    nonce: u64,
    stake: Option<Address>,
    challenge: Option<Address>,
) -> Instruction {
    accounts::CancelEvidence { owner, draft: pda::evidence_draft(&owner, nonce), stake, challenge }
        .with(&data::CancelEvidence { nonce })
}

/// submit_challenge of a sealed draft.
pub fn submit_challenge(addresses: &ChallengeAddresses) -> Instruction {
    let shard = pda::shard_of(&addresses.agent);
    // Of any other claim the address says nothing; the challenge's own would be refused, being writable.
    let weak = addresses.ground == Ground::Bid && !addresses.value_known;
    accounts::SubmitChallenge {
        challenger: addresses.challenger,
        draft: pda::evidence_draft(&addresses.challenger, addresses.nonce),
        batch: addresses.batch(),
        stronger: if weak { addresses.stronger() } else { addresses.batch() },
        challenge: addresses.challenge(),
        replaced: addresses.replaced,
        challenger_usdc: addresses.challenger_usdc,
        stake: pda::stake(&addresses.agent, addresses.era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
    }
    .with(&data::SubmitChallenge { nonce: addresses.nonce })
}

/// Builds the instruction answer_challenge.
pub fn answer_challenge(
    answerer: Address,
    challenge: Address,
    batch: Address,
    money: &Money,
    answer: &data::AnswerChallenge,
) -> Instruction {
    accounts::AnswerChallenge {
        answerer,
        challenge,
        batch,
        stake: money.stake(),
        shard: money.shard(),
        vault: money.vault(),
        first_usdc: money.first,
        second_usdc: money.second,
    }
    .with(answer)
}

/// Builds the instruction resolve_challenge.
pub fn resolve_challenge(challenge: Address, money: &Money) -> Instruction {
    accounts::ResolveChallenge {
        challenge,
        stake: money.stake(),
        shard: money.shard(),
        vault: money.vault(),
        first_usdc: money.first,
        second_usdc: money.second,
    }
    .with(&data::ResolveChallenge {})
}

/// close_challenge: the rent goes to `payer`, who paid it. `agent` and `era` are the challenge's.
pub fn close_challenge(challenge: Address, payer: Address, agent: AgentId, era: u32) -> Instruction {
    accounts::CloseChallenge { challenge, payer, stake: pda::stake(&agent, era) }
        .with(&data::CloseChallenge {})
}

/// pass_rank of a challenge or a draft.
pub fn pass_rank(account: Address, agent: AgentId, era: u32) -> Instruction {
    let shard = pda::shard_of(&agent);
    accounts::PassRank {
        account,
        stake: pda::stake(&agent, era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
    }
    .with(&data::PassRank {})
}

/// Builds the instruction settle_era.
pub fn settle_era(agent: AgentId, era: u32, treasury_usdc: Address) -> Instruction {
    let shard = pda::shard_of(&agent);
    accounts::SettleEra {
        stake: pda::stake(&agent, era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
        second_usdc: treasury_usdc,
    }
    .with(&data::SettleEra { agent_id: agent.into(), era })
}

/// ask_leaf: `tree` is 0 for the log and 1 for the arrays, `index` counts in the tree without padding, `era`
/// is the batch's.
pub fn ask_leaf(
    asker: Address,
    asker_usdc: Address,
    agent: AgentId,
    epoch_number: u64,
    era: u32,
    tree: u8,
    index: u32,
) -> Instruction {
    let batch = pda::batch(&agent, epoch_number);
    let shard = pda::shard_of(&agent);
    accounts::AskLeaf {
        asker,
        batch,
        ask: pda::ask(&batch, tree, index),
        asker_usdc,
        stake: pda::stake(&agent, era),
        shard: pda::shard(shard),
        vault: pda::vault(shard),
    }
    .with(&data::AskLeaf { tree, index })
}

/// show_leaf. `draft` is a complete draft of the shower without a rank that holds the leaf; `leaf` is empty
/// then.
pub fn show_leaf(
    shower: Address,
    ask: Address,
    batch: Address,
    draft: Option<Address>,
    money: &Money,
    leaf: Vec<u8>,
    merkle_proof: Vec<Hash>,
) -> Instruction {
    accounts::ShowLeaf {
        shower,
        ask,
        batch,
        draft,
        stake: money.stake(),
        shard: money.shard(),
        vault: money.vault(),
        first_usdc: money.first,
        second_usdc: money.second,
    }
    .with(&data::ShowLeaf { merkle_proof, leaf })
}

/// Builds the instruction settle_ask.
pub fn settle_ask(ask: Address, agent: AgentId, epoch_number: u64, money: &Money) -> Instruction {
    accounts::SettleAsk {
        ask,
        batch: pda::batch(&agent, epoch_number),
        head: pda::head(&agent),
        stake: money.stake(),
        shard: money.shard(),
        vault: money.vault(),
        first_usdc: money.first,
        second_usdc: money.second,
    }
    .with(&data::SettleAsk {})
}

/// close_ask: the rent goes to the asker.
pub fn close_ask(ask: Address, asker: Address) -> Instruction {
    accounts::CloseAsk { ask, asker }.with(&data::CloseAsk {})
}
