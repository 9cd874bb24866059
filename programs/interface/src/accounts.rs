//! Account layouts (protocol.md, 10; what decisions B2 to B14 add is marked). Integers first, so that no
//! layout has padding; `version` is 2 in all of them.

use crate::ids;
use crate::layout::accounts;

/// Largest packed record (decision P3): what `expected_record` holds at most.
pub const MAX_RECORD_BYTES: usize = 124;

accounts! { ids::STAKE_LOCK;
    /// What differs between clusters, written once (decisions B2 and P5). `["config"]` of StakeLock.
    Config {
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// The smallest stake that counts, in micro-USDC.
        min_stake: u64,
        /// What a challenger puts up, in micro-USDC.
        challenge_stake: u64,
        /// Part of a lost challenge stake that goes into the challenged era, in micro-USDC.
        lost_to_stake: u64,
        /// Part of a lost challenge stake that goes to who answered, in micro-USDC; the rest is the treasury's.
        lost_to_answerer: u64,
        /// Price of an ask, in micro-USDC.
        ask_price: u64,
        /// Part of the price that goes to who shows the leaf, in micro-USDC.
        ask_to_shower: u64,
        /// Part of the price that goes into the era, in micro-USDC; the rest is the treasury's.
        ask_to_stake: u64,
        /// Fine for a withheld leaf, once a batch, in micro-USDC.
        fine: u64,
        /// Part of the fine that goes to the asker, in micro-USDC; the rest is the treasury's.
        fine_to_asker: u64,
        /// Deposit of a rank, in lamports; burnt when the rank lapses.
        rank_deposit: u64,
        /// The cluster's genesis hash.
        network: [u8; 32],
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
        /// Credential of the DelegateV1 attestations that clients show; they give no authority.
        delegate_credential: address,
        /// Schema of the DelegateV1 attestations that clients show.
        delegate_schema: address,
        /// The finders' part of a slashed stake, in percent; the rest is the treasury's.
        finders_percent: u8,
        /// What each finder takes of what is left of the finders' part, in percent.
        share_percent: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 4],
    }
    /// Whose turn an agent is (decision P1). `["tenure", agent_mint]` of StakeLock.
    TenureAccount {
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// First epoch of this tenure.
        from_epoch: u64,
        /// Counts tenures, from 1.
        number: u32,
        /// The era in which stakes are locked and batches land, from 0.
        era: u32,
        /// Keys of this tenure that have not ended.
        live_keys: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// 1 when this tenure has listed a key.
        has_listed: u8,
        /// Padding; always zero.
        reserved: [u8; 4],
        /// The SATI mint, which is the agent's id.
        agent: address,
        /// Wallet whose turn it is.
        owner: address,
    }
    /// A key of an agent (decision P1). `["key", agent_mint, key]` of StakeLock.
    KeyAccount {
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// First epoch in which the key acts and its signatures count.
        from_epoch: u64,
        /// Last epoch in which its signatures count; 2^64-1 while it is open.
        until_epoch: u64,
        /// Slot in which it ended; 0 while it is live.
        ended_slot: u64,
        /// Number of the tenure that listed it.
        tenure: u32,
        /// Sum of 1 pay, 2 batch, 4 deal, 8 peer.
        scopes: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: u8,
        /// The SATI mint, which is the agent's id.
        agent: address,
        /// The Ed25519 public key.
        key: address,
        /// Wallet that listed it.
        owner: address,
        /// Who paid the rent and gets it back.
        payer: address,
    }
    /// An agent's stake of one era (decision P1). `["stake", agent_mint, era]` of StakeLock.
    StakeLockAccount {
        /// Locked amount in micro-USDC.
        stake_usdc: u64,
        /// What is left of the finders' part once the era was slashed, in micro-USDC.
        pot_usdc: u64,
        /// Stakes of challenges and prices of asks that are held for this era, in micro-USDC.
        deposits_usdc: u64,
        /// Slot of the first lock.
        locked_since_slot: u64,
        /// Earliest slot of a claim; 0 when no unlock is queued.
        unlock_available_slot: u64,
        /// Slot at which the unlock was queued; 0 when none is.
        queued_slot: u64,
        /// Slot in which the era ended; 0 while batches may land in it.
        ended_slot: u64,
        /// Slot in which the era was slashed; 0 when it was not.
        slashed_slot: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// Era of the stake.
        era: u32,
        /// Unsettled challenges against batches of the era.
        open_challenges: u32,
        /// The rank that the next finder takes.
        next_rank: u32,
        /// Every rank below is settled or lapsed.
        settled_rank: u32,
        /// Asks that are not settled.
        open_asks: u32,
        /// The rank that the next ask takes.
        next_ask: u32,
        /// Every ask below is settled.
        settled_ask: u32,
        /// 1 while an unlock is queued.
        in_unlock_queue: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: u8,
        /// The SATI mint, which is the agent's id.
        agent_mint: address,
        /// Wallet that locked it, and alone may claim it.
        owner: address,
    }
    /// The total that a pooled vault must hold (decision P5). `["shard", shard]` of StakeLock; authority of
    /// the vault.
    ShardAccount {
        /// What is owed out of the vault, in micro-USDC.
        total_usdc: u64,
        /// Slot of creation.
        created_slot: u64,
        /// First byte of the ids of its agents.
        shard: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 5],
        /// The vault, a token account.
        vault: address,
    }
}

