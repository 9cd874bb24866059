//! Transactions as they are previewed, sent and shown afterwards. What they do is drawn by [`crate::summary`].

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::keys::Key;
use crate::output::{Page, Report};
use crate::summary::{self, View};
use serde::Serialize;
use serde_json::{Value, json};
use zx1_chain::rpc::{Flow, Intent, Outbox, PartialTransaction, Summary};
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
            summary: Box::new(prepared.summary()),
            view: context.view()?,
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

/// What --dry-run prints.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum DryRun {
    #[serde(rename = "dry_run")]
    Simulated {
        cluster: String,
        compute_units: u32,
        #[serde(serialize_with = "in_json")]
        summary: Box<Summary>,
        #[serde(skip)]
        view: View,
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
            Self::Simulated { compute_units, summary, view, .. } => {
                summary::draw(page, summary, view);
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
