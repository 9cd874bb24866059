//! What a message or an entry proves against a batch, before any money is put up.

use super::file::{ChallengeFile, ClaimFile};
use crate::batch::{commitment_of, fetch};
use crate::error::{Error, Origin, Refusal, Result};
use crate::identity::signer_of;
use crate::operator::Operator;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _};
use zx1_protocol::batch::Covered;
use zx1_protocol::bundle::{Bundle, Checked};
use zx1_protocol::challenge::{Clock, Ground};
use zx1_protocol::derive::{self, Expected};
use zx1_protocol::envelope::{Envelope, EnvelopeError, MsgType};
use zx1_protocol::finder::{self, FinderError, Presence};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::AgentKey;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::Feedback;
use zx1_protocol::record::Record;
use zx1_protocol::units::{Epoch, Slot};

/// Parameters of a search for claims against an agent.
#[derive(Debug)]
pub struct Request<'a> {
    /// The agent whose batches are examined.
    pub agent: AgentId,
    /// A message or an entry; without it bids in the batch that contradict each other.
    pub evidence: Option<&'a Evidence>,
    /// Only this batch; without it every batch that can still be challenged.
    pub epoch: Option<u64>,
    /// Where the batches' data is served.
    pub store: Option<&'a AnyStore>,
    /// Whether a challenge is prepared also against a batch whose data is not served.
    pub blind: bool,
}

/// Result of a search for claims against an agent.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Found {
    pub agent: AgentId,
    /// What the evidence is, for people.
    pub evidence: &'static str,
    /// What each batch must hold because of it.
    pub claims: Vec<Claim>,
}

/// A record that a batch must hold.
#[derive(Clone, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Claim {
    pub epoch: u64,
    pub ground: &'static str,
    #[serde(skip)]
    pub expected: Expected,
    /// The value of the other bid, for two bids that contradict each other.
    #[serde(skip)]
    pub other_value: Option<i128>,
    /// Whether the batch holds it.
    pub presence: FoundPresence,
    /// Whether the message stands in the agent's log.
    pub in_log: Option<bool>,
    /// The last slot in which the batch can be challenged.
    pub challengeable_through_slot: u64,
    #[serde(skip)]
    file: Option<ClaimFile>,
}

/// Whether a batch holds a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundPresence {
    /// The batch lacks the record: a challenge wins.
    Absent,
    /// The batch holds the record: a challenge is answered.
    Present,
    /// The batch's data is not served.
    Unknown,
}

/// Which of the claims to prefer.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Preferences {
    pub ground: Option<Ground>,
    /// Accept a claim that may be answered, because the data is withheld.
    pub blind: bool,
    /// Accept a claim that will be answered.
    pub even_if_answerable: bool,
}

impl Found {
    /// Whether a challenge would win.
    pub fn wins(&self) -> bool {
        self.claims.iter().any(|claim| claim.presence == FoundPresence::Absent)
    }

    /// The challenge to submit: all claims against the first batch where one wins, if there is any.
    ///
    /// # Errors
    /// 7540 when none is worth its stake.
    pub fn best(&self, preferences: &Preferences) -> Result<ChallengeFile> {
        let fits = |claim: &&Claim| preferences.ground.is_none_or(|ground| ground.name() == claim.ground);
        // What is left out of the claims against one batch, somebody else takes.
        let candidates = |presence: FoundPresence| {
            let claims = || self.claims.iter().filter(fits).filter(move |it| it.presence == presence);
            let epoch = claims().find(|claim| claim.file.is_some())?.epoch;
            let files = claims().filter(|claim| claim.epoch == epoch);
            Some((epoch, files.filter_map(|claim| claim.file.clone()).collect::<Vec<_>>()))
        };
        let answerable = || {
            let claim = self.claims.iter().filter(fits).find(|claim| claim.file.is_some())?;
            Some((claim.epoch, claim.file.clone().into_iter().collect()))
        };
        let best = candidates(FoundPresence::Absent)
            .or_else(|| preferences.blind.then(|| candidates(FoundPresence::Unknown)).flatten())
            .or_else(|| preferences.even_if_answerable.then(answerable).flatten());
        let unknown = self.claims.iter().any(|claim| claim.presence == FoundPresence::Unknown);
        let why = || match unknown {
            true => "the batch's data is withheld, so it is unknown whether it holds the record",
            false => "the batch holds every record that this evidence asks for",
        };
        let (epoch, claims) = best.ok_or_else(|| Refusal::NothingFound { why: why().to_owned() })?;
        Ok(ChallengeFile::new(&self.agent, epoch, claims))
    }
}

/// A message or an entry of a log.
#[derive(Debug)]
pub enum Evidence {
    /// A message that the agent signed.
    Envelope(Vec<u8>),
    /// An entry of its log, and the payload if that is known: it disputes a bid's value too.
    Entry(Vec<u8>, Option<Vec<u8>>),
}

