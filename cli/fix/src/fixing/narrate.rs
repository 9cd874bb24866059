//! What happens in a contract, in sentences.

use super::Session;
use crate::screen::Tone;
use serde_json::json;
use zx1_cli_common::words::short;
use zx1_market::Entry;
use zx1_market::chain::Data;
use zx1_scrub::neutral::one_line;

/// Maximum number of characters of a stranger's text on one line.
const MOST: usize = 300;

/// Reports one entry of the transcript. What this program does itself is reported where it does it.
pub fn tell(session: &Session<'_>, entry: &Entry) {
    let Ok((data, _)) = entry.read() else { return };
    let who = short(&entry.author().to_string());
    let ours =
        session.context.key(crate::context::Who::Principal).is_ok_and(|key| key.id() == entry.author());
    let line = |text: &str| one_line(text, MOST);
    let (tone, text) = match &data {
        Data::Opened { .. } => (Tone::Step, "Waiting for an agent …".to_owned()),
        Data::Bond { .. } => (Tone::Step, format!("Agent {who} takes a look.")),
        Data::Accept { .. } => (Tone::Step, format!("Agent {who} takes the contract.")),
        Data::Decline { reason } => {
            (Tone::Warn, format!("The agent declines: {} Waiting for another one …", line(reason)))
        }
        Data::Investigate { command } => (Tone::Step, format!("The agent reads: {}", line(command))),
        Data::Fix { .. } => (Tone::Step, "The agent proposes a fix.".to_owned()),
        Data::Chat { message } | Data::Message { message } | Data::Answer { message } if !ours => {
            (Tone::Step, format!("The agent says: {}", line(message)))
        }
        Data::Ask { message } if !ours => (Tone::Step, format!("The agent asks: {}", line(message))),
        Data::DisputeFiled { argument, .. } => {
            (Tone::Warn, format!("A dispute is filed: {}", line(argument)))
        }
        Data::DisputeResponse { argument, .. } => {
            (Tone::Step, format!("The answer to it: {}", line(argument)))
        }
        Data::Appeal { argument, .. } => (Tone::Warn, format!("An appeal is filed: {}", line(argument))),
        Data::Reexecution(found) => {
            let text = match (found.ran, found.success) {
                (true, Some(true)) => "The judge ran it again: the fix works.",
                (true, _) => "The judge ran it again: the fix does not work.",
                (false, _) => "The judge could not run it again.",
            };
            (Tone::Step, text.to_owned())
        }
        Data::Ruling(ruling) => {
            let text =
                format!("The {} court rules {}: {}", ruling.court, ruling.outcome, line(&ruling.reasoning));
            (Tone::Warn, text)
        }
        Data::BackOut { reason } => (Tone::Warn, format!("A party leaves the contract: {}", line(reason))),
        Data::AutoDecline { .. } => (Tone::Warn, "The agent took too long to decide.".to_owned()),
        Data::AttemptTimeout { .. } => (Tone::Warn, "The agent took too long for a fix.".to_owned()),
        Data::AutoFulfill { .. } => {
            (Tone::Step, "The review's time is over: the fix is accepted.".to_owned())
        }
        Data::Voided { reason } => (Tone::Warn, format!("The contract is void: {}", line(reason))),
        Data::Reopened { .. } => {
            (Tone::Step, "The contract is open again. Waiting for an agent …".to_owned())
        }
        _ => return,
    };
    let data =
        json!({ "seq": entry.seq(), "entry": entry.kind().as_str(), "author": entry.author().to_string() });
    session.screen.tell(tone, "entry", data, &text);
}
