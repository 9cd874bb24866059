//! From a settlement to payments with addresses.

use super::phase::Phase;
use super::{AccountPayout, Case, Effect, Leg, News, Notice, Settle};
use crate::chain::Side;
use crate::money::{Payee, Payout, Settlement, payout};
use crate::{Address, Millis, Reason, Refusal, Result};

impl Case {
    /// Where a side's money goes: the address that it has signed (decision E19). None in free mode.
    pub fn payout_address(&self, side: Side) -> Option<Address> {
        self.party_of(side)?.payout
    }

    fn address_of(&self, payee: Payee) -> Result<Address> {
        let party =
            |side| self.payout_address(side).ok_or_else(|| Refusal::with(Reason::DepositUnexpected, side));
        match payee {
            Payee::Principal => party(Side::Principal),
            Payee::Agent => party(Side::Agent),
            Payee::Platform => Ok(self.terms.platform),
            Payee::Charity => Ok(self.terms.charity),
        }
    }

    /// Decide a payment. In free mode there is nothing to pay.
    pub(super) fn settle(&mut self, settlement: Settlement, effects: &mut Vec<Effect>) -> Result<()> {
        if self.is_free() {
            return Ok(());
        }
        let table = payout(settlement, self.contract.bounty, &self.terms.fees)?;
        self.pay(settlement, &table, effects)
    }

    /// The agent's own account, after it has left. The row of leaving for free is over both accounts; the
    /// principal's stays (decision E4).
    pub(super) fn settle_agent_left(&mut self, grace: bool, effects: &mut Vec<Effect>) -> Result<()> {
        if self.is_free() {
            return Ok(());
        }
        let settlement = if grace { Settlement::Grace } else { Settlement::LateByAgent };
        let mut table = payout(settlement, self.contract.bounty, &self.terms.fees)?;
        table.principal_account = None;
        self.pay(settlement, &table, effects)
    }

    fn pay(&mut self, settlement: Settlement, table: &Payout, effects: &mut Vec<Effect>) -> Result<()> {
        let mut accounts = Vec::new();
        for side in [Side::Principal, Side::Agent] {
            let Some(shares) = table.account(side) else { continue };
            let none = || Refusal::with(Reason::DepositUnexpected, side);
            let party = self.party_of(side).ok_or_else(none)?;
            let deposit = party.deposit.ok_or_else(none)?;
            let legs = shares
                .iter()
                .map(|share| {
                    Ok(Leg { to: share.to, address: self.address_of(share.to)?, amount: share.amount })
                })
                .collect::<Result<Vec<_>>>()?;
            accounts.push(AccountPayout {
                depositor: side,
                party: party.id,
                // The principal pays in once, agents one after another (decision F1).
                round: if side == Side::Principal { 0 } else { self.round },
                account: deposit.account,
                legs,
            });
        }
        let settle = Settle { settlement, round: self.round, accounts };
        self.settlements.push(settle.clone());
        effects.push(Effect::Settle(settle));
        Ok(())
    }

    /// News of this contract in its present state.
    pub(super) fn notice(&self, news: News) -> Effect {
        Effect::Notify(Notice { contract: self.id, state: self.state, news })
    }

    /// The contract has ended.
    pub(super) fn end(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        self.phase = Phase::Ended;
        self.pending.clear();
        self.updated_at = now;
        effects.push(self.notice(News::Resolved { bounty: self.contract.bounty }));
    }
}
