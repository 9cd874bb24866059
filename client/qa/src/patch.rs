//! What a proposal may touch. A patch is a text of `git diff` that our side applies and commits; nothing in it reaches
//! hooks, builds or agents of whoever merges it.

use crate::defaults::MAX_PATCH;
use sha2::{Digest, Sha256};
use zx1_coded::Coded;
use zx1_whitelist::steering::is_steering;

/// Why a patch is not taken. Numbers 7840 to 7859.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum PatchError {
    /// No file is changed.
    #[code(7840)]
    #[error("The patch is empty.")]
    Empty,
    /// Beyond the contract's bound.
    #[code(7841)]
    #[error("The patch has {found} bytes, more than {limit}.")]
    Large {
        /// Bytes of the patch.
        found: usize,
        /// Most bytes that it may have.
        limit: usize,
    },
    /// The bytes are not UTF-8.
    #[code(7842)]
    #[error("The patch is not a text, or changes a file that is not.")]
    Binary,
    /// Not the form that `git diff` writes.
    #[code(7843)]
    #[error("Line {0} of the patch is not of the form that git writes.")]
    Form(usize),
    /// A path that leads outside, or is not plain.
    #[code(7844)]
    #[error("The path `{0}` is not a plain path inside the repository.")]
    Path(String),
    /// A file that a proposal may never touch.
    #[code(7845)]
    #[error("The file `{0}` is one that a proposal may not touch: hooks, builds, toolchains, agents, locks.")]
    Protected(String),
    /// Modes, links, submodules, renames, copies.
    #[code(7846)]
    #[error("The patch changes more of `{0}` than lines of text: its mode, kind or name.")]
    Kind(String),
    /// An existing test goes away.
    #[code(7847)]
    #[error("The patch deletes the test file `{0}`.")]
    TestDeleted(String),
    /// Nothing but tests.
    #[code(7848)]
    #[error("The patch changes no source file.")]
    NoSource,
    /// No test file is added to.
    #[code(7849)]
    #[error("The patch adds no test.")]
    NoTest,
    /// Two parts for one file.
    #[code(7850)]
    #[error("The patch names the file `{0}` twice.")]
    Twice(String),
    /// Lines of an existing test are taken away.
    #[code(7851)]
    #[error("The patch takes lines away from the test file `{0}`; tests may only be added.")]
    TestWeakened(String),
}

/// What a path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// What the product is made of.
    Source,
    /// Tests and what they read.
    Test,
    /// Never touched by a proposal.
    Protected,
}

/// The class of a path. What decides how tests are built or run is protected, not a test: the names of
/// [`zx1_whitelist::steering`], and all that begin with a dot.
pub fn class(path: &str) -> Class {
    let parts = || path.split('/').map(str::to_lowercase);
    if parts().any(|part| part.starts_with('.') || is_steering(&part)) {
        return Class::Protected;
    }
    let mut folders: Vec<String> = parts().collect();
    let name = folders.pop().unwrap_or_default();
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let is_test = folders.iter().any(|part| matches!(part.as_str(), "test" | "tests" | "__tests__"))
        || stem.starts_with("test_")
        || ["_test", "_tests"].iter().any(|end| stem.ends_with(end))
        || matches!(stem, "test" | "tests")
        || name.contains(".test.")
        || name.contains(".spec.");
    if is_test { Class::Test } else { Class::Source }
}

/// Some lines of a file that are changed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// From its `@@` to its end, as it stands in the patch.
    pub text: String,
    /// Lines that it adds.
    pub added: u64,
    /// Lines that it takes away.
    pub removed: u64,
}

/// One file of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// Where it lies, from the repository's root.
    pub path: String,
    /// What its path says it is for.
    pub class: Class,
    /// It is not there before.
    pub is_new: bool,
    /// It is not there afterwards.
    pub is_deleted: bool,
    /// All lines before the first hunk.
    pub head: String,
    /// Its hunks in their order.
    pub hunks: Vec<Hunk>,
}

/// A patch that may go to the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    files: Vec<FilePatch>,
    sha256: [u8; 32],
}

