//! git: upstreams, misspelt names, a lock left behind.
//!
//! The investigation grammar has no git, so the rules read `.git` as files. What packed references hold is
//! not seen; then the fix's own `git rev-parse` is the judge.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::make_folder;
use super::probe::Probe;
use super::shell::{Simple, quote};
use super::text::{self, RelPath};

const GIT: &[&str] = &["git"];

/// The subcommand; options before it (`-C`, `-c`) make the case another folder's, so they are refused.
fn subcommand(git: &Simple) -> Try<&str> {
    git.args().first().map(|word| word.text.as_str()).filter(|word| !word.starts_with('-')).mine()
}

/// The names in a folder of `.git`, folders left out.
fn references(probe: &Probe<'_>, folder: &str) -> Try<Vec<String>> {
    probe.files(&RelPath::parse(folder).mine()?)
}

/// Makes `branch` follow the branch of the same name on `remote`.
fn follow(branch: &str, remote: &str, merge: &str) -> String {
    format!(
        "git config {} {} &&\ngit config {} {}",
        quote(&format!("branch.{branch}.remote")),
        quote(remote),
        quote(&format!("branch.{branch}.merge")),
        quote(&format!("refs/heads/{merge}")),
    )
}

pub(crate) fn no_upstream(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let git = case.any(GIT)?;
    mine(subcommand(git)? == "push")?;
    let found = case.find(regex!(
        r"(?m)^fatal: The current branch (\S+) has no upstream branch\.\n[^\n]*\n\n +git push ",
        r"--set-upstream (\S+) (\S+)$"
    ))?;
    let branch = text::name(found.get(1).mine()?.as_str()).or_decline("the branch has an unusual name")?;
    let remote = text::name(found.get(2).mine()?.as_str()).or_decline("the remote has an unusual name")?;
    mine(found.get(3).mine()?.as_str() == branch)?;
    Repair::world(
        follow(branch, remote, branch),
        format!(
            "The branch {branch} follows {remote}/{branch} now, as git push --set-upstream would record it."
        ),
        95,
    )
}

pub(crate) fn wrong_upstream(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.any(GIT)?;
    mine(subcommand(git)? == "push")?;
    let found = case.find(regex!(
        r"(?ms)^fatal: The upstream branch of your current branch does not match$.*^To push to ",
        r"the branch of the same name on the remote, use\n\n +git push (\S+) HEAD$"
    ))?;
    let remote = text::name(found.get(1).mine()?.as_str()).or_decline("the remote has an unusual name")?;
    let branch = head(probe)?;
    Repair::world(
        follow(&branch, remote, &branch),
        format!("{branch} followed a branch of another name; it follows {remote}/{branch} now."),
        85,
    )
}

/// The branch that is checked out.
fn head(probe: &Probe<'_>) -> Try<String> {
    let lines = probe.lines(&RelPath::parse(".git/HEAD").mine()?)?;
    let line = lines.first().copied().unwrap_or_default();
    let branch = line.strip_prefix("ref: refs/heads/").and_then(text::name);
    branch.map(str::to_owned).or_decline("no branch is checked out, or it has an unusual name")
}

pub(crate) fn no_tracking(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.any(GIT)?;
    mine(subcommand(git)? == "pull")?;
    let found = case.find(regex!(
        r"(?ms)^There is no tracking information for the current branch\.$.*^ +git branch ",
        r"--set-upstream-to=(\S+)/<branch> (\S+)$"
    ))?;
    let remote = text::name(found.get(1).mine()?.as_str()).or_decline("the remote is not known")?;
    let branch = text::name(found.get(2).mine()?.as_str()).or_decline("the branch has an unusual name")?;
    let there = references(probe, &format!(".git/refs/remotes/{remote}"))?;
    if !there.iter().any(|name| name == branch) {
        return Err(Halt::decline(format!("{remote} has no branch {branch} that was fetched")));
    }
    Repair::world(
        follow(branch, remote, branch),
        format!("The branch {branch} follows {remote}/{branch} now."),
        94,
    )
}

pub(crate) fn upstream_gone(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.any(GIT)?;
    mine(subcommand(git)? == "pull")?;
    let found = case.find(regex!(
        r"(?m)^Your configuration specifies to merge with the ref 'refs/heads/(\S+)'\nfrom the ",
        r"remote, but no such ref was fetched\.$"
    ))?;
    let gone = text::name(found.get(1).mine()?.as_str()).or_decline("the branch has an unusual name")?;
    let branch = head(probe)?;
    let there = references(probe, ".git/refs/remotes/origin")?;
    let right = match gone {
        "master" => "main",
        "main" => "master",
        _ => branch.as_str(),
    };
    if right == gone || !there.iter().any(|name| name == right) {
        return Err(Halt::decline(format!("what took the place of {gone} is not certain")));
    }
    Repair::world(
        format!(
            "git rev-parse -q --verify {} &&\n{}",
            quote(&format!("refs/remotes/origin/{right}")),
            follow(&branch, "origin", right)
        ),
        format!("The remote has no branch {gone} any more; {branch} follows origin/{right} now."),
        85,
    )
}

pub(crate) fn subcommand_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let git = case.only(GIT)?;
    let found = case.find(regex!(
        r"(?m)^git: '([\w-]+)' is not a git command\. See 'git --help'\.\n\nThe most similar ",
        r"command is\n\s+([\w-]+)$"
    ))?;
    let (typed, meant) = (found.get(1).mine()?.as_str(), found.get(2).mine()?.as_str());
    mine(subcommand(git)? == typed)?;
    if matches!(meant, "clean" | "reset" | "gc" | "prune" | "rm") {
        return Err(Halt::decline(format!("git {meant} can lose work; type it yourself if it was meant")));
    }
    case.correct_word(git, typed, meant, format!("git has no command {typed}; {meant} was meant."))
}

