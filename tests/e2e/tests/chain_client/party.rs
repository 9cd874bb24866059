//! Wallets, agents and their days, for the tests of the chain client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::rpc::actions::{Actions, ChallengeRequest, challenge_address};
use zx1_chain::rpc::registry::{IdentityRegistry, Registration, Sati, registered_mint};
use zx1_chain::rpc::{
    ChainError, Client, ClientOptions, Cluster, Flow, Key, Outbox, Outcome, Progress, Sender, SenderOptions,
};
use zx1_chain::sati::NewAgent;
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::instruction::{AnswerChallenge, SubmitBatch};
use zx1_protocol::batch::batch_message;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType};
use zx1_protocol::evidence::{Evidence, LogEvidence};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::Tree;
use zx1_protocol::record::{Bid, Record, Selection};
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

pub(crate) const DAY_MICROS: u64 = 86_400_000_000;

/// A wallet and its way to the cluster.
pub(crate) struct Party {
    pub(crate) key: Keypair,
    pub(crate) client: Client,
    pub(crate) sender: Sender,
    pub(crate) seen: Arc<Mutex<Vec<Progress>>>,
    folder: Arc<tempfile::TempDir>,
}

impl Party {
    pub(crate) fn new(key: Keypair, url: &str) -> Self {
        Self::with_patience(key, url, Duration::from_secs(20))
    }

    pub(crate) fn with_patience(key: Keypair, url: &str, patience: Duration) -> Self {
        Self::with_limits(key, url, patience, Duration::from_secs(5))
    }

    /// With so much time to land, and for one answer.
    pub(crate) fn with_limits(key: Keypair, url: &str, patience: Duration, timeout: Duration) -> Self {
        let options = ClientOptions { timeout, pause: Duration::from_millis(20), ..ClientOptions::default() };
        let client = Client::new(Cluster::parse(url).unwrap(), options);
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listen = seen.clone();
        let outbox = Outbox::open(folder.path()).unwrap();
        let options =
            SenderOptions { patience, resend: Duration::from_millis(300), ..SenderOptions::default() };
        let sender = Sender::new(client.clone(), outbox, options)
            .with_progress(Arc::new(move |progress| listen.lock().unwrap().push(progress.clone())));
        Self { key, client, sender, seen, folder }
    }

    /// The same wallet and outbox with all the patience there is, for when the network is whole again.
    pub(crate) fn patient(&self) -> Self {
        let outbox = Outbox::open(self.folder.path()).unwrap();
        let sender = Sender::new(self.client.clone(), outbox, SenderOptions::default());
        Self {
            key: self.key.insecure_clone(),
            client: self.client.clone(),
            sender,
            seen: self.seen.clone(),
            folder: self.folder.clone(),
        }
    }

    pub(crate) fn address(&self) -> Address {
        self.key.pubkey()
    }

    pub(crate) async fn sati(&self) -> Sati {
        Sati::connect(&self.client).await.unwrap()
    }

    pub(crate) async fn try_run(&self, flow: &dyn Flow) -> Result<Outcome, ChainError> {
        let keys: [Key<'_>; 1] = [&self.key];
        self.sender
            .run(flow, &keys, &mut |prepared| {
                assert!(prepared.summary().is_understood(), "{}", prepared.summary());
                Ok(())
            })
            .await
    }

    /// Runs what must succeed, shows it and lets the outbox forget it.
    pub(crate) async fn run(&self, flow: &dyn Flow) -> Outcome {
        let outcome = self.try_run(flow).await.unwrap_or_else(|error| panic!("{}: {error:?}", flow.title()));
        self.sender.acknowledge(&outcome).await.unwrap();
        outcome
    }

    pub(crate) async fn register(&self, name: &str) -> AgentId {
        let wish = Registration {
            payer: self.address(),
            owner: self.address(),
            agent: NewAgent {
                name: name.into(),
                symbol: "ZX1".into(),
                uri: "ipfs://agent".into(),
                metadata: vec![("mesh".into(), "/ip4/127.0.0.1".into())],
                non_transferable: false,
            },
            mint: Arc::new(Keypair::new()),
        };
        let flow = self.sati().await.register(&wish).unwrap();
        let outcome = self.run(flow.as_ref()).await;
        let landed = self.client.transaction(&outcome.landed().unwrap().signature).await.unwrap();
        let mint = registered_mint(&landed).unwrap();
        assert_eq!(mint, wish.mint.pubkey().into());
        mint
    }

    /// An agent with the smallest stake and one epoch of lease.
    pub(crate) async fn living_agent(&self, name: &str) -> AgentId {
        let mint = self.register(name).await;
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        self.run(&actions.lock_stake(mint, self.address(), MicroUsdc(MIN_STAKE)).await.unwrap()).await;
        self.run(&actions.pay_lease(mint, self.address(), 1).await.unwrap()).await;
        mint
    }

    pub(crate) async fn submit(&self, mint: AgentId, day: &Day) {
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        let batch = day.arguments(mint);
        let signature = self.sign(&message(&batch));
        let draft = actions.submit_batch(self.address(), &batch, self.address(), &signature).await.unwrap();
        self.run(&draft).await;
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign_message(message).into()
    }

    pub(crate) async fn challenge(&self, request: &ChallengeRequest) -> Address {
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        let flow = actions.challenge(request).await.unwrap();
        self.run(flow.as_ref()).await;
        challenge_address(request).unwrap()
    }
}

pub(crate) fn message(batch: &SubmitBatch) -> Vec<u8> {
    batch_message(
        &batch.agent_id,
        Epoch(batch.epoch_number),
        &batch.log_merkle_root,
        batch.log_len,
        &batch.batch_hash,
        &batch.arrays_root,
        batch.arrays_len,
    )
    .to_vec()
}

/// What an agent did in an epoch, and what it says of it.
pub(crate) struct Day {
    pub(crate) epoch: u64,
    pub(crate) entries: Vec<Vec<u8>>,
    pub(crate) records: Vec<Vec<u8>>,
}

impl Day {
    pub(crate) fn log(&self) -> Tree<Sha3> {
        Tree::of_entries(&self.entries).unwrap()
    }

