//! Transactions: show, ask, persist, send, wait, show. What is shown is read from the transaction itself.

use crate::chain::Chain;
use crate::confirm;
use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::input;
use crate::keys::Key;
use crate::output::{self, Format, Page, Report};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::compiled_instruction::CompiledInstruction;
use std::sync::{Arc, Mutex, PoisonError};
use zx1_chain::rpc::{
    ChainError, Draft, FeePolicy, Flow, Intent, Money, Outbox, Outcome, PartialTransaction, Prepared,
    Progress, Sender, SenderOptions, Step, Summary,
};

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The transaction landed.
    Confirmed,
    /// One of an earlier, interrupted run landed; nothing was sent now.
    AlreadyDone,
    /// The chain shows that it is so; nothing was sent at all.
    NothingToDo,
}

/// A wish that is fulfilled. Embed it in a result with `#[serde(flatten)]`.
#[derive(Serialize)]
pub struct Sent {
    /// How.
    pub status: Status,
    /// What was done, in a few words.
    pub title: String,
    /// The transaction's signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The slot in which it landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u64>,
    #[serde(skip)]
    sender: Sender,
    #[serde(skip)]
    outcome: Outcome,
}

impl Sent {
    /// What a sender's outcome means.
    pub fn new(sender: Sender, outcome: Outcome) -> Self {
        let (status, title, landed) = match &outcome {
            Outcome::Confirmed(landed) => (Status::Confirmed, landed.title.clone(), Some(landed)),
            Outcome::AlreadyDone(landed) => (Status::AlreadyDone, landed.title.clone(), Some(landed)),
            Outcome::Done(why) => (Status::NothingToDo, why.clone(), None),
        };
        let signature = landed.map(|landed| landed.signature.to_string());
        let slot = landed.map(|landed| landed.slot);
        Self { status, title, signature, slot, sender, outcome }
    }

    /// What the chain shows already, so that nothing is sent.
    pub fn nothing_to_do(context: &Context, chain: &Chain, why: &str) -> Result<Self> {
        let sender = plain_sender(context, chain)?;
        Ok(Self::new(sender, Outcome::Done(why.to_owned())))
    }

    /// Lets the outbox forget the transaction, after its result was shown.
    pub async fn acknowledge(&self) -> Result<()> {
        Ok(self.sender.acknowledge(&self.outcome).await?)
    }

    /// The first lines of a result's page.
    pub fn draw(&self, page: &mut Page) {
        match self.status {
            Status::Confirmed => page.line(format!("Done: {}.", self.title)),
            Status::AlreadyDone => page.line(format!(
                "Done already: {}. An earlier run sent it; nothing was sent or paid now.",
                self.title
            )),
            Status::NothingToDo => page.line(crate::errors::sentence(&self.title)),
        };
        page.maybe("signature", self.signature.as_ref()).maybe("slot", self.slot);
    }

    /// Prints the result, then lets the outbox forget the transaction: in this order, so that a result that
    /// nobody saw is shown again.
    pub async fn finish(&self, context: &Context, report: &impl Report) -> Result<()> {
        context.print(report)?;
        Ok(self.sender.acknowledge(&self.outcome).await?)
    }
}

