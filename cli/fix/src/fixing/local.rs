//! `--local`: the built-in rules drive the same sandbox, without any market. Nothing leaves this machine.

use super::{Ended, Proposal, Session, apply};
use crate::errors::{Error, Result};
use serde_json::json;
use zx1_fixer::rules::{self, Findings, Step};
use zx1_market::contract::Verification;
use zx1_market::defaults::TIMEOUT;

fn look(session: &mut Session<'_>) -> Result<rules::Proposal> {
    let environment = zx1_trial::environment();
    let failure = rules::Failure {
        command: session.failed.line.clone(),
        error: session.failed.output.clone(),
        exit_code: session.failed.exit.into(),
        os: environment.os,
        arch: environment.arch,
        package_managers: environment.package_managers,
        capabilities: rules::Capabilities {
            network: !session.folder.hosts().is_empty(),
            ..Default::default()
        },
    };
    let mut findings = Findings::default();
    loop {
        match rules::decide(&failure, &findings) {
            Step::Propose(proposal) => return Ok(proposal),
            Step::Decline(why) => return Err(why.into()),
            Step::Investigate(line) => {
                let answer = session.folder.investigate(&line)?;
                let data = json!({ "command": line, "output": answer.text, "refused": answer.refused });
                session.screen.step("investigates", data, &format!("reads: {line}"));
                if session.screen.explains() {
                    session.screen.block(&answer.text, usize::MAX);
                }
                findings.add(line, answer.text);
            }
        }
    }
}

/// Fixes with the rules, or says why not.
///
/// # Errors
/// 9300 to 9309 when no rule knows it, 9544 when the proposal does not work, 9200 to 9299 from the sandbox,
/// 9501, 9502 and 9547 when nobody agrees.
pub fn fix(session: &mut Session<'_>) -> Result<Ended> {
    let found = look(session)?;
    let text = format!("The rule {} knows this.", found.rule);
    session.screen.step("rule", json!({ "rule": found.rule, "confidence": found.confidence }), &text);
    let proposal = Proposal {
        fix: found.fix,
        corrected_command: found.corrected_command,
        explanation: found.explanation,
    };
    let works = [Verification::ExitCode { expected: 0 }];
    let (mut attempt, unmet) = super::attempt(session, &proposal, &works, TIMEOUT)?;
    if unmet.is_some() {
        let why = "the proposal does not work in the sandbox, so nothing was changed.".to_owned();
        return Err(Error::Unfixed { why }.into());
    }
    if session.options.dry_run {
        apply::show(session, &attempt.changes);
        session.screen.step("dry_run", json!({}), "Nothing was changed: this was a dry run.");
        return Ok(Ended::AsBefore);
    }
    let agreed = apply::agree(session, &mut attempt, &proposal, false)?;
    let output = attempt.trial.last().output();
    let undo = apply::commit(session, attempt, &agreed)?;
    super::show_fixed(session, &output, undo.as_deref());
    Ok(Ended::Fixed)
}
