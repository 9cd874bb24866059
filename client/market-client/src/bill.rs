//! The principal's costs of a contract that has ended.

use zx1_market::chain::Side;
use zx1_market::money::Payee;
use zx1_market::{Case, Raw};

/// What a principal paid in, what came back, and to whom the rest went: sums over all settlements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Amount that left the principal's account.
    pub deposited: Raw,
    /// Amount that the principal got back.
    pub back: Raw,
    /// Amount that the agent got, without its own deposit.
    pub agent: Raw,
    /// Amount that the platform got.
    pub platform: Raw,
    /// Amount that the charity got.
    pub charity: Raw,
}

impl Bill {
    /// The bill of a contract that has ended.
    pub fn of(case: &Case) -> Self {
        let mut bill = Self::default();
        // Sums of parts of deposits: they cannot wrap.
        let add = |to: &mut Raw, amount: Raw| *to = to.checked_add(amount).unwrap_or(Raw::MAX);
        for account in case.settlements().iter().flat_map(|settle| &settle.accounts) {
            let mine = account.depositor == Side::Principal;
            for leg in &account.legs {
                if mine {
                    add(&mut bill.deposited, leg.amount);
                }
                match leg.to {
                    Payee::Principal => add(&mut bill.back, leg.amount),
                    Payee::Agent if mine => add(&mut bill.agent, leg.amount),
                    Payee::Agent => {}
                    Payee::Platform if mine => add(&mut bill.platform, leg.amount),
                    Payee::Platform => {}
                    Payee::Charity => add(&mut bill.charity, leg.amount),
                }
            }
        }
        bill
    }

    /// What the principal paid in and did not get back.
    pub fn cost(&self) -> Raw {
        self.deposited.checked_sub(self.back).unwrap_or(Raw::ZERO)
    }
}
