//! Instruction data (protocol.md, 10 and decisions B2 to B13): eight bytes of discriminator, then the
//! arguments in Borsh. The programs take the same arguments through Anchor; a test compares both with the
//! committed IDLs. Account lists stand in client/chain, compared with the IDLs likewise.

extern crate alloc;
use crate::ids::{self, Address};
use crate::layout::{Field, discriminator, idl_type};
use alloc::vec::Vec;

/// An instruction's data.
pub trait Instruction {
    /// Name in snake case, as in the IDL.
    const NAME: &'static str;
    /// First eight bytes of `sha256("global:" + NAME)`.
    const DISCRIMINATOR: [u8; 8];
    /// The program that takes it.
    const PROGRAM: Address;
    /// Arguments, in the order of the data.
    const FIELDS: &'static [Field];
    /// The whole instruction data.
    fn data(&self) -> Vec<u8>;
}

trait Argument {
    fn write(&self, out: &mut Vec<u8>);
}
macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Argument for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
integers!(u8, u32, u64, i128);
impl<const N: usize> Argument for [u8; N] {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}
impl Argument for Vec<u8> {
    fn write(&self, out: &mut Vec<u8>) {
        // Longer than a transaction can never be sent; saturating keeps this total.
        u32::try_from(self.len()).unwrap_or(u32::MAX).write(out);
        out.extend_from_slice(self);
    }
}
impl Argument for Vec<[u8; 32]> {
    fn write(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).unwrap_or(u32::MAX).write(out);
        self.iter().for_each(|hash| hash.write(out));
    }
}

macro_rules! argument_type {
    (address) => { Address };
    (bytes) => { Vec<u8> };
    (hashes) => { Vec<[u8; 32]> };
    ($ty:tt) => { $ty };
}
macro_rules! argument_idl {
    (bytes) => {
        "{\"vec\":\"u8\"}"
    };
    (hashes) => {
        "{\"vec\":{\"array\":[\"u8\",32]}}"
    };
    ($ty:tt) => {
        idl_type!($ty)
    };
}

