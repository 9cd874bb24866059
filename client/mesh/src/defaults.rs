//! Every figure of this crate, with the reason for it. Nothing else in the crate holds a number of its own.

// ---- Conversations, notaries, outbox --------------------------------------------------------------------------------

pub use tables::*;

mod tables {
    const SECOND: u64 = 1_000_000;

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
    pub const OFFER_STANDS: u64 =
        OFFERS_TIME + CHOICE_TIME + (MAX_JUDGE_SECONDS as u64) * SECOND + 60 * SECOND;
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
}
