//! The rows. Each table is written down once: its fields are its columns, in order.

use sqlx::query_builder::Separated;
use sqlx::{ColumnIndex, Database, Decode, Encode, FromRow, Type};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::units::{Epoch, MicroUsdc};

/// A type of a field, and how a column holds it.
pub(super) trait Column: Sized {
    /// What the database stores.
    type Stored;
    /// To the column.
    fn store(self) -> Self::Stored;
    /// From the column; `None` for what [`Self::store`] never writes.
    fn load(stored: Self::Stored) -> Option<Self>;
}

macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl Column for $ty {
            type Stored = Self;
            fn store(self) -> Self {
                self
            }
            fn load(stored: Self) -> Option<Self> {
                Some(stored)
            }
        }
    )*};
}

/// Columns of another type than the field's, and the same where there may be none.
macro_rules! typed {
    ($($ty:ty as $stored:ty: $store:expr, $load:expr;)*) => {$(
        impl Column for $ty {
            type Stored = $stored;
            fn store(self) -> $stored {
                ($store)(self)
            }
            fn load(stored: $stored) -> Option<Self> {
                ($load)(stored)
            }
        }

        impl Column for Option<$ty> {
            type Stored = Option<$stored>;
            fn store(self) -> Option<$stored> {
                self.map(Column::store)
            }
            fn load(stored: Option<$stored>) -> Option<Self> {
                stored.map(Column::load).map_or(Some(None), |loaded| loaded.map(Some))
            }
        }
    )*};
}

plain!(i64, Option<i64>, String, Option<String>, Vec<u8>, Option<Vec<u8>>);
typed! {
    AgentId as Vec<u8>: |id: Self| id.as_bytes().to_vec(), |bytes: Vec<u8>| bytes.try_into().ok().map(Self);
    ConversationId as Vec<u8>: |id: Self| id.as_bytes().to_vec(), |bytes: Vec<u8>| bytes.try_into().ok().map(Self);
    WalletKey as Vec<u8>:
        |key: Self| key.to_bytes().to_vec(), |bytes: Vec<u8>| <[u8; 32]>::try_from(bytes).ok().map(Self::from);
    MicroUsdc as i64: |amount: Self| signed(amount.0), |number| Some(Self(unsigned(number)));
}

/// A table's row as every back end stores it.
pub trait Row: Sized + Send {
    /// Name of the SQL table.
    const TABLE: &'static str;
    /// Its columns, in order.
    const COLUMNS: &'static [&'static str];
    /// The columns of its unique key: a row with the same values replaces the stored one.
    const KEY: &'static [&'static str];
    /// Binds the values in the order of the columns.
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
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
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
                $(to.push_bind(Column::store(self.$field));)*
            }
        }

        impl<'r, R: sqlx::Row> FromRow<'r, R> for $name
        where
            &'static str: ColumnIndex<R>,
            i64: Decode<'r, R::Database> + Type<R::Database>,
            String: Decode<'r, R::Database> + Type<R::Database>,
            Vec<u8>: Decode<'r, R::Database> + Type<R::Database>,
        {
            fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
                Ok(Self {
                    $($field: {
                        let name = stringify!($field);
                        let source = || format!("a value of {name} is none").into();
                        let wrong = || sqlx::Error::ColumnDecode { index: name.to_owned(), source: source() };
                        Column::load(row.try_get(name)?).ok_or_else(wrong)?
                    },)*
                })
            }
        }
    };
}

table! {
    /// An event of a program. Its `id` comes from the store and is not among the columns that are written.
    EventRow "events" ["slot", "signature", "ordinal"] {
        /// Slot of the transaction.
        slot: i64,
        /// Index of the transaction among those of its slot.
        position: i64,
        /// Index of the event within its transaction.
        ordinal: i64,
        /// The transaction's first signature, 64 bytes.
        signature: Vec<u8>,
        /// Unix time of the block in seconds; `None` when the node does not know it.
        block_time: Option<i64>,
        /// The program that emitted it: see [`crate::parse::Program`].
        program: i64,
        /// Name of the event's type, such as `BatchSubmitted`.
        name: String,
        /// Address of the account that numbers the event.
        account: Vec<u8>,
        /// Slot in which the account was created: its incarnation.
        created_slot: i64,
        /// Sequence number within that incarnation.
        sequence: i64,
        /// Mint of the agent that the event is about.
        agent: Option<AgentId>,
        /// Bytes of the event after its tag; for a registration: mint, owner and index account.
        payload: Vec<u8>,
    }
}

