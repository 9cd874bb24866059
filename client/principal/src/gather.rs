//! Gathers and scrubs what an offer sends.

use crate::payload::{Payload, names};
use crate::{Error, Refusal, Result, Session};
use std::path::{Path, PathBuf};
use zx1_home::files::{self, ReadError};
use zx1_market::Raw;
use zx1_market::contract::{Capabilities, Contract, ContractBuilder, InputFile, Scope};
use zx1_market::defaults::{MAX_ERROR, MAX_INPUT_BYTES};
use zx1_scrub::Category;
use zx1_trial::{asks_for_root, cut, environment};

impl Session<'_> {
    /// Gathers and scrubs what an offer with this bounty would send.
    ///
    /// # Errors
    /// [`Error::Read`], 9540, 9546: attached files; 9545: what is expected holds a secret.
    pub fn gather(&self, bounty: Option<Raw>) -> Result<Payload> {
        self.gather_with(bounty, &self.options.attach)
    }

    pub(crate) fn gather_with(&self, bounty: Option<Raw>, attach: &[PathBuf]) -> Result<Payload> {
        let failed = &self.failed;
        let scrubber = self.folder.scrubber();
        let command = scrubber.scrub(&failed.line);
        let whole = scrubber.scrub(&format!("$ {}\n{}", failed.line, failed.output));
        let mut redacted: Vec<Category> = whole.findings.iter().map(|finding| finding.category).collect();
        let error = self.folder.scrub_output(&failed.line, &failed.output);
        if let Some(pattern) = &self.options.expect {
            // An expression with marks in it would expect something else, so it is refused instead of scrubbed.
            let found = scrubber.scrub(pattern).findings;
            if !found.is_empty() {
                let found = names(found.iter().map(|one| one.category));
                return Err(Refusal::SecretExpected { found }.into());
            }
        }
        let mut inputs = Vec::new();
        for path in attach {
            let (input, found) = self.attach(path)?;
            inputs.push(input);
            redacted.extend(found);
        }
        let hosts = self.folder.hosts().to_vec();
        let capabilities = Capabilities {
            sudo: self.options.sudo || asks_for_root(&failed.line),
            network: (!hosts.is_empty()).then(|| vec![Scope::Packages]),
            docker: false,
        };
        Ok(Payload {
            command: command.text,
            error: cut(error, MAX_ERROR),
            environment: environment(),
            capabilities,
            hosts,
            corrected: self.corrected_commands(),
            expect: self.options.expect.clone(),
            inputs,
            redacted,
            bounty,
        })
    }

    fn attach(&self, path: &Path) -> Result<(InputFile, Vec<Category>)> {
        use std::os::unix::fs::PermissionsExt as _;
        let read_failed = |error: std::io::Error| Error::read(path)(error.into());
        let real = self.failed.folder.join(path).canonicalize().map_err(read_failed)?;
        let relative = real.strip_prefix(&self.failed.folder);
        let relative = relative.map_err(|_| Refusal::InputOutside { path: path.display().to_string() })?;
        let relative = relative.to_str().ok_or(Refusal::NotUtf8)?.to_owned();
        let bytes = files::read(&real, MAX_INPUT_BYTES as u64).map_err(Error::read(path))?;
        let missing = || Error::read(path)(ReadError::Io(std::io::ErrorKind::NotFound.into()));
        let scrubbed = self.folder.scrubber().scrub_bytes(&bytes.ok_or_else(missing)?);
        let mode = real.metadata().map_err(read_failed)?.permissions().mode();
        let found = scrubbed.findings.iter().map(|finding| finding.category).collect();
        Ok((InputFile { path: relative, content: scrubbed.bytes, executable: mode & 0o111 != 0 }, found))
    }

    /// The contract's builder with all of it.
    pub(crate) fn builder(&self, payload: &Payload) -> ContractBuilder {
        let mut builder = Contract::builder(&payload.command, &payload.error)
            .environment(payload.environment.clone())
            .corrected_commands(payload.corrected)
            .capabilities(payload.capabilities.clone());
        for input in &payload.inputs {
            builder = builder.input(input.clone());
        }
        if let Some(bounty) = payload.bounty {
            builder = builder.bounty(bounty);
        }
        for class in &self.options.granted {
            builder = builder.consent(*class);
        }
        if self.options.autonomous {
            builder = builder.autonomous();
        }
        if self.options.private {
            builder = builder.private();
        }
        if payload.expect.is_some() {
            for condition in self.conditions() {
                builder = builder.verification(condition);
            }
        }
        builder
    }
}
