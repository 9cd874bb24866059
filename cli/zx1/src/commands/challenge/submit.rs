//! `zx1 challenge submit`.

use super::file::ChallengeFile;
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use serde::Serialize;
use std::path::PathBuf;
use zx1_chain::rpc::actions::{Actions, ChallengeRequest, challenge_address};
use zx1_chain::rpc::registry::Sati;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The prepared challenge (zx1 challenge find --out)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
struct Submitted {
    #[serde(flatten)]
    sent: Sent,
    challenge: Option<String>,
    agent: String,
    epoch: u64,
    ground: &'static str,
    answerable_through_slot: Option<u64>,
}

impl Report for Submitted {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.maybe("challenge", self.challenge.as_ref())
            .field("against", &self.agent)
            .field("epoch", self.epoch)
            .field("ground", self.ground)
            .maybe("answerable", self.answerable_through_slot.map(|slot| format!("through slot {slot}")));
        if let Some(challenge) = &self.challenge {
            page.next(format!("zx1 challenge resolve {challenge} after that slot"));
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let prepared = ChallengeFile::read(&args.file)?;
    let key = context.key()?;
    context.wait(async {
        let chain = context.connect().await?;
        let sati = Sati::connect(&chain.client).await?;
        let actions = Actions::new(&chain.client, &sati).await?;
        let request = ChallengeRequest {
            challenger: key.address(),
            agent: prepared.agent,
            epoch: prepared.epoch,
            ground: prepared.ground,
            with: prepared.with,
        };
        let address = challenge_address(&request)?;
        let flow = actions.challenge(&request).await?;
        let Some(sent) = tx::run(context, &chain, flow.as_ref(), &key).await? else { return Ok(()) };
        let challenge = chain.client.challenge(address).await?;
        let report = Submitted {
            sent,
            challenge: Some(address.to_string()),
            agent: prepared.agent.to_string(),
            epoch: prepared.epoch,
            ground: super::ground_name(prepared.ground as u8),
            answerable_through_slot: challenge.map(|one| super::clock(&one).deadline().0),
        };
        report.sent.finish(context, &report).await
    })
}
