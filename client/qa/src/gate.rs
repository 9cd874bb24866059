//! What a proposal has to show before a branch is made of it: runs R0 to R4, each in a fresh sandbox over the pinned
//! commit (decision H).
//!
//! | run | tree | it shows |
//! |---|---|---|
//! | R0 | base | the line that reproduces fails |
//! | R1 | base and the patch's tests | it builds, the new tests are collected, each fails |
//! | R2 | the whole patch | the line works, and calls like it that failed do; the new tests pass |
//! | R3 | the whole patch, test files restored from our side | no existing test fails, is missing or ignored; lints are clean |
//! | R4 | the whole patch without one source hunk, for each | a new test fails, or the tree does not build |

use crate::defaults::{FLAKY_RUNS, MAX_SUBJECT};
use crate::hex::is_commit;
use crate::patch::Patch;
use std::collections::{BTreeMap, BTreeSet};
use zx1_coded::Coded;
use zx1_market::Json;

/// Why a proposal is refused. Numbers 7860 to 7879.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum GateError {
    /// Run R0: nothing to fix.
    #[code(7860)]
    #[error("R0: the finding does not show at the base commit.")]
    NotReproduced,
    /// Works and fails without a change.
    #[code(7861)]
    #[error("{run}: the line that reproduces works once and fails once.")]
    Flaky {
        /// Name of the run.
        run: &'static str,
    },
    /// Nobody knows what the tests say.
    #[code(7862)]
    #[error("{run}: the tests do not build, or not all of them were collected.")]
    Aborted {
        /// Name of the run.
        run: &'static str,
    },
    /// No new test.
    #[code(7863)]
    #[error("R1: the patch adds no test that is collected.")]
    NoNewTest,
    /// Run R1: a test passes too early.
    #[code(7864)]
    #[error("R1: the new test `{0}` does not fail without the fix.")]
    TestProvesNothing(String),
    /// Run R2: the line still fails.
    #[code(7865)]
    #[error("R2: the finding still shows.")]
    NotFixed,
    /// Run R2: a new test does not pass.
    #[code(7866)]
    #[error("R2: the new test `{0}` does not pass with the fix.")]
    NewTestFails(String),
    /// Run R3: fewer tests than before.
    #[code(7867)]
    #[error("R3: the existing test `{0}` is removed, renamed or ignored.")]
    TestGone(String),
    /// Run R3: something else broke.
    #[code(7868)]
    #[error("R3: the existing test `{0}` fails with the patch.")]
    TestBroken(String),
    /// Run R3: the lints complain.
    #[code(7869)]
    #[error("R3: the lints are not clean.")]
    Lints,
    /// Run R4: not every hunk was tried.
    #[code(7870)]
    #[error("R4: hunk {hunk} of `{path}` was not undone alone, or twice.")]
    MutationMissing {
        /// Path of the file.
        path: String,
        /// Number of the hunk in its file, from 0.
        hunk: usize,
    },
    /// Run R4: a hunk that no test needs.
    #[code(7871)]
    #[error("R4: no new test fails when hunk {hunk} of `{path}` is undone.")]
    MutationSurvives {
        /// Path of the file.
        path: String,
        /// Number of the hunk in its file, from 0.
        hunk: usize,
    },
    /// A record of another patch.
    #[code(7872)]
    #[error("The runs are not of this patch, or their commit is not one.")]
    Record,
    /// Run R2: a call near the reported one still fails.
    #[code(7874)]
    #[error("R2: the finding still shows with a call like the reported one: {0}.")]
    Special(String),
    /// A review that may not be merged.
    #[code(7873)]
    #[error("This may not be merged: {0}.")]
    Merge(&'static str),
}

/// What one test said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran and passed.
    Passed,
    /// It ran and failed.
    Failed,
    /// It is there and did not run.
    Ignored,
}

impl Outcome {
    /// Its word in a record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Ignored => "ignored",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Passed, Self::Failed, Self::Ignored].into_iter().find(|it| it.word() == word)
    }
}

