//! `--local`: the built-in rules drive the same sandbox, without any market. Nothing leaves this machine.

use super::{Ended, Session, apply};
use crate::errors::{Error, Result};
use serde_json::json;
use std::time::Duration;
use zx1_fixer::rules::{self, Findings, Proposal, Step};
use zx1_market::defaults::TIMEOUT;

fn look(session: &mut Session<'_>) -> Result<Proposal> {
    let environment = super::payload::environment();
    let failure = rules::Failure {
        command: session.failed.line.clone(),
        error: session.failed.output.clone(),
        exit_code: session.failed.exit.into(),
        os: environment.os,
        arch: environment.arch,
        package_managers: environment.package_managers,
        capabilities: rules::Capabilities {
            network: !session.bench.hosts().is_empty(),
            ..Default::default()
        },
    };
    let mut findings = Findings::default();
    loop {
        match rules::decide(&failure, &findings) {
            Step::Propose(proposal) => return Ok(proposal),
            Step::Decline(why) => return Err(why.into()),
            Step::Investigate(line) => {
                let answer = session.bench.investigate(&line)?;
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
    let proposal = look(session)?;
    let fix = proposal.fix.as_str();
    let text = format!("The rule {} knows this.", proposal.rule);
    session.screen.step("rule", json!({ "rule": proposal.rule, "confidence": proposal.confidence }), &text);
    super::show_proposal(session, fix, proposal.corrected_command.as_deref(), &proposal.explanation);
    session.screen.step("verifying", json!({}), "Trying it in the sandbox …");
    let time = Duration::from_secs(TIMEOUT.into());
    let mut attempt = session.bench.attempt(&proposal.fix, proposal.corrected_command.as_deref(), time)?;
    super::show_verification(session, &attempt);
    let passed = attempt.check.as_ref().is_some_and(|check| check.exit == Some(0) && check.stopped.is_none());
    if !passed {
        let why = "the proposal does not work in the sandbox, so nothing was changed.".to_owned();
        return Err(Error::Unfixed { why }.into());
    }
    apply::show(session, &attempt.changes);
    if session.options.dry_run {
        session.screen.step("dry_run", json!({}), "Nothing was changed: this was a dry run.");
        return Ok(Ended::AsBefore);
    }
    let corrected = proposal.corrected_command.as_deref();
    let corrected = corrected.map(|line| apply::Corrected { line, from_outside: false });
    let agreed = apply::ask(session, &attempt.changes, corrected)?;
    apply::rehearse(session, &mut attempt, &agreed)?;
    let output = attempt.check.as_ref().map(|check| check.output.clone()).unwrap_or_default();
    let undo = apply::commit(session, attempt, &agreed)?;
    super::show_fixed(session, &output, undo.as_deref());
    Ok(Ended::Fixed)
}
