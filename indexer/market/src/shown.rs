//! What transcripts show of deposits.

use zx1_market::chain::{Data, Side};
use zx1_market::{ContractId, Entry, EntryType, PartyId};

use crate::error::Result;
use crate::store::{DepositRow, DepositStatus};

/// The deposits that entries show as taken, with what their accounts are derived from. The entries begin with a post.
pub(crate) fn deposits(entries: &[Entry]) -> Result<Vec<DepositRow>> {
    let mut rows = Vec::new();
    let mut known: Option<(ContractId, PartyId, String)> = None;
    let mut bonds = None;
    for entry in entries {
        if !matches!(entry.kind(), EntryType::Post | EntryType::Opened | EntryType::Bond | EntryType::Bonded)
        {
            continue;
        }
        let (side, party, round, deposit) = match (entry.read()?.0, &known) {
            (Data::Post { principal, .. }, None) => {
                known = entry.contract_id().map(|id| (id, principal, hex::encode(entry.hash())));
                continue;
            }
            (Data::Bond { agent, .. }, _) => {
                bonds = Some(agent);
                continue;
            }
            (Data::Opened { deposit: Some(deposit), .. }, Some((_, principal, _))) => {
                (Side::Principal, *principal, 0, deposit)
            }
            (Data::Bonded { round, deposit }, _) => match bonds {
                Some(agent) => (Side::Agent, agent, round, deposit),
                None => continue,
            },
            _ => continue,
        };
        let Some((id, _, post)) = &known else { continue };
        rows.push(DepositRow {
            contract_id: id.to_string(),
            party: party.to_string(),
            round: i64::from(round),
            side: side.as_str().to_owned(),
            address: deposit.account.to_string(),
            amount: deposit.amount.to_string(),
            status: DepositStatus::Taken.as_str().to_owned(),
            post: post.clone(),
            closed_at: None,
        });
    }
    Ok(rows)
}