accounts! { ids::LEASE;
    /// An agent's lease (protocol.md, 10.3). `["lease", agent_id]` of Lease.
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
        /// Version of the layout: 2.
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
    /// The end of an agent's chain of batches (decision P2). `["head", agent_id]` of BehaviorLog.
    HeadAccount {
        /// Epoch of the last batch; before the first, the epoch before the one in which the head was opened.
        last_epoch: u64,
        /// Slot of the last batch; 0 before the first.
        last_slot: u64,
        /// Number of batches landed.
        count: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this agent's batches.
        event_sequence: u64,
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// keccak(previous digest ‖ batch message), from keccak("zx1/head/v2" ‖ network ‖ agent).
        digest: [u8; 32],
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
    /// One epoch's commitment (protocol.md, 10.2). `["batch", agent_id, epoch_number]` of BehaviorLog.
    BatchAccount {
        /// The batch's epoch.
        epoch_number: u64,
        /// First epoch that the batch covers; the last is its own (decision P2).
        covers_from_epoch: u64,
        /// Slot of submission.
        submitted_slot: u64,
        /// Entries of the log.
        log_len: u32,
        /// Entries of the economic arrays.
        arrays_len: u32,
        /// Era whose stake answers for it.
        era: u32,
        /// Number of the tenure in which it landed.
        tenure: u32,
        /// Mint of the agent's NFT: the agent id.
        agent_id: address,
        /// Merkle root of the epoch's envelope log.
        log_merkle_root: [u8; 32],
        /// keccak256 of the batch's canonical CBOR.
        batch_hash: [u8; 32],
        /// Merkle root of the packed records of the economic arrays (decision B9).
        arrays_root: [u8; 32],
        /// The batch key that signed it.
        signer: address,
        /// Who paid the rent and gets it back.
        payer: address,
        /// 1 when a leaf that was asked for was not shown: the batch counts for nothing.
        withheld: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 5],
    }
}