/// Fulfils a wish the way that the flags say. `None` when --dry-run, --print-tx or --sign-only has printed
/// what it makes, and nothing was sent.
///
/// # Errors
/// 7401 when nobody can be asked, 7402 when the answer was no, the chain's refusals under their own numbers.
pub async fn run(context: &Context, chain: &Chain, flow: &dyn Flow, key: &Key) -> Result<Option<Sent>> {
    let flags = context.flags();
    context.check_spending(chain)?;
    let spinner = Spinner::new(context);
    let sender = sender(context, chain, &spinner)?;
    if flags.dry_run {
        return dry_run(context, chain, &sender, flow).await.map(|()| None);
    }
    if flags.print_tx || flags.sign_only {
        return sign(context, chain, &sender, flow, key).await.map(|()| None);
    }
    let format = context.format()?;
    let yes = flags.yes;
    let cluster = cluster_line(context, chain)?;
    // The sender knows only its own errors; ours waits here until it has stopped.
    let mut declined: Option<Failure> = None;
    let mut approve = |prepared: &Prepared| -> Result<(), ChainError> {
        prepared.check()?;
        spinner.suspend(|| match consent(&prepared.summary(), &cluster, yes, format) {
            Ok(()) => Ok(()),
            Err(failure) => {
                declined = Some(failure);
                Err(ChainError::Declined)
            }
        })
    };
    let outcome = sender.run(flow, &[key.keypair()], &mut approve).await;
    drop(spinner);
    match (outcome, declined) {
        (Err(_), Some(failure)) => Err(failure),
        (outcome, _) => Ok(Some(Sent::new(sender, outcome?))),
    }
}

/// Fulfils a wish without asking: for what runs by itself and was allowed to beforehand. Its outbox is its
/// own: it decides anew by what the chain shows, so it has to see first what became of what it sent
/// ([`settle_unasked`]), and a person's unfinished commands are left to that person.
pub async fn run_unasked(context: &Context, chain: &Chain, flow: &dyn Flow, key: &Key) -> Result<Sent> {
    context.check_spending(chain)?;
    let spinner = Spinner::new(context);
    let sender = sender_with(context, chain, &spinner, unasked_outbox(context)?)?;
    let mut approve = |prepared: &Prepared| -> Result<(), ChainError> { prepared.check().map(|_| ()) };
    let outcome = sender.run(flow, &[key.keypair()], &mut approve).await?;
    Ok(Sent::new(sender, outcome))
}

