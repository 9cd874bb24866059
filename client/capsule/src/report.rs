//! Commits of our own: the first one of an agent, and the watcher's lines below the reports of COMMS.md.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::defaults::COMMS_MAX;
use crate::directives::{CLOSE, OPEN};
use crate::error::{CapsuleError, Result};
use crate::objects::Objects;
use crate::repository::Repository;

/// Makes a commit that appends a line to COMMS.md of another commit; no ref leads to it yet. `None` where the file is
/// full.
pub(crate) fn report(
    repository: &Repository,
    parent: &str,
    text: &str,
    unix_s: u64,
) -> Result<Option<String>> {
    let mut comms = Objects::new(repository, None).comms(parent)?.unwrap_or_default();
    if !comms.is_empty() && !comms.ends_with(b"\n") {
        comms.push(b'\n');
    }
    comms.extend(format!("- watcher: {}\n", line(text)).into_bytes());
    if u64::try_from(comms.len()).unwrap_or(u64::MAX) > COMMS_MAX {
        return Ok(None);
    }
    let message = format!("watcher: {}", line(text));
    commit(repository, Some(parent), &[("COMMS.md", &comms)], &message, unix_s).map(Some)
}

/// Makes a commit with these files over those of its parent; no ref leads to it yet.
pub(crate) fn commit(
    repository: &Repository,
    parent: Option<&str>,
    files: &[(&str, &[u8])],
    message: &str,
    unix_s: u64,
) -> Result<String> {
    let folder = tempfile::tempdir().map_err(CapsuleError::repository("making a commit"))?;
    let index = folder.path().join("index");
    let git = |arguments: &[&str]| {
        let mut command = repository.git();
        command.args(arguments).env("GIT_INDEX_FILE", &index);
        for name in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{name}_NAME"), "zx1 capsule")
                .env(format!("GIT_{name}_EMAIL"), "capsule@localhost");
            command.env(format!("GIT_{name}_DATE"), format!("{unix_s} +0000"));
        }
        command
    };
    if let Some(parent) = parent {
        said(repository, git(&["read-tree", parent]))?;
    }
    for (path, bytes) in files {
        let blob = fed(git(&["hash-object", "-w", "--stdin"]), bytes)?;
        said(repository, git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]))?;
    }
    let tree = said(repository, git(&["write-tree"]))?;
    let mut arguments = vec!["commit-tree", &tree, "-m", message];
    if let Some(parent) = parent {
        arguments.extend(["-p", parent]);
    }
    said(repository, git(&arguments))
}

/// One line without anything that the file's markers are made of.
fn line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect();
    [OPEN, CLOSE]
        .iter()
        .fold(clean, |clean, marker| clean.replace(&*String::from_utf8_lossy(marker), "(marker)"))
}

fn said(repository: &Repository, command: Command) -> Result<String> {
    let none = || CapsuleError::Git { what: "plumbing", detail: "it said no".to_owned() };
    repository.ask("plumbing", command)?.ok_or_else(none)
}

fn fed(mut command: Command, input: &[u8]) -> Result<String> {
    let failed = |error: std::io::Error| CapsuleError::Git { what: "hash-object", detail: error.to_string() };
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(CapsuleError::Git { what: "hash-object", detail: output.status.to_string() })
    }
}
