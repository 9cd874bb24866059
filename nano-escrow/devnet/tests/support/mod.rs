//! What the tests of the embedded ledger share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use nano_devnet::{Devnet, Epoch, Refusal};
use nano_escrow::{
    Address, BlockHash, Keypair, Network, PrivateKey, PublicKey, Raw, Seed, SignedBlock, StateBlock, Work,
};
use serde_json::Value;

pub fn key(n: u32) -> PrivateKey {
    Seed::from_bytes([42; 32]).wallet_key(n)
}

pub fn genesis_key() -> PrivateKey {
    PrivateKey::from_bytes(Network::DEV_GENESIS_PRIVATE_KEY)
}

pub const GENESIS: PublicKey = Network::DEV_GENESIS_ACCOUNT;

/// Work whose value is at least `from` and below `below`.
pub fn work_between(root: &BlockHash, from: u64, below: Option<u64>) -> Work {
    (0..)
        .map(Work)
        .find(|w| {
            let value = w.value(root);
            value >= from && below.is_none_or(|b| value < b)
        })
        .expect("some nonce fits")
}

/// Work for any kind of block.
pub fn good_work(root: &BlockHash) -> Work {
    work_between(root, Network::Dev.thresholds().send_or_change, None)
}

pub fn sign_with(block: StateBlock, key: &Keypair) -> SignedBlock {
    SignedBlock { block, signature: key.sign(&block.hash()), work: Some(good_work(&block.root())) }
}

pub fn sign(block: StateBlock, key: &PrivateKey) -> SignedBlock {
    sign_with(block, &key.keypair())
}

pub fn block(account: PublicKey, previous: BlockHash, balance: u128, link: [u8; 32]) -> StateBlock {
    StateBlock { account, previous, representative: account, balance: Raw(balance), link }
}

/// Link of an epoch block.
pub fn epoch_link(epoch: Epoch) -> [u8; 32] {
    epoch.link().expect("epoch 1 or 2")
}

/// POST a body, read JSON.
pub async fn post_text(url: &str, body: impl Into<String>) -> Value {
    let text = reqwest::Client::new().post(url).body(body.into()).send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

pub async fn post(devnet: &Devnet, body: Value) -> Value {
    post_text(&devnet.rpc_url(), body.to_string()).await
}

/// `process` with or without a subtype.
pub async fn process(devnet: &Devnet, signed: &SignedBlock, subtype: Option<&str>) -> Value {
    let mut body = serde_json::json!({ "action": "process", "json_block": "true", "block": signed });
    if let Some(subtype) = subtype {
        body["subtype"] = subtype.into();
    }
    post(devnet, body).await
}

pub fn refused(answer: &Value, refusal: Refusal) {
    assert_eq!(*answer, serde_json::json!({ "error": refusal.text() }));
}

/// Fund a key and open its account with that; returns the open block.
pub async fn open(devnet: &Devnet, key: &PrivateKey, amount: u128) -> SignedBlock {
    let send = devnet.faucet(key.address(), Raw(amount)).await.unwrap();
    let signed = sign(block(key.public_key(), BlockHash::ZERO, amount, send.0), key);
    devnet.publish(&signed).await.unwrap();
    signed
}

pub fn send_block(key: &PrivateKey, previous: BlockHash, left: u128, to: Address) -> SignedBlock {
    sign(block(key.public_key(), previous, left, to.public_key().0), key)
}

/// The pure ledger with helpers, all blocks signed and worked.
pub struct Bench {
    pub ledger: nano_devnet::Ledger,
    pub clock: u64,
}

impl Bench {
    /// Genesis upgraded to an epoch.
    pub fn at(epoch: Epoch) -> Bench {
        let mut bench = Bench { ledger: nano_devnet::Ledger::dev(), clock: 1000 };
        while bench.ledger.account(&GENESIS).unwrap().epoch < epoch {
            let block = bench.epoch_block(&GENESIS);
            bench.add(&block).unwrap();
        }
        bench
    }

    pub fn add(&mut self, signed: &SignedBlock) -> Result<nano_devnet::Entry, Refusal> {
        self.clock += 1;
        self.ledger.add(signed, self.clock)
    }

    /// The next epoch block of an account, or that of epoch 2 for an unopened one.
    pub fn epoch_block(&self, account: &PublicKey) -> SignedBlock {
        let block = match self.ledger.account(account) {
            Some(a) => StateBlock {
                account: *account,
                previous: a.head,
                representative: a.representative,
                balance: a.balance,
                link: epoch_link(a.epoch.next().unwrap_or(Epoch::Two)),
            },
            None => StateBlock {
                account: *account,
                previous: BlockHash::ZERO,
                representative: PublicKey::BURN,
                balance: Raw::ZERO,
                link: epoch_link(Epoch::Two),
            },
        };
        sign(block, &genesis_key())
    }

    /// A send from genesis; returns its hash.
    pub fn fund(&mut self, to: PublicKey, amount: u128) -> BlockHash {
        let a = *self.ledger.account(&GENESIS).unwrap();
        let block = StateBlock {
            account: GENESIS,
            previous: a.head,
            representative: a.representative,
            balance: Raw(a.balance.0 - amount),
            link: to.0,
        };
        let signed = sign(block, &genesis_key());
        self.add(&signed).unwrap();
        signed.hash()
    }

    /// Fund and open.
    pub fn open(&mut self, key: &PrivateKey, amount: u128) -> BlockHash {
        let send = self.fund(key.public_key(), amount);
        let signed = sign(block(key.public_key(), BlockHash::ZERO, amount, send.0), key);
        self.add(&signed).unwrap();
        signed.hash()
    }

    /// The block that changes nothing but is a block.
    pub fn idle(&mut self, key: &PrivateKey) -> BlockHash {
        let a = *self.ledger.account(&key.public_key()).unwrap();
        let signed = sign(block(key.public_key(), a.head, a.balance.0, [0; 32]), key);
        self.add(&signed).unwrap();
        signed.hash()
    }
}
