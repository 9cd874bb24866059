//! The programs in LiteSVM, driven by the same actions (the challenge game's are in `system_game.rs`).

use std::cell::RefCell;
use std::sync::OnceLock;

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use zx1_chain::instructions::{behavior_log, feedback_log, stake_lock};
use zx1_chain::pda;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, Failure, NETWORK, START_SLOT, START_TIME, World, ed25519_instruction, keypair};

use crate::actions::{Action, Fault};
use crate::effects::{batch_message, text};
use crate::rules::chunk;
use crate::state::{AGENTS, Content, MIN_STAKE, SIGNERS, START_USDC, State, WALLETS};
use crate::wire;

/// Lamports of every wallet in the beginning.
pub(crate) const START_LAMPORTS: u64 = 100_000_000_000;
/// All four scopes of a key.
const ALL_SCOPES: u8 = 15;

/// The chain and what the model knew before the next action.
pub(crate) struct System {
    pub(crate) world: World,
    pub(crate) agents: [Agent; AGENTS],
    pub(crate) signers: [Keypair; SIGNERS],
    /// Pays for transactions, so that a wallet's lamports are what it put into rent and deposits.
    pub(crate) relay: Keypair,
    pub(crate) usdc_mint: Address,
    pub(crate) treasury_usdc: Address,
    pub(crate) before: State,
}

struct Beginning {
    world: World,
    agents: [Agent; AGENTS],
    usdc_mint: Address,
    treasury_usdc: Address,
}

fn signer(number: usize) -> Keypair {
    keypair(&format!("model wallet {number}"))
}

fn begin() -> Beginning {
    let mut world = World::configured();
    let treasury_usdc = world.treasury_usdc();
    for number in 0..WALLETS {
        let at = signer(number).pubkey();
        world.fund_usdc(&at, START_USDC);
        world.set_lamports(&at, START_LAMPORTS);
    }
    world.set_lamports(&keypair("relay").pubkey(), START_LAMPORTS);
    let agents = std::array::from_fn(|number| world.register_agent(&signer(number)));
    let usdc_mint = world.usdc_mint();
    Beginning { world, agents, usdc_mint, treasury_usdc }
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
            network: NETWORK,
            agent_ids: beginning.agents.map(|agent| agent.mint.0),
            signer_ids: std::array::from_fn(|number| signer(number).pubkey().to_bytes()),
            start_slot: START_SLOT,
            start_time: u64::try_from(START_TIME).unwrap(),
            slot: START_SLOT,
            wallets: std::array::from_fn(|_| crate::state::Wallet { usdc: START_USDC, lamports: 0 }),
            treasury: 0,
            burnt: 0,
            vaults: Default::default(),
            agents: std::array::from_fn(|number| crate::state::Agent {
                holder: Some(number),
                ..Default::default()
            }),
            keys: Default::default(),
            batches: Vec::new(),
            challenges: Vec::new(),
            asks: Vec::new(),
            drafts: Default::default(),
            texts: Default::default(),
            log_count: 0,
            log_head: [0; 32],
            reasons: Vec::new(),
        })
    };
    STATE.get_or_init(make).clone()
}

/// What makes the agents live: most cases begin with it, so that more of them get to what is interesting.
/// Each agent's key is the wallet three numbers on.
pub(crate) fn coming_to_life() -> impl Iterator<Item = Action> {
    let of_agent = |agent: usize| {
        let (who, key) = (agent, agent + AGENTS);
        [
            Action::OpenTenure { agent, who },
            Action::AddKey { agent, who, key, scopes: ALL_SCOPES },
            Action::OpenVault { agent, who },
            Action::Lock { agent, who, ahead: 0, amount: MIN_STAKE },
            Action::Pay { agent, who, epochs: 4 },
            Action::OpenHead { agent, who },
        ]
    };
    (0..AGENTS).flat_map(of_agent).chain([Action::Advance(216_000)])
}

/// A batch of each agent that hides a bid and doubles another, for cases about challenges.
pub(crate) fn lying() -> impl Iterator<Item = Action> {
    let content = Content { log: 0b1_1111, records: 0b1_1001, altered: true, doubled: true };
    let of_agent = move |agent: usize| {
        let (signer, fault) = (agent + AGENTS, Fault::None);
        Action::SubmitBatch { agent, signer, payer: agent, back: 1, content, fault }
    };
    (0..AGENTS).map(of_agent).chain([Action::Advance(1)])
}

impl System {
    pub(crate) fn new(state: &State) -> Self {
        let mut system = with_beginning(|beginning| Self {
            world: beginning.world.clone(),
            agents: beginning.agents,
            signers: std::array::from_fn(signer),
            relay: keypair("relay"),
            usdc_mint: beginning.usdc_mint,
            treasury_usdc: beginning.treasury_usdc,
            before: initial_state(),
        });
        let living = state.agents[0].tenure.is_some().then(coming_to_life);
        let lying = (!state.batches.is_empty()).then(lying);
        for action in living.into_iter().flatten().chain(lying.into_iter().flatten()) {
            system.execute(&action).unwrap();
            crate::effects::perform(&mut system.before, &action);
        }
        system
    }

