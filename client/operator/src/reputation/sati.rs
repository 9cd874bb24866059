//! Ratings filed at SATI.

use super::{Found, Note};
use crate::error::{Error, Result};
use crate::operator::{Agent, Operator};
use zx1_chain::rpc::registry::Sati;
use zx1_chain::sati::Outcome;
use zx1_protocol::reputation::Rating;

pub(super) async fn read(operator: &Operator, agent: &Agent) -> Result<Found> {
    let sati = Sati::connect(operator.client()).await?;
    let filed = sati.attestations_of(agent.mint).await?;
    let mut found = Found::default();
    let mut without_score = 0u32;
    for one in &filed {
        let content: Option<serde_json::Value> = serde_json::from_slice(&one.attestation.content).ok();
        let score =
            content.as_ref().and_then(|content| content.get("score")).and_then(serde_json::Value::as_i64);
        let outcome = one.attestation.outcome;
        // SATI counts from 0 to 100. Without a score the outcome speaks.
        let score = score.map(|score| score.clamp(0, 100).saturating_mul(2).saturating_sub(100));
        without_score = without_score.saturating_add(u32::from(score.is_none()));
        let plain = match outcome {
            Outcome::Negative => -100,
            Outcome::Neutral => 0,
            Outcome::Positive => 100,
        };
        let score = i8::try_from(score.unwrap_or(plain)).unwrap_or(0);
        let rating = Rating { score, outcome: outcome as u8, role: 0, is_dispute: false };
        found.counted.rate(&rating).map_err(Error::Rating)?;
    }
    found.notes.push(Note::Filed(filed.len()));
    if without_score > 0 {
        found.notes.push(Note::WithoutScore { ratings: without_score, of: filed.len() });
    }
    Ok(found)
}