accounts! { ids::CHALLENGE;
    /// A challenge (decision P4). `["challenge", batch, claim32]` of Challenge.
    ChallengeAccount {
        /// The batch's epoch.
        epoch_number: u64,
        /// Slot of submission; the window counts from here.
        submitted_slot: u64,
        /// Slot in which it was settled; 0 while it is open.
        settled_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// What the challenger put up, in micro-USDC.
        stake_usdc: u64,
        /// The challenger's place in the era's order.
        rank: u32,
        /// The batch's era.
        era: u32,
        /// The agent whose batch is challenged.
        agent_id: address,
        /// Account of the challenged batch.
        batch: address,
        /// Who challenges and has put up the stake.
        challenger: address,
        /// Who paid the rent and gets it back: the first who opened this claim.
        payer: address,
        /// What is claimed (decision P4).
        claim: [u8; 32],
        /// keccak256 of the contradicting log entry, of the envelope's signed bytes, or of both bids' records.
        entry_hash: [u8; 32],
        /// Who answered; zero when nobody did.
        answerer: address,
        /// The packed record that an honest batch must hold, zero-padded; undetermined fields are zero.
        expected_record: [u8; 124],
        /// Bytes of the expected record; 0 when no record can answer (a double bid).
        expected_len: u8,
        /// 1 when the evidence determines a bid's value.
        value_known: u8,
        /// The ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
        ground: u8,
        /// 0 open, 1 answered, 2 succeeded: the agent was slashed, 3 nothing was left to slash.
        outcome: u8,
        /// 1 when the era's order has moved past its rank.
        passed: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 5],
    }
    /// Evidence under construction, and the rank that it holds (decisions B10 and P4).
    /// `["draft", owner, nonce]` of Challenge; the bytes follow.
    EvidenceDraft {
        /// Chosen by the owner, so that several drafts can be open.
        nonce: u64,
        /// Slot of creation.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// Slot in which the rank was taken.
        begin_slot: u64,
        /// Deposit of the rank, in lamports, held on top of the rent; 0 without a rank.
        deposit: u64,
        /// Length of the whole content in bytes.
        len: u32,
        /// Bytes written so far.
        written: u32,
        /// The rank; meaningless while `state` is 0.
        rank: u32,
        /// The era in which the rank was taken.
        era: u32,
        /// Who made it, may extend and cancel it, and gets the rent back.
        owner: address,
        /// The agent in whose era the rank was taken; zero without a rank.
        agent: address,
        /// keccak256("zx1/commit/v2" ‖ owner ‖ batch ‖ evidence); zero without a rank.
        commit: [u8; 32],
        /// The batch that the sealed evidence is against; zero before.
        batch: address,
        /// What the sealed evidence claims; zero before.
        claim: [u8; 32],
        /// keccak256 of what the sealed evidence shows.
        entry_hash: [u8; 32],
        /// The record that an honest batch must hold, as in the challenge.
        expected_record: [u8; 124],
        /// Bytes of the expected record.
        expected_len: u8,
        /// 1 when the evidence determines a bid's value.
        value_known: u8,
        /// The ground it was sealed for; 0 before.
        ground: u8,
        /// 0 no rank, 1 holds one, 2 used it, 3 holds one that was taken over: passable at once, 4 passed.
        state: u8,
        /// 1 when the deposit comes back: its rank was used.
        used: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 5],
    }
    /// A request to show a leaf (decision P4). `["ask", batch, tree, index]` of Challenge.
    AskAccount {
        /// Slot of creation; the answer's time counts from here.
        created_slot: u64,
        /// Events emitted for this account.
        event_sequence: u64,
        /// The batch's epoch.
        epoch_number: u64,
        /// What the asker paid, in micro-USDC.
        price_usdc: u64,
        /// Place in the era's order of asks.
        rank: u32,
        /// The batch's era.
        era: u32,
        /// Leaf, counted in the tree without padding.
        index: u32,
        /// 0 the log, 1 the arrays.
        tree: u8,
        /// 0 open, 1 shown, 2 withheld: the batch is marked and the money waits, 3 settled.
        state: u8,
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// The agent whose batch it is.
        agent_id: address,
        /// Account of the batch.
        batch: address,
        /// Who asked, and gets the rent back.
        asker: address,
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
        /// Version of the layout: 2.
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
        /// Version of the layout: 2.
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
        /// Version of the layout: 2.
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
        /// Version of the layout: 2.
        version: u8,
        /// Bump of the address.
        bump: u8,
        /// Padding; always zero.
        reserved: [u8; 6],
    }
}