impl Patch {
    /// Reads and checks a patch of at most `limit` bytes, [`MAX_PATCH`] where the contract names no other bound.
    pub fn parse(bytes: &[u8], limit: Option<usize>) -> Result<Self, PatchError> {
        let limit = limit.unwrap_or(MAX_PATCH);
        if bytes.len() > limit {
            return Err(PatchError::Large { found: bytes.len(), limit });
        }
        let text = std::str::from_utf8(bytes).map_err(|_| PatchError::Binary)?;
        if text.contains('\0') {
            return Err(PatchError::Binary);
        }
        let files = Lines::of(text).files()?;
        for (at, file) in files.iter().enumerate() {
            if files.iter().take(at).any(|other| other.path == file.path) {
                return Err(PatchError::Twice(file.path.clone()));
            }
        }
        if files.is_empty() {
            return Err(PatchError::Empty);
        }
        let adds = |class| {
            files.iter().any(|file| {
                file.class == class && file.hunks.iter().any(|it| it.added > 0 || class == Class::Source)
            })
        };
        match (adds(Class::Source), adds(Class::Test)) {
            (false, _) => Err(PatchError::NoSource),
            (_, false) => Err(PatchError::NoTest),
            _ => Ok(Self { files, sha256: Sha256::digest(bytes).into() }),
        }
    }

    /// Its files in their order.
    pub fn files(&self) -> &[FilePatch] {
        &self.files
    }

    /// sha256 of the patch as it came.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// The patch of the files of one class alone, for the gate's run R1.
    pub fn only(&self, class: Class) -> String {
        let files = self.files.iter().filter(|file| file.class == class);
        files.map(|file| write(file, |_| true)).collect()
    }

    /// One patch for each hunk of a source file, with its path and number: what the gate's run R4 undoes.
    pub fn source_hunks(&self) -> Vec<(String, usize, String)> {
        let source = self.files.iter().filter(|file| file.class == Class::Source);
        let one = |file: &FilePatch, n| (file.path.clone(), n, write(file, |other| other == n));
        source.flat_map(|file| (0..file.hunks.len()).map(move |n| one(file, n))).collect()
    }
}

fn write(file: &FilePatch, takes: impl Fn(usize) -> bool) -> String {
    let hunks = file.hunks.iter().enumerate().filter(|(n, _)| takes(*n));
    hunks.fold(file.head.clone(), |text, (_, hunk)| text + &hunk.text)
}

/// Reads a patch line by line.
struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

/// The path of a line, when it is plain.
fn plain(path: &str) -> Result<&str, PatchError> {
    let is_plain = !path.is_empty()
        && !path.contains(|c: char| c.is_control() || matches!(c, '\\' | '"' | ':'))
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != ".." && part.trim() == part);
    if is_plain { Ok(path) } else { Err(PatchError::Path(path.to_owned())) }
}