/// Tests of one run by their full names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Everything built and every test file was collected.
    pub is_complete: bool,
    /// What each said.
    pub outcomes: BTreeMap<String, Outcome>,
}

impl Tests {
    fn complete(&self, run: &'static str) -> Result<(), GateError> {
        if self.is_complete { Ok(()) } else { Err(GateError::Aborted { run }) }
    }

    fn json(&self) -> Json {
        let outcomes = self.outcomes.iter().map(|(name, it)| (name.clone(), Json::from(it.word())));
        Json::object([("complete", Json::Bool(self.is_complete)), ("tests", Json::object(outcomes))])
    }

    fn parse(json: &Json) -> Option<Self> {
        let rows = json.get("tests")?.as_object()?.iter();
        let outcomes = rows.map(|(name, word)| Some((name.clone(), Outcome::of(word.as_str()?)?)));
        Some(Self {
            is_complete: json.get("complete")?.as_bool()?,
            outcomes: outcomes.collect::<Option<_>>()?,
        })
    }
}

/// A run of R4: one source hunk undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Path of the file.
    pub path: String,
    /// Number of the hunk in its file, from 0.
    pub hunk: usize,
    /// What the tests said.
    pub tests: Tests,
}

/// What all runs of a gate showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The pinned commit, hex.
    pub commit: String,
    /// sha256 of the patch.
    pub patch_sha256: [u8; 32],
    /// The line that reproduces, in its one form.
    pub repro: String,
    /// The base commit's own tests.
    pub base: Tests,
    /// R0: of each run of the line whether it failed as reported.
    pub r0: Vec<bool>,
    /// What the tests said in R1.
    pub r1: Tests,
    /// R2: of each run of the line whether it failed as reported.
    pub r2_repro: Vec<bool>,
    /// Calls near the line that failed at the base commit, in any order, and whether each still fails in R2.
    pub siblings: BTreeMap<String, bool>,
    /// What the tests said in R2.
    pub r2: Tests,
    /// What the tests said in R3.
    pub r3: Tests,
    /// R3: the lints said nothing.
    pub lints_clean: bool,
    /// R4, in any order.
    pub r4: Vec<Mutation>,
}

/// A record that passed. Only [`Record::judge`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    gate: String,
    patch_sha256: [u8; 32],
}

/// Whether all runs said the same, and what; too few runs say nothing.
fn repeated(run: &'static str, failed: &[bool]) -> Result<bool, GateError> {
    match (failed.contains(&true), failed.contains(&false)) {
        _ if failed.len() < FLAKY_RUNS => Err(GateError::Aborted { run }),
        (true, true) => Err(GateError::Flaky { run }),
        (fails, _) => Ok(fails),
    }
}

impl Record {
    /// The one text of the record: canonical JSON.
    pub fn canonical(&self) -> String {
        let flags = |all: &[bool]| Json::Array(all.iter().map(|failed| Json::Bool(*failed)).collect());
        let mut mutations: Vec<&Mutation> = self.r4.iter().collect();
        mutations.sort_by_key(|it| (&it.path, it.hunk));
        let r4 = mutations.into_iter().map(|it| {
            let hunk = Json::Int((it.hunk as u64).into());
            Json::object([("hunk", hunk), ("path", Json::from(it.path.as_str())), ("tests", it.tests.json())])
        });
        let text = |text: &str| Json::from(text);
        let object = Json::object([
            ("base", self.base.json()),
            ("commit", text(&self.commit)),
            ("lints_clean", Json::Bool(self.lints_clean)),
            ("patch_sha256", text(&hex::encode(self.patch_sha256))),
            ("r0", flags(&self.r0)),
            ("r1", self.r1.json()),
            ("r2", self.r2.json()),
            ("r2_repro", flags(&self.r2_repro)),
            ("r3", self.r3.json()),
            ("r4", Json::Array(r4.collect())),
            ("repro", text(&self.repro)),
            ("siblings", Json::object(self.siblings.iter().map(|(line, fails)| (line.clone(), *fails)))),
            ("version", Json::Int(1u64.into())),
        ]);
        object.canonical()
    }