table! {
    /// How many events of an account's incarnation are stored, and the largest sequence number.
    LifeRow "lives" ["account", "created_slot"] {
        /// Address of the account.
        account: Vec<u8>,
        /// Slot in which the account was created.
        created_slot: i64,
        /// Number of events that are stored.
        events: i64,
        /// Largest sequence number among them.
        last: i64,
    }
}

table! {
    /// A range of sequence numbers that are missing, or were.
    GapRow "gaps" ["account", "created_slot", "first"] {
        /// Address of the account.
        account: Vec<u8>,
        /// Slot in which the account was created.
        created_slot: i64,
        /// First sequence number of the range.
        first: i64,
        /// Last sequence number of the range, inclusive.
        last: i64,
        /// Slot at which the gap was found.
        found_slot: i64,
        /// `open`, `refilled` (the events arrived), or `from_state` (only the account's state was read).
        state: String,
    }
}

table! {
    /// An agent, as its registry, its accounts and its batches show it.
    AgentRow "agents" ["mint"] {
        /// Mint address of the agent's NFT, which is the agent id.
        mint: AgentId,
        /// Member number in the registry; 0 until it is known.
        number: i64,
        /// Name in the NFT's metadata.
        name: String,
        /// Symbol in the NFT's metadata.
        symbol: String,
        /// Address of the agent's registration file, from the NFT's metadata.
        uri: String,
        /// Further metadata as a JSON array of pairs.
        metadata: String,
        /// 1 when the NFT cannot be transferred, otherwise 0.
        soulbound: i64,
        /// Wallet that owns the NFT.
        owner: Option<Vec<u8>>,
        /// Token account that holds the NFT.
        token: Option<Vec<u8>>,
        /// Index account of the agent in the registry.
        member_index: Option<Vec<u8>>,
        /// Delegations that were filed for the agent, as a JSON array; they give no authority.
        delegates: String,
        /// Unix time in seconds at which the registry was last asked; 0 when it never was.
        identified: i64,
        /// Slot of the registration, when its transaction was seen.
        registered_slot: Option<i64>,
        /// Number of the present tenure; `None` before the first.
        tenure: Option<i64>,
        /// Wallet whose turn it is.
        tenure_owner: Option<Vec<u8>>,
        /// First epoch of the present tenure.
        tenure_from: Option<i64>,
        /// Slot in which the present tenure began; `None` when its event was never seen.
        tenure_slot: Option<i64>,
        /// The present era, from 0.
        era: i64,
        /// Locked stake of all eras that were not claimed; `None` without any.
        stake: Option<MicroUsdc>,
        /// Number of challenges that are not settled.
        open_challenges: i64,
        /// Slashed so far, in all eras.
        slashed: MicroUsdc,
        /// Fined so far, in all eras.
        fined: MicroUsdc,
        /// Last epoch for which the lease is paid.
        paid_through: Option<i64>,
        /// Slot of the last lease payment.
        lease_paid_slot: Option<i64>,
        /// Total lease paid.
        lease_paid: MicroUsdc,
        /// Number of batches that the agent submitted.
        batches: i64,
        /// Epoch of the last batch.
        last_epoch: Option<i64>,
        /// Slot of the last batch.
        last_batch_slot: Option<i64>,
        /// First epoch that a batch could cover; `None` until the head is open.
        first_epoch: Option<i64>,
        /// Digest of the agent's head account.
        head_digest: Vec<u8>,
        /// Number of batches whose data is not served.
        missing: i64,
        /// Number of batches that are marked on chain: a leaf that was asked for was not shown.
        withheld: i64,
        /// Number of challenges that were answered.
        challenges_answered: i64,
        /// Number of challenges that were settled without an answer.
        challenges_lost: i64,
        /// Number of asks that are open.
        asks_open: i64,
        /// Number of asks whose leaf was shown.
        asks_shown: i64,
        /// Number of asks that nobody answered in time, marked or settled.
        asks_withheld: i64,
        /// Mean score as participant, in thousandths.
        reliability: i64,
        /// Mean outcome in both roles, in thousandths.
        cooperation: i64,
        /// Mean score as notary, in thousandths.
        notary: i64,
        /// Number of ratings as participant.
        tasks: i64,
        /// Number of ratings as notary.
        notarized: i64,
        /// Number of disputes that the agent was involved in.
        disputes: i64,
        /// Number of batches that count towards the reputation.
        counted_batches: i64,
        /// Last slot of the last batch that counts and in which the agent sent a message.
        reputation_slot: i64,
        /// What the scores rest on, and those of the other tenures, as a JSON object.
        reputation: String,
        /// Nano address that is bound to the owner's wallet.
        nano_address: Option<String>,
        /// Balance of that address in raw, as a decimal number.
        nano_balance: Option<String>,
        /// Confirmed payments that wait for that address, in raw, as a decimal number.
        nano_receivable: Option<String>,
        /// Unix time in seconds at which the Nano node last answered.
        nano_checked: Option<i64>,
        /// Slot of the last event about the agent.
        last_active: Option<i64>,
        /// The text that a search matches: name, mint and owner in lower case.
        search: String,
    }
}

