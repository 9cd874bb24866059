//! The plumbing of git that the loop uses: no hook, no filter of somebody's settings, no working tree is touched.
//!
//! Nothing here writes a branch but [`Git::make_branch`], and that one writes names that begin with `qa/` alone.

use super::error::{QaError, Result, reason};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zx1_sandbox::DEFAULT_PATH;

/// Prefix of all references that the loop may make.
const BRANCHES: &str = "refs/heads/qa/";

/// A repository and its top folder.
#[derive(Clone, Debug)]
pub struct Git {
    folder: PathBuf,
}

/// Who a commit is by, and when.
#[derive(Clone, Debug)]
pub struct Author<'a> {
    /// Name of author and committer.
    pub name: &'a str,
    /// Time of both in unix seconds.
    pub time: i64,
}

impl Git {
    /// The repository that a folder is in.
    ///
    /// # Errors
    /// [`QaError::NoRepository`].
    pub fn open(path: &Path) -> Result<Self> {
        let none = || QaError::NoRepository { path: path.to_owned() };
        let git = Self { folder: path.to_owned() };
        let top = git.line("rev-parse", ["rev-parse", "--show-toplevel"], &[]).map_err(|_| none())?;
        let git = Self { folder: PathBuf::from(top) };
        git.commit("HEAD").map_err(|_| none())?;
        Ok(git)
    }

    /// Its top folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The full id of a commit.
    pub fn commit(&self, name: &str) -> Result<String> {
        let name = format!("{name}^{{commit}}");
        self.line("rev-parse", ["rev-parse", "--verify", "--quiet", "--end-of-options", &name], &[])
    }

    /// The first commit of HEAD's first parents.
    pub fn root(&self) -> Result<String> {
        let roots = ["rev-list", "--first-parent", "--max-parents=0", "HEAD"];
        self.line("rev-list", roots, &[])
    }

    /// Writes a commit's files into a folder, which gets no `.git`.
    pub fn export(&self, commit: &str, folder: &Path, index: &Path) -> Result<()> {
        let env = [("GIT_INDEX_FILE", index.as_os_str())];
        self.run("read-tree", ["read-tree", commit], &env, b"")?;
        let mut prefix = folder.as_os_str().to_owned();
        prefix.push("/");
        let mut argument = std::ffi::OsString::from("--prefix=");
        argument.push(prefix);
        let arguments = [OsStr::new("checkout-index"), OsStr::new("-a"), argument.as_os_str()];
        self.run("checkout-index", arguments, &env, b"").map(drop)
    }

    /// The tree of a commit with a patch on it.
    ///
    /// # Errors
    /// [`QaError::Apply`] for a patch of something else.
    pub fn tree(&self, commit: &str, patch: &[u8], index: &Path) -> Result<String> {
        let env = [("GIT_INDEX_FILE", index.as_os_str())];
        self.run("read-tree", ["read-tree", commit], &env, b"")?;
        let apply = ["apply", "--cached", "--whitespace=nowarn", "-"];
        self.run("apply", apply, &env, patch).map_err(|error| match error {
            QaError::Git { why, .. } => QaError::Apply { why },
            other => other,
        })?;
        self.line("write-tree", ["write-tree"], &env)
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String> {
        let name = format!("{commit}^{{tree}}");
        self.line("rev-parse", ["rev-parse", "--verify", "--quiet", "--end-of-options", &name], &[])
    }

    /// Parents of a commit.
    pub fn parents(&self, commit: &str) -> Result<Vec<String>> {
        let line = self.line("rev-list", ["rev-list", "-1", "--parents", commit], &[])?;
        Ok(line.split(' ').skip(1).map(str::to_owned).collect())
    }

    /// The message of a commit.
    pub fn message(&self, commit: &str) -> Result<String> {
        self.text("log", ["log", "-1", "--format=%B", "--end-of-options", commit], &[])
    }

    /// The commit of a branch, if there is one.
    pub fn branch(&self, branch: &str) -> Option<String> {
        self.commit(&format!("refs/heads/{branch}")).ok()
    }

    /// Makes a commit of a tree and a branch that did not exist. A branch that holds the same already is left.
    ///
    /// # Errors
    /// [`QaError::BranchTaken`]: the branch holds something else, or its name is not one of the loop's.
    pub fn make_branch(
        &self,
        branch: &str,
        parent: &str,
        tree: &str,
        message: &str,
        author: &Author<'_>,
    ) -> Result<String> {
        let taken = || QaError::BranchTaken { branch: branch.to_owned() };
        let reference = format!("refs/heads/{branch}");
        if !reference.starts_with(BRANCHES) {
            return Err(taken());
        }
        if let Some(commit) = self.branch(branch) {
            let same = self.tree_of(&commit)? == tree && self.parents(&commit)? == [parent];
            return if same { Ok(commit) } else { Err(taken()) };
        }
        // The sign keeps git from reading a small number as a year.
        let date = format!("@{} +0000", author.time);
        let email = format!("{}@localhost", author.name);
        let env: Vec<(&str, &OsStr)> = [
            ("GIT_AUTHOR_NAME", author.name),
            ("GIT_COMMITTER_NAME", author.name),
            ("GIT_AUTHOR_EMAIL", email.as_str()),
            ("GIT_COMMITTER_EMAIL", email.as_str()),
            ("GIT_AUTHOR_DATE", date.as_str()),
            ("GIT_COMMITTER_DATE", date.as_str()),
        ]
        .map(|(name, value)| (name, OsStr::new(value)))
        .to_vec();
        let arguments = ["commit-tree", "-p", parent, "-F", "-", tree];
        let commit = first_line(&self.run("commit-tree", arguments, &env, message.as_bytes())?);
        let zeros = "0".repeat(commit.len());
        self.run("update-ref", ["update-ref", &reference, &commit, &zeros], &[], b"").map_err(|_| taken())?;
        Ok(commit)
    }

    fn line<const N: usize>(
        &self,
        act: &'static str,
        arguments: [&str; N],
        env: &[(&str, &OsStr)],
    ) -> Result<String> {
        self.text(act, arguments, env).map(|text| text.lines().next().unwrap_or_default().to_owned())
    }

    fn text<const N: usize>(
        &self,
        act: &'static str,
        arguments: [&str; N],
        env: &[(&str, &OsStr)],
    ) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.run(act, arguments, env, b"")?).into_owned())
    }

    fn run<S: AsRef<OsStr>, const N: usize>(
        &self,
        act: &'static str,
        arguments: [S; N],
        env: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Result<Vec<u8>> {
        let failed = |why: String| QaError::Git { act, why };
        let mut command = Command::new("git");
        let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        command.env_clear().env("PATH", path);
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("LC_ALL", "C.UTF-8"),
        ] {
            command.env(name, value);
        }
        command.envs(env.iter().copied());
        command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]).args(arguments);
        command.current_dir(&self.folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(reason(&error)))?;
        // git reads all of its input before it answers anything, so neither side waits for the other.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input);
        }
        let output = child.wait_with_output().map_err(|error| failed(reason(&error)))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let why = first_line(&output.stderr);
        Err(failed(if why.is_empty() { output.status.to_string() } else { why }))
    }
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().trim_end_matches('.').chars().filter(|c| !c.is_control()).collect()
}
