//! Ratings after a task: FEEDBACK of what the tables say is owed.

use super::Notary;
use super::ways::Ways;
use crate::error::{Error, Result};
use crate::words::Words;
use zx1_mesh::conversation::{ConversationError, Due, NOTARY, PARTICIPANT};
use zx1_mesh::defaults::DRAFT_TTL;
use zx1_operator::node::wire;
use zx1_protocol::draft::DraftError;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::Feedback;

/// Attempts at one rating that the outbox dropped.
const MAX_ATTEMPTS: u32 = 16;

/// A rating to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating {
    /// Who is rated.
    pub target: AgentId,
    /// -100 to 100.
    pub score: i8,
    /// 0 negative, 1 neutral, 2 positive; without one by the sign of the score.
    pub outcome: Option<u8>,
    /// The role that is rated; without one that in which the target took part.
    pub role: Option<u8>,
}

impl<W: Ways> Notary<W> {
    /// Gives a rating. It is in the outbox, on disk, when this returns; the same one again is the same message.
    ///
    /// # Errors
    /// 7620 for a conversation in which this agent has no part; 7625 for a rating that is not to be given; the
    /// protocol's for a score or an outcome that there is not.
    pub async fn rate(&self, id: ConversationId, rating: Rating) -> Result<wire::Draft> {
        let due = Due {
            target: rating.target,
            role: rating.role.map_or_else(|| self.role_of(id, rating.target), Ok)?,
        };
        let outcome = rating.outcome.unwrap_or(match rating.score {
            ..0 => 0,
            0 => 1,
            1.. => 2,
        });
        let feedback = Feedback {
            conversation_id: id,
            target_agent: due.target,
            score: rating.score,
            outcome,
            is_dispute: false,
            role: due.role,
        };
        let payload = feedback.to_cbor().map_err(|error| Error::from(DraftError::Payload(error)))?;
        let words = Words { msg_type: MsgType::Feedback, recipient: BROADCAST, conversation: id, payload };
        let (name, _) = self.rating(id, due).await;
        self.ways.add(&name, &words, DRAFT_TTL).await
    }

    /// The name of a rating in the outbox, and whether it is there and was not dropped.
    pub(super) async fn rating(&self, id: ConversationId, due: Due) -> (String, bool) {
        let first = format!("rate/{id}/{}/{}", due.target, due.role);
        let mut name = first.clone();
        for attempt in 1..=MAX_ATTEMPTS {
            match self.ways.named(&name).await {
                None => return (name, false),
                Some(draft) if matches!(draft.state.as_str(), "expired" | "refused") => {
                    name = format!("{first}/{attempt}");
                }
                Some(_) => return (name, true),
            }
        }
        (name, false)
    }

    /// The role in which an agent took part.
    fn role_of(&self, id: ConversationId, target: AgentId) -> Result<u8> {
        let parties = self.agent.rows().desks.get(id).ok().map(|desk| desk.parties());
        if let Some((asker, other)) = parties
            && (target == asker || Some(target) == other)
        {
            return Ok(PARTICIPANT);
        }
        let deals = self.agent.conversations();
        let deal = deals.get(id)?;
        if deal.counterparty(target).is_some() {
            Ok(PARTICIPANT)
        } else if [deal.notary, deal.silent_notary].contains(&Some(target)) {
            Ok(NOTARY)
        } else {
            Err(ConversationError::NotToRate.into())
        }
    }
}
