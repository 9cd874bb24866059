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
pub const STANDING_EVERY: Duration = Duration::from_secs(10);
/// The same while others do not take its messages, so that it is back at once when they do.
pub const STANDING_AWAY_EVERY: Duration = Duration::from_secs(2);
/// How often the minimum stake of the configuration account is read.
pub const MIN_STAKE_EVERY: Duration = Duration::from_secs(60);
/// The same on a local cluster.
pub const MIN_STAKE_EVERY_LOCAL: Duration = Duration::from_secs(2);
/// On a local cluster, the chain's clock and the node's may differ by this much before the node's is moved, in
/// microseconds: the chain counts seconds.
pub const CLOCK_SLACK: u64 = 2_000_000;

/// How often it is looked whether keys, stakes or leases have changed.
pub const CHANGES_EVERY: Duration = Duration::from_secs(5);
/// The same on a local cluster.
pub const CHANGES_EVERY_LOCAL: Duration = Duration::from_secs(1);
/// Transactions of one program that are looked at each time, the latest ones.
pub const CHANGES_AT_ONCE: usize = 50;

/// BEACON, in microseconds: every ten minutes, a tenth more or less.
pub const BEACON_EVERY: u64 = 600_000_000;
/// The soonest BEACON or answer to a DISCOVER after another one, in microseconds.
pub const BEACON_SOONEST: u64 = 30_000_000;

/// How often it is looked at whose agents' leases have ended by the clock.
pub const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Agents whose leases have ended by the clock that are read at once.
pub const MAX_ENDED_READ: usize = 99;
/// Every so many looks some of the others are read again.
pub const WATCH_OTHERS: u32 = 5;
/// As many of the others: their accounts fit one call.
pub const MAX_OTHERS_READ: usize = 33;
/// Age from which what is known of an agent that was heard is read again, in microseconds.
pub const WATCH_AGE: u64 = 30_000_000;
/// The soonest that an agent is read again whose lease has ended by what is known of it, in microseconds.
pub const WATCH_SOONEST: u64 = 5_000_000;
/// Agents that left and are remembered as such.
pub const MAX_LEFT: usize = 1_024;
/// Peers that were heard for the first time, or again, within a second.
pub const MAX_BACK: usize = 8_192;
/// How often it is saved which peers are whose.
pub const SAVE_AGENTS_EVERY: Duration = Duration::from_secs(60);
/// Agents of whom that is saved: more than the transport remembers peers.
pub const MAX_SAVED_AGENTS: usize = 2_048;
/// Largest file of agents, in bytes.
pub const MAX_AGENTS_FILE: u64 = 2 << 20;

/// How often it is looked whether there is any peer.
pub const ALONE_EVERY: Duration = Duration::from_secs(1);
/// Without any peer for this long, first peers are looked for in the registry.
pub const ALONE_AFTER: Duration = Duration::from_secs(15);
/// The same on a local cluster.
pub const ALONE_AFTER_LOCAL: Duration = Duration::from_secs(3);
/// Longest pause between two searches; the first is [`ALONE_AFTER`], and it doubles.
pub const ALONE_LONGEST: Duration = Duration::from_secs(600);
/// Members of the registry that one search looks at.
pub const SEARCH_MEMBERS: usize = 66;
/// Registration files that one search fetches.
pub const SEARCH_FILES: usize = 16;
/// Of these at the same time.
pub const SEARCH_FILES_AT_ONCE: usize = 4;
/// Peers that one search dials.
pub const SEARCH_PEERS: usize = 8;
/// Time for one search.
pub const SEARCH_WITHIN: Duration = Duration::from_secs(90);
/// Time for one registration file.
pub const FILE_WITHIN: Duration = Duration::from_secs(5);
/// Time for the names in one address.
pub const NAME_WITHIN: Duration = Duration::from_secs(5);

/// How often it is looked whether the confirmed addresses have changed.
pub const ADDRESSES_EVERY: Duration = Duration::from_secs(1);
/// Confirmed addresses that stayed the same for this long are written: they come one after the other.
pub const ADDRESSES_SETTLE: Duration = Duration::from_secs(10);
/// The same on a local cluster.
pub const ADDRESSES_SETTLE_LOCAL: Duration = Duration::from_secs(1);
/// How often the hosted copy of the registration file is fetched while it does not agree.
pub const HOSTED_EVERY: Duration = Duration::from_secs(300);
/// The same on a local cluster.
pub const HOSTED_EVERY_LOCAL: Duration = Duration::from_secs(2);
/// How often it is fetched while it agrees.
pub const HOSTED_AGREES_EVERY: Duration = Duration::from_secs(3_600);

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
