//! A fix contract as a task of the 0x01 protocol (decision G1): a party with an agent id logs the signed
//! envelopes of its contracts, ready for `zx1 batch build`.
//!
//! | act | envelope | from | payload |
//! |---|---|---|---|
//! | post | DISCOVER, to all: it names the principal's agent id | principal | hint `FIX1` |
//! | bond | PROPOSE | agent | the bounty in raw (16 bytes, little-endian), hint, contract id |
//! | accept | ACCEPT | agent | the same, then the agent's pre-signature for its rating, or 64 zeros (decision D5) |
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
//!
//! # What is believed
//!
//! Whatever an entry carries goes through the log's one door ([`zx1_log::Inbox`]): an envelope is logged when a
//! key of the claimed agent signed it, at the time of its entry, and with a nonce that no other message in the
//! log has. PROPOSE and ACCEPT take a deal key, which need not be the party's own key ([`Bridge::dealing`]); then
//! the author of the entry must be a key of the same agent. Whose key that is comes from the chain
//! ([`SigningKeys`]), not from the market (decision P1).

mod keys;
mod rating;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use zx1_coded::Coded;
use zx1_home::files;
use zx1_log::{LogError, LogHandle, Origin, Received};
use zx1_market::bridge::{conversation_id, message_type};
use zx1_market::chain::{Common, Data, RulingData, Side};
use zx1_market::{Entry, EntryType, Millis, PartyId, PartyKey, Reason};
use zx1_protocol::channel::channel_of;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::payload::{
    Feedback, PRESIGNATURE_LEN, append_presignature, bid_payload_with_hint, split_accept_presignature,
};
use zx1_protocol::units::{Epoch, Slot};
use zx1_scrub::neutral::one_line;

pub use keys::SigningKeys;
pub use rating::{Rating, rating};

use futures_util::future::BoxFuture;
use zx1_market_client::{ClientError, Market, View};

/// The format hint of this crate's payloads.
pub const HINT: &[u8; 4] = b"FIX1";

/// Timeout for opening the log while another program has it and does not share it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Age from which an envelope of an earlier run is made anew: receivers refuse a timestamp that is more than
/// 30 s away.
const FRESH_FOR: Millis = Millis(20_000);

/// Timeout for what an ACCEPT's pre-signature needs; the reservation runs meanwhile.
const PRESIGN_WITHIN: Duration = Duration::from_secs(5);

/// Timeout of [`Bridge::close`] for the other side's FEEDBACK.
const FEEDBACK_WITHIN: Duration = Duration::from_secs(5);
const FEEDBACK_POLL: Duration = Duration::from_millis(250);

