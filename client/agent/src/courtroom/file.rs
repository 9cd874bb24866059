//! A contract's transcript as a court reads it.

use zx1_market::chain::{Data, EntryType, ReexecutionData};
use zx1_market::wire::JudgeRequest;
use zx1_market::{Entry, Json, PartyId};

use crate::judge::{Author, Case, Entry as Line, Previous, Reexecution};
use zx1_market_client::View;

/// The case before a court, out of a verified transcript, with the machine's evidence.
pub fn case_file(view: &View, reexecution: Reexecution) -> Case {
    let case = view.case();
    let (principal, agent, server) = (case.principal(), case.agent(), case.terms().server);
    let author = |entry: &Entry| author(entry, principal, agent, server);
    let entries = view.entries().iter().map(|entry| line(entry, author(entry))).collect();
    let mut file = Case {
        entries,
        principal_argument: None,
        agent_argument: None,
        filed_by: Author::Principal,
        reexecution,
        previous: None,
    };
    for entry in view.entries() {
        let by = author(entry);
        match entry.read().map(|(data, _)| data) {
            // A new court hears both sides anew.
            Ok(Data::DisputeFiled { argument, .. } | Data::Appeal { argument, .. }) => {
                (file.principal_argument, file.agent_argument) = (None, None);
                file.filed_by = by;
                argue(&mut file, by, argument);
            }
            Ok(Data::DisputeResponse { argument, .. }) => argue(&mut file, by, argument),
            // A halt that nobody took back goes to the judge.
            Ok(Data::Halt { reason }) => {
                (file.principal_argument, file.agent_argument) = (None, None);
                file.filed_by = by;
                argue(&mut file, by, reason);
            }
            Ok(Data::Ruling(ruling)) => {
                file.previous = Some(Previous {
                    court: ruling.court,
                    outcome: ruling.outcome,
                    reasoning: ruling.reasoning.clone(),
                });
            }
            _ => {}
        }
    }
    file
}

fn argue(file: &mut Case, by: Author, text: String) {
    let text = Some(text).filter(|text| !text.trim().is_empty());
    match by {
        Author::Principal => file.principal_argument = text,
        Author::Agent => file.agent_argument = text,
        _ => {}
    }
}

fn author(entry: &Entry, principal: PartyId, agent: Option<PartyId>, server: PartyId) -> Author {
    let by = entry.author();
    match entry.kind() {
        EntryType::Ruling | EntryType::Reexecution => Author::Judge,
        _ if by == principal => Author::Principal,
        _ if Some(by) == agent => Author::Agent,
        _ if by == server => Author::Server,
        _ => Author::EarlierAgent,
    }
}

/// One entry. Of input files only names and sizes are shown: the machine has run them.
fn line(entry: &Entry, author: Author) -> Line {
    let mut data = entry.data().clone();
    if entry.kind() == EntryType::Post
        && let Json::Object(fields) = &mut data
        && let Some(Json::Object(contract)) = fields.get_mut("contract")
        && let Some(Json::Object(task)) = contract.get_mut("task")
        && let Some(Json::Array(inputs)) = task.get_mut("inputs")
    {
        for input in inputs {
            let size = input.get("content").and_then(Json::as_str).map_or(0, str::len);
            if let Json::Object(fields) = input {
                fields
                    .insert("content".to_owned(), Json::from(format!("({size} characters, left out here)")));
            }
        }
    }
    if let Json::Object(fields) = &mut data {
        // Machine's matters, long and of no use for a ruling.
        for name in ["envelope", "envelopes", "judge_signature"] {
            fields.remove(name);
        }
    }
    let mut text = data.canonical();
    if let Ok((Data::Fix { corrected_command: Some(corrected), .. }, _)) = entry.read() {
        text.push_str(&format!(
            "\n(The agent says that the failing command itself was wrong. After the fix, this one is \
             verified in its place: {corrected})"
        ));
    }
    Line {
        seq: entry.seq(),
        kind: entry.kind().as_str().to_owned(),
        author,
        timestamp: entry.at().as_secs().to_string(),
        text,
    }
}

/// The re-execution of the present court: the last one, if no court was opened after it.
pub(super) fn last_reexecution(entries: &[Entry]) -> Option<ReexecutionData> {
    for entry in entries.iter().rev() {
        match entry.read().ok()?.0 {
            Data::Reexecution(data) => return Some(*data),
            Data::DisputeFiled { .. } | Data::Appeal { .. } | Data::Halt { .. } => return None,
            _ => {}
        }
    }
    None
}

/// Whether a judge's result or ruling is in the chain, with this very signature.
pub(super) fn is_said(entries: &[Entry], request: &JudgeRequest) -> bool {
    let wanted = request
        .ruling
        .as_ref()
        .and_then(|r| r.signature.as_ref())
        .or_else(|| request.reexecution.as_ref().and_then(|r| r.signature.as_ref()));
    entries.iter().rev().take(8).any(|entry| match entry.read().map(|(data, _)| data) {
        Ok(Data::Ruling(data)) => data.signature.as_ref() == wanted && wanted.is_some(),
        Ok(Data::Reexecution(data)) => data.signature.as_ref() == wanted && wanted.is_some(),
        _ => false,
    })
}
