//! `zx1 negotiate rate`.

use crate::commands::notary::Outcome;
use crate::context::{Context, find_agent};
use crate::errors::Result;
use crate::input;
use crate::node::{self, draw_draft};
use clap::ValueEnum;
use zx1_operator::node::wire;

/// The role in which an agent took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    /// A party of the deal
    Participant,
    /// The notary of the task
    Notary,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversation id, 32 hex digits
    #[arg(value_name = "CONVERSATION")]
    conversation: String,
    /// Agent that is rated: a local name or a mint
    #[arg(value_name = "AGENT")]
    target: String,
    /// Score from -100 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
    score: i8,
    /// How the task ended [default: by the sign of the score]
    #[arg(long, value_name = "OUTCOME", value_enum)]
    outcome: Option<Outcome>,
    /// Role that is rated [default: the one in which the agent took part]
    #[arg(long, value_name = "ROLE", value_enum)]
    role: Option<Role>,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = input::conversation(&args.conversation)?;
    let target = find_agent(&context.config()?, &args.target)?;
    let rating = wire::Rate {
        conversation: conversation.to_string(),
        target: target.mint.to_string(),
        score: args.score,
        outcome: args.outcome.map(Outcome::number),
        role: args.role.map(|role| match role {
            Role::Participant => 0,
            Role::Notary => 1,
        }),
    };
    let client = node::client(context, &agent)?;
    let draft = context.wait(async { Ok(client.rate(&rating).await?) })?;
    context.show(&draft, draw_draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_score_is_from_minus_100_to_100() {
        let parsed =
            |line: &str| Line::try_parse_from(["rate", "00", "a"].into_iter().chain(line.split(' ')));
        for (line, score) in [("--score -100", -100), ("--score 100 --role notary --outcome neutral", 100)] {
            assert_eq!(parsed(line).unwrap().args.score, score);
        }
        for line in
            ["--score -101", "--score 101", "--score", "--role judge --score 1", "--outcome good --score 1"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
