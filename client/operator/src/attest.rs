//! Ratings at SATI that neither side can take back (protocol.md, 7.2; decision D5).

use crate::done;
use crate::error::{Refusal, Result};
use crate::identity::owner_of;
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::registry::{Agreement, Feedback as Filed, IdentityRegistry as _, ReadAttestation, Sati};
use zx1_chain::sati::Outcome;
use zx1_log::LogHandle;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::interaction::task_ref;
use zx1_protocol::payload::{self, Feedback, outcome_of};
use zx1_protocol::units::{Epoch, Slot};

/// Epochs back in which a conversation is looked for.
const EPOCHS: u64 = 30;

/// What two agents agreed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// block_ref of the last ACCEPT between them.
    pub accepted: Option<Slot>,
    /// The other side's pre-signature: from its ACCEPT, or from its first message after ours.
    pub presigned: Option<[u8; 64]>,
}

/// Reads the conversation with `other` in these epochs.
pub fn conversation_of(
    log: &LogHandle,
    conversation: &ConversationId,
    other: &AgentId,
    (from, to): (Epoch, Epoch),
) -> Result<Conversation> {
    let mut found = Conversation::default();
    let mut waiting = false;
    let mut entries = log.reader().entries(from, to)?;
    while let Some(stored) = entries.next_entry()? {
        let entry = stored.entry().map_err(zx1_log::LogError::from)?;
        let header = entry.header;
        let between = match stored.direction {
            Direction::Sent => header.recipient() == *other,
            Direction::Received => header.sender() == *other,
        };
        if header.conversation() != *conversation || !between {
            continue;
        }
        let accepts = header.msg_type == MsgType::Accept;
        match stored.direction {
            Direction::Sent if accepts => {
                found = Conversation { accepted: Some(header.block_ref), presigned: None };
                waiting = true;
            }
            Direction::Received if accepts || waiting => {
                if accepts {
                    found.accepted = Some(header.block_ref);
                }
                waiting = false;
                let payload = log.payload(header.payload_hash)?.unwrap_or_default();
                let split = if accepts {
                    payload::split_accept_presignature(&payload)
                } else {
                    payload::split_presignature(&payload)
                };
                // Zeros stand where the holder's wallet was not at hand.
                found.presigned = split.map(|(_, signature)| *signature).filter(|it| *it != [0; 64]);
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A signature that the agent may be rated for a task. Bytes are in hex, agents in base58.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Presigned {
    /// The agent that may be rated.
    pub agent: AgentId,
    /// The agent that may rate.
    pub counterparty: AgentId,
    pub conversation: ConversationId,
    pub slot: u64,
    pub interaction_hash: String,
    pub signature: String,
}

/// A filed rating. Bytes are in hex, addresses in base58.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Rated {
    pub address: String,
    /// Its hash, which goes into the rated agent's batch.
    pub attestation_hash: String,
    pub agent: AgentId,
    pub counterparty: String,
    pub conversation: ConversationId,
    pub outcome: &'static str,
    pub content: String,
}

impl Rated {
    fn of(found: &ReadAttestation, conversation: &ConversationId) -> Self {
        let attestation = &found.attestation;
        Self {
            address: found.address.to_string(),
            attestation_hash: hex::encode(found.hash),
            agent: attestation.agent.into(),
            counterparty: attestation.counterparty.to_string(),
            conversation: *conversation,
            outcome: attestation.outcome.word(),
            content: String::from_utf8_lossy(&attestation.content).into_owned(),
        }
    }
}

/// A rating that is to be filed.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Rating<'a> {
    pub conversation: ConversationId,
    pub about: &'a Agent,
    /// -100 to 100; without one that of the FEEDBACK message in the log.
    pub score: Option<i8>,
    /// block_ref of the ACCEPT and the agent's pre-signature; without them those in the log.
    pub agreed: Option<(Slot, [u8; 64])>,
}

/// A rating after it was filed.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Submitted {
    #[serde(flatten)]
    pub sent: Sent,
    pub score: i8,
    /// The score as SATI counts, from 0 to 100.
    pub sati_score: u8,
    /// The rating as it stands.
    pub rating: Option<Rated>,
}

/// SATI's scores go from 0 to 100, ours from -100 to 100.
fn sati_score(score: i8) -> u8 {
    let shifted = i16::from(score).saturating_add(100).clamp(0, 200) / 2;
    u8::try_from(shifted).unwrap_or(0)
}

/// The score and the outcome that are filed. A given score brings its own outcome: that of the FEEDBACK in the
/// log belongs to the score there, and what is filed cannot be taken back.
fn verdict(given: Option<i8>, sent: Option<&Feedback>) -> Option<(i8, Outcome)> {
    let (score, outcome) = match (given, sent) {
        (Some(score), _) => (score, outcome_of(score)),
        (None, Some(rating)) => (rating.score, rating.outcome),
        (None, None) => return None,
    };
    let outcome = match outcome {
        0 => Outcome::Negative,
        1 => Outcome::Neutral,
        _ => Outcome::Positive,
    };
    Some((score, outcome))
}

/// The rating that the agent itself sent in this conversation: the last one.
fn own_rating(
    log: &LogHandle,
    conversation: &ConversationId,
    about: &AgentId,
    (from, to): (Epoch, Epoch),
) -> Result<Option<Feedback>> {
    let mut found = None;
    let mut entries = log.reader().entries(from, to)?;
    while let Some(stored) = entries.next_entry()? {
        let entry = stored.entry().map_err(zx1_log::LogError::from)?;
        if stored.direction != Direction::Sent || entry.header.msg_type != MsgType::Feedback {
            continue;
        }
        let feedback = Feedback::decode(entry.payload).ok();
        let fits = |it: &Feedback| it.conversation_id == *conversation && it.target_agent == *about;
        found = feedback.filter(fits).or(found);
    }
    Ok(found)
}

/// The slot of the ACCEPT between two agents, and the pre-signature of `rated`, from what the log holds.
fn agreed(
    log: &LogHandle,
    conversation: &ConversationId,
    rated: &AgentId,
    epochs: (Epoch, Epoch),
) -> Result<(Slot, [u8; 64])> {
    let Conversation { accepted, presigned } = conversation_of(log, conversation, rated, epochs)?;
    let why = "the log holds no ACCEPT of this conversation with that agent";
    let slot = accepted.ok_or(Refusal::NotAccepted { why })?;
    let why = "the message that should carry it is not in the log, or carries none";
    Ok((slot, presigned.ok_or(Refusal::NoPresignature { why })?))
}

impl Operator {
    /// Signs that the agent may be rated by another one for a task.
    ///
    /// # Errors
    /// 7582 when the key does not own the agent.
    pub async fn presign(
        &self,
        agent: &Agent,
        key: &Wallet,
        other: &Agent,
        conversation: &ConversationId,
        slot: Slot,
    ) -> Result<Presigned> {
        let sati = Sati::connect(self.client()).await?;
        check_owner(&sati, agent, key).await?;
        let wallet = owner_of(&sati, other.mint).await?;
        let agreement = Agreement::of_task(agent.mint, other.mint, wallet, conversation, slot);
        Ok(Presigned {
            agent: agent.mint,
            counterparty: other.mint,
            conversation: *conversation,
            slot: slot.0,
            interaction_hash: hex::encode(agreement.data_hash),
            signature: hex::encode(key.sign(&sati.agreement_message(&agreement))),
        })
    }

    /// A filed rating.
    ///
    /// # Errors
    /// 7585 when there is none.
    pub async fn filed_rating(
        &self,
        conversation: &ConversationId,
        about: &Agent,
        by: &Agent,
    ) -> Result<Rated> {
        let sati = Sati::connect(self.client()).await?;
        let wallet = owner_of(&sati, by.mint).await?;
        let found = sati.read_attestation(&task_ref(conversation), about.mint, wallet).await?;
        let (by, about) = (by.shown(), about.mint.to_string());
        Ok(Rated::of(&found.ok_or(Refusal::NotFiled { by, about })?, conversation))
    }

    /// Files a rating of the other side.
    ///
    /// # Errors
    /// 7582 when the key does not own the agent, 7580 and 7581 when the log lacks what was agreed.
    pub async fn submit_rating(
        &self,
        agent: &Agent,
        key: &Wallet,
        rating: &Rating<'_>,
    ) -> Result<Attempt<Submitted>> {
        let Rating { conversation, about, .. } = rating;
        let sati = Sati::connect(self.client()).await?;
        let wallet = check_owner(&sati, agent, key).await?;
        let now = self.now().await?.epoch;
        let epochs = (Epoch(now.0.saturating_sub(EPOCHS)), now);
        let log = self.open_log(agent)?;
        let sent = own_rating(&log, conversation, &about.mint, epochs)?;
        let why = "the log holds no FEEDBACK of yours about that agent, and no score is given";
        let (score, outcome) = verdict(rating.score, sent.as_ref()).ok_or(Refusal::NotAccepted { why })?;
        let (slot, agent_signature) = match rating.agreed {
            Some(given) => given,
            None => agreed(&log, conversation, &about.mint, epochs)?,
        };
        drop(log);
        // The rated agent agreed to be rated by this agent, whose wallet files it.
        let agreement = Agreement::of_task(about.mint, agent.mint, wallet, conversation, slot);
        let sati_score = sati_score(score);
        let counterparty_signature = key.sign(&sati.rating_message(&agreement, outcome, sati_score).await?);
        let filed = Filed {
            agreement,
            outcome,
            score: sati_score,
            agent_signature,
            counterparty_signature,
            payer: key.address(),
        };
        let sent = done!(self.send(&sati.attest(&filed).await?, key).await?);
        let found = sati.read_attestation(&task_ref(conversation), about.mint, wallet).await?;
        let rating = found.as_ref().map(|found| Rated::of(found, conversation));
        Ok(Attempt::Done(Submitted { sent, score, sati_score, rating }))
    }

    /// Looks up the attestations of the ratings that the agent received in these epochs, so that their hashes
    /// go into the batch.
    pub(crate) async fn collect_attestations(
        &self,
        agent: &Agent,
        log: &LogHandle,
        covered: Covered,
    ) -> Result<()> {
        let mut open = Vec::new();
        let mut entries = log.reader().entries(covered.from, covered.to)?;
        while let Some(stored) = entries.next_entry()? {
            if stored.direction != Direction::Received {
                continue;
            }
            let entry = stored.entry().map_err(zx1_log::LogError::from)?;
            if entry.header.msg_type != MsgType::Feedback {
                continue;
            }
            let Ok(feedback) = Feedback::decode(entry.payload) else { continue };
            let rater = entry.header.sender();
            let known = log.attestation(&feedback.conversation_id, &rater)?.is_some();
            if feedback.target_agent == agent.mint && !known {
                open.push((feedback.conversation_id, rater));
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        let sati = Sati::connect(self.client()).await?;
        for (conversation, rater) in open {
            let record = sati.look_up(rater).await?;
            let Some(wallet) = record.and_then(|record| record.owner) else { continue };
            let found = sati.read_attestation(&task_ref(&conversation), agent.mint, wallet).await?;
            if let Some(found) = found {
                log.put_attestation(&conversation, &rater, found.hash)?;
            }
        }
        Ok(())
    }
}

/// The owner's wallet.
///
/// # Errors
/// 7582 when it is not the key's.
async fn check_owner(sati: &Sati, agent: &Agent, key: &Wallet) -> Result<Address> {
    let owner = owner_of(sati, agent.mint).await?;
    if owner == key.address() {
        return Ok(owner);
    }
    Err(Refusal::NotOwner { key: key.address().to_string(), agent: agent.shown() }.into())
}

#[cfg(test)]
mod tests {
    use super::{AgentId, ConversationId, Feedback, Outcome, sati_score, verdict};

    /// A FEEDBACK as the log has it: 0 is negative, 2 is positive.
    fn logged(score: i8, outcome: u8) -> Feedback {
        Feedback {
            conversation_id: ConversationId::default(),
            target_agent: AgentId::default(),
            score,
            outcome,
            is_dispute: false,
            role: 0,
        }
    }

    #[test]
    fn a_given_score_is_filed_with_its_own_outcome() {
        let good = logged(90, 2);
        assert_eq!(verdict(None, Some(&good)), Some((90, Outcome::Positive)));
        assert_eq!(verdict(Some(-80), Some(&good)), Some((-80, Outcome::Negative)));
        assert_eq!(verdict(Some(0), Some(&good)), Some((0, Outcome::Neutral)));
        assert_eq!(verdict(Some(1), Some(&logged(-90, 0))), Some((1, Outcome::Positive)));
        assert_eq!(verdict(Some(-1), None), Some((-1, Outcome::Negative)));
        assert_eq!(verdict(None, Some(&logged(5, 0))), Some((5, Outcome::Negative)));
        assert_eq!(verdict(None, None), None);
    }

    #[test]
    fn our_scores_cover_satis_whole_range() {
        assert_eq!([-100, -1, 0, 1, 50, 100].map(sati_score), [0, 49, 50, 50, 75, 100]);
    }
}
