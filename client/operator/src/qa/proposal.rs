//! Proposals that passed the gate: a branch that nobody merges but a person, and the record that shows why.

use super::error::{QaError, Result, at};
use super::gate::Judged;
use super::git::{Author, Git};
use super::journal::Line;
use super::run::Run;
use super::state::{State, keep};
use serde::{Deserialize, Serialize};
use std::path::Path;
use zx1_home::files::{UNFINISHED, make_private_folder, read_if_there};
use zx1_qa::dial::Propose;
use zx1_qa::gate::{Origin, Record};
use zx1_qa::journal::Point;
use zx1_qa::patch::Patch;

const PATCH: &str = "patch";
const RECORD: &str = "record.json";
const ABOUT: &str = "about.json";
const GATE: &str = "Gate: ";

/// What a proposal answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Number of the entry.
    pub entry: u64,
    /// Sender of the entry in base58.
    pub sender: String,
    /// Time of the entry in unix seconds.
    pub time: i64,
    /// What the finding says.
    pub finding: String,
    /// Id of the contract in hex; zeros where none asked for the fix.
    pub contract: String,
    /// Head of the contract's transcript in hex; zeros where there is none.
    pub transcript: String,
    /// Who made the patch.
    pub author: String,
}

/// A proposal as it is kept.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    /// What it answers.
    #[serde(flatten)]
    pub about: About,
    /// Name of the branch, which begins with `qa/`.
    pub branch: String,
    /// Its commit, while the branch is there.
    pub commit: Option<String>,
    /// The commit that the patch is for.
    pub base: String,
    /// sha256 of the record.
    pub gate: String,
    /// The gate that the branch's own commit names.
    pub trailer: Option<String>,
    /// The branch is the base commit and the patch, and nothing else.
    pub tree_agrees: bool,
    /// Tests at the base commit, and new ones.
    pub tests: (usize, usize),
    /// Calls near the reported one that failed before.
    pub siblings: usize,
    /// Source hunks that a test needs.
    pub hunks: usize,
    /// The patch, as a text of git.
    pub patch: String,
}

/// Makes the branch of a proposal that passed. What did not pass has no [`Judged`], so a red branch cannot be made.
///
/// # Errors
/// [`QaError::BranchTaken`]; git's.
pub fn publish(_: Propose, run: &mut Run<'_>, judged: &Judged, patch: &[u8], about: &About) -> Result<Kept> {
    let state = run.state();
    let branch = judged.passed.branch(about.entry);
    let name = branch.strip_prefix("qa/").unwrap_or(&branch);
    let all = state.proposals();
    let folder = all.join(name);
    for folder in [&all, &folder] {
        make_private_folder(folder).map_err(at(folder))?;
    }
    let text = serde_json::to_string(about)
        .map_err(|error| QaError::File { path: folder.clone(), source: error.into() })?;
    keep(&folder.join(PATCH), patch)?;
    keep(&folder.join(RECORD), judged.record.canonical().as_bytes())?;
    keep(&folder.join(ABOUT), text.as_bytes())?;
    let git = state.git();
    let tree = git.tree(&judged.record.commit, patch, &run.folder().join("index"))?;
    let origin = Origin { entry: about.entry, sender: &about.sender, time: about.time };
    let message = judged.passed.message(&about.finding, &origin, &about.contract, &about.transcript);
    let author = Author { name: &about.author, time: about.time };
    git.make_branch(&branch, &judged.record.commit, &tree, &message, &author)?;
    run.reach(Point::BranchMade)?;
    let (entry, gate) = (about.entry, judged.passed.gate().to_owned());
    let named = branch.clone();
    run.write(|run| Line::Proposed { run, entry, branch: named, gate })?;
    read(state, &folder)?.ok_or(QaError::NoProposal { entry })
}

/// All proposals, by entry.
pub fn list(state: &State) -> Result<Vec<Kept>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(state.proposals()).into_iter().flatten().flatten() {
        all.extend(read(state, &entry.path())?);
    }
    all.sort_by(|a, b| (a.about.entry, &a.branch).cmp(&(b.about.entry, &b.branch)));
    Ok(all)
}

/// The proposal for an entry; of several the one whose branch is there.
///
/// # Errors
/// [`QaError::NoProposal`].
pub fn of_entry(state: &State, entry: u64) -> Result<Kept> {
    let mut all: Vec<Kept> = list(state)?.into_iter().filter(|it| it.about.entry == entry).collect();
    all.sort_by_key(|it| it.commit.is_some());
    all.pop().ok_or(QaError::NoProposal { entry })
}

/// Reads one, and compares its branch with patch and record. `None` for a folder that a crash left unfinished.
fn read(state: &State, folder: &Path) -> Result<Option<Kept>> {
    let file = |name: &str| {
        let path = folder.join(name);
        read_if_there(&path).map_err(at(&path))
    };
    let (Some(patch), Some(record), Some(about)) = (file(PATCH)?, file(RECORD)?, file(ABOUT)?) else {
        return Ok(None);
    };
    let record = std::str::from_utf8(&record).ok().and_then(Record::parse);
    let (Some(record), Ok(about)) = (record, serde_json::from_slice::<About>(&about)) else {
        return Ok(None);
    };
    // The record is judged again: a file that somebody changed proves nothing.
    let parsed = Patch::parse(&patch, None)?;
    let passed = record.judge(&parsed)?;
    let branch = passed.branch(about.entry);
    let git = state.git();
    let commit = git.branch(&branch);
    let trailer = commit.as_deref().and_then(|commit| trailer_of(git, commit));
    let tree_agrees = commit.as_deref().is_some_and(|commit| agrees(state, commit, &record, &patch));
    let new = record.r1.outcomes.keys().filter(|name| !record.base.outcomes.contains_key(*name)).count();
    Ok(Some(Kept {
        about,
        branch,
        commit,
        base: record.commit.clone(),
        gate: passed.gate().to_owned(),
        trailer,
        tree_agrees,
        tests: (record.base.outcomes.len(), new),
        siblings: record.siblings.len(),
        hunks: record.r4.len(),
        patch: String::from_utf8_lossy(&patch).into_owned(),
    }))
}

fn trailer_of(git: &Git, commit: &str) -> Option<String> {
    let message = git.message(commit).ok()?;
    message.lines().rev().find_map(|line| line.strip_prefix(GATE)).map(str::to_owned)
}

/// Whether a branch is one commit on the base with the patch's tree.
fn agrees(state: &State, commit: &str, record: &Record, patch: &[u8]) -> bool {
    let git = state.git();
    let index = state.folder().join(format!("index-{}.{UNFINISHED}", std::process::id()));
    let tree = git.tree(&record.commit, patch, &index);
    let _ = std::fs::remove_file(&index);
    let parents = git.parents(commit);
    match (tree, git.tree_of(commit), parents) {
        (Ok(expected), Ok(found), Ok(parents)) => expected == found && parents == [record.commit.clone()],
        _ => false,
    }
}
