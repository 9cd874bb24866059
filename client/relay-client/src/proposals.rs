//! Proposals: signed by this client's key, over the older string and over all terms.

use zx1_relay_rules::AgentId;
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::event::{Changed, Event, Heard, Proposed};
use zx1_relay_rules::proposal::Act;
use zx1_relay_rules::signing::{self, Terms};

use crate::client::Client;
use crate::{ClientError, Result};

/// What an answer to a proposal carries beside its id. Each act takes what belongs to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Of ACCEPT: where it is paid to.
    pub payment_code: Option<String>,
    /// Of ACCEPT: points of the own rating.
    pub elo_stake: Option<f64>,
    /// Of REJECT and DISPUTE.
    pub reason: Option<String>,
    /// Of COMPLETE: what shows that it is done.
    pub proof: Option<String>,
    /// An envelope of the agent's log, base64, which the relay passes on unread.
    pub envelope: Option<String>,
}

/// The PROPOSAL that proposes these terms, signed both ways.
///
/// # Errors
///
/// Terms that no relay takes, each with its field; no key.
pub fn proposal(client: &Client, to: &AgentId, terms: &Terms, envelope: Option<String>) -> Result<Frame> {
    let identity = client.identity()?;
    let terms = Terms { to: to.to_string(), ..terms.clone() };
    let frame = Frame::Proposal {
        to: to.clone(),
        sig: Some(identity.sign(&signing::proposal(&terms))),
        zx1_sig: Some(identity.sign(&signing::zx1_proposal(&terms))),
        terms: Box::new(terms),
        envelope,
    };
    // Read as the relay reads it, so that what it would refuse is not sent.
    Ok(Frame::parse(&frame.encode())?)
}

/// ACCEPT, REJECT, COMPLETE or DISPUTE, signed.
///
/// # Errors
///
/// Fields that no relay takes, each with its name; no key.
pub fn answer(client: &Client, act: Act, proposal_id: &str, answer: &Answer) -> Result<Frame> {
    let identity = client.identity()?;
    let Answer { payment_code, elo_stake, reason, proof, envelope } = answer.clone();
    let id = proposal_id.to_owned();
    let frame = match act {
        Act::Accept => {
            let sig = Some(identity.sign(&signing::accept(&id, payment_code.as_ref(), elo_stake)));
            Frame::Accept { proposal_id: id, payment_code, elo_stake, sig, envelope }
        }
        Act::Reject => {
            let sig = Some(identity.sign(&signing::reject(&id, reason.as_ref())));
            Frame::Reject { proposal_id: id, reason, sig, envelope }
        }
        Act::Complete => {
            let sig = Some(identity.sign(&signing::complete(&id, proof.as_ref())));
            Frame::Complete { proposal_id: id, proof, sig, envelope }
        }
        Act::Dispute => {
            let reason = reason.unwrap_or_default();
            let sig = Some(identity.sign(&signing::dispute(&id, &reason)));
            Frame::Dispute { proposal_id: id, reason, sig, envelope }
        }
        // Time does that.
        Act::Expire => return Err(ClientError::Rule(zx1_relay_rules::RelayError::UnknownType)),
    };
    Ok(Frame::parse(&frame.encode())?)
}

impl Client {
    /// Proposes to an agent that is on the relay: the proposal as the relay filed it.
    ///
    /// # Errors
    ///
    /// No key, terms that are refused, no such agent.
    pub async fn propose(
        &mut self,
        to: &AgentId,
        terms: &Terms,
        envelope: Option<String>,
    ) -> Result<Proposed> {
        let frame = proposal(self, to, terms, envelope)?;
        let own = self.agent().clone();
        self.ask(frame, |heard| match &heard.event {
            Event::Proposed(filed)
                if filed.from == own && filed.to == *to && filed.terms.task == terms.task =>
            {
                Some((**filed).clone())
            }
            _ => None,
        })
        .await
    }

    /// Accepts, rejects, completes or disputes: the change as the relay made it.
    ///
    /// # Errors
    ///
    /// No key, no such proposal, not in this state, not a party.
    pub async fn act(&mut self, act: Act, proposal_id: &str, with: &Answer) -> Result<Changed> {
        let frame = answer(self, act, proposal_id, with)?;
        let own = self.agent().clone();
        let made = |heard: &Heard| match &heard.event {
            Event::Changed(changed)
                if changed.act == act && changed.proposal_id == proposal_id && changed.from == own =>
            {
                Some((**changed).clone())
            }
            _ => None,
        };
        self.ask(frame, made).await
    }
}
