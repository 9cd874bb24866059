//! A chain made up for tests: transactions with events whose sequence numbers are right, and the accounts
//! that follow from them. Forks, holes and late lists can be put into it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, unreachable_pub)]

mod chain;

pub use chain::{Fake, GENESIS, NETWORK};
#[cfg(feature = "postgres")]
pub use zx1_server::testing::Cluster;

use crate::config::Config;
use crate::index::Index;
use crate::ingest::Ingest;
use crate::metrics::Metrics;
use crate::store;
use std::sync::Arc;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Signed;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::units::Epoch;

/// An index in a temporary folder, following a made-up chain by hand.
pub struct Rig {
    pub chain: Fake,
    pub index: Arc<Index>,
    pub ingest: Ingest,
    pub announcements: crate::chain::Announcements,
    _folder: Arc<tempfile::TempDir>,
}

pub fn config(folder: &std::path::Path) -> Config {
    let mut config = Config { data: folder.to_owned(), ..Config::default() };
    config.bind.set_port(0);
    config.chain.poll_ms = 10;
    config.chain.attempts = 2;
    config.chain.finalize_every_slots = 1;
    config.limits.address.per_second = 0;
    config.limits.uploads.per_second = 0;
    config
}

impl Rig {
    pub async fn new(chain: &Fake) -> Self {
        Self::on(chain, Arc::new(tempfile::tempdir().unwrap())).await
    }

    /// Opens what lies in the folder.
    pub async fn on(chain: &Fake, folder: Arc<tempfile::TempDir>) -> Self {
        Self::with(chain, folder, "").await
    }

    /// The same in this database.
    pub async fn with(chain: &Fake, folder: Arc<tempfile::TempDir>, db: &str) -> Self {
        let config = Config { db: db.to_owned(), ..config(folder.path()) };
        let store = store::open(&config.database()).await.unwrap();
        let index = Index::open(store, Arc::new(chain.clone()), config, Metrics::default()).await.unwrap();
        let announcements = crate::chain::Announcements::default();
        let ingest = Ingest::new(index.clone(), announcements.clone());
        Self { chain: chain.clone(), index, ingest, announcements, _folder: folder }
    }

    pub async fn round(&self) {
        self.ingest.round(false).await.unwrap();
    }

