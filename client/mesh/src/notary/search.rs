//! A party looks for a notary: offers, choice, assignment, verdict, and what follows when there is none.

use super::{Bid, Choice, NotaryError, Offers, deadline};
use crate::defaults::{CHOICE_TIME, OFFERS_TIME, REPLACEMENT_SLACK, REPLACEMENT_TIME};
use crate::text;
use serde::{Deserialize, Serialize};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::Verdict;

/// Where a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Offers are collected.
    Collecting,
    /// The caller chooses among the offers.
    Choosing,
    /// A notary is assigned, by this party or by the other.
    Assigned,
    /// The other party's notary was silent; it may choose once more.
    Awaiting,
    /// The notary judged. The end.
    Judged,
    /// Nobody judged in time. The end.
    Unjudged,
}

/// What moves a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The time for offers is over, and there are some.
    Close,
    /// A notary is assigned: the caller's choice, or the next offer after a silent one.
    Assign,
    /// The other party showed its choice.
    Adopt,
    /// The time of the other party's notary is over.
    Lapse,
    /// The VERDICT came.
    Judge,
    /// Nobody offered, nobody was chosen, or nobody is left.
    Fail,
}

impl Stage {
    /// The table: from, input, to.
    pub const TABLE: &'static [(Self, Input, Self)] = &[
        (Self::Collecting, Input::Close, Self::Choosing),
        (Self::Collecting, Input::Fail, Self::Unjudged),
        (Self::Collecting, Input::Adopt, Self::Assigned),
        (Self::Choosing, Input::Assign, Self::Assigned),
        (Self::Choosing, Input::Fail, Self::Unjudged),
        (Self::Choosing, Input::Adopt, Self::Assigned),
        (Self::Assigned, Input::Judge, Self::Judged),
        (Self::Assigned, Input::Assign, Self::Assigned),
        (Self::Assigned, Input::Adopt, Self::Assigned),
        (Self::Assigned, Input::Lapse, Self::Awaiting),
        (Self::Assigned, Input::Fail, Self::Unjudged),
        (Self::Awaiting, Input::Adopt, Self::Assigned),
        (Self::Awaiting, Input::Fail, Self::Unjudged),
    ];

    /// The stage after an input; `None` when there is no such step.
    pub fn after(self, input: Input) -> Option<Self> {
        Self::TABLE.iter().find(|(from, what, _)| (*from, *what) == (self, input)).map(|row| row.2)
    }

    /// Whether the search is over.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Judged | Self::Unjudged)
    }

    /// The word for it in JSON and in sentences.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Collecting => "collecting",
            Self::Choosing => "choosing",
            Self::Assigned => "assigned",
            Self::Awaiting => "awaiting",
            Self::Judged => "judged",
            Self::Unjudged => "unjudged",
        }
    }
}

/// A notary that is or was assigned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Assigned {
    /// Agent id of the notary.
    pub notary: AgentId,
    /// Whether the other party chose it.
    pub by_other: bool,
    /// The offer's envelope, when this party chose.
    #[serde(with = "text::bytes")]
    pub offer: Vec<u8>,
    /// NOTARIZE_ASSIGN is in the outbox.
    pub sent: bool,
    /// The choice was shown to the other party, or came from there.
    pub shown: bool,
    /// The conversation was shown to the notary.
    pub context: bool,
}

/// A VERDICT that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Agent id of the notary that judged.
    pub notary: AgentId,
    /// 0 negative, 1 neutral, 2 positive.
    pub outcome: u8,
    /// payload_hash of the judged DELIVER.
    #[serde(with = "text::bytes")]
    pub deliver: Hash,
    /// keccak256 of the VERDICT's envelope.
    #[serde(with = "text::bytes")]
    pub envelope: Hash,
}

/// What this party has to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// NOTARIZE_BID that asks for offers.
    Ask,
    /// NOTARIZE_ASSIGN to the notary; worthless after the search's deadline.
    Assign(AgentId),
    /// The choice, to the other party, once the assignment is signed.
    ShowChoice(AgentId),
    /// The conversation, to the notary.
    ShowContext(AgentId),
}

/// The search for the notary of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    conversation: ConversationId,
    me: AgentId,
    other: AgentId,
    stage: Stage,
    /// When the stage ends by itself, unix microseconds.
    until: u64,
    /// The request is in the outbox, or none is needed.
    asked: bool,
    offers: Offers,
    /// Every notary so far, two at most; the last one is it.
    assigned: Vec<Assigned>,
    verdict: Option<Judgement>,
}

