//! Wallets, agents and their days, for the tests of the chain client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::rpc::actions::{Actions, ChallengeRequest, ChallengeWith, ClaimWith, challenge_addresses};
use zx1_chain::rpc::registry::{IdentityRegistry, Registration, Sati, first_token_account, registered_mint};
use zx1_chain::rpc::{
    ChainError, Client, ClientOptions, Cluster, Draft, Flow, Intent, Key, Outbox, Outcome, Progress, Sender,
    SenderOptions,
};
use zx1_chain::sati::NewAgent;
use zx1_chain::token::{self, TOKEN_2022_PROGRAM};
use zx1_interface::instruction::AnswerChallenge;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::batch::{BatchMessage, covers_from};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType};
use zx1_protocol::evidence::{Evidence, LogEvidence, ProvenBid};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::Scopes;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::Tree;
use zx1_protocol::record::{BID_LEN, Bid, Record, Selection};
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

/// What a local cluster is configured with.
pub(crate) const AMOUNTS: Amounts = Amounts::DEFAULT;
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

    /// A living agent: its own wallet is its key of every scope, with the smallest stake and one epoch of lease.
    /// The present epoch is the first that a batch can cover.
    pub(crate) async fn living_agent(&self, name: &str) -> AgentId {
        let mint = self.register(name).await;
        self.bring_to_life(mint).await;
        mint
    }

    /// What a new agent needs to be a living one.
    pub(crate) async fn bring_to_life(&self, mint: AgentId) {
        self.add_key(mint, &self.key, Scopes::ALL).await;
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        let (owner, stake) = (self.address(), MicroUsdc(AMOUNTS.min_stake));
        self.run(&actions.lock_stake(mint, owner, stake).await.unwrap()).await;
        self.run(&actions.pay_lease(mint, owner, 1).await.unwrap()).await;
        self.run(&actions.open_head(mint, owner).await.unwrap()).await;
    }

    /// Lists a key of the agent, which co-signs.
    pub(crate) async fn add_key(&self, mint: AgentId, key: &Keypair, scopes: Scopes) {
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        let mut draft = actions.add_key(mint, self.address(), key.pubkey(), scopes).await.unwrap();
        if key.pubkey() != self.address() {
            draft.keys.push(Arc::new(key.insecure_clone()));
        }
        self.run(&draft).await;
    }

    /// Sells the agent: its NFT goes to another wallet.
    pub(crate) async fn give(&self, mint: AgentId, to: Address) {
        let (from, into) = (first_token_account(&self.address(), mint), first_token_account(&to, mint));
        let create = token::create_associated(&self.address(), &to, &mint.into(), &TOKEN_2022_PROGRAM);
        let moved = token::transfer(&from, &mint.into(), &into, &self.address(), (1, 0), &TOKEN_2022_PROGRAM)
            .unwrap();
        let intent = Intent::new("give", &[&mint, &to]);
        let draft = Draft::new(intent, "Give the agent away", self.address(), vec![create, moved]);
        self.run_unread(&draft).await;
    }

    /// Runs what the summary does not explain to its end.
    pub(crate) async fn run_unread(&self, draft: &Draft) {
        let keys: [Key<'_>; 1] = [&self.key];
        let outcome = self.sender.run(draft, &keys, &mut |_| Ok(())).await.unwrap();
        self.sender.acknowledge(&outcome).await.unwrap();
    }

    /// What this party's own batch key signs for a day: on the head, the tenure and the network of now.
    pub(crate) async fn message(&self, mint: AgentId, commitment: &Commitment) -> BatchMessage {
        let head = self.client.head(mint).await.unwrap().unwrap();
        let tenure = self.client.tenure(mint).await.unwrap().unwrap();
        let network = self.client.config().await.unwrap().network;
        let from = covers_from(commitment.epoch, Epoch(head.last_epoch), Epoch(tenure.from_epoch));
        commitment.message(&network, from, &head.digest)
    }

    /// Signs a batch message with `key` and lands it.
    pub(crate) async fn try_land(
        &self,
        message: &BatchMessage,
        key: &Keypair,
    ) -> Result<Outcome, ChainError> {
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        let signature: [u8; 64] = key.sign_message(&message.to_bytes()).into();
        let draft = actions.submit_batch(self.address(), message, key.pubkey(), &signature).await.unwrap();
        let outcome = self.try_run(&draft).await?;
        self.sender.acknowledge(&outcome).await.unwrap();
        Ok(outcome)
    }

    pub(crate) async fn submit(&self, mint: AgentId, day: &Day) {
        let message = self.message(mint, &day.commitment(mint)).await;
        self.try_land(&message, &self.key).await.unwrap();
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign_message(message).into()
    }

    /// Challenges, and returns where the first claim is.
    pub(crate) async fn challenge(&self, request: &ChallengeRequest) -> Address {
        let sati = self.sati().await;
        let actions = Actions::new(&self.client, &sati).await.unwrap();
        let flow = actions.challenge(request).await.unwrap();
        self.run(flow.as_ref()).await;
        challenge_addresses(request).unwrap()[0]
    }
}

