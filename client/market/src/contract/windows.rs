//! A contract's own windows (decision E22): never shorter than the server's, never much longer.

use super::{Contract, Execution};
use crate::canonical::Json;
use crate::defaults::{MAX_OPEN_WINDOW, REVIEW_WINDOW_RANGE, WINDOW_FACTOR};
use crate::fields::Fields;
use crate::terms::{Terms, Windows};
use crate::{Millis, Reason, Refusal, Result};

macro_rules! windows {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// `execution.windows`: all of them, in whole seconds. [`Windows`] says what each is for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)] // As in `Windows`; `review` is the review window of autonomous mode.
        pub struct ContractWindows { $(pub $name: u64),* }

        impl ContractWindows {
            pub(super) fn to_json(self) -> Json {
                Json::object([$((stringify!($name), self.$name)),*])
            }

            pub(super) fn read(mut fields: Fields<'_>) -> Result<ContractWindows> {
                let windows = ContractWindows { $($name: fields.number(stringify!($name))?),* };
                fields.done()?;
                Ok(windows)
            }

            fn each(&self) -> [(&'static str, u64); 12] {
                [$((stringify!($name), self.$name)),*]
            }
        }
    };
}
windows!(
    appeal,
    grace,
    halt,
    investigation,
    judge,
    objection,
    open,
    reservation,
    response,
    review,
    unfunded,
    verify
);

impl ContractWindows {
    /// The server's, rounded up to seconds, with the default review window.
    pub fn of(terms: &Terms) -> ContractWindows {
        let w = &terms.windows;
        let seconds = |window: Millis| window.0.div_ceil(1_000);
        ContractWindows {
            appeal: seconds(w.appeal),
            grace: seconds(w.grace),
            halt: seconds(w.halt),
            investigation: seconds(w.investigation),
            judge: seconds(w.judge),
            objection: seconds(w.objection),
            open: seconds(w.open),
            reservation: seconds(w.reservation),
            response: seconds(w.response),
            review: crate::defaults::REVIEW_WINDOW.into(),
            unfunded: seconds(w.unfunded),
            verify: seconds(w.verify),
        }
    }

    pub(super) fn check(&self, terms: &Terms) -> Result<()> {
        let least = ContractWindows::of(terms);
        for ((name, value), (_, least)) in self.each().into_iter().zip(least.each()) {
            let (low, high) = match name {
                "review" => (REVIEW_WINDOW_RANGE.0.into(), REVIEW_WINDOW_RANGE.1.into()),
                "open" | "reservation" => (least, MAX_OPEN_WINDOW.max(least)),
                _ => (least, least.saturating_mul(WINDOW_FACTOR)),
            };
            if !(low..=high).contains(&value) {
                let what = format!("{name} must be {low} to {high} seconds");
                return Err(Refusal::with(Reason::ContractWindows, what));
            }
        }
        Ok(())
    }
}

impl Contract {
    /// The windows that hold for it: the server's, or its own. In autonomous mode, where nobody sits and waits, the
    /// time to answer and to appeal is the review window (decision E5), or longer where the contract says so.
    pub fn windows(&self, terms: &Terms) -> Windows {
        let mut windows = terms.windows;
        if let Some(own) = &self.execution.windows {
            windows = Windows {
                open: Millis::secs(own.open),
                reservation: Millis::secs(own.reservation),
                unfunded: Millis::secs(own.unfunded),
                investigation: Millis::secs(own.investigation),
                grace: Millis::secs(own.grace),
                verify: Millis::secs(own.verify),
                response: Millis::secs(own.response),
                judge: Millis::secs(own.judge),
                reexecution: windows.reexecution,
                appeal: Millis::secs(own.appeal),
                objection: Millis::secs(own.objection),
                halt: Millis::secs(own.halt),
            };
        }
        if self.is_autonomous() {
            let review = self.review_window();
            let longer =
                |own: Millis| if self.execution.windows.is_some() { own.max(review) } else { review };
            (windows.response, windows.appeal) = (longer(windows.response), longer(windows.appeal));
        }
        windows
    }
}

/// The review window stands in two places; both must say the same.
pub(super) fn same_review(execution: &mut Execution, said: bool) -> Result<()> {
    let Some(windows) = &execution.windows else { return Ok(()) };
    let review = u32::try_from(windows.review).unwrap_or(u32::MAX);
    if said && execution.review_window != review {
        let what = "review differs from execution.review_window";
        return Err(Refusal::with(Reason::ContractWindows, what));
    }
    execution.review_window = review;
    Ok(())
}