impl Evidence {
    /// Tells which of the two it is.
    ///
    /// # Errors
    /// The error of decoding a message, when the bytes are neither a message nor a log entry.
    pub fn parse(bytes: Vec<u8>, payload: Option<Vec<u8>>) -> Result<Self, EnvelopeError> {
        // An entry of FEEDBACK has the shape of an envelope but for the order of its last two fields, so
        // only one of the two decodes.
        match (Envelope::decode(&bytes).map(|_| ()), LogEntry::decode::<Sha3>(&bytes).map(|_| ())) {
            (Ok(()), _) => Ok(Self::Envelope(bytes)),
            (_, Ok(())) => Ok(Self::Entry(bytes, payload)),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Whose batch it speaks about: the sender's; a rating's about whom it is.
    pub fn accused(&self) -> Option<AgentId> {
        Some(match self {
            Self::Envelope(bytes) => Envelope::decode(bytes).ok()?.header.sender(),
            Self::Entry(bytes, _) => {
                let entry = LogEntry::decode::<Sha3>(bytes).ok()?;
                match entry.header.msg_type {
                    MsgType::Feedback => Feedback::decode(entry.payload).ok()?.target_agent,
                    _ => entry.header.sender(),
                }
            }
        })
    }

    fn name(&self) -> &'static str {
        let Self::Envelope(bytes) = self else { return "a log entry" };
        match Envelope::decode(bytes).map(|envelope| envelope.header.msg_type) {
            Ok(MsgType::Propose) => "an envelope: propose",
            Ok(MsgType::Counter) => "an envelope: counter",
            Ok(MsgType::Accept) => "an envelope: accept",
            Ok(MsgType::NotarizeAssign) => "an envelope: notarize-assign",
            _ => "an envelope",
        }
    }
}

/// Looks at one batch.
struct Look<'a> {
    account: &'a Stored<BatchAccount>,
    agent: AgentId,
    /// Also those that have ended.
    keys: &'a [AgentKey],
    blind: bool,
}

impl Look<'_> {
    fn covered(&self) -> Covered {
        Covered { from: Epoch(self.account.covers_from_epoch), to: Epoch(self.account.epoch_number) }
    }

    fn through(&self) -> u64 {
        Clock { submitted: Slot(self.account.submitted_slot) }.deadline().0
    }

    fn claim(&self, ground: Ground, expected: &Expected, presence: Option<&Presence>) -> Claim {
        Claim {
            epoch: self.account.epoch_number,
            ground: ground.name(),
            expected: *expected,
            other_value: None,
            presence: match presence {
                Some(Presence::Absent) => FoundPresence::Absent,
                Some(Presence::Present { .. }) => FoundPresence::Present,
                None => FoundPresence::Unknown,
            },
            in_log: None,
            challengeable_through_slot: self.through(),
            file: None,
        }
    }

    fn envelope(&self, data: Option<&Checked<'_>>, bytes: &[u8]) -> Result<Vec<Claim>, FinderError> {
        let envelope = Envelope::decode(bytes).map_err(FinderError::Entry)?;
        let file = |ground, signer: &Address| ClaimFile::with_envelope(ground, bytes, signer);
        if let Some(data) = data {
            let found = finder::find_envelope(data, self.covered(), &self.agent, &envelope, self.keys)?;
            let claims = found.claims.iter().map(|claim| Claim {
                in_log: Some(found.in_log.is_some()),
                file: Some(file(claim.ground, &found.signer)),
                ..self.claim(claim.ground, &claim.expected, Some(&claim.presence))
            });
            return Ok(claims.collect());
        }
        // Without the data only the message speaks: what the batch must hold, not whether it does.
        let fields = envelope.signed_fields();
        let message_epoch = envelope.header.epoch();
        if !self.covered().contains(message_epoch) {
            return Err(FinderError::NotCovered { epoch: message_epoch });
        }
        let signed = envelope.signing_bytes();
        let what = (envelope.header.msg_type, message_epoch);
        let signer = signer_of(self.keys, what, &signed, envelope.signature);
        let signer = signer.ok_or(FinderError::Signature)?;
        let mut claims = Vec::new();
        let mut why = derive::DeriveError::NoGround;
        for ground in [Ground::Bid, Ground::Selection, Ground::Verifier] {
            match derive::from_envelope::<Sha3>(&fields, self.agent.as_bytes(), ground) {
                Ok(expected) => claims.push(Claim {
                    file: self.blind.then(|| file(ground, &signer)),
                    ..self.claim(ground, &expected, None)
                }),
                Err(derive::DeriveError::NoGround) => {}
                Err(error) => why = error,
            }
        }
        if claims.is_empty() { Err(FinderError::NoClaim(why)) } else { Ok(claims) }
    }

    fn entry(
        &self,
        data: &Checked<'_>,
        entry: &[u8],
        payload: Option<&[u8]>,
    ) -> Result<Vec<Claim>, FinderError> {
        let found = finder::find_log_entry(data, &self.agent, entry, payload)?;
        let claims = found.claims.iter().map(|claim| {
            let evidence = found.evidence(claim, entry, payload);
            let file = evidence.map(|bytes| ClaimFile::with_bytes(claim.ground, &bytes));
            let shown = self.claim(claim.ground, &claim.expected, Some(&claim.presence));
            Claim { in_log: Some(true), file, ..shown }
        });
        Ok(claims.collect())
    }

    fn double_bid(&self, data: &Checked<'_>) -> Option<Claim> {
        let pair = finder::double_bids(data).next()?;
        let evidence = pair.evidence()?;
        let expected = Expected { record: Record::Bid(pair.a.bid), value_known: true };
        Some(Claim {
            other_value: Some(pair.b.bid.value),
            file: Some(ClaimFile::with_bytes(Ground::DoubleBid, &evidence)),
            ..self.claim(Ground::DoubleBid, &expected, Some(&Presence::Absent))
        })
    }
}

