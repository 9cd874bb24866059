//! A fix contract as a task of the 0x01 protocol (decision G1): a party with an agent id logs the signed
//! envelopes of its contracts, ready for `zx1 batch build`.
//!
//! | act | envelope | from | payload |
//! |---|---|---|---|
//! | post | DISCOVER, to all: it names the principal's agent id | principal | hint `FIX1` |
//! | bond | PROPOSE | agent | the bounty in raw (16 bytes, little-endian), hint, contract id |
//! | accept | ACCEPT | agent | the same, then the agent's pre-signature for its rating (decision D5) |
//! | fix | DELIVER | agent | hint, SHA-256 of the fix entry's data without the envelope |
//! | ruling | VERDICT, one to each party with an agent id | judge | hint, SHA-256 of its words |
//! | end | FEEDBACK | both | the rating |
//!
//! Envelopes travel in the chain entries' data, so no mesh is needed: a party's in `envelope`, a judge's two
//! in the ruling's `envelopes`, under the judge's signature. A party without an agent id, or whose
//! counterparty has none, writes none and trades all the same.
//!
//! # What a crash can do
//!
//! An envelope is made once for each act of a contract: it is kept in a file of its own before it is logged,
//! and logged before it leaves. The same act again finds it there. A transcript that is read again writes
//! nothing twice.

mod cluster;
mod rating;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use zx1_log::{AgentLog, LogError};
use zx1_market::bridge::{conversation_id, message_type};
use zx1_market::chain::{Common, Data, RulingData, Side};
use zx1_market::{Entry, EntryType, Millis, PartyId, PartyKey};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::channel_of;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::payload::{
    Feedback, append_presignature, bid_payload_with_hint, split_accept_presignature,
};
use zx1_protocol::units::Slot;

pub use cluster::{agent_id, slots_of};
pub use rating::{Rating, rating};

use futures_util::future::BoxFuture;
use zx1_market_client::files;
use zx1_market_client::{ClientError, Market, View};

/// The format hint of this crate's payloads.
pub const HINT: &[u8; 4] = b"FIX1";

/// How often a next slot is waited for, 200 ms each time.
const SLOT_TRIES: u32 = 50;

/// So long the log is waited for while another program has it, such as `zx1 batch build`.
const PATIENCE: Duration = Duration::from_secs(10);

/// So long an ACCEPT waits for what its pre-signature needs; the reservation runs meanwhile.
const PRESIGN_WITHIN: Duration = Duration::from_secs(5);

/// So long [`Bridge::close`] waits for the other side's FEEDBACK, and how often it looks.
const FEEDBACK_WITHIN: Duration = Duration::from_secs(5);
const FEEDBACK_POLL: Duration = Duration::from_millis(250);

/// Why an envelope was not made or logged. Numbers 9393 to 9398.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// 9393: the log.
    #[error("The envelope log cannot be written: {error} {}", .error.next())]
    Log {
        /// What it said.
        #[from]
        error: LogError,
    },
    /// 9394: the envelope's own file.
    #[error("{} cannot be kept: {why}. Nothing was sent; make room or correct the permissions.",
         .path.display())]
    Disk {
        /// Which.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// 9395: no slot.
    #[error(
        "The cluster's slot cannot be read: {why}. Check the cluster's RPC address, or trade without an \
             agent id."
    )]
    Slot {
        /// What was said.
        why: String,
    },
    /// 9396: the protocol refuses the envelope.
    #[error("The 0x01 envelope cannot be made: {why}")]
    Draft {
        /// Why.
        why: String,
    },
    /// 9397: no agent id.
    #[error(
        "'{text}' is no agent id. Give the mint address of the agent's NFT, in base58 (zx1 status shows it)."
    )]
    Id {
        /// What was given.
        text: String,
    },
    /// 9398: no cluster.
    #[error(
        "'{text}' is no cluster: {why}. Give an http(s) address, localhost, devnet, testnet or mainnet-beta."
    )]
    Cluster {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The market.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl BridgeError {
    /// The number of the error.
    pub fn code(&self) -> u16 {
        match self {
            BridgeError::Log { .. } => 9393,
            BridgeError::Disk { .. } => 9394,
            BridgeError::Slot { .. } => 9395,
            BridgeError::Draft { .. } => 9396,
            BridgeError::Id { .. } => 9397,
            BridgeError::Cluster { .. } => 9398,
            BridgeError::Client(error) => error.code(),
        }
    }

    /// Whether the same act may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            BridgeError::Slot { .. } | BridgeError::Log { error: LogError::InUse { .. } } => true,
            BridgeError::Client(error) => error.is_transient(),
            _ => false,
        }
    }
}

