//! The ledger: accounts, blocks, receivables, confirmation. Pure: no clock, no I/O, no randomness.

mod audit;
mod change;
mod types;
mod validate;

use std::collections::{BTreeMap, HashMap};

pub use audit::{AccountAudit, Audit};
pub use change::RollbackError;
pub use types::{Account, Block, Entry, Epoch, Genesis, Kind, Receivable};

use nano_escrow::{BlockHash, Network, PrivateKey, PublicKey, Raw, Signature, Thresholds, Work};

/// All that a node knows about money. Two ledgers are equal when every block, height, balance, receivable,
/// weight and confirmation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    blocks: HashMap<BlockHash, Entry>,
    accounts: HashMap<PublicKey, Account>,
    receivable: BTreeMap<(PublicKey, BlockHash), Receivable>,
    /// Send to receive.
    received: HashMap<BlockHash, BlockHash>,
    weights: HashMap<PublicKey, Raw>,
    confirmed: u64,
    genesis: BlockHash,
    thresholds: Thresholds,
    epoch_signer: PublicKey,
}

/// The signature of the dev network's genesis block. Its key is public, so anyone can make it again.
fn genesis_block() -> Genesis {
    let account = Network::DEV_GENESIS_ACCOUNT;
    let source = BlockHash::from(account);
    // The nonce of the dev network's published genesis block; a test checks it.
    let mut genesis = Genesis {
        source,
        representative: account,
        account,
        signature: Signature([0; 64]),
        work: Work(0x7b42_a00e_e91d_5810),
    };
    genesis.signature =
        PrivateKey::from_bytes(Network::DEV_GENESIS_PRIVATE_KEY).keypair().sign(&genesis.hash());
    genesis
}

impl Ledger {
    /// A ledger of the dev network with nothing but its genesis block, which holds all there is, confirmed.
    pub fn dev() -> Ledger {
        let genesis = genesis_block();
        let hash = genesis.hash();
        let entry = Entry {
            block: Block::Genesis(genesis),
            account: genesis.account,
            kind: Kind::Receive,
            amount: Raw::MAX,
            balance: Raw::MAX,
            height: 1,
            epoch: Epoch::Zero,
            successor: BlockHash::ZERO,
            confirmed: true,
            timestamp: 0,
        };
        let account = Account {
            head: hash,
            open_block: hash,
            representative_block: hash,
            representative: genesis.representative,
            balance: Raw::MAX,
            block_count: 1,
            epoch: Epoch::Zero,
            modified: 0,
            confirmed_height: 1,
            confirmed_frontier: hash,
        };
        Ledger {
            blocks: HashMap::from([(hash, entry)]),
            accounts: HashMap::from([(genesis.account, account)]),
            receivable: BTreeMap::new(),
            received: HashMap::new(),
            weights: HashMap::from([(genesis.representative, Raw::MAX)]),
            confirmed: 1,
            genesis: hash,
            thresholds: Network::Dev.thresholds(),
            epoch_signer: genesis.account,
        }
    }

    /// The genesis block's hash.
    pub fn genesis(&self) -> BlockHash {
        self.genesis
    }

    /// How hard the work is.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// A block of the ledger, by hash.
    pub fn block(&self, hash: &BlockHash) -> Option<&Entry> {
        self.blocks.get(hash)
    }

    /// Whether a block is there and final.
    pub fn is_confirmed(&self, hash: &BlockHash) -> bool {
        self.blocks.get(hash).is_some_and(|e| e.confirmed)
    }

    /// An account that has blocks.
    pub fn account(&self, key: &PublicKey) -> Option<&Account> {
        self.accounts.get(key)
    }

    /// All accounts that have blocks, in no order.
    pub fn accounts(&self) -> impl Iterator<Item = (&PublicKey, &Account)> {
        self.accounts.iter()
    }

    /// The balance of an account, zero for one without blocks.
    pub fn balance(&self, key: &PublicKey) -> Raw {
        self.accounts.get(key).map_or(Raw::ZERO, |a| a.balance)
    }

    /// The balance after the last confirmed block.
    pub fn confirmed_balance(&self, key: &PublicKey) -> Raw {
        self.accounts
            .get(key)
            .and_then(|a| self.blocks.get(&a.confirmed_frontier))
            .map_or(Raw::ZERO, |e| e.balance)
    }

    /// What an account could receive, by the hash of the send.
    pub fn receivables(&self, key: &PublicKey) -> impl Iterator<Item = (BlockHash, &Receivable)> {
        self.receivable
            .range((*key, BlockHash::ZERO)..=(*key, BlockHash([0xff; 32])))
            .map(|((_, hash), receivable)| (*hash, receivable))
    }

    /// Whether there is anything to receive, confirmed or not.
    pub fn has_receivable(&self, key: &PublicKey) -> bool {
        self.receivables(key).next().is_some()
    }

    /// A send that this account could receive.
    pub fn receivable(&self, key: &PublicKey, send: &BlockHash) -> Option<&Receivable> {
        self.receivable.get(&(*key, *send))
    }

    /// The sum of what an account could receive. Cannot pass the supply.
    pub fn receivable_sum(&self, key: &PublicKey, only_confirmed: bool) -> Raw {
        self.receivables(key)
            .filter(|(hash, _)| !only_confirmed || self.is_confirmed(hash))
            .fold(Raw::ZERO, |sum, (_, r)| Raw(sum.0.saturating_add(r.amount.0)))
    }

    /// The block that received a send.
    pub fn receive_of(&self, send: &BlockHash) -> Option<BlockHash> {
        self.received.get(send).copied()
    }

    /// With how much a representative votes.
    pub fn weight(&self, representative: &PublicKey) -> Raw {
        self.weights.get(representative).copied().unwrap_or(Raw::ZERO)
    }

    /// All representatives with a weight, in no order.
    pub fn weights(&self) -> impl Iterator<Item = (&PublicKey, &Raw)> {
        self.weights.iter()
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// How many of them are final.
    pub fn confirmed_count(&self) -> u64 {
        self.confirmed
    }

    /// The blocks of an account from its first to its last.
    pub fn chain(&self, key: &PublicKey) -> Vec<Entry> {
        let mut chain = Vec::new();
        let mut next = self.accounts.get(key).map(|a| a.open_block);
        while let Some(entry) = next.and_then(|hash| self.blocks.get(&hash)) {
            chain.push(*entry);
            next = Some(entry.successor);
        }
        chain
    }
}
