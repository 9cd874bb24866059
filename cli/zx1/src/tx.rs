//! Transactions as they are shown: summaries, previews and outcomes. What is shown is read from the
//! transaction itself.

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::keys::Key;
use crate::output::{Page, Report};
use crate::words::one_line;
use serde::Serialize;
use serde_json::{Value, json};
use solana_address::Address;
use zx1_chain::rpc::{Flow, Intent, Money, Outbox, PartialTransaction, Summary};
use zx1_operator::{Attempt, Chain, Preview, Status};

pub use zx1_operator::Sent;

/// Shows what was sent.
pub(crate) trait Shown {
    /// Draws the first lines of a result's page.
    fn draw(&self, page: &mut Page);

    /// Prints the result, then removes the transaction from the outbox: in this order, so that a result that was
    /// not shown is shown by the next run.
    async fn finish(&self, context: &Context, report: &impl Report) -> Result<()>;
}

impl Shown for Sent {
    fn draw(&self, page: &mut Page) {
        match self.status {
            Status::Confirmed => page.line(format!("Done: {}.", self.title)),
            Status::AlreadyDone => page.line(format!(
                "Already done: {}. An earlier run sent it; nothing was sent or paid now.",
                self.title
            )),
            Status::NothingToDo => page.line(crate::errors::sentence(&self.title)),
        };
        page.maybe("signature", self.signature.as_ref()).maybe("slot", self.slot);
    }

    async fn finish(&self, context: &Context, report: &impl Report) -> Result<()> {
        context.print(report)?;
        Ok(self.acknowledge().await?)
    }
}

/// Submits an intent as the flags ask. `None` if --dry-run, --print-tx or --sign-only has printed its result and
/// nothing was sent.
///
/// # Errors
/// 7401 without a terminal, 7402 if the user declines; the chain's errors have their own numbers.
pub async fn run(context: &Context, chain: &Chain, flow: &dyn Flow, key: &Key) -> Result<Option<Sent>> {
    context.check_spending(chain)?;
    let operator = context.operator_on(chain.clone())?;
    done(context, operator.send(flow, key).await?)
}

/// The value of a completed attempt; a preview is printed, and `None` returned.
pub fn done<T>(context: &Context, attempt: Attempt<T>) -> Result<Option<T>> {
    let preview = match attempt {
        Attempt::Done(done) => return Ok(Some(done)),
        Attempt::Preview(preview) => preview,
    };
    let flags = context.flags();
    let printed = match *preview {
        Preview::Signed(partial) => context.print(&Signed { partial, bare: flags.print_tx }),
        Preview::NothingToDo(why) if !flags.dry_run => {
            Err(Error::NothingToSign { why: crate::errors::sentence(&why) }.into())
        }
        Preview::NothingToDo(title) => context.print(&DryRun::NothingToDo { title }),
        Preview::Simulated(prepared) => context.print(&DryRun::Simulated {
            cluster: context.cluster_line(),
            compute_units: prepared.simulation.units,
            summary: prepared.summary(),
        }),
    };
    printed.map(|()| None)
}

/// What an interrupted run of the same command sent, followed to its end ([`zx1_operator::Operator::earlier`]).
pub async fn earlier(context: &Context, chain: &Chain, intent: &Intent) -> Result<Option<Sent>> {
    context.check_spending(chain)?;
    Ok(context.operator_on(chain.clone())?.earlier(intent).await?)
}

/// The folder of transactions whose outcome is unknown or was not shown yet.
pub fn outbox(context: &Context) -> Result<Outbox> {
    Ok(zx1_operator::outbox(context.home()?)?)
}

pub(crate) fn cluster_line(context: &Context, chain: &Chain) -> Result<String> {
    let url = &context.settings()?.url.value;
    Ok(match chain.identity.public {
        Some(public) => format!("{} ({url})", public.moniker()),
        None => url.clone(),
    })
}

/// Draws what a transaction does, with the money that a simulation saw moving.
pub fn draw_summary(page: &mut Page, summary: &Summary, cluster: &str) {
    draw_instructions(page, summary);
    draw_moves(page, summary);
    draw_signers(page, summary, cluster);
}

/// Draws what a transaction does that was not simulated: only its instructions say what it moves.
pub fn draw_unsimulated(page: &mut Page, summary: &Summary) {
    draw_instructions(page, summary);
    let fee = Money::Lamports(summary.fee);
    page.line(format!("  Not simulated: the lines above show what it moves. The fee is {fee}."));
    draw_signers(page, summary, "the cluster with its blockhash");
}

