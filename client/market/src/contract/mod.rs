//! The contract: what is to be fixed, where, with which permissions, for how much (fix.md, "Contract").

mod build;
mod check;
mod inputs;
mod read;
mod spam;
mod trial;
mod verify;
mod windows;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::build::ContractBuilder;
pub use self::inputs::InputFile;
pub use self::spam::spam_reason;
pub use self::trial::{
    ChangeClass, Changed, Control, Ending, FailedStep, Failure, FailureClass, Runs, SignedTrial, TrialResult,
    Verdict,
};
pub use self::verify::{Limit, Run, Step, Unmet, unmet};
pub use self::windows::ContractWindows;
use crate::canonical::Json;
use crate::terms::{CourtLimits, Terms};
use crate::{Millis, PartyId, Raw, Result};

/// A contract whose shape was checked. [`Contract::check`] also checks its bounds against a server's terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// The command that failed, its output and its inputs.
    pub task: Task,
    /// Operating system, shell and package managers of the principal's machine.
    pub environment: Environment,
    /// What the agent may do.
    pub capabilities: Capabilities,
    /// Mode, limits and windows of the work.
    pub execution: Execution,
    /// What the agent gets, before the platform's fee. Zero in free mode.
    pub bounty: Raw,
    /// Who rules on disputes. Nobody: free mode (decision E3).
    pub judge: Option<Judge>,
    /// The grace period in seconds, if the contract names one.
    pub grace_period: Option<u64>,
    /// Whether the transcript stays among the parties after the end (decision E14): `terms.private`.
    pub private: bool,
    /// All of these must hold (decision E15).
    pub verification: Vec<Verification>,
    /// Kinds of changes that the principal agrees to beforehand (decision E18).
    pub consents: BTreeSet<ChangeClass>,
    /// What a trial may use, if the contract names it: the terms' limits.
    pub court: Option<CourtLimits>,
    json: Json,
}

/// The failure to be fixed, as the principal describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The command, as typed.
    pub command: String,
    /// The command's output, scrubbed.
    pub error: String,
    /// A word for the kind of failure, such as `compile_error`; may be empty.
    pub kind: String,
    /// Files for the re-execution, scrubbed: at most 256 KiB in all (decision E2).
    pub inputs: Vec<InputFile>,
}

/// The machine on which the command failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Operating system, such as `Linux`.
    pub os: String,
    /// Processor architecture, such as `aarch64`.
    pub arch: String,
    /// Distribution, such as `debian 12`; may be empty.
    pub distro: String,
    /// Shell, such as `bash`; may be empty.
    pub shell: String,
    /// Package managers, such as `apt`.
    pub package_managers: Vec<String>,
}

/// What the agent may do. Absent means not available.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Root rights beyond those of the command that failed (`sudo` and the like). A fix runs with that
    /// command's rights anyway, in a sandbox whose root is root of nothing else: a principal who is root
    /// grants nothing by it, and a court runs such a contract again as any other.
    pub sudo: bool,
    /// Reach the network, as far as the scopes say (decision E11).
    pub network: Option<Vec<Scope>>,
    /// Whether the agent may use docker.
    pub docker: bool,
}

/// How far the network reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `packages`: the configured mirrors.
    Packages,
    /// `all`: the public internet.
    All,
}

/// How an agent works on the contract: mode, limits and windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Whether the principal verifies a fix at once or reviews it later.
    pub mode: Mode,
    /// Maximum number of fixes that may be tried.
    pub max_attempts: u32,
    /// How many commands the agent may ask for, over all agents (decision E3).
    pub investigation_rounds: u32,
    /// The least seconds between two of them.
    pub investigation_rate: u32,
    /// Seconds for an attempt, from the acceptance or from the last failure to the fix.
    pub timeout: u32,
    /// Seconds that a fix waits for the principal in autonomous mode.
    pub review_window: u32,
    /// Whether the fix runs in a sandbox.
    pub sandbox: bool,
    /// Whether a fix may put a corrected command in place of the one that failed. Nothing: the contract does
    /// not say, which means no.
    pub corrected_command: Option<Corrected>,
    /// The contract's own windows; the server's without them.
    pub windows: Option<ContractWindows>,
}