table! {
    /// A tenure: whose turn an agent was.
    TenureRow "tenures" ["agent", "number"] {
        /// Mint of the agent.
        agent: AgentId,
        /// Counts tenures, from 1.
        number: i64,
        /// Wallet whose turn it was.
        owner: Vec<u8>,
        /// First epoch of the tenure.
        from_epoch: i64,
        /// Slot in which it began; `None` when its event was never seen.
        slot: Option<i64>,
    }
}

table! {
    /// A key of an agent: one life of its account.
    KeyRow "keys" ["agent", "key", "created_slot"] {
        /// Mint of the agent.
        agent: AgentId,
        /// The public key.
        key: Vec<u8>,
        /// Slot in which the key's account was created.
        created_slot: i64,
        /// Wallet that listed it.
        owner: Vec<u8>,
        /// Number of the tenure that listed it.
        tenure: i64,
        /// Sum of 1 pay, 2 batch, 4 deal, 8 peer.
        scopes: i64,
        /// First epoch in which it acts and counts.
        from_epoch: i64,
        /// Last epoch in which it counts; `None` while it has not ended.
        until_epoch: Option<i64>,
        /// Slot in which it ended.
        ended_slot: Option<i64>,
        /// 1 when its account is closed, otherwise 0.
        closed: i64,
    }
}

table! {
    /// The stake of an era.
    StakeRow "stakes" ["agent", "era"] {
        /// Mint of the agent.
        agent: AgentId,
        /// The era, from 0.
        era: i64,
        /// Wallet that locked it.
        owner: Vec<u8>,
        /// What is locked.
        stake: MicroUsdc,
        /// What is left of the finders' part.
        pot: MicroUsdc,
        /// Slot of the first lock.
        since: Option<i64>,
        /// Slot in which its account was created; `None` while that was not seen.
        created_slot: Option<i64>,
        /// Earliest slot at which a queued unlock can be claimed.
        unlock_slot: Option<i64>,
        /// Slot in which the era ended.
        ended_slot: Option<i64>,
        /// Slot in which it was slashed.
        slashed_slot: Option<i64>,
        /// Number of challenges that are not settled.
        open_challenges: i64,
        /// Slot in which it was paid out and its account closed.
        claimed_slot: Option<i64>,
    }
}

table! {
    /// A batch as it was submitted.
    BatchRow "batches" ["agent", "epoch"] {
        /// Mint of the agent.
        agent: AgentId,
        /// Epoch that the batch was submitted for.
        epoch: i64,
        /// First epoch that the batch covers.
        covers_from: i64,
        /// Era whose stake answers for it.
        era: i64,
        /// Number of the tenure in which it landed.
        tenure: i64,
        /// Slot of the submission.
        submitted_slot: i64,
        /// Unix time of that slot's block, in seconds.
        block_time: Option<i64>,
        /// First signature of the transaction that submitted it.
        signature: Vec<u8>,
        /// Key that signed the submission.
        signer: Vec<u8>,
        /// Account that paid the rent.
        payer: Vec<u8>,
        /// Digest of the agent's head before it.
        previous_digest: Vec<u8>,
        /// keccak256 of the batch's bytes.
        batch_hash: Vec<u8>,
        /// Merkle root of the log.
        log_root: Vec<u8>,
        /// Number of entries in the log.
        log_len: i64,
        /// Merkle root of the economic arrays.
        arrays_root: Vec<u8>,
        /// Number of records in the economic arrays.
        arrays_len: i64,
        /// 1 while the batch's account exists, 0 once it is closed.
        open: i64,
        /// Slot in which it was marked: a leaf that was asked for was not shown.
        withheld_slot: Option<i64>,
        /// Number of challenges against the batch.
        challenges: i64,
        /// Size of the batch's data in bytes; `None` while it is not served.
        data_bytes: Option<i64>,
        /// The batch's own fields as a JSON object; `None` until its data is uploaded.
        content: Option<String>,
    }
}

