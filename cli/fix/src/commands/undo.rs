//! `fix undo`: takes back what an applied fix changed (decision E11).

use crate::context::{self, Context};
use crate::errors::{Error, Result};
use serde::Serialize;
use zx1_cli_common::files;
use zx1_cli_common::output::{Page, Report, Table};
use zx1_cli_common::words::{count, moment};
use zx1_sandbox::{Kind, RecordInfo, RecordState, Records};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix undo             the last fix that was applied in this folder
  fix undo --list      all of them
  fix undo ID          this one";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record; the last one of this folder without it
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// List the records instead
    #[arg(long, conflicts_with = "id")]
    list: bool,
}

#[derive(Serialize)]
struct Line {
    id: String,
    applied_at: u64,
    folder: String,
    state: &'static str,
    changes: Vec<String>,
}

impl Line {
    fn of(record: &RecordInfo) -> Self {
        let change = |(kind, path): &(Kind, std::path::PathBuf)| {
            let sign = match kind {
                Kind::Added => "added",
                Kind::Modified => "changed",
                Kind::Deleted => "deleted",
                Kind::Meta => "mode",
                Kind::Replaced => "replaced",
            };
            format!("{sign} {}", files::shown(path))
        };
        Self {
            id: record.id.clone(),
            applied_at: record.created,
            folder: files::shown(&record.work_tree),
            state: if record.state == RecordState::Done { "applied" } else { "undone" },
            changes: record.changes.iter().map(change).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Listed(Vec<Line>);

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["record", "applied", "state", "changes", "folder"]).prose(4);
        for line in &self.0 {
            let at = moment(i64::try_from(line.applied_at).unwrap_or(i64::MAX));
            table.row([&line.id, &at, &line.state, &line.changes.len(), &line.folder]);
        }
        page.table(table, "fix has changed nothing here.");
    }
}

#[derive(Serialize)]
struct Undone {
    undone: Line,
}

impl Report for Undone {
    fn draw(&self, page: &mut Page) {
        let changes = &self.undone.changes;
        page.line(format!("Taken back, byte for byte: {}.", count(changes.len(), "change", "changes")));
        for change in changes.iter().take(20) {
            page.raw(format!("  {change}"));
        }
        if changes.len() > 20 {
            page.line(format!("  … {} more", changes.len().saturating_sub(20)));
        }
    }
}

/// Lists or takes back.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let place = context.place("undo")?;
    if !place.exists() {
        return match args.list {
            true => context.print(&Listed(Vec::new())),
            false => Err(args.id.map_or(Error::NothingToUndo, |id| Error::NoSuchRecord { id }).into()),
        };
    }
    let records = Records::open(place)?;
    let mut all = records.list()?;
    all.sort_by_key(|record| std::cmp::Reverse(record.created));
    if args.list {
        return context.print(&Listed(all.iter().map(Line::of).collect()));
    }
    let chosen = match &args.id {
        Some(id) => {
            let found = all.iter().find(|record| record.id == *id);
            found.ok_or_else(|| Error::NoSuchRecord { id: id.clone() })?
        }
        None => {
            let folder = context::working_folder()?;
            let applied =
                |record: &&RecordInfo| record.state == RecordState::Done && record.work_tree == folder;
            all.iter().find(applied).ok_or(Error::NothingToUndo)?
        }
    };
    records.undo(&chosen.id)?;
    let mut undone = Line::of(chosen);
    undone.state = "undone";
    context.print(&Undone { undone })
}