    pub(crate) fn at(&self, signer: usize) -> Address {
        self.signers[signer].pubkey()
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
                let holder = self.signers[self.before.agents[agent].holder.unwrap()].insecure_clone();
                let to = self.at(to);
                self.agents[agent] = self.world.transfer_agent(&self.agents[agent], &holder, &to);
            }
            Action::Burn { agent } => {
                let holder = self.signers[self.before.agents[agent].holder.unwrap()].insecure_clone();
                self.world.burn_agent(&self.agents[agent], &holder);
            }
            _ => {
                let instructions = self.instructions(action);
                let keys: Vec<&Keypair> = self.signers.iter().collect();
                self.world.send(&instructions, &self.relay, &keys)?;
            }
        }
        Ok(())
    }

    fn give(&self, who: usize, to: Address, amount: u64) -> Instruction {
        let (from, mint, owner) = (self.usdc(who), &self.usdc_mint, &self.at(who));
        let program = &zx1_chain::token::TOKEN_PROGRAM;
        zx1_chain::token::transfer(&from, mint, &to, owner, (amount, 6), program).unwrap()
    }

    fn instructions(&self, action: &Action) -> Vec<Instruction> {
        let addresses = |agent: usize| self.agents[agent].addresses();
        let mint = |agent: usize| self.agents[agent].mint;
        let era = |agent: usize| self.before.agents[agent].era();
        let one = match *action {
            Action::OpenTenure { agent, who } => stake_lock::open_tenure(&addresses(agent), self.at(who)),
            Action::TakeOver { agent, who, all } => {
                let live = self.before.live_keys(agent);
                let named = live.iter().skip(usize::from(!all)).map(|key| self.at(*key));
                let named: Vec<Address> = named.collect();
                stake_lock::take_over(&addresses(agent), self.at(who), era(agent), &named)
            }
            Action::AddKey { agent, who, key, scopes } => {
                let (owner, key) = (self.at(who), self.at(key));
                stake_lock::add_key(&addresses(agent), owner, key, Scopes(scopes), era(agent))
            }
            Action::EndKey { agent, who, key } => {
                stake_lock::end_key(&addresses(agent), self.at(who), self.at(key))
            }
            Action::CloseKey { agent, key } => {
                let payer = self.before.keys.get(&(agent, key)).map_or(0, |account| account.owner);
                stake_lock::close_key(mint(agent), self.at(key), self.at(payer))
            }
            Action::OpenVault { agent, who } => {
                stake_lock::open_vault(self.at(who), self.usdc_mint, self.agents[agent].shard())
            }
            Action::Lock { agent, who, ahead, amount } => {
                let present = era(agent);
                let next = present.checked_add_signed(i32::try_from(ahead).unwrap()).unwrap();
                let previous = (ahead == 1).then_some(present);
                let (owner, usdc) = (self.at(who), self.usdc(who));
                stake_lock::lock_stake(&addresses(agent), owner, usdc, next, previous, MicroUsdc(amount))
            }
            Action::Queue { agent, who, era } => {
                stake_lock::queue_unlock(&addresses(agent), self.at(who), era)
            }
            Action::Cancel { agent, who, era } => {
                stake_lock::cancel_unlock(&addresses(agent), self.at(who), era)
            }
            Action::Claim { agent, who, era } => {
                stake_lock::claim_stake(&addresses(agent), self.at(who), self.usdc(who), era)
            }
            Action::Pay { agent, who, epochs } => {
                let payment = LeasePayment {
                    authority: self.at(who),
                    key: Some(pda::key(&mint(agent), &self.at(who))),
                    authority_usdc: self.usdc(who),
                    treasury_usdc: self.treasury_usdc,
                    epochs,
                };
                pay_lease(&addresses(agent), &payment)
            }
            Action::Tick { agent } => tick_lease(mint(agent)),
            Action::OpenHead { agent, who } => behavior_log::open_head(&addresses(agent), self.at(who)),
            Action::SubmitBatch { agent, signer, payer, back, content, fault } => {
                return self.submit_batch(agent, (signer, payer), back, &content, fault);
            }
            Action::CloseBatch { batch } => {
                let batch = &self.before.batches[batch];
                behavior_log::close_batch(mint(batch.agent), batch.epoch, batch.era, self.at(batch.payer))
            }
            Action::Give { agent, who, amount } => {
                self.give(who, pda::vault(self.agents[agent].shard()), amount)
            }
            Action::SubmitText { .. }
            | Action::BeginText { .. }
            | Action::AppendText { .. }
            | Action::SealText { .. }
            | Action::CancelText { .. } => self.of_text(action),
            _ => return self.of_game(action),
        };
        vec![one]
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

    fn submit_batch(
        &self,
        agent: usize,
        (signer, payer): (usize, usize),
        back: i64,
        content: &Content,
        fault: Fault,
    ) -> Vec<Instruction> {
        let epoch = self.before.epoch().checked_add_signed(-back).unwrap();
        let message = batch_message(&self.before, agent, epoch, content, fault);
        let submit = behavior_log::submit_batch(
            &self.agents[agent].addresses(),
            self.at(payer),
            self.at(signer),
            self.before.agents[agent].era(),
            epoch,
        );
        vec![ed25519_instruction(&self.signers[signer], &message.bytes()), submit]
    }
}
