//! This agent as the notary of one task: offer, assignment, what the parties show, verdict.

use super::context::{Parties, read_context};
use super::{Exhibit, KeysOf, NotaryError, deadline};
use crate::conversation::{Due, owed_by_notary};
use crate::defaults::{MAX_EXHIBITS, OFFER_STANDS};
use crate::text;
use serde::{Deserialize, Serialize};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::{Offer, Verdict};
use zx1_protocol::payload::{BidType, NotarizeBid};

/// Where the task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeskStage {
    /// An offer was made.
    Offered,
    /// A party assigned this agent.
    Assigned,
    /// The VERDICT is decided. The end.
    Judged,
    /// The time passed without a VERDICT. The end.
    Missed,
    /// Nobody took the offer. The end.
    Lapsed,
}

/// What moves the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeskInput {
    /// NOTARIZE_ASSIGN of a party came.
    Assign,
    /// The caller decided.
    Judge,
    /// The time is over.
    Expire,
}

impl DeskStage {
    /// The table: from, input, to.
    pub const TABLE: &'static [(Self, DeskInput, Self)] = &[
        (Self::Offered, DeskInput::Assign, Self::Assigned),
        (Self::Offered, DeskInput::Expire, Self::Lapsed),
        (Self::Assigned, DeskInput::Judge, Self::Judged),
        (Self::Assigned, DeskInput::Expire, Self::Missed),
    ];

    /// The stage after an input; `None` when there is no such step.
    pub fn after(self, input: DeskInput) -> Option<Self> {
        Self::TABLE.iter().find(|(from, what, _)| (*from, *what) == (self, input)).map(|row| row.2)
    }

    /// Whether the task is over.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Judged | Self::Missed | Self::Lapsed)
    }

    /// The word for it in JSON and in sentences.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Assigned => "assigned",
            Self::Judged => "judged",
            Self::Missed => "missed",
            Self::Lapsed => "lapsed",
        }
    }
}

/// What the notary has to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeskTask {
    /// NOTARIZE_BID with the offer, as this payload.
    Offer(Vec<u8>),
    /// VERDICT to this party, as this payload.
    Verdict(AgentId, Vec<u8>),
}

/// One task of the notary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desk {
    conversation: ConversationId,
    me: AgentId,
    /// The party that asked for a notary.
    asker: AgentId,
    /// The other party, once it is known.
    other: Option<AgentId>,
    #[serde(with = "text::decimal")]
    fee: i128,
    unit: String,
    seconds: u32,
    stage: DeskStage,
    /// When the stage ends by itself, unix microseconds.
    until: u64,
    exhibits: Vec<Exhibit>,
    /// The payload of the VERDICT.
    #[serde(with = "text::bytes")]
    verdict: Vec<u8>,
    /// The offer is in the outbox.
    offered: bool,
    /// The parties for which the VERDICT is in the outbox.
    sent: Vec<AgentId>,
}

impl Desk {
    /// Offers to judge the task for which `asker` asked.
    pub fn offer(
        conversation: ConversationId,
        me: AgentId,
        asker: AgentId,
        terms: Offer<'_>,
        now_micros: u64,
    ) -> Result<Self, NotaryError> {
        if asker == me {
            return Err(NotaryError::PartyAsNotary);
        }
        terms.to_payload()?;
        Ok(Self {
            conversation,
            me,
            asker,
            other: None,
            fee: terms.fee,
            unit: terms.unit.to_owned(),
            seconds: terms.seconds,
            stage: DeskStage::Offered,
            until: now_micros.saturating_add(OFFER_STANDS),
            exhibits: Vec::new(),
            verdict: Vec::new(),
            offered: false,
            sent: Vec::new(),
        })
    }

    /// Conversation id of the task.
    pub fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// Where it stands, as of the last input.
    pub fn stage(&self) -> DeskStage {
        self.stage
    }

    /// When the stage ends by itself; `None` once it is over.
    pub fn until(&self) -> Option<u64> {
        (!self.stage.is_over()).then_some(self.until)
    }

    /// The parties, as far as they are known: first the one that asked.
    pub fn parties(&self) -> (AgentId, Option<AgentId>) {
        (self.asker, self.other)
    }

    /// What the parties showed, in the order in which it came.
    pub fn exhibits(&self) -> &[Exhibit] {
        &self.exhibits
    }

    /// Whether a VERDICT can be given now: assigned, and both parties known.
    pub fn can_judge(&self) -> bool {
        self.stage.after(DeskInput::Judge).is_some() && self.other.is_some()
    }

    /// Lets the time pass.
    pub fn advance(&mut self, now_micros: u64) {
        if !self.stage.is_over() && self.until <= now_micros {
            self.step(DeskInput::Expire, self.until);
        }
    }

    fn step(&mut self, input: DeskInput, until: u64) {
        if let Some(next) = self.stage.after(input) {
            self.stage = next;
            self.until = until;
        }
    }

