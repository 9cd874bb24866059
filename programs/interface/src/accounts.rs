//! Account layouts (spec section 10; what decisions B2 to B14 add is marked). Integers first, so that no
//! layout has padding; `version` is 1 in all of them.

use crate::ids;
use crate::layout::accounts;

/// The layout version that the programs write.
pub const VERSION: u8 = 1;
/// Largest packed record (decision B9): what `expected_record` holds at most.
pub const MAX_RECORD_BYTES: usize = 92;

accounts! { ids::STAKE_LOCK;
    /// What differs between clusters, written once (decision B2). `["config"]` of StakeLock.
    Config {
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// The legacy SPL Token mint in which stakes and fees are paid.
        usdc_mint: address,
        /// The wallet whose USDC token accounts receive fees and slashed stakes.
        treasury: address,
        /// The wallet that may mark feedback entries as resolved.
        maintainer: address,
        /// SATI's RegistryConfig account, which names the group of agents.
        registry: address,
        /// The registry's TokenGroup mint, read from it at initialization; SATI never changes it.
        registry_group: address,
        /// Credential of the DelegateV1 attestations that count.
        delegate_credential: address,
        /// Schema of the DelegateV1 attestations that count.
        delegate_schema: address,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
    /// An agent's stake (spec 10.5). `["stake", agent_mint]` of StakeLock.
    StakeLockAccount {
        /// Locked amount in micro-USDC.
        stake_usdc: u64,
        /// Slot of the first lock.
        locked_since_slot: u64,
        /// Earliest slot of a claim; 0 when no unlock is queued.
        unlock_available_slot: u64,
        /// Slot at which the unlock was queued; 0 when none is.
        queued_slot: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// Unresolved challenges against the agent's batches; only Challenge moves it (decision B6).
        open_challenges: u32,
        /// 1 while an unlock is queued.
        in_unlock_queue: u8,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Bump of the vault.
        vault_bump: u8,
        /// The SATI mint, which is the agent's id.
        agent_mint: address,
        /// The NFT's owner when the stake was last touched by one.
        owner: address,
    }
}

accounts! { ids::LEASE;
    /// An agent's lease (spec 10.3). `["lease", agent_id]` of Lease.
    LeaseAccount {
        /// Last epoch that is paid.
        paid_through_epoch: u64,
        /// Slot of the last payment.
        last_paid_slot: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// 1 when the last tick or payment saw the grace period. A reader computes the state from the clock.
        in_grace_period: u8,
        /// 1 when the last tick saw the lease deactivated. A reader computes the state from the clock.
        deactivated: u8,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 4],
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
    }
}