/// The data of a batch; `None` when it is withheld and the caller can do without it.
async fn data_of(store: Option<&AnyStore>, account: &BatchAccount, needed: bool) -> Result<Option<Vec<u8>>> {
    let Some(store) = store else {
        return if needed { Err(Refusal::NoStore.into()) } else { Ok(None) };
    };
    match fetch(store, account).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if needed || error.is_unavailable() => Err(error),
        Err(_) => Ok(None),
    }
}

impl Operator {
    /// Looks into the batches' served data for what the evidence says they must hold.
    ///
    /// # Errors
    /// 7521 and 7525 when data is needed and not to be had, 7526 for an epoch without a batch, 7540 when there
    /// is nothing to look at, the finder's reason when the evidence proves nothing.
    pub async fn find_challenge(&self, request: &Request<'_>) -> Result<Found> {
        let Request { agent, evidence, store, blind, .. } = *request;
        let accounts = self.open_batches(agent, request.epoch).await?;
        let keys = self.client().agent_keys(agent).await?;
        let mut claims = Vec::new();
        let mut last_reason = None;
        for account in &accounts {
            let needed = !matches!(evidence, Some(Evidence::Envelope(_)));
            let bytes = data_of(store, account, needed).await?;
            let bundle = bytes.as_deref().map(Bundle::decode).transpose().map_err(Origin::Served.error())?;
            let commitment = commitment_of(account);
            let data = bundle.as_ref().map(|bundle| bundle.check_against(&commitment)).transpose();
            let data = data.map_err(Origin::Served.error())?;
            let look = Look { account, agent, keys: &keys, blind };
            let result = match (evidence, &data) {
                (Some(Evidence::Envelope(bytes)), data) => look.envelope(data.as_ref(), bytes),
                (Some(Evidence::Entry(bytes, payload)), Some(data)) => {
                    look.entry(data, bytes, payload.as_deref())
                }
                (None, Some(data)) => Ok(look.double_bid(data).into_iter().collect()),
                (_, None) => Ok(Vec::new()),
            };
            match result {
                Ok(more) => claims.extend(more),
                Err(reason) => last_reason = Some(reason),
            }
        }
        // The reason of the one batch that was looked at last says more than "nothing".
        if let (true, Some(source)) = (claims.is_empty(), last_reason) {
            return Err(Error::Evidence { agent: agent.to_string(), source });
        }
        if claims.is_empty() && evidence.is_none() {
            let place = store.map(AnyStore::describe).unwrap_or_default();
            let why = format!("no two bids in the data at {place} contradict each other");
            return Err(Refusal::NothingFound { why }.into());
        }
        let evidence = evidence.map_or("two bids of the batch itself", Evidence::name);
        Ok(Found { agent, evidence, claims })
    }

    /// The agent's batches that can still be challenged, or the one that was named.
    async fn open_batches(&self, agent: AgentId, epoch: Option<u64>) -> Result<Vec<Stored<BatchAccount>>> {
        let now = self.now().await?.slot;
        let mut batches = self.client().batches(agent).await?;
        batches.retain(|batch| epoch.is_none_or(|epoch| epoch == batch.epoch_number));
        if let (Some(epoch), true) = (epoch, batches.is_empty()) {
            return Err(Refusal::NoBatchOnChain { agent: agent.to_string(), epoch }.into());
        }
        batches.retain(|batch| Clock { submitted: Slot(batch.submitted_slot) }.is_open(now));
        if batches.is_empty() {
            let why = "the agent has no batch whose window is open".to_owned();
            return Err(Refusal::NothingFound { why }.into());
        }
        Ok(batches)
    }
}
