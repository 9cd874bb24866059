//! The next step of an agent as a command, and results that end with it.

use crate::amount;
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::Result;
use crate::output::{Page, Report};
use crate::tx;
use crate::words::slots;
use serde::Serialize;
use std::time::Duration;
use zx1_operator::steps::Step;
use zx1_operator::{Attempt, Operator, Sent};

/// How long a result waits for its next step: it is a courtesy, and the result is there.
const PATIENCE: Duration = Duration::from_secs(5);
/// What remains once an agent is set up.
pub const KEEP: &str = "zx1 keeper run, which does the rest every day";
/// How a place for batch data is chosen.
pub const PLACE: &str = "zx1 config set upload FOLDER_OR_URL, from which others fetch the batches' data";

/// The command for a step.
pub fn command(step: &Step) -> String {
    match step {
        Step::Answer { challenge } => format!("zx1 challenge answer {challenge}"),
        Step::Show { ask } => format!("zx1 ask show {ask}"),
        Step::Register => "zx1 register --name NAME, or another cluster with -u".to_owned(),
        Step::TakeOver => "zx1 take-over".to_owned(),
        Step::ListKeys => {
            "zx1 keys add FILE --scopes pay,batch,deal,peer (zx1 key new FILE makes one)".to_owned()
        }
        Step::LockStake { micro_usdc } => format!("zx1 stake lock {}", amount::plain(*micro_usdc)),
        Step::PayLease { epochs: 1, .. } => "zx1 lease pay".to_owned(),
        Step::PayLease { epochs, .. } => format!("zx1 lease pay --epochs {epochs}"),
        Step::OpenBatches => "zx1 batch open".to_owned(),
        Step::ChoosePlace => PLACE.to_owned(),
        Step::ClaimStake { slots_left: 0 } => "zx1 stake claim".to_owned(),
        Step::ClaimStake { slots_left } => format!("zx1 stake claim, {} from now", slots(*slots_left)),
        Step::SubmitBatch { epoch } => format!("zx1 batch submit --epoch {epoch}"),
    }
}

/// The command for what is due, or the keeper's.
pub fn next(step: Option<&Step>) -> String {
    step.map_or_else(|| KEEP.to_owned(), command)
}

/// A result with the command that the agent needs next.
#[derive(Serialize)]
struct Onward<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip)]
    draw: fn(&T, &mut Page),
}

impl<T: Serialize> Report for Onward<'_, T> {
    fn draw(&self, page: &mut Page) {
        (self.draw)(self.result, page);
        if let Some(next) = &self.next {
            page.next(next);
        }
    }
}

impl Context {
    /// What the agent needs next, as a command; `None` where the cluster does not say.
    pub async fn next_of(&self, operator: &Operator, agent: &Agent) -> Option<String> {
        let has_place = self.settings().ok()?.upload.value.is_some();
        let asked = tokio::time::timeout(PATIENCE, operator.next_step(agent, has_place));
        Some(next(asked.await.ok()?.ok()?.as_ref()))
    }

    /// Prints a result and the next step, then removes its transactions from the outbox, as [`Context::finish`].
    pub async fn finish_onward<T: Serialize>(
        &self,
        (operator, agent): (&Operator, &Agent),
        attempt: Attempt<T>,
        sent: fn(&T) -> &Sent,
        draw: fn(&T, &mut Page),
    ) -> Result<()> {
        let Some(done) = tx::done(self, attempt)? else { return Ok(()) };
        self.show_onward((operator, agent), &done, draw).await?;
        Ok(sent(&done).acknowledge().await?)
    }

    /// Prints a result and the next step.
    pub async fn show_onward<T: Serialize>(
        &self,
        (operator, agent): (&Operator, &Agent),
        result: &T,
        draw: fn(&T, &mut Page),
    ) -> Result<()> {
        let next = self.next_of(operator, agent).await;
        self.print(&Onward { result, next, draw })
    }

    /// The agents of the configuration that are on this cluster, by their names here.
    pub fn known_here(&self, chain: &Chain) -> Result<Vec<zx1_operator::Agent>> {
        let genesis = &chain.identity.genesis;
        let here = self.config()?.agents.into_iter();
        let here = here.filter(|(_, entry)| entry.genesis.as_ref().is_none_or(|known| known == genesis));
        let agent = |(name, entry): (String, crate::config_file::AgentEntry)| {
            let mint = entry.mint.parse().ok()?;
            Some(zx1_operator::Agent { name: Some(name), mint })
        };
        Ok(here.filter_map(agent).collect())
    }
}
