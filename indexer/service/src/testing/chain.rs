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
use zx1_interface::{Layout, events};
use zx1_protocol::batch::head_digest;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::feedback_log::entry_digest;
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

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
            let ended = matches!(event, Event::StakeClaimed(_) | Event::ChallengeClosed(_));
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

    pub fn stake(&self, agent_mint: AgentId, lamports: u64) -> [u8; 64] {
        let event = self.staked(agent_mint, lamports);
        self.send(vec![Fact::Event(event)])
    }

    pub fn staked(&self, agent_mint: AgentId, lamports: u64) -> Event {
        let slot = self.lock().confirmed + 1;
        let before = self.stakes().get(&agent_mint).map_or(0, |stake| stake.stake_usdc);
        let blank = events::StakeLocked {
            agent_mint: agent_mint.0,
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

    pub fn batch(&self, commitment: &Commitment) -> [u8; 64] {
        let slot = self.lock().confirmed + 1;
        let blank = events::BatchSubmitted {
            agent_id: commitment.agent.0,
            epoch_number: commitment.epoch.0,
            batch_hash: commitment.batch_hash,
            submitted_slot: slot,
            log_merkle_root: commitment.log_merkle_root,
            arrays_root: commitment.arrays_root,
            log_len: commitment.log_len,
            arrays_len: commitment.arrays_len,
            covers_from_epoch: commitment.epoch.0,
            payer: [1; 32],
            signer: [1; 32],
            sequence: 0,
            account_created_slot: 0,
        };
        let (sequence, account_created_slot) = self.numbered(&Event::BatchSubmitted(blank));
        let event = events::BatchSubmitted { sequence, account_created_slot, ..blank };
        self.send(vec![Fact::Event(Event::BatchSubmitted(event))])
    }

    pub fn challenge(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32]) -> [u8; 64] {
        let slot = self.lock().confirmed + 1;
        self.send(vec![Fact::Event(Event::ChallengeSubmitted(events::ChallengeSubmitted {
            agent_id: agent_id.0,
            epoch_number: epoch,
            challenger: [3; 32],
            challenge,
            evidence: [0; 32],
            entry_hash: [4; 32],
            evidence_hash: [5; 32],
            ground: 1,
            sequence: 0,
            account_created_slot: slot,
        }))])
    }

    /// Somebody shows the record.
    pub fn answer(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32]) -> [u8; 64] {
        self.settle(agent_id, epoch, challenge, false)
    }

    /// The answered challenge is resolved for the agent.
    pub fn fail(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32]) -> [u8; 64] {
        self.settle(agent_id, epoch, challenge, true)
    }

    fn settle(&self, agent_id: AgentId, epoch_number: u64, challenge: [u8; 32], end: bool) -> [u8; 64] {
        let account_created_slot = {
            let state = self.lock();
            let of = |fact: &Fact| match fact {
                Fact::Event(Event::ChallengeSubmitted(e)) if e.challenge == challenge => {
                    Some(e.account_created_slot)
                }
                _ => None,
            };
            state.txs.iter().flat_map(|tx| &tx.facts).find_map(of).unwrap()
        };
        let challenger = [3; 32];
        let event = if end {
            Event::ChallengeResolved(events::ChallengeResolved {
                agent_id: agent_id.0,
                epoch_number,
                succeeded: 0,
                challenger,
                challenge,
                slashed: 0,
                reward: 0,
                sequence: 2,
                account_created_slot,
            })
        } else {
            Event::ChallengeAnswered(events::ChallengeAnswered {
                agent_id: agent_id.0,
                challenge,
                answerer: [4; 32],
                leaf_index: 0,
                sequence: 1,
                account_created_slot,
            })
        };
        self.send(vec![Fact::Event(event)])
    }

    /// The challenge is won: both halves are slashed.
    pub fn resolve(&self, agent_id: AgentId, epoch: u64, challenge: [u8; 32]) -> [u8; 64] {
        let (mut sequence, created) = {
            let state = self.lock();
            let of = |fact: &Fact| match fact {
                Fact::Event(Event::ChallengeSubmitted(e)) if e.challenge == challenge => {
                    Some(e.account_created_slot)
                }
                _ => None,
            };
            (1, state.txs.iter().flat_map(|tx| &tx.facts).find_map(of).unwrap())
        };
        let stake = self.stakes()[&agent_id];
        let mut facts = Vec::new();
        for amount in [stake.stake_usdc / 2, stake.stake_usdc - stake.stake_usdc / 2] {
            let blank = events::StakeSlashed {
                agent_mint: agent_id.0,
                amount,
                recipient: [6; 32],
                sequence: stake.event_sequence + facts.len() as u64,
                account_created_slot: stake.created_slot,
            };
            facts.push(Fact::Event(Event::StakeSlashed(blank)));
        }
        facts.push(Fact::Event(Event::ChallengeResolved(events::ChallengeResolved {
            agent_id: agent_id.0,
            epoch_number: epoch,
            succeeded: 1,
            challenger: [3; 32],
            challenge,
            slashed: stake.stake_usdc,
            reward: stake.stake_usdc / 2,
            sequence,
            account_created_slot: created,
        })));
        self.send(facts);
        sequence += 1;
        // Closing is a transaction of its own, and its event names no agent.
        self.send(vec![Fact::Event(Event::ChallengeClosed(events::ChallengeClosed {
            challenge,
            challenger: [3; 32],
            sequence,
            account_created_slot: created,
        }))])
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

    fn stakes(&self) -> HashMap<AgentId, StakeLockAccount> {
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

fn stakes(state: &State) -> HashMap<AgentId, StakeLockAccount> {
    let mut found: HashMap<AgentId, StakeLockAccount> = HashMap::new();
    for (_, fact) in facts(state) {
        let Fact::Event(event) = fact else { continue };
        let (sequence, created) = event.sequence();
        match event {
            Event::StakeLocked(e) => {
                let stake = found.entry(e.agent_mint.into()).or_insert_with(bytemuck::Zeroable::zeroed);
                stake.stake_usdc = e.stake_usdc;
                stake.agent_mint = e.agent_mint;
                stake.owner = e.owner;
                (stake.created_slot, stake.locked_since_slot) = (created, created);
                stake.event_sequence = sequence + 1;
                stake.version = VERSION;
            }
            Event::StakeSlashed(e) => {
                let stake = found.get_mut(&e.agent_mint.into()).unwrap();
                stake.stake_usdc -= e.amount;
                stake.event_sequence = sequence + 1;
            }
            Event::ChallengeSubmitted(e) => found.get_mut(&e.agent_id.into()).unwrap().open_challenges += 1,
            Event::ChallengeResolved(e) => found.get_mut(&e.agent_id.into()).unwrap().open_challenges -= 1,
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
    for (mint, stake) in stakes(state) {
        add(layout(Touched::Stake(mint).address(), &stake, &[]));
    }
    let mut leases: HashMap<AgentId, LeaseAccount> = HashMap::new();
    let mut heads: HashMap<AgentId, HeadAccount> = HashMap::new();
    let mut challenges: HashMap<[u8; 32], ChallengeAccount> = HashMap::new();
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
                let head = heads.entry(e.agent_id.into()).or_insert_with(bytemuck::Zeroable::zeroed);
                let commitment = Commitment {
                    agent: e.agent_id.into(),
                    epoch: Epoch(e.epoch_number),
                    log_merkle_root: e.log_merkle_root,
                    log_len: e.log_len,
                    batch_hash: e.batch_hash,
                    arrays_root: e.arrays_root,
                    arrays_len: e.arrays_len,
                };
                head.digest = head_digest::<Sha3>(&head.digest, &commitment.message());
                (head.count, head.last_epoch, head.last_slot) = (head.count + 1, e.epoch_number, slot);
                (head.created_slot, head.event_sequence) = (created, sequence + 1);
                (head.agent_id, head.version) = (e.agent_id, VERSION);
                let batch = BatchAccount {
                    epoch_number: e.epoch_number,
                    covers_from_epoch: e.covers_from_epoch,
                    submitted_slot: e.submitted_slot,
                    log_len: e.log_len,
                    arrays_len: e.arrays_len,
                    agent_id: e.agent_id,
                    log_merkle_root: e.log_merkle_root,
                    batch_hash: e.batch_hash,
                    arrays_root: e.arrays_root,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                let agent = AgentId(e.agent_id);
                add(layout(zx1_chain::pda::batch(&agent, e.epoch_number), &batch, &[]));
            }
            Event::ChallengeSubmitted(e) => {
                let challenge = ChallengeAccount {
                    epoch_number: e.epoch_number,
                    submitted_slot: created,
                    event_sequence: 1,
                    agent_id: e.agent_id,
                    challenger: e.challenger,
                    expected_record: [8; 92],
                    expected_len: 73,
                    ground: e.ground,
                    version: VERSION,
                    ..bytemuck::Zeroable::zeroed()
                };
                challenges.insert(e.challenge, challenge);
            }
            Event::ChallengeAnswered(e) => {
                let challenge = challenges.get_mut(&e.challenge).unwrap();
                (challenge.answered, challenge.answered_slot, challenge.answerer) = (1, slot, e.answerer);
                challenge.event_sequence = sequence + 1;
            }
            Event::ChallengeResolved(e) => {
                let challenge = challenges.get_mut(&e.challenge).unwrap();
                (challenge.resolved, challenge.succeeded) = (1, e.succeeded);
                challenge.event_sequence = sequence + 1;
            }
            Event::ChallengeClosed(e) => {
                challenges.remove(&e.challenge);
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
    for (mint, head) in heads {
        add(layout(Touched::Head(mint).address(), &head, &[]));
    }
    for (address, challenge) in challenges {
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
        now("made up".to_owned())
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