/// The present slot of the configured cluster (`block_ref`). The error is half a sentence.
pub type Slots = Arc<dyn Fn() -> BoxFuture<'static, Result<u64, String>> + Send + Sync>;

/// What this party signs when it accepts a task, so that the other side can file a rating of it at the registry
/// (decision D5): given the other side's agent id, the conversation and the ACCEPT's slot, the registry's hash of
/// the agreement. None when the registry would not take this key's signature. The error is half a sentence.
pub type Agreements = Arc<
    dyn Fn([u8; 32], [u8; 16], Slot) -> BoxFuture<'static, Result<Option<[u8; 32]>, String>> + Send + Sync,
>;

/// The envelope log of one agent id. The log has one writer at a time; it is opened for each act and let go
/// again, so that several programs of one party, and `zx1`, get their turn while this one runs.
pub struct Bridge {
    agent: [u8; 32],
    key: Arc<PartyKey>,
    slots: Slots,
    agreements: Option<Agreements>,
    folder: PathBuf,
    /// One act at a time in this program.
    turn: Mutex<()>,
    /// One file for each envelope of one's own.
    made: PathBuf,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("agent", &hex::encode(self.agent)).finish_non_exhaustive()
    }
}

impl Bridge {
    /// Open the log of an agent id (its folder: [`zx1_log::agent_dir`]). `key` signs the envelopes: the NFT's
    /// owner or its live delegate (decision B3), which is the party's key (decision A1).
    pub fn open(
        folder: impl AsRef<Path>,
        agent: [u8; 32],
        key: Arc<PartyKey>,
        slots: Slots,
    ) -> Result<Bridge, BridgeError> {
        let folder = folder.as_ref().to_owned();
        let made = folder.join("fix");
        let bridge = Bridge { agent, key, slots, agreements: None, folder, turn: Mutex::new(()), made };
        // A log that cannot be used is told of before anything is signed.
        bridge.with_log(|_| Ok(()))?;
        files::make_folder(&bridge.made).map_err(|e| disk(&bridge.made, &e))?;
        Ok(bridge)
    }

    /// The same, whose ACCEPTs carry a pre-signature.
    #[must_use]
    pub fn presigning(mut self, agreements: Agreements) -> Bridge {
        self.agreements = Some(agreements);
        self
    }

    /// The agent id.
    pub fn agent(&self) -> &[u8; 32] {
        &self.agent
    }

