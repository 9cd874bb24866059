//! What an agent knows about a contract: all of it stands in the chain, so a restart forgets nothing.

use zx1_market::chain::Data;
use zx1_market::contract::Contract;
use zx1_market::{Case, Entry, PartyId, State};

use zx1_fixer::rules::{self, Failure, Findings};
use zx1_fixer::solver::Task;

/// An answered investigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) command: String,
    pub(super) output: String,
    pub(super) exit: Option<i64>,
    pub(super) refused: bool,
}

/// One of our fixes, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) fix: String,
    pub(super) corrected_command: Option<String>,
    /// What the principal said when it did not pass; nothing while it waits.
    pub(super) failure: Option<String>,
    /// How many fixes of anybody stand before it: names it for a proof.
    pub(super) seq: u64,
}

/// A contract's transcript, read by its agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// Of every agent's investigations: rounds are the contract's (decision E3).
    pub(super) answered: Vec<Answered>,
    /// Our own fixes.
    pub(super) tried: Vec<Tried>,
    /// What the principal has said to us, oldest first, with its place.
    pub(super) heard: Vec<(u64, String)>,
    /// How often we spoke.
    pub(super) said: u32,
    /// Whether we have accepted.
    pub(super) accepted: bool,
}

impl Memory {
    /// Read a verified transcript.
    pub(super) fn of(entries: &[Entry], me: PartyId, principal: PartyId) -> Memory {
        let mut memory = Memory::default();
        for entry in entries {
            let Ok((data, _)) = entry.read() else { continue };
            let mine = entry.author() == me;
            match data {
                Data::Result { command, output, exit_code, refused } => {
                    memory.answered.push(Answered { command, output, exit: exit_code, refused });
                }
                Data::Accept { .. } if mine => memory.accepted = true,
                Data::Fix { fix, corrected_command, .. } if mine => {
                    memory.tried.push(Tried { fix, corrected_command, failure: None, seq: entry.seq() });
                }
                Data::Verify { success: false, explanation, output, exit_code, failure } => {
                    let exit = exit_code.map(|code| format!("exit code {code}\n")).unwrap_or_default();
                    let told = failure.map(|failure| format!("{failure}\n")).unwrap_or_default();
                    memory.failed(format!("{exit}{told}{explanation}\n{output}"));
                }
                Data::ReviewReject { reason, failure } => {
                    let told = failure.map(|failure| format!("{failure}\n")).unwrap_or_default();
                    memory.failed(format!("{told}{reason}"));
                }
                // After a halt that was taken back the fix is submitted again (Case::resume).
                Data::Resume { .. } => memory.withdrawn(),
                Data::Ask { message }
                | Data::Answer { message }
                | Data::Message { message }
                | Data::Chat { message } => {
                    if mine {
                        memory.said += 1;
                    } else if entry.author() == principal {
                        memory.heard.push((entry.seq(), message));
                    }
                }
                _ => {}
            }
        }
        memory
    }

    fn failed(&mut self, why: String) {
        if let Some(last) = self.tried.last_mut() {
            last.failure.get_or_insert(why);
        }
    }

    /// A fix under review that a halt interrupted does not count as an attempt any more.
    fn withdrawn(&mut self) {
        if self.tried.last().is_some_and(|last| last.failure.is_none()) {
            self.tried.pop();
        }
    }

    /// Whether this very repair was tried already.
    pub(super) fn has_tried(&self, fix: &str, corrected: Option<&str>) -> bool {
        self.tried.iter().any(|t| t.fix == fix && t.corrected_command.as_deref() == corrected)
    }

    /// For the rules.
    pub(super) fn findings(&self) -> Findings {
        let mut findings = Findings::default();
        for answered in self.answered.iter().filter(|a| !a.refused) {
            findings.add(answered.command.clone(), answered.output.clone());
        }
        findings
    }

    /// Investigations that the principal's client did not run.
    pub(super) fn was_refused(&self, command: &str) -> bool {
        self.answered.iter().any(|a| a.refused && a.command == command)
    }
}

/// The exit code that a shell gives with such an error. A contract does not say it.
fn exit_code(error: &str) -> i32 {
    let says = |line: &str| line.ends_with(": not found") || line.ends_with(": command not found");
    if error.lines().any(|line| says(line.trim_end())) { 127 } else { 1 }
}

/// The failure as the rules see it.
pub(super) fn failure(case: &Case) -> Failure {
    let contract = case.contract();
    let capabilities = rules::Capabilities {
        sudo: contract.capabilities.sudo,
        network: contract.capabilities.network.is_some(),
        docker: contract.capabilities.docker,
    };
    Failure {
        command: contract.task.command.clone(),
        error: contract.task.error.clone(),
        exit_code: exit_code(&contract.task.error),
        os: contract.environment.os.clone(),
        arch: contract.environment.arch.clone(),
        package_managers: contract.environment.package_managers.clone(),
        capabilities,
    }
}

/// The contract as a model sees it.
pub fn task(contract: &Contract) -> Task {
    let part = |name: &str| contract.json().get(name).map(|json| json.canonical()).unwrap_or_default();
    Task {
        command: contract.task.command.clone(),
        error: contract.task.error.clone(),
        environment: part("environment"),
        capabilities: part("capabilities"),
        verification: part("verification"),
        refuses_corrected: !contract.takes_corrected_commands(),
    }
}

/// Whether the contract is ours to work on now.
pub(super) fn is_ours(case: &Case, me: PartyId) -> bool {
    case.agent() == Some(me) && !case.state().is_terminal() && case.state() != State::Open
}