table! {
    /// A conversation in a served batch's selections (kind 2) or verifiers (kind 3).
    ConversationRow "conversations" ["conversation", "agent", "other", "kind", "epoch"] {
        /// The negotiation that was selected or verified.
        conversation: ConversationId,
        /// Mint of the agent whose batch holds the record.
        agent: AgentId,
        /// Mint of the agent that was selected or assigned.
        other: AgentId,
        /// Kind of the record: 2 for a selection, 3 for a verifier.
        kind: i64,
        /// Epoch of the batch.
        epoch: i64,
    }
}

table! {
    /// A feedback event of a served batch.
    RatingRow "batch_ratings" ["agent", "epoch", "entry"] {
        /// Mint of the agent that is rated.
        agent: AgentId,
        /// Epoch of the batch.
        epoch: i64,
        /// Index of the record among the batch's records.
        entry: i64,
        /// Mint of the agent that rated.
        rater: AgentId,
        /// Conversation id of the rated task.
        conversation: ConversationId,
        /// Score from -100 to 100.
        score: i64,
        /// 0 for a negative outcome, 1 for neutral, 2 for positive.
        outcome: i64,
        /// 0 when rated as participant, 1 as notary.
        role: i64,
        /// `block_ref` of the FEEDBACK message.
        slot: i64,
    }
}

table! {
    /// The relations of an agent to another one in the agent's batch of an epoch.
    CounterpartyRow "counterparties" ["agent", "other", "epoch"] {
        /// Mint of the agent whose batch it is.
        agent: AgentId,
        /// Mint of the other agent.
        other: AgentId,
        /// Epoch of the batch.
        epoch: i64,
        /// Number of bids with the other agent.
        bids: i64,
        /// Number of selections with the other agent.
        selections: i64,
        /// Number of times that the other agent was assigned as verifier.
        verifiers: i64,
        /// Number of ratings by the other agent.
        ratings: i64,
        /// Latest slot among these records.
        last_slot: i64,
    }
}

table! {
    /// A signed rating that the indexer has received.
    EnvelopeRow "envelopes" ["hash"] {
        /// keccak256 of its log entry: its leaf in a log.
        hash: Vec<u8>,
        /// Mint of the agent that rated.
        rater: AgentId,
        /// Mint of the agent that is rated.
        target: AgentId,
        /// Conversation id of the rated task.
        conversation: ConversationId,
        /// Score from -100 to 100.
        score: i64,
        /// 0 for a negative outcome, 1 for neutral, 2 for positive.
        outcome: i64,
        /// 0 when rated as participant, 1 as notary.
        role: i64,
        /// 1 when the outcome is contested, otherwise 0.
        is_dispute: i64,
        /// `block_ref` of the envelope's header.
        slot: i64,
        /// Time in the envelope's header, in Unix microseconds.
        timestamp: i64,
        /// Key of the rater that signed.
        signer: Vec<u8>,
        /// When it was received, in Unix milliseconds.
        at: i64,
        /// The whole envelope as CBOR.
        cbor: Vec<u8>,
    }
}

