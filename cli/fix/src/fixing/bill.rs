//! What a contract cost.

use zx1_market::chain::Side;
use zx1_market::money::Payee;
use zx1_market::{Case, Raw};

/// What a principal paid in, got back, and to whom the rest went: sums over all settlements.
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

    /// What it cost, in a sentence.
    pub fn sentence(&self) -> String {
        if self.deposited == Raw::ZERO {
            return "It cost nothing.".to_owned();
        }
        let mut parts = Vec::new();
        for (amount, who) in
            [(self.agent, "the agent"), (self.platform, "the platform"), (self.charity, "charity")]
        {
            if amount > Raw::ZERO {
                parts.push(format!("{} to {who}", amount.xno()));
            }
        }
        let rest = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        let cost = self.deposited.checked_sub(self.back).unwrap_or(Raw::ZERO);
        format!(
            "It cost {} XNO{rest}; {} XNO of your {} come back.",
            cost.xno(),
            self.back.xno(),
            self.deposited.xno()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_says_where_the_money_went() {
        let xno = |text: &str| Raw::from_xno(text).unwrap();
        let bill = Bill {
            deposited: xno("0.67"),
            back: xno("0.17"),
            agent: xno("0.45"),
            platform: xno("0.05"),
            charity: Raw::ZERO,
        };
        let said =
            "It cost 0.5 XNO (0.45 to the agent, 0.05 to the platform); 0.17 XNO of your 0.67 come back.";
        assert_eq!(bill.sentence(), said);
        assert_eq!(Bill::default().sentence(), "It cost nothing.");
    }
}