    /// Does one act on the log. Blocks while another program has it, at most [`PATIENCE`].
    fn with_log<T>(&self, act: impl FnOnce(&mut AgentLog) -> Result<T, LogError>) -> Result<T, BridgeError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = AgentLog::open_wait(&self.folder, self.agent, PATIENCE)?;
        Ok(act(&mut log)?)
    }

    /// For a `post`: a DISCOVER that names this agent id, so that agents can answer with envelopes.
    pub async fn announce(&self, now: Millis) -> Result<Common, BridgeError> {
        let slot = self.slot().await?;
        let bytes = self.sign(MsgType::Discover, &BROADCAST, now, slot, &[0; 16], HINT)?;
        self.append(&bytes, Direction::Sent, now)?;
        Ok(carrying(&bytes))
    }

    /// For a bond, an accept or a fix: the envelope of the same act, logged. Nothing when the other side has
    /// no agent id, or the act has no envelope.
    pub async fn common(
        &self,
        market: &Market,
        view: &View,
        side: Side,
        data: &Data,
    ) -> Result<Common, BridgeError> {
        let kind = data.kind();
        let wanted = match kind {
            EntryType::Bond => MsgType::Propose,
            EntryType::Accept => MsgType::Accept,
            EntryType::Fix => MsgType::Deliver,
            _ => return Ok(Common::default()),
        };
        let Some(peer) = self.peer(view, side.other()) else { return Ok(Common::default()) };
        let case = view.case();
        let value = i128::try_from(case.contract().bounty.0).unwrap_or(i128::MAX);
        let payload = match wanted {
            MsgType::Deliver => [HINT.as_slice(), &fix_digest(data)].concat(),
            _ => bid_payload_with_hint(value, HINT, case.id().as_bytes()),
        };
        let nth = view.entries().iter().filter(|e| e.kind() == kind && e.author() == market.id()).count();
        let name = format!("{}-{}-{}-{nth}", market.server().hex(), case.id(), kind.as_str());
        let bytes = self.once(market, view, &name, wanted, &peer, &payload).await?;
        Ok(carrying(&bytes))
    }

    /// For a ruling of this judge: a VERDICT to each party that has an agent id (specification 0x01, "notary
    /// sends VERDICT to both participants"), logged, in hexadecimal digits. None when neither has one.
    pub async fn verdicts(
        &self,
        market: &Market,
        view: &View,
        ruling: &RulingData,
    ) -> Result<Vec<String>, BridgeError> {
        let payload = [HINT.as_slice(), &ruling_digest(ruling)].concat();
        let mut envelopes = Vec::new();
        for side in [Side::Principal, Side::Agent] {
            let Some(peer) = self.peer(view, side) else { continue };
            let place = format!("{}-{}", market.server().hex(), view.id());
            let name = format!("{place}-ruling-{}-{side}", ruling.court);
            let bytes = self.once(market, view, &name, MsgType::Verdict, &peer, &payload).await?;
            envelopes.push(hex::encode(bytes));
        }
        Ok(envelopes)
    }

    /// After the end: leave the FEEDBACK of this side, and log what the other side has sent. Its FEEDBACK is
    /// waited for a little; what comes later is logged by [`Bridge::keep`] whenever the contract is read.
    pub async fn close(&self, market: &Market, view: &View) -> Result<(), BridgeError> {
        self.keep(view)?;
        let (Some(side), true) = (view.side(), view.state().is_terminal()) else { return Ok(()) };
        let Some(peer) = self.peer(view, side.other()) else { return Ok(()) };
        if !has_feedback_of(view, market.id()) {
            self.leave_feedback(market, view, side, peer).await?;
        }
        let other = match side {
            Side::Principal => view.case().agent(),
            Side::Agent => Some(view.case().principal()),
        };
        let deadline = tokio::time::Instant::now() + FEEDBACK_WITHIN;
        let mut latest = market.view(view.id()).await?;
        while other.is_some_and(|other| !has_feedback_of(&latest, other))
            && tokio::time::Instant::now() < deadline
        {
            tokio::time::sleep(FEEDBACK_POLL).await;
            match market.refresh(&latest).await {
                Ok(Some(newer)) => latest = newer,
                Ok(None) => {}
                // It is the other side's part; our own is done.
                Err(error) if error.is_transient() => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.keep(&latest)?;
        Ok(())
    }

    async fn leave_feedback(
        &self,
        market: &Market,
        view: &View,
        side: Side,
        peer: [u8; 32],
    ) -> Result<(), BridgeError> {
        let Rating { score, outcome, is_dispute } = rating(view.case(), view.entries(), side);
        let feedback = Feedback {
            conversation_id: conversation_id(&market.server(), &view.id()),
            target_agent: peer,
            score,
            outcome,
            is_dispute,
            role: 0,
        };
        let payload = feedback.to_cbor().map_err(|e| BridgeError::Draft { why: e.to_string() })?;
        let name = format!("{}-{}-feedback-0", market.server().hex(), view.id());
        let bytes = self.once(market, view, &name, MsgType::Feedback, &peer, &payload).await?;
        match market.act_on(view, Data::Feedback {}, carrying(&bytes)).await {
            Ok(_) => Ok(()),
            // It was left already, by this program before it ended.
            Err(error) if error.server_code() == Some(9145) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Log every envelope of a verified contract that this agent sent or that is addressed to it. What is
    /// there already is not written again. Answers how many were new. An envelope that the log refuses is
    /// left out: another party wrote it, and it must not keep the others from the log.
    pub fn keep(&self, view: &View) -> Result<usize, BridgeError> {
        let conversation = conversation_id(&view.case().terms().server, &view.id());
        let mut new = 0;
        for (at, entry) in view.entries().iter().enumerate() {
            let arrival = view.transcript().received_at.get(at).copied().unwrap_or(entry.at());
            let Some((signer, carried)) = envelopes_of(entry) else { continue };
            for bytes in carried {
                let Ok(envelope) = Envelope::decode(&bytes) else { continue };
                let header = &envelope.header;
                if !is_signed(&envelope, &signer) || header.conversation_id != &conversation {
                    continue;
                }
                if message_type(entry.kind()) != Some(header.msg_type.wire()) {
                    continue;
                }
                let direction = if *header.sender == self.agent {
                    // Anybody can write our id into an envelope. Logged as sent it would use up our nonces
                    // and put bids of others into our batch.
                    if signer != self.key.id() {
                        tracing::debug!(contract = %view.id(), "another key signed for this agent id");
                        continue;
                    }
                    Direction::Sent
                } else if *header.recipient == self.agent {
                    Direction::Received
                } else {
                    continue;
                };
                match self.append(&bytes, direction, arrival) {
                    Ok(true) => new += 1,
                    Ok(false) => {}
                    // The epoch was closed by a batch; what came later than that belongs to none.
                    Err(BridgeError::Log { error: LogError::EpochSealed(epoch) }) => {
                        tracing::debug!(contract = %view.id(), ?epoch, "too late for the log");
                    }
                    Err(BridgeError::Log { error }) if error.is_of_message() => {
                        tracing::debug!(contract = %view.id(), code = error.code(), "not logged: {error}");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(new)
    }

    /// An envelope that is made once: kept, then logged, then handed out.
    async fn once(
        &self,
        market: &Market,
        view: &View,
        name: &str,
        msg_type: MsgType,
        peer: &[u8; 32],
        payload: &[u8],
    ) -> Result<Vec<u8>, BridgeError> {
        let path = self.made.join(name);
        let now = market.now().await?;
        if let Some(kept) = files::read(&path).map_err(|e| disk(&path, &e))? {
            // Of an earlier run. The payload is the same unless a model has changed its mind about a fix.
            if Envelope::decode(&kept).is_ok_and(|envelope| unsigned(&envelope) == payload) {
                let made = Envelope::decode(&kept).map(|e| Millis(e.header.timestamp / 1_000)).unwrap_or(now);
                self.append(&kept, Direction::Sent, made)?;
                return Ok(kept);
            }
        }
        let conversation = conversation_id(&market.server(), &view.id());
        let mut tries = SLOT_TRIES;
        let bytes = loop {
            let slot = self.slot().await?;
            let presigned = match msg_type {
                MsgType::Accept => self.presigned(peer, conversation, Slot(slot), payload).await,
                _ => None,
            };
            let payload = presigned.as_deref().unwrap_or(payload);
            let bytes = self.sign(msg_type, peer, now, slot, &conversation, payload)?;
            match self.check(&bytes, now) {
                // Decision C6: the log takes one bid of a conversation in a slot; wait for the next one.
                Err(BridgeError::Log { error: LogError::DuplicateBid { .. } }) if tries > 0 => {
                    tries -= 1;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Err(error) => return Err(error),
                Ok(()) => break bytes,
            }
        };
        files::replace(&path, &bytes).map_err(|e| disk(&path, &e))?;
        self.append(&bytes, Direction::Sent, now)?;
        Ok(bytes)
    }

    /// The payload with this party's pre-signature. A registry that does not answer in time is no reason to
    /// lose the contract: the ACCEPT then goes without.
    async fn presigned(
        &self,
        peer: &[u8; 32],
        conversation: [u8; 16],
        slot: Slot,
        payload: &[u8],
    ) -> Option<Vec<u8>> {
        let agreements = self.agreements.as_ref()?;
        let asked = tokio::time::timeout(PRESIGN_WITHIN, agreements(*peer, conversation, slot)).await;
        match asked.unwrap_or_else(|_| Err("the registry does not answer in time".to_owned())) {
            Ok(message) => Some(append_presignature(payload.to_vec(), &self.key.sign(&message?))),
            Err(why) => {
                tracing::warn!(why, "accepted without a pre-signature: a rating of it cannot be filed");
                None
            }
        }
    }

    fn sign(
        &self,
        msg_type: MsgType,
        recipient: &[u8; 32],
        now: Millis,
        slot: u64,
        conversation: &[u8; 16],
        payload: &[u8],
    ) -> Result<Vec<u8>, BridgeError> {
        let timestamp = now.0.saturating_mul(1_000);
        let nonce = self.with_log(|log| log.reserve_nonce(channel_of(msg_type), timestamp))?;
        let draft = Draft {
            msg_type,
            sender: &self.agent,
            recipient,
            timestamp,
            block_ref: Slot(slot),
            nonce,
            conversation_id: conversation,
            payload,
        };
        draft.sign(|bytes| self.key.sign(bytes)).map_err(|e| BridgeError::Draft { why: e.to_string() })
    }

    /// Whether the log would take it.
    fn check(&self, bytes: &[u8], at: Millis) -> Result<(), BridgeError> {
        let envelope = Envelope::decode(bytes).map_err(|e| BridgeError::Draft { why: e.to_string() })?;
        self.with_log(|log| log.check(&envelope, Direction::Sent, at.0.saturating_mul(1_000)))
    }

    fn append(&self, bytes: &[u8], direction: Direction, at: Millis) -> Result<bool, BridgeError> {
        let envelope = Envelope::decode(bytes).map_err(|e| BridgeError::Draft { why: e.to_string() })?;
        self.with_log(|log| Ok(log.append(&envelope, direction, at.0.saturating_mul(1_000))?.new))
    }

    /// The agent id of a side. One that claims to be this agent has none: nothing is sent to oneself.
    fn peer(&self, view: &View, side: Side) -> Option<[u8; 32]> {
        peer(view, side).filter(|peer| *peer != self.agent)
    }

    async fn slot(&self) -> Result<u64, BridgeError> {
        (self.slots)().await.map_err(|why| BridgeError::Slot { why })
    }
}

/// The payload as it was before a pre-signature.
fn unsigned<'a>(envelope: &Envelope<'a>) -> &'a [u8] {
    match envelope.header.msg_type {
        MsgType::Accept => {
            split_accept_presignature(envelope.payload).map_or(envelope.payload, |(rest, _)| rest)
        }
        _ => envelope.payload,
    }
}

fn disk(path: &Path, why: &dyn std::fmt::Display) -> BridgeError {
    BridgeError::Disk { path: path.to_owned(), why: why.to_string() }
}

fn carrying(bytes: &[u8]) -> Common {
    Common { envelope: Some(hex::encode(bytes)), ..Common::default() }
}

fn has_feedback_of(view: &View, party: PartyId) -> bool {
    view.entries().iter().any(|entry| entry.kind() == EntryType::Feedback && entry.author() == party)
}

/// The envelopes that an entry carries, and whose key must have signed them: its author's, or of a ruling the
/// judge's, whose signature over them the chain's rules have checked.
fn envelopes_of(entry: &Entry) -> Option<(PartyId, Vec<Vec<u8>>)> {
    let decoded = |texts: Vec<String>| texts.iter().filter_map(|text| hex::decode(text).ok()).collect();
    match entry.read().ok()? {
        (Data::Ruling(ruling), _) => Some((ruling.signature?.judge, decoded(ruling.envelopes))),
        (_, common) => Some((entry.author(), decoded(vec![common.envelope?]))),
    }
}

/// The party's own key must have signed it, over the payload that it carries.
fn is_signed(envelope: &Envelope<'_>, signer: &PartyId) -> bool {
    envelope.check_payload::<zx1_protocol::hash::Sha3>().is_ok()
        && signer.verify(&envelope.signing_bytes(), envelope.signature)
}

/// The agent id of a side, as the first envelope that it signed in this contract names it. Whether its key
/// owns that id is checked where reputation is counted (decision D2); here it only says to whom envelopes go.
pub fn peer(view: &View, side: Side) -> Option<[u8; 32]> {
    let case = view.case();
    let party = match side {
        Side::Principal => Some(case.principal()),
        Side::Agent => case.agent(),
    }?;
    view.entries().iter().filter(|entry| entry.author() == party).find_map(|entry| {
        let (signer, carried) = envelopes_of(entry)?;
        let bytes = carried.first()?;
        let envelope = Envelope::decode(bytes).ok()?;
        is_signed(&envelope, &signer).then_some(*envelope.header.sender)
    })
}

/// What a DELIVER carries of a fix.
pub fn fix_digest(data: &Data) -> [u8; 32] {
    Sha256::digest(data.to_json(&Common::default()).canonical().as_bytes()).into()
}

/// What a VERDICT carries of a ruling.
pub fn ruling_digest(ruling: &RulingData) -> [u8; 32] {
    Sha256::digest(ruling.words().canonical().as_bytes()).into()
}
