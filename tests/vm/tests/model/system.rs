//! The programs in LiteSVM, driven by the same actions.

use std::cell::RefCell;
use std::sync::OnceLock;

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::challenge::{self, ChallengeAddresses, EvidenceSource};
use zx1_chain::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use zx1_chain::instructions::{behavior_log, feedback_log, stake_lock};
use zx1_chain::{pda, sati};
use zx1_interface::instruction::{AnswerChallenge, SubmitBatch};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, Failure, START_SLOT, START_TIME, Schemas, World, ed25519_instruction, keypair};

use crate::actions::Action;
use crate::effects::{commitment, text};
use crate::rules::{answer_to, chunk};
use crate::state::{AGENTS, Challenge, Content, MIN_STAKE, START_USDC, Shown, State, WALLETS};
use crate::wire::{self, Message};

/// Lamports of every wallet in the beginning.
pub(crate) const START_LAMPORTS: u64 = 100_000_000_000;

/// The chain and what the model knew before the next action.
pub(crate) struct System {
    pub(crate) world: World,
    pub(crate) agents: [Agent; AGENTS],
    pub(crate) wallets: [Keypair; WALLETS],
    /// Pays for transactions, so that a wallet's lamports are what it put into rent.
    pub(crate) relay: Keypair,
    pub(crate) usdc_mint: Address,
    pub(crate) treasury_usdc: Address,
    schemas: Schemas,
    pub(crate) before: State,
}

struct Beginning {
    world: World,
    agents: [Agent; AGENTS],
    usdc_mint: Address,
    treasury_usdc: Address,
    schemas: Schemas,
}

fn wallet(number: usize) -> Keypair {
    keypair(&format!("model wallet {number}"))
}

fn begin() -> Beginning {
    let mut world = World::configured();
    let treasury_usdc = world.treasury_usdc();
    for number in 0..WALLETS {
        let at = wallet(number).pubkey();
        world.fund_usdc(&at, START_USDC);
        world.set_lamports(&at, START_LAMPORTS);
    }
    world.set_lamports(&keypair("relay").pubkey(), START_LAMPORTS);
    let agents = std::array::from_fn(|number| world.register_agent(&wallet(number)));
    let (usdc_mint, schemas) = (world.usdc_mint(), world.schemas());
    Beginning { world, agents, usdc_mint, treasury_usdc, schemas }
}

thread_local! {
    /// Made once a thread; every case forks it.
    static BEGINNING: RefCell<Option<Beginning>> = const { RefCell::new(None) };
}

fn with_beginning<T>(then: impl FnOnce(&Beginning) -> T) -> T {
    BEGINNING.with_borrow_mut(|beginning| then(beginning.get_or_insert_with(begin)))
}

/// What the model knows in the beginning.
pub(crate) fn initial_state() -> State {
    static STATE: OnceLock<State> = OnceLock::new();
    let make = || {
        with_beginning(|beginning| State {
            agent_ids: beginning.agents.map(|agent| agent.mint.0),
            wallet_ids: std::array::from_fn(|number| wallet(number).pubkey().to_bytes()),
            start_slot: START_SLOT,
            start_time: u64::try_from(START_TIME).unwrap(),
            slot: START_SLOT,
            wallets: std::array::from_fn(|_| crate::state::Wallet { usdc: START_USDC, lamports: 0 }),
            treasury: 0,
            agents: std::array::from_fn(|number| crate::state::Agent {
                holder: Some(number),
                ..Default::default()
            }),
            delegations: Default::default(),
            batches: Vec::new(),
            challenges: Vec::new(),
            drafts: Default::default(),
            records: Default::default(),
            texts: Default::default(),
            log_count: 0,
            log_head: [0; 32],
            reasons: Vec::new(),
        })
    };
    STATE.get_or_init(make).clone()
}

/// What makes the agents live: most cases begin with it, so that more of them get to what is interesting.
pub(crate) fn coming_to_life() -> impl Iterator<Item = Action> {
    (0..AGENTS).flat_map(|agent| {
        [Action::Lock { agent, who: agent, amount: MIN_STAKE }, Action::Pay { agent, who: agent, epochs: 3 }]
    })
}

impl System {
    pub(crate) fn new(state: &State) -> Self {
        let mut system = with_beginning(|beginning| Self {
            world: beginning.world.clone(),
            agents: beginning.agents,
            wallets: std::array::from_fn(wallet),
            relay: keypair("relay"),
            usdc_mint: beginning.usdc_mint,
            treasury_usdc: beginning.treasury_usdc,
            schemas: beginning.schemas,
            before: state.clone(),
        });
        if state.agents[0].stake.is_some() {
            coming_to_life().for_each(|action| system.execute(&action).unwrap());
        }
        system
    }