    /// Reads a record that [`Self::canonical`] wrote; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text.as_bytes()).ok()?;
        let word = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
        let tests = |name: &str| json.get(name).and_then(Tests::parse);
        let flags = |name: &str| -> Option<Vec<bool>> {
            json.get(name)?.as_array()?.iter().map(Json::as_bool).collect()
        };
        let mutation = |run: &Json| {
            Some(Mutation {
                path: run.get("path")?.as_str()?.to_owned(),
                hunk: usize::try_from(run.get("hunk")?.as_u64()?).ok()?,
                tests: Tests::parse(run.get("tests")?)?,
            })
        };
        let siblings = json.get("siblings")?.as_object()?.iter();
        let mut patch_sha256 = [0; 32];
        hex::decode_to_slice(word("patch_sha256")?, &mut patch_sha256).ok()?;
        let record = Self {
            commit: word("commit")?,
            patch_sha256,
            repro: word("repro")?,
            base: tests("base")?,
            r0: flags("r0")?,
            r1: tests("r1")?,
            r2_repro: flags("r2_repro")?,
            siblings: siblings
                .map(|(line, fails)| Some((line.clone(), fails.as_bool()?)))
                .collect::<Option<_>>()?,
            r2: tests("r2")?,
            r3: tests("r3")?,
            lints_clean: json.get("lints_clean")?.as_bool()?,
            r4: json.get("r4")?.as_array()?.iter().map(mutation).collect::<Option<_>>()?,
        };
        (record.canonical() == text).then_some(record)
    }

    /// sha256 of [`Self::canonical`] in hex: the trailer `Gate`.
    pub fn gate(&self) -> String {
        use sha2::{Digest, Sha256};
        hex::encode(Sha256::digest(self.canonical().as_bytes()))
    }

    /// Tests that R1 has and the base has not.
    fn new_tests(&self) -> BTreeSet<&str> {
        let names = self.r1.outcomes.keys().filter(|name| !self.base.outcomes.contains_key(*name));
        names.map(String::as_str).collect()
    }

    /// Judges the record of a patch. The first thing that is wrong is named.
    pub fn judge(&self, patch: &Patch) -> Result<Passed, GateError> {
        if self.patch_sha256 != patch.sha256() || !is_commit(&self.commit) {
            return Err(GateError::Record);
        }
        if !repeated("R0", &self.r0)? {
            return Err(GateError::NotReproduced);
        }
        self.base.complete("R0")?;
        self.r1.complete("R1")?;
        let new = self.new_tests();
        if new.is_empty() {
            return Err(GateError::NoNewTest);
        }
        let says = |tests: &Tests, name: &str| tests.outcomes.get(name).copied();
        if let Some(name) = new.iter().find(|name| says(&self.r1, name) != Some(Outcome::Failed)) {
            return Err(GateError::TestProvesNothing((*name).to_owned()));
        }
        self.r2.complete("R2")?;
        if repeated("R2", &self.r2_repro)? {
            return Err(GateError::NotFixed);
        }
        if let Some((line, _)) = self.siblings.iter().find(|(_, fails)| **fails) {
            return Err(GateError::Special(line.clone()));
        }
        if let Some(name) = new.iter().find(|name| says(&self.r2, name) != Some(Outcome::Passed)) {
            return Err(GateError::NewTestFails((*name).to_owned()));
        }
        self.existing()?;
        if !self.lints_clean {
            return Err(GateError::Lints);
        }
        self.mutations(patch, &new)?;
        Ok(Passed { gate: self.gate(), patch_sha256: self.patch_sha256 })
    }

    /// R3: what passed still passes. A test that failed or was ignored at the base commit need only be there.
    fn existing(&self) -> Result<(), GateError> {
        self.r3.complete("R3")?;
        for (name, before) in &self.base.outcomes {
            match (before, self.r3.outcomes.get(name)) {
                (_, None) | (Outcome::Passed | Outcome::Failed, Some(Outcome::Ignored)) => {
                    return Err(GateError::TestGone(name.clone()));
                }
                (Outcome::Passed, Some(Outcome::Failed)) => return Err(GateError::TestBroken(name.clone())),
                _ => {}
            }
        }
        Ok(())
    }

    /// R4: each source hunk once. A tree that does not build without a hunk needs it: hunks of one patch may define what
    /// others use, and R1 showed already that the tests are collected and fail without all of them.
    fn mutations(&self, patch: &Patch, new: &BTreeSet<&str>) -> Result<(), GateError> {
        let hunks = patch.source_hunks();
        for (path, hunk, _) in &hunks {
            let of = |it: &&Mutation| it.path == *path && it.hunk == *hunk;
            let mut runs = self.r4.iter().filter(of);
            let (Some(run), None) = (runs.next(), runs.next()) else {
                return Err(GateError::MutationMissing { path: path.clone(), hunk: *hunk });
            };
            let fails = |name: &&str| run.tests.outcomes.get(*name) == Some(&Outcome::Failed);
            if run.tests.is_complete && !new.iter().any(fails) {
                return Err(GateError::MutationSurvives { path: path.clone(), hunk: *hunk });
            }
        }
        match self
            .r4
            .iter()
            .find(|it| !hunks.iter().any(|(path, hunk, _)| (path, *hunk) == (&it.path, it.hunk)))
        {
            Some(it) => Err(GateError::MutationMissing { path: it.path.clone(), hunk: it.hunk }),
            None => Ok(()),
        }
    }
}

