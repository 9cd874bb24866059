//! Events of the public stream (fix.md, "Events"; wire.md, "Market HTTP").

use serde::{Deserialize, Serialize};

use super::Xno;
use crate::case::{News, Notice};
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

impl From<Notice> for SseEvent {
    fn from(Notice { contract, state, news }: Notice) -> SseEvent {
        let (event, status) = match news {
            News::Posted { .. } => (EventKind::ContractPosted, state.as_str()),
            News::Accepted { .. } => (EventKind::ContractAccepted, state.as_str()),
            News::Resolved { .. } => (EventKind::ContractResolved, state.as_str()),
            News::Retried { .. } => (EventKind::ContractResolved, "retry"),
        };
        let (bounty, command, agent) = match news {
            News::Posted { bounty, command } => (Some(bounty), Some(command), None),
            News::Accepted { agent } => (None, None, Some(agent)),
            News::Resolved { bounty } | News::Retried { bounty } => (Some(bounty), None, None),
        };
        let bounty = bounty.map(Into::into);
        SseEvent { event, contract_id: contract, status: status.to_owned(), bounty, command, agent }
    }
}

impl SseEvent {
    /// Whether a subscriber with this filter gets it. A minimum drops events without a bounty, as older
    /// servers do.
    pub fn passes(&self, min_bounty: Raw, status: Option<&str>) -> bool {
        let rich = min_bounty.is_zero() || self.bounty.is_some_and(|bounty| bounty.0 >= min_bounty);
        rich && status.is_none_or(|status| status == self.status)
    }
}
