//! Every default and bound of the mesh, one line each. Times are microseconds.

use crate::rate::Rate;

const SECOND: u64 = 1_000_000;

// ---- Gate, limits, senders, replay windows -------------------------------------------------------------------------

/// A clock that is back by less than this did not jump.
pub const CLOCK_JITTER: u64 = SECOND;

// Rates (decision I3).

/// Messages of one author on all channels.
pub const AUTHOR_RATE: Rate = Rate::per_second(100, 200);
/// BEACONs of one author.
pub const BEACON_RATE: Rate = Rate { interval_micros: 30 * SECOND, burst: 1 };
/// NOTARIZE_BIDs of one author.
pub const NOTARIZE_BID_RATE: Rate = Rate::per_second(10, 20);
/// FEEDBACKs of one author.
pub const FEEDBACK_RATE: Rate = Rate::per_second(10, 20);
/// Direct messages of one connection.
pub const DIRECT_RATE: Rate = Rate::per_second(100, 200);
/// Calls of the cluster's RPC for facts about authors.
pub const LOOKUP_RATE: Rate = Rate::per_second(20, 20);
/// Maximum number of authors whose rates are remembered; the least recently heard one is forgotten first.
pub const MAX_AUTHORS: usize = 65_536;
/// Maximum number of connections whose rates are remembered.
pub const MAX_CONNECTIONS: usize = 1_024;

// Replay windows (decision I1).

/// Maximum number of authors' channels whose nonces are remembered.
pub const MAX_WINDOWS: usize = 131_072;
/// After this a nonce may be forgotten: any copy of its message fails rule 6. Twice the tolerance, because a timestamp
/// may lie in the future by as much.
pub const WINDOW_LIFE: u64 = 2 * zx1_protocol::validate::TIMESTAMP_TOLERANCE_MICROS;

// Facts of the chain (decision P1: at most 60 s old).

/// Age up to which facts serve.
pub const FACTS_LIFE: u64 = 60 * SECOND;
/// Age from which facts of an author that is heard are read again in advance.
pub const FACTS_REFRESH: u64 = 45 * SECOND;
/// Age up to which it counts that there is no such agent, or no such key of it.
pub const ABSENT_LIFE: u64 = 10 * SECOND;
/// Age up to which facts serve while the RPC is away.
pub const FACTS_LIFE_AWAY: u64 = 600 * SECOND;
/// Maximum number of registered authors whose facts are kept.
pub const MAX_PRESENT: usize = 65_536;
/// Maximum number of unregistered authors that are remembered as such.
pub const MAX_ABSENT: usize = 8_192;
/// Maximum number of authors that wait for a lookup.
pub const MAX_QUEUED_LOOKUPS: usize = 2_048;
/// Maximum number of batches that are asked for at once.
pub const MAX_BATCHES_IN_FLIGHT: usize = 4;
/// Accounts of one batch: the most of one call of getMultipleAccounts.
pub const ACCOUNTS_PER_BATCH: usize = 100;
/// Accounts of one author in the larger of the two rounds, without its keys: mint, tenure, lease.
pub const ACCOUNTS_PER_AUTHOR: usize = 3;
/// Maximum number of keys of one author that are looked for by address; an agent has at most eight live ones.
pub const MAX_KEYS_LOOKED_FOR: usize = 12;
/// Keys of one author that nobody knows yet and that are looked for within [`ABSENT_LIFE`].
pub const MAX_NEW_KEYS: usize = 4;
/// A batch without an answer counts as failed after this.
pub const LOOKUP_TIMEOUT: u64 = 10 * SECOND;
/// Pause after a first failure of the RPC; it doubles with each.
pub const LOOKUP_PAUSE: u64 = SECOND / 2;
/// Longest pause after failures of the RPC.
pub const MAX_LOOKUP_PAUSE: u64 = 30 * SECOND;

// Messages of authors whose facts are not there yet.

/// Maximum number of messages that wait.
pub const MAX_WAITING: usize = 1_024;
/// Maximum number of messages that wait and came by one peer.
pub const MAX_WAITING_PER_PEER: usize = 64;
/// Maximum number of bytes of all messages that wait: 16 MiB.
pub const MAX_WAITING_BYTES: usize = 16 << 20;
/// Time after which a waiting message is ignored; gossipsub forgets it after five seconds.
pub const WAITING_LIFE: u64 = 4 * SECOND;

// Scores.

/// Maximum number of peers whose own score is remembered.
pub const MAX_SCORED_PEERS: usize = 4_096;
/// Points of a peer whose agent has stake and lease.
pub const STANDING_POINTS: i64 = 10;
/// Most points that excess messages take.
pub const MAX_EXCESS_POINTS: i64 = 100;
/// Time in which one of these points comes back.
pub const EXCESS_RECOVERY: u64 = SECOND;

// ---- Conversations, notaries, outbox --------------------------------------------------------------------------------