    pub(crate) fn arrays(&self) -> Tree<Sha3> {
        Tree::of_entries(&self.records).unwrap()
    }

    pub(crate) fn arguments(&self, mint: AgentId) -> SubmitBatch {
        SubmitBatch {
            agent_id: mint.0,
            epoch_number: self.epoch,
            log_merkle_root: self.log().root(),
            log_len: self.log().len(),
            batch_hash: [7; 32],
            arrays_root: self.arrays().root(),
            arrays_len: self.arrays().len(),
        }
    }

    pub(crate) fn entry_evidence(&self, n: u32, shown: Option<&[u8]>) -> Vec<u8> {
        let place = self.log().proof_of_entry(n).unwrap();
        Evidence::LogEntry(LogEvidence {
            leaf_index: place.index,
            proof: &place.path,
            entry: &self.entries[n as usize],
            shown_payload: shown,
        })
        .to_bytes()
        .unwrap()
    }

    pub(crate) fn answer(&self, n: u32, bid_value: i128) -> AnswerChallenge {
        let place = self.arrays().proof_of_entry(n).unwrap();
        AnswerChallenge { leaf_index: place.index, merkle_proof: place.path, bid_value, attestation: [0; 32] }
    }
}

pub(crate) const CONVERSATION: ConversationId = ConversationId([0xc0; 16]);
pub(crate) const OTHER: AgentId = AgentId([0xcc; 32]);
pub(crate) const SLOT: u64 = 5;

/// Signed bytes and log entry of a message that the agent sent in this epoch.
pub(crate) fn sent(
    mint: AgentId,
    kind: MsgType,
    epoch: u64,
    nonce: u64,
    payload: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let (sender, payload_hash) = (mint.0, Sha3::hashv(&[payload]));
    let header = EnvelopeHeader {
        version: 1,
        msg_type: kind,
        sender: &sender,
        recipient: OTHER.as_bytes(),
        timestamp: epoch * DAY_MICROS + 1_000_000,
        block_ref: Slot(SLOT),
        nonce,
        conversation_id: CONVERSATION.as_bytes(),
        payload_hash: &payload_hash,
        payload_len: u32::try_from(payload.len()).unwrap(),
    };
    let signed = [&header.signing_header()[..], payload].concat();
    let logged = if kind.payload_is_logged() { payload } else { &[] };
    let entry = LogEntry { header, signature: &[0x51; 64], payload: logged }.to_cbor::<Sha3>().unwrap();
    (signed, entry)
}

pub(crate) fn bid(value: i128) -> Vec<u8> {
    let record = Bid { conversation: CONVERSATION, counterparty: OTHER, value, slot: Slot(SLOT) };
    Record::Bid(record).to_bytes()
}

pub(crate) fn selection() -> Vec<u8> {
    let record = Selection { conversation: CONVERSATION, counterparty: OTHER, slot: Slot(SLOT) };
    Record::Selection(record).to_bytes()
}

pub(crate) fn filler(n: u8) -> Vec<u8> {
    let record = Selection { conversation: ConversationId([n; 16]), counterparty: OTHER, slot: Slot(SLOT) };
    Record::Selection(record).to_bytes()
}
