//! The loop's journal on disk: one JSON object a line, each on the disk before what it speaks of begins.

use super::error::{QaError, Result, at};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use zx1_home::{Clock as _, SystemClock};
use zx1_qa::budget::Amounts;
use zx1_qa::journal::{Point, Recovery};

/// Longest journal that is read, in bytes; older lines are moved away before it grows to that.
const ROTATE: u64 = 16 << 20;

/// The present time in unix milliseconds.
pub(crate) fn now() -> u64 {
    SystemClock.unix_ms()
}

/// Amounts by their names.
pub type Sums = BTreeMap<String, u64>;

/// The amounts that are not zero, by their names.
pub(crate) fn sums(amounts: &Amounts) -> Sums {
    let json = amounts.json();
    let fields = json.as_object().into_iter().flatten();
    let named = fields.filter_map(|(name, value)| value.as_u64().map(|value| (name.clone(), value)));
    named.filter(|(_, value)| *value > 0).collect()
}

/// How a reservation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// With what was used.
    Settled,
    /// As if all of it was used, because nobody knows.
    Charged,
    /// As if nothing was used, because nothing began.
    Refunded,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Line {
    /// A run began.
    Begun { run: String, at: u64, pid: u32, what: String, rung: String, commit: String },
    /// A named point was reached.
    Reached { run: String, point: String },
    /// Amounts were reserved.
    Reserved { run: String, id: u64, amounts: Sums },
    /// A reservation ended.
    Settled { run: String, id: u64, amounts: Sums, how: How },
    /// A tool answered a call.
    Observed { run: String, call: String, ok: bool, error: Option<String>, latency_ms: u64 },
    /// A finding: its text as an entry would have it, by the sha256 of that text.
    Found { run: String, finding: String, text: String },
    /// A proposal passed the gate and has a branch.
    Proposed { run: String, entry: u64, branch: String, gate: String },
    /// A proposal was refused.
    Refused { run: String, entry: u64, code: u32, why: String },
    /// A run ended.
    Ended { run: String, at: u64, how: String },
}

impl Line {
    fn run(&self) -> &str {
        match self {
            Self::Begun { run, .. }
            | Self::Reached { run, .. }
            | Self::Reserved { run, .. }
            | Self::Settled { run, .. }
            | Self::Observed { run, .. }
            | Self::Found { run, .. }
            | Self::Proposed { run, .. }
            | Self::Refused { run, .. }
            | Self::Ended { run, .. } => run,
        }
    }
}

/// Whole lines that are understood, and how many bytes those and the ones that are not have. A crash leaves half of a
/// last line at most.
pub(crate) fn lines(bytes: &[u8]) -> (Vec<Line>, u64) {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
    let text = bytes.get(..whole).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    (lines.collect(), u64::try_from(whole).unwrap_or(0))
}

/// The journal of the process that holds the loop's lock.
#[derive(Debug)]
pub(crate) struct Journal {
    file: std::fs::File,
    path: PathBuf,
    lines: Vec<Line>,
}

/// Reservations of a run that are not settled: id, amounts, and how they end when nobody goes on.
type Open = Vec<(u64, Sums, How)>;

