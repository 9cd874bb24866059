//! Consent, the commit and its undo record (decision E11). What a fix changes outside of the working folder, in
//! start-up files, hooks, rights, tests or the command's own program is asked for apart, and consent that was given
//! beforehand never answers that.

use crate::event::{Event, Question};
use crate::{Proposal, Refusal, Result, Session, undo};
use zx1_market::contract::{Corrected, Ending, FailedStep, Failure, FailureClass, Run, Verification, unmet};
use zx1_sandbox::{ChangeSet, Class, Consents, Records};
use zx1_trial::{Ready, class_on_the_wire, is_granted};

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
    pub(crate) fn agree(&self, ready: &mut Ready, proposal: &Proposal, from_outside: bool) -> Result<Agreed> {
        self.front.event(Event::Changes(&ready.changes));
        let corrected = proposal.corrected_command.as_deref();
        let agreed = self.agree_to(&ready.changes, corrected, from_outside)?;
        ready.sandbox.dry_run_commit(&ready.changes, &agreed.0, &self.undo_records()?)?;
        Ok(agreed)
    }

    /// Asks for everything that needs an answer and was not granted beforehand. With nobody there all kinds of changes
    /// that lack a consent are named at once.
    ///
    /// # Errors
    /// [`crate::Error::Unattended`] and [`crate::Error::Declined`] for the plain question, 9547 for a class of changes that nobody
    /// agreed to, 9548 for a stranger's command in place of the user's, 9549 for more paths than a question can name.
    fn agree_to(&self, changes: &ChangeSet, corrected: Option<&str>, from_outside: bool) -> Result<Agreed> {
        let classes = changes.classes().into_iter().filter(|class| class.needs_consent());
        let (granted, special): (Vec<Class>, Vec<Class>) =
            classes.partition(|class| is_granted(*class, &self.options.granted));
        let mut consents = granted.into_iter().fold(Consents::none(), Consents::with);
        let refused = |classes: &[Class]| {
            let names: Vec<String> = classes.iter().map(ToString::to_string).collect();
            let needs = classes.iter().filter_map(|class| class_on_the_wire(*class));
            let needs = needs.filter(|kind| !self.options.granted.contains(kind)).collect();
            Refusal::NotConsented { what: names.join("; "), needs }
        };
        if !special.is_empty() && !self.front.is_attended() {
            return Err(refused(&special).into());
        }
        for class in special {
            let what = class.to_string();
            let entries = changes.entries.iter().filter(|entry| entry.classes.contains(&class));
            let paths: Vec<_> = entries.map(|entry| entry.path.clone()).collect();
            if paths.len() > PATHS && !self.options.all_paths {
                return Err(Refusal::TooManyPaths { count: paths.len(), what }.into());
            }
            if !self.confirms(Question::Allow { what, paths })? {
                return Err(refused(&[class]).into());
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
    pub(crate) fn commit(&self, ready: Ready, agreed: &Agreed) -> Result<Option<String>> {
        if ready.changes.is_empty() {
            ready.sandbox.discard();
            return Ok(None);
        }
        let record = ready.sandbox.commit(&ready.changes, &agreed.0, &self.undo_records()?)?;
        Ok(Some(record.id().to_owned()))
    }

    /// Runs the command, or what corrects it, once on the real machine, after the fix was applied: its output, and why
    /// it still fails, if it does. What was bought is the trial; this is whether it helps here. A stranger's command that
    /// nobody looked at is not run outside of the sandbox.
    ///
    /// # Errors
    /// 9541: no shell can be started.
    pub(crate) fn for_real(
        &self,
        proposal: &Proposal,
        conditions: &[Verification],
        from_outside: bool,
    ) -> Result<(String, Option<Failure>)> {
        if from_outside && proposal.corrected_command.is_some() && self.options.accept_corrected {
            return Ok((String::new(), None));
        }
        // Its changes were applied: run on top of them, `mv` or `git commit` would fail.
        if let Some(output) = self.ran_once.as_ref().filter(|_| proposal.corrected_command.is_some()) {
            return Ok((output.clone(), None));
        }
        let line = proposal.corrected_command.as_deref().unwrap_or(&self.failed.line);
        self.front.event(Event::RunningForReal { line });
        let ran = crate::command::once(line, &self.failed.folder)?;
        let machine: Vec<_> =
            conditions.iter().filter(|one| **one != Verification::Principal).cloned().collect();
        let failed = unmet(&machine, &Run::default(), &ran.run).is_some();
        let class = FailureClass::OutsideFailed;
        let failure = failed.then(|| Failure::new(FailedStep::Outside, Ending::of(&ran.run), class));
        Ok((ran.output, failure))
    }

    /// Takes an applied fix back, because the command fails on the real machine all the same.
    ///
    /// # Errors
    /// 9230 to 9235: the records.
    pub(crate) fn take_back(&self, undo: Option<&str>, failure: &Failure) -> Result<()> {
        let left = match undo {
            Some(id) => self.undo_records()?.undo(id)?,
            None => Vec::new(),
        };
        self.front.event(Event::TakenBack { failure, left: &left });
        Ok(())
    }

    /// Reports that the fix is applied.
    pub(crate) fn applied(&self, output: &str, undo: Option<&str>) {
        self.front.event(Event::Applied { output, undo, folder: &self.failed.folder });
    }
}
