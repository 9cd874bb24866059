//! A model of the user's own: it drives the solver that agents use, in the same sandbox, with the same consent and undo
//! as a fix of the market. What it is sent is scrubbed and shown first; what it may cost in a day is written down before
//! each call.

use crate::event::{Event, Prompt, Question};
use crate::model::Own;
use crate::session::NOT_FOUND;
use crate::{Ended, Error, Proposal, Refusal, Result, Session};
use std::time::Duration;
use zx1_agent::worker::task;
use zx1_fixer::solver::{Action, Bounds, Observation, Solver};
use zx1_market::contract::{Failure, Verification};
use zx1_market::defaults::{CHARITY, TIMEOUT};
use zx1_market::{PartyKey, Terms};
use zx1_model::prompt::FenceToken;
use zx1_trial::check_investigation;

/// Terms without a server: the failure is described in the form of a contract, as agents' models know it.
fn terms() -> Result<Terms> {
    let charity = CHARITY
        .parse()
        .map_err(|_| Refusal::BadAddress { text: CHARITY.to_owned(), why: "it is built in".to_owned() })?;
    Ok(Terms::new(PartyKey::from_seed(&[1; 32]).id(), charity)?)
}

impl Session<'_> {
    /// Fixes with the user's own model. With `dry_run` it is only shown what would be sent.
    ///
    /// # Errors
    /// 9310 to 9324: the model gives no answer; 9574: it proposes no fix; 9570, 9571, 9573; 9200 to 9299 from the
    /// sandbox; [`Error::Unattended`], [`Error::Declined`], 9547 and 9548 when nobody agrees.
    pub fn fix_with_model(&mut self, own: &Own, dry_run: bool) -> Result<Ended> {
        let payload = self.gather_with(None, &[])?;
        let today = own.today()?;
        if dry_run {
            self.front.event(Event::ForModel { payload: &payload, own, today });
            self.front.event(Event::DryRun { sent: Some((&payload, own.url())) });
            return Ok(Ended::AsBefore);
        }
        let mut works = self.conditions();
        if !self.is_reproduced(&works, TIMEOUT)? {
            works = vec![Verification::Principal];
        }
        self.front.event(Event::ForModel { payload: &payload, own, today });
        self.agree_to_model(own)?;
        let mut builder = self.builder(&payload);
        if works == [Verification::Principal] {
            builder = builder.judged_by_principal();
        }
        let task = task(&builder.build(&terms()?)?);
        let folder = self.failed.folder.clone();
        let allowed = move |line: &str| match check_investigation(line, &folder) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(refusal.to_string()),
        };
        let mut solver = Solver::new(task, Bounds::default(), allowed, FenceToken::random);
        self.drive(own, &mut solver, &works)
    }

    /// Asks once for each model and place.
    fn agree_to_model(&self, own: &Own) -> Result<()> {
        let question = Question::SendToModel { model: own.name().to_owned(), url: own.url().to_owned() };
        let was_agreed = own.is_agreed();
        if was_agreed && self.failed.exit != NOT_FOUND {
            return Ok(());
        }
        self.ask_to_send(question)?;
        // What --yes agrees to holds for this session.
        if was_agreed || self.front.consents() { Ok(()) } else { own.remember() }
    }

    fn drive(&mut self, own: &Own, solver: &mut Solver<'_>, works: &[Verification]) -> Result<Ended> {
        let model = own.budgeted();
        let mut observation = Observation::Begin;
        loop {
            let action = self.wait(async { Ok::<_, Error>(solver.drive(&model, observation).await) })?;
            observation = match action {
                Action::Investigate(line) => {
                    let answer = self.folder.investigate(&line)?;
                    self.unless_pressed()?;
                    self.front.event(Event::Investigated { command: &line, answer: &answer });
                    match answer.refused {
                        true => Observation::Refused { why: answer.text },
                        false => Observation::Output { exit: answer.exit, text: answer.text },
                    }
                }
                Action::Accept => Observation::Accepted,
                Action::Say(text) => self.hear_out(&text)?,
                Action::Decline(why) => {
                    if let Some(error) = solver.failure() {
                        return Err(error.clone().into());
                    }
                    return Err(Refusal::ModelDeclines { model: own.name().to_owned(), why }.into());
                }
                Action::Propose(found) => {
                    let proposal = Proposal {
                        fix: found.fix,
                        corrected_command: found.corrected_command,
                        explanation: found.explanation,
                    };
                    match self.try_proposal(&proposal, works)? {
                        None => return Ok(Ended::Fixed),
                        Some(text) => Observation::Verified { text },
                    }
                }
            };
        }
    }

    /// What the model says is shown; a person can answer.
    fn hear_out(&self, text: &str) -> Result<Observation> {
        self.front.event(Event::ModelSays { text });
        if !self.can_talk() {
            return Ok(Observation::Said);
        }
        let answer = self.prompt(Prompt::ReplyToModel)?;
        let text = self.folder.scrubber().scrub(&answer).text;
        Ok(if text.is_empty() { Observation::Said } else { Observation::Heard { text } })
    }

    /// Tries a proposal, asks, applies; the words for the model when it does not work. Its text was made from what a
    /// command printed, so it counts as a stranger's.
    fn try_proposal(&mut self, proposal: &Proposal, works: &[Verification]) -> Result<Option<String>> {
        let (attempt, failure) = self.attempt(proposal, true, works, TIMEOUT)?;
        let (Some(mut ready), None) = (attempt.ready, &failure) else {
            return Ok(Some(self.told(proposal, failure.as_ref())?));
        };
        let agreed = self.agree(&mut ready, proposal, true)?;
        // What the sandbox cannot reproduce the real machine can: there the command has to work.
        let failure = self.apply(ready, &agreed, proposal, &self.conditions(), true)?;
        Ok(failure.map(|failure| failure.to_string()))
    }

    /// Nothing that was printed leaves from where secrets are: what the model reads comes from a second run that sees
    /// what an investigation sees.
    fn told(&self, proposal: &Proposal, failure: Option<&Failure>) -> Result<String> {
        let time = Duration::from_secs(TIMEOUT.into());
        let corrected = proposal.corrected_command.as_deref();
        // Without it the model knows less; it can go on all the same.
        let output = self.folder.look_again(&proposal.fix, corrected, time).unwrap_or_default();
        self.unless_pressed()?;
        Ok(format!("{}\n{output}", failure.map(ToString::to_string).unwrap_or_default()))
    }
}
