//! What `zx1 up` is about to do, and what it has done.

use crate::amount;
use crate::output::{Page, Report};
use crate::summary::Cost;
use serde::Serialize;
use zx1_operator::setup::Setup;
use zx1_operator::steps::Step;
use zx1_protocol::units::MicroUsdc;

/// How a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It was done before this run.
    Done,
    /// This run did it.
    Made,
    /// It is still to be done.
    Due,
    /// It was declined or is not wanted.
    Skipped,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Done | Self::Made => "done",
            Self::Due => "to do",
            Self::Skipped => "left out",
        }
    }
}

/// A line of the plan.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    pub(super) step: &'static str,
    pub(super) state: State,
    pub(super) what: String,
}

/// All steps, with what they cost.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub(super) status: &'static str,
    pub(super) cluster: String,
    pub(super) wallet: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) name: String,
    pub(super) steps: Vec<Line>,
    /// What the missing steps cost; SOL is an estimate.
    pub(super) cost_micro_usdc: MicroUsdc,
    pub(super) cost_lamports: u64,
    /// What this run spent.
    pub(super) spent_micro_usdc: MicroUsdc,
    pub(super) spent_lamports: u64,
    /// The keeper's unit, where it is printed and not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<String>,
    pub(super) next: String,
}

impl Plan {
    /// Changes how a step stands.
    pub(super) fn set(&mut self, step: &str, state: State, what: String) {
        if let Some(line) = self.steps.iter_mut().find(|line| line.step == step) {
            (line.state, line.what) = (state, what);
        }
    }

    /// How a step stands.
    pub(super) fn state(&self, step: &str) -> State {
        self.steps.iter().find(|line| line.step == step).map_or(State::Due, |line| line.state)
    }

    /// Whether everything is done or not wanted.
    pub(super) fn is_complete(&self) -> bool {
        self.steps.iter().all(|line| line.state != State::Due)
    }

    /// What is left, and its price.
    pub(super) fn draw_left(&self, page: &mut Page) {
        page.heading(format!("{} on {}", self.name, self.cluster));
        for line in &self.steps {
            page.field(format!("  {:8} {}", line.state.name(), line.step), &line.what);
        }
        let cost = Cost { usdc: self.cost_micro_usdc, lamports: self.cost_lamports };
        if cost != Cost::default() {
            // To a thousandth of a SOL, rather too much.
            let lamports = cost.lamports.div_ceil(1_000_000).saturating_mul(1_000_000);
            let cost = Cost { lamports, ..cost };
            page.blank().line(format!("In all you pay about {cost}. The stake comes back."));
        }
    }
}

impl Report for Plan {
    fn draw(&self, page: &mut Page) {
        if let Some(unit) = &self.unit {
            unit.lines().for_each(|line| {
                page.raw(line);
            });
            return;
        }
        self.draw_left(page);
        let spent = Cost { usdc: self.spent_micro_usdc, lamports: self.spent_lamports };
        if spent != Cost::default() {
            page.blank().line(format!("This run spent {spent}."));
        }
        page.next(&self.next);
    }
}

/// The names of the steps on chain, in order, as [`Step`] has them.
pub(super) const ON_CHAIN: [&str; 5] = ["agent", "keys", "stake", "lease", "batches"];

/// Line of the plan to which a step belongs; `None` for steps outside of setting up.
pub(super) fn line_of(step: &Step) -> Option<&'static str> {
    match step {
        Step::Register => Some("agent"),
        Step::ListKeys => Some("keys"),
        Step::LockStake { .. } => Some("stake"),
        Step::PayLease { .. } => Some("lease"),
        Step::OpenBatches => Some("batches"),
        Step::ChoosePlace => Some("data"),
        _ => None,
    }
}

/// What a step is, costs, and what comes back.
pub(super) fn price(step: &Step, name: &str) -> String {
    match step {
        Step::Register => format!("register {name} with SATI: rent and fee in SOL, which do not come back"),
        Step::ListKeys => {
            "list the keys that act for it: rent in SOL, which comes back when a key is closed".to_owned()
        }
        Step::LockStake { micro_usdc } => format!(
            "lock {micro_usdc}: comes back two days after you unlock it, once the lease has run out; lost if a \
             batch is proven false"
        ),
        Step::PayLease { epochs, cost_micro_usdc } => format!(
            "pay {cost_micro_usdc} for {}: does not come back; each day costs 1 USDC",
            crate::words::count(*epochs, "day", "days")
        ),
        Step::OpenBatches => "open the chain of batches: rent in SOL, which does not come back".to_owned(),
        _ => String::new(),
    }
}

/// What is done of a step, for people.
pub(super) fn done(step: &str, setup: &Setup) -> String {
    let Some(agent) = &setup.agent else { return String::new() };
    match step {
        "agent" => agent.mint.clone(),
        "keys" => match agent.keys.batch.max(agent.keys.notice) {
            1 => "one signs batches".to_owned(),
            more => format!("{more} sign batches"),
        },
        "stake" => agent.stake.as_ref().map(|stake| stake.stake_micro_usdc.to_string()).unwrap_or_default(),
        "lease" => crate::words::lease(&agent.lease),
        _ => "open".to_owned(),
    }
}

/// The wallet's money.
pub(super) fn money(setup: &Setup) -> String {
    format!("{}, {}", amount::sol(setup.lamports), setup.micro_usdc)
}