macro_rules! instructions {
    ($program:expr; $(
        $(#[doc = $doc:literal])*
        $name:ident $struct:ident { $( $(#[doc = $field_doc:literal])* $field:ident: $ty:tt, )* }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $struct { $( $(#[doc = $field_doc])* pub $field: argument_type!($ty), )* }

        impl Instruction for $struct {
            const NAME: &'static str = stringify!($name);
            const DISCRIMINATOR: [u8; 8] = discriminator("global:", stringify!($name));
            const PROGRAM: Address = $program;
            const FIELDS: &'static [Field] = &[$( Field {
                name: stringify!($field), idl_type: argument_idl!($ty), doc: concat!($($field_doc),*),
            } ),*];
            fn data(&self) -> Vec<u8> {
                let mut out = Vec::new();
                out.extend_from_slice(&Self::DISCRIMINATOR);
                $( self.$field.write(&mut out); )*
                out
            }
        }
    )*};
}

/// What a deposit is for: `what` of [`TakeDeposit`].
pub mod deposit {
    /// A challenge that holds its rank already.
    pub const RANKED_CHALLENGE: u8 = 1;
    /// A challenge that takes the next rank.
    pub const CHALLENGE: u8 = 2;
    /// An ask, which takes the next rank of asks.
    pub const ASK: u8 = 3;
}

/// What a settlement decides: the sum of these is `marks` of [`Settle`].
pub mod mark {
    /// A challenge is settled.
    pub const CHALLENGE: u8 = 1;
    /// The order of ranks moves on.
    pub const ORDER: u8 = 2;
    /// An ask is settled.
    pub const ASK: u8 = 4;
    /// The era is slashed.
    pub const SLASH: u8 = 8;
    /// All of them.
    pub const ALL: u8 = 15;
}

instructions! { ids::STAKE_LOCK;
    /// Writes the configuration, once, by the upgrade authority (decisions B2 and P5).
    initialize_config InitializeConfig {
        /// The wallet whose USDC accounts receive fees and slashed stakes.
        treasury: address,
        /// The wallet that may resolve feedback entries.
        maintainer: address,
        /// Credential of the delegations that clients show.
        delegate_credential: address,
        /// Schema of the delegations that clients show.
        delegate_schema: address,
        /// The cluster's genesis hash.
        network: [u8; 32],
        /// The smallest stake that counts, in micro-USDC.
        min_stake: u64,
        /// What a challenger puts up, in micro-USDC.
        challenge_stake: u64,
        /// Part of a lost challenge stake for the challenged era, in micro-USDC.
        lost_to_stake: u64,
        /// Part of a lost challenge stake for who answered, in micro-USDC.
        lost_to_answerer: u64,
        /// Price of an ask, in micro-USDC.
        ask_price: u64,
        /// Part of the price for who shows the leaf, in micro-USDC.
        ask_to_shower: u64,
        /// Part of the price for the era, in micro-USDC.
        ask_to_stake: u64,
        /// Fine for a withheld leaf, in micro-USDC.
        fine: u64,
        /// Part of the fine for the asker, in micro-USDC.
        fine_to_asker: u64,
        /// Deposit of a rank, in lamports.
        rank_deposit: u64,
        /// The finders' part of a slashed stake, in percent.
        finders_percent: u8,
        /// Each finder's part of what is left of it, in percent.
        share_percent: u8,
    }
    /// Makes the pooled vault of a shard; anyone may, once (decision P5).
    open_vault OpenVault {
        /// First byte of the ids of its agents.
        shard: u8,
    }
    /// Makes an agent's first tenure, its holder's (decision P1).
    open_tenure OpenTenure {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
    }
    /// Begins the holder's tenure: ends every live key and the era (decision P1).
    take_over TakeOver {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
    }
    /// Lists a key of the agent, which signs with the owner (decision P1).
    add_key AddKey {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Sum of 1 pay, 2 batch, 4 deal, 8 peer.
        scopes: u8,
    }
    /// Ends a key: it acts no more, and what it signs later does not count (decision P1).
    end_key EndKey {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// The Ed25519 public key.
        key: address,
    }
    /// Returns an ended key's rent; anyone may call it (decision P1).
    close_key CloseKey {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// The Ed25519 public key.
        key: address,
    }
    /// Creates or tops up an agent's stake of an era (decisions B6 and P1).
    lock_stake LockStake {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// The tenure's era, or the next one while that is challenged or over.
        era: u32,
        /// Micro-USDC to add.
        amount: u64,
    }
    /// Starts the unlock delay (decision B6).
    queue_unlock QueueUnlock {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
    }
    /// Takes a queued unlock back once the lease is paid again (decision B6).
    cancel_unlock CancelUnlock {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
    }
    /// Pays an era's stake out and closes its account (decisions B6 and P1).
    claim_stake ClaimStake {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
    }
    /// Gives out the next rank of an era; only Challenge may call it (decision P4).
    take_rank TakeRank {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
    }
    /// Takes a challenge's stake or an ask's price in; only Challenge may call it (decision P4).
    take_deposit TakeDeposit {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
        /// Micro-USDC that the payer's account pays into the vault.
        amount: u64,
        /// 1 a challenge that holds its rank already, 2 a challenge that takes one, 3 an ask.
        what: u8,
    }
    /// Moves what a settled challenge or ask decides; only Challenge may call it (decisions B12 and P4).
    settle Settle {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
        /// Micro-USDC out of the held deposits.
        from_deposits: u64,
        /// Micro-USDC out of the stake.
        from_stake: u64,
        /// Micro-USDC out of the finders' part.
        from_pot: u64,
        /// Micro-USDC into the stake.
        to_stake: u64,
        /// Micro-USDC into the finders' part.
        to_pot: u64,
        /// Micro-USDC to the first recipient.
        first: u64,
        /// Micro-USDC to the second recipient.
        second: u64,
        /// Sum of 1 a challenge is settled, 2 the order of ranks moves on, 4 an ask is settled and the order of
        /// asks moves on, 8 the era is slashed.
        marks: u8,
    }
}

instructions! { ids::LEASE;
    /// Pays for epochs; the first payment creates the lease, a late one reactivates it (decision B5).
    pay_lease PayLease {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// Epochs to pay, at least 1.
        epochs: u32,
    }
    /// Moves a lease to the state that the clock says; anyone may call it (protocol.md, 10.3).
    tick_lease TickLease {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
    }
}

instructions! { ids::BEHAVIOR_LOG;
    /// Makes an agent's head; anyone may, once (decision P2).
    open_head OpenHead {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
    }
    /// Lands a batch. Its fields are those of the message whose Ed25519 check must be the instruction before
    /// it (decision P2).
    submit_batch SubmitBatch {}
    /// Marks a batch that withholds a leaf; only Challenge may call it (decision P4).
    mark_withheld MarkWithheld {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
    }
    /// Returns a batch's rent once it can no longer be challenged (decision B8).
    close_batch CloseBatch {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
    }
}

instructions! { ids::CHALLENGE;
    /// Opens a draft, with a rank unless `commit` is zero (decisions B10 and P4).
    begin_evidence BeginEvidence {
        /// Tells several drafts of one owner apart.
        nonce: u64,
        /// Bytes that will be written; 0 for an envelope, which is signed in the transaction that seals.
        len: u32,
        /// The agent in whose era the rank is taken; zero without a rank.
        agent_id: address,
        /// The era in which the rank is taken.
        era: u32,
        /// keccak256("zx1/commit/v2" ‖ owner ‖ batch ‖ evidence); zero for a draft without a rank.
        commit: [u8; 32],
    }
    /// Appends to an evidence draft.
    append_evidence AppendEvidence {
        /// The draft's nonce.
        nonce: u64,
        /// Where the bytes go: the draft's present length.
        offset: u32,
        /// Content to append.
        bytes: bytes,
    }
    /// Verifies the evidence against a batch and keeps what it claims (decisions B11 and P5).
    seal_evidence SealEvidence {
        /// The draft's nonce.
        nonce: u64,
        /// 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
    }
    /// Closes an evidence draft; a lapsed rank's deposit is burnt (decision P4).
    cancel_evidence CancelEvidence {
        /// The draft's nonce.
        nonce: u64,
    }
    /// Opens the claim of a sealed draft, or takes it over from a higher rank (decision P4).
    submit_challenge SubmitChallenge {
        /// The draft's nonce.
        nonce: u64,
    }
    /// Shows the record that an honest batch must hold, and settles the challenge (decisions B10 and P4).
    answer_challenge AnswerChallenge {
        /// Leaf of the record under arrays_root, counted in the padded tree.
        leaf_index: u32,
        /// Its proof, from the leaf upward.
        merkle_proof: hashes,
        /// The bid's value; ignored where the evidence determines it.
        bid_value: i128,
        /// The feedback's attestation hash; ignored for every other record.
        attestation: [u8; 32],
    }
    /// Settles a challenge that nothing answered, once its rank is first (decisions B12 and P4).
    resolve_challenge ResolveChallenge {}
    /// Returns a settled challenge's rent (decision B8).
    close_challenge CloseChallenge {}
    /// Moves an era's order past a settled challenge or a lapsed draft; anyone may call it (decision P4).
    pass_rank PassRank {}
    /// Pays what is left of the finders' part to the treasury, once nobody can claim it (decision P4).
    settle_era SettleEra {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// Era of the stake.
        era: u32,
    }
    /// Asks for a leaf of a batch (decision P4).
    ask_leaf AskLeaf {
        /// 0 the log, 1 the arrays.
        tree: u8,
        /// Leaf, counted in the tree without padding.
        index: u32,
    }
    /// Shows a leaf that was asked for; anyone may (decision P4).
    show_leaf ShowLeaf {
        /// Its proof, from the leaf upward.
        merkle_proof: hashes,
        /// The entry or record; empty when it lies in a draft.
        leaf: bytes,
    }
    /// Settles an ask that nobody answered in time (decision P4).
    settle_ask SettleAsk {}
    /// Returns a settled ask's rent.
    close_ask CloseAsk {}
}

instructions! { ids::FEEDBACK_LOG;
    /// Appends an entry whose text fits the transaction (decision B13).
    submit_feedback SubmitFeedback {
        /// The index the entry will have: the log's present count.
        index: u64,
        /// The text, UTF-8, 1 to 2048 bytes.
        text: bytes,
    }
    /// Opens a draft for a longer text.
    begin_draft BeginDraft {
        /// Tells several drafts of one sender apart.
        nonce: u64,
        /// Bytes of the whole text.
        len: u32,
        /// keccak256 of the whole text.
        text_hash: [u8; 32],
    }
    /// Appends to a draft.
    append_draft AppendDraft {
        /// The draft's nonce.
        nonce: u64,
        /// Where the bytes go: the draft's present length.
        offset: u32,
        /// Content to append.
        bytes: bytes,
    }
    /// Turns a complete draft into an entry and closes it.
    seal_draft SealDraft {
        /// The draft's nonce.
        nonce: u64,
        /// The index the entry will have: the log's present count.
        index: u64,
    }
    /// Closes a draft that was not sealed.
    cancel_draft CancelDraft {
        /// The draft's nonce.
        nonce: u64,
    }
    /// Attaches a resolution to an entry; only the maintainer may (decision B13).
    resolve_entry ResolveEntry {
        /// Index of the entry.
        index: u64,
        /// Hash of the contract under which it was fixed; zero when there was none.
        contract_hash: [u8; 32],
        /// The commit's id; a SHA-1 id is followed by 12 zero bytes.
        commit: [u8; 32],
    }
}
