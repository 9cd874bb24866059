//! Instruction data (spec section 10 and decisions B2 to B13): eight bytes of discriminator, then the
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

instructions! { ids::STAKE_LOCK;
    /// Writes the configuration, once, by the upgrade authority (decision B2).
    initialize_config InitializeConfig {
        /// The wallet whose USDC accounts receive fees and slashed stakes.
        treasury: address,
        /// The wallet that may resolve feedback entries.
        maintainer: address,
        /// Credential of the delegations that count.
        delegate_credential: address,
        /// Schema of the delegations that count.
        delegate_schema: address,
    }
    /// Creates or tops up an agent's stake (spec 10.5, decision B6).
    lock_stake LockStake {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Micro-USDC to add.
        amount: u64,
    }
    /// Starts the unlock delay (decision B6).
    queue_unlock QueueUnlock {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
    }
    /// Takes a queued unlock back once the lease is paid again (decision B6).
    cancel_unlock CancelUnlock {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
    }
    /// Pays the stake out and closes its accounts (decision B6).
    claim_stake ClaimStake {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
    }
    /// Takes from a stake; only Challenge may call it (spec 10.5, decision B12).
    slash Slash {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Micro-USDC to take.
        amount: u64,
    }
    /// Counts a challenge as open; only Challenge may call it (decision B6).
    open_challenge OpenChallenge {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
    }
    /// Counts a challenge as settled; only Challenge may call it (decision B6).
    settle_challenge SettleChallenge {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
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
    /// Moves a lease to the state that the clock says; anyone may call it (spec 10.3).
    tick_lease TickLease {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
    }
}

instructions! { ids::BEHAVIOR_LOG;
    /// Commits to an epoch's batch. The instruction before it must be the Ed25519 check of its message
    /// (decision B7).
    submit_batch SubmitBatch {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// Merkle root of the log.
        log_merkle_root: [u8; 32],
        /// Entries of the log, at most 2^20.
        log_len: u32,
        /// keccak256 of the batch.
        batch_hash: [u8; 32],
        /// Merkle root of the packed records.
        arrays_root: [u8; 32],
        /// Packed records, at most 2^20.
        arrays_len: u32,
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
    /// Challenges a batch with evidence given inline, in a draft or as a recorded envelope (decision B10).
    submit_challenge SubmitChallenge {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// The evidence; empty when it lies in the evidence account.
        contradicting_entry: bytes,
    }
    /// Verifies an envelope's signature by introspection and keeps the record it implies (decision B11).
    record_envelope RecordEnvelope {
        /// The ground it will be used for.
        ground: u8,
        /// Tells several recordings of one owner apart.
        nonce: u64,
    }
    /// Closes a recorded envelope that was not used.
    discard_envelope DiscardEnvelope {
        /// Nonce of the recording.
        nonce: u64,
    }
    /// Opens a draft for evidence that does not fit one transaction (decision B10).
    begin_evidence BeginEvidence {
        /// Tells several drafts of one owner apart.
        nonce: u64,
        /// Bytes that will be written.
        len: u32,
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
    /// Closes an evidence draft that was not used.
    cancel_evidence CancelEvidence {
        /// The draft's nonce.
        nonce: u64,
    }
    /// Shows the record that an honest batch must hold (decision B10).
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
    /// Settles a challenge after its window (spec 10.4, decisions B10 and B12).
    resolve_challenge ResolveChallenge {}
    /// Returns a settled challenge's rent (decision B8).
    close_challenge CloseChallenge {}
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
