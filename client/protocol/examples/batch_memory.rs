//! Builds a batch from 1 000 000 log entries that come one by one, as from a file, and prints the time and
//! the process's peak memory:
//! `cargo run --release -p zx1-protocol --example batch_memory [bids|feedback|mixed]`.
//!
//! Linux only: the peak is VmHWM of /proc/self/status.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic)]

use std::time::Instant;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{Builder, Direction};
use zx1_protocol::envelope::{EnvelopeHeader, MsgType};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::{Feedback, bid_payload};
use zx1_protocol::units::{Epoch, Slot};

const ENTRIES: u64 = 1_000_000;
const AGENT: AgentId = AgentId([1; 32]);

fn main() {
    let kind = std::env::args().nth(1).unwrap_or_else(|| "mixed".to_owned());
    let covered = Covered { from: Epoch(20_500), to: Epoch(20_500) };
    let mut builder = Builder::new(AGENT, covered, Slot(0), Slot(ENTRIES)).unwrap();
    let bid = bid_payload(5, b"");
    let feedback = Feedback {
        conversation_id: ConversationId([3; 16]),
        target_agent: AGENT,
        score: 5,
        outcome: 2,
        is_dispute: false,
        role: 0,
    };
    let feedback = feedback.to_cbor().unwrap();
    let start = Instant::now();
    for number in 0..ENTRIES {
        let is_bid = match kind.as_str() {
            "bids" => true,
            "feedback" => false,
            "mixed" => number % 2 == 0,
            other => panic!("no kind {other}"),
        };
        // Every message is of another peer: the worst case for counting them.
        let mut peer = [2; 32];
        peer[..8].copy_from_slice(&(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes());
        let payload = if is_bid { &bid } else { &feedback };
        let header = EnvelopeHeader {
            version: 1,
            msg_type: if is_bid { MsgType::Propose } else { MsgType::Feedback },
            sender: if is_bid { AGENT.as_bytes() } else { &peer },
            recipient: if is_bid { &peer } else { AGENT.as_bytes() },
            timestamp: 20_500 * 86_400_000_000 + number,
            block_ref: Slot(number / 4),
            nonce: number,
            conversation_id: &[3; 16],
            payload_hash: &Sha3::hashv(&[payload]),
            payload_len: u32::try_from(payload.len()).unwrap(),
        };
        let entry = LogEntry { header, signature: &[9; 64], payload: if is_bid { &[] } else { payload } };
        let encoded = entry.to_cbor::<Sha3>().unwrap();
        let direction = if is_bid { Direction::Sent } else { Direction::Received };
        builder.push_encoded(direction, &encoded, Some(payload), None).unwrap();
    }
    let pushed = start.elapsed();
    let built = builder.finish().unwrap();
    let total = start.elapsed();
    println!(
        "{kind}: {ENTRIES} entries in {total:.2?} ({pushed:.2?} of it reading), {} records",
        built.batch.arrays_len
    );
    println!(
        "{} counterparties, batch hash {:02x?}",
        built.batch.unique_counterparties,
        &built.batch_hash[..4]
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!("{peak}");
}