/// Notaries of one task, one after the other.
const MAX_NOTARIES: usize = 2;

impl Search {
    /// Begins to look. `unit` is the one in which the caller wants to pay.
    pub fn ask(
        conversation: ConversationId,
        me: AgentId,
        other: AgentId,
        unit: &str,
        now_micros: u64,
    ) -> Self {
        Self {
            conversation,
            me,
            other,
            stage: Stage::Collecting,
            until: now_micros.saturating_add(OFFERS_TIME),
            asked: false,
            offers: Offers::new(unit),
            assigned: Vec::new(),
            verdict: None,
        }
    }

    /// Takes the other party's choice when this party was not looking itself.
    pub fn follow(
        conversation: ConversationId,
        me: AgentId,
        other: AgentId,
        choice: Choice,
        now_micros: u64,
    ) -> Result<Self, NotaryError> {
        let mut search = Self { asked: true, ..Self::ask(conversation, me, other, "", now_micros) };
        search.adopt(choice, now_micros)?;
        Ok(search)
    }

    /// Conversation id of the task.
    pub fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// Where it stands, as of the last input.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// When the stage ends by itself; `None` once it is over.
    pub fn until(&self) -> Option<u64> {
        (!self.stage.is_over()).then_some(self.until)
    }

    /// The offers so far, the best first.
    pub fn offers(&self) -> &[Bid] {
        self.offers.ranked()
    }

    /// The notary whose VERDICT counts now, or counted.
    pub fn notary(&self) -> Option<AgentId> {
        let counts = matches!(self.stage, Stage::Assigned | Stage::Judged);
        self.assigned.last().filter(|_| counts).map(|it| it.notary)
    }

    /// All notaries that were assigned so far, the first first.
    pub fn notaries(&self) -> impl Iterator<Item = AgentId> {
        self.assigned.iter().map(|it| it.notary)
    }

    /// The VERDICT that counts, once it came.
    pub fn verdict(&self) -> Option<&Judgement> {
        self.verdict.as_ref()
    }

    /// Whether the caller may choose now.
    pub fn can_choose(&self) -> bool {
        self.stage.after(Input::Assign).is_some() && self.stage == Stage::Choosing
    }

    /// Lets the time pass. Everything that has a deadline up to now happens, in order.
    pub fn advance(&mut self, now_micros: u64) {
        // Each step ends a stage or sets a later deadline, and there are few of both.
        while !self.stage.is_over() && self.until <= now_micros {
            self.expire();
        }
    }

    /// The deadline of the stage has passed.
    fn expire(&mut self) {
        let at = self.until;
        match self.stage {
            Stage::Collecting if !self.offers().is_empty() => {
                self.step(Input::Close, at.saturating_add(CHOICE_TIME));
            }
            Stage::Assigned if self.assigned.last().is_some_and(|it| it.by_other) => {
                let input = if self.assigned.len() < MAX_NOTARIES { Input::Lapse } else { Input::Fail };
                self.step(input, at.saturating_add(REPLACEMENT_TIME));
            }
            Stage::Assigned if self.assigned.len() < MAX_NOTARIES => match self.offers.best() {
                Some(bid) => self.assign(bid, at),
                None => self.step(Input::Fail, at),
            },
            Stage::Collecting | Stage::Choosing | Stage::Assigned | Stage::Awaiting => {
                self.step(Input::Fail, at);
            }
            Stage::Judged | Stage::Unjudged => {}
        }
    }

    fn step(&mut self, input: Input, until: u64) {
        if let Some(next) = self.stage.after(input) {
            self.stage = next;
            self.until = until;
        }
    }

    fn not_now(&self) -> NotaryError {
        NotaryError::NotNow { stage: self.stage.as_str() }
    }

    /// Takes an offer from the notary topic.
    pub fn offer(&mut self, bid: Bid, now_micros: u64) -> Result<(), NotaryError> {
        self.advance(now_micros);
        if self.stage != Stage::Collecting {
            return Err(self.not_now());
        }
        if [self.me, self.other].contains(&bid.notary) {
            return Err(NotaryError::PartyAsNotary);
        }
        self.offers.take(bid);
        Ok(())
    }

    /// The caller's choice.
    pub fn choose(&mut self, notary: AgentId, now_micros: u64) -> Result<(), NotaryError> {
        self.advance(now_micros);
        if self.stage == Stage::Assigned {
            return Err(NotaryError::TwoNotaries);
        }
        if !self.can_choose() {
            return Err(self.not_now());
        }
        let bid = self.offers.remove(notary).ok_or(NotaryError::NoOffer)?;
        self.assign(bid, now_micros);
        Ok(())
    }

