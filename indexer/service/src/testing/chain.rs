//! The chain that is made up.

use crate::chain::{Asked, Finality, Kind, Ledger, Listed};
use crate::parse::{Addresses, Fact, Parsed, Program, Registration, Touched};
use solana_address::Address;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use zx1_chain::rpc::registry::{AgentRecord, Delegate, Metadata};
use zx1_chain::rpc::{ChainTime, Event, RawAccount};
use zx1_interface::accounts::*;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_interface::constants::LAYOUT_VERSION as VERSION;
use zx1_interface::{Layout, events};
use zx1_protocol::batch::{BatchMessage, head_digest, open_digest};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::feedback_log::entry_digest;
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::OPEN;
use zx1_protocol::units::Epoch;

/// The genesis hash.
pub const NETWORK: [u8; 32] = [9; 32];

/// The Unix time of slot 0: the beginning of epoch 20 000.
pub const GENESIS: i64 = 20_000 * EPOCH_SECONDS as i64;

#[derive(Clone)]
pub struct Tx {
    pub slot: u64,
    pub signature: [u8; 64],
    pub facts: Vec<Fact>,
    /// In no program's list; only in the lists of the accounts.
    pub unlisted: bool,
    /// Listed, but the node does not give it.
    pub withheld: bool,
}

#[derive(Default)]
pub struct State {
    pub txs: Vec<Tx>,
    pub confirmed: u64,
    pub finalized: u64,
    pub seconds_per_slot: i64,
    pub texts: BTreeMap<u64, String>,
    pub owners: HashMap<AgentId, [u8; 32]>,
    /// How often an agent was sold.
    pub sales: HashMap<AgentId, u8>,
    /// How far the node that lists transactions is behind the one that says where the chain ends.
    pub lists_behind: u64,
    /// The request for accounts that comes as this one, counted from 1, fails.
    pub accounts_fail: usize,
    /// Calls by method.
    pub calls: HashMap<&'static str, usize>,
    next: u64,
}

/// The chain. Clones share it.
#[derive(Clone, Default)]
pub struct Fake(Arc<Mutex<State>>);

fn layout<T: Layout>(address: Address, value: &T, tail: &[u8]) -> RawAccount {
    let mut data = T::DISCRIMINATOR.to_vec();
    data.extend_from_slice(bytemuck::bytes_of(value));
    data.extend_from_slice(tail);
    RawAccount { address, lamports: 1, owner: Address::new_from_array(T::PROGRAM), data, executable: false }
}

