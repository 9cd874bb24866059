//! `zx1 chat propose`, `accept`, `reject`, `complete` and `dispute`.

use super::connect::{Relaying, agent, once};
use super::line::{ChangeLine, ProposalLine, word};
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::{Drawn, Page};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zx1_relay_client::Answer;
use zx1_relay_rules::AgentId;
use zx1_relay_rules::proposal::Act;
use zx1_relay_rules::signing::Terms;

#[derive(Debug, clap::Args)]
pub(crate) struct Propose {
    /// Agent that is to do it, and is on the relay
    #[arg(value_name = "AGENT", value_parser = agent)]
    to: AgentId,
    /// The work that is proposed
    #[arg(long, value_name = "TEXT")]
    task: String,
    /// Amount that is paid for it
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    amount: Option<f64>,
    /// Currency of the amount
    #[arg(long, value_name = "NAME", requires = "amount")]
    currency: Option<String>,
    /// Address that is paid to
    #[arg(long, value_name = "TEXT")]
    payment_code: Option<String>,
    /// Terms beyond the task
    #[arg(long, value_name = "TEXT")]
    terms: Option<String>,
    /// Seconds after which the proposal expires
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    expires: Option<f64>,
    /// Points of the rating that are staked
    #[arg(long, value_name = "POINTS")]
    elo_stake: Option<u32>,
    /// Market contract that the proposal is bound to: https://HOST#ID
    #[arg(long, value_name = "CONTRACT")]
    contract: Option<String>,
    /// Conversation of envelopes that the proposal is bound to, 32 hex digits
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    #[command(flatten)]
    carried: Carried,
    #[command(flatten)]
    relaying: Relaying,
}

/// An envelope beside the relay's own signature.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Carried {
    /// Envelope of the agent's log to carry along: a file, hex or base64
    #[arg(long, value_name = "ENVELOPE")]
    envelope: Option<String>,
}

impl Carried {
    fn read(&self) -> Result<Option<String>> {
        let Some(argument) = &self.envelope else { return Ok(None) };
        let limit = zx1_relay_rules::defaults::MAX_ENVELOPE as u64;
        Ok(Some(STANDARD.encode(input::read(argument, limit)?.bytes)))
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Accept {
    /// The proposal's id
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    /// Address that is to be paid
    #[arg(long, value_name = "TEXT")]
    payment_code: Option<String>,
    /// Points of the rating that are staked
    #[arg(long, value_name = "POINTS")]
    elo_stake: Option<u32>,
    #[command(flatten)]
    carried: Carried,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reject {
    /// The proposal's id
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    /// Reason that the proposer reads
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    carried: Carried,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Complete {
    /// The proposal's id
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    /// What shows that it is done
    #[arg(long, value_name = "TEXT")]
    proof: Option<String>,
    #[command(flatten)]
    carried: Carried,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Dispute {
    /// The proposal's id
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    /// Reason that the other party and the relay's admin read
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    carried: Carried,
    #[command(flatten)]
    relaying: Relaying,
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number, 0 or more".to_owned())
}

/// The act of this word, as typed.
pub(super) fn read_act(text: &str) -> Option<Act> {
    Act::ALL.into_iter().find(|act| *act != Act::Expire && word(*act) == text)
}

fn draw_proposal(line: &ProposalLine, page: &mut Page) {
    line.draw(page);
}

fn draw_change(line: &ChangeLine, page: &mut Page) {
    line.draw(page);
}

pub(super) fn propose(args: &Propose, context: &Context) -> Result<()> {
    let options = args.relaying.signing_options(context)?;
    let envelope = args.carried.read()?;
    let terms = Terms {
        to: args.to.to_string(),
        task: args.task.clone(),
        amount: args.amount,
        currency: args.currency.clone(),
        payment_code: args.payment_code.clone(),
        terms: args.terms.clone(),
        expires: args.expires,
        elo_stake: args.elo_stake.map(f64::from),
        contract: args.contract.clone(),
        conversation: args.conversation.clone(),
    };
    context.wait(async {
        let mut client = once(options).await?;
        let filed = client.propose(&args.to, &terms, envelope).await?;
        client.close().await;
        context.print(&Drawn(&ProposalLine::from(&filed), draw_proposal))
    })
}

fn act(act: Act, proposal: &str, answer: Answer, relaying: &Relaying, context: &Context) -> Result<()> {
    let options = relaying.signing_options(context)?;
    context.wait(async {
        let mut client = once(options).await?;
        let changed = client.act(act, proposal, &answer).await?;
        client.close().await;
        context.print(&Drawn(&ChangeLine::from(&changed), draw_change))
    })
}

pub(super) fn accept(args: &Accept, context: &Context) -> Result<()> {
    let answer = Answer {
        payment_code: args.payment_code.clone(),
        elo_stake: args.elo_stake.map(f64::from),
        envelope: args.carried.read()?,
        ..Answer::default()
    };
    act(Act::Accept, &args.proposal, answer, &args.relaying, context)
}

pub(super) fn reject(args: &Reject, context: &Context) -> Result<()> {
    let answer = Answer { reason: args.reason.clone(), envelope: args.carried.read()?, ..Answer::default() };
    act(Act::Reject, &args.proposal, answer, &args.relaying, context)
}

pub(super) fn complete(args: &Complete, context: &Context) -> Result<()> {
    let answer = Answer { proof: args.proof.clone(), envelope: args.carried.read()?, ..Answer::default() };
    act(Act::Complete, &args.proposal, answer, &args.relaying, context)
}

pub(super) fn dispute(args: &Dispute, context: &Context) -> Result<()> {
    let reason = Some(args.reason.clone());
    let answer = Answer { reason, envelope: args.carried.read()?, ..Answer::default() };
    act(Act::Dispute, &args.proposal, answer, &args.relaying, context)
}