/// A challenge of one claim.
pub(crate) fn claim(
    challenger: Address,
    agent: AgentId,
    epoch: u64,
    ground: Ground,
    with: ChallengeWith,
) -> ChallengeRequest {
    ChallengeRequest { challenger, agent, epoch, claims: vec![ClaimWith { ground, with }] }
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

    pub(crate) fn commitment(&self, mint: AgentId) -> Commitment {
        Commitment {
            agent: mint,
            epoch: Epoch(self.epoch),
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

    /// Evidence of the first two records, two values of one bid.
    pub(crate) fn double_bid(&self) -> Vec<u8> {
        let proofs = [0, 1].map(|n| self.arrays().proof_of_entry(n).unwrap());
        let records: [[u8; BID_LEN]; 2] = [0, 1].map(|n: usize| self.records[n].clone().try_into().unwrap());
        let [a, b] =
            [0, 1].map(|n: usize| ProvenBid::new(&records[n], proofs[n].index, &proofs[n].path).unwrap());
        Evidence::DoubleBid(a, b).to_bytes().unwrap()
    }

    pub(crate) fn answer(&self, n: u32, bid_value: i128) -> AnswerChallenge {
        let place = self.arrays().proof_of_entry(n).unwrap();
        AnswerChallenge { leaf_index: place.index, merkle_proof: place.path, bid_value, attestation: [0; 32] }
    }
}

pub(crate) const CONVERSATION: ConversationId = ConversationId([0xc0; 16]);
pub(crate) const OTHER: AgentId = AgentId([0xcc; 32]);
pub(crate) const SLOT: u64 = 5;

/// A message that an agent sent.
pub(crate) struct Message {
    /// The signed bytes.
    pub(crate) signed: Vec<u8>,
    /// Its entry in the log.
    pub(crate) entry: Vec<u8>,
    /// Hash of the header, by which records name it.
    pub(crate) hash: Hash,
}

/// A message that the agent sent in this epoch.
pub(crate) fn sent(mint: AgentId, kind: MsgType, epoch: u64, nonce: u64, payload: &[u8]) -> Message {
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
    Message { signed, entry, hash: header.message32::<Sha3>() }
}

impl Message {
    /// The record of a bid of this value by it.
    pub(crate) fn bid(&self, value: i128) -> Vec<u8> {
        let record = Bid {
            conversation: CONVERSATION,
            counterparty: OTHER,
            value,
            slot: Slot(SLOT),
            message: self.hash,
        };
        Record::Bid(record).to_bytes()
    }

    /// The record of a selection by it.
    pub(crate) fn selection(&self) -> Vec<u8> {
        let (conversation, message) = (CONVERSATION, self.hash);
        let record = Selection { conversation, counterparty: OTHER, slot: Slot(SLOT), message };
        Record::Selection(record).to_bytes()
    }
}

/// The record of some other message.
pub(crate) fn filler(n: u8) -> Vec<u8> {
    let (conversation, message) = (ConversationId([n; 16]), [n; 32]);
    let record = Selection { conversation, counterparty: OTHER, slot: Slot(SLOT), message };
    Record::Selection(record).to_bytes()
}
