//! `fix verify`: a transcript, checked offline.

use crate::context::Context;
use crate::errors::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_cli_common::errors::sentence;
use zx1_cli_common::files;
use zx1_cli_common::output::{Mark, Page, Report, Table};
use zx1_cli_common::words::{count, moment};
use zx1_market::ContractId;
use zx1_market::case::{self, Transcript};
use zx1_market_client::Transcripts;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix verify 0123456789abcdef                 a contract whose transcript is kept here
  curl -s $FIX_SERVER/contracts/0123456789abcdef > t.json; fix verify t.json
  fix --json verify t.json                    everything that it proves

Exit code 0 if it verifies, 1 if not.";

/// Largest file in bytes: the market's longest JSON.
const LIMIT: u64 = zx1_market::defaults::MAX_JSON_BYTES as u64;

/// Arguments of `fix verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Saved transcript, answer of GET /contracts/ID, or id of a contract of this machine
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Reads a transcript.
///
/// # Errors
/// 9506 when the file cannot be read, 9531 when it is not a transcript.
pub fn read(path: &Path) -> Result<Transcript> {
    let bytes = files::read_needed(path, LIMIT)?;
    Transcript::parse(&bytes)
        .map_err(|refusal| Error::NoTranscript { file: files::shown(path), why: refusal.to_string() }.into())
}

/// A transcript and what it proves.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Checked<'a> {
    /// What it proves.
    pub report: &'a case::Report,
    /// The transcript itself.
    #[serde(skip)]
    pub transcript: &'a Transcript,
}

impl Report for Checked<'_> {
    fn draw(&self, page: &mut Page) {
        let report = self.report;
        let found = if report.valid {
            format!(
                "All {} hold: signatures, links, authors, rules.",
                count(report.total, "entry", "entries")
            )
        } else {
            format!("{} of {} entries hold.", report.entries, report.total)
        };
        page.check(if report.valid { Mark::Ok } else { Mark::Fail }, "transcript", &found, None);
        page.maybe("contract", report.contract_id)
            .maybe("state", report.state.map(|state| state.as_str()))
            .maybe("principal", report.principal)
            .maybe("agent", report.agent)
            .maybe("server", report.server)
            .field("chain head", &report.chain_head);
        if !report.exact_times {
            page.field("times", "moments of arrival are not known, so windows are checked to a minute");
        }
        page.heading("Entries");
        let mut table = Table::new(["seq", "entry", "signed by", "at"]);
        for (signer, entry) in report.signers.iter().zip(&self.transcript.entries) {
            let at = moment(i64::try_from(entry.at().as_secs()).unwrap_or(i64::MAX));
            let role = serde_json::to_string(&signer.role).unwrap_or_default();
            table.row([&signer.seq, &signer.entry, &role.trim_matches('"').replace('_', " "), &at]);
        }
        page.table(table, "There are none.");
        if !report.settlements.is_empty() {
            page.heading("Paid");
            let mut table = Table::new(["to", "XNO", "for"]);
            for settle in &report.settlements {
                for leg in settle.accounts.iter().flat_map(|account| &account.legs) {
                    let to = serde_json::to_string(&leg.to).unwrap_or_default();
                    table.row([&to.trim_matches('"'), &leg.amount.xno(), &settle.settlement.kind()]);
                }
            }
            page.table(table, "");
        }
    }
}

/// Checks the file.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let file = kept(&args.file, context)?.unwrap_or(args.file);
    let transcript = read(&file)?;
    let report = case::replay(&transcript);
    context.print(&Checked { report: &report, transcript: &transcript })?;
    if report.valid {
        return Ok(());
    }
    let why = sentence(report.error.as_deref().unwrap_or("an entry does not hold"));
    Err(Error::NotSound { file: files::shown(&file), why }.into())
}

/// The transcript that is kept under a contract's id, when no file has that name.
fn kept(file: &Path, context: &Context) -> Result<Option<PathBuf>> {
    let id = file.to_str().and_then(|text| text.parse::<ContractId>().ok());
    let Some(id) = id.filter(|_| !file.exists()) else { return Ok(None) };
    Ok(Transcripts::find(&context.place("transcripts")?, id))
}
