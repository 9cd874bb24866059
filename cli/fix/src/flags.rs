//! The options that several commands share.

use clap::Args;
use std::path::PathBuf;

const SETTINGS: &str = "Settings";

/// Options of all commands. `-h` of commands leaves them out, `--help` shows them.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// Agree to what is asked; never to changes outside of the working folder
    #[arg(short, long, global = true, help_heading = SETTINGS, hide_short_help = true)]
    pub yes: bool,
    /// Write results as JSON to standard output, one object a line while something is under way
    #[arg(long, global = true, help_heading = SETTINGS, hide_short_help = true)]
    pub json: bool,
    /// The market's address [env: FIX_SERVER] [default: http://127.0.0.1:8000]
    #[arg(long, global = true, value_name = "URL", help_heading = SETTINGS, hide_short_help = true)]
    pub server: Option<String>,
    /// Your key [env: FIX_KEY] [default: ~/.fix/key.ed25519, agent.key for fix agent]
    #[arg(long, global = true, value_name = "FILE", help_heading = SETTINGS, hide_short_help = true)]
    pub key: Option<PathBuf>,
    /// Your agent id in 0x01, the mint of your NFT [env: FIX_AGENT_ID, but not of fix agent]
    #[arg(long, global = true, value_name = "MINT", help_heading = SETTINGS, hide_short_help = true)]
    pub agent_id: Option<String>,
    /// The Solana cluster of the agent id [env: FIX_CLUSTER] [default: zx1's]
    #[arg(long, global = true, value_name = "URL", help_heading = SETTINGS, hide_short_help = true)]
    pub cluster: Option<String>,
}

const FIXING: &str = "Fixing";

/// How a command is to be fixed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Fixing {
    /// Use the built-in rules only: no market, nothing leaves this machine
    #[arg(long, help_heading = FIXING)]
    pub local: bool,
    /// Show what would be sent, or with --local what would change, and do neither
    #[arg(long, help_heading = FIXING)]
    pub dry_run: bool,
    /// Show all: what the agent reads and gets, why the fix should work, what was checked
    #[arg(long, help_heading = FIXING)]
    pub explain: bool,
    /// Pay this for a fix that works; without it the contract is free [env: FIX_BOUNTY]
    #[arg(long, value_name = "XNO", help_heading = FIXING, conflicts_with = "local")]
    pub bounty: Option<String>,
    /// Let the agent work alone; its fix waits for your review
    #[arg(long, help_heading = FIXING, conflicts_with = "local")]
    pub autonomous: bool,
    /// Keep the transcript among you, the agent and the judge
    #[arg(long, help_heading = FIXING, conflicts_with = "local")]
    pub private: bool,
    /// Send this file too, so that a judge can run the command again; may be repeated
    #[arg(long, value_name = "FILE", help_heading = FIXING, conflicts_with = "local")]
    pub attach: Vec<PathBuf>,
    /// Let the fix reach this host (packages); may be repeated
    #[arg(long, value_name = "HOST", help_heading = FIXING)]
    pub allow_host: Vec<String>,
    /// Let the fix use sudo; being root grants it nothing, a command with sudo in it does
    #[arg(long, help_heading = FIXING, conflicts_with = "local")]
    pub allow_sudo: bool,
    /// Let the fix put a corrected command in place of yours without asking; --yes alone does not
    #[arg(long, help_heading = FIXING)]
    pub accept_corrected: bool,
    /// Accept a fix only if a line of the command's output then matches this regular expression
    #[arg(long, value_name = "REGEX", help_heading = FIXING, conflicts_with = "local")]
    pub expect: Option<String>,
}

impl Fixing {
    /// The options of a command of fix, over those that stand before it.
    #[must_use]
    pub fn over(mut self, before: Self) -> Self {
        self.local |= before.local;
        self.dry_run |= before.dry_run;
        self.explain |= before.explain;
        self.autonomous |= before.autonomous;
        self.private |= before.private;
        self.allow_sudo |= before.allow_sudo;
        self.accept_corrected |= before.accept_corrected;
        self.bounty = self.bounty.or(before.bounty);
        self.expect = self.expect.or(before.expect);
        self.attach.extend(before.attach);
        self.allow_host.extend(before.allow_host);
        self
    }

    /// The first option that was given, for a command that takes none of them.
    pub fn given(&self) -> Option<&'static str> {
        [
            (self.local, "--local"),
            (self.dry_run, "--dry-run"),
            (self.explain, "--explain"),
            (self.bounty.is_some(), "--bounty"),
            (self.autonomous, "--autonomous"),
            (self.private, "--private"),
            (self.accept_corrected, "--accept-corrected"),
            (!self.attach.is_empty(), "--attach"),
            (!self.allow_host.is_empty(), "--allow-host"),
            (self.allow_sudo, "--allow-sudo"),
            (self.expect.is_some(), "--expect"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }
}