    pub(crate) fn at(&self, wallet: usize) -> Address {
        self.wallets[wallet].pubkey()
    }

    /// A wallet's USDC account.
    pub(crate) fn usdc(&self, wallet: usize) -> Address {
        let program = &zx1_chain::token::TOKEN_PROGRAM;
        zx1_chain::token::associated_address(&self.at(wallet), &self.usdc_mint, program)
    }

    /// Does it; the time-keeping and what SATI's owners do always succeed.
    pub(crate) fn execute(&mut self, action: &Action) -> Result<(), Failure> {
        match *action {
            Action::Advance(slots) => self.world.advance_slots(slots),
            Action::Transfer { agent, to } => {
                let holder = self.wallets[self.before.agents[agent].holder.unwrap()].insecure_clone();
                let to = self.at(to);
                self.agents[agent] = self.world.transfer_agent(&self.agents[agent], &holder, &to);
            }
            Action::Burn { agent } => {
                let holder = self.wallets[self.before.agents[agent].holder.unwrap()].insecure_clone();
                self.world.burn_agent(&self.agents[agent], &holder);
            }
            Action::Delegate { agent, to, days } => {
                let holder = self.wallets[self.before.agents[agent].holder.unwrap()].insecure_clone();
                let expiry = if days == 0 { 0 } else { self.before.time() + days * 86_400 };
                let (to, expiry) = (self.at(to), i64::try_from(expiry).unwrap());
                self.world.create_delegate(&holder, &to, &self.agents[agent], expiry);
            }
            _ => {
                let instructions = self.instructions(action);
                let keys: Vec<&Keypair> = self.wallets.iter().collect();
                self.world.send(&instructions, &self.relay, &keys)?;
            }
        }
        Ok(())
    }

    /// The delegation of a wallet, if there is one.
    fn delegation(&self, agent: usize, who: usize) -> Option<Address> {
        let exists = self.before.delegations.contains_key(&(agent, who));
        let Schemas { credential, delegate, .. } = self.schemas;
        let nonce = sati::delegation_nonce(&delegate, &self.at(who), &self.agents[agent].mint.into());
        exists.then(|| sati::sas_attestation_address(&credential, &delegate, &nonce).0)
    }

    fn give(&self, who: usize, to: Address, amount: u64) -> Instruction {
        let (from, mint, owner) = (self.usdc(who), &self.usdc_mint, &self.at(who));
        let program = &zx1_chain::token::TOKEN_PROGRAM;
        zx1_chain::token::transfer(&from, mint, &to, owner, (amount, 6), program).unwrap()
    }

    fn instructions(&self, action: &Action) -> Vec<Instruction> {
        let addresses = |agent: usize| self.agents[agent].addresses();
        let mint = |agent: usize| self.agents[agent].mint;
        match *action {
            Action::Lock { agent, who, amount } => vec![stake_lock::lock_stake(
                &addresses(agent),
                self.at(who),
                self.usdc_mint,
                self.usdc(who),
                MicroUsdc(amount),
            )],
            Action::Queue { agent, who } => vec![stake_lock::queue_unlock(&addresses(agent), self.at(who))],
            Action::Cancel { agent, who } => vec![stake_lock::cancel_unlock(&addresses(agent), self.at(who))],
            Action::Claim { agent, who } => {
                vec![stake_lock::claim_stake(&addresses(agent), self.at(who), self.usdc(who))]
            }
            Action::Pay { agent, who, epochs } => {
                let payment = LeasePayment {
                    authority: self.at(who),
                    delegation: self.delegation(agent, who),
                    authority_usdc: self.usdc(who),
                    treasury_usdc: self.treasury_usdc,
                    epochs,
                };
                vec![pay_lease(&addresses(agent), &payment)]
            }
            Action::Tick { agent } => vec![tick_lease(mint(agent))],
            Action::SubmitBatch { agent, who, back, content } => {
                self.submit_batch(agent, who, back, &content)
            }
            Action::CloseBatch { batch } => {
                let batch = &self.before.batches[batch];
                vec![behavior_log::close_batch(mint(batch.agent), batch.epoch, self.at(batch.signer))]
            }
            Action::RecordEnvelope { who, nonce, agent, back, message, ground, signer } => {
                let epoch = self.before.epoch() - back;
                let message = Message::new(&self.before.agent_ids[agent], epoch, message);
                let signature = ed25519_instruction(&self.wallets[signer], &message.signing_bytes());
                vec![signature, challenge::record_envelope(self.at(who), ground, nonce)]
            }
            Action::DiscardEnvelope { who, nonce } => vec![challenge::discard_envelope(self.at(who), nonce)],
            Action::BeginEvidence { who, nonce, batch, message } => {
                let len = self.before.log_evidence(batch, message, false).len();
                vec![challenge::begin_evidence(self.at(who), nonce, u32::try_from(len).unwrap())]
            }
            Action::AppendEvidence { who, nonce, bytes } => vec![self.append_evidence(who, nonce, bytes)],
            Action::CancelEvidence { who, nonce } => vec![challenge::cancel_evidence(self.at(who), nonce)],
            Action::Answer { challenge, who, right } => vec![self.answer(challenge, who, right)],
            Action::Resolve { challenge } => {
                let at = self.addresses(&self.before.challenges[challenge]);
                vec![challenge::resolve_challenge(&at, self.treasury_usdc)]
            }
            Action::CloseChallenge { challenge } => {
                let at = self.addresses(&self.before.challenges[challenge]);
                vec![challenge::close_challenge(at.challenge(), at.challenger)]
            }
            Action::GiveToStake { agent, who, amount } => {
                vec![self.give(who, pda::stake_vault(&mint(agent)), amount)]
            }
            Action::GiveToChallenge { challenge, who, amount } => {
                let at = self.addresses(&self.before.challenges[challenge]).challenge();
                vec![self.give(who, pda::challenge_vault(&at), amount)]
            }
            Action::Advance(_) | Action::Transfer { .. } | Action::Burn { .. } | Action::Delegate { .. } => {
                Vec::new()
            }
            Action::SubmitText { .. }
            | Action::BeginText { .. }
            | Action::AppendText { .. }
            | Action::SealText { .. }
            | Action::CancelText { .. } => vec![self.of_text(action)],
            Action::ChallengeEntry { .. }
            | Action::ChallengeBids { .. }
            | Action::ChallengeDraft { .. }
            | Action::ChallengeEnvelope { .. } => vec![self.submit_challenge(action)],
        }
    }

