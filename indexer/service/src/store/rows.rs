//! The rows. Each table is written down once: its fields are its columns, in order.

use sqlx::query_builder::Separated;
use sqlx::{Database, Encode, Type};

/// A table's row as every back end stores it.
pub trait Row: Sized + Send {
    /// The table.
    const TABLE: &'static str;
    /// Its columns, in order.
    const COLUMNS: &'static [&'static str];
    /// The columns that make a row the same row.
    const KEY: &'static [&'static str];
    /// Binds the values, in order.
    fn push<DB>(self, to: &mut Separated<'_, DB, &'static str>)
    where
        DB: Database,
        i64: for<'q> Encode<'q, DB> + Type<DB>,
        Option<i64>: for<'q> Encode<'q, DB> + Type<DB>,
        String: for<'q> Encode<'q, DB> + Type<DB>,
        Option<String>: for<'q> Encode<'q, DB> + Type<DB>,
        Vec<u8>: for<'q> Encode<'q, DB> + Type<DB>,
        Option<Vec<u8>>: for<'q> Encode<'q, DB> + Type<DB>;

    /// `INSERT INTO table (columns) `.
    fn insert(verb: &str) -> String {
        format!("{verb} INTO {} ({}) ", Self::TABLE, Self::COLUMNS.join(", "))
    }

    /// ` ON CONFLICT (key) DO UPDATE SET …`: the new row replaces the old one.
    fn replace() -> String {
        let rest: Vec<String> = Self::COLUMNS
            .iter()
            .filter(|column| !Self::KEY.contains(column))
            .map(|column| format!("{column} = excluded.{column}"))
            .collect();
        let action =
            if rest.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", rest.join(", ")) };
        format!(" ON CONFLICT ({}) DO {action}", Self::KEY.join(", "))
    }

    /// `SELECT columns FROM table `.
    fn select() -> String {
        format!("SELECT {} FROM {} ", Self::COLUMNS.join(", "), Self::TABLE)
    }
}

