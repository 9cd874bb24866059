//! Reads commits of a repository, those of a push that is being judged included.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::defaults::COMMS_MAX;
use crate::error::{CapsuleError, Result};
use crate::repository::Repository;

/// Largest folder that is looked through for COMMS.md, bytes.
const TREE_MAX: u64 = 4 << 20;
const COMMS: &[u8] = b"COMMS.md";

/// Objects of a repository, and of a quarantine beside them.
pub(crate) struct Objects<'a> {
    repository: &'a Repository,
    quarantine: Option<PathBuf>,
    reader: Option<Reader>,
    comms: HashMap<String, Option<Vec<u8>>>,
}

struct Reader {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn broken(detail: impl ToString) -> CapsuleError {
    CapsuleError::Git { what: "cat-file", detail: detail.to_string() }
}

impl<'a> Objects<'a> {
    /// `quarantine` is where git keeps the objects of a push until it is taken.
    pub(crate) fn new(repository: &'a Repository, quarantine: Option<&Path>) -> Objects<'a> {
        let quarantine = quarantine.map(Path::to_owned);
        Objects { repository, quarantine, reader: None, comms: HashMap::new() }
    }

    fn git(&self) -> Command {
        let mut command = self.repository.git();
        if let Some(quarantine) = &self.quarantine {
            command.env("GIT_OBJECT_DIRECTORY", quarantine);
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.repository.path().join("objects"));
        }
        command
    }

    /// Whether a commit comes before another or is it.
    pub(crate) fn is_ancestor(&self, old: &str, new: &str) -> Result<bool> {
        let mut command = self.git();
        command.args(["merge-base", "--is-ancestor", old, new]);
        self.repository.ask("merge-base", command).map(|answer| answer.is_some())
    }

    /// Where two commits parted.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>> {
        let mut command = self.git();
        command.args(["merge-base", one, other]);
        self.repository.ask("merge-base", command)
    }

    /// Commits that no ref leads to yet, each with its parents, parents first. At most `most` and one more.
    pub(crate) fn new_commits(&self, new: &str, most: usize) -> Result<Vec<(String, Vec<String>)>> {
        let mut command = self.git();
        let count = format!("--max-count={}", most.saturating_add(1));
        command.args(["rev-list", "--topo-order", "--parents", &count, new, "--not", "--all"]);
        let text = self.repository.ask("rev-list", command)?.unwrap_or_default();
        let parse = |line: &str| {
            let mut ids = line.split(' ').map(str::to_owned);
            ids.next().map(|id| (id, ids.collect()))
        };
        let mut commits: Vec<_> = text.lines().filter_map(parse).collect();
        commits.reverse();
        Ok(commits)
    }

    /// COMMS.md of a commit.
    pub(crate) fn comms(&mut self, commit: &str) -> Result<Option<Vec<u8>>> {
        if let Some(known) = self.comms.get(commit) {
            return Ok(known.clone());
        }
        let bad = || CapsuleError::CommsFile { commit: commit.to_owned(), most: COMMS_MAX };
        let tree = self.read(&format!("{commit}^{{tree}}"), TREE_MAX)?.ok_or_else(bad)?;
        let found = match entry(&tree, COMMS) {
            None => None,
            Some((mode, id)) if mode == b"100644" || mode == b"100755" => {
                Some(self.read(&hex::encode(id), COMMS_MAX)?.ok_or_else(bad)?)
            }
            Some(_) => return Err(bad()),
        };
        self.comms.insert(commit.to_owned(), found.clone());
        Ok(found)
    }

    /// An object's bytes; `None` when it is missing or larger than `limit`.
    fn read(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        if self.reader.is_none() {
            let mut command = self.git();
            command
                .args(["cat-file", "--batch"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let mut child = command.spawn().map_err(broken)?;
            let (Some(ask), Some(answer)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(broken("it has no pipes"));
            };
            self.reader = Some(Reader { child, ask, answer: BufReader::new(answer) });
        }
        let Some(reader) = &mut self.reader else { return Err(broken("it did not start")) };
        writeln!(reader.ask, "{name}").map_err(broken)?;
        let mut header = String::new();
        (&mut reader.answer).take(512).read_line(&mut header).map_err(broken)?;
        let mut words = header.trim_end().split(' ');
        let (Some(_), Some(_), Some(size)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let Ok(size) = size.parse::<u64>() else { return Ok(None) };
        if size > limit {
            // The next question starts another reader.
            self.reader = None;
            return Ok(None);
        }
        let mut bytes = vec![0u8; usize::try_from(size).map_err(broken)?];
        reader.answer.read_exact(&mut bytes).map_err(broken)?;
        reader.answer.read_exact(&mut [0u8]).map_err(broken)?;
        Ok(Some(bytes))
    }
}

/// Mode and id of a name in a tree: `mode SP name NUL id`, again and again.
fn entry<'t>(tree: &'t [u8], name: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let mut rest = tree;
    while !rest.is_empty() {
        let space = rest.iter().position(|&byte| byte == b' ')?;
        let (mode, tail) = rest.split_at_checked(space)?;
        let tail = tail.get(1..)?;
        let end = tail.iter().position(|&byte| byte == 0)?;
        let (found, tail) = tail.split_at_checked(end)?;
        let (id, next) = tail.get(1..)?.split_at_checked(20)?;
        if found == name {
            return Some((mode, id));
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_a_tree_and_torn_trees_have_none() {
        let mut tree = b"100644 A\0".to_vec();
        tree.extend([1; 20]);
        tree.extend(b"120000 COMMS.md\0");
        tree.extend([2; 20]);
        assert_eq!(entry(&tree, COMMS), Some((&b"120000"[..], &[2u8; 20][..])));
        assert_eq!(entry(&tree, b"B"), None);
        for cut in 0..tree.len() {
            assert_eq!(entry(&tree[..cut], COMMS), None);
        }
    }
}
