//! The instructions of the challenge game.

use solana_address::Address;
use solana_instruction::Instruction;
use zx1_chain::instructions::challenge::{self, ChallengeAddresses, Money};
use zx1_chain::pda;
use zx1_interface::instruction::{AnswerChallenge, BeginEvidence};
use zx1_protocol::challenge::Ground;
use zx1_vm_tests::ed25519_instruction;

use crate::actions::Action;
use crate::rules::chunk;
use crate::rules_game::answer_to;
use crate::state::{Claim, Outcome, Shown};
use crate::system::System;
use crate::wire;

impl System {
    pub(crate) fn of_game(&self, action: &Action) -> Vec<Instruction> {
        let one = match *action {
            Action::Begin { who, nonce, batch, shown, rank } => self.begin((who, nonce), batch, shown, rank),
            Action::Append { who, nonce, bytes } => self.append(who, nonce, bytes),
            Action::Seal { who, nonce, batch, ground } => return self.seal(who, nonce, batch, ground),
            Action::CancelEvidence { who, nonce, stake, challenge } => {
                self.cancel(who, nonce, (stake, challenge))
            }
            Action::Submit { who, nonce } => self.submit(who, nonce),
            Action::Answer { challenge, who, right } => self.answer(challenge, who, right),
            Action::Resolve { challenge } => {
                let one = &self.before.challenges[challenge];
                let money = self.money(one.claim.batch, one.challenger);
                challenge::resolve_challenge(self.challenge_at(&one.claim), &money)
            }
            Action::CloseChallenge { challenge } => {
                let one = &self.before.challenges[challenge];
                let batch = &self.before.batches[one.claim.batch];
                let (payer, agent) = (self.at(one.payer), self.agents[batch.agent].mint);
                challenge::close_challenge(self.challenge_at(&one.claim), payer, agent, batch.era)
            }
            Action::PassDraft { who, nonce } => {
                let at = pda::evidence_draft(&self.at(who), nonce);
                let draft = self.before.drafts.get(&(who, nonce));
                let agent = draft.map_or(0, |draft| self.before.batches[draft.batch].agent);
                let era = draft.map_or(0, |draft| draft.era);
                challenge::pass_rank(at, self.agents[agent].mint, era)
            }
            Action::PassChallenge { challenge } => {
                let one = &self.before.challenges[challenge];
                let batch = &self.before.batches[one.claim.batch];
                let agent = self.agents[batch.agent].mint;
                challenge::pass_rank(self.challenge_at(&one.claim), agent, batch.era)
            }
            Action::SettleEra { agent, era } => {
                challenge::settle_era(self.agents[agent].mint, era, self.treasury_usdc)
            }
            Action::Ask { batch, who, tree, index } => {
                let one = &self.before.batches[batch];
                let (agent, usdc) = (self.agents[one.agent].mint, self.usdc(who));
                challenge::ask_leaf(self.at(who), usdc, agent, one.epoch, one.era, tree, index)
            }
            Action::Show { ask, who, right } => self.show(ask, who, right),
            Action::SettleAsk { ask } => {
                let one = &self.before.asks[ask];
                let batch = &self.before.batches[one.batch];
                let (agent, money) = (self.agents[batch.agent].mint, self.money(one.batch, one.asker));
                challenge::settle_ask(self.ask_at(ask), agent, batch.epoch, &money)
            }
            Action::CloseAsk { ask } => {
                challenge::close_ask(self.ask_at(ask), self.at(self.before.asks[ask].asker))
            }
            _ => unreachable!("no move of the game: {action:?}"),
        };
        vec![one]
    }

    pub(crate) fn batch_at(&self, batch: usize) -> Address {
        let batch = &self.before.batches[batch];
        pda::batch(&self.agents[batch.agent].mint, batch.epoch)
    }

    /// Where the challenge of a claim is, or would be.
    pub(crate) fn challenge_at(&self, claim: &Claim) -> Address {
        let hash = wire::claim(claim.ground, claim.known, &self.before.message(claim));
        pda::challenge(&self.batch_at(claim.batch), &hash)
    }

    pub(crate) fn ask_at(&self, ask: usize) -> Address {
        let ask = &self.before.asks[ask];
        pda::ask(&self.batch_at(ask.batch), ask.tree, ask.index)
    }

    fn money(&self, batch: usize, first: usize) -> Money {
        let batch = &self.before.batches[batch];
        let (first, second) = (self.usdc(first), self.treasury_usdc);
        Money { agent: self.agents[batch.agent].mint, era: batch.era, first, second }
    }

    fn begin(
        &self,
        (who, nonce): (usize, u64),
        batch: usize,
        shown: Shown,
        rank: Option<u32>,
    ) -> Instruction {
        let evidence = self.before.evidence(batch, shown);
        let len = if matches!(shown, Shown::Envelope { .. }) { 0 } else { evidence.len() };
        let agent = self.before.batches[batch].agent;
        let at = self.batch_at(batch).to_bytes();
        let commit = wire::commit(&self.before.signer_ids[who], &at, &evidence);
        let begin = BeginEvidence {
            nonce,
            len: u32::try_from(len).unwrap(),
            agent_id: if rank.is_some() { self.before.agent_ids[agent] } else { [0; 32] },
            era: rank.unwrap_or_default(),
            commit: if rank.is_some() { commit } else { [0; 32] },
        };
        challenge::begin_evidence(self.at(who), &begin)
    }

