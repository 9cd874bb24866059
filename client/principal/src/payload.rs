//! What leaves this machine: the command, its output, where it runs, what is allowed, attached files. All of it is
//! scrubbed, and shown before it is sent (decision E10).

use zx1_market::Raw;
use zx1_market::contract::{Capabilities, Corrected, Environment, InputFile};
use zx1_scrub::Category;

/// All that would be sent, and what the scrubber took out of it.
#[derive(Debug)]
pub struct Payload {
    /// The command, scrubbed.
    pub command: String,
    /// The command's output, scrubbed.
    pub error: String,
    /// The machine on which the command ran.
    pub environment: Environment,
    /// What the agent may do.
    pub capabilities: Capabilities,
    /// Hosts that a fix may reach.
    pub hosts: Vec<String>,
    /// Whether a corrected command is taken in place of the user's.
    pub corrected: Corrected,
    /// What a line of the command's output must match.
    pub expect: Option<String>,
    /// Attached files, scrubbed.
    pub inputs: Vec<InputFile>,
    /// Categories of the secrets that were removed.
    pub redacted: Vec<Category>,
    /// What the agent gets; `None` is a free contract.
    pub bounty: Option<Raw>,
}

impl Payload {
    /// Names of the categories of removed secrets, sorted and without duplicates: "password, token".
    pub fn redactions(&self) -> String {
        names(self.redacted.iter().copied())
    }
}

/// Names of categories, sorted and without duplicates.
pub(crate) fn names(categories: impl Iterator<Item = Category>) -> String {
    let mut names: Vec<&str> = categories.map(|category| category.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
