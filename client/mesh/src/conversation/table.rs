//! The phases of a deal and every way from one to another (protocol.md, 6).

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a deal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing was proposed yet, or the proposal is not known.
    New,
    /// The last bid is the proposer's.
    ProposerBid,
    /// The last bid is the responder's.
    ResponderBid,
    /// The deal is made.
    Agreed,
    /// There is no deal.
    Rejected,
    /// A work product was sent.
    Delivered,
    /// The notary has judged.
    Judged,
    /// A party contests the verdict.
    Disputed,
    /// The notaries that were asked did not judge.
    Unjudged,
}

/// The part that an agent has in a deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The sender of the first PROPOSE.
    Proposer,
    /// The recipient of the first PROPOSE.
    Responder,
    /// The notary of the task.
    Notary,
}

/// What moves a deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// PROPOSE: the first bid.
    Propose,
    /// COUNTER: another bid.
    Counter,
    /// ACCEPT: the last bid is agreed.
    Accept,
    /// REJECT: there will be no deal.
    Reject,
    /// DELIVER of a work product; one that shows envelopes is none.
    Deliver,
    /// VERDICT: the notary's judgement.
    Verdict,
    /// DISPUTE: the verdict is contested.
    Dispute,
    /// FEEDBACK: one of the ratings that are owed.
    Feedback,
}

/// The table: from, act, by whom, to. Bids alternate and only whoever has to answer may reject, so that two
/// messages which cross on their way never leave the parties with different outcomes.
pub const TABLE: &[(Phase, Act, Role, Phase)] = {
    use Act::*;
    use Phase::*;
    use Role::*;
    &[
        (New, Propose, Proposer, ProposerBid),
        (ProposerBid, Counter, Responder, ResponderBid),
        (ProposerBid, Accept, Responder, Agreed),
        (ProposerBid, Reject, Responder, Rejected),
        (ResponderBid, Counter, Proposer, ProposerBid),
        (ResponderBid, Accept, Proposer, Agreed),
        (ResponderBid, Reject, Proposer, Rejected),
        (Agreed, Deliver, Proposer, Delivered),
        (Agreed, Deliver, Responder, Delivered),
        (Delivered, Deliver, Proposer, Delivered),
        (Delivered, Deliver, Responder, Delivered),
        (Unjudged, Deliver, Proposer, Unjudged),
        (Unjudged, Deliver, Responder, Unjudged),
        // The other party may say that it delivered what never arrived here.
        (Agreed, Verdict, Notary, Judged),
        (Delivered, Verdict, Notary, Judged),
        (Judged, Dispute, Proposer, Disputed),
        (Judged, Dispute, Responder, Disputed),
        (Disputed, Dispute, Proposer, Disputed),
        (Disputed, Dispute, Responder, Disputed),
        // Whoever got nothing after a deal may say so.
        (Agreed, Feedback, Proposer, Agreed),
        (Agreed, Feedback, Responder, Agreed),
        (Delivered, Feedback, Proposer, Delivered),
        (Delivered, Feedback, Responder, Delivered),
        (Judged, Feedback, Proposer, Judged),
        (Judged, Feedback, Responder, Judged),
        (Judged, Feedback, Notary, Judged),
        (Disputed, Feedback, Proposer, Disputed),
        (Disputed, Feedback, Responder, Disputed),
        (Disputed, Feedback, Notary, Disputed),
        (Unjudged, Feedback, Proposer, Unjudged),
        (Unjudged, Feedback, Responder, Unjudged),
    ]
};

impl Phase {
    /// All phases, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::New,
        Self::ProposerBid,
        Self::ResponderBid,
        Self::Agreed,
        Self::Rejected,
        Self::Delivered,
        Self::Judged,
        Self::Disputed,
        Self::Unjudged,
    ];

    /// The phase after an act; `None` when it is out of order.
    pub fn after(self, act: Act, by: Role) -> Option<Self> {
        TABLE.iter().find(|(from, what, who, _)| (*from, *what, *who) == (self, act, by)).map(|row| row.3)
    }

    /// Whether the parties still bargain.
    pub fn is_open(self) -> bool {
        matches!(self, Self::New | Self::ProposerBid | Self::ResponderBid)
    }

    /// Whether there is nothing left but ratings and disputes.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Rejected | Self::Judged | Self::Disputed | Self::Unjudged)
    }

    /// Whether a notary may be looked for.
    pub fn takes_notary(self) -> bool {
        matches!(self, Self::Agreed | Self::Delivered)
    }

    /// Whether it can end without a verdict.
    pub fn can_stay_unjudged(self) -> bool {
        self.takes_notary()
    }

    /// The word for it in JSON and in sentences.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::ProposerBid => "proposer_bid",
            Self::ResponderBid => "responder_bid",
            Self::Agreed => "agreed",
            Self::Rejected => "rejected",
            Self::Delivered => "delivered",
            Self::Judged => "judged",
            Self::Disputed => "disputed",
            Self::Unjudged => "unjudged",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Act {
    /// All acts, in the order of their message types.
    pub const ALL: [Self; 8] = [
        Self::Propose,
        Self::Counter,
        Self::Accept,
        Self::Reject,
        Self::Deliver,
        Self::Verdict,
        Self::Dispute,
        Self::Feedback,
    ];

    /// Name of the message type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Propose => "PROPOSE",
            Self::Counter => "COUNTER",
            Self::Accept => "ACCEPT",
            Self::Reject => "REJECT",
            Self::Deliver => "DELIVER",
            Self::Verdict => "VERDICT",
            Self::Dispute => "DISPUTE",
            Self::Feedback => "FEEDBACK",
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Role {
    /// All roles, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Proposer, Self::Responder, Self::Notary];
}