/// What [`run_unasked`] sent in an interrupted run, followed to its end: what landed. To be shown and
/// acknowledged.
pub async fn settle_unasked(context: &Context, chain: &Chain) -> Result<Vec<Sent>> {
    let outbox = unasked_outbox(context)?;
    let mut settled = Vec::new();
    for record in outbox.records()?.iter().filter(|record| record.genesis == chain.identity.genesis) {
        let sender = sender_with(context, chain, &Spinner::new(context), outbox.clone())?;
        match sender.earlier(&record.wish()).await {
            Ok(outcome) => settled.extend(outcome.map(|outcome| Sent::new(sender, outcome))),
            // Another process of this home is at it.
            Err(ChainError::OutboxBusy { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(settled)
}

/// Whether something that [`run_unasked`] signed for this wish may still land. A transaction is recorded
/// before it is published, so without a record nothing was.
pub fn may_land_unasked(context: &Context, intent: &Intent) -> Result<bool> {
    Ok(unasked_outbox(context)?.records()?.iter().any(|record| record.wish() == *intent))
}

fn unasked_outbox(context: &Context) -> Result<Outbox> {
    Ok(Outbox::open(context.home()?.join(defaults::OUTBOX).join("unasked"))?)
}

/// What an interrupted run of this very command sent, followed to its end. For commands that the chain's
/// state refuses once they have succeeded: they ask this before they look. Nothing for flags that send
/// nothing.
pub async fn earlier(context: &Context, chain: &Chain, intent: &Intent) -> Result<Option<Sent>> {
    let flags = context.flags();
    if flags.dry_run || flags.print_tx || flags.sign_only {
        return Ok(None);
    }
    let sender = plain_sender(context, chain)?;
    let outcome = sender.earlier(intent).await?;
    Ok(outcome.map(|outcome| Sent::new(sender, outcome)))
}

/// A sender for what was not built here, such as a sponsor's transactions.
pub fn plain_sender(context: &Context, chain: &Chain) -> Result<Sender> {
    context.check_spending(chain)?;
    sender(context, chain, &Spinner::new(context))
}

/// Whether a transaction does exactly what a draft does: the same calls in the same order. The compute budget
/// is its maker's business.
pub fn holds(partial: &PartialTransaction, draft: &Draft) -> bool {
    let message = partial.message();
    let keys = message.static_account_keys();
    let key = |index: u8| keys.get(usize::from(index)).copied();
    let budget = solana_compute_budget_interface::id();
    let calls = message.instructions().iter().filter(|call| key(call.program_id_index) != Some(budget));
    let same = |(call, wanted): (&CompiledInstruction, &Instruction)| {
        let accounts: Vec<_> = call.accounts.iter().map(|index| key(*index)).collect();
        let expected: Vec<_> = wanted.accounts.iter().map(|account| Some(account.pubkey)).collect();
        key(call.program_id_index) == Some(wanted.program_id)
            && call.data == wanted.data
            && accounts == expected
    };
    calls.clone().count() == draft.instructions.len() && calls.zip(&draft.instructions).all(same)
}

/// The folder of transactions whose fate is not known yet, or not yet shown.
pub fn outbox(context: &Context) -> Result<Outbox> {
    Ok(Outbox::open(context.home()?.join(defaults::OUTBOX))?)
}

fn sender(context: &Context, chain: &Chain, spinner: &Spinner) -> Result<Sender> {
    sender_with(context, chain, spinner, outbox(context)?)
}

fn sender_with(context: &Context, chain: &Chain, spinner: &Spinner, outbox: Outbox) -> Result<Sender> {
    let price = context.settings()?.compute_unit_price.value;
    let fees = price.map_or_else(FeePolicy::default, FeePolicy::Fixed);
    let options = SenderOptions { fees, ..SenderOptions::default() };
    let shown = spinner.clone();
    let sender = Sender::new(chain.client.clone(), outbox, options);
    Ok(sender.with_progress(Arc::new(move |progress| shown.say(in_words(progress)))))
}

fn in_words(progress: &Progress) -> String {
    match progress {
        Progress::Resumed(signature) => format!("Following {signature} of an earlier run"),
        Progress::Prepared(title) => title.clone(),
        Progress::Sent(signature) => format!("Waiting for {signature}"),
        Progress::SentAgain(signature) => format!("Sent again, waiting for {signature}"),
        Progress::StepDone(title) => format!("{title}: done, next step"),
        Progress::Raced(_) => "Somebody was faster, building it anew".to_owned(),
    }
}

fn cluster_line(context: &Context, chain: &Chain) -> Result<String> {
    let url = &context.settings()?.url.value;
    Ok(match chain.identity.public {
        Some(public) => format!("{} ({url})", public.moniker()),
        None => url.clone(),
    })
}

/// Shows the transaction and asks.
fn consent(summary: &Summary, cluster: &str, yes: bool, format: Format) -> Result<()> {
    if !yes || !format.is_json() {
        let mut page = Page::new(output::width());
        draw_summary(&mut page, summary, cluster);
        output::write_err(&page.finish());
    }
    if yes { Ok(()) } else { Ok(confirm::ask("Send it?")?) }
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
    page.line(format!("  It was not simulated: the lines above say what it moves. The fee is {fee}."));
    draw_signers(page, summary, "the cluster with its blockhash");
}

fn draw_instructions(page: &mut Page, summary: &Summary) {
    page.heading("This transaction");
    for line in &summary.lines {
        let unknown = if line.understood { "" } else { " (zx1 does not know this instruction)" };
        page.line(format!("  {}{unknown}", line.title));
        for (label, value) in line.details.iter().filter(|(_, value)| !value.is_empty()) {
            page.field(format!("    {label}"), value.escape_debug());
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

/// The next transaction of a wish.
async fn next_draft(chain: &Chain, flow: &dyn Flow) -> Result<Result<Draft, String>> {
    Ok(match flow.next(&chain.client).await? {
        Step::Send { draft, .. } => Ok(draft),
        Step::Done(why) => Err(why),
    })
}

struct DryRun {
    cluster: String,
    summary: Option<Summary>,
    units: Option<u32>,
    done: Option<String>,
}

impl Serialize for DryRun {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: Value = match (&self.summary, &self.done) {
            (Some(summary), _) => json!({
                "status": "dry_run",
                "cluster": self.cluster,
                "compute_units": self.units,
                "summary": summary.to_json(),
            }),
            (None, done) => json!({ "status": "nothing_to_do", "title": done }),
        };
        value.serialize(serializer)
    }
}

impl Report for DryRun {
    fn draw(&self, page: &mut Page) {
        if let Some(summary) = &self.summary {
            draw_summary(page, summary, &self.cluster);
            page.maybe("compute units", self.units);
            page.line("The simulation went well. Nothing was sent (--dry-run).");
        } else if let Some(done) = &self.done {
            page.line(crate::errors::sentence(done));
        }
    }
}

async fn dry_run(context: &Context, chain: &Chain, sender: &Sender, flow: &dyn Flow) -> Result<()> {
    let cluster = cluster_line(context, chain)?;
    let draft = match next_draft(chain, flow).await? {
        Ok(draft) => draft,
        Err(done) => {
            return context.print(&DryRun { cluster, summary: None, units: None, done: Some(done) });
        }
    };
    let prepared = sender.prepare(&draft).await?;
    prepared.check()?;
    let (units, summary) = (Some(prepared.simulation.units), Some(prepared.summary()));
    context.print(&DryRun { cluster, summary, units, done: None })
}

/// A transaction with some or all of its signatures, as a result.
pub struct Signed {
    /// The transaction.
    pub partial: PartialTransaction,
    /// Only the transaction, for other tools.
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
            page.field("blockhash", base58(self.partial.message().recent_blockhash().as_ref()));
            // As the Solana command line prints them.
            for ((address, signed), signature) in self.partial.signers().iter().zip(self.signatures()) {
                let shown = if *signed { signature } else { "missing".to_owned() };
                page.raw(format!("{address}={shown}"));
            }
        }
        page.raw(self.partial.to_base64());
    }
}

impl Signed {
    /// The signatures in the order of the signers: they stand before the transaction, behind their count.
    fn signatures(&self) -> Vec<String> {
        let bytes = STANDARD.decode(self.partial.to_base64()).unwrap_or_default();
        let behind = bytes.get(1..).unwrap_or_default();
        behind.chunks_exact(64).take(self.partial.signers().len()).map(base58).collect()
    }
}

fn base58(bytes: &[u8]) -> String {
    bs58::encode(bytes).into_string()
}

/// --print-tx and --sign-only: the transaction signed by this key, with a fresh blockhash or the given one.
async fn sign(context: &Context, chain: &Chain, sender: &Sender, flow: &dyn Flow, key: &Key) -> Result<()> {
    let flags = context.flags();
    let draft = match next_draft(chain, flow).await? {
        Ok(draft) => draft,
        Err(done) => return Err(Error::NothingToSign { why: crate::errors::sentence(&done) }.into()),
    };
    let mut partial = match &flags.blockhash {
        Some(text) => {
            let blockhash = input::address(text, "The blockhash")?.to_bytes();
            let price = context.settings()?.compute_unit_price.value.unwrap_or(0);
            // No blockhash that is known now serves longer than the newest.
            let last = chain.client.blockhash().await?.last_valid_block_height;
            PartialTransaction::offline(&draft, blockhash, last, None, price)?
        }
        None => sender.prepare(&draft).await?.unsigned()?,
    };
    partial.sign(&[key.keypair()])?;
    context.print(&Signed { partial, bare: flags.print_tx })
}

/// A spinner that lets questions through.
#[derive(Clone)]
struct Spinner(Arc<Mutex<crate::progress::Progress>>);

impl Spinner {
    fn new(context: &Context) -> Self {
        Self(Arc::new(Mutex::new(context.spinner("Preparing"))))
    }

    fn say(&self, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).say(text);
    }

    fn suspend<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).suspend(ask)
    }
}