table! {
    /// A challenge: one incarnation of its account.
    ChallengeRow "challenges" ["address", "submitted_slot"] {
        /// Address of the challenge's account.
        address: Vec<u8>,
        /// Slot of the submission, in which the account was created.
        submitted_slot: i64,
        /// Mint of the challenged agent.
        agent: AgentId,
        /// Epoch of the challenged batch.
        epoch: i64,
        /// Era whose stake answers for it.
        era: i64,
        /// Place in the era's order; changes when the claim is taken over.
        rank: i64,
        /// What is claimed, 32 bytes.
        claim: Vec<u8>,
        /// Wallet of the challenger; changes when the claim is taken over.
        challenger: Vec<u8>,
        /// Wallet that opened the claim.
        first_challenger: Vec<u8>,
        /// Ground of the challenge, 1 to 5: see [`crate::merge::ground_name`].
        ground: i64,
        /// 1 when the evidence determines a bid's value.
        value_known: i64,
        /// keccak256 of what the challenger showed.
        entry_hash: Vec<u8>,
        /// Account of the draft that was used.
        draft: Vec<u8>,
        /// First signature of the transaction that submitted it.
        signature: Vec<u8>,
        /// The record that an honest batch must hold; `None` until the challenge's account was read.
        expected: Option<Vec<u8>>,
        /// 0 open, 1 answered, 2 succeeded, 3 nothing was left.
        outcome: i64,
        /// Slot in which it was settled; `None` while it is open, or when that was not seen.
        settled_slot: Option<i64>,
        /// Wallet that answered the challenge.
        answerer: Option<Vec<u8>>,
        /// Index of the leaf that the answer proved.
        leaf_index: Option<i64>,
        /// Part of the challenger's stake that went into the era.
        to_stake: Option<MicroUsdc>,
        /// Part of the challenger's stake that went to the answerer.
        to_answerer: Option<MicroUsdc>,
        /// Amount slashed; `None` unless it was resolved.
        slashed: Option<MicroUsdc>,
        /// Reward of the challenger, beside its own stake.
        reward: Option<MicroUsdc>,
        /// 1 when the challenge's account is closed, otherwise 0.
        closed: i64,
    }
}

table! {
    /// An ask for a leaf: one life of its account.
    AskRow "asks" ["address", "created_slot"] {
        /// Address of the ask's account.
        address: Vec<u8>,
        /// Slot in which it was asked.
        created_slot: i64,
        /// Mint of the agent whose batch it is.
        agent: AgentId,
        /// Epoch of the batch.
        epoch: i64,
        /// Era whose stake answers for it.
        era: i64,
        /// Place in the era's order of asks.
        rank: i64,
        /// 0 the log, 1 the arrays.
        tree: i64,
        /// The leaf, counted in the tree without padding.
        leaf_index: i64,
        /// Wallet that asked.
        asker: Vec<u8>,
        /// First signature of the transaction that asked.
        signature: Vec<u8>,
        /// 0 open, 1 shown, 2 withheld: the money waits, 3 settled.
        state: i64,
        /// Slot of the last of these changes; `None` while it is open, or when that was not seen.
        settled_slot: Option<i64>,
        /// Wallet that showed the leaf.
        shower: Option<Vec<u8>>,
        /// Hash of the leaf.
        leaf_hash: Option<Vec<u8>>,
        /// Fine taken from the era; `None` until it was settled.
        fine: Option<MicroUsdc>,
        /// Paid to the asker, the price among it; `None` until it was settled.
        to_asker: Option<MicroUsdc>,
        /// 1 when the ask's account is closed, otherwise 0.
        closed: i64,
    }
}

table! {
    /// An entry of the feedback log.
    FeedbackRow "feedback" ["number"] {
        /// Index in the log, counted from 0.
        number: i64,
        /// Time that the entry records, in Unix seconds.
        timestamp: i64,
        /// Slot in which it was submitted.
        slot: i64,
        /// Key of the sender.
        sender: WalletKey,
        /// Account that paid for the entry.
        payer: WalletKey,
        /// Text of the feedback; `None` until its account was read.
        text: Option<String>,
        /// Head of the log before this entry; `None` until its account was read.
        previous_head: Option<Vec<u8>>,
        /// Head of the log after this entry.
        head: Vec<u8>,
        /// First signature of the transaction, when it was seen.
        signature: Option<Vec<u8>>,
        /// Slot of the resolution; `None` while there is none.
        resolution_slot: Option<i64>,
        /// Hash of the fix contract that resolved the feedback.
        contract_hash: Option<Vec<u8>>,
        /// Id of the commit that fixes it.
        fix_commit: Option<Vec<u8>>,
        /// Maintainer that recorded the resolution.
        maintainer: Option<WalletKey>,
    }
}