    fn assign(&mut self, bid: Bid, at: u64) {
        let Bid { notary, seconds, envelope, .. } = bid;
        self.step(Input::Assign, deadline(at, seconds));
        self.assigned.push(Assigned {
            notary,
            by_other: false,
            offer: envelope,
            sent: false,
            shown: false,
            context: false,
        });
    }

    /// The other party's choice ([`super::read_choice`]). While this party has a notary of its own, or that
    /// party's first one still has time, another one is refused.
    pub fn adopt(&mut self, choice: Choice, now_micros: u64) -> Result<(), NotaryError> {
        self.advance(now_micros);
        let Choice { notary, seconds } = choice;
        if [self.me, self.other].contains(&notary) {
            return Err(NotaryError::PartyAsNotary);
        }
        if self.stage == Stage::Assigned {
            let Some(now) = self.assigned.last() else { return Err(self.not_now()) };
            if now.notary == notary {
                return Ok(());
            }
            let lapses = self.until <= now_micros.saturating_add(REPLACEMENT_SLACK);
            if !now.by_other || !lapses {
                return Err(NotaryError::TwoNotaries);
            }
        }
        if self.stage.after(Input::Adopt).is_none() {
            return Err(self.not_now());
        }
        // The same one a second time would have two turns.
        if self.assigned.len() >= MAX_NOTARIES || self.notaries().any(|it| it == notary) {
            return Err(NotaryError::TwoNotaries);
        }
        self.step(Input::Adopt, deadline(now_micros, seconds));
        self.asked = true;
        self.assigned.push(Assigned {
            notary,
            by_other: true,
            offer: Vec::new(),
            sent: true,
            shown: true,
            context: false,
        });
        Ok(())
    }

    /// A VERDICT for this party. Only the notary that is assigned now is heard, and only within its time.
    pub fn judge(
        &mut self,
        sender: AgentId,
        payload: &[u8],
        envelope: Hash,
        now_micros: u64,
    ) -> Result<Judgement, NotaryError> {
        self.advance(now_micros);
        if self.stage != Stage::Assigned || self.notary() != Some(sender) {
            return Err(NotaryError::OtherNotary);
        }
        let Verdict { outcome, deliver, .. } = Verdict::decode(payload)?;
        let judgement = Judgement { notary: sender, outcome, deliver, envelope };
        self.step(Input::Judge, now_micros);
        self.verdict = Some(judgement);
        Ok(judgement)
    }

    /// What is to be sent now and is not in the outbox yet.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks = Vec::new();
        if self.stage == Stage::Collecting && !self.asked {
            tasks.push(Task::Ask);
        }
        if let (Stage::Assigned, Some(it)) = (self.stage, self.assigned.last()) {
            let due = [
                (!it.sent, Task::Assign(it.notary)),
                (it.sent && !it.shown, Task::ShowChoice(it.notary)),
                (it.sent && !it.context, Task::ShowContext(it.notary)),
            ];
            tasks.extend(due.into_iter().filter(|(due, _)| *due).map(|(_, task)| task));
        }
        tasks
    }

    /// The envelope of the assigned notary's offer, for [`super::choice_payload`].
    pub fn chosen_offer(&self) -> Option<&[u8]> {
        self.assigned.last().filter(|it| !it.by_other).map(|it| it.offer.as_slice())
    }

    /// The name under which the outbox takes a task once.
    pub fn name_of(&self, task: Task) -> String {
        let id = self.conversation;
        match task {
            Task::Ask => format!("notary/{id}/ask"),
            Task::Assign(notary) => format!("notary/{id}/assign/{notary}"),
            Task::ShowChoice(notary) => format!("notary/{id}/choice/{notary}"),
            Task::ShowContext(notary) => format!("notary/{id}/context/{notary}"),
        }
    }

    /// A task is in the outbox, on disk.
    pub fn done(&mut self, task: Task) {
        let current = |it: &&mut Assigned, notary| it.notary == notary;
        let last = self.assigned.last_mut();
        match task {
            Task::Ask => self.asked = true,
            Task::Assign(who) => last.filter(|it| current(it, who)).into_iter().for_each(|it| it.sent = true),
            Task::ShowChoice(who) => {
                last.filter(|it| current(it, who)).into_iter().for_each(|it| it.shown = true);
            }
            Task::ShowContext(who) => {
                last.filter(|it| current(it, who)).into_iter().for_each(|it| it.context = true);
            }
        }
    }
}
