//! `fix undo`: reverts an applied fix (decision E11).

use crate::context::{self, Context};
use crate::errors::Result;
use serde::Serialize;
use zx1_cli_common::files;
use zx1_cli_common::output::{Page, Report, Table};
use zx1_cli_common::words::{count, moment};
use zx1_principal::undo::{self, Which};
use zx1_sandbox::{Kind, RecordInfo, RecordState};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix undo             the last fix that was applied in this folder
  fix undo --list      all of them
  fix undo ID          this one";

/// Arguments of `fix undo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Undo record; by default the last one in this folder
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// List all records
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
        page.table(table, "No fix was applied yet.");
    }
}

#[derive(Serialize)]
struct Undone {
    undone: Line,
    /// Changed since, and so left as they are.
    left: Vec<String>,
}

impl Report for Undone {
    fn draw(&self, page: &mut Page) {
        let changes = &self.undone.changes;
        page.line(format!("Undone, byte for byte: {}.", count(changes.len(), "change", "changes")));
        if !self.left.is_empty() {
            page.line("Left, because something there was changed or added since:");
            for path in &self.left {
                page.raw(format!("  {path}"));
            }
        }
        for change in changes.iter().take(20) {
            page.raw(format!("  {change}"));
        }
        if changes.len() > 20 {
            page.line(format!("  … {} more", changes.len().saturating_sub(20)));
        }
    }
}

/// Lists or undoes.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let home = context.home()?;
    if args.list {
        return context.print(&Listed(undo::list(home)?.iter().map(Line::of).collect()));
    }
    let (record, left) = match &args.id {
        Some(id) => undo::undo(home, Which::Id(id))?,
        None => undo::undo(home, Which::LastIn(&context::working_folder()?))?,
    };
    let undone = Line { state: "undone", ..Line::of(&record) };
    let left = left.iter().map(|path| files::shown(path)).collect();
    context.print(&Undone { undone, left })
}
