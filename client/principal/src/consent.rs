//! Consent, the commit and its undo record (decision E11). What a fix changes outside of the working folder, in
//! start-up files, hooks, rights, tests or the command's own program is asked for apart, and consent that was given
//! beforehand never answers that.

use crate::event::{Event, Question};
use crate::{Proposal, Refusal, Result, Session, undo};
use zx1_market::contract::Corrected;
use zx1_sandbox::{ChangeSet, Class, Consents, Records};
use zx1_trial::Attempt;

/// Paths that one question names. Who is asked about more reads none of them.
const PATHS: usize = 200;

/// What the user agreed to.
#[derive(Clone, Debug)]
pub(crate) struct Agreed(Consents);

impl Session<'_> {
    pub(crate) fn undo_records(&self) -> Result<Records> {
        Ok(Records::open(undo::folder(&self.options.home))?)
    }

    /// Shows what an attempt changes, asks for everything that needs an answer, and makes sure that a commit would
    /// go through: success is posted only after this. The real files stay as they are. `from_outside`: a stranger
    /// wrote the proposal.
    ///
    /// # Errors
    /// As [`Session::agree_to`]; 9200 to 9299: why a commit would not go through.
    pub(crate) fn agree(
        &self,
        attempt: &mut Attempt,
        proposal: &Proposal,
        from_outside: bool,
    ) -> Result<Agreed> {
        self.front.event(Event::Changes(&attempt.changes));
        let corrected = proposal.corrected_command.as_deref();
        let agreed = self.agree_to(&attempt.changes, corrected, from_outside)?;
        attempt.sandbox.dry_run_commit(&attempt.changes, &agreed.0, &self.undo_records()?)?;
        Ok(agreed)
    }

    /// Asks for everything that needs an answer.
    ///
    /// # Errors
    /// [`crate::Error::Unattended`] and [`crate::Error::Declined`] for the plain question, 9547 for a class of changes that nobody
    /// agreed to, 9548 for a stranger's command in place of the user's, 9549 for more paths than a question can name.
    fn agree_to(&self, changes: &ChangeSet, corrected: Option<&str>, from_outside: bool) -> Result<Agreed> {
        let special: Vec<Class> =
            changes.classes().into_iter().filter(|class| class.needs_consent()).collect();
        let mut consents = Consents::none();
        for class in special {
            let what = class.to_string();
            let refused = || Refusal::NotConsented { what: what.clone() };
            if !self.front.is_attended() {
                return Err(refused().into());
            }
            let entries = changes.entries.iter().filter(|entry| entry.classes.contains(&class));
            let paths: Vec<_> = entries.map(|entry| entry.path.clone()).collect();
            if paths.len() > PATHS && !self.options.all_paths {
                return Err(Refusal::TooManyPaths { count: paths.len(), what }.into());
            }
            if !self.confirms(Question::Allow { what: what.clone(), paths })? {
                return Err(refused().into());
            }
            consents = consents.with(class);
        }
        let files = changes.entries.len();
        self.ask(match corrected {
            Some(line) => {
                let from_outside = from_outside && !self.options.accept_corrected;
                if from_outside && self.corrected_commands() == Corrected::No {
                    return Err(Refusal::CommandNotAccepted { line: line.to_owned() }.into());
                }
                Question::Correct { files, line: line.to_owned(), from_outside }
            }
            None => Question::Apply { files },
        })?;
        Ok(Agreed(consents))
    }

    /// Applies the changes; the undo record's id, `None` when there are none to apply.
    ///
    /// # Errors
    /// 9200 to 9299: nothing was changed then.
    pub(crate) fn commit(&self, attempt: Attempt, agreed: &Agreed) -> Result<Option<String>> {
        if attempt.changes.is_empty() {
            attempt.sandbox.discard();
            return Ok(None);
        }
        let record = attempt.sandbox.commit(&attempt.changes, &agreed.0, &self.undo_records()?)?;
        Ok(Some(record.id().to_owned()))
    }

    /// Reports that the fix is applied.
    pub(crate) fn applied(&self, output: &str, undo: Option<&str>) {
        self.front.event(Event::Applied { output, undo, folder: &self.failed.folder });
    }
}
