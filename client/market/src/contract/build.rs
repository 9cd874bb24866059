//! Building a contract that a server takes.

use std::collections::BTreeSet;

use super::{
    Capabilities, ChangeClass, Contract, ContractWindows, Corrected, Environment, Execution, InputFile, Mode,
    Scope, Verification,
};
use crate::canonical::Json;
use crate::defaults as d;
use crate::fields::Builder;
use crate::terms::Terms;
use crate::{Raw, Reason, Refusal, Result};

/// Builds a [`Contract`]. Everything but command and error has a default.
#[derive(Debug, Clone)]
pub struct ContractBuilder {
    command: String,
    error: String,
    kind: String,
    inputs: Vec<InputFile>,
    environment: Environment,
    capabilities: Capabilities,
    execution: Execution,
    bounty: Option<Raw>,
    private: bool,
    verification: Vec<Verification>,
    consents: BTreeSet<ChangeClass>,
}

impl ContractBuilder {
    pub(super) fn new(command: String, error: String) -> ContractBuilder {
        ContractBuilder {
            command,
            error,
            kind: String::new(),
            inputs: Vec::new(),
            environment: Environment::default(),
            capabilities: Capabilities::default(),
            execution: Execution {
                mode: Mode::Supervised,
                max_attempts: d::ATTEMPTS,
                investigation_rounds: d::INVESTIGATION_ROUNDS,
                investigation_rate: d::INVESTIGATION_RATE,
                timeout: d::TIMEOUT,
                review_window: d::REVIEW_WINDOW,
                sandbox: true,
                corrected_command: None,
                windows: None,
            },
            bounty: None,
            private: false,
            verification: Vec::new(),
            consents: BTreeSet::new(),
        }
    }

    /// A word for the kind of failure.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Attach a file for the re-execution.
    pub fn input(mut self, input: InputFile) -> Self {
        self.inputs.push(input);
        self
    }

    /// Sets the machine on which the command failed.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets what the agent may do.
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets mode, limits and windows of the work.
    pub fn execution(mut self, execution: Execution) -> Self {
        self.execution = execution;
        self
    }

    /// Let the agent work alone.
    pub fn autonomous(mut self) -> Self {
        self.execution.mode = Mode::Autonomous;
        self
    }

    /// Say whether a fix may correct the command itself.
    pub fn corrected_commands(mut self, corrected: Corrected) -> Self {
        self.execution.corrected_command = Some(corrected);
        self
    }

    /// What the agent gets. Without a bounty the contract is in free mode: no judge, no escrow.
    pub fn bounty(mut self, bounty: Raw) -> Self {
        self.bounty = Some(bounty);
        self
    }

    /// Keep the transcript among the parties (decision E14).
    pub fn private(mut self) -> Self {
        self.private = true;
        self
    }

    /// Add a verification. Without any, exit code 0 is expected.
    pub fn verification(mut self, verification: Verification) -> Self {
        self.verification.push(verification);
        self
    }

    /// Agree beforehand to changes of this kind.
    pub fn consent(mut self, class: ChangeClass) -> Self {
        self.consents.insert(class);
        self
    }

    /// Leave it to the principal alone whether a fix works, in place of all other verifications.
    pub fn judged_by_principal(mut self) -> Self {
        self.verification = vec![Verification::Principal];
        self
    }

    /// Build and check against the server's terms.
    pub fn build(self, terms: &Terms) -> Result<Contract> {
        if self.command.trim().is_empty() {
            return Err(Refusal::with(Reason::ContractMissing, "contract.task.command"));
        }
        let contract = Contract::read(&self.json(terms))?;
        contract.check(terms)?;
        Ok(contract)
    }

    fn json(self, terms: &Terms) -> Json {
        let inputs: Vec<Json> = self.inputs.iter().map(InputFile::to_json).collect();
        let task = Builder::new()
            .put("command", self.command)
            .put("error", self.error)
            .put("type", self.kind)
            .opt("inputs", (!inputs.is_empty()).then_some(inputs));
        let env = self.environment;
        let managers: Vec<Json> = env.package_managers.into_iter().map(Json::from).collect();
        let environment = Builder::new()
            .put("os", env.os)
            .put("arch", env.arch)
            .filled("distro", &env.distro)
            .filled("shell", &env.shell)
            .put("package_managers", managers);
        let available = |yes: bool| Builder::new().put("available", yes);
        let network = match &self.capabilities.network {
            None => available(false),
            Some(scopes) => {
                let word = |scope: &Scope| match scope {
                    Scope::Packages => "packages".into(),
                    Scope::All => "all".into(),
                };
                available(true).put("scope", scopes.iter().map(word).collect::<Vec<Json>>())
            }
        };
        let capabilities = Builder::new()
            .put("sudo", available(self.capabilities.sudo).build())
            .put("network", network.build())
            .put("docker", available(self.capabilities.docker).build());
        let e = self.execution;
        let execution = Builder::new()
            .put("mode", e.mode.as_str())
            .put("max_attempts", e.max_attempts)
            .put("investigation_rounds", e.investigation_rounds)
            .put("investigation_rate", e.investigation_rate)
            .put("timeout", e.timeout)
            .put("review_window", e.windows.map_or(e.review_window.into(), |windows| windows.review))
            .put("sandbox", e.sandbox)
            .put("corrected_command", e.corrected_command.unwrap_or(Corrected::No).as_str())
            .opt("windows", e.windows.map(ContractWindows::to_json));
        let escrow = Builder::new()
            .text("bounty", self.bounty.unwrap_or_default().xno())
            .put("currency", "XNO")
            .put("chain", "nano");
        let grace = e.windows.map_or(terms.windows.grace.as_secs(), |windows| windows.grace);
        let cancellation = Builder::new().put("grace_period", grace);
        let contract_terms = Builder::new()
            .put("cancellation", cancellation.build())
            .opt("private", self.private.then_some(true));
        let judge = match self.bounty {
            Some(_) => Builder::new().text("pubkey", terms.server).text("fee", terms.fees.judge_fee.xno()),
            None => Builder::new().put("pubkey", "").put("fee", "0"),
        };
        let mut verification: Vec<Json> = self.verification.iter().map(verification_json).collect();
        if verification.is_empty() {
            verification.push(verification_json(&Verification::ExitCode { expected: 0 }));
        }
        let consents: Vec<Json> = self.consents.iter().map(|class| class.as_str().into()).collect();
        Builder::new()
            .put("version", d::CONTRACT_VERSION)
            .put("protocol", "fix")
            .put("task", task.build())
            .put("environment", environment.build())
            .put("capabilities", capabilities.build())
            .put("execution", execution.build())
            .put("escrow", escrow.build())
            .put("terms", contract_terms.build())
            .put("judge", judge.build())
            .put("verification", verification)
            .put("consents", consents)
            .put("court", terms.court.to_json())
            .build()
    }
}

fn verification_json(verification: &Verification) -> Json {
    match verification {
        Verification::ExitCode { expected } => {
            Builder::new().put("method", "exit_code").put("expected", u32::from(*expected)).build()
        }
        Verification::OutputMatch { pattern } => {
            Builder::new().put("method", "output_match").put("pattern", pattern.as_str()).build()
        }
        Verification::Principal => Builder::new().put("method", "principal_verification").build(),
    }
}
