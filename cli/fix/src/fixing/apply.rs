//! The consent screens, the commit and its undo record (decision E11). What a fix changes outside of the
//! working folder, in start-up files, hooks, rights, tests or the command's own program is asked for apart,
//! and --yes never answers that.

use super::{Proposal, Session};
use crate::errors::{Error, Failure, Result};
use serde_json::{Value, json};
use std::path::Path;
use zx1_cli_common::confirm;
use zx1_cli_common::files;
use zx1_cli_common::words::count;
use zx1_market::contract;
use zx1_sandbox::{ChangeSet, Class, Consents, Records};
use zx1_trial::Attempt;

/// Lines of a diff that are shown without --explain.
const DIFF_LINES: usize = 60;
/// Paths that one question names without --explain. Who is asked about more reads none of them.
const PATHS: usize = 200;

/// What somebody agreed to.
#[derive(Clone, Debug)]
pub struct Agreed(Consents);

/// The changes for programs.
pub fn as_json(changes: &ChangeSet) -> Value {
    let entry = |entry: &zx1_sandbox::Entry| {
        json!({
            "path": files::shown(&entry.path),
            "kind": format!("{:?}", entry.kind),
            "classes": entry.classes.iter().map(|class| format!("{class:?}")).collect::<Vec<_>>(),
            "diff": entry.diff,
        })
    };
    json!({ "changes": changes.entries.iter().map(entry).collect::<Vec<_>>(), "digest": changes.digest })
}

/// Shows what an attempt changes.
pub fn show(session: &Session<'_>, changes: &ChangeSet) {
    session.screen.heading("What changes");
    if changes.is_empty() {
        session.screen.block("no file", DIFF_LINES);
    } else {
        // Before the ordinary changes and never cut: many harmless lines must not push it out of sight.
        let special = changes.special();
        if !special.is_empty() {
            session.screen.block(&special, usize::MAX);
            session.screen.raw("\n");
        }
        session.screen.block(&changes.ordinary(), DIFF_LINES);
    }
    session.screen.raw("\n");
    if session.screen.is_json() {
        session.screen.step("changes", as_json(changes), "");
    }
}

/// What happens to an agent's corrected command that would replace the user's. The contract says so
/// beforehand, and [`ask`] does it.
pub fn corrected_commands(session: &Session<'_>) -> contract::Corrected {
    if session.options.accept_corrected {
        contract::Corrected::Yes
    } else if confirm::can_ask() && !session.screen.is_json() {
        contract::Corrected::Asks
    } else {
        contract::Corrected::No
    }
}

/// A path as a line of a question. A name with a line break in it stays one line.
fn line_of(path: &Path) -> String {
    format!("  {}\n", files::shown(path).replace('\n', "\u{fffd}"))
}

/// Shows what an attempt changes, asks for everything that needs an answer, and makes sure that a commit would
/// go through: success is posted only after this. The real files stay as they are. `from_outside`: a stranger
/// wrote the proposal; no check can tell whether its corrected command is what was wanted (`true` never
/// fails), so --yes does not cover it.
///
/// # Errors
/// As [`ask`]; 9200 to 9299: why a commit would not go through.
pub fn agree(
    session: &Session<'_>,
    attempt: &mut Attempt,
    proposal: &Proposal,
    from_outside: bool,
) -> Result<Agreed> {
    show(session, &attempt.changes);
    let agreed = ask(session, &attempt.changes, proposal.corrected_command.as_deref(), from_outside)?;
    attempt.sandbox.dry_run_commit(&attempt.changes, &agreed.0, &records(session)?)?;
    Ok(agreed)
}

/// Asks for everything that needs an answer.
///
/// # Errors
/// 9501 and 9502 for the plain question, 9547 for a class of changes that nobody agreed to, 9548 for a
/// stranger's command in place of the user's, 9549 for more paths than a question can name.
fn ask(
    session: &Session<'_>,
    changes: &ChangeSet,
    corrected: Option<&str>,
    from_outside: bool,
) -> Result<Agreed> {
    let special: Vec<Class> = changes.classes().into_iter().filter(|class| class.needs_consent()).collect();
    let mut consents = Consents::none();
    for class in special {
        let what = class.to_string();
        let refused = || Failure::from(Error::NotConsented { what: what.clone() });
        if !confirm::can_ask() || session.screen.is_json() {
            return Err(refused());
        }
        let paths: Vec<String> = changes
            .entries
            .iter()
            .filter(|entry| entry.classes.contains(&class))
            .map(|entry| line_of(&entry.path))
            .collect();
        if paths.len() > PATHS && !session.screen.explains() {
            return Err(Error::TooManyPaths { count: paths.len(), what }.into());
        }
        let question =
            format!("The fix changes {what}:\n{}Allow this? --yes does not cover it.", paths.concat());
        match session.ask_always(&question) {
            Ok(()) => consents = consents.with(class),
            Err(failure) if failure.code == Error::Interrupted.code() => return Err(failure),
            Err(_) => return Err(refused()),
        }
    }
    let files = match changes.entries.len() {
        0 => "It changes no file.".to_owned(),
        some => format!("It changes {}.", count(some, "file", "files")),
    };
    match corrected {
        Some(line) if from_outside && !session.options.accept_corrected => {
            if corrected_commands(session) == contract::Corrected::No {
                return Err(Error::CommandNotAccepted { line: line.to_owned() }.into());
            }
            let note = if session.context.yes() { " --yes does not cover it." } else { "" };
            session.ask_always(&format!("{files} Take {line} in place of your command?{note}"))?;
        }
        Some(line) => {
            session.ask(&format!("{files} Take {line} in place of your command?"))?;
        }
        None => session.ask(&format!("{files} Apply the fix?"))?,
    }
    Ok(Agreed(consents))
}

/// Applies the changes; the undo record's id, `None` when there are none to apply.
///
/// # Errors
/// 9200 to 9299: nothing was changed then.
pub fn commit(session: &Session<'_>, attempt: Attempt, agreed: &Agreed) -> Result<Option<String>> {
    if attempt.changes.is_empty() {
        attempt.sandbox.discard();
        return Ok(None);
    }
    let records = records(session)?;
    let record = attempt.sandbox.commit(&attempt.changes, &agreed.0, &records)?;
    Ok(Some(record.id().to_owned()))
}

fn records(session: &Session<'_>) -> Result<Records> {
    Ok(Records::open(session.context.place("undo")?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_question_is_one_line() {
        assert_eq!(line_of(Path::new("/a\nAllow this? ")), "  /a\u{fffd}Allow this? \n");
    }
}
