//! What a machine that has seen nothing of the failure can run again.

use std::collections::BTreeSet;
use zx1_market::chain::Data;

use zx1_market::contract::{ChangeClass, InputFile, Verification};
use zx1_market::terms::CourtLimits;
use zx1_market::{Case, Entry};

/// What is to be run again. All of it was chained before the fix: the contract is the chain's first entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Job {
    /// The command that failed.
    pub command: String,
    /// What the fix's author wants verified in its place, when the command itself was wrong.
    pub corrected_command: Option<String>,
    /// The fix: a shell command.
    pub fix: String,
    /// The files that the principal attached.
    pub inputs: Vec<InputFile>,
    /// What must hold.
    pub verification: Vec<Verification>,
    /// What it may use, as the contract's terms say.
    pub limits: CourtLimits,
    /// Kinds of changes that the contract agrees to beforehand.
    pub consents: BTreeSet<ChangeClass>,
    /// The entry of the fix.
    pub seq: u64,
}

/// Why nothing can be run, in a sentence for the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CannotRun(pub String);

impl Job {
    /// The last fix of the contract's agent, or why it cannot be run again.
    pub fn of(case: &Case, entries: &[Entry]) -> Result<Job, CannotRun> {
        let Some(agent) = case.agent() else { return cannot("There is no agent and no fix.") };
        let contract = case.contract();
        let last = entries.iter().rev().filter(|entry| entry.author() == agent).find_map(|entry| match entry
            .read()
        {
            Ok((Data::Fix { fix, corrected_command, .. }, _)) => Some((entry.seq(), fix, corrected_command)),
            _ => None,
        });
        let Some((seq, fix, corrected_command)) = last else {
            return cannot("The agent has proposed no fix.");
        };
        if contract.task.inputs.is_empty() {
            return cannot("The contract has no input files, so there is nothing to run the command on.");
        }
        if !contract.is_machine_verifiable() {
            return cannot("The contract is verified by the principal, which no machine can do.");
        }
        let here = (std::env::consts::OS, std::env::consts::ARCH);
        let system = &contract.environment;
        let same = |there: &str, here: &str| there.is_empty() || there.eq_ignore_ascii_case(here);
        let arch = if system.arch == "arm64" { "aarch64" } else { &system.arch };
        if !same(&system.os, here.0) || !same(if arch == "amd64" { "x86_64" } else { arch }, here.1) {
            return cannot("The command failed on another kind of system than the court's.");
        }
        if contract.capabilities.network.is_some()
            || contract.capabilities.docker
            || contract.capabilities.sudo
        {
            // It may still work without; but when it fails here, that would prove nothing. `sudo` is more
            // than a principal has who is root: the sandbox's own root stands for that, here as there.
            return cannot(
                "The contract grants the network, sudo or docker, which the court's machine does not give.",
            );
        }
        Ok(Job {
            command: contract.task.command.clone(),
            corrected_command,
            fix,
            inputs: contract.task.inputs.clone(),
            verification: contract.verification.clone(),
            limits: case.terms().court,
            consents: contract.consents.clone(),
            seq,
        })
    }

    /// What is verified.
    pub fn verified_command(&self) -> &str {
        self.corrected_command.as_deref().unwrap_or(&self.command)
    }
}

fn cannot<T>(why: &str) -> Result<T, CannotRun> {
    Err(CannotRun(why.to_owned()))
}
