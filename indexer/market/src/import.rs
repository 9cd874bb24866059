//! A server rebuilt from the transcripts that clients have saved (decision E14).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nano_escrow::escrow::EscrowError;
use zx1_market::ContractId;
use zx1_market::case::Transcript;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::shown::deposits;

/// Whether one of both is the other's beginning.
fn agree(a: &Transcript, b: &Transcript) -> bool {
    a.entries.iter().zip(&b.entries).all(|(a, b)| a == b)
}

/// One transcript. Accounts that the journal has lost are derived again first: then everything that was decided is
/// handed over to the escrow again, and what the ledger shows as paid is paid.
async fn take(engine: &Engine, transcript: &Transcript) -> Result<bool> {
    // Nothing of a transcript that does not hold reaches the escrow.
    zx1_market::case::rebuild(transcript)?;
    if let Some(desk) = engine.desk() {
        for row in deposits(&transcript.entries)? {
            let (contract, party) = (&row.contract_id, &row.party);
            match desk.restore(&row).await {
                Ok(false) => {}
                Ok(true) => {
                    tracing::warn!(contract, party, "the journal had lost an account; it is derived again");
                }
                // Made before nonces were derived: only a copy of the journal has it.
                Err(Error::Escrow(error @ EscrowError::NotDerived(_))) => {
                    tracing::error!(code = error.code(), %error, contract, party, "an account is lost");
                }
                Err(error) => return Err(error),
            }
        }
    }
    engine.import(transcript).await
}

/// Take over every `*.json` of a folder. How many contracts were taken, and how many were here already.
///
/// Both parties save the same contract, perhaps at different times: the longest transcript counts. Two that
/// contradict each other are refused, since the server's signature under both would prove that one of its
/// entries was forged or that it has signed two histories.
pub async fn folder(engine: &Engine, folder: &Path) -> Result<(u64, u64)> {
    let wrong = |path: &Path, e: &dyn std::fmt::Display| Error::Import(format!("{}: {e}", path.display()));
    let mut paths = Vec::new();
    for item in std::fs::read_dir(folder).map_err(|e| wrong(folder, &e))? {
        let path = item.map_err(|e| wrong(folder, &e))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut longest: BTreeMap<ContractId, (PathBuf, Transcript)> = BTreeMap::new();
    for path in paths {
        let bytes = std::fs::read(&path).map_err(|e| wrong(&path, &e))?;
        let transcript = Transcript::parse(&bytes).map_err(|e| wrong(&path, &e))?;
        let id = transcript.entries.first().and_then(zx1_market::Entry::contract_id);
        let id = id.ok_or_else(|| wrong(&path, &"it does not begin with a post"))?;
        if let Some((other, known)) = longest.get(&id) {
            if !agree(known, &transcript) {
                return Err(wrong(&path, &format!("it contradicts {}", other.display())));
            }
            if known.entries.len() >= transcript.entries.len() {
                continue;
            }
        }
        longest.insert(id, (path, transcript));
    }
    let (mut taken, mut known) = (0, 0);
    for (path, transcript) in longest.into_values() {
        if take(engine, &transcript).await.map_err(|e| wrong(&path, &e))? { taken += 1 } else { known += 1 }
    }
    if let Some(desk) = engine.desk() {
        desk.find_orphans(&**engine.store()).await?;
    }
    Ok((taken, known))
}
