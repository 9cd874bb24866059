//! What a run may spend: every transaction is held against it before it is approved.

use crate::errors::{Error, Result};
use crate::summary::Cost;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Nothing limits a run until [`Self::limit`] is called.
#[derive(Debug, Default)]
pub struct Budget(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    most: Option<Cost>,
    spent: Cost,
}

impl Budget {
    /// Sets the most that this run may spend.
    pub fn limit(&self, most: Cost) {
        self.state().most = Some(most);
    }

    /// What was approved until now.
    pub fn spent(&self) -> Cost {
        self.state().spent
    }

    /// Refuses what goes beyond the limit.
    ///
    /// # Errors
    /// 7481
    pub fn check(&self, cost: Cost) -> Result<()> {
        let state = self.state();
        let sum = state.spent.and(cost);
        match state.most {
            Some(most) if sum.usdc > most.usdc || sum.lamports > most.lamports => {
                Err(Error::OverBudget { cost: sum.to_string(), most: most.to_string() }.into())
            }
            _ => Ok(()),
        }
    }

    /// Adds what was approved.
    pub fn add(&self, cost: Cost) {
        let mut state = self.state();
        state.spent = state.spent.and(cost);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::units::MicroUsdc;

    fn cost(usdc: u64, lamports: u64) -> Cost {
        Cost { usdc: MicroUsdc(usdc), lamports }
    }

    #[test]
    fn what_is_approved_counts_together_and_the_limit_itself_is_allowed() {
        let budget = Budget::default();
        budget.check(cost(u64::MAX, u64::MAX)).unwrap();
        budget.limit(cost(31, 100));
        for part in [cost(30, 50), cost(1, 50)] {
            budget.check(part).unwrap();
            budget.add(part);
        }
        assert_eq!(budget.spent(), cost(31, 100));
        for more in [cost(1, 0), cost(0, 1)] {
            assert_eq!(budget.check(more).map_err(|failure| failure.code), Err(7481));
        }
        assert_eq!(budget.spent(), cost(31, 100));
    }
}