impl Fake {
    pub fn new() -> Self {
        let fake = Self::default();
        fake.lock().seconds_per_slot = 1;
        fake
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A transaction in the next slot, confirmed at once. Returns its signature.
    pub fn send(&self, facts: Vec<Fact>) -> [u8; 64] {
        let slot = self.lock().confirmed + 1;
        self.send_in(slot, facts)
    }

    /// A transaction in this slot.
    pub fn send_in(&self, slot: u64, facts: Vec<Fact>) -> [u8; 64] {
        let mut state = self.lock();
        state.next += 1;
        let mut signature = [7; 64];
        // So that the order of signatures is not that of time.
        signature[..8].copy_from_slice(&state.next.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        signature[8..16].copy_from_slice(&state.next.to_be_bytes());
        state.confirmed = state.confirmed.max(slot);
        state.txs.push(Tx { slot, signature, facts, unlisted: false, withheld: false });
        signature
    }

    pub fn pass(&self, slots: u64) {
        self.lock().confirmed += slots;
    }

    pub fn finalize(&self) {
        let mut state = self.lock();
        state.finalized = state.confirmed;
    }

    pub fn change(&self, signature: [u8; 64], change: impl FnOnce(&mut Tx)) {
        change(self.lock().txs.iter_mut().find(|tx| tx.signature == signature).unwrap());
    }

    /// The transaction's slot was on a fork that lost.
    pub fn vanish(&self, signature: [u8; 64]) {
        self.lock().txs.retain(|tx| tx.signature != signature);
    }

    /// The next sequence number of an account, and the slot of its creation.
    fn sequence(&self, of: impl Fn(&Event) -> Option<(u64, u64)>) -> (u64, u64) {
        let state = self.lock();
        let events = state.txs.iter().flat_map(|tx| &tx.facts).filter_map(|fact| match fact {
            Fact::Event(event) => of(event),
            Fact::Registered(_) | Fact::Attested(_) => None,
        });
        events.last().map_or((0, state.confirmed + 1), |(sequence, created)| (sequence + 1, created))
    }

    fn numbered(&self, like: &Event) -> (u64, u64) {
        let mut addresses = Addresses::default();
        let account = addresses.numbered_by(like);
        let addresses = Mutex::new(addresses);
        self.sequence(|event| {
            let same = addresses.lock().unwrap().numbered_by(event) == account;
            let ended = matches!(
                event,
                Event::KeyClosed(_)
                    | Event::StakeClaimed(_)
                    | Event::ChallengeClosed(_)
                    | Event::AskClosed(_)
                    | Event::EvidenceDraftCanceled(_)
            );
            // A closed account's successor begins a new life.
            if same && !ended { Some(event.sequence()) } else { None }
        })
    }

    pub fn register(&self, mint: AgentId, owner: [u8; 32]) -> [u8; 64] {
        self.lock().owners.insert(mint, owner);
        self.send(vec![Fact::Registered(Registration { mint, owner, index: [9; 32] })])
    }

    /// The NFT goes to another owner's token account. No program of ours hears of it.
    pub fn sell(&self, mint: AgentId, owner: [u8; 32]) {
        let mut state = self.lock();
        state.owners.insert(mint, owner);
        *state.sales.entry(mint).or_default() += 1;
    }

    fn event(&self, event: Event) -> [u8; 64] {
        self.send(vec![Fact::Event(event)])
    }

    /// The tenure of an agent, if it was opened.
    pub fn tenure(&self, mint: AgentId) -> Option<TenureAccount> {
        tenures(&self.lock()).remove(&mint)
    }

    pub fn open_tenure(&self, mint: AgentId, owner: [u8; 32], from_epoch: u64) -> [u8; 64] {
        let blank = events::TenureOpened {
            agent_mint: mint.0,
            owner,
            from_epoch,
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::TenureOpened(blank));
        self.event(Event::TenureOpened(events::TenureOpened { sequence, account_created_slot, ..blank }))
    }

    /// A new holder takes over: live keys and the era end with it.
    pub fn take_over(&self, mint: AgentId, owner: [u8; 32], epoch: u64) -> [u8; 64] {
        let tenure = self.tenure(mint).unwrap();
        let slot = self.lock().confirmed + 1;
        let keys = keys(&self.lock());
        let live = keys.into_values().filter(|key| key.agent == mint.0 && key.ended_slot == 0);
        let mut facts: Vec<Event> = live.map(|key| self.key_ended(&key, epoch)).collect();
        if let Some(stake) = stakes(&self.lock()).get(&(mint, tenure.era)).filter(|it| it.ended_slot == 0) {
            facts.push(Event::EraEnded(events::EraEnded {
                agent_mint: mint.0,
                era: tenure.era,
                slot,
                sequence: stake.event_sequence,
                account_created_slot: stake.created_slot,
            }));
        }
        facts.push(Event::TakenOver(events::TakenOver {
            agent_mint: mint.0,
            owner,
            former_owner: tenure.owner,
            number: tenure.number + 1,
            from_epoch: epoch + 1,
            era: tenure.era + 1,
            sequence: tenure.event_sequence,
            account_created_slot: tenure.created_slot,
        }));
        self.send(facts.into_iter().map(Fact::Event).collect())
    }

    pub fn add_key(&self, mint: AgentId, key: [u8; 32], scopes: u8, from_epoch: u64) -> [u8; 64] {
        let tenure = self.tenure(mint);
        let blank = events::KeyAdded {
            agent_mint: mint.0,
            key,
            owner: tenure.map_or([1; 32], |tenure| tenure.owner),
            scopes,
            from_epoch,
            tenure: tenure.map_or(1, |tenure| tenure.number),
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::KeyAdded(blank));
        self.event(Event::KeyAdded(events::KeyAdded { sequence, account_created_slot, ..blank }))
    }

    fn key_ended(&self, key: &KeyAccount, until_epoch: u64) -> Event {
        Event::KeyEnded(events::KeyEnded {
            agent_mint: key.agent,
            key: key.key,
            until_epoch,
            slot: self.lock().confirmed + 1,
            sequence: key.event_sequence,
            account_created_slot: key.created_slot,
        })
    }

    pub fn end_key(&self, mint: AgentId, key: [u8; 32], until_epoch: u64) -> [u8; 64] {
        let account = keys(&self.lock())[&(mint, key)];
        let event = self.key_ended(&account, until_epoch);
        self.event(event)
    }

    pub fn close_key(&self, mint: AgentId, key: [u8; 32]) -> [u8; 64] {
        let account = keys(&self.lock())[&(mint, key)];
        self.event(Event::KeyClosed(events::KeyClosed {
            agent_mint: mint.0,
            key,
            payer: account.payer,
            sequence: account.event_sequence,
            account_created_slot: account.created_slot,
        }))
    }

    /// The era in which an agent locks: the tenure's, or the one after the last that ended or was claimed.
    fn era(&self, mint: AgentId) -> u32 {
        let state = self.lock();
        let mut era = tenures(&state).get(&mint).map_or(0, |tenure| tenure.era);
        for (_, fact) in facts(&state) {
            match fact {
                Fact::Event(Event::StakeClaimed(e)) if e.agent_mint == mint.0 => era = era.max(e.era + 1),
                Fact::Event(Event::StakeLocked(e)) if e.agent_mint == mint.0 => era = era.max(e.era),
                _ => {}
            }
        }
        let ended = stakes(&state).get(&(mint, era)).is_some_and(|stake| stake.ended_slot != 0);
        if ended { era + 1 } else { era }
    }

    pub fn stake(&self, agent_mint: AgentId, lamports: u64) -> [u8; 64] {
        let event = self.staked(agent_mint, lamports);
        self.send(vec![Fact::Event(event)])
    }

    pub fn staked(&self, agent_mint: AgentId, lamports: u64) -> Event {
        let slot = self.lock().confirmed + 1;
        let era = self.era(agent_mint);
        let before = self.stakes().get(&(agent_mint, era)).map_or(0, |stake| stake.stake_usdc);
        let blank = events::StakeLocked {
            agent_mint: agent_mint.0,
            era,
            owner: [1; 32],
            lamports,
            slot,
            stake_usdc: before + lamports,
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::StakeLocked(blank));
        Event::StakeLocked(events::StakeLocked { sequence, account_created_slot, ..blank })
    }

    pub fn queue_unlock(&self, mint: AgentId, era: u32, unlock_available_slot: u64) -> [u8; 64] {
        let stake = self.stakes()[&(mint, era)];
        self.event(Event::UnlockQueued(events::UnlockQueued {
            agent_mint: mint.0,
            era,
            unlock_available_slot,
            sequence: stake.event_sequence,
            account_created_slot: stake.created_slot,
        }))
    }

    pub fn claim_stake(&self, mint: AgentId, era: u32) -> [u8; 64] {
        let stake = self.stakes()[&(mint, era)];
        self.event(Event::StakeClaimed(events::StakeClaimed {
            agent_mint: mint.0,
            era,
            owner: stake.owner,
            lamports: stake.stake_usdc,
            sequence: stake.event_sequence,
            account_created_slot: stake.created_slot,
        }))
    }

    pub fn lease(&self, agent_id: AgentId, epoch: u64, kind: u8) -> [u8; 64] {
        let event = self.leased(agent_id, epoch, kind);
        self.send(vec![Fact::Event(event)])
    }

    pub fn leased(&self, agent_id: AgentId, epoch: u64, kind: u8) -> Event {
        let blank = events::LeasePaid {
            agent_id: agent_id.0,
            epoch,
            amount: 1_000_000,
            payer: [1; 32],
            kind,
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::LeasePaid(blank));
        Event::LeasePaid(events::LeasePaid { sequence, account_created_slot, ..blank })
    }

    pub fn open_head(&self, mint: AgentId, last_epoch: u64) -> [u8; 64] {
        let blank = events::HeadOpened {
            agent_id: mint.0,
            last_epoch,
            digest: open_digest::<Sha3>(&NETWORK, &mint.0),
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::HeadOpened(blank));
        self.event(Event::HeadOpened(events::HeadOpened { sequence, account_created_slot, ..blank }))
    }

    /// What the next batch of this agent signs.
    pub fn message(&self, commitment: &Commitment, covers_from: u64) -> BatchMessage {
        let mint = commitment.agent;
        let digest = heads(&self.lock())
            .get(&mint)
            .map_or_else(|| open_digest::<Sha3>(&NETWORK, &mint.0), |head| head.digest);
        commitment.message(&NETWORK, Epoch(covers_from), &digest)
    }

    pub fn batch(&self, commitment: &Commitment) -> [u8; 64] {
        self.batch_by(commitment, commitment.epoch.0, [1; 32])
    }

    /// A batch that covers the epochs from this one on, signed by this key.
    pub fn batch_by(&self, commitment: &Commitment, covers_from: u64, signer: [u8; 32]) -> [u8; 64] {
        let slot = self.lock().confirmed + 1;
        let message = self.message(commitment, covers_from);
        let blank = events::BatchSubmitted {
            agent_id: commitment.agent.0,
            epoch_number: commitment.epoch.0,
            batch_hash: commitment.batch_hash,
            submitted_slot: slot,
            log_merkle_root: commitment.log_merkle_root,
            arrays_root: commitment.arrays_root,
            log_len: commitment.log_len,
            arrays_len: commitment.arrays_len,
            covers_from_epoch: covers_from,
            era: self.era(commitment.agent),
            tenure: self.tenure(commitment.agent).map_or(1, |tenure| tenure.number),
            previous_digest: message.previous_digest,
            payer: [1; 32],
            signer,
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::BatchSubmitted(blank));
        let event = events::BatchSubmitted { sequence, account_created_slot, ..blank };
        self.send(vec![Fact::Event(Event::BatchSubmitted(event))])
    }

    /// The era of a batch, as it was submitted.
    fn era_of_batch(&self, agent: AgentId, epoch: u64) -> u32 {
        let state = self.lock();
        let of = |(_, fact): (u64, &Fact)| match fact {
            Fact::Event(Event::BatchSubmitted(e)) if e.agent_id == agent.0 && e.epoch_number == epoch => {
                Some(e.era)
            }
            _ => None,
        };
        facts(&state).find_map(of).unwrap_or(0)
    }

    pub fn challenge(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32]) -> [u8; 64] {
        self.challenge_on(agent_id, epoch, challenge, 1)
    }

    /// A challenge on this ground.
    pub fn challenge_on(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32], ground: u8) -> [u8; 64] {
        let slot = self.lock().confirmed + 1;
        let event = events::ChallengeSubmitted {
            agent_id: agent_id.0,
            epoch_number: epoch,
            era: self.era_of_batch(agent_id, epoch),
            rank: 3,
            challenger: [3; 32],
            challenge,
            draft: [12; 32],
            claim: [5; 32],
            entry_hash: [4; 32],
            ground,
            value_known: 1,
            replaced: [0; 32],
            sequence: 0,
            account_created_slot: slot,
        };
        self.event(Event::ChallengeSubmitted(event))
    }