/// What a principal does with a fix that corrects the command itself (`execution.corrected_command`). Said in
/// the contract, so that an agent whose only repair is another command knows it before it bonds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Corrected {
    /// None is taken: nobody is there to agree to one. Such a fix is refused (9087).
    No,
    /// The principal is asked, and may refuse.
    Asks,
    /// A corrected command is accepted when it works.
    Yes,
}

impl Corrected {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Corrected::No => "no",
            Corrected::Asks => "asks",
            Corrected::Yes => "yes",
        }
    }

    /// From the word on the wire.
    pub fn from_word(word: &str) -> Option<Corrected> {
        [Corrected::No, Corrected::Asks, Corrected::Yes].into_iter().find(|one| one.as_str() == word)
    }
}

/// Whether the principal verifies a fix at once or reviews it later (fix.md, "Execution modes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Mode {
    /// The principal verifies at once.
    Supervised,
    /// The fix waits for review; silence accepts it.
    Autonomous,
}

impl Mode {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Supervised => "supervised",
            Mode::Autonomous => "autonomous",
        }
    }
}

/// The judge that a contract names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// The server's key (decision E2).
    pub pubkey: PartyId,
    /// The judge fee that each side deposits beside the bounty.
    pub fee: Raw,
}

/// One condition under which a fix counts as working (fix.md, "Verification").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// The command, run again, ends with this status.
    ExitCode {
        /// The expected exit code, 0 to 255.
        expected: u8,
    },
    /// What the command prints holds this pattern: a regular expression without back references, matched in
    /// linear time ([`Verification::regex`]).
    OutputMatch {
        /// The regular expression, in the syntax of the `regex` crate.
        pattern: String,
    },
    /// The principal confirms that the fix works.
    Principal,
}

impl Contract {
    /// Read a contract: nothing missing, every text within its bound. Fields of later or older versions are kept as
    /// they are, up to a bound; one that asks for something that nobody here can give is refused.
    pub fn read(json: &Json) -> Result<Contract> {
        read::contract(json)
    }

    /// Check it against a server's terms: bounty, judge, fees, limits, inputs, spam. The first violation is
    /// returned.
    pub fn check(&self, terms: &Terms) -> Result<()> {
        check::contract(self, terms)
    }

    /// Start a contract for a command that failed.
    pub fn builder(command: impl Into<String>, error: impl Into<String>) -> ContractBuilder {
        ContractBuilder::new(command.into(), error.into())
    }

    /// The contract as it was posted.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Whether there is no judge, no escrow and no dispute.
    pub fn is_free(&self) -> bool {
        self.judge.is_none()
    }

    /// Whether a fix waits for review instead of being verified at once.
    pub fn is_autonomous(&self) -> bool {
        self.execution.mode == Mode::Autonomous
    }

    /// Whether a fix may carry a corrected command. A contract that says nothing takes none: older principals cannot.
    pub fn takes_corrected_commands(&self) -> bool {
        matches!(self.execution.corrected_command, Some(Corrected::Asks | Corrected::Yes))
    }

    /// The time for an attempt.
    pub fn timeout(&self) -> Millis {
        Millis::secs(self.execution.timeout.into())
    }

    /// The review window.
    pub fn review_window(&self) -> Millis {
        Millis::secs(self.execution.review_window.into())
    }

    /// Whether everything that is to be verified can be run again by a machine.
    pub fn is_machine_verifiable(&self) -> bool {
        !self.verification.contains(&Verification::Principal)
    }
}

impl Verification {
    /// The compiled pattern of `output_match`: linear-time, bounded memory. `None` for the other methods.
    pub fn regex(&self) -> Option<Result<regex::Regex>> {
        if let Verification::OutputMatch { pattern } = self { Some(check::pattern(pattern)) } else { None }
    }
}

// A snapshot keeps the contract as it was posted: the typed form follows from it.
impl Serialize for Contract {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        self.json.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Contract {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Contract, D::Error> {
        Contract::read(&Json::deserialize(d)?).map_err(de::Error::custom)
    }
}