/// Conversations that are kept in memory; the log has all.
pub const MAX_CONVERSATIONS: usize = 4_096;
/// Conversations with one counterparty, so that one agent alone cannot fill the table.
pub const MAX_CONVERSATIONS_WITH_ONE: usize = 64;
/// Messages of a conversation that are listed, the latest ones; the log has all.
pub const MAX_LINES: usize = 64;
/// Ratings that are remembered of a conversation: of two parties and two notaries, each about the others.
pub const MAX_RATINGS: usize = 16;

/// How long offers of notaries are collected, in microseconds.
pub const OFFERS_TIME: u64 = 30 * SECOND;
/// How long the caller has for its choice, in microseconds; then nobody is assigned.
pub const CHOICE_TIME: u64 = 300 * SECOND;
/// Longest time that a notary gets for its VERDICT, in seconds, whatever it offered.
pub const MAX_JUDGE_SECONDS: u32 = 3_600;
/// How long a party whose counterparty chose the notary waits for the second choice, in microseconds.
pub const REPLACEMENT_TIME: u64 = 120 * SECOND;
/// How much sooner than by the own clock the counterparty may replace a silent notary, in microseconds: its
/// message may have been faster than the one before.
pub const REPLACEMENT_SLACK: u64 = 60 * SECOND;
/// How long a notary's own offer stands, in microseconds: it may be taken as the second one.
pub const OFFER_STANDS: u64 = OFFERS_TIME + CHOICE_TIME + (MAX_JUDGE_SECONDS as u64) * SECOND + 60 * SECOND;
/// Offers that are kept of one auction; the worst one leaves first.
pub const MAX_OFFERS: usize = 64;
/// Auctions at a time.
pub const MAX_SEARCHES: usize = 256;
/// Tasks at a time in which this agent is the notary, or offers to be.
pub const MAX_DESKS: usize = 256;
/// Envelopes that a notary keeps of one task.
pub const MAX_EXHIBITS: usize = 256;

/// Time to live of a draft, in microseconds, and the longest that a caller can ask for.
pub const DRAFT_TTL: u64 = 24 * 3_600 * SECOND;
/// Pause after the first dial that failed, in microseconds; it doubles with each.
pub const RETRY_FIRST: u64 = SECOND;
/// Longest pause between two dials, in microseconds.
pub const RETRY_LONGEST: u64 = 300 * SECOND;
/// Drafts that wait or are on their way.
pub const MAX_DRAFTS: usize = 4_096;
/// Of these for one recipient.
pub const MAX_DRAFTS_TO_ONE: usize = 256;
/// Rows that are kept after their end, so that a caller can ask; the oldest leave first.
pub const MAX_ENDED_ROWS: usize = 4_096;
/// Longest name of a draft, in bytes.
pub const MAX_DRAFT_NAME: usize = 128;

// ---- Transport: wire, direct streams, gossip, connections, the swarm task ----

pub use transport::*;

mod transport {
    use std::time::Duration;

    /// Bytes that gossipsub adds to an envelope at most: source, sequence number, topic, signature and key.
    /// 65 536 + 1 024 is the largest frame that goes over the wire. gossipsub 0.50.1 compares the limit with all that
    /// it has read, and reads 8 192 bytes at a time: without room for the beginning of the next frame, a long message
    /// with another behind it would end the stream, and no message would come by it again.
    pub const MAX_TRANSMIT_SIZE: usize = 66_560 + 8_192;
    /// How long both ends of a direct stream have, from its opening to the answer.
    pub const DIRECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// Direct streams of one connection at a time, in both directions together.
    pub const DIRECT_STREAMS: usize = 64;
    /// Envelopes that wait for a peer's answer, of all peers together.
    pub const MAX_DIRECT_SENDING: usize = 1_024;
    /// Bytes that are set aside for an incoming envelope before any of them has come.
    pub const DIRECT_FIRST_BYTES: usize = 1_024;

    /// How long the same bytes count as a duplicate.
    pub const DUPLICATE_TIME: Duration = Duration::from_secs(60);
    /// Length of the queue of one peer's connection, in messages.
    pub const PEER_QUEUE: usize = 1_000;
    /// How long an own message may wait in a peer's queue.
    pub const PUBLISH_QUEUE_TIME: Duration = Duration::from_secs(5);
    /// How long another's message may wait in a peer's queue.
    pub const FORWARD_QUEUE_TIME: Duration = Duration::from_secs(1);
    /// Peers named in a PRUNE.
    pub const PRUNE_PEERS: usize = 8;