    fn of_text(&self, action: &Action) -> Instruction {
        let number = |bytes: usize| u32::try_from(bytes).unwrap();
        let index = |ahead: u64| self.before.log_count + ahead;
        match *action {
            Action::SubmitText { who, bytes, ahead } => {
                feedback_log::submit_feedback(self.at(who), self.at(who), index(ahead), text(bytes))
            }
            Action::BeginText { who, nonce, len, honest } => {
                let hash = if honest { wire::keccak(&[&text(len)]) } else { [1; 32] };
                feedback_log::begin_draft(self.at(who), self.at(who), nonce, number(len), hash)
            }
            Action::AppendText { who, nonce, bytes } => {
                let draft = self.before.texts.get(&(who, nonce));
                let (len, written) = draft.map_or((1, 0), |draft| (draft.len, draft.written));
                let end = written + chunk(bytes, len - written);
                let bytes = text(end)[written..].to_vec();
                feedback_log::append_draft(self.at(who), nonce, number(written), bytes)
            }
            Action::SealText { who, nonce, ahead } => {
                feedback_log::seal_draft(self.at(who), self.at(who), self.at(who), nonce, index(ahead))
            }
            Action::CancelText { who, nonce } => {
                feedback_log::cancel_draft(self.at(who), self.at(who), self.at(who), nonce)
            }
            _ => unreachable!("no action on texts: {action:?}"),
        }
    }

    fn submit_batch(&self, agent: usize, who: usize, back: i64, content: &Content) -> Vec<Instruction> {
        let id = self.before.agent_ids[agent];
        let epoch = self.before.epoch().checked_add_signed(-back).unwrap();
        let [log_merkle_root, arrays_root, batch_hash] = commitment(&id, epoch, content);
        let (log_len, arrays_len) = (content.log.count_ones(), u32::try_from(content.arrays_len()).unwrap());
        let message = wire::batch_message(
            &id,
            epoch,
            (&log_merkle_root, log_len),
            &batch_hash,
            (&arrays_root, arrays_len),
        );
        let batch = SubmitBatch {
            agent_id: id,
            epoch_number: epoch,
            log_merkle_root,
            log_len,
            batch_hash,
            arrays_root,
            arrays_len,
        };
        let submit = behavior_log::submit_batch(
            &self.agents[agent].addresses(),
            self.at(who),
            self.delegation(agent, who),
            &batch,
        );
        vec![ed25519_instruction(&self.wallets[who], &message), submit]
    }

    fn append_evidence(&self, who: usize, nonce: u64, asked: usize) -> Instruction {
        let (whole, written) = match self.before.drafts.get(&(who, nonce)) {
            Some(draft) => (self.before.log_evidence(draft.batch, draft.message, false), draft.written),
            None => (vec![1], 0),
        };
        let bytes = chunk(asked, whole.len() - written);
        // More than is missing is padded, to be refused.
        let bytes = whole[written..].iter().copied().chain(std::iter::repeat(0)).take(bytes).collect();
        challenge::append_evidence(self.at(who), nonce, u32::try_from(written).unwrap(), bytes)
    }