impl Passed {
    /// The trailer `Gate`.
    pub fn gate(&self) -> &str {
        &self.gate
    }

    /// The name of the branch for an entry: `qa/fb-<entry>-<first 8 hex of the patch's sha256>`.
    pub fn branch(&self, entry: u64) -> String {
        let hash8: String = hex::encode(self.patch_sha256).chars().take(8).collect();
        format!("qa/fb-{entry}-{hash8}")
    }

    /// The message of the commit: subject, who reported, trailers. `contract` and `transcript` are ids in hex.
    pub fn message(&self, finding: &str, origin: &Origin<'_>, contract: &str, transcript: &str) -> String {
        let Origin { entry, sender, time } = origin;
        format!(
            "{}\n\nReported in entry {entry} by {sender} at {time}.\n\nFeedback: {entry}\nContract: {contract}\n\
             Transcript: {transcript}\nGate: {}\n",
            subject(finding),
            self.gate
        )
    }
}

/// The entry that a fix answers.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Its number in the log.
    pub entry: u64,
    /// Its sender in base58.
    pub sender: &'a str,
    /// Its time in unix seconds.
    pub time: i64,
}

/// The finding's first line without control characters, at most [`MAX_SUBJECT`] characters.
pub fn subject(finding: &str) -> String {
    let line = finding.trim().lines().next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_SUBJECT).collect();
    let line = line.trim();
    if line.is_empty() { "A finding without a text".to_owned() } else { line.to_owned() }
}

/// What is known when a person asks to merge.
#[derive(Clone, Copy, Debug)]
pub struct Review<'a> {
    /// The entry that the branch answers.
    pub entry: u64,
    /// What the person typed.
    pub typed: &'a str,
    /// The person sits at a terminal.
    pub at_terminal: bool,
    /// The gate of the record, computed again.
    pub gate: &'a str,
    /// The gate in the branch's trailer.
    pub trailer: &'a str,
    /// The branch's tree is base and patch, and nothing else.
    pub tree_agrees: bool,
    /// Somebody stopped the loop.
    pub stopped: bool,
}

/// Whether a branch may be merged now: a person at a terminal typed the entry's number, and branch, patch and record agree.
pub fn may_merge(review: &Review<'_>) -> Result<(), GateError> {
    let checks = [
        (review.stopped, "the loop is stopped"),
        (!review.at_terminal, "nobody sits at a terminal"),
        (review.typed != review.entry.to_string(), "the typed number is not the entry's"),
        (review.gate != review.trailer, "the branch's gate is not that of the runs"),
        (!review.tree_agrees, "the branch holds something else than the patch"),
    ];
    match checks.iter().find(|(wrong, _)| *wrong) {
        Some((_, why)) => Err(GateError::Merge(why)),
        None => Ok(()),
    }
}