fn draw_instructions(page: &mut Page, summary: &Summary) {
    page.heading("This transaction");
    for line in &summary.lines {
        let unknown = if line.understood { "" } else { " (unknown instruction)" };
        page.line(format!("  {}{unknown}", line.title));
        for (label, value) in line.details.iter().filter(|(_, value)| !value.is_empty()) {
            page.field(format!("    {label}"), one_line(value, usize::MAX));
        }
    }
}

fn draw_moves(page: &mut Page, summary: &Summary) {
    page.heading("It moves");
    // The payer is the one who reads this, mostly.
    let named = |address: &Address| match *address == summary.payer {
        true => "the payer".to_owned(),
        false => address.to_string(),
    };
    // The points of decimals stand below each other.
    let before_point = |amount: &str| amount.find(['.', ' ']).unwrap_or(amount.len());
    let fee = Money::Lamports(summary.fee).to_string();
    let amounts = summary.moves.iter().filter(|moved| !matches!(moved.money, Money::Token { .. }));
    let amounts = amounts.map(|moved| before_point(&moved.money.to_string()));
    let widest = amounts.chain([before_point(&fee)]).max().unwrap_or(0);
    let aligned = |amount: String| {
        let indent = widest.saturating_sub(before_point(&amount)).saturating_add(2);
        format!("{:indent$}{amount}", "")
    };
    for moved in &summary.moves {
        let (from, to) = (named(&moved.from), named(&moved.to));
        match moved.money {
            Money::Token { amount, mint } if mint == Some(moved.from) => {
                page.field(aligned(format!("{amount} new NFT")), format!("{from} -> {to}"));
            }
            Money::Token { amount, mint } => {
                let mint = mint.map(|mint| format!(" (mint {mint})")).unwrap_or_default();
                page.field(aligned(format!("{amount} token units")), format!("{from} -> {to}{mint}"));
            }
            money => {
                page.field(aligned(money.to_string()), format!("{from} -> {to}"));
            }
        }
    }
    page.field(aligned(fee), "the payer -> fee");
}

fn draw_signers(page: &mut Page, summary: &Summary, cluster: &str) {
    page.heading("It is");
    page.field("  paid by", summary.payer);
    let others = summary.signers.iter().filter(|signer| **signer != summary.payer);
    for signer in others {
        page.field("  signed by", signer);
    }
    page.field("  for", cluster);
    page.blank();
}

/// What --dry-run prints.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum DryRun {
    #[serde(rename = "dry_run")]
    Simulated {
        cluster: String,
        compute_units: u32,
        #[serde(serialize_with = "in_json")]
        summary: Summary,
    },
    NothingToDo {
        title: String,
    },
}

fn in_json<S: serde::Serializer>(summary: &Summary, serializer: S) -> Result<S::Ok, S::Error> {
    summary.to_json().serialize(serializer)
}

impl Report for DryRun {
    fn draw(&self, page: &mut Page) {
        match self {
            Self::Simulated { cluster, compute_units, summary } => {
                draw_summary(page, summary, cluster);
                page.field("compute units", compute_units);
                page.line("The simulation succeeded. Nothing was sent (--dry-run).")
            }
            Self::NothingToDo { title } => page.line(crate::errors::sentence(title)),
        };
    }
}

/// A transaction with some or all of its signatures, as a result.
pub struct Signed {
    /// The transaction with the signatures collected until now.
    pub partial: PartialTransaction,
    /// Whether only the transaction is printed, for other tools.
    pub bare: bool,
}

impl Serialize for Signed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value: Value = serde_json::from_str(&self.partial.to_json()).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.insert("status".to_owned(), json!("signed"));
            object.insert("complete".to_owned(), json!(self.partial.is_complete()));
        }
        value.serialize(serializer)
    }
}

impl Report for Signed {
    fn draw(&self, page: &mut Page) {
        if !self.bare {
            page.line(crate::errors::sentence(&self.partial.title));
            page.field("blockhash", self.partial.message().recent_blockhash());
            // As the Solana command line prints them.
            for (address, signature) in self.partial.signatures() {
                let shown = signature.map_or_else(|| "missing".to_owned(), |it| it.to_string());
                page.raw(format!("{address}={shown}"));
            }
        }
        page.raw(self.partial.to_base64());
    }
}