    /// The addresses of a challenge against a batch.
    pub(crate) fn challenge_addresses(
        &self,
        (batch, who, ground): (usize, usize, u8),
        shown: &Shown,
    ) -> ChallengeAddresses {
        let batch = &self.before.batches[batch];
        let agent = &self.before.agent_ids[batch.agent];
        let claim = match *shown {
            Shown::Entry { message, payload } => {
                let entry = Message::new(agent, batch.epoch, message).entry();
                wire::claim(1, &wire::keccak(&[&entry]), payload, ground)
            }
            Shown::Envelope { message, epoch } => {
                let signed = Message::new(agent, epoch, message).signing_bytes();
                wire::claim(3, &wire::keccak(&[&signed]), true, ground)
            }
            Shown::Bids => {
                let mut bids = self.bids(batch.agent, batch.epoch, &batch.content);
                bids.sort_unstable();
                wire::claim(2, &wire::keccak(&[&bids[0], &bids[1]]), false, ground)
            }
        };
        ChallengeAddresses {
            challenger: self.at(who),
            challenger_usdc: self.usdc(who),
            usdc_mint: self.usdc_mint,
            agent: self.agents[batch.agent].mint,
            epoch_number: batch.epoch,
            ground,
            claim,
        }
    }

    fn addresses(&self, one: &Challenge) -> ChallengeAddresses {
        self.challenge_addresses((one.batch, one.challenger, one.ground), &one.shown)
    }

    /// Both bids on the PROPOSE, the one that stands first and the other.
    fn bids(&self, agent: usize, epoch: u64, content: &Content) -> [Vec<u8>; 2] {
        let message = Message::new(&self.before.agent_ids[agent], epoch, wire::PROPOSE);
        [content.value(wire::PROPOSE), Content::doubled_value()].map(|value| message.record(1, value))
    }

    fn submit_challenge(&self, action: &Action) -> Instruction {
        let (at, source) = match *action {
            Action::ChallengeEntry { batch, who, ground, message, payload } => {
                let at = self.challenge_addresses((batch, who, ground), &Shown::Entry { message, payload });
                (at, EvidenceSource::Inline(self.before.log_evidence(batch, message, payload)))
            }
            Action::ChallengeBids { batch, who, ground } => {
                let one = &self.before.batches[batch];
                let arrays = one.content.arrays(&self.before.agent_ids[one.agent], one.epoch);
                let places = [one.content.record_place(wire::PROPOSE, 1), one.content.doubled_place()];
                let [first, second] = self.bids(one.agent, one.epoch, &one.content);
                let bids = [
                    (&first[..], wire::proof(&arrays, places[0])),
                    (&second[..], wire::proof(&arrays, places[1])),
                ];
                let at = self.challenge_addresses((batch, who, ground), &Shown::Bids);
                (at, EvidenceSource::Inline(wire::double_bid_evidence(bids)))
            }
            Action::ChallengeDraft { batch, who, ground, nonce } => {
                let message = self.before.drafts.get(&(who, nonce)).map_or(0, |draft| draft.message);
                let shown = Shown::Entry { message, payload: false };
                let at = self.challenge_addresses((batch, who, ground), &shown);
                (at, EvidenceSource::Draft(pda::evidence_draft(&self.at(who), nonce)))
            }
            Action::ChallengeEnvelope { batch, who, ground, nonce } => {
                let agent = self.before.batches[batch].agent;
                let record = self.before.records.get(&(who, nonce));
                let (message, epoch) = record.map_or((0, 0), |record| (record.message, record.epoch));
                let at = self.challenge_addresses((batch, who, ground), &Shown::Envelope { message, epoch });
                let source = EvidenceSource::Envelope {
                    record: pda::recorded_envelope(&self.at(who), nonce),
                    agent_token: Some(self.agents[agent].token_account),
                    delegation: record.and_then(|record| self.delegation(agent, record.signer)),
                };
                (at, source)
            }
            _ => unreachable!("no challenge: {action:?}"),
        };
        challenge::submit_challenge(&at, &source)
    }

    fn answer(&self, number: usize, who: usize, right: bool) -> Instruction {
        let one = &self.before.challenges[number];
        let batch = &self.before.batches[one.batch];
        let arrays = batch.content.arrays(&self.before.agent_ids[batch.agent], batch.epoch);
        let known = answer_to(&self.before, number);
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
        let at = self.addresses(one);
        challenge::answer_challenge(self.at(who), at.challenge(), at.batch(), &answer)
    }
}