macro_rules! table {
    ($(#[doc = $doc:literal])* $name:ident $table:literal [$($key:literal),*]
        { $($(#[doc = $field_doc:literal])* $field:ident: $ty:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, sqlx::FromRow)]
        pub struct $name { $($(#[doc = $field_doc])* pub $field: $ty,)* }

        impl Row for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];
            const KEY: &'static [&'static str] = &[$($key),*];

            fn push<DB>(self, to: &mut Separated<'_, DB, &'static str>)
            where
                DB: Database,
                i64: for<'q> Encode<'q, DB> + Type<DB>,
                Option<i64>: for<'q> Encode<'q, DB> + Type<DB>,
                String: for<'q> Encode<'q, DB> + Type<DB>,
                Option<String>: for<'q> Encode<'q, DB> + Type<DB>,
                Vec<u8>: for<'q> Encode<'q, DB> + Type<DB>,
                Option<Vec<u8>>: for<'q> Encode<'q, DB> + Type<DB>,
            {
                $(to.push_bind(self.$field);)*
            }
        }
    };
}

table! {
    /// An event. `id` is the store's and not among the columns that are written.
    EventRow "events" ["slot", "signature", "ordinal"] {
        /// Slot.
        slot: i64,
        /// Place of the transaction among those of its slot.
        position: i64,
        /// Place of the event in its transaction.
        ordinal: i64,
        /// The transaction's first signature, 64 bytes.
        signature: Vec<u8>,
        /// The block's Unix time in seconds.
        block_time: Option<i64>,
        /// Which program: see [`crate::parse::Program`].
        program: i64,
        /// The event's name.
        name: String,
        /// The account whose events are numbered.
        account: Vec<u8>,
        /// The slot in which it was created.
        created_slot: i64,
        /// The number within its life.
        sequence: i64,
        /// The agent it is about.
        agent: Option<Vec<u8>>,
        /// What stands behind the tag.
        payload: Vec<u8>,
    }
}

table! {
    /// How many events of an account's life are here, and the largest number.
    LifeRow "lives" ["account", "created_slot"] {
        /// The account.
        account: Vec<u8>,
        /// The slot in which it was created.
        created_slot: i64,
        /// Events that are here.
        events: i64,
        /// The largest sequence number of them.
        last: i64,
    }
}

table! {
    /// Sequence numbers that are missing, or were.
    GapRow "gaps" ["account", "created_slot", "first"] {
        /// The account.
        account: Vec<u8>,
        /// The slot in which it was created.
        created_slot: i64,
        /// The first missing number.
        first: i64,
        /// The last.
        last: i64,
        /// The slot at which it was seen.
        found_slot: i64,
        /// `open`, `refilled` (the events came), `from_state` (only the account's state did).
        state: String,
    }
}

table! {
    /// An agent: what its registry, its accounts and its batches say, side by side.
    AgentRow "agents" ["mint"] {
        /// The mint.
        mint: Vec<u8>,
        /// Its number in the registry; 0 until it is known.
        number: i64,
        /// Its name.
        name: String,
        /// Its symbol.
        symbol: String,
        /// Address of its registration file.
        uri: String,
        /// More entries, JSON pairs.
        metadata: String,
        /// 1 when it can never change hands.
        soulbound: i64,
        /// The wallet that owns it.
        owner: Option<Vec<u8>>,
        /// The token account that holds it.
        token: Option<Vec<u8>>,
        /// The registry's index account.
        member_index: Option<Vec<u8>>,
        /// Delegations, JSON.
        delegates: String,
        /// Unix seconds at which the registry was asked; 0 never.
        identified: i64,
        /// Slot of the registration, where its transaction was seen.
        registered_slot: Option<i64>,
        /// Micro-USDC locked; none without a stake account.
        stake: Option<i64>,
        /// Slot of the first lock.
        stake_since: Option<i64>,
        /// Slot in which the stake account was created.
        stake_created: Option<i64>,
        /// Earliest slot of a claim, while an unlock is queued.
        unlock_slot: Option<i64>,
        /// Unresolved challenges.
        open_challenges: i64,
        /// Micro-USDC slashed in all.
        slashed: i64,
        /// Last epoch that is paid.
        paid_through: Option<i64>,
        /// Slot of the last payment.
        lease_paid_slot: Option<i64>,
        /// Micro-USDC of lease paid in all.
        lease_paid: i64,
        /// Batches submitted.
        batches: i64,
        /// Epoch of the last.
        last_epoch: Option<i64>,
        /// Slot of the last.
        last_batch_slot: Option<i64>,
        /// The head's digest.
        head_digest: Vec<u8>,
        /// Batches whose data nobody serves.
        withheld: i64,
        /// Challenges that the agent answered.
        challenges_answered: i64,
        /// Challenges that it lost.
        challenges_lost: i64,
        /// Thousandths.
        reliability: i64,
        /// Thousandths.
        cooperation: i64,
        /// Thousandths.
        notary: i64,
        /// Ratings as participant.
        tasks: i64,
        /// Ratings as notary.
        notarized: i64,
        /// Disputes.
        disputes: i64,
        /// Batches that count.
        counted_batches: i64,
        /// The slot up to which the last of them with a message reaches.
        reputation_slot: i64,
        /// The other vectors and the tally, JSON.
        reputation: String,
        /// The Nano account that is bound to the owner.
        nano_address: Option<String>,
        /// Raw.
        nano_balance: Option<String>,
        /// Raw.
        nano_receivable: Option<String>,
        /// Unix seconds of the last answer.
        nano_checked: Option<i64>,
        /// Slot of the last event about it.
        last_active: Option<i64>,
        /// What a search looks at: lower-case name, mint and owner.
        search: String,
    }
}

table! {
    /// A batch as it was submitted.
    BatchRow "batches" ["agent", "epoch"] {
        /// The agent.
        agent: Vec<u8>,
        /// Its epoch.
        epoch: i64,
        /// First epoch that it covers.
        covers_from: i64,
        /// Slot.
        submitted_slot: i64,
        /// Unix seconds of the block.
        block_time: Option<i64>,
        /// The transaction.
        signature: Vec<u8>,
        /// Who signed it.
        signer: Vec<u8>,
        /// Who paid the rent.
        payer: Vec<u8>,
        /// keccak256 of the batch.
        batch_hash: Vec<u8>,
        /// Root of the log.
        log_root: Vec<u8>,
        /// Entries of the log.
        log_len: i64,
        /// Root of the arrays.
        arrays_root: Vec<u8>,
        /// Entries of the arrays.
        arrays_len: i64,
        /// 1 until the account is closed.
        open: i64,
        /// Challenges against it.
        challenges: i64,
        /// Bytes of its data; none while nobody serves it.
        data_bytes: Option<i64>,
        /// What it says of itself, JSON, once its data is here.
        content: Option<String>,
    }
}

table! {
    /// A conversation in a served batch's selections (kind 2) or verifiers (kind 3).
    ConversationRow "conversations" ["conversation", "agent", "other", "kind", "epoch"] {
        /// The conversation.
        conversation: Vec<u8>,
        /// Whose batch.
        agent: Vec<u8>,
        /// Who was selected or assigned.
        other: Vec<u8>,
        /// The record's kind byte.
        kind: i64,
        /// The batch's epoch.
        epoch: i64,
    }
}

table! {
    /// A feedback event of a served batch.
    RatingRow "batch_ratings" ["agent", "epoch", "entry"] {
        /// The rated agent.
        agent: Vec<u8>,
        /// The batch's epoch.
        epoch: i64,
        /// Number of the record.
        entry: i64,
        /// Who rated.
        rater: Vec<u8>,
        /// The task.
        conversation: Vec<u8>,
        /// -100 to 100.
        score: i64,
        /// 0, 1, 2.
        outcome: i64,
        /// 0 participant, 1 notary.
        role: i64,
        /// Slot.
        slot: i64,
    }
}

table! {
    /// What an agent's batch of an epoch has to do with another agent.
    CounterpartyRow "counterparties" ["agent", "other", "epoch"] {
        /// Whose batch.
        agent: Vec<u8>,
        /// The other one.
        other: Vec<u8>,
        /// The batch's epoch.
        epoch: i64,
        /// Bids.
        bids: i64,
        /// Selections.
        selections: i64,
        /// Verifier assignments.
        verifiers: i64,
        /// Ratings from the other one.
        ratings: i64,
        /// The latest slot among them.
        last_slot: i64,
    }
}

table! {
    /// A signed rating that was heard.
    EnvelopeRow "envelopes" ["hash"] {
        /// keccak256 of its log entry.
        hash: Vec<u8>,
        /// Who rated.
        rater: Vec<u8>,
        /// Who is rated.
        target: Vec<u8>,
        /// The task.
        conversation: Vec<u8>,
        /// -100 to 100.
        score: i64,
        /// 0, 1, 2.
        outcome: i64,
        /// 0 participant, 1 notary.
        role: i64,
        /// 1 when the outcome is contested.
        is_dispute: i64,
        /// block_ref.
        slot: i64,
        /// Unix microseconds.
        timestamp: i64,
        /// The key that signed.
        signer: Vec<u8>,
        /// When it came, Unix milliseconds.
        at: i64,
        /// The envelope.
        cbor: Vec<u8>,
    }
}

table! {
    /// A challenge in one life of its account.
    ChallengeRow "challenges" ["address", "submitted_slot"] {
        /// The account.
        address: Vec<u8>,
        /// Slot of submission, which is that of creation.
        submitted_slot: i64,
        /// The agent.
        agent: Vec<u8>,
        /// The batch's epoch.
        epoch: i64,
        /// Who challenges.
        challenger: Vec<u8>,
        /// 1 to 5.
        ground: i64,
        /// keccak256 of what was shown.
        entry_hash: Vec<u8>,
        /// The evidence hash.
        evidence_hash: Vec<u8>,
        /// The draft or recorded envelope that was used.
        evidence_account: Option<Vec<u8>>,
        /// The transaction.
        signature: Vec<u8>,
        /// The record that an honest batch must hold.
        expected: Option<Vec<u8>>,
        /// Slot of the answer.
        answered_slot: Option<i64>,
        /// Who answered.
        answerer: Option<Vec<u8>>,
        /// Leaf of the record.
        leaf_index: Option<i64>,
        /// Slot of the resolution.
        resolved_slot: Option<i64>,
        /// 1 when the agent was slashed.
        succeeded: Option<i64>,
        /// Micro-USDC.
        slashed: Option<i64>,
        /// Micro-USDC.
        reward: Option<i64>,
        /// 1 when the account is closed.
        closed: i64,
    }
}

table! {
    /// An entry of the feedback log.
    FeedbackRow "feedback" ["number"] {
        /// Its index.
        number: i64,
        /// Unix seconds.
        timestamp: i64,
        /// Slot.
        slot: i64,
        /// Who speaks.
        sender: Vec<u8>,
        /// Who paid.
        payer: Vec<u8>,
        /// What is said; none until its account was read.
        text: Option<String>,
        /// The head before it.
        previous_head: Option<Vec<u8>>,
        /// The head after it.
        head: Vec<u8>,
        /// The transaction, where it was seen.
        signature: Option<Vec<u8>>,
        /// Slot of the resolution.
        resolution_slot: Option<i64>,
        /// Hash of the contract.
        contract_hash: Option<Vec<u8>>,
        /// The commit's id.
        fix_commit: Option<Vec<u8>>,
        /// Who resolved it.
        maintainer: Option<Vec<u8>>,
    }
}

table! {
    /// A market's contract.
    ContractRow "contracts" ["market", "id"] {
        /// The market's address.
        market: String,
        /// 16 hexadecimal digits.
        id: String,
        /// The market's word.
        state: String,
        /// `fix_<64 hex>`.
        principal: String,
        /// The agent.
        agent: Option<String>,
        /// Milliseconds.
        created_at: i64,
        /// Milliseconds.
        updated_at: i64,
        /// What a list shows, JSON.
        summary: String,
        /// The market's own JSON, transcript included.
        view: String,
        /// Its conversation id (decision G1).
        conversation: Option<Vec<u8>>,
        /// 1 when its transcript holds and it has ended.
        settled: i64,
    }
}

table! {
    /// A binding record.
    BindingRow "bindings" ["wallet"] {
        /// The Solana key.
        wallet: Vec<u8>,
        /// The Nano address.
        nano: String,
        /// Unix seconds.
        created: i64,
        /// JSON.
        record: String,
    }
}

table! {
    /// How an agent stood when an epoch ended.
    EpochRow "epochs" ["agent", "epoch"] {
        /// The agent.
        agent: Vec<u8>,
        /// The epoch.
        epoch: i64,
        /// Micro-USDC.
        stake: i64,
        /// Last epoch paid.
        paid_through: Option<i64>,
        /// Thousandths.
        reliability: i64,
        /// Thousandths.
        cooperation: i64,
        /// Thousandths.
        notary: i64,
    }
}

table! {
    /// A new event of the streams; the store gives it its id.
    StreamRow "stream" ["origin"] {
        /// One of the nine types.
        kind: String,
        /// Makes it once.
        origin: String,
        /// Slot.
        slot: Option<i64>,
        /// The agent.
        agent: Option<Vec<u8>>,
        /// The transaction that it rests on.
        signature: Option<Vec<u8>>,
        /// Unix milliseconds.
        at: i64,
        /// Its JSON without the id.
        body: String,
    }
}

/// A text from outside as every database takes it: Postgres has no zero characters.
pub fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// An unsigned number in a signed column; what is beyond is the largest there is.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The reverse of [`signed`]; nothing here is negative.
pub fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The first `N` bytes of a column, zeros where there are fewer.
pub fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    out
}
