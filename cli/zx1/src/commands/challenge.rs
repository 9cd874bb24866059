//! `zx1 challenge`: answer or lose (protocol.md, 8.6; decisions B10 to B12).

mod answer;
mod file;
mod find;
mod list;
mod settle;
mod submit;
mod watch;

use crate::context::Context;
use crate::errors::{Error, Result};
use clap::Subcommand;
use solana_address::Address;
use zx1_chain::rpc::{Client, Stored};
use zx1_interface::accounts::ChallengeAccount;
use zx1_protocol::challenge::{Clock, Ground};
use zx1_protocol::units::Slot;

pub(crate) use answer::{Data, draft as answer_draft, find_answer};
pub(crate) use settle::{close as close_draft, resolve as resolve_draft};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 challenge find deal.cbor --out challenge.json     does the sender's batch hide this message?
  zx1 challenge find --double-bids --against AGENT --epoch 20777 --out challenge.json
  zx1 challenge submit challenge.json                   put up 10 USDC
  zx1 challenge list                                    yours, and those against your agent
  zx1 challenge watch                                   answer those against your agent by itself
  zx1 challenge answer CHALLENGE                        answer one, for any agent
  zx1 challenge resolve CHALLENGE                       after its window: pays whoever is right
  zx1 challenge close CHALLENGE                         the rent comes back

Evidence is a message that the agent signed (an envelope) or an entry of its
log. find looks into the batch's served data first: a challenge that can be
answered costs you 10 USDC. Not answered within 432 000 slots, the agent loses
its whole stake, half of it to you.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Look for what a batch hides, and prepare a challenge
    Find(find::Args),
    /// Submit a prepared challenge: locks 10 USDC
    Submit(submit::Args),
    /// Answer a challenge with the record that the batch holds
    Answer(answer::Args),
    /// Settle a challenge whose window is over
    Resolve(settle::Args),
    /// Close a settled challenge; its rent goes to the challenger
    Close(settle::Args),
    /// List challenges
    List(list::Args),
    /// Answer challenges against the agent as they come
    Watch(watch::Args),
}

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    match args.action {
        Action::Find(args) => find::run(&args, context),
        Action::Submit(args) => submit::run(&args, context),
        Action::Answer(args) => answer::run(&args, context),
        Action::Resolve(args) => settle::run_resolve(&args, context),
        Action::Close(args) => settle::run_close(&args, context),
        Action::List(args) => list::run(&args, context),
        Action::Watch(args) => watch::run(&args, context),
    }
}

/// The challenge at an address.
///
/// # Errors
/// 7543 when there is none.
async fn need(client: &Client, address: Address) -> Result<Stored<ChallengeAccount>> {
    let found = client.challenge(address).await?;
    found.ok_or_else(|| Error::NoChallenge { address: address.to_string() }.into())
}

/// The window in which it can be answered.
pub(crate) fn clock(challenge: &ChallengeAccount) -> Clock {
    Clock { submitted: Slot(challenge.submitted_slot) }
}

/// What a ground is called.
fn ground_name(ground: u8) -> &'static str {
    match Ground::from_u8(ground) {
        Some(Ground::Bid) => "bid",
        Some(Ground::Selection) => "selection",
        Some(Ground::Verifier) => "verifier",
        Some(Ground::Feedback) => "feedback",
        Some(Ground::DoubleBid) => "double_bid",
        None => "unknown",
    }
}

/// Where a challenge stands.
pub(crate) fn state(challenge: &ChallengeAccount, now: Slot) -> &'static str {
    match (challenge.resolved != 0, challenge.answered != 0, clock(challenge).is_open(now)) {
        (true, ..) if challenge.succeeded != 0 => "succeeded",
        (true, ..) => "failed",
        (_, true, true) => "answered",
        (_, true, false) => "answered, to be resolved",
        (_, false, true) => "open",
        (_, false, false) => "unanswered, to be resolved",
    }
}
