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
