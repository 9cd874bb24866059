//! Events (spec section 10 and decision B14): self-CPI instruction data. The last two fields of each are
//! the sequence number within its account, from 0 without gaps, and the slot in which that account was
//! created: two numbers by which an indexer proves that it missed none, also across a closed account.

use crate::layout::events;

events! {
    /// The configuration was written.
    ConfigInitialized {
        /// The USDC mint.
        usdc_mint: address,
        /// The treasury's wallet.
        treasury: address,
        /// The maintainer's wallet.
        maintainer: address,
        /// SATI's RegistryConfig account, which names the group of agents.
        registry: address,
        /// The registry's group, as it was read from it.
        registry_group: address,
        /// Credential of the delegations that count.
        delegate_credential: address,
        /// Schema of the delegations that count.
        delegate_schema: address,
        /// Sequence within the configuration.
        sequence: u64,
        /// Slot in which the configuration was created.
        account_created_slot: u64,
    }
    /// A stake was created or topped up.
    StakeLocked {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Wallet of the NFT's owner, who paid.
        owner: address,
        /// Micro-USDC added (the specification calls them lamports).
        lamports: u64,
        /// Slot of the event.
        slot: u64,
        /// Micro-USDC locked after it.
        stake_usdc: u64,
        /// Sequence within the stake.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// An unlock was queued.
    UnlockQueued {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Earliest slot of a claim.
        unlock_available_slot: u64,
        /// Sequence within the stake.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// A queued unlock was canceled.
    UnlockCanceled {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Slot of the event.
        slot: u64,
        /// Sequence within the stake.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// A stake was claimed and its account closed.
    StakeClaimed {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Wallet that received it.
        owner: address,
        /// Micro-USDC paid out.
        lamports: u64,
        /// Sequence within the stake; the last of this account.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// A stake was slashed by Challenge.
    StakeSlashed {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Amount taken, in micro-USDC.
        amount: u64,
        /// The token account that received them.
        recipient: address,
        /// Sequence within the stake.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// A lease was paid.
    LeasePaid {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// Last epoch paid after it.
        epoch: u64,
        /// Amount paid, in micro-USDC.
        amount: u64,
        /// Wallet that paid for it.
        payer: address,
        /// 0 the first payment, 1 a renewal, 2 a reactivation.
        kind: u8,
        /// Sequence within the lease.
        sequence: u64,
        /// Slot in which the lease was created.
        account_created_slot: u64,
    }
    /// A tick saw a lease enter its grace period.
    GracePeriodEntered {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The current epoch.
        epoch: u64,
        /// Sequence within the lease.
        sequence: u64,
        /// Slot in which the lease was created.
        account_created_slot: u64,
    }
    /// A tick saw a lease deactivated.
    LeaseExpired {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The current epoch.
        epoch: u64,
        /// Sequence within the lease.
        sequence: u64,
        /// Slot in which the lease was created.
        account_created_slot: u64,
    }
    /// A batch was submitted.
    BatchSubmitted {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// keccak256 of the batch.
        batch_hash: [u8; 32],
        /// Slot of the event.
        submitted_slot: u64,
        /// Merkle root of the log.
        log_merkle_root: [u8; 32],
        /// Merkle root of the economic arrays.
        arrays_root: [u8; 32],
        /// Entries of the log.
        log_len: u32,
        /// Entries of the economic arrays.
        arrays_len: u32,
        /// First epoch that the batch covers.
        covers_from_epoch: u64,
        /// Wallet that paid the rent.
        payer: address,
        /// Key that signed the batch.
        signer: address,
        /// Sequence within the agent's head.
        sequence: u64,
        /// Slot in which the head was created.
        account_created_slot: u64,
    }
    /// A batch's account was closed and its rent returned.
    BatchClosed {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// Wallet that received the rent.
        payer: address,
        /// Sequence within the agent's head.
        sequence: u64,
        /// Slot in which the head was created.
        account_created_slot: u64,
    }
    /// A challenge was submitted.
    ChallengeSubmitted {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// Wallet of the challenger.
        challenger: address,
        /// The challenge's account.
        challenge: address,
        /// The draft or recorded envelope that was used, and closed by it; zero for inline evidence.
        evidence: address,
        /// keccak256 of what was shown.
        entry_hash: [u8; 32],
        /// The evidence hash.
        evidence_hash: [u8; 32],
        /// Ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// Sequence within the challenge.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// A challenge was answered.
    ChallengeAnswered {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The challenge's account.
        challenge: address,
        /// Wallet that showed the record.
        answerer: address,
        /// Leaf of the record under arrays_root.
        leaf_index: u32,
        /// Sequence within the challenge.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// A challenge was resolved.
    ChallengeResolved {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// 1 when the agent was slashed.
        succeeded: u8,
        /// Wallet of the challenger.
        challenger: address,
        /// The challenge's account.
        challenge: address,
        /// Amount slashed, in micro-USDC.
        slashed: u64,
        /// Micro-USDC of it paid to the challenger.
        reward: u64,
        /// Sequence within the challenge.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// A settled challenge's account was closed and its rent returned.
    ChallengeClosed {
        /// The challenge's account.
        challenge: address,
        /// Wallet that received the rent.
        challenger: address,
        /// Sequence within the challenge; the last of this account.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// An envelope's signature was verified and its record kept.
    EnvelopeRecorded {
        /// The envelope's sender.
        agent_id: address,
        /// Wallet that recorded it.
        owner: address,
        /// The recording account.
        record: address,
        /// keccak256 of the signed bytes.
        entry_hash: [u8; 32],
        /// Ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// Sequence within the recording account.
        sequence: u64,
        /// Slot in which it was created.
        account_created_slot: u64,
    }
    /// A recorded envelope was discarded unused.
    EnvelopeDiscarded {
        /// The recording account.
        record: address,
        /// Wallet that received the rent.
        owner: address,
        /// Sequence within the recording account.
        sequence: u64,
        /// Slot in which it was created.
        account_created_slot: u64,
    }
    /// An evidence draft was begun.
    EvidenceDraftBegun {
        /// The draft's account.
        draft: address,
        /// Wallet that began the draft.
        owner: address,
        /// Length of the whole content in bytes.
        len: u32,
        /// Sequence within the draft.
        sequence: u64,
        /// Slot in which it was created.
        account_created_slot: u64,
    }
    /// An evidence draft was canceled.
    EvidenceDraftCanceled {
        /// The draft's account.
        draft: address,
        /// Wallet that received the rent.
        owner: address,
        /// Sequence within the draft.
        sequence: u64,
        /// Slot in which it was created.
        account_created_slot: u64,
    }
    /// A feedback entry was appended.
    FeedbackSubmitted {
        /// Position in the log, from 0.
        index: u64,
        /// Wallet that wrote the text.
        sender: address,
        /// Wallet that paid for it.
        payer: address,
        /// The draft that was sealed, and closed by it; zero for a text in one transaction.
        draft: address,
        /// Unix time in seconds.
        timestamp: i64,
        /// The log's head after it.
        head: [u8; 32],
        /// Bytes of the text.
        text_len: u32,
        /// Sequence within the log.
        sequence: u64,
        /// Slot in which the log was created.
        account_created_slot: u64,
    }
    /// A feedback draft was begun.
    FeedbackDraftBegun {
        /// The draft's account.
        draft: address,
        /// Wallet that wrote the text.
        sender: address,
        /// Wallet that paid the rent.
        payer: address,
        /// Length of the whole content in bytes.
        len: u32,
        /// Sequence within the draft.
        sequence: u64,
        /// Slot in which it was created.
        account_created_slot: u64,
    }
    /// A feedback draft was canceled.
    FeedbackDraftCanceled {
        /// The draft's account.
        draft: address,
        /// Wallet that received the rent.
        payer: address,
        /// Sequence within the draft.
        sequence: u64,
        /// Slot in which it was created.
        account_created_slot: u64,
    }
    /// The maintainer attached a resolution to an entry.
    FeedbackResolved {
        /// The entry's index.
        index: u64,
        /// Hash of the contract; zero when there was none.
        contract_hash: [u8; 32],
        /// The commit's id.
        commit: [u8; 32],
        /// Sequence within the resolution: 0.
        sequence: u64,
        /// Slot in which the resolution was created.
        account_created_slot: u64,
    }
}
