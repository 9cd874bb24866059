//! A model that asks the budget first.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::{Budget, BudgetError};
use crate::{Answer, Model, ModelError, Request, Spend};
use futures_util::future::BoxFuture;

/// A model for one contract, within a budget. Every call is reserved, written down, made and settled, and
/// ends when its reserved time is over.
#[derive(Clone)]
pub struct Budgeted {
    model: Arc<dyn Model>,
    budget: Arc<Budget>,
    contract: String,
}

impl Budgeted {
    /// `model`, within `budget`, for `contract` (its id).
    pub fn new(model: Arc<dyn Model>, budget: Arc<Budget>, contract: impl Into<String>) -> Budgeted {
        Budgeted { model, budget, contract: contract.into() }
    }
}

fn over(error: BudgetError) -> ModelError {
    ModelError::OverBudget { why: error.to_string() }
}

/// A thread for blocking work ended: the runtime is going down.
fn gone<E>(_: E) -> ModelError {
    ModelError::OverBudget { why: "The program ends, so no call is made. Start it again.".into() }
}

impl Model for Budgeted {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn worst_case(&self, request: &Request) -> Spend {
        self.model.worst_case(request)
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let (budget, contract) = (self.budget.clone(), self.contract.clone());
            let worst = self.model.worst_case(request);
            let reserved = spawn_blocking(move || budget.reserve(&contract, worst)).await.map_err(gone)?;
            let reservation = reserved.map_err(over)?;
            let begun = Instant::now();
            let time = Duration::from_millis(worst.millis);
            let outcome = match timeout(time, self.model.complete(request)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(ModelError::TimedOut { after: time }),
            };
            // A timer that fires late is not the model's time.
            let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).min(worst.millis);
            let actual = match &outcome {
                Ok(answer) => Spend { micro_usd: answer.micro_usd, tokens: answer.usage.total(), millis },
                Err(error) if error.may_have_cost() => Spend { millis, ..worst },
                Err(_) => Spend { millis, ..Spend::default() },
            };
            // The answer is paid for: it is handed out even if the books could not be written. The next
            // reservation will fail then.
            if let Ok(Err(error)) = spawn_blocking(move || reservation.settle(actual)).await {
                tracing::warn!(code = error.code(), "{error}");
            }
            outcome
        })
    }
}
