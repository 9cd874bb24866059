//! Options that all commands share.

use clap::Args;
use std::path::PathBuf;
use zx1_market::contract::ChangeClass;

const SETTINGS: &str = "Settings";

/// Options of all commands. `-h` of commands leaves them out, `--help` shows them.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// Answer yes to questions, except about changes outside the working folder
    #[arg(short, long, global = true, help_heading = SETTINGS, hide_short_help = true)]
    pub yes: bool,
    /// Write results as JSON to standard output, and progress as one object per line
    #[arg(long, global = true, help_heading = SETTINGS, hide_short_help = true)]
    pub json: bool,
    /// URL of the market [env: FIX_SERVER] [default: http://127.0.0.1:8000]
    #[arg(long, global = true, value_name = "URL", help_heading = SETTINGS, hide_short_help = true)]
    pub server: Option<String>,
    /// Key file [env: FIX_KEY] [default: ~/.fix/key.ed25519, agent.key for fix agent]
    #[arg(long, global = true, value_name = "FILE", help_heading = SETTINGS, hide_short_help = true)]
    pub key: Option<PathBuf>,
    /// Your agent id in 0x01: the mint of your NFT [env: FIX_AGENT_ID, except for fix agent]
    #[arg(long, global = true, value_name = "MINT", help_heading = SETTINGS, hide_short_help = true)]
    pub agent_id: Option<String>,
    /// Key file that signs the agent id's deals [env: FIX_DEAL_KEY] [default: --key]
    #[arg(long, global = true, value_name = "FILE", help_heading = SETTINGS, hide_short_help = true)]
    pub deal_key: Option<PathBuf>,
    /// Solana cluster of the agent id [env: FIX_CLUSTER] [default: zx1's]
    #[arg(long, global = true, value_name = "URL", help_heading = SETTINGS, hide_short_help = true)]
    pub cluster: Option<String>,
}

/// How the wallet reaches the ledger.
#[derive(Clone, Debug, Default, Args)]
pub struct Ledger {
    /// RPC URL of a Nano node [env: FIX_NANO_NODE]
    #[arg(long, value_name = "URL", global = true)]
    pub node: Option<String>,
    /// Nano network: live, beta, dev or test [env: FIX_NANO_NETWORK]
    #[arg(long, value_name = "NETWORK", global = true)]
    pub network: Option<String>,
    /// Representative of the wallet's accounts; required for the first block, except on dev
    #[arg(long, value_name = "ADDRESS", global = true)]
    pub representative: Option<String>,
}

const FIXING: &str = "Fixing";

fn kind(word: &str) -> Result<ChangeClass, String> {
    let known = || ChangeClass::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>().join(", ");
    ChangeClass::from_word(word).ok_or_else(|| format!("expected one of {}", known()))
}

/// Options for fixing a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Fixing {
    /// Use the built-in rules only; nothing leaves this machine
    #[arg(long, help_heading = FIXING)]
    pub local: bool,
    /// Use this language model of yours only, for example openai:MODEL@URL [env: FIX_MODEL]
    #[arg(long, value_name = "MODEL", help_heading = FIXING, conflicts_with = "local")]
    pub model: Option<String>,
    /// Use the market only, without the rules and your model
    #[arg(long, help_heading = FIXING, conflicts_with_all = ["local", "model"])]
    pub market: bool,
    /// Show what would change or be sent, without doing it
    #[arg(long, help_heading = FIXING)]
    pub dry_run: bool,
    /// Show everything: what the agent reads and receives, why the fix should work, what was checked
    #[arg(long, help_heading = FIXING)]
    pub explain: bool,
    /// Bounty at the market for a fix that works; without one the contract is free [env: FIX_BOUNTY]
    #[arg(long, value_name = "XNO", help_heading = FIXING, conflicts_with = "local")]
    pub bounty: Option<String>,
    /// Let the agent work alone; its fix waits for your review
    #[arg(long, help_heading = FIXING, conflicts_with = "local")]
    pub autonomous: bool,
    /// Share the transcript only with the agent and the judge
    #[arg(long, help_heading = FIXING, conflicts_with = "local")]
    pub private: bool,
    /// Attach a file, so that a judge can run the command again; may be repeated
    #[arg(long, value_name = "FILE", help_heading = FIXING, conflicts_with = "local")]
    pub attach: Vec<PathBuf>,
    /// Allow the fix to reach this host, for packages; may be repeated
    #[arg(long, value_name = "HOST", help_heading = FIXING)]
    pub allow_host: Vec<String>,
    /// Allow the fix to use sudo; implied by a command with sudo in it, not by being root
    #[arg(long, help_heading = FIXING, conflicts_with = "local")]
    pub allow_sudo: bool,
    /// Show the fix this path, too, and do not mask it: a test key, a folder of your home; may be repeated
    #[arg(long, value_name = "PATH", help_heading = FIXING)]
    pub see: Vec<PathBuf>,
    /// Pass this environment variable on to the fix; may be repeated
    #[arg(long, value_name = "NAME", help_heading = FIXING)]
    pub env: Vec<std::ffi::OsString>,
    /// Agree beforehand to a kind of changes: binary, ci, dotfile, executable, link, outside, own_command, system, tests
    #[arg(long, value_name = "KIND", help_heading = FIXING, value_parser = kind)]
    pub allow: Vec<ChangeClass>,
    /// Accept a corrected command that passed in the sandbox, without asking; --yes alone does not
    #[arg(long, help_heading = FIXING)]
    pub accept_corrected: bool,
    /// Accept a fix only if a line of the command's output then matches this regular expression
    #[arg(long, value_name = "REGEX", help_heading = FIXING)]
    pub expect: Option<String>,
}

impl Fixing {
    /// These options, with those given before the command of fix as defaults.
    #[must_use]
    pub fn over(mut self, before: Self) -> Self {
        // What is chosen last counts.
        if !(self.local || self.market || self.model.is_some()) {
            (self.local, self.market, self.model) = (before.local, before.market, before.model);
        }
        self.dry_run |= before.dry_run;
        self.explain |= before.explain;
        self.autonomous |= before.autonomous;
        self.private |= before.private;
        self.allow_sudo |= before.allow_sudo;
        self.accept_corrected |= before.accept_corrected;
        self.bounty = self.bounty.or(before.bounty);
        self.expect = self.expect.or(before.expect);
        self.attach.extend(before.attach);
        self.see.extend(before.see);
        self.env.extend(before.env);
        self.allow.extend(before.allow);
        self.allow_host.extend(before.allow_host);
        self
    }

    /// Name of the first option that was given, for commands that take none of them.
    pub fn given(&self) -> Option<&'static str> {
        [
            (self.local, "--local"),
            (self.model.is_some(), "--model"),
            (self.market, "--market"),
            (self.dry_run, "--dry-run"),
            (self.explain, "--explain"),
            (self.bounty.is_some(), "--bounty"),
            (self.autonomous, "--autonomous"),
            (self.private, "--private"),
            (self.accept_corrected, "--accept-corrected"),
            (!self.attach.is_empty(), "--attach"),
            (!self.allow_host.is_empty(), "--allow-host"),
            (self.allow_sudo, "--allow-sudo"),
            (!self.see.is_empty(), "--see"),
            (!self.env.is_empty(), "--env"),
            (!self.allow.is_empty(), "--allow"),
            (self.expect.is_some(), "--expect"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }
}