/// Why an envelope was not made or logged. Numbers 9393 to 9399.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum BridgeError {
    /// Error of the agent's log.
    #[code(9393, transient = Self::may_pass)]
    #[error("The envelope log cannot be written: {error}")]
    Log {
        /// What it said.
        #[from]
        error: LogError,
    },
    /// The envelope's own file.
    #[code(9394)]
    #[error("{} cannot be kept: {why}. Nothing was sent; make room or correct the permissions.",
         .path.display())]
    Disk {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// The cluster gave no slot.
    #[code(9395, transient)]
    #[error(
        "The cluster's slot cannot be read: {why}. Check the cluster's RPC address, or trade without an \
             agent id."
    )]
    Slot {
        /// What was said.
        why: String,
    },
    /// The protocol refuses the envelope.
    #[code(9396)]
    #[error("The 0x01 envelope cannot be made: {why}")]
    Draft {
        /// What is wrong with it.
        why: String,
    },
    /// No agent id.
    #[code(9397)]
    #[error("'{text}' is not an agent id: expected the mint address of the agent's NFT, in base58.")]
    Id {
        /// What was given.
        text: String,
    },
    /// The cluster's address is invalid.
    #[code(9398)]
    #[error(
        "invalid cluster '{text}': {why}. Give an http(s) address, localhost, devnet, testnet or mainnet-beta."
    )]
    Cluster {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The keys of an agent are not known.
    #[code(9399, transient)]
    #[error("The keys of the agent {agent} cannot be read, so its messages are not logged yet: {why}.")]
    Keys {
        /// The agent whose message it is.
        agent: AgentId,
        /// What was said.
        why: String,
    },
    /// Error of the market's client.
    #[code(inner)]
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl BridgeError {
    fn may_pass(&self) -> bool {
        matches!(self, BridgeError::Log { error } if error.transient())
    }
}

/// The agent id (the mint of its NFT) that a base58 text names.
///
/// # Errors
/// 9397 when it is not the base58 of 32 bytes.
pub fn agent_id(text: &str) -> Result<AgentId, BridgeError> {
    text.parse().map_err(|_| BridgeError::Id { text: one_line(text, 60) })
}

/// The present slot of the configured cluster (`block_ref`). The error is half a sentence.
pub type Slots = Arc<dyn Fn() -> BoxFuture<'static, Result<u64, String>> + Send + Sync>;

/// What this party signs when it accepts a task, so that the other side can file a rating of it at the registry
/// (decision D5): given the other side's agent id, the conversation and the ACCEPT's slot, the registry's hash of
/// the agreement. None when the registry would not take this key's signature. The error is half a sentence.
pub type Agreements = Arc<
    dyn Fn(AgentId, ConversationId, Slot) -> BoxFuture<'static, Result<Option<[u8; 32]>, String>>
        + Send
        + Sync,
>;

/// The envelope log of one agent id. It is opened once: this program has it, or goes through the one that has
/// it, and `zx1` and other programs of the party work beside it.
pub struct Bridge {
    agent: AgentId,
    key: Arc<PartyKey>,
    /// Signs what can be evidence; `None`: the party's own key does.
    deal: Option<Arc<PartyKey>>,
    slots: Slots,
    keys: keys::Known,
    agreements: Option<Agreements>,
    log: LogHandle,
    /// Folder with a file for each own envelope.
    made: PathBuf,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl Bridge {
    /// Open the log of an agent id (its folder: [`zx1_log::agent_dir`]). `key` signs the envelopes: it is the
    /// party's key (decision A1), and a key account of the agent (decision P1). `keys` are asked for those of
    /// other agents. Blocks, at most while another program opens the log.
    pub fn open(
        folder: impl AsRef<Path>,
        agent: AgentId,
        key: Arc<PartyKey>,
        slots: Slots,
        keys: SigningKeys,
    ) -> Result<Bridge, BridgeError> {
        let folder = folder.as_ref();
        let made = folder.join("fix");
        let log = LogHandle::open(folder, agent, PATIENCE)?;
        files::make_folder(&made).map_err(|e| disk(&made, &e))?;
        let keys = keys::Known::new(keys);
        Ok(Bridge { agent, key, deal: None, slots, keys, agreements: None, log, made })
    }

    /// The same, whose PROPOSEs and ACCEPTs are signed with this deal key.
    #[must_use]
    pub fn dealing(mut self, deal: Arc<PartyKey>) -> Bridge {
        self.deal = Some(deal);
        self
    }

    /// The key that signs messages of this type.
    fn key_for(&self, msg_type: MsgType) -> &PartyKey {
        match &self.deal {
            Some(deal) if msg_type.is_deal() => deal,
            _ => &self.key,
        }
    }

    /// The same, whose ACCEPTs carry a pre-signature.
    #[must_use]
    pub fn presigning(mut self, agreements: Agreements) -> Bridge {
        self.agreements = Some(agreements);
        self
    }

    /// The agent id.
    pub fn agent(&self) -> AgentId {
        self.agent
    }

    /// Works on the log and the files beside it, on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&LogHandle) -> Result<T, BridgeError> + Send + 'static,
    ) -> Result<T, BridgeError> {
        let log = self.log.clone();
        let done = tokio::task::spawn_blocking(move || act(&log)).await;
        // It ends early only when the program does, or by a fault of ours.
        done.unwrap_or_else(|_| Err(LogError::OwnerLost.into()))
    }

    /// For a `post`: a DISCOVER that names this agent id, so that agents can answer with envelopes.
    pub async fn announce(&self, now: Millis) -> Result<Common, BridgeError> {
        let slot = self.slot().await?;
        let bytes =
            self.sign(MsgType::Discover, BROADCAST, now, slot, ConversationId::default(), HINT).await?;
        let carrying = carrying(&bytes);
        self.blocking(move |log| append(log, &bytes, now)).await?;
        Ok(carrying)
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
        let bytes = self.once(market, view, &name, wanted, peer, &payload).await?;
        Ok(carrying(&bytes))
    }

    /// For a ruling of this judge: a VERDICT to each party that has an agent id (protocol.md, 6), logged, in
    /// hexadecimal digits. None when neither has one.
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
            let bytes = self.once(market, view, &name, MsgType::Verdict, peer, &payload).await?;
            envelopes.push(hex::encode(bytes));
        }
        Ok(envelopes)
    }

    /// After the end: leave the FEEDBACK of this side, and log what the other side has sent. Its FEEDBACK is
    /// waited for a little; what comes later is logged by [`Bridge::keep`] whenever the contract is read.
    pub async fn close(&self, market: &Market, view: &View) -> Result<(), BridgeError> {
        // What cannot be logged now keeps nobody from the rating.
        let kept = self.keep(market, view).await;
        let (Some(side), true) = (view.side(), view.state().is_terminal()) else { return kept.map(drop) };
        let Some(peer) = self.peer(view, side.other()) else { return kept.map(drop) };
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
                Err(error) if error.transient() => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.keep(market, &latest).await.map(drop)
    }

    async fn leave_feedback(
        &self,
        market: &Market,
        view: &View,
        side: Side,
        peer: AgentId,
    ) -> Result<(), BridgeError> {
        let Rating { score, outcome, is_dispute } = rating(view.case(), view.entries(), side);
        let feedback = Feedback {
            conversation_id: conversation_id(&market.server(), &view.id()).into(),
            target_agent: peer,
            score,
            outcome,
            is_dispute,
            role: 0,
        };
        let payload = feedback.to_cbor().map_err(|e| BridgeError::Draft { why: e.to_string() })?;
        let name = format!("{}-{}-feedback-0", market.server().hex(), view.id());
        let bytes = self.once(market, view, &name, MsgType::Feedback, peer, &payload).await?;
        match market.act_on(view, Data::Feedback {}, carrying(&bytes)).await {
            Ok(_) => Ok(()),
            // It was left already, by this program before it ended.
            Err(error) if error.reason() == Some(Reason::FeedbackTwice) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Log every envelope of a verified contract that this agent sent or that is addressed to it. What is
    /// there already is not written again. Answers how many were new. An envelope that the log refuses is
    /// left out: another party wrote it, and it must not keep the others from the log.
    ///
    /// # Errors
    /// 9399 when the keys of a sender cannot be read; the envelopes of the others are logged all the same.
    pub async fn keep(&self, market: &Market, view: &View) -> Result<usize, BridgeError> {
        let carried = self.carried(view);
        if carried.is_empty() {
            return Ok(0);
        }
        let now = market.now().await?.0.saturating_mul(1_000);
        let others = carried.iter().map(|one| one.sender).filter(|sender| *sender != self.agent);
        let (mut keys, unread) = self.keys.of(others.collect()).await;
        // Anybody can write our id into an envelope. Logged as sent it would use up our nonces and put bids of
        // others into our batch; so of our own only what these very keys have signed.
        keys.insert(self.agent, keys::own(&self.key, self.deal.as_deref()));
        let known = carried.into_iter().filter(|one| {
            let keys = keys.get(&one.sender);
            keys.is_some_and(|keys| keys::stands_for(&one.author, keys, one.epoch))
        });
        let known: Vec<Carried> = known.collect();
        let contract = view.id();
        let new = self
            .blocking(move |log| {
                let messages: Vec<Received<'_>> =
                    known.iter().map(|one| Received { bytes: &one.bytes, origin: one.origin }).collect();
                let mut new = 0;
                for admitted in log.inbox().admit_all(&messages, &keys, now)? {
                    match admitted {
                        Ok(admitted) => new += usize::from(admitted.logged.is_some_and(|place| place.new)),
                        Err(error) if error.is_of_message() => {
                            tracing::debug!(%contract, code = error.code(), "not logged: {error}");
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
                Ok(new)
            })
            .await?;
        unread.map_or(Ok(new), Err)
    }

    /// The envelopes of a contract that may concern this agent, each with the author of its entry.
    fn carried(&self, view: &View) -> Vec<Carried> {
        let conversation = ConversationId(conversation_id(&view.case().terms().server, &view.id()));
        let mut found = Vec::new();
        for (at, entry) in view.entries().iter().enumerate() {
            let Some((author, envelopes)) = envelopes_of(entry) else { continue };
            let chained = view.transcript().received_at.get(at).copied().unwrap_or(entry.at());
            let origin = Origin::Market {
                signed_micros: entry.at().0.saturating_mul(1_000),
                chained_micros: chained.0.saturating_mul(1_000),
            };
            for bytes in envelopes {
                let Ok(envelope) = Envelope::decode(&bytes) else { continue };
                let header = &envelope.header;
                let ours = [header.sender(), header.recipient()].contains(&self.agent);
                let fits = header.conversation() == conversation
                    && message_type(entry.kind()) == Some(header.msg_type.wire());
                if ours && fits && envelope.check_payload::<Sha3>().is_ok() {
                    let (sender, epoch) = (header.sender(), header.epoch());
                    found.push(Carried { bytes, sender, epoch, author, origin });
                }
            }
        }
        found
    }

    /// An envelope that is made once: kept, then logged, then handed out.
    async fn once(
        &self,
        market: &Market,
        view: &View,
        name: &str,
        msg_type: MsgType,
        peer: AgentId,
        payload: &[u8],
    ) -> Result<Vec<u8>, BridgeError> {
        let path = self.made.join(name);
        let now = market.now().await?;
        let reused = {
            let (path, payload) = (path.clone(), payload.to_vec());
            self.blocking(move |log| reuse(log, &path, &payload, now)).await?
        };
        if let Some(kept) = reused {
            return Ok(kept);
        }
        if msg_type.is_deal() {
            self.check_deal_key(msg_type, Epoch::from_unix_micros(micros(now))).await?;
        }
        let conversation = conversation_id(&market.server(), &view.id()).into();
        let slot = self.slot().await?;
        let presigned = match msg_type {
            MsgType::Accept => Some(self.presigned(peer, conversation, Slot(slot), payload).await),
            _ => None,
        };
        let payload = presigned.as_deref().unwrap_or(payload);
        let bytes = self.sign(msg_type, peer, now, slot, conversation, payload).await?;
        self.blocking(move |log| {
            // Before the file: what is in it leaves as soon as it is logged.
            log.check_own(&decoded(&bytes)?, micros(now))?;
            files::replace(&path, &bytes).map_err(|e| disk(&path, &e))?;
            append(log, &bytes, now)?;
            Ok(bytes)
        })
        .await
    }

    /// A deal that no receiver would log is not made (decision P1).
    async fn check_deal_key(&self, msg_type: MsgType, epoch: Epoch) -> Result<(), BridgeError> {
        let (keys, unread) = self.keys.of([self.agent].into()).await;
        let listed = keys.get(&self.agent).map(Vec::as_slice).unwrap_or_default();
        let (party, deal) = (self.key.id(), self.key_for(msg_type).id());
        let (key, scope) = match unread {
            Some(error) => return Err(error),
            None if !keys::signs(&deal, listed, msg_type, epoch) => (deal, "deal"),
            None if !keys::stands_for(&party, listed, epoch) => (party, "peer"),
            None => return Ok(()),
        };
        let (key, agent) = (WalletKey::from(*key.as_bytes()), self.agent);
        let why =
            format!("{key} is not a listed key of {agent} with the scope {scope} today; see zx1 keys list");
        Err(BridgeError::Draft { why })
    }

    /// The payload with this party's pre-signature, or with zeros in its place (decision D5). A registry that
    /// does not answer in time must not cost the contract.
    async fn presigned(
        &self,
        peer: AgentId,
        conversation: ConversationId,
        slot: Slot,
        payload: &[u8],
    ) -> Vec<u8> {
        let asked = async {
            let Some(agreements) = &self.agreements else { return Ok(None) };
            let asked = tokio::time::timeout(PRESIGN_WITHIN, agreements(peer, conversation, slot)).await;
            asked.unwrap_or_else(|_| Err("the registry does not answer in time".to_owned()))
        };
        let agreement = asked.await.unwrap_or_else(|why| {
            tracing::warn!(why, "accepted without a pre-signature: a rating of it cannot be filed");
            None
        });
        let signature = agreement.map_or([0; PRESIGNATURE_LEN], |message| self.key.sign(&message));
        append_presignature(payload.to_vec(), &signature)
    }

    async fn sign(
        &self,
        msg_type: MsgType,
        recipient: AgentId,
        now: Millis,
        slot: u64,
        conversation: ConversationId,
        payload: &[u8],
    ) -> Result<Vec<u8>, BridgeError> {
        let timestamp = micros(now);
        let nonce = self.blocking(move |log| Ok(log.reserve_nonce(channel_of(msg_type), timestamp)?)).await?;
        let draft = Draft {
            msg_type,
            sender: self.agent,
            recipient,
            timestamp,
            block_ref: Slot(slot),
            nonce,
            conversation_id: conversation,
            payload,
        };
        let key = self.key_for(msg_type);
        draft.sign(|bytes| key.sign(bytes)).map_err(|e| BridgeError::Draft { why: e.to_string() })
    }

    /// The agent id of a side. One that claims to be this agent has none: nothing is sent to oneself.
    fn peer(&self, view: &View, side: Side) -> Option<AgentId> {
        peer(view, side).filter(|peer| *peer != self.agent)
    }

    async fn slot(&self) -> Result<u64, BridgeError> {
        (self.slots)().await.map_err(|why| BridgeError::Slot { why })
    }
}

/// An envelope of a contract, and what the log needs to judge it.
struct Carried {
    bytes: Vec<u8>,
    sender: AgentId,
    /// The epoch of the envelope.
    epoch: Epoch,
    /// Who stands for it in the market.
    author: PartyId,
    origin: Origin,
}

fn micros(at: Millis) -> u64 {
    at.0.saturating_mul(1_000)
}

fn decoded(bytes: &[u8]) -> Result<Envelope<'_>, BridgeError> {
    Envelope::decode(bytes).map_err(|e| BridgeError::Draft { why: e.to_string() })
}

/// Logs an envelope of our own.
fn append(log: &LogHandle, bytes: &[u8], now: Millis) -> Result<(), BridgeError> {
    log.append_own(&decoded(bytes)?, micros(now))?;
    Ok(())
}

/// The envelope that an earlier run made for the same act and may not have sent: logged, if it still says the
/// same and receivers still take it.
fn reuse(log: &LogHandle, path: &Path, payload: &[u8], now: Millis) -> Result<Option<Vec<u8>>, BridgeError> {
    let Some(kept) = files::read_if_there(path).map_err(|e| disk(path, &e))? else { return Ok(None) };
    let Ok(envelope) = Envelope::decode(&kept) else { return Ok(None) };
    let made = Millis(envelope.header.timestamp / 1_000);
    let fresh = now.0.abs_diff(made.0) <= FRESH_FOR.0;
    // A model may have changed its mind about a fix.
    if !fresh || unsigned(&envelope) != payload {
        return Ok(None);
    }
    append(log, &kept, made)?;
    Ok(Some(kept))
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

/// The envelopes that an entry carries, and who stands for them: its author, or of a ruling the judge, whose
/// signature over them the chain's rules have checked.
fn envelopes_of(entry: &Entry) -> Option<(PartyId, Vec<Vec<u8>>)> {
    let decoded = |texts: Vec<String>| texts.iter().filter_map(|text| hex::decode(text).ok()).collect();
    match entry.read().ok()? {
        (Data::Ruling(ruling), _) => Some((ruling.signature?.judge, decoded(ruling.envelopes))),
        (_, common) => Some((entry.author(), decoded(vec![common.envelope?]))),
    }
}

/// The agent id of a side, as its first entry with an envelope in this contract names it. Whether its key belongs
/// to that id is checked where its messages are logged and where reputation is counted (decision D2); here it only
/// says to whom envelopes go.
pub fn peer(view: &View, side: Side) -> Option<AgentId> {
    let case = view.case();
    let party = match side {
        Side::Principal => Some(case.principal()),
        Side::Agent => case.agent(),
    }?;
    view.entries().iter().filter(|entry| entry.author() == party).find_map(|entry| {
        let (author, carried) = envelopes_of(entry)?;
        let bytes = carried.first()?;
        let envelope = Envelope::decode(bytes).ok()?;
        (author == party && envelope.check_payload::<Sha3>().is_ok()).then_some(envelope.header.sender())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_id_is_the_base58_of_32_bytes() {
        assert_eq!(agent_id("11111111111111111111111111111111").unwrap(), AgentId([0; 32]));
        let id = agent_id("So11111111111111111111111111111111111111112").unwrap();
        assert_eq!(id.to_string(), "So11111111111111111111111111111111111111112");
        for wrong in ["", "1", "0OIl", "1111111111111111111111111111111", "fix_00", &"z".repeat(44)] {
            assert_eq!(agent_id(wrong).unwrap_err().code(), 9397, "{wrong}");
        }
    }
}
