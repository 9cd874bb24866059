//! The built-in rules, in the sandbox. Nothing leaves this machine.

use crate::consent::Agreed;
use crate::event::{Event, Question};
use crate::{Ended, Proposal, Refusal, Result, Session};
use zx1_fixer::rules::{self, Findings, Step};
use zx1_market::contract::{FailedStep, Failure, Verification};
use zx1_market::defaults::TIMEOUT;
use zx1_trial::{Lack, Ready};

impl Session<'_> {
    fn find_rule(&mut self) -> Result<rules::Proposal> {
        let environment = zx1_trial::environment();
        let failure = rules::Failure {
            command: self.failed.line.clone(),
            error: self.failed.output.clone(),
            exit_code: self.failed.exit.into(),
            os: environment.os,
            arch: environment.arch,
            package_managers: environment.package_managers,
            capabilities: rules::Capabilities {
                network: !self.folder.hosts().is_empty(),
                ..Default::default()
            },
        };
        let mut findings = Findings::default();
        loop {
            match rules::decide(&failure, &findings) {
                Step::Propose(proposal) => return Ok(proposal),
                Step::Decline(why) => return Err(why.into()),
                Step::Investigate(line) => {
                    let answer = self.folder.investigate(&line)?;
                    self.front.event(Event::Investigated { command: &line, answer: &answer });
                    findings.add(line, answer.text);
                }
            }
        }
    }

    /// Fixes with the rules. With `dry_run` the changes are only shown.
    ///
    /// # Errors
    /// 9300 to 9309 when no rule knows it, 9544 when the proposal does not work, 9200 to 9299 from the sandbox,
    /// [`crate::Error::Unattended`], [`crate::Error::Declined`] and 9547 when nobody agrees, 9572 when nobody can be
    /// asked about a correction that the sandbox cannot prove.
    pub fn fix_locally(&mut self, dry_run: bool) -> Result<Ended> {
        let found = self.find_rule()?;
        let title =
            rules::catalogue().iter().find(|rule| rule.id == found.rule).map_or("", |rule| rule.title);
        self.front.event(Event::Rule { name: found.rule, title, confidence: found.confidence });
        let respells = found.respells(&self.failed.line);
        let proposal = Proposal {
            fix: found.fix,
            corrected_command: found.corrected_command,
            explanation: found.explanation,
        };
        let works = self.conditions();
        let (attempt, failure) = self.attempt(&proposal, false, &works, TIMEOUT)?;
        let (Some(mut ready), None) = (attempt.ready, &failure) else {
            let failed_there = failure.as_ref().is_some_and(|failure| failure.step == FailedStep::Check);
            if let (Some(lack), Some(line)) = (attempt.trial.lack, proposal.corrected_command)
                && respells
                && failed_there
            {
                return self.leave_to_user(line, lack, dry_run);
            }
            let unseen = failure.is_some_and(|failure| failure.step == FailedStep::Control);
            return Err(if unseen { Refusal::NotReproduced } else { Refusal::Unfixed }.into());
        };
        if dry_run {
            self.front.event(Event::Changes(&ready.changes));
            self.front.event(Event::DryRun { sent: None });
            return Ok(Ended::AsBefore);
        }
        let agreed = self.agree(&mut ready, &proposal, false)?;
        match self.apply(ready, &agreed, &proposal, &works, false)? {
            None => Ok(Ended::Fixed),
            Some(_) => Err(Refusal::OutsideFailed.into()),
        }
    }

    /// What must hold for a fix that no contract is about.
    pub(crate) fn conditions(&self) -> Vec<Verification> {
        let mut conditions = vec![Verification::ExitCode { expected: 0 }];
        // Line by line, as people know it from grep: an output ends with a newline.
        let of_line = |pattern: &String| Verification::OutputMatch { pattern: format!("(?m){pattern}") };
        conditions.extend(self.options.expect.as_ref().map(of_line));
        conditions
    }

    /// Applies a fix and runs the command for real; why it fails there, if it does: then all is taken back.
    ///
    /// # Errors
    /// 9200 to 9299: the commit, the records; 9541: no shell can be started.
    pub(crate) fn apply(
        &self,
        ready: Ready,
        agreed: &Agreed,
        proposal: &Proposal,
        conditions: &[Verification],
        from_outside: bool,
    ) -> Result<Option<Failure>> {
        let undo = self.commit(ready, agreed)?;
        let (output, failure) = self.for_real(proposal, conditions, from_outside)?;
        match &failure {
            None => self.applied(&output, undo.as_deref()),
            Some(failure) => self.take_back(undo.as_deref(), failure)?,
        }
        Ok(failure)
    }

    /// A correction of the spelling alone, which fails for want of something that the sandbox lacks: whether the user
    /// wants it run without a proof. It would run outside of the sandbox, so no consent that was given beforehand
    /// answers this. Only rules of this program come here, never a stranger's command.
    ///
    /// # Errors
    /// 9572 when nobody can be asked, [`crate::Error::Declined`], [`crate::Error::Interrupted`].
    fn leave_to_user(&self, line: String, lack: Lack, dry_run: bool) -> Result<Ended> {
        self.front.event(Event::Unproven { line: &line, lack });
        if dry_run {
            self.front.event(Event::DryRun { sent: None });
            return Ok(Ended::AsBefore);
        }
        if !self.front.is_attended() {
            return Err(Refusal::Unproven { line, lack }.into());
        }
        self.ask(Question::RunUnproven { line: line.clone(), lack })?;
        Ok(Ended::Unproven { line })
    }
}