/// The number of lines in `-7,3`; one where there is no comma.
fn length(range: &str, sign: char) -> Option<u64> {
    let (from, len) = range.strip_prefix(sign)?.split_once(',').unwrap_or((range.strip_prefix(sign)?, "1"));
    from.parse::<u64>().ok()?;
    len.parse().ok()
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Self { lines: text.split_inclusive('\n').collect(), at: 0 }
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).map(|line| line.strip_suffix('\n').unwrap_or(line))
    }

    fn take(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at).copied();
        self.at = self.at.saturating_add(1);
        line
    }

    fn form(&self) -> PatchError {
        PatchError::Form(self.at.saturating_add(1))
    }

    fn files(&mut self) -> Result<Vec<FilePatch>, PatchError> {
        let mut files = Vec::new();
        while let Some(line) = self.peek() {
            let names = line.strip_prefix("diff --git ").ok_or_else(|| self.form())?;
            files.push(self.file(names)?);
        }
        Ok(files)
    }

    fn file(&mut self, names: &str) -> Result<FilePatch, PatchError> {
        // Both names are equal, so the line is cut in its middle, whatever spaces the path has.
        let half = names.len() / 2;
        let (old, new) = names.split_at_checked(half).ok_or_else(|| self.form())?;
        let (old, new) = (old.strip_prefix("a/"), new.strip_prefix(" b/"));
        let path = match (old, new) {
            (Some(old), Some(new)) if old == new => plain(old)?,
            _ => return Err(PatchError::Kind(names.to_owned())),
        };
        let class = class(path);
        if class == Class::Protected {
            return Err(PatchError::Protected(path.to_owned()));
        }
        let mut head = self.take().unwrap_or_default().to_owned();
        let (mut is_new, mut is_deleted) = (false, false);
        while let Some(line) =
            self.peek().filter(|line| !line.starts_with("--- ") && !line.starts_with("diff "))
        {
            match line {
                "new file mode 100644" => is_new = true,
                "deleted file mode 100644" => is_deleted = true,
                line if line.starts_with("index ") => {
                    if line.split(' ').nth(2).is_some_and(|mode| mode != "100644" && mode != "100755") {
                        return Err(PatchError::Kind(path.to_owned()));
                    }
                }
                line if line.starts_with("Binary files") || line == "GIT binary patch" => {
                    return Err(PatchError::Binary);
                }
                line if [" mode ", "rename ", "copy ", "similarity ", "dissimilarity "]
                    .iter()
                    .any(|w| line.contains(w)) =>
                {
                    return Err(PatchError::Kind(path.to_owned()));
                }
                _ => return Err(self.form()),
            }
            head.push_str(self.take().unwrap_or_default());
        }
        let names = [("--- ", "a/", is_new), ("+++ ", "b/", is_deleted)];
        for (mark, side, absent) in names {
            let expected = if absent { "/dev/null".to_owned() } else { format!("{side}{path}") };
            // git ends a name that has spaces with a tab.
            let found =
                self.peek().and_then(|line| line.strip_prefix(mark)).map(|it| it.trim_end_matches('\t'));
            if found != Some(expected.as_str()) {
                return Err(self.form());
            }
            head.push_str(self.take().unwrap_or_default());
        }
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| line.starts_with("@@ ")) {
            hunks.push(self.hunk()?);
        }
        if hunks.is_empty() {
            return Err(self.form());
        }
        if class == Class::Test && is_deleted {
            return Err(PatchError::TestDeleted(path.to_owned()));
        }
        if class == Class::Test && hunks.iter().any(|hunk| hunk.removed > 0) {
            return Err(PatchError::TestWeakened(path.to_owned()));
        }
        Ok(FilePatch { path: path.to_owned(), class, is_new, is_deleted, head, hunks })
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let mut words = self.peek().unwrap_or_default().split(' ').skip(1);
        let ranges =
            (words.next().and_then(|it| length(it, '-')), words.next().and_then(|it| length(it, '+')));
        let ((Some(mut old), Some(mut new)), Some("@@")) = (ranges, words.next()) else {
            return Err(self.form());
        };
        let mut hunk = Hunk { text: self.take().unwrap_or_default().to_owned(), added: 0, removed: 0 };
        while old > 0 || new > 0 {
            let (from, to) = match self.peek().and_then(|line| line.bytes().next()) {
                Some(b' ') => (1, 1),
                Some(b'-') => (1, 0),
                Some(b'+') => (0, 1),
                Some(b'\\') => (0, 0),
                _ => return Err(self.form()),
            };
            old = old.checked_sub(from).ok_or_else(|| self.form())?;
            new = new.checked_sub(to).ok_or_else(|| self.form())?;
            hunk.removed = hunk.removed.saturating_add(from.saturating_sub(to));
            hunk.added = hunk.added.saturating_add(to.saturating_sub(from));
            hunk.text.push_str(self.take().unwrap_or_default());
        }
        if self.peek().is_some_and(|line| line.starts_with('\\')) {
            hunk.text.push_str(self.take().unwrap_or_default());
        }
        if hunk.added == 0 && hunk.removed == 0 {
            return Err(self.form());
        }
        Ok(hunk)
    }
}
