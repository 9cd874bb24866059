//! How often a party's fixes failed outside of the sandbox. What is bought is the trial (decision E16): who rejects a fix
//! because of the real machine may be right or a liar, and nobody can tell. So it is counted for both sides of that fix,
//! and everybody may look.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chain::{Data, Entry, EntryType, Side};
use crate::contract::FailedStep;
use crate::{PartyId, Result};

/// Fixes of one party on one side: proposed as an agent, received as a principal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FixCounts {
    /// Number of fixes.
    pub fixes: u64,
    /// How many of them were rejected with the step `outside`: they passed in the principal's sandbox and failed on
    /// its machine.
    pub failed_outside: u64,
}

/// What entries add to the counts of the parties. `agent` is who held the contract before the first of them.
///
/// # Errors
///
/// What [`Entry::read`] refuses.
pub fn of_entries<'e>(
    principal: PartyId,
    agent: Option<PartyId>,
    entries: impl IntoIterator<Item = &'e Entry>,
) -> Result<BTreeMap<(PartyId, Side), FixCounts>> {
    let mut agent = agent;
    let mut counts: BTreeMap<(PartyId, Side), FixCounts> = BTreeMap::new();
    for entry in entries {
        if !matches!(entry.kind(), EntryType::Fix | EntryType::Verify | EntryType::ReviewReject) {
            continue;
        }
        let added = match entry.read()? {
            (Data::Fix { .. }, common) => {
                agent = Some(common.on_behalf_of.unwrap_or_else(|| entry.author()));
                FixCounts { fixes: 1, failed_outside: 0 }
            }
            (Data::Verify { success: false, failure: Some(failure), .. }, _)
            | (Data::ReviewReject { failure: Some(failure), .. }, _)
                if failure.step == FailedStep::Outside =>
            {
                FixCounts { fixes: 0, failed_outside: 1 }
            }
            _ => continue,
        };
        let sides = agent.map(|agent| (agent, Side::Agent)).into_iter().chain([(principal, Side::Principal)]);
        for side in sides {
            let count = counts.entry(side).or_default();
            count.fixes = count.fixes.saturating_add(added.fixes);
            count.failed_outside = count.failed_outside.saturating_add(added.failed_outside);
        }
    }
    Ok(counts)
}
