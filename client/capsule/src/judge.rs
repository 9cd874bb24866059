//! Judges a push before git takes it: the policy of refs, and the directives of every commit that comes with it.

use std::path::Path;

use crate::defaults::COMMITS_MAX;
use crate::directives;
use crate::error::{CapsuleError, Result};
use crate::objects::Objects;
use crate::policy::{self, Change, Identity, Kind};
use crate::repository::Repository;

/// The id that stands for nothing.
pub(crate) const ZERO: &str = "0000000000000000000000000000000000000000";

/// One move of a ref, as git's hooks say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) name: String,
}

impl Update {
    /// Reads lines of `old new name`.
    pub(crate) fn parse_all(text: &str) -> Result<Vec<Update>> {
        let parse = |line: &str| {
            let (old, rest) = line.split_once(' ')?;
            let (new, name) = rest.split_once(' ')?;
            let is_id = |id: &str| id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            let fits = is_id(old) && is_id(new) && !name.is_empty();
            fits.then(|| Update { old: old.to_owned(), new: new.to_owned(), name: name.to_owned() })
        };
        text.lines().map(|line| parse(line).ok_or(CapsuleError::Hook)).collect()
    }
}

/// Who pushes what to where.
pub(crate) struct Push<'a> {
    pub(crate) who: Identity,
    pub(crate) kind: Kind,
    pub(crate) current: u64,
    pub(crate) repository: &'a Repository,
    /// Where the pushed objects lie; nothing when none came.
    pub(crate) quarantine: Option<&'a Path>,
}

impl Push<'_> {
    /// # Errors
    /// The first refusal; then nothing of the push is taken.
    pub(crate) fn judge(&self, updates: &[Update]) -> Result<()> {
        let mut objects = Objects::new(self.repository, self.quarantine);
        for update in updates {
            let change = change(&objects, update)?;
            policy::decide(self.who, self.kind, self.current, &update.name, change)?;
        }
        let is_agent = matches!(self.who, Identity::Agent { .. });
        if is_agent && self.kind == Kind::Own {
            for update in updates.iter().filter(|update| update.new != ZERO) {
                self.directives(&mut objects, &update.new)?;
            }
        }
        Ok(())
    }

    /// A commit with one parent keeps its parent's directives; a merge and the tip have those of the place where they
    /// left main.
    fn directives(&self, objects: &mut Objects<'_>, tip: &str) -> Result<()> {
        let Some(main) = self.repository.resolve("refs/heads/main")? else {
            return Err(CapsuleError::NotYours { name: "refs/heads/main".to_owned() });
        };
        let commits = objects.new_commits(tip, COMMITS_MAX)?;
        if commits.len() > COMMITS_MAX {
            return Err(CapsuleError::TooManyCommits { most: COMMITS_MAX });
        }
        for (commit, parents) in &commits {
            let base = match &parents[..] {
                [] => main.clone(),
                [parent] => parent.clone(),
                _ => objects.merge_base(&main, commit)?.unwrap_or_else(|| main.clone()),
            };
            same(objects, &base, commit)?;
        }
        let base = objects.merge_base(&main, tip)?.unwrap_or(main);
        same(objects, &base, tip)
    }
}

fn same(objects: &mut Objects<'_>, before: &str, after: &str) -> Result<()> {
    let (old, new) = (objects.comms(before)?, objects.comms(after)?);
    if directives::same(old.as_deref(), new.as_deref()) {
        Ok(())
    } else {
        Err(CapsuleError::Directives { commit: after.to_owned() })
    }
}

fn change(objects: &Objects<'_>, update: &Update) -> Result<Change> {
    Ok(match (update.old == ZERO, update.new == ZERO) {
        (_, true) => Change::Delete,
        (true, false) => Change::Create,
        (false, false) if objects.is_ancestor(&update.old, &update.new)? => Change::Forward,
        (false, false) => Change::Force,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_hook_read_and_others_fail() {
        let id = "1".repeat(40);
        let updates = Update::parse_all(&format!("{ZERO} {id} refs/heads/bot/a b\n")).unwrap();
        assert_eq!((updates.len(), updates[0].name.as_str()), (1, "refs/heads/bot/a b"));
        for text in ["x".to_owned(), format!("{id} {id}"), format!("{id} {id} "), format!("{id}1 {id} x")] {
            assert_eq!(Update::parse_all(&text).unwrap_err().code(), 7967, "{text}");
        }
    }
}
