//! What leaves this machine: the command, its output, where it runs, what is allowed, attached files. All of
//! it scrubbed, and shown before the first send (decision E10).

use super::{Session, apply};
use crate::context::Who;
use crate::errors::{Error, Result};
use std::path::Path;
use zx1_cli_common::files;
use zx1_market::Raw;
use zx1_market::contract::{
    Capabilities, Contract, ContractBuilder, Corrected, Environment, InputFile, Scope, Verification,
};
use zx1_market::defaults::{MAX_ERROR, MAX_INPUT_BYTES};
use zx1_scrub::Category;
use zx1_trial::{asks_for_root, cut, environment};

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
    /// Attached files, scrubbed.
    pub inputs: Vec<InputFile>,
    /// Categories of the secrets that were removed.
    pub redacted: Vec<Category>,
    /// What the agent gets; `None` is a free contract.
    pub bounty: Option<Raw>,
}

/// Gathers and scrubs.
///
/// # Errors
/// 9506, 9519, 9546: attached files; 9522: the bounty; 9545: what is expected holds a secret.
pub fn gather(session: &Session<'_>) -> Result<Payload> {
    let failed = &session.failed;
    let scrubber = session.folder.scrubber();
    let command = scrubber.scrub(&failed.line);
    let prompt = format!("$ {}\n", failed.line);
    let whole = scrubber.scrub(&format!("{prompt}{}", failed.output));
    let mut redacted: Vec<Category> = whole.findings.iter().map(|finding| finding.category).collect();
    let error = session.folder.scrub_output(&failed.line, &failed.output);
    if let Some(pattern) = &session.options.expect {
        // An expression with marks in it would expect something else, so it is refused instead of scrubbed.
        let found = scrubber.scrub(pattern).findings;
        if !found.is_empty() {
            return Err(Error::SecretExpected { found: names(found.iter().map(|one| one.category)) }.into());
        }
    }
    let mut inputs = Vec::new();
    for path in &session.options.attach {
        let (input, found) = attach(session, path)?;
        inputs.push(input);
        redacted.extend(found);
    }
    let hosts = session.folder.hosts();
    let capabilities = Capabilities {
        sudo: session.options.allow_sudo || asks_for_root(&failed.line),
        network: (!hosts.is_empty()).then(|| vec![Scope::Packages]),
        docker: false,
    };
    Ok(Payload {
        command: command.text,
        error: cut(error, MAX_ERROR),
        environment: environment(),
        capabilities,
        inputs,
        redacted,
        bounty: session.context.bounty(session.options.bounty.as_ref())?,
    })
}

fn attach(session: &Session<'_>, path: &Path) -> Result<(InputFile, Vec<Category>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let outside = || Error::InputOutside { path: files::shown(path) };
    let read_failed = |error: std::io::Error| files::read_failed(path, &error);
    let real = session.failed.folder.join(path).canonicalize().map_err(read_failed)?;
    let relative = real.strip_prefix(&session.failed.folder).map_err(|_| outside())?;
    let relative = relative.to_str().ok_or(Error::NotUtf8)?.to_owned();
    let bytes = files::read_needed(&real, MAX_INPUT_BYTES as u64)?;
    let mode = real.metadata().map_err(read_failed)?.permissions().mode();
    let scrubbed = session.folder.scrubber().scrub_bytes(&bytes);
    let found = scrubbed.findings.iter().map(|finding| finding.category).collect();
    Ok((InputFile { path: relative, content: scrubbed.bytes, executable: mode & 0o111 != 0 }, found))
}

impl Payload {
    /// The contract's builder with all of it.
    pub fn builder(&self, session: &Session<'_>) -> ContractBuilder {
        let mut builder = Contract::builder(&self.command, &self.error)
            .environment(self.environment.clone())
            .corrected_commands(apply::corrected_commands(session))
            .capabilities(self.capabilities.clone());
        for input in &self.inputs {
            builder = builder.input(input.clone());
        }
        if let Some(bounty) = self.bounty {
            builder = builder.bounty(bounty);
        }
        if session.options.autonomous {
            builder = builder.autonomous();
        }
        if session.options.private {
            builder = builder.private();
        }
        if let Some(pattern) = &session.options.expect {
            // Line by line, as people know it from grep: an output ends with a newline.
            let pattern = format!("(?m){pattern}");
            builder = builder
                .verification(Verification::ExitCode { expected: 0 })
                .verification(Verification::OutputMatch { pattern });
        }
        builder
    }

    /// The screen before the first send.
    pub fn show(&self, session: &Session<'_>, server: &str, money: &str) {
        let screen = session.screen;
        if screen.is_json() {
            return;
        }
        screen.heading("This is all that leaves your machine");
        screen.block(&format!("$ {}\n{}", self.command, self.error), 24);
        let e = &self.environment;
        let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join(" ") };
        let shell = if e.shell.is_empty() { "none" } else { &e.shell };
        let mut lines = vec![
            format!("system    {} {}, {}; shell: {}", e.os, e.arch, e.distro, shell),
            format!("packages  {}", list(&e.package_managers)),
            format!(
                "allowed   network: {}; sudo: {}; another command: {}",
                list(session.folder.hosts()),
                yes(self.capabilities.sudo),
                match apply::corrected_commands(session) {
                    Corrected::Yes => "yes",
                    Corrected::Asks => "you are asked",
                    Corrected::No => "no",
                }
            ),
        ];
        if !self.inputs.is_empty() {
            let named: Vec<String> = self
                .inputs
                .iter()
                .map(|input| format!("{} ({} bytes)", input.path, input.content.len()))
                .collect();
            lines.push(format!("files     {}", named.join(", ")));
        }
        if let Some(pattern) = &session.options.expect {
            lines.push(format!("expected  {pattern}"));
        }
        lines.push(format!("secrets   {}", self.redactions()));
        if let Ok(Some(agent)) = session.context.agent_id(Who::Principal) {
            lines.push(format!("agent id  {agent}"));
        }
        lines.push(format!("to        {server}"));
        lines.push(format!("money     {money}"));
        screen.raw("\n");
        screen.block(&lines.join("\n"), usize::MAX);
        screen.raw("\n");
    }

    /// "2 removed: password, token".
    fn redactions(&self) -> String {
        if self.redacted.is_empty() {
            return "none found".to_owned();
        }
        format!("{} removed: {}", self.redacted.len(), names(self.redacted.iter().copied()))
    }
}

/// The names of the categories, sorted and without duplicates: "password, token".
fn names(categories: impl Iterator<Item = Category>) -> String {
    let mut names: Vec<&str> = categories.map(|category| category.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

fn yes(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
