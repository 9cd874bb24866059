//! A chain of any length, made when it is asked for: one event a transaction, eight transactions a slot. Each
//! agent in its turn pays a lease, adds to its stake, submits a batch, and queues or cancels an unlock. Used by
//! the test of a million events and by the bench.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use solana_address::Address;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zx1_chain::rpc::registry::{AgentRecord, Delegate};
use zx1_chain::rpc::{ChainTime, Event, RawAccount};
use zx1_indexer::Config;
use zx1_indexer::chain::{Asked, Finality, Kind, Ledger, Listed};
use zx1_indexer::parse::{Fact, Parsed, Program};
use zx1_interface::{Event as _, events, ids};
use zx1_protocol::ids::AgentId;

pub const AGENTS: u64 = 1_000;
/// Transactions in a slot.
pub const CROWD: u64 = 8;
/// Events of an agent in a round.
pub const KINDS: u64 = 4;
/// The genesis hash.
pub const NETWORK: [u8; 32] = [5; 32];
pub const BLOCK_TIME: i64 = 1_800_000_000;

/// A chain that is made up.
pub struct Synthetic {
    pub events: AtomicU64,
    /// How long each 64th transaction takes, in milliseconds.
    pub pause_ms: u64,
}

pub fn mint(agent: u64) -> AgentId {
    let mut mint = [7; 32];
    // Spread, as keys are: what is written next lies elsewhere in every index.
    mint[..8].copy_from_slice(&agent.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    mint[8..16].copy_from_slice(&agent.to_be_bytes());
    AgentId(mint)
}

pub fn signature(number: u64) -> [u8; 64] {
    let mut signature = [9; 64];
    signature[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    signature[8..16].copy_from_slice(&number.to_be_bytes());
    signature
}

fn number_of(signature: &[u8; 64]) -> u64 {
    u64::from_be_bytes(signature[8..16].try_into().unwrap())
}

pub fn slot(number: u64) -> u64 {
    number / CROWD + 1
}

/// Whose event it is, and in which of its rounds.
pub fn place(number: u64) -> (u64, u64) {
    (number / KINDS % AGENTS, number / KINDS / AGENTS)
}

/// The slot in which the account that numbers this event was created.
pub fn created(number: u64) -> u64 {
    let kind = match number % KINDS {
        3 => 1,
        kind => kind,
    };
    slot(place(number).0 * KINDS + kind)
}

/// The bytes of an event as a program emits them, tag included.
pub fn emitted(number: u64) -> (Program, Vec<u8>) {
    let (agent, round) = place(number);
    let (agent, slot, account_created_slot) = (mint(agent), slot(number), created(number));
    match number % KINDS {
        0 => {
            let event = events::LeasePaid {
                agent_id: agent.0,
                epoch: 20_000 + round,
                amount: 1_000_000,
                payer: [1; 32],
                kind: u8::from(round > 0),
                sequence: round,
                account_created_slot,
            };
            (Program::Lease, event.to_bytes().to_vec())
        }
        1 => {
            let event = events::StakeLocked {
                agent_mint: agent.0,
                era: 0,
                owner: [1; 32],
                lamports: 1_000_000,
                slot,
                stake_usdc: 10_000_000 + round * 1_000_000,
                sequence: round * 2,
                account_created_slot,
            };
            (Program::StakeLock, event.to_bytes().to_vec())
        }
        2 => {
            let event = events::BatchSubmitted {
                agent_id: agent.0,
                epoch_number: 1 + round,
                batch_hash: [round as u8; 32],
                submitted_slot: slot,
                log_merkle_root: [2; 32],
                arrays_root: [3; 32],
                log_len: 12,
                arrays_len: 5,
                covers_from_epoch: 1 + round,
                era: 0,
                tenure: 1,
                previous_digest: [round as u8; 32],
                payer: [1; 32],
                signer: [1; 32],
                sequence: round,
                account_created_slot,
            };
            (Program::BehaviorLog, event.to_bytes().to_vec())
        }
        _ if round.is_multiple_of(2) => {
            let event = events::UnlockQueued {
                agent_mint: agent.0,
                era: 0,
                unlock_available_slot: slot + 432_000,
                sequence: round * 2 + 1,
                account_created_slot,
            };
            (Program::StakeLock, event.to_bytes().to_vec())
        }
        _ => {
            let event = events::UnlockCanceled {
                agent_mint: agent.0,
                era: 0,
                slot,
                sequence: round * 2 + 1,
                account_created_slot,
            };
            (Program::StakeLock, event.to_bytes().to_vec())
        }
    }
}

fn now<'a, T: Send + 'a>(value: T) -> Asked<'a, T> {
    Box::pin(async move { Ok(value) })
}

impl Synthetic {
    pub fn of(events: u64) -> Arc<Self> {
        Arc::new(Self { events: events.into(), pause_ms: 0 })
    }

    /// One that takes its time, as a node does.
    pub fn slow(events: u64, pause_ms: u64) -> Arc<Self> {
        Arc::new(Self { events: events.into(), pause_ms })
    }

    pub fn count(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }

    /// The slot of the last event.
    pub fn last(&self) -> u64 {
        slot(self.count().saturating_sub(1))
    }
}

impl Ledger for Synthetic {
    fn genesis(&self) -> Asked<'_, String> {
        now(bs58::encode(NETWORK).into_string())
    }
    fn slot(&self, _: Finality) -> Asked<'_, u64> {
        now(self.last())
    }
    fn time(&self) -> Asked<'_, ChainTime> {
        now(ChainTime { slot: self.last(), unix: BLOCK_TIME, epoch: 20_833 })
    }
    fn list(
        &self,
        address: Address,
        before: Option<[u8; 64]>,
        limit: usize,
        _: Finality,
        _: u64,
    ) -> Asked<'_, Vec<Listed>> {
        let kinds: &[u64] = match address.to_bytes() {
            ids::LEASE => &[0],
            ids::STAKE_LOCK => &[1, 3],
            ids::BEHAVIOR_LOG => &[2],
            _ => return now(Vec::new()),
        };
        let end = before.map_or(self.count(), |it| number_of(&it));
        let numbers = (0..end).rev().filter(|number| kinds.contains(&(number % KINDS))).take(limit);
        now(numbers.map(|it| Listed { slot: slot(it), signature: signature(it), failed: false }).collect())
    }
    fn transaction(&self, signature: [u8; 64], _: Finality) -> Asked<'_, Option<Parsed>> {
        let number = number_of(&signature);
        let (program, bytes) = emitted(number);
        let event = Event::read(program.address().as_array(), &bytes[8..]).unwrap();
        let parsed = Parsed {
            signature,
            slot: slot(number),
            block_time: Some(BLOCK_TIME),
            facts: vec![Fact::Event(event)],
        };
        let pause = std::time::Duration::from_millis(self.pause_ms);
        Box::pin(async move {
            if !pause.is_zero() && number.is_multiple_of(64) {
                tokio::time::sleep(pause).await;
            }
            Ok(Some(parsed))
        })
    }
    fn order(&self, at: u64) -> Asked<'_, Option<Vec<[u8; 64]>>> {
        let first = (at - 1) * CROWD;
        now(Some((first..first + CROWD).map(signature).collect()))
    }
    fn accounts<'a>(&'a self, addresses: &'a [Address]) -> Asked<'a, Vec<Option<RawAccount>>> {
        now(vec![None; addresses.len()])
    }
    fn scan(&self, _: Kind) -> Asked<'_, Vec<RawAccount>> {
        now(Vec::new())
    }
    fn members(&self, _: u64) -> Asked<'_, Vec<(u64, AgentId, Address)>> {
        now(Vec::new())
    }
    fn agent(&self, _: AgentId) -> Asked<'_, Option<AgentRecord>> {
        now(None)
    }
    fn delegates(&self, _: AgentId) -> Asked<'_, Vec<Delegate>> {
        now(Vec::new())
    }
}

/// A configuration for it: nobody is limited, nothing else runs.
pub fn config(folder: &std::path::Path, db: &str) -> Config {
    let mut config = Config { data: folder.to_owned(), db: db.to_owned(), ..Config::default() };
    config.bind.set_port(0);
    config.chain.poll_ms = 50;
    config.audit_secs = 0;
    config.limits.address.per_second = 0;
    config.limits.streams_per_address = 1 << 20;
    config
}