    /// A lower rank takes the claim over.
    pub fn replace(&self, challenge: [u8; 32], challenger: [u8; 32]) -> [u8; 64] {
        let (account, first) = self.challenged(challenge);
        let replaced = account.challenger;
        self.event(Event::ChallengeSubmitted(events::ChallengeSubmitted {
            rank: account.rank - 1,
            challenger,
            replaced,
            sequence: account.event_sequence,
            ..first
        }))
    }

    /// A challenge's account, and how it was submitted first.
    fn challenged(&self, challenge: [u8; 32]) -> (ChallengeAccount, events::ChallengeSubmitted) {
        let state = self.lock();
        let of = |(_, fact): (u64, &Fact)| match fact {
            Fact::Event(Event::ChallengeSubmitted(e)) if e.challenge == challenge => Some(*e),
            _ => None,
        };
        (challenges(&state)[&challenge], facts(&state).find_map(of).unwrap())
    }

    /// Somebody shows the record, which settles the challenge: 1.5 of its stake go into the era's.
    pub fn answer(&self, challenge: [u8; 32]) -> [u8; 64] {
        let (account, _) = self.challenged(challenge);
        let mint = AgentId(account.agent_id);
        let stake = self.stakes().get(&(mint, account.era)).copied();
        let mut facts = Vec::new();
        if let Some(stake) = stake {
            facts.push(Fact::Event(Event::StakeMoved(events::StakeMoved {
                agent_mint: mint.0,
                era: account.era,
                from_stake: 0,
                to_stake: 1_500_000,
                stake_usdc: stake.stake_usdc + 1_500_000,
                pot_usdc: 0,
                slashed: 0,
                sequence: stake.event_sequence,
                account_created_slot: stake.created_slot,
            })));
        }
        facts.push(Fact::Event(Event::ChallengeAnswered(events::ChallengeAnswered {
            agent_id: account.agent_id,
            challenge,
            answerer: [4; 32],
            leaf_index: 0,
            to_stake: 1_500_000,
            to_answerer: 500_000,
            sequence: account.event_sequence,
            account_created_slot: account.submitted_slot,
        })));
        self.send(facts)
    }

