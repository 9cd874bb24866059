//! Events (protocol.md, 10 and decision B14): self-CPI instruction data. The last two fields of each are
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
        /// Credential of the delegations that clients show.
        delegate_credential: address,
        /// Schema of the delegations that clients show.
        delegate_schema: address,
        /// The cluster's genesis hash.
        network: [u8; 32],
        /// Sequence within the configuration.
        sequence: u64,
        /// Slot in which the configuration was created.
        account_created_slot: u64,
    }
    /// An agent's first tenure was opened.
    TenureOpened {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Wallet whose turn it is.
        owner: address,
        /// First epoch of the tenure.
        from_epoch: u64,
        /// Sequence within the tenure.
        sequence: u64,
        /// Slot in which the tenure was created.
        account_created_slot: u64,
    }
    /// A new holder took over.
    TakenOver {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Wallet whose turn it is.
        owner: address,
        /// Wallet whose turn it was.
        former_owner: address,
        /// Number of the new tenure.
        number: u32,
        /// First epoch of it.
        from_epoch: u64,
        /// The new era.
        era: u32,
        /// Sequence within the tenure.
        sequence: u64,
        /// Slot in which the tenure was created.
        account_created_slot: u64,
    }
    /// A key was listed.
    KeyAdded {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// The Ed25519 public key.
        key: address,
        /// Wallet that listed it.
        owner: address,
        /// Sum of 1 pay, 2 batch, 4 deal, 8 peer.
        scopes: u8,
        /// First epoch in which it acts and counts.
        from_epoch: u64,
        /// Number of the tenure.
        tenure: u32,
        /// Sequence within the key.
        sequence: u64,
        /// Slot in which the key was created.
        account_created_slot: u64,
    }
    /// A key ended.
    KeyEnded {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// The Ed25519 public key.
        key: address,
        /// Last epoch in which its signatures count.
        until_epoch: u64,
        /// Slot of the event.
        slot: u64,
        /// Sequence within the key.
        sequence: u64,
        /// Slot in which the key was created.
        account_created_slot: u64,
    }
    /// An ended key's account was closed and its rent returned.
    KeyClosed {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// The Ed25519 public key.
        key: address,
        /// Wallet that received the rent.
        payer: address,
        /// Sequence within the key; the last of this account.
        sequence: u64,
        /// Slot in which the key was created.
        account_created_slot: u64,
    }
    /// A stake was created or topped up.
    StakeLocked {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
        /// Wallet that paid.
        owner: address,
        /// Micro-USDC added (the field's name says lamports for historical reasons).
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
    /// An era ended: nothing lands in it any more.
    EraEnded {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
        /// Slot of the event.
        slot: u64,
        /// Sequence within the stake.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// An unlock was queued.
    UnlockQueued {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
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
        /// Era of the stake.
        era: u32,
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
        /// Era of the stake.
        era: u32,
        /// Wallet that received it.
        owner: address,
        /// Micro-USDC paid out.
        lamports: u64,
        /// Sequence within the stake; the last of this account.
        sequence: u64,
        /// Slot in which the stake was created.
        account_created_slot: u64,
    }
    /// A settled challenge or ask moved a stake or the finders' part.
    StakeMoved {
        /// Mint of the agent's NFT: the agent id.
        agent_mint: address,
        /// Era of the stake.
        era: u32,
        /// Micro-USDC out of the stake.
        from_stake: u64,
        /// Micro-USDC into the stake.
        to_stake: u64,
        /// Micro-USDC locked after it.
        stake_usdc: u64,
        /// Micro-USDC left of the finders' part after it.
        pot_usdc: u64,
        /// 1 when the era was slashed by it.
        slashed: u8,
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
    /// An agent's head was opened.
    HeadOpened {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The epoch before the first that a batch can cover.
        last_epoch: u64,
        /// keccak256("zx1/head/v2" ‖ network ‖ agent).
        digest: [u8; 32],
        /// Sequence within the head.
        sequence: u64,
        /// Slot in which the head was created.
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
        /// Era whose stake answers for it.
        era: u32,
        /// Number of the tenure.
        tenure: u32,
        /// The head's digest before it.
        previous_digest: [u8; 32],
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
    /// A batch was marked: a leaf that was asked for was not shown.
    BatchWithheld {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// Sequence within the agent's head.
        sequence: u64,
        /// Slot in which the head was created.
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
        /// The agent in whose era a rank was taken; zero without a rank.
        agent_id: address,
        /// Era of the stake.
        era: u32,
        /// The finder's place in the era's order; 0 without a rank.
        rank: u32,
        /// The commitment; zero without a rank.
        commit: [u8; 32],
        /// Sequence within the draft.
        sequence: u64,
        /// Slot in which the draft was created.
        account_created_slot: u64,
    }
    /// Evidence was verified against a batch.
    EvidenceSealed {
        /// The draft's account.
        draft: address,
        /// Wallet that began the draft.
        owner: address,
        /// Account of the batch.
        batch: address,
        /// What is claimed.
        claim: [u8; 32],
        /// keccak256 of what was shown.
        entry_hash: [u8; 32],
        /// Ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// Sequence within the draft.
        sequence: u64,
        /// Slot in which the draft was created.
        account_created_slot: u64,
    }
    /// An evidence draft was closed.
    EvidenceDraftCanceled {
        /// The draft's account.
        draft: address,
        /// Wallet that received the rent.
        owner: address,
        /// Lamports of the rank's deposit that were burnt.
        burnt: u64,
        /// Sequence within the draft; the last of this account.
        sequence: u64,
        /// Slot in which the draft was created.
        account_created_slot: u64,
    }
    /// A challenge was submitted, or taken over from a higher rank.
    ChallengeSubmitted {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// Era of the stake.
        era: u32,
        /// The challenger's rank.
        rank: u32,
        /// Wallet of the challenger.
        challenger: address,
        /// The challenge's account.
        challenge: address,
        /// The draft that was used.
        draft: address,
        /// What is claimed.
        claim: [u8; 32],
        /// keccak256 of what was shown.
        entry_hash: [u8; 32],
        /// Ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// 1 when the evidence determines a bid's value.
        value_known: u8,
        /// The challenger whose claim was taken over and whose stake was returned; zero for a new claim.
        replaced: address,
        /// Sequence within the challenge.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// A challenge was answered, and settled.
    ChallengeAnswered {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The challenge's account.
        challenge: address,
        /// Wallet that showed the record.
        answerer: address,
        /// Leaf of the record under arrays_root.
        leaf_index: u32,
        /// Micro-USDC that went into the era's stake.
        to_stake: u64,
        /// Micro-USDC that went to the answerer.
        to_answerer: u64,
        /// Sequence within the challenge.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// A challenge that nothing answered was settled.
    ChallengeResolved {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// 2 the challenger was paid, 3 nothing was left.
        outcome: u8,
        /// Wallet of the challenger.
        challenger: address,
        /// The challenge's account.
        challenge: address,
        /// Amount slashed by it, in micro-USDC.
        slashed: u64,
        /// Micro-USDC paid to the challenger beside its own stake.
        reward: u64,
        /// Sequence within the challenge.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// An era's order moved past a settled challenge or a lapsed draft.
    RankPassed {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// Era of the stake.
        era: u32,
        /// Place in the era's order of the challenge or draft.
        rank: u32,
        /// The challenge's or draft's account.
        account: address,
        /// Sequence within that account.
        sequence: u64,
        /// Slot in which that account was created.
        account_created_slot: u64,
    }
    /// A settled challenge's account was closed and its rent returned.
    ChallengeClosed {
        /// The challenge's account.
        challenge: address,
        /// Wallet that received the rent.
        payer: address,
        /// Sequence within the challenge; the last of this account.
        sequence: u64,
        /// Slot in which the challenge was created.
        account_created_slot: u64,
    }
    /// A leaf was asked for.
    LeafAsked {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The batch's epoch.
        epoch_number: u64,
        /// Era of the stake.
        era: u32,
        /// Place in the era's order of asks.
        rank: u32,
        /// The ask's account.
        ask: address,
        /// Wallet that asked.
        asker: address,
        /// 0 the log, 1 the arrays.
        tree: u8,
        /// The leaf, counted in the tree without padding.
        index: u32,
        /// Sequence within the ask.
        sequence: u64,
        /// Slot in which the ask was created.
        account_created_slot: u64,
    }
    /// A leaf was shown.
    LeafShown {
        /// The ask's account.
        ask: address,
        /// Wallet that showed it.
        shower: address,
        /// Hash of the leaf.
        leaf_hash: [u8; 32],
        /// Sequence within the ask.
        sequence: u64,
        /// Slot in which the ask was created.
        account_created_slot: u64,
    }
    /// An ask that nobody answered was marked or settled.
    AskSettled {
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// The ask's account.
        ask: address,
        /// 2 the batch was marked and the money waits, 3 settled.
        state: u8,
        /// Fine taken from the era, in micro-USDC.
        fine: u64,
        /// Micro-USDC paid to the asker, the price among them.
        to_asker: u64,
        /// Sequence within the ask.
        sequence: u64,
        /// Slot in which the ask was created.
        account_created_slot: u64,
    }
    /// A settled ask's account was closed and its rent returned.
    AskClosed {
        /// The ask's account.
        ask: address,
        /// Wallet that received the rent.
        asker: address,
        /// Sequence within the ask; the last of this account.
        sequence: u64,
        /// Slot in which the ask was created.
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
