//! Every default and bound of the node's process, one line each.

use std::time::Duration;

/// Addresses to listen on: every interface, TCP and QUIC.
pub const LISTEN: [&str; 2] = ["/ip4/0.0.0.0/tcp/4001", "/ip4/0.0.0.0/udp/4001/quic-v1"];
/// How long the start waits for another program that has the agent's log.
pub const LOG_PATIENCE: Duration = Duration::from_secs(10);
/// How often the cluster is asked for slot and time.
pub const CHAIN_EVERY: Duration = Duration::from_secs(1);
/// How long the cluster may take to answer one question.
pub const CHAIN_WITHIN: Duration = Duration::from_secs(5);
/// After this time without an answer the slot is reckoned on from the last one.
pub const CHAIN_STALE: Duration = Duration::from_secs(5);
/// Length of a slot where it is reckoned, in microseconds.
pub const SLOT_MICROS: u64 = 400_000;
/// How often lookups are looked after.
pub const LOOKUPS_EVERY: Duration = Duration::from_millis(50);
/// How often this agent's own standing is read.
pub const STANDING_EVERY: Duration = Duration::from_secs(20);
/// On a local cluster, the chain's clock and the node's may differ by this much before the node's is moved, in
/// microseconds: the chain counts seconds.
pub const CLOCK_SLACK: u64 = 2_000_000;

/// BEACON, in microseconds: every ten minutes, a tenth more or less.
pub const BEACON_EVERY: u64 = 600_000_000;
/// The soonest BEACON or answer to a DISCOVER after another one, in microseconds.
pub const BEACON_SOONEST: u64 = 30_000_000;

/// How often the outbox is looked after when nothing wakes it.
pub const OUTBOX_EVERY: Duration = Duration::from_millis(500);
/// How long a recipient's keys are remembered, in microseconds.
pub const RECIPIENT_LIFE: u64 = 60_000_000;
/// Recipients whose keys are remembered.
pub const MAX_RECIPIENTS: usize = 4_096;
/// Time for finding a peer's addresses and connecting.
pub const REACH_WITHIN: Duration = Duration::from_secs(12);
/// Messages that are on their way at the same time.
pub const MAX_SENDING: usize = 64;
/// How long a signer may take.
pub const SIGN_WITHIN: Duration = Duration::from_secs(10);
/// How long a signer's question for work is held open.
pub const SIGNER_WAITS: Duration = Duration::from_secs(25);
/// A signer that asked for work this recently is there.
pub const SIGNER_SEEN: Duration = Duration::from_secs(30);
/// Questions that wait for a signer.
pub const MAX_QUESTIONS: usize = 256;

/// Messages that wait for the log.
pub const MAX_KEEPING: usize = 1_024;
/// Messages that are taken into the log with one sync.
pub const KEEP_GROUP: usize = 256;

/// Agents that are remembered as heard; the one heard least recently is forgotten first.
pub const MAX_HEARD: usize = 16_384;
/// Agents whose ratings are remembered.
pub const MAX_RATED: usize = 100_000;
/// Adverts of one agent.
pub const MAX_ADVERTS: usize = 32;
/// Peers of one agent.
pub const MAX_PEERS: usize = 8;
/// Longest time for which an advert is shown, in microseconds, whatever it says.
pub const MAX_ADVERT_LIFE: u64 = 24 * 3_600_000_000;
/// Conversations are made again from the log of the last epochs.
pub const CONVERSATION_EPOCHS: u64 = 7;

/// Messages that an observing node keeps for its readers.
pub const MAX_OBSERVED: usize = 4_096;

/// How often the notary's part looks at its deadlines when nothing wakes it.
pub const NOTARY_EVERY: Duration = Duration::from_millis(500);
/// Messages that wait for the notary's part; what has no room is read from the log later.
pub const MAX_NOTICES: usize = 1_024;
/// Of these of one task.
pub const MAX_NOTICES_OF_ONE: usize = 64;
/// At the start the notary's part reads the messages of the present epoch and of so many before. No task with a notary
/// lasts that long.
pub const REPLAY_EPOCHS: u64 = 1;
/// Messages of a deal that are shown to its notary, the latest ones; it keeps 256 of both parties.
pub const MAX_SHOWN_ENVELOPES: usize = 200;

/// News that a subscriber may be behind.
pub const NEWS: usize = 1_024;
/// Subscribers of news.
pub const MAX_SUBSCRIBERS: usize = 64;
/// Connections of the local API.
pub const CONNECTIONS: usize = 256;
/// Timeout for a request's head and body.
pub const REQUEST_WITHIN: Duration = Duration::from_secs(10);
/// How long a reader may take nothing of an answer.
pub const WRITE_WITHIN: Duration = Duration::from_secs(30);