    fn append(&self, who: usize, nonce: u64, asked: usize) -> Instruction {
        let (whole, written) = match self.before.drafts.get(&(who, nonce)) {
            Some(draft) if draft.len > 0 => (self.before.evidence(draft.batch, draft.shown), draft.written),
            Some(_) => (Vec::new(), 0),
            None => (vec![1], 0),
        };
        let bytes = chunk(asked, whole.len() - written);
        // More than is missing is padded, to be refused.
        let bytes = whole[written..].iter().copied().chain(std::iter::repeat(0)).take(bytes).collect();
        challenge::append_evidence(self.at(who), nonce, u32::try_from(written).unwrap(), bytes)
    }

    fn seal(&self, who: usize, nonce: u64, batch: usize, ground: u8) -> Vec<Instruction> {
        let draft = self.before.drafts.get(&(who, nonce));
        let enveloped = draft.and_then(|draft| match draft.shown {
            Shown::Envelope { signer, .. } => Some((draft.batch, draft.shown, signer)),
            Shown::Entry { .. } | Shown::Bids => None,
        });
        let agent = &self.agents[self.before.batches[batch].agent].mint;
        let key = enveloped.map(|(_, _, signer)| pda::key(agent, &self.at(signer)));
        let batch = self.batch_at(batch);
        let mut seal = challenge::seal_evidence(self.at(who), nonce, Ground::Bid, batch, key);
        // The library knows no other grounds than there are.
        *seal.data.last_mut().unwrap() = ground;
        let signature = enveloped.map(|(from, shown, signer)| {
            ed25519_instruction(&self.signers[signer], &self.before.evidence(from, shown))
        });
        signature.into_iter().chain([seal]).collect()
    }

    fn cancel(&self, who: usize, nonce: u64, (stake, challenge): (bool, bool)) -> Instruction {
        let draft = self.before.drafts.get(&(who, nonce));
        let stake = draft.filter(|_| stake).map(|draft| {
            let agent = self.before.batches[draft.batch].agent;
            pda::stake(&self.agents[agent].mint, draft.era)
        });
        let claim = draft.filter(|_| challenge).and_then(|draft| draft.sealed);
        let claim = claim.filter(|claim| self.before.challenge_of(claim).is_some());
        let claim = claim.map(|claim| self.challenge_at(&claim));
        challenge::cancel_evidence(self.at(who), nonce, stake, claim)
    }

    fn submit(&self, who: usize, nonce: u64) -> Instruction {
        let claim = self.before.drafts.get(&(who, nonce)).and_then(|draft| draft.sealed);
        let open = claim.and_then(|claim| self.before.challenge_of(&claim));
        let open = open.map(|open| &self.before.challenges[open]);
        let replaced = open.filter(|open| open.outcome == Outcome::Open).map(|open| open.challenger);
        let batch = claim.map(|claim| &self.before.batches[claim.batch]);
        let addresses = ChallengeAddresses {
            challenger: self.at(who),
            challenger_usdc: self.usdc(who),
            agent: self.agents[batch.map_or(0, |batch| batch.agent)].mint,
            epoch_number: batch.map_or(0, |batch| batch.epoch),
            era: batch.map_or(0, |batch| batch.era),
            nonce,
            ground: claim.and_then(|claim| Ground::from_u8(claim.ground)).unwrap_or(Ground::Selection),
            message: claim.map_or([0; 32], |claim| self.before.message(&claim)),
            value_known: claim.is_none_or(|claim| claim.known),
            replaced: replaced.map(|replaced| self.usdc(replaced)),
        };
        challenge::submit_challenge(&addresses)
    }

    fn answer(&self, number: usize, who: usize, right: bool) -> Instruction {
        let claim = self.before.challenges[number].claim;
        let known = answer_to(&self.before, number);
        let arrays = self.before.leaves(claim.batch, 1);
        let (leaf_index, mut merkle_proof) = wire::proof(&arrays, known.map(|(place, _)| place));
        if !right {
            // A path that is one too long.
            merkle_proof.push([0; 32]);
        }
        let answer = AnswerChallenge {
            leaf_index,
            merkle_proof,
            bid_value: known.map_or(0, |(_, value)| value),
            attestation: wire::ATTESTATION,
        };
        let (at, batch) = (self.challenge_at(&claim), self.batch_at(claim.batch));
        challenge::answer_challenge(self.at(who), at, batch, &self.money(claim.batch, who), &answer)
    }

    fn show(&self, ask: usize, who: usize, right: bool) -> Instruction {
        let one = &self.before.asks[ask];
        let leaves = self.before.leaves(one.batch, one.tree);
        let place = usize::try_from(one.index).unwrap();
        let (_, proof) = wire::proof(&leaves, Some(place));
        let mut leaf = leaves[place].clone();
        if !right {
            leaf[0] ^= 1;
        }
        let (batch, money) = (self.batch_at(one.batch), self.money(one.batch, who));
        challenge::show_leaf(self.at(who), self.ask_at(ask), batch, None, &money, leaf, proof)
    }
}
