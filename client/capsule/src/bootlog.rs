//! Lines of bootstrap.log: `<RFC 3339> BOOTSTRAPPING|SUCCESS <branch> <commit> <generation>`.

use std::fmt;

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Its process has begun.
    Bootstrapping,
    /// It has initialized.
    Success,
}

/// One line of bootstrap.log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The time as the runner wrote it.
    pub at: String,
    /// Beginning or success.
    pub word: Word,
    /// The branch's name.
    pub branch: String,
    /// The commit that runs.
    pub commit: String,
    /// The generation's number.
    pub generation: u64,
}

impl Line {
    /// Parses a line without its end; `None` for anything else, which is skipped: the agent writes this file.
    #[must_use]
    pub fn parse(text: &str) -> Option<Line> {
        let mut words = text.split(' ');
        let (at, word) = (words.next()?, words.next()?);
        let word = match word {
            "BOOTSTRAPPING" => Word::Bootstrapping,
            "SUCCESS" => Word::Success,
            _ => return None,
        };
        let (branch, commit) = (words.next()?, words.next()?);
        let generation = words.next()?.parse().ok()?;
        if words.next().is_some() || at.is_empty() || branch.is_empty() || commit.is_empty() {
            return None;
        }
        at.parse::<jiff::Timestamp>().ok()?;
        Some(Line {
            at: at.to_owned(),
            word,
            branch: branch.to_owned(),
            commit: commit.to_owned(),
            generation,
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.word {
            Word::Bootstrapping => "BOOTSTRAPPING",
            Word::Success => "SUCCESS",
        };
        write!(f, "{} {word} {} {} {}", self.at, self.branch, self.commit, self.generation)
    }
}

/// Whether the log shows that a generation has initialized: after its last BOOTSTRAPPING entry stands its SUCCESS, and
/// no other generation began since. A last line without its end does not count yet.
#[must_use]
pub fn succeeded(log: &str, generation: u64) -> bool {
    let whole = log.rfind('\n').and_then(|end| log.get(..end)).unwrap_or_default();
    let mut began = false;
    let mut done = false;
    for line in whole.lines().filter_map(Line::parse) {
        match line.word {
            Word::Bootstrapping => (began, done) = (line.generation == generation, false),
            Word::Success => done = began && line.generation == generation,
        }
    }
    done
}
