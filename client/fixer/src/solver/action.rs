//! What a solver can do, and how a model says it.

use zx1_model::answer::{self, AnswerError};

/// Longest investigation command in bytes.
pub(super) const MAX_COMMAND: usize = 1_000;
/// Longest corrected command in bytes: what a contract's fix entry takes.
pub const MAX_LINE: usize = 4 << 10;
/// Longest fix in bytes.
pub(super) const MAX_FIX: usize = 16 << 10;
/// Longest explanation in bytes.
pub(super) const MAX_EXPLANATION: usize = 4 << 10;
/// Longest reason and message in bytes.
pub(super) const MAX_REASON: usize = 1_000;

/// A proposed fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// A shell command, one or several lines (fix.md, "Fix").
    pub fix: String,
    /// For the principal, and for the judge if there is a dispute.
    pub explanation: String,
    /// The command that the principal is asked to run in place of the one that failed, when that one itself
    /// was wrong.
    pub corrected_command: Option<String>,
}

/// What the caller shall do. The texts come from a model that has read strangers' texts: a fix runs in the
/// sandbox only, and messages are shown, never obeyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Ask the principal's client to run this command. The whitelist has allowed it.
    Investigate(String),
    /// Take the contract.
    Accept,
    /// Give it back, for this reason.
    Decline(String),
    /// Submit this fix.
    Propose(Proposal),
    /// Send this message to the principal.
    Say(String),
}

/// Read a model's answer. Exactly one JSON object with the field `action` and that action's own fields:
///
/// ```text
/// {"action":"investigate","command":"..."}
/// {"action":"accept"}
/// {"action":"decline","reason":"..."}
/// {"action":"propose","fix":"...","explanation":"...","corrected_command":"..." or null}
/// {"action":"say","text":"..."}
/// ```
pub fn read_action(text: &str) -> Result<Action, AnswerError> {
    let mut fields = answer::read(text)?;
    let action = match fields.text("action", 32)?.as_str() {
        "investigate" => {
            let command = fields.text("command", MAX_COMMAND)?;
            if command.chars().any(char::is_control) {
                return Err(AnswerError::shape(
                    "the field command has more than one line or a control character",
                ));
            }
            Action::Investigate(command.trim().to_owned())
        }
        "accept" => Action::Accept,
        "decline" => Action::Decline(fields.text("reason", MAX_REASON)?),
        "propose" => Action::Propose(Proposal {
            fix: shell(fields.text("fix", MAX_FIX)?, "fix")?,
            explanation: fields.text("explanation", MAX_EXPLANATION)?,
            corrected_command: fields
                .maybe_text("corrected_command", MAX_LINE)?
                .map(|command| match is_line(&command) {
                    true => Ok(command),
                    false => Err(AnswerError::shape("the field corrected_command is not one line")),
                })
                .transpose()?,
        }),
        "say" => Action::Say(fields.text("text", MAX_REASON)?),
        _ => return Err(AnswerError::shape("the field action has none of the five values")),
    };
    fields.end()?;
    Ok(action)
}

/// Whether a command may take the place of the one that failed: one line that shows as it runs.
pub fn is_line(command: &str) -> bool {
    let breaks = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    command.len() <= MAX_LINE && !command.chars().any(breaks)
}

/// A shell command that shows as it runs: no control characters but newlines and tabs.
fn shell(text: String, name: &str) -> Result<String, AnswerError> {
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(AnswerError::shape(format!("the field {name} has a control character")));
    }
    Ok(text)
}