    /// Everything that is derived from the chain, to be compared. Ids of events are left out: they count
    /// arrivals.
    pub async fn contents(&self) -> Vec<String> {
        let (store, all) = (&self.index.store, crate::store::Find::all);
        let mut lines = Vec::new();
        for stored in store.events(all().order(&["slot", "position", "ordinal"])).await.unwrap() {
            lines.push(format!("{:?}", stored.row));
        }
        for row in store.agents(all().order(&["mint"])).await.unwrap() {
            // What the registry says is asked for at other moments.
            let (number, name, search) = (0, String::new(), String::new());
            let row = crate::store::AgentRow {
                identified: 0,
                owner: None,
                token: None,
                number,
                name,
                search,
                ..row
            };
            lines.push(format!("{row:?}"));
        }
        for row in store.tenures(all().order(&["agent", "number"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        for row in store.keys(all().order(&["agent", "key", "created_slot"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        for row in store.stakes(all().order(&["agent", "era"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        for row in store.asks(all().order(&["address"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        for row in store.batches(all().order(&["agent", "epoch"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        for row in store.challenges(all().order(&["address"])).await.unwrap() {
            // Only an account that is not closed yet says it.
            let row = crate::store::ChallengeRow { expected: None, ..row };
            lines.push(format!("{row:?}"));
        }
        for row in store.feedback(all().order(&["number"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        for row in store.lives(all().order(&["account", "created_slot"])).await.unwrap() {
            lines.push(format!("{row:?}"));
        }
        let meta = store.meta().await.unwrap();
        lines.push(format!("{:?} {:?}", meta.get("digest"), meta.get("events")));
        lines
    }

    /// Types of the streams' events, in order.
    pub async fn told(&self) -> Vec<String> {
        let rows = self.index.store.stream(crate::store::Find::all().order(&["id"])).await.unwrap();
        rows.into_iter().map(|stored| stored.row.kind).collect()
    }
}

/// Kinds of ids that a test uses once each.
pub fn mint(number: u8) -> AgentId {
    AgentId([number; 32])
}

/// A commitment whose data nobody has.
pub fn commitment(agent: AgentId, epoch: u64) -> Commitment {
    Commitment {
        agent,
        epoch: Epoch(epoch),
        log_merkle_root: [1; 32],
        log_len: 1,
        batch_hash: [epoch as u8; 32],
        arrays_root: [3; 32],
        arrays_len: 0,
    }
}

/// An agent with a key and a log.
pub struct Party {
    pub mint: AgentId,
    pub key: ed25519_dalek::SigningKey,
    log: Vec<(zx1_protocol::behavior_batch::Direction, Vec<u8>)>,
    nonce: u64,
}

/// A time within this epoch, in Unix microseconds.
pub fn micros(epoch: u64) -> u64 {
    (epoch * EPOCH_SECONDS + 1_000) * 1_000_000
}

impl Party {
    pub fn new(number: u8) -> Self {
        let key = ed25519_dalek::SigningKey::from_bytes(&[number; 32]);
        Self { mint: mint(number), key, log: Vec::new(), nonce: 1 }
    }

    /// The wallet that holds the agent, which signs nothing off chain.
    pub fn owner(&self) -> [u8; 32] {
        let mut owner = self.public();
        owner[0] ^= 1;
        owner
    }

    pub fn public(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    pub fn signed(&self, message: BatchMessage) -> Signed {
        use ed25519_dalek::Signer as _;
        let signature = self.key.sign(&message.to_bytes()).to_bytes();
        Signed { message, signer: self.public().into(), signature }
    }

    /// Sends a message, which both log. Returns its CBOR.
    pub fn say(
        &mut self,
        to: &mut Party,
        msg_type: zx1_protocol::envelope::MsgType,
        conversation: ConversationId,
        payload: &[u8],
        epoch: u64,
    ) -> Vec<u8> {
        use ed25519_dalek::Signer as _;
        use zx1_protocol::behavior_batch::Direction;
        let draft = zx1_protocol::draft::Draft {
            msg_type,
            sender: self.mint,
            recipient: to.mint,
            timestamp: micros(epoch) + self.nonce,
            block_ref: zx1_protocol::units::Slot(1_000 + self.nonce),
            nonce: self.nonce,
            conversation_id: conversation,
            payload,
        };
        let cbor = draft.sign(|bytes| self.key.sign(bytes).to_bytes()).unwrap();
        self.nonce += 1;
        self.log.push((Direction::Sent, cbor.clone()));
        to.log.push((Direction::Received, cbor.clone()));
        cbor
    }

    /// A rating of another agent.
    pub fn rate(&mut self, whom: &mut Party, conversation: ConversationId, score: i8, epoch: u64) -> Vec<u8> {
        let feedback = zx1_protocol::payload::Feedback {
            conversation_id: conversation,
            target_agent: whom.mint,
            score,
            outcome: 2,
            is_dispute: false,
            role: 0,
        };
        let payload = feedback.to_cbor().unwrap();
        self.say(whom, zx1_protocol::envelope::MsgType::Feedback, conversation, &payload, epoch)
    }

    /// The batch of everything that is in the log.
    pub fn build(&self, epoch: u64) -> zx1_protocol::behavior_batch::Built {
        use zx1_protocol::batch::Covered;
        use zx1_protocol::behavior_batch::Builder;
        use zx1_protocol::envelope::Envelope;
        use zx1_protocol::log_entry::LogEntry;
        use zx1_protocol::units::Slot;
        let covered = Covered { from: Epoch(epoch), to: Epoch(epoch) };
        let mut builder = Builder::new(self.mint, covered, Slot(1), Slot(100_000)).unwrap();
        for (direction, cbor) in &self.log {
            let envelope = Envelope::decode(cbor).unwrap();
            builder.push(*direction, &LogEntry::of(&envelope), Some(envelope.payload), None).unwrap();
        }
        builder.finish().unwrap()
    }
}
