//! Names of refs by the rules of git-check-ref-format, the capsule's branches, and the folders that they are cloned to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::defaults::{BRANCH_MAX, WORK};
use crate::error::{CapsuleError, Result};

/// Checks a name by the rules that `git check-ref-format` documents; `one_level` allows names without a slash.
///
/// # Errors
/// [`CapsuleError::RefName`] with the rule that it breaks.
pub fn check(name: &[u8], one_level: bool) -> Result<()> {
    let bad = |why| Err(CapsuleError::RefName { why });
    if name.is_empty() {
        return bad("it is empty");
    }
    if name == b"@" {
        return bad("it is a single @");
    }
    for &byte in name {
        if byte < 0x20 || byte == 0x7f {
            return bad("it has a control character");
        }
        if b" ~^:?*[\\".contains(&byte) {
            return bad("it has a space or one of ~ ^ : ? * [ \\");
        }
    }
    if contains(name, b"..") {
        return bad("it has two dots in a row");
    }
    if contains(name, b"@{") {
        return bad("it has @{");
    }
    if name.ends_with(b".") {
        return bad("it ends with a dot");
    }
    let mut parts = 0usize;
    for part in name.split(|&byte| byte == b'/') {
        parts = parts.saturating_add(1);
        if part.is_empty() {
            return bad("a part between slashes is empty");
        }
        if part.starts_with(b".") {
            return bad("a part begins with a dot");
        }
        if part.ends_with(b".lock") {
            return bad("a part ends with .lock");
        }
    }
    if parts < 2 && !one_level {
        return bad("it has no slash");
    }
    Ok(())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A branch of the capsule: `main` or `bot/…`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Branch(String);

impl Branch {
    /// The branch that the watcher falls back to.
    #[must_use]
    pub fn main() -> Branch {
        Branch("main".to_owned())
    }

    /// Parses `main` or `bot/…`. Of what git allows only letters, digits and `. _ + - /`: the name is also a path and
    /// is typed into shells. No part is `minifram`, which is the clone within a branch's folder, and `bot/main` would
    /// have main's folder.
    ///
    /// # Errors
    /// 7900 and 7901.
    pub fn parse(name: &str) -> Result<Branch> {
        check(name.as_bytes(), true)?;
        if name == "main" {
            return Ok(Branch::main());
        }
        let bad = |why| Err(CapsuleError::Branch { why });
        let Some(own) = name.strip_prefix("bot/") else { return bad("in other folders there is nothing") };
        if name.len() > BRANCH_MAX {
            return bad("of at most 100 bytes");
        }
        if !own.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-/".contains(&byte)) {
            return bad("of letters, digits and . _ + - /");
        }
        if own == "main" || own.starts_with("main/") {
            return bad("but bot/main would have the folder of main");
        }
        for part in own.split('/') {
            if part == WORK {
                return bad("but no part may be minifram");
            }
            if part.starts_with('-') {
                return bad("but no part may begin with a dash");
            }
        }
        Ok(Branch(name.to_owned()))
    }

    /// The branch behind `refs/heads/…`.
    ///
    /// # Errors
    /// As [`Branch::parse`]; 7901 for another ref.
    pub fn of_ref(name: &str) -> Result<Branch> {
        match name.strip_prefix("refs/heads/") {
            Some(short) => Branch::parse(short),
            None => Err(CapsuleError::Branch { why: "below refs/heads" }),
        }
    }

    /// Whether it is main.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }

    /// The short name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The whole name.
    #[must_use]
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    /// Where it is cloned to: `/bot/main/minifram`, `/bot/x/minifram` for `bot/x`.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("/bot/{}/{WORK}", self.0.strip_prefix("bot/").unwrap_or(&self.0))
    }

    /// The branch that is cloned to a folder.
    ///
    /// # Errors
    /// 7902 where there is none.
    pub fn of_folder(folder: &str) -> Result<Branch> {
        let none = || CapsuleError::Folder { folder: folder.to_owned() };
        let inner =
            folder.strip_prefix("/bot/").and_then(|rest| rest.strip_suffix("/minifram")).ok_or_else(none)?;
        let branch = if inner == "main" { "main".to_owned() } else { format!("bot/{inner}") };
        Branch::parse(&branch).map_err(|_| none())
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Branch {
    type Error = CapsuleError;

    fn try_from(name: String) -> Result<Branch> {
        Branch::parse(&name)
    }
}

impl From<Branch> for String {
    fn from(branch: Branch) -> String {
        branch.0
    }
}

/// What a rollback names: a commit of 40 hexadecimal digits, or a ref.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Revision(String);

impl Revision {
    /// Parses it. Names follow [`check`] and do not begin with a dash; nothing that git would compute (`main~3`).
    ///
    /// # Errors
    /// 7900.
    pub fn parse(text: &str) -> Result<Revision> {
        check(text.as_bytes(), true)?;
        if text.starts_with('-') {
            return Err(CapsuleError::RefName { why: "it begins with a dash" });
        }
        Ok(Revision(text.to_owned()))
    }

    /// The text as it was parsed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Revision {
    type Error = CapsuleError;

    fn try_from(text: String) -> Result<Revision> {
        Revision::parse(&text)
    }
}

impl From<Revision> for String {
    fn from(revision: Revision) -> String {
        revision.0
    }
}
