//! Verification between agents: one asks another to sign a nonce, and the relay checks the answer.

use std::collections::BTreeMap;

use crate::id::{AgentId, PublicKey};
use crate::{RelayError, Result};

/// Requests of one agent that are open at once.
pub const MAX_OPEN: usize = 16;

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The agent that hears of the outcome.
    pub asker: AgentId,
    /// Who has to answer.
    pub target: AgentId,
    /// What it has to sign.
    pub nonce: String,
    /// Milliseconds of Unix time at which it ends.
    pub expires_at: u64,
}

/// All open requests.
#[derive(Debug, Clone, Default)]
pub struct Requests(BTreeMap<String, Request>);

impl Requests {
    /// Opens one under an id that the caller chose.
    ///
    /// # Errors
    ///
    /// [`RelayError::TooFast`] when the asker has [`MAX_OPEN`] of them.
    pub fn open(&mut self, id: String, request: Request, now: u64) -> Result<()> {
        let own = self.0.values().filter(|other| other.asker == request.asker);
        let ends: Vec<u64> = own.map(|other| other.expires_at).collect();
        if ends.len() >= MAX_OPEN {
            let first = ends.into_iter().min().unwrap_or(now);
            return Err(RelayError::TooFast { wait_ms: first.saturating_sub(now).max(1) });
        }
        self.0.insert(id, request);
        Ok(())
    }

    /// Takes the target's answer. Whatever it is, the request ends; the second value says whether it holds.
    ///
    /// # Errors
    ///
    /// [`RelayError::VerificationExpired`] for a request that is unknown, another agent's, or too old.
    pub fn answer(
        &mut self,
        id: &str,
        by: &AgentId,
        key: Option<&PublicKey>,
        nonce: &str,
        sig: &str,
        now: u64,
    ) -> Result<(Request, bool)> {
        let known = self.0.get(id).is_some_and(|request| request.target == *by && now < request.expires_at);
        if !known {
            return Err(RelayError::VerificationExpired);
        }
        let request = self.0.remove(id).ok_or(RelayError::VerificationExpired)?;
        let holds = request.nonce == nonce && key.is_some_and(|key| key.verify(nonce, sig).is_ok());
        Ok((request, holds))
    }

    /// Ends what is too old, in the order of ids.
    pub fn expire(&mut self, now: u64) -> Vec<(String, Request)> {
        self.take(|request| request.expires_at <= now)
    }

    /// Ends what an agent that is gone asked or was asked.
    pub fn gone(&mut self, agent: &AgentId) -> Vec<(String, Request)> {
        self.take(|request| request.asker == *agent || request.target == *agent)
    }

    fn take(&mut self, ends: impl Fn(&Request) -> bool) -> Vec<(String, Request)> {
        let ids: Vec<String> =
            self.0.iter().filter(|(_, request)| ends(request)).map(|(id, _)| id.clone()).collect();
        ids.into_iter().filter_map(|id| self.0.remove(&id).map(|request| (id, request))).collect()
    }
}