accounts! { ids::BEHAVIOR_LOG;
    /// The end of an agent's chain of batches (decision B7). `["head", agent_id]` of BehaviorLog.
    HeadAccount {
        /// Epoch of the last batch.
        last_epoch: u64,
        /// Slot of the last batch.
        last_slot: u64,
        /// Number of batches submitted.
        count: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this agent's batches.
        event_sequence: u64,
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// keccak(previous digest ‖ batch message), from 32 zero bytes.
        digest: [u8; 32],
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
    /// One epoch's commitment (spec 10.2). `["batch", agent_id, epoch_number]` of BehaviorLog.
    BatchAccount {
        /// The batch's epoch.
        epoch_number: u64,
        /// First epoch that the batch covers; the last is its own (decision B7).
        covers_from_epoch: u64,
        /// Slot of submission.
        submitted_slot: u64,
        /// Entries of the log.
        log_len: u32,
        /// Entries of the economic arrays.
        arrays_len: u32,
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// Merkle root of the epoch's envelope log.
        log_merkle_root: [u8; 32],
        /// keccak256 of the batch's canonical CBOR.
        batch_hash: [u8; 32],
        /// Merkle root of the packed records of the economic arrays (decision B9).
        arrays_root: [u8; 32],
        /// The key that signed the batch: the NFT's owner or a delegate at that time.
        signer: address,
        /// Who paid the rent and gets it back.
        payer: address,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
}

accounts! { ids::CHALLENGE;
    /// A challenge (spec 10.4). `["challenge", batch, challenger, claim]` of Challenge.
    ChallengeAccount {
        /// The batch's epoch.
        epoch_number: u64,
        /// Slot of submission; the window counts from here.
        submitted_slot: u64,
        /// Slot of the answer; 0 when there is none.
        answered_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// The agent whose batch is challenged.
        agent_id: address,
        /// Account of the challenged batch.
        batch: address,
        /// Who challenges, puts up the stake and gets the rent back.
        challenger: address,
        /// keccak256 of the contradicting log entry, of the envelope's signed bytes, or of both bids' records.
        entry_hash: [u8; 32],
        /// What makes the challenge unique beside batch, challenger and ground (decision B10).
        evidence_hash: [u8; 32],
        /// Who answered; zero when nobody did.
        answerer: address,
        /// The packed record that an honest batch must hold, zero-padded; undetermined fields are zero.
        expected_record: [u8; 92],
        /// Bytes of the expected record; 0 when no record can answer (a double bid).
        expected_len: u8,
        /// 1 when the evidence determines a bid's value.
        value_known: u8,
        /// The ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// 1 when it is settled.
        resolved: u8,
        /// 1 when the agent was slashed.
        succeeded: u8,
        /// 1 when the right record was shown.
        answered: u8,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Bump of the vault.
        vault_bump: u8,
        /// Padding; always zero.
        reserved: [u8; 3],
    }
    /// Evidence under construction (decision B10). `["draft", owner, nonce]` of Challenge; the bytes follow.
    EvidenceDraft {
        /// Chosen by the owner, so that several drafts can be open.
        nonce: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// Length of the whole content in bytes.
        len: u32,
        /// Bytes written so far.
        written: u32,
        /// Who made it, may extend and cancel it, and gets the rent back.
        owner: address,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
    /// An envelope whose signature was verified (decision B11). `["evidence", owner, nonce]` of Challenge.
    RecordedEnvelope {
        /// Chosen by the owner, so that several can be open.
        nonce: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// Epoch of the envelope's timestamp.
        epoch: u64,
        /// Who recorded it, may use and discard it, and gets the rent back.
        owner: address,
        /// The envelope's sender.
        agent_id: address,
        /// The key that signed it.
        signer: address,
        /// keccak256 of the signed bytes.
        entry_hash: [u8; 32],
        /// The packed record that an honest batch must hold, zero-padded.
        expected_record: [u8; 92],
        /// Bytes of the expected record.
        expected_len: u8,
        /// The ground it was derived for.
        ground: u8,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
    }
}

accounts! { ids::FEEDBACK_LOG;
    /// The head of the feedback log (decision B13). `["feedback_log"]` of FeedbackLog.
    FeedbackLogAccount {
        /// Entries so far; also the next entry's index.
        count: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for the log.
        event_sequence: u64,
        /// keccak(previous head ‖ packed entry), from 32 zero bytes.
        head: [u8; 32],
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
    /// One entry (decision B13). `["entry", index]` of FeedbackLog; the text follows.
    FeedbackEntry {
        /// Position in the log, from 0.
        index: u64,
        /// Unix time in seconds.
        timestamp: i64,
        /// Slot of submission.
        slot: u64,
        /// Wallet that wrote the text.
        sender: address,
        /// Wallet that paid the rent.
        payer: address,
        /// The log's head before this entry.
        previous_head: [u8; 32],
        /// Bytes of the text.
        text_len: u32,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 2],
    }
    /// A text under construction (decision B13). `["draft", sender, nonce]` of FeedbackLog; the text follows.
    FeedbackDraft {
        /// Chosen by the sender, so that several drafts can be open.
        nonce: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// Length of the whole content in bytes.
        len: u32,
        /// Bytes written so far.
        written: u32,
        /// Who speaks, and alone may extend, seal or cancel.
        sender: address,
        /// Who paid the rent and gets it back.
        payer: address,
        /// keccak256 of the whole text, checked when it is sealed.
        text_hash: [u8; 32],
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
    /// The maintainer's resolution of an entry (decision B13). `["resolution", index]` of FeedbackLog.
    FeedbackResolution {
        /// The entry's index.
        index: u64,
        /// Slot of the resolution.
        slot: u64,
        /// Hash of the contract under which it was fixed; zero when there was none.
        contract_hash: [u8; 32],
        /// The commit's id; a SHA-1 id is followed by 12 zero bytes.
        commit: [u8; 32],
        /// The maintainer who said so.
        maintainer: address,
        /// Version of the layout: 1.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
}