impl Journal {
    /// Opens it, and takes half a last line away.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = || at(path);
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path).map_err(failed())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let (mut read, whole) = lines(&bytes);
        if whole > ROTATE && open_runs(&read).is_empty() {
            let old = path.with_extension("old");
            zx1_home::files::rename(path, &old).map_err(failed())?;
            file = options.open(path).map_err(failed())?;
            // What was found before must be known, so that nothing is found twice.
            read.retain(|line| matches!(line, Line::Found { .. } | Line::Proposed { .. }));
            let mut journal = Self { file, path: path.to_owned(), lines: Vec::new() };
            for line in read {
                journal.write(line)?;
            }
            return Ok(journal);
        }
        file.set_len(whole).map_err(failed())?;
        file.seek(SeekFrom::End(0)).map_err(failed())?;
        Ok(Self { file, path: path.to_owned(), lines: read })
    }

    /// Writes a line. It is on the disk when this returns.
    pub(crate) fn write(&mut self, line: Line) -> Result<()> {
        let failed = |source| QaError::File { path: self.path.clone(), source };
        let mut text = serde_json::to_string(&line).map_err(|error| failed(error.into()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(failed)?;
        self.file.sync_data().map_err(failed)?;
        self.lines.push(line);
        Ok(())
    }

    /// All lines, the oldest first.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Runs that did not end, with their open reservations.
    pub(crate) fn open_runs(&self) -> BTreeMap<String, Open> {
        open_runs(&self.lines)
    }
}

/// Runs that began and did not end. A reservation is charged unless the last point that was reached says that nothing
/// had begun.
fn open_runs(lines: &[Line]) -> BTreeMap<String, Open> {
    let mut runs: BTreeMap<String, (BTreeMap<u64, Sums>, Option<Point>)> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Begun { run, .. } => {
                runs.entry(run.clone()).or_default();
            }
            Line::Ended { run, .. } => drop(runs.remove(run)),
            _ => {}
        }
        let Some((open, last)) = runs.get_mut(line.run()) else { continue };
        match line {
            Line::Reserved { id, amounts, .. } => drop(open.insert(*id, amounts.clone())),
            Line::Settled { id, .. } => drop(open.remove(id)),
            Line::Reached { point, .. } => *last = point_of(point),
            _ => {}
        }
    }
    let how = |last: Option<Point>| {
        let row = Point::TABLE.iter().find(|row| Some(row.0) == last);
        let refunds = row.is_some_and(|row| row.1.contains(&Recovery::Refund));
        if refunds { How::Refunded } else { How::Charged }
    };
    let ended = |(run, (open, last)): (String, (BTreeMap<u64, Sums>, Option<Point>))| {
        (run, open.into_iter().map(|(id, amounts)| (id, amounts, how(last))).collect())
    };
    runs.into_iter().map(ended).collect()
}

/// The name of a point in the journal.
pub(crate) fn name_of(point: Point) -> String {
    format!("{point:?}")
}

fn point_of(name: &str) -> Option<Point> {
    Point::TABLE.iter().map(|row| row.0).find(|point| name_of(*point) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved(run: &str, id: u64) -> Line {
        Line::Reserved { run: run.to_owned(), id, amounts: Sums::from([("writes".to_owned(), id)]) }
    }

    fn begun(run: &str) -> Line {
        let text = String::new;
        Line::Begun { run: run.to_owned(), at: 1, pid: 2, what: text(), rung: text(), commit: text() }
    }

    fn reached(run: &str, point: Point) -> Line {
        Line::Reached { run: run.to_owned(), point: name_of(point) }
    }

    #[test]
    fn half_a_last_line_is_taken_away_and_whole_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        journal.write(begun("a")).unwrap();
        journal.write(reserved("a", 1)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::open(&path).unwrap();
            let before = journal.lines().len();
            journal.write(reserved("a", 2)).unwrap();
            drop(journal);
            let again = Journal::open(&path).unwrap();
            assert_eq!((again.lines().len(), again.lines().last()), (before + 1, Some(&reserved("a", 2))));
        }
    }

    #[test]
    fn a_reservation_of_a_run_that_ended_nowhere_is_charged_once_a_tool_may_have_run() {
        let mut lines = vec![begun("a"), reserved("a", 1), reached("a", Point::Reserved)];
        let row =
            |how| BTreeMap::from([("a".to_owned(), vec![(1, Sums::from([("writes".to_owned(), 1)]), how)])]);
        assert_eq!(open_runs(&lines), row(How::Refunded));
        lines.push(reached("a", Point::ToolRunning));
        assert_eq!(open_runs(&lines), row(How::Charged));
        lines.push(Line::Settled { run: "a".to_owned(), id: 1, amounts: Sums::new(), how: How::Settled });
        assert_eq!(open_runs(&lines)["a"], []);
        lines.push(Line::Ended { run: "a".to_owned(), at: 2, how: "done".to_owned() });
        assert!(open_runs(&lines).is_empty());
    }

    #[test]
    fn every_point_has_a_name_that_is_read_back() {
        for (point, _) in Point::TABLE {
            assert_eq!(point_of(&name_of(point)), Some(point));
        }
    }
}
