//! Which agent on chain a party of a market is: both are Ed25519 keys (decision A1).
//!
//! A party is an agent when the agent's holder has listed its key for deals, or when it is the holder itself. Both
//! have agreed to that by signing on chain, so nobody can adorn an agent with another's work.

use crate::store::{AgentRow, Find, Store, StoreError, fixed};
use std::collections::{BTreeSet, HashMap};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;

/// The key of a party that is written as `fix_<64 hex digits>`.
pub fn key_of(party: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    hex::decode_to_slice(party.strip_prefix("fix_")?, &mut key).ok()?;
    Some(key)
}

/// A key as a party.
pub fn of_key(key: &[u8]) -> String {
    format!("fix_{}", hex::encode(key))
}

/// The agents that these keys act as. A key that could be several agents is none.
///
/// # Errors
///
/// The store's.
pub async fn agents(
    store: &dyn Store,
    parties: BTreeSet<[u8; 32]>,
) -> Result<HashMap<[u8; 32], AgentRow>, StoreError> {
    if parties.is_empty() {
        return Ok(HashMap::new());
    }
    let listed = Find::any("key", parties.iter().copied()).and("closed", "=", 0).sure("until_epoch IS NULL");
    let mut listed = store.keys(listed).await?;
    listed.retain(|row| Scopes(u8::try_from(row.scopes).unwrap_or(0)).has(Scopes::DEAL));
    let mints: BTreeSet<AgentId> = listed.iter().map(|row| row.agent).collect();
    let by_mint: HashMap<AgentId, AgentRow> =
        store.agents(Find::any("mint", mints)).await?.into_iter().map(|row| (row.mint, row)).collect();
    let mut holders: HashMap<[u8; 32], Vec<AgentRow>> = HashMap::new();
    for row in store.agents(Find::any("tenure_owner", parties.iter().copied())).await? {
        if let Some(holder) = row.tenure_owner.clone().filter(|holder| row.owner.as_ref() == Some(holder)) {
            holders.entry(fixed(&holder)).or_default().push(row);
        }
    }
    let mut found = HashMap::new();
    for party in parties {
        let with_key = listed.iter().filter(|key| fixed::<32>(&key.key) == party);
        let mut candidates: Vec<&AgentRow> = with_key
            .filter_map(|key| Some((key, by_mint.get(&key.agent)?)))
            .filter(|(key, agent)| {
                agent.tenure == Some(key.tenure) && agent.owner.as_ref() == Some(&key.owner)
            })
            .map(|(_, agent)| agent)
            .collect();
        if candidates.is_empty() {
            candidates.extend(holders.get(&party).into_iter().flatten());
        }
        if let [only] = candidates.as_slice() {
            found.insert(party, (*only).clone());
        }
    }
    Ok(found)
}

/// The parties as which an agent acts: its holder and the keys that it has listed for deals.
///
/// # Errors
///
/// The store's.
pub async fn of_agents(
    store: &dyn Store,
    rows: &[AgentRow],
) -> Result<HashMap<AgentId, Vec<String>>, StoreError> {
    let mut keys: BTreeSet<[u8; 32]> =
        rows.iter().filter_map(|row| row.tenure_owner.as_deref()).map(fixed).collect();
    let listed = Find::any("agent", rows.iter().map(|row| row.mint)).and("closed", "=", 0);
    keys.extend(
        store.keys(listed.sure("until_epoch IS NULL")).await?.iter().map(|row| fixed::<32>(&row.key)),
    );
    let mut parties: HashMap<AgentId, Vec<String>> = HashMap::new();
    for (key, agent) in agents(store, keys).await? {
        parties.entry(agent.mint).or_default().push(of_key(&key));
    }
    for parties in parties.values_mut() {
        parties.sort();
    }
    Ok(parties)
}

#[cfg(test)]
mod tests;
