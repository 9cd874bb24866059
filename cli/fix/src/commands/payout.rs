//! `fix payout`: the money table (decision E7).

use crate::context::{self, Context};
use crate::errors::{Error, Result};
use serde::Serialize;
use zx1_cli_common::output::{Page, Report};
use zx1_market::Raw;
use zx1_market::money::{self, Court, Payee, Settlement};
use zx1_market::parties::Side;
use zx1_market::terms::Fees;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix payout --outcome fulfilled --bounty 0.5
  fix payout --outcome canceled_attempts_exhausted --bounty 0.5
  fix payout --outcome evil_agent --bounty 1 --court district
  fix payout --outcome impossible --bounty 1 --court appeals --filer agent
  fix --json payout --outcome voided --bounty 0.5

Outcomes without a court: fulfilled, canceled_attempts_exhausted, grace_cancel,
late_cancel_by_agent, late_cancel_by_principal, late_cancel_after_fix, voided,
bond_returned, returned, returned_after_late_cancel. Rulings, with a court:
fulfilled, canceled, impossible, evil_agent, evil_principal, evil_both.
After `impossible` the side that called the court pays it; without --filer
nobody does, as when the answer of the court could not be read.";

/// Arguments of `fix payout`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Outcome of the contract
    #[arg(long, value_name = "OUTCOME")]
    outcome: String,
    /// Bounty in XNO
    #[arg(long, value_name = "XNO", allow_hyphen_values = true)]
    bounty: String,
    /// Court that ruled: district, appeals or supreme
    #[arg(long, value_name = "COURT")]
    court: Option<String>,
    /// Side that called the court: principal or agent
    #[arg(long, value_name = "SIDE", requires = "court")]
    filer: Option<String>,
}

#[derive(Serialize)]
struct Row {
    outcome: &'static str,
    court: Option<&'static str>,
    bounty: String,
    deposited_by_each: String,
    deposited: String,
    principal: String,
    principal_net: String,
    agent: String,
    agent_net: String,
    platform: String,
    charity: String,
}

impl Report for Row {
    fn draw(&self, page: &mut Page) {
        let court = self.court.map(|court| format!(" ({court} court)")).unwrap_or_default();
        page.heading(format!("{}{court}, bounty {} XNO", self.outcome, self.bounty));
        page.field("deposited", format!("{} XNO, {} by each side", self.deposited, self.deposited_by_each))
            .field(
                "principal gets",
                format!("{} XNO, {} net of its deposit", self.principal, self.principal_net),
            )
            .field("agent gets", format!("{} XNO, {} net of its deposit", self.agent, self.agent_net))
            .field("platform gets", format!("{} XNO", self.platform))
            .field("charity gets", format!("{} XNO", self.charity));
    }
}

/// Prints who gets what when a contract ends in this way.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let court = args.court.as_deref().map(court).transpose()?;
    let bounty = context::amount(&args.bounty)?;
    let settlement = Settlement::from_words(&args.outcome, court).ok_or_else(|| {
        let with_court = |settlement: &Settlement| settlement.court().is_some() == court.is_some();
        let mut known: Vec<&str> = Vec::new();
        for settlement in Settlement::all().iter().filter(|settlement| with_court(settlement)) {
            let word = settlement.kind().trim_start_matches("ruling_");
            if !known.contains(&word) {
                known.push(word);
            }
        }
        let what = if court.is_some() { "ruling of a court" } else { "outcome without a court" };
        Error::BadWord { what, text: args.outcome.clone(), known: known.join(", ") }
    })?;
    let settlement = match args.filer.as_deref().map(side).transpose()? {
        Some(filer) => settlement.called_by(filer),
        None => settlement,
    };
    let fees = Fees::default();
    if bounty < fees.min_bounty || bounty > fees.max_bounty {
        let why = format!("a bounty is from {} to {}", fees.min_bounty.xno(), fees.max_bounty.xno());
        return Err(Error::BadAmount { text: args.bounty, why }.into());
    }
    let bond = money::inclusive_bond(&fees, bounty)?;
    let row = money::whole_row(settlement, bounty, &fees)?;
    let total = |payee| row.total(payee).xno();
    context.print(&Row {
        outcome: settlement.kind(),
        court: court.map(Court::as_str),
        bounty: bounty.xno(),
        deposited_by_each: bond.xno(),
        deposited: row.sum().xno(),
        principal: total(Payee::Principal),
        principal_net: net(row.total(Payee::Principal), bond),
        agent: total(Payee::Agent),
        agent_net: net(row.total(Payee::Agent), bond),
        platform: total(Payee::Platform),
        charity: total(Payee::Charity),
    })
}

/// What a side has more than it deposited, or less, with its sign.
fn net(total: Raw, bond: Raw) -> String {
    match total.checked_sub(bond) {
        Some(Raw::ZERO) => "0".to_owned(),
        Some(more) => format!("+{}", more.xno()),
        None => format!("-{}", Raw(bond.0.saturating_sub(total.0)).xno()),
    }
}

fn court(word: &str) -> Result<Court> {
    let known = Court::ALL.map(Court::as_str).join(", ");
    let unknown = Error::BadWord { what: "court", text: word.to_owned(), known };
    Ok(Court::from_word(word).ok_or(unknown)?)
}

fn side(word: &str) -> Result<Side> {
    let known = [Side::Principal, Side::Agent].map(Side::as_str).join(", ");
    let unknown = Error::BadWord { what: "side", text: word.to_owned(), known };
    Ok(Side::from_word(word).ok_or(unknown)?)
}