    fn not_now(&self) -> NotaryError {
        NotaryError::NotNow { stage: self.stage.as_str() }
    }

    /// NOTARIZE_ASSIGN came. A second one, also of the other party, changes nothing.
    pub fn assign(&mut self, sender: AgentId, now_micros: u64) -> Result<(), NotaryError> {
        self.advance(now_micros);
        if sender != self.asker && self.other != Some(sender) {
            return Err(NotaryError::NotAParty);
        }
        match self.stage {
            DeskStage::Assigned => Ok(()),
            DeskStage::Offered => {
                self.step(DeskInput::Assign, deadline(now_micros, self.seconds));
                Ok(())
            }
            _ => Err(self.not_now()),
        }
    }

    /// A party shows envelopes of the conversation. Form, signature and key of each are checked, and that it is
    /// between the two parties; nonce and time are not, because nobody receives them here. The first envelope
    /// by which the asker writes to somebody names the other party. Returns what is new, in its order.
    pub fn show(
        &mut self,
        sender: AgentId,
        payload: &[u8],
        keys: KeysOf<'_>,
        now_micros: u64,
    ) -> Result<Vec<Exhibit>, NotaryError> {
        self.advance(now_micros);
        if self.stage != DeskStage::Assigned {
            return Err(self.not_now());
        }
        let parties = Parties { asker: self.asker, other: self.other, notary: self.me };
        let (exhibits, other) = read_context(sender, payload, self.conversation, &parties, keys)?;
        let mut fresh: Vec<Exhibit> = Vec::new();
        for exhibit in exhibits {
            let known = |it: &Exhibit| it.message32 == exhibit.message32;
            if !self.exhibits.iter().any(known) && !fresh.iter().any(known) {
                fresh.push(exhibit);
            }
        }
        if self.exhibits.len().saturating_add(fresh.len()) > MAX_EXHIBITS {
            return Err(NotaryError::TooManyShown { limit: MAX_EXHIBITS });
        }
        self.exhibits.extend_from_slice(&fresh);
        self.other = Some(other);
        Ok(fresh)
    }

    /// The caller's judgement of a DELIVER that was shown. `deliver` is its payload's hash, or zeros when no
    /// DELIVER was shown.
    pub fn judge(
        &mut self,
        outcome: u8,
        deliver: Hash,
        reason: &str,
        now_micros: u64,
    ) -> Result<(), NotaryError> {
        self.advance(now_micros);
        if self.stage != DeskStage::Assigned {
            return Err(self.not_now());
        }
        if self.other.is_none() {
            return Err(NotaryError::OtherPartyUnknown);
        }
        let mut deliveries = self.exhibits.iter().filter(|it| it.is_delivery).peekable();
        let right = match deliveries.peek() {
            None => deliver == [0; 32],
            Some(_) => deliveries.any(|it| it.payload_hash == deliver),
        };
        if !right {
            return Err(NotaryError::UnknownDelivery);
        }
        self.verdict = Verdict { outcome, deliver, reason }.to_payload()?;
        self.step(DeskInput::Judge, now_micros);
        Ok(())
    }

    /// The ratings that are owed after the VERDICT.
    pub fn owed(&self) -> Vec<Due> {
        match (self.stage, self.other) {
            (DeskStage::Judged, Some(other)) => owed_by_notary([self.asker, other]),
            _ => Vec::new(),
        }
    }

    /// What is to be sent now and is not in the outbox yet.
    pub fn tasks(&self) -> Vec<DeskTask> {
        match self.stage {
            DeskStage::Offered if !self.offered => {
                self.offer_payload().map(DeskTask::Offer).into_iter().collect()
            }
            DeskStage::Judged => {
                let parties = [Some(self.asker), self.other].into_iter().flatten();
                let left = parties.filter(|party| !self.sent.contains(party));
                left.map(|party| DeskTask::Verdict(party, self.verdict.clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn offer_payload(&self) -> Option<Vec<u8>> {
        let terms = Offer { fee: self.fee, unit: &self.unit, seconds: self.seconds }.to_payload().ok()?;
        let bid = NotarizeBid { bid_type: BidType::Offer, conversation_id: self.conversation, terms: &terms };
        Some(bid.to_bytes())
    }

    /// The name under which the outbox takes a task once.
    pub fn name_of(&self, task: &DeskTask) -> String {
        let id = self.conversation;
        match task {
            DeskTask::Offer(_) => format!("desk/{id}/offer"),
            DeskTask::Verdict(party, _) => format!("desk/{id}/verdict/{party}"),
        }
    }

    /// A task is in the outbox, on disk.
    pub fn done(&mut self, task: &DeskTask) {
        match task {
            DeskTask::Offer(_) => self.offered = true,
            DeskTask::Verdict(party, _) if !self.sent.contains(party) => self.sent.push(*party),
            DeskTask::Verdict(..) => {}
        }
    }
}