pub(crate) fn branch_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.only(GIT)?;
    mine(matches!(
        subcommand(git)?,
        "checkout" | "switch" | "merge" | "rebase" | "log" | "diff" | "show" | "push"
    ))?;
    let found = case.find(regex!(
        r"(?m)^(?:error: pathspec '(\S+)' did not match any file\(s\) known to git|fatal: ",
        r"invalid reference: (\S+)|merge: (\S+) - not something we can merge|fatal: invalid ",
        r"upstream '(\S+)'|error: src refspec (\S+) does not match any|fatal: ambiguous ",
        r"argument '(\S+)': unknown revision or path not in the working tree\.)$"
    ))?;
    let typed = (1..=6).find_map(|at| found.get(at)).mine()?.as_str();
    git.arg(typed).mine()?;
    let branches = references(probe, ".git/refs/heads")?;
    let near = text::meant(typed, branches.iter().map(String::as_str));
    let renamed = match typed {
        "master" => branches.iter().map(String::as_str).find(|name| *name == "main"),
        "main" => branches.iter().map(String::as_str).find(|name| *name == "master"),
        _ => None,
    };
    let meant = near.or(renamed).and_then(text::name).or_decline("no single branch has a name like it")?;
    case.correct_word(git, typed, meant, format!("There is no branch {typed}, but there is {meant}."))
}

pub(crate) fn path_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.only(GIT)?;
    mine(matches!(subcommand(git)?, "add"))?;
    let found = case.find(regex!(r"(?m)^fatal: pathspec '([^'\n]+)' did not match any files$"))?;
    case.correct_path(probe, git, found.get(1).mine()?.as_str(), |_| true)
}

pub(crate) fn remote_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.only(GIT)?;
    mine(matches!(subcommand(git)?, "push" | "pull" | "fetch"))?;
    let found = case.find(regex!(r"(?m)^fatal: '(\S+)' does not appear to be a git repository$"))?;
    let typed = found.get(1).mine()?.as_str();
    git.arg(typed).mine()?;
    let remotes = probe.list(&RelPath::parse(".git/refs/remotes").mine()?)?;
    let mut names: Vec<&str> =
        remotes.iter().filter(|entry| entry.folder).map(|entry| entry.name.as_str()).collect();
    if names.is_empty() {
        // Nothing was fetched yet; the configuration names them all the same.
        let config = probe.lines(&RelPath::parse(".git/config").mine()?)?;
        names = config
            .into_iter()
            .filter_map(|line| line.strip_prefix("[remote \"")?.strip_suffix("\"]"))
            .collect();
    }
    let meant =
        text::meant(typed, names).and_then(text::name).or_decline("no single remote has a name like it")?;
    case.correct_word(git, typed, meant, format!("There is no remote {typed}, but there is {meant}."))
}

pub(crate) fn branch_exists(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let git = case.only(GIT)?;
    let found = case.find(regex!(r"(?m)^fatal: a branch named '(\S+)' already exists\.?$"))?;
    let branch = found.get(1).mine()?.as_str();
    let words: Vec<&str> = git.arg_texts().collect();
    // Only without a start point: with one, another branch would be checked out than was asked for.
    let option = match words.as_slice() {
        ["checkout", "-b", name] | ["switch", "-c", name] if *name == branch => git.args().get(1).mine()?,
        _ => return Err(Halt::NotMine),
    };
    let span = option.span.start..git.args().get(2).mine()?.span.start;
    Repair::command(
        case.with(&span, "")?,
        format!("The branch {branch} exists already; it is checked out as it is."),
        85,
    )
}

pub(crate) fn stale_lock(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let git = case.any(GIT)?;
    subcommand(git)?;
    case.find(regex!(r"(?m)^fatal: Unable to create '[^'\n]*/?\.git/index\.lock': File exists\.$"))?;
    if !probe.is_older_than_ten_minutes(".git", "index.lock")? {
        return Err(Halt::decline("the lock is younger than ten minutes, so another git may be at work"));
    }
    let entries = references(probe, ".git")?;
    if entries.iter().any(|name| name == "index.lock.old") {
        return Err(Halt::decline(".git/index.lock.old exists already"));
    }
    Repair::world(
        "test -f .git/index.lock && mv -n -T .git/index.lock .git/index.lock.old".to_owned(),
        "A git that was interrupted more than ten minutes ago left its lock; it is moved aside.",
        80,
    )
}

pub(crate) fn output_folder(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let git = case.any(GIT)?;
    mine(subcommand(git)? == "bundle" || subcommand(git)? == "archive")?;
    let found = case.find(regex!(
        r"(?m)^fatal: (?:could not open '([^'\n]+)' for writing|Unable to create ",
        r"'[^'\n]*?([^'\n/]+/[^'\n/]+)\.lock'): No such file or directory$"
    ))?;
    let raw = found.get(1).or(found.get(2)).mine()?.as_str();
    let path = RelPath::parse(raw).or_decline("the file lies outside the working folder")?;
    // `-o x/y`, `--output=x/y` or `create x/y`, and nothing above that.
    mine(git.arg_texts().any(|word| word == raw || word == format!("--output={raw}")))?;
    let folder = path.parent().mine()?;
    Repair::world(make_folder(&folder), format!("The folder {} did not exist.", folder.as_str()), 93)
}