    /// The challenge is won: the whole stake is slashed. Then it is closed.
    pub fn resolve(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32]) -> [u8; 64] {
        let (account, _) = self.challenged(challenge);
        let stake = self.stakes()[&(agent_id, account.era)];
        let moved = events::StakeMoved {
            agent_mint: agent_id.0,
            era: account.era,
            from_stake: stake.stake_usdc,
            to_stake: 0,
            stake_usdc: 0,
            pot_usdc: 0,
            slashed: 1,
            sequence: stake.event_sequence,
            account_created_slot: stake.created_slot,
        };
        let resolved = events::ChallengeResolved {
            agent_id: agent_id.0,
            epoch_number: epoch,
            outcome: 2,
            challenger: account.challenger,
            challenge,
            slashed: stake.stake_usdc,
            reward: stake.stake_usdc / 5,
            sequence: account.event_sequence,
            account_created_slot: account.submitted_slot,
        };
        let facts = [Event::StakeMoved(moved), Event::ChallengeResolved(resolved)];
        self.send(facts.map(Fact::Event).to_vec());
        // Closing is a transaction of its own, and its event names no agent.
        self.close(challenge)
    }

    pub fn close(&self, challenge: [u8; 32]) -> [u8; 64] {
        let (account, _) = self.challenged(challenge);
        self.event(Event::ChallengeClosed(events::ChallengeClosed {
            challenge,
            payer: [3; 32],
            sequence: account.event_sequence,
            account_created_slot: account.submitted_slot,
        }))
    }

    pub fn ask(&self, agent_id: AgentId, epoch: u64, ask: [u8; 32]) -> [u8; 64] {
        let slot = self.lock().confirmed + 1;
        let era = self.era_of_batch(agent_id, epoch);
        self.event(Event::LeafAsked(events::LeafAsked {
            agent_id: agent_id.0,
            epoch_number: epoch,
            era,
            rank: 0,
            ask,
            asker: [5; 32],
            tree: 1,
            index: 2,
            sequence: 0,
            account_created_slot: slot,
        }))
    }

    pub fn show(&self, ask: [u8; 32]) -> [u8; 64] {
        let account = asks(&self.lock())[&ask];
        self.event(Event::LeafShown(events::LeafShown {
            ask,
            shower: [6; 32],
            leaf_hash: [7; 32],
            sequence: account.event_sequence,
            account_created_slot: account.created_slot,
        }))
    }

    /// Nobody has shown the leaf in time: the batch is marked, and the money waits.
    pub fn withhold(&self, ask: [u8; 32]) -> [u8; 64] {
        let account = asks(&self.lock())[&ask];
        let head = heads(&self.lock())[&AgentId(account.agent_id)];
        let marked = events::BatchWithheld {
            agent_id: account.agent_id,
            epoch_number: account.epoch_number,
            sequence: head.event_sequence,
            account_created_slot: head.created_slot,
        };
        let facts = [Event::BatchWithheld(marked), self.ask_settled(&account, ask, 2, 0)];
        self.send(facts.map(Fact::Event).to_vec())
    }

    /// The fine is paid.
    pub fn fine(&self, ask: [u8; 32], fine: u64) -> [u8; 64] {
        let account = asks(&self.lock())[&ask];
        let stake = self.stakes()[&(AgentId(account.agent_id), account.era)];
        let moved = events::StakeMoved {
            agent_mint: account.agent_id,
            era: account.era,
            from_stake: fine,
            to_stake: 0,
            stake_usdc: stake.stake_usdc - fine,
            pot_usdc: 0,
            slashed: 0,
            sequence: stake.event_sequence,
            account_created_slot: stake.created_slot,
        };
        let facts = [Event::StakeMoved(moved), self.ask_settled(&account, ask, 3, fine)];
        self.send(facts.map(Fact::Event).to_vec())
    }

    fn ask_settled(&self, account: &AskAccount, ask: [u8; 32], state: u8, fine: u64) -> Event {
        Event::AskSettled(events::AskSettled {
            agent_id: account.agent_id,
            ask,
            state,
            fine,
            to_asker: fine / 4,
            sequence: account.event_sequence,
            account_created_slot: account.created_slot,
        })
    }

    pub fn close_ask(&self, ask: [u8; 32]) -> [u8; 64] {
        let account = asks(&self.lock())[&ask];
        self.event(Event::AskClosed(events::AskClosed {
            ask,
            asker: [5; 32],
            sequence: account.event_sequence,
            account_created_slot: account.created_slot,
        }))
    }

    pub fn feedback(&self, text: &str) -> [u8; 64] {
        let (index, previous, slot) = {
            let mut state = self.lock();
            let index = state.texts.len() as u64;
            state.texts.insert(index, text.to_owned());
            (index, log_head(&state).1, state.confirmed + 1)
        };
        let timestamp = GENESIS + slot as i64;
        let head =
            entry_digest::<Sha3>(&previous, index, timestamp, slot, &[1; 32], &[2; 32], text.as_bytes());
        let blank = events::FeedbackSubmitted {
            index,
            sender: [1; 32],
            payer: [2; 32],
            draft: [0; 32],
            timestamp,
            head,
            text_len: text.len() as u32,
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::FeedbackSubmitted(blank));
        let event = events::FeedbackSubmitted { sequence, account_created_slot, ..blank };
        self.send(vec![Fact::Event(Event::FeedbackSubmitted(event))])
    }

    fn stakes(&self) -> HashMap<(AgentId, u32), StakeLockAccount> {
        stakes(&self.lock())
    }

    fn listed_under(tx: &Tx, address: &Address) -> bool {
        let mut addresses = Addresses::default();
        tx.facts.iter().any(|fact| match fact {
            Fact::Event(event) => {
                let program = Program::ALL
                    .into_iter()
                    .any(|it| it.address() == *address && it.address().to_bytes() == event.program());
                (program && !tx.unlisted) || addresses.numbered_by(event) == address.to_bytes()
            }
            Fact::Registered(_) | Fact::Attested(_) => *address == Program::Sati.address() && !tx.unlisted,
        })
    }
}

