//! Events of the public stream (fix.md, "Events"; wire.md, "Market HTTP").

use serde::{Deserialize, Serialize};

use super::Xno;
use crate::machine::State;
use crate::{ContractId, PartyId, Raw};

/// What has happened to the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EventKind {
    /// A new contract.
    ContractPosted,
    /// An agent took one.
    ContractAccepted,
    /// A contract ended, or an attempt failed (`status` is `retry`).
    ContractResolved,
}

/// One event: `data: {"event": ...}` without an `event:` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SseEvent {
    /// What has happened to the contract.
    pub event: EventKind,
    /// The id of the contract.
    pub contract_id: ContractId,
    /// Its state, or `retry`.
    pub status: String,
    /// Of posted and resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounty: Option<Xno>,
    /// Of posted: the scrubbed command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The agent, of an accepted contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<PartyId>,
}

impl SseEvent {
    fn new(event: EventKind, contract_id: ContractId, status: &str) -> SseEvent {
        SseEvent { event, contract_id, status: status.to_owned(), bounty: None, command: None, agent: None }
    }

    /// A new contract.
    pub fn posted(id: ContractId, state: State, bounty: Raw, command: &str) -> SseEvent {
        let event = SseEvent::new(EventKind::ContractPosted, id, state.as_str());
        SseEvent { bounty: Some(bounty.into()), command: Some(command.to_owned()), ..event }
    }

    /// An agent took it.
    pub fn accepted(id: ContractId, state: State, agent: PartyId) -> SseEvent {
        SseEvent { agent: Some(agent), ..SseEvent::new(EventKind::ContractAccepted, id, state.as_str()) }
    }

    /// A contract that has ended.
    pub fn resolved(id: ContractId, state: State, bounty: Raw) -> SseEvent {
        let event = SseEvent::new(EventKind::ContractResolved, id, state.as_str());
        SseEvent { bounty: Some(bounty.into()), ..event }
    }

    /// An attempt failed, and another one follows.
    pub fn retry(id: ContractId, bounty: Raw) -> SseEvent {
        SseEvent { bounty: Some(bounty.into()), ..SseEvent::new(EventKind::ContractResolved, id, "retry") }
    }

    /// Whether a subscriber with this filter gets it. A minimum drops events without a bounty, as older
    /// servers do.
    pub fn passes(&self, min_bounty: Raw, status: Option<&str>) -> bool {
        let rich = min_bounty.is_zero() || self.bounty.is_some_and(|bounty| bounty.0 >= min_bounty);
        rich && status.is_none_or(|status| status == self.status)
    }
}