    /// P6, times the square of how many peers of one network are too many.
    pub const SCORE_SUBNET: i64 = -5;
    /// P6, peers of one /24 or /64 that cost nothing.
    pub const SUBNET_PEERS: usize = 10;
    /// For faults: bytes under another author or topic than theirs, and on direct streams invalid frames and
    /// rejected messages. Only who brought them pays, times the square of their count. The same as P4.
    pub const SCORE_FAULT: i64 = -20;
    /// Thousandths of that count which one [`UPKEEP`] leaves: 0.98 a second over ten seconds, as P4's.
    pub const FAULT_DECAY: u64 = 817;
    /// A fault, in thousandths.
    pub const FAULT: u64 = 1_000;
    /// A direct stream that ends within its frame, in thousandths of a fault: a sender may have lost its network.
    pub const FAULT_CUT_OFF: u64 = 100;
    /// Time after which a penalty that outlived a restart has halved.
    pub const CARRIED_HALF_LIFE: Duration = Duration::from_secs(600);

    /// Connections that others opened.
    pub const MAX_INBOUND: u32 = 30;
    /// Connections that this node opened.
    pub const MAX_OUTBOUND: u32 = 20;
    /// Of [`MAX_OUTBOUND`], those that only a wanted peer gets: a recipient, a bootstrap peer, a relay.
    pub const RESERVED_OUTBOUND: u32 = 8;
    /// Connections that are being opened, each way.
    pub const MAX_PENDING: u32 = 32;
    /// How long a second connection with a peer may last: tests of addresses and hole punching need one.
    pub const SECOND_CONNECTION: Duration = Duration::from_secs(10);
    /// Memory of the process above which no connection is taken, in bytes.
    pub const MEMORY_LIMIT: usize = 512 << 20;
    /// How long a connection without a stream stays: peers outside the mesh are needed for IHAVE.
    pub const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
    /// Inbound connections that trimming leaves, so that a better peer finds a place.
    pub const TRIM_INBOUND: usize = 26;
    /// Outbound connections that trimming leaves, which are all but the reserved ones.
    pub const TRIM_OUTBOUND: usize = 12;
    /// Trimming spares a connection this young.
    pub const TRIM_GRACE: Duration = Duration::from_secs(30);
    /// Interval of trimming, of scores and of expired blocks.
    pub const UPKEEP: Duration = Duration::from_secs(10);
    /// Interval of dialling when there are fewer than [`MESH`](crate::score::MESH)'s peers.
    pub const REDIAL: Duration = Duration::from_secs(30);
    /// Wanted peers at a time; beyond them the oldest loses its claim to a reserved place.
    pub const MAX_WANTED: usize = 64;

    /// A relay's bytes a circuit, each way.
    pub const RELAY_BYTES: u64 = 4 << 20;
    /// A relay's time a circuit.
    pub const RELAY_TIME: Duration = Duration::from_secs(600);
    /// A relay's reservations.
    pub const RELAY_RESERVATIONS: usize = 128;
    /// A relay's circuits of one peer at a time.
    pub const RELAY_CIRCUITS_PER_PEER: usize = 4;

    /// Addresses of one peer that are remembered.
    pub const PEER_ADDRESSES: usize = 8;
    /// Peers that are remembered; the one that was not seen for longest goes first.
    pub const MAX_PEERS: usize = 1_000;
    /// Peers of whom no addresses are learned.
    pub const MAX_FORGOTTEN: usize = 8_192;
    /// Blocked peers that are remembered; the block that ends first goes first.
    pub const MAX_BLOCKED: usize = 4_096;
    /// A longer address is not remembered, in bytes of its binary form.
    pub const MAX_ADDRESS_BYTES: usize = 256;
    /// A longer file of peers is not read, in bytes: more than what [`MAX_PEERS`] and [`MAX_BLOCKED`] can take.
    pub const MAX_PEERS_FILE: u64 = 16 << 20;
    /// Peers whose standing is remembered, connected or not.
    pub const MAX_STANDINGS: usize = 4_096;
    /// Interval of writing the file of peers.
    pub const SAVE_PEERS: Duration = Duration::from_secs(60);

    /// Commands that wait for the swarm task.
    pub const COMMANDS: usize = 256;
    /// Events that wait for a reader; later ones are dropped and counted.
    pub const EVENTS: usize = 1_024;
    /// Verdicts that wait for the swarm task.
    pub const VERDICTS: usize = 1_024;
    /// Messages that wait for a verdict, of all authors together.
    pub const MAX_QUEUED: usize = 4_096;
    /// Bytes of the messages that wait for a verdict.
    pub const MAX_QUEUED_BYTES: usize = 32 << 20;
    /// How long a message waits for facts. Shorter than the heartbeats of [`MESH`](crate::score::MESH).
    pub const WAIT_TIME: Duration = Duration::from_secs(4);
    /// Accepted messages that wait for the sink.
    pub const MAX_SAVING: usize = 1_024;
    /// Commands that look for a peer's addresses at a time.
    pub const MAX_FINDING: usize = 64;
    /// Reasons of the validator that are counted apart; later ones count as one.
    pub const MAX_REASONS: usize = 128;
}