fn facts(state: &State) -> impl Iterator<Item = (u64, &Fact)> {
    let mut txs: Vec<&Tx> = state.txs.iter().collect();
    txs.sort_by_key(|tx| tx.slot);
    txs.into_iter().flat_map(|tx| tx.facts.iter().map(move |fact| (tx.slot, fact)))
}

fn tenures(state: &State) -> HashMap<AgentId, TenureAccount> {
    let mut found: HashMap<AgentId, TenureAccount> = HashMap::new();
    for (_, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        match event {
            Event::TenureOpened(e) => {
                let tenure = TenureAccount {
                    created_slot: created,
                    event_sequence: sequence + 1,
                    from_epoch: e.from_epoch,
                    number: 1,
                    agent: e.agent_mint,
                    owner: e.owner,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                found.insert(e.agent_mint.into(), tenure);
            }
            Event::TakenOver(e) => {
                let tenure = found.get_mut(&e.agent_mint.into()).unwrap();
                (tenure.number, tenure.era, tenure.owner) = (e.number, e.era, e.owner);
                (tenure.from_epoch, tenure.event_sequence) = (e.from_epoch, sequence + 1);
            }
            // Eras begin without an event of the tenure.
            Event::StakeLocked(e) => {
                if let Some(tenure) = found.get_mut(&e.agent_mint.into()) {
                    tenure.era = tenure.era.max(e.era);
                }
            }
            Event::StakeClaimed(e) => {
                if let Some(tenure) = found.get_mut(&e.agent_mint.into()) {
                    tenure.era = tenure.era.max(e.era + 1);
                }
            }
            _ => {}
        }
    }
    found
}

fn keys(state: &State) -> BTreeMap<(AgentId, [u8; 32]), KeyAccount> {
    let mut found = BTreeMap::new();
    for (_, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        match event {
            Event::KeyAdded(e) => {
                let key = KeyAccount {
                    created_slot: created,
                    event_sequence: sequence + 1,
                    from_epoch: e.from_epoch,
                    until_epoch: OPEN,
                    tenure: e.tenure,
                    scopes: e.scopes,
                    agent: e.agent_mint,
                    key: e.key,
                    owner: e.owner,
                    payer: e.owner,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                found.insert((AgentId(e.agent_mint), e.key), key);
            }
            Event::KeyEnded(e) => {
                let key = found.get_mut(&(AgentId(e.agent_mint), e.key)).unwrap();
                (key.until_epoch, key.ended_slot, key.event_sequence) = (e.until_epoch, e.slot, sequence + 1);
            }
            Event::KeyClosed(e) => {
                found.remove(&(AgentId(e.agent_mint), e.key));
            }
            _ => {}
        }
    }
    found
}

fn heads(state: &State) -> HashMap<AgentId, HeadAccount> {
    let mut found: HashMap<AgentId, HeadAccount> = HashMap::new();
    for (slot, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        let agent = match event {
            Event::HeadOpened(e) => e.agent_id,
            Event::BatchSubmitted(e) => e.agent_id,
            Event::BatchWithheld(e) => e.agent_id,
            _ => continue,
        };
        let head = found.entry(AgentId(agent)).or_insert_with(bytemuck::Zeroable::zeroed);
        (head.created_slot, head.event_sequence) = (created, sequence + 1);
        (head.agent_id, head.version) = (agent, VERSION);
        match event {
            Event::HeadOpened(e) => (head.last_epoch, head.digest) = (e.last_epoch, e.digest),
            Event::BatchSubmitted(e) => {
                let commitment = Commitment {
                    agent: e.agent_id.into(),
                    epoch: Epoch(e.epoch_number),
                    log_merkle_root: e.log_merkle_root,
                    log_len: e.log_len,
                    batch_hash: e.batch_hash,
                    arrays_root: e.arrays_root,
                    arrays_len: e.arrays_len,
                };
                let message = commitment.message(&NETWORK, Epoch(e.covers_from_epoch), &e.previous_digest);
                head.digest = head_digest::<Sha3>(&e.previous_digest, &message.to_bytes());
                (head.count, head.last_epoch, head.last_slot) = (head.count + 1, e.epoch_number, slot);
            }
            _ => {}
        }
    }
    found
}

fn challenges(state: &State) -> HashMap<[u8; 32], ChallengeAccount> {
    let mut found: HashMap<[u8; 32], ChallengeAccount> = HashMap::new();
    for (slot, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        match event {
            Event::ChallengeSubmitted(e) if e.replaced == [0; 32] => {
                let challenge = ChallengeAccount {
                    epoch_number: e.epoch_number,
                    submitted_slot: created,
                    event_sequence: 1,
                    rank: e.rank,
                    era: e.era,
                    agent_id: e.agent_id,
                    challenger: e.challenger,
                    claim: e.claim,
                    expected_record: [8; MAX_RECORD_BYTES],
                    expected_len: 105,
                    value_known: e.value_known,
                    ground: e.ground,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                found.insert(e.challenge, challenge);
            }
            Event::ChallengeSubmitted(e) => {
                let challenge = found.get_mut(&e.challenge).unwrap();
                (challenge.challenger, challenge.rank) = (e.challenger, e.rank);
                challenge.event_sequence = sequence + 1;
            }
            Event::ChallengeAnswered(e) => {
                let challenge = found.get_mut(&e.challenge).unwrap();
                (challenge.outcome, challenge.settled_slot, challenge.answerer) = (1, slot, e.answerer);
                challenge.event_sequence = sequence + 1;
            }
            Event::ChallengeResolved(e) => {
                let challenge = found.get_mut(&e.challenge).unwrap();
                (challenge.outcome, challenge.settled_slot) = (e.outcome, slot);
                challenge.event_sequence = sequence + 1;
            }
            Event::ChallengeClosed(e) => {
                found.remove(&e.challenge);
            }
            _ => {}
        }
    }
    found
}

fn asks(state: &State) -> HashMap<[u8; 32], AskAccount> {
    let mut found: HashMap<[u8; 32], AskAccount> = HashMap::new();
    for (_, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        let (ask, now) = match event {
            Event::LeafAsked(e) => {
                let account = AskAccount {
                    created_slot: created,
                    epoch_number: e.epoch_number,
                    rank: e.rank,
                    era: e.era,
                    index: e.index,
                    tree: e.tree,
                    agent_id: e.agent_id,
                    asker: e.asker,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                found.insert(e.ask, account);
                (e.ask, 0)
            }
            Event::LeafShown(e) => (e.ask, 1),
            Event::AskSettled(e) => (e.ask, e.state),
            Event::AskClosed(e) => {
                found.remove(&e.ask);
                continue;
            }
            _ => continue,
        };
        let account = found.get_mut(&ask).unwrap();
        (account.state, account.event_sequence) = (now, sequence + 1);
    }
    found
}

fn stakes(state: &State) -> HashMap<(AgentId, u32), StakeLockAccount> {
    let mut found: HashMap<(AgentId, u32), StakeLockAccount> = HashMap::new();
    // Each open challenge's era.
    let mut open: HashMap<[u8; 32], (AgentId, u32)> = HashMap::new();
    for (slot, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        match event {
            Event::StakeLocked(e) => {
                let at = (AgentId(e.agent_mint), e.era);
                let stake = found.entry(at).or_insert_with(bytemuck::Zeroable::zeroed);
                stake.stake_usdc = e.stake_usdc;
                (stake.agent_mint, stake.era, stake.owner) = (e.agent_mint, e.era, e.owner);
                (stake.created_slot, stake.locked_since_slot) = (created, created);
                stake.event_sequence = sequence + 1;
                stake.version = VERSION;
            }
            Event::EraEnded(e) => {
                let stake = found.get_mut(&(e.agent_mint.into(), e.era)).unwrap();
                (stake.ended_slot, stake.event_sequence) = (e.slot, sequence + 1);
            }
            Event::UnlockQueued(e) => {
                let stake = found.get_mut(&(e.agent_mint.into(), e.era)).unwrap();
                (stake.in_unlock_queue, stake.unlock_available_slot) = (1, e.unlock_available_slot);
                stake.event_sequence = sequence + 1;
            }
            Event::StakeClaimed(e) => {
                found.remove(&(e.agent_mint.into(), e.era));
            }
            Event::StakeMoved(e) => {
                let stake = found.get_mut(&(e.agent_mint.into(), e.era)).unwrap();
                (stake.stake_usdc, stake.pot_usdc) = (e.stake_usdc, e.pot_usdc);
                if e.slashed == 1 {
                    (stake.slashed_slot, stake.ended_slot) = (slot, slot);
                }
                stake.event_sequence = sequence + 1;
            }
            Event::ChallengeSubmitted(e) if e.replaced == [0; 32] => {
                let at = (AgentId(e.agent_id), e.era);
                open.insert(e.challenge, at);
                found.get_mut(&at).unwrap().open_challenges += 1;
            }
            Event::ChallengeAnswered(e) => found.get_mut(&open[&e.challenge]).unwrap().open_challenges -= 1,
            Event::ChallengeResolved(e) => found.get_mut(&open[&e.challenge]).unwrap().open_challenges -= 1,
            _ => {}
        }
    }
    found
}

/// Entries, head, events and creation slot of the log.
fn log_head(state: &State) -> (u64, [u8; 32], u64, u64) {
    let mut log = (0, [0; 32], 0, 0);
    for (_, fact) in facts(state) {
        if let Fact::Event(Event::FeedbackSubmitted(e)) = fact {
            log = (e.index + 1, e.head, e.sequence + 1, e.account_created_slot);
        }
    }
    log
}

/// The token account in which an agent lies after so many sales.
fn token_of(mint: AgentId, sales: u8) -> Address {
    let mut address = mint.0;
    (address[30], address[31]) = (0xaa, sales);
    Address::new_from_array(address)
}

fn accounts(state: &State) -> HashMap<Address, RawAccount> {
    let mut found = HashMap::new();
    let mut add = |account: RawAccount| {
        found.insert(account.address, account);
    };
    for (mint, owner) in &state.owners {
        let sales = state.sales.get(mint).copied().unwrap_or(0);
        for number in 0..=sales {
            let mut data = [mint.as_ref(), owner, &u64::from(number == sales).to_le_bytes()].concat();
            data.resize(165, 0);
            data[108] = 1;
            let address = token_of(*mint, number);
            let owner = zx1_chain::token::TOKEN_2022_PROGRAM;
            add(RawAccount { address, lamports: 1, owner, data, executable: false });
        }
    }
    for ((mint, era), stake) in stakes(state) {
        add(layout(Touched::Stake(mint, era).address(), &stake, &[]));
    }
    for (mint, tenure) in tenures(state) {
        add(layout(Touched::Tenure(mint).address(), &tenure, &[]));
    }
    for ((mint, key), account) in keys(state) {
        add(layout(Touched::Key(mint, key).address(), &account, &[]));
    }
    for (address, ask) in asks(state) {
        add(layout(Address::new_from_array(address), &ask, &[]));
    }
    let mut leases: HashMap<AgentId, LeaseAccount> = HashMap::new();
    let mut batches: HashMap<(AgentId, u64), BatchAccount> = HashMap::new();
    let mut previous = [0; 32];
    for (slot, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        match event {
            Event::LeasePaid(e) => {
                let lease = leases.entry(e.agent_id.into()).or_insert_with(bytemuck::Zeroable::zeroed);
                (lease.paid_through_epoch, lease.last_paid_slot) = (e.epoch, slot);
                (lease.created_slot, lease.event_sequence) = (created, sequence + 1);
                (lease.agent_id, lease.version) = (e.agent_id, VERSION);
            }
            Event::BatchSubmitted(e) => {
                let batch = BatchAccount {
                    epoch_number: e.epoch_number,
                    covers_from_epoch: e.covers_from_epoch,
                    submitted_slot: e.submitted_slot,
                    log_len: e.log_len,
                    arrays_len: e.arrays_len,
                    era: e.era,
                    tenure: e.tenure,
                    agent_id: e.agent_id,
                    log_merkle_root: e.log_merkle_root,
                    batch_hash: e.batch_hash,
                    arrays_root: e.arrays_root,
                    signer: e.signer,
                    payer: e.payer,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                batches.insert((e.agent_id.into(), e.epoch_number), batch);
            }
            Event::BatchWithheld(e) => {
                batches.get_mut(&(e.agent_id.into(), e.epoch_number)).unwrap().withheld = 1;
            }
            Event::FeedbackSubmitted(e) => {
                let text = &state.texts[&e.index];
                let entry = FeedbackEntry {
                    index: e.index,
                    timestamp: e.timestamp,
                    slot,
                    sender: e.sender,
                    payer: e.payer,
                    previous_head: previous,
                    text_len: e.text_len,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                previous = e.head;
                add(layout(Touched::Entry(e.index).address(), &entry, text.as_bytes()));
            }
            _ => {}
        }
    }
    for (mint, lease) in leases {
        add(layout(Touched::Lease(mint).address(), &lease, &[]));
    }
    for ((mint, epoch), batch) in batches {
        add(layout(Touched::Batch(mint, epoch).address(), &batch, &[]));
    }
    for (mint, head) in heads(state) {
        add(layout(Touched::Head(mint).address(), &head, &[]));
    }
    for (address, challenge) in challenges(state) {
        add(layout(Address::new_from_array(address), &challenge, &[]));
    }
    let (count, head, event_sequence, created_slot) = log_head(state);
    if count > 0 {
        let log = FeedbackLogAccount {
            count,
            created_slot,
            event_sequence,
            head,
            version: VERSION,
            ..bytemuck::Zeroable::zeroed()
        };
        add(layout(Touched::Log.address(), &log, &[]));
    }
    found
}

fn now<'a, T: Send + 'a>(value: T) -> Asked<'a, T> {
    Box::pin(async move { Ok(value) })
}

impl Ledger for Fake {
    fn genesis(&self) -> Asked<'_, String> {
        now(bs58::encode(NETWORK).into_string())
    }

    fn slot(&self, finality: Finality) -> Asked<'_, u64> {
        let state = self.lock();
        now(if finality == Finality::Confirmed { state.confirmed } else { state.finalized })
    }

    fn time(&self) -> Asked<'_, ChainTime> {
        let state = self.lock();
        let unix = GENESIS + state.confirmed as i64 * state.seconds_per_slot;
        now(ChainTime { slot: state.confirmed, unix, epoch: unix as u64 / EPOCH_SECONDS })
    }

    fn list(
        &self,
        address: Address,
        before: Option<[u8; 64]>,
        limit: usize,
        finality: Finality,
        reached: u64,
    ) -> Asked<'_, Vec<Listed>> {
        let mut state = self.lock();
        *state.calls.entry("list").or_default() += 1;
        let end = match finality {
            Finality::Confirmed => state.confirmed,
            Finality::Finalized => state.finalized,
        };
        if end.saturating_sub(state.lists_behind) < reached {
            return Box::pin(async move { Err(crate::error::Error::Behind(reached)) });
        }
        let mut txs: Vec<&Tx> = state.txs.iter().filter(|tx| Self::listed_under(tx, &address)).collect();
        // Newest first, and within a slot the last first.
        txs.sort_by_key(|tx| tx.slot);
        txs.reverse();
        let from = before.map_or(0, |before| txs.iter().position(|tx| tx.signature == before).unwrap() + 1);
        let page = txs.iter().skip(from).take(limit);
        now(page.map(|tx| Listed { slot: tx.slot, signature: tx.signature, failed: false }).collect())
    }

    fn transaction(&self, signature: [u8; 64], _: Finality) -> Asked<'_, Option<Parsed>> {
        let mut state = self.lock();
        *state.calls.entry("transaction").or_default() += 1;
        let seconds = state.seconds_per_slot;
        let found = state.txs.iter().find(|tx| tx.signature == signature && !tx.withheld);
        now(found.map(|tx| Parsed {
            signature,
            slot: tx.slot,
            block_time: Some(GENESIS + tx.slot as i64 * seconds),
            facts: tx.facts.clone(),
        }))
    }

    fn order(&self, slot: u64) -> Asked<'_, Option<Vec<[u8; 64]>>> {
        let state = self.lock();
        now(Some(state.txs.iter().filter(|tx| tx.slot == slot).map(|tx| tx.signature).collect()))
    }

    fn accounts<'a>(&'a self, addresses: &'a [Address]) -> Asked<'a, Vec<Option<RawAccount>>> {
        let mut state = self.lock();
        *state.calls.entry("accounts").or_default() += 1;
        let is_last = state.accounts_fail == 1;
        state.accounts_fail = state.accounts_fail.saturating_sub(1);
        if is_last {
            return Box::pin(async { Err(crate::error::Error::Behind(0)) });
        }
        let all = accounts(&state);
        now(addresses.iter().map(|address| all.get(address).cloned()).collect())
    }

    fn scan(&self, kind: Kind) -> Asked<'_, Vec<RawAccount>> {
        let discriminator = match kind {
            Kind::Tenure => TenureAccount::DISCRIMINATOR,
            Kind::Key => KeyAccount::DISCRIMINATOR,
            Kind::Ask => AskAccount::DISCRIMINATOR,
            Kind::Stake => StakeLockAccount::DISCRIMINATOR,
            Kind::Lease => LeaseAccount::DISCRIMINATOR,
            Kind::Head => HeadAccount::DISCRIMINATOR,
            Kind::Batch => BatchAccount::DISCRIMINATOR,
            Kind::Challenge => ChallengeAccount::DISCRIMINATOR,
        };
        let all = accounts(&self.lock());
        now(all.into_values().filter(|account| account.data.starts_with(&discriminator)).collect())
    }

    fn members(&self, _: u64) -> Asked<'_, Vec<(u64, AgentId, Address)>> {
        now(Vec::new())
    }

    fn agent(&self, mint: AgentId) -> Asked<'_, Option<AgentRecord>> {
        let mut state = self.lock();
        *state.calls.entry("agent").or_default() += 1;
        let owner = state.owners.get(&mint).copied();
        now(owner.map(|owner| AgentRecord {
            mint,
            member_number: u64::from(mint.0[0]),
            index: Address::new_from_array([9; 32]),
            owner: Some(Address::new_from_array(owner)),
            token: Some(token_of(mint, state.sales.get(&mint).copied().unwrap_or(0))),
            metadata: Metadata { name: format!("Agent {}", mint.0[0]), ..Metadata::default() },
            soulbound: false,
        }))
    }

    fn delegates(&self, _: AgentId) -> Asked<'_, Vec<Delegate>> {
        now(Vec::new())
    }
}
