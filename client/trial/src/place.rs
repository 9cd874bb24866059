//! What is tried, and where.

use zx1_market::contract::Verification;
use zx1_sandbox::{Sandbox, SandboxError};

use crate::Ran;

/// Where sandboxes come from, and how a line is run in one.
pub(crate) trait Place {
    /// A sandbox in which nothing has run yet.
    fn fresh(&self) -> Result<Sandbox, SandboxError>;
    /// Runs a line.
    fn run(&self, sandbox: &mut Sandbox, line: &str) -> Result<Ran, SandboxError>;
}

/// What is tried.
pub(crate) struct What<'a> {
    pub(crate) fix: &'a str,
    /// The command that failed.
    pub(crate) command: &'a str,
    /// What the fix's author wants run in its place.
    pub(crate) corrected: Option<&'a str>,
    /// Whether that author is a stranger, whose command may replace nothing that it could not see.
    pub(crate) from_outside: bool,
    pub(crate) conditions: &'a [Verification],
    /// Consecutive passes that a fix usually needs.
    pub(crate) usual: u32,
}