table! {
    /// A contract of a market server.
    ContractRow "contracts" ["market", "id"] {
        /// Address of the market server, as the configuration has it, without its last slash.
        market: String,
        /// Contract id: 16 hexadecimal digits.
        id: String,
        /// Status as the market server reports it.
        state: String,
        /// Public key of the principal as `fix_<64 hex digits>`.
        principal: String,
        /// Public key of the agent as `fix_<64 hex digits>`; `None` until one has taken the contract.
        agent: Option<String>,
        /// When the contract was posted, in Unix milliseconds by the market's clock.
        created_at: i64,
        /// When the contract last changed, in Unix milliseconds by the market's clock.
        updated_at: i64,
        /// The fields that lists show, as a JSON object.
        summary: String,
        /// The market server's whole answer as JSON, transcript included.
        view: String,
        /// Conversation id that is derived from the server and the contract (decision G1).
        conversation: Option<ConversationId>,
        /// 1 when the contract has ended and its transcript verifies, otherwise 0.
        settled: i64,
        /// The bounty in raw, as a decimal number; `None` for free contracts, and while strangers do not see it.
        bounty: Option<String>,
        /// 1 when an agent repaired it, 0 when one did not; `None` for everything else.
        success: Option<i64>,
        /// Milliseconds from its opening to the fix that was accepted.
        repaired_ms: Option<i64>,
        /// What the agent was paid out of the principal's deposit so far, in raw, as a decimal number.
        earned: Option<String>,
        /// The text that a search matches: its task in lower case.
        search: String,
    }
}

table! {
    /// A Nano address or block hash that appears in a contract's payments.
    TraceRow "traces" ["mark", "market", "id"] {
        /// The address, or the hash in upper-case hexadecimal digits.
        mark: String,
        /// Address of the market server.
        market: String,
        /// Id of the contract that was traced, unique at its market.
        id: String,
    }
}

table! {
    /// A binding record: a Solana wallet and the Nano account that its owner has bound to it.
    BindingRow "bindings" ["wallet"] {
        /// Public key of the Solana wallet.
        wallet: WalletKey,
        /// The bound Nano address.
        nano: String,
        /// Time that the record carries, in Unix seconds. The latest record of a wallet counts.
        created: i64,
        /// The whole signed record as JSON.
        record: String,
    }
}

table! {
    /// An agent's stake, lease and scores at the end of an epoch.
    EpochRow "epochs" ["agent", "epoch"] {
        /// Mint of the agent.
        agent: AgentId,
        /// Epoch that ended.
        epoch: i64,
        /// Locked stake of all eras; 0 without any.
        stake: MicroUsdc,
        /// Last epoch for which the lease is paid.
        paid_through: Option<i64>,
        /// Mean score as participant, in thousandths.
        reliability: i64,
        /// Mean outcome in both roles, in thousandths.
        cooperation: i64,
        /// Mean score as notary, in thousandths.
        notary: i64,
    }
}

table! {
    /// A new event of the public streams. The store assigns its id.
    StreamRow "stream" ["origin"] {
        /// Type of the event: one of [`crate::merge::KINDS`].
        kind: String,
        /// Unique text: a second event of the same origin is not stored.
        origin: String,
        /// Slot of the event on chain that it reports; `None` for other events.
        slot: Option<i64>,
        /// Mint of the agent that it is about.
        agent: Option<AgentId>,
        /// First signature of the transaction that it reports.
        signature: Option<Vec<u8>>,
        /// When the indexer stored it, in Unix milliseconds.
        at: i64,
        /// The event's JSON object without its id.
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

impl BatchRow {
    /// What was signed for it, on this network.
    pub fn message(&self, network: &Hash) -> BatchMessage {
        let covers_from = Epoch(unsigned(self.covers_from));
        self.commitment().message(network, covers_from, &fixed(&self.previous_digest))
    }

    /// What the chain keeps of it.
    pub fn commitment(&self) -> Commitment {
        Commitment {
            agent: self.agent,
            epoch: Epoch(unsigned(self.epoch)),
            log_merkle_root: fixed(&self.log_root),
            log_len: u32::try_from(self.log_len).unwrap_or(u32::MAX),
            batch_hash: fixed(&self.batch_hash),
            arrays_root: fixed(&self.arrays_root),
            arrays_len: u32::try_from(self.arrays_len).unwrap_or(u32::MAX),
        }
    }
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
