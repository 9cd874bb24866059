//! What a contract's escrow pays: the rules say who gets what, the market says by which block, and the Nano node
//! says whether that block is there.

use crate::nano::{Node, Seen};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zx1_market::case::Settle;
use zx1_market::chain::Side;
use zx1_market::money::Payee;
use zx1_market::wire::{EscrowAnswer, EscrowPayment};

/// A payment out of a contract's escrow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Payment {
    /// how the contract, or its round, ended: `fulfilled`, `returned`, `ruling_canceled`, …; `refund` for money that
    /// came too late
    pub kind: String,
    /// the escrow account
    pub from: String,
    /// the payee's Nano account
    pub to: String,
    /// `agent`, `principal`, `platform` or `charity`; null where the rules order no such payment
    #[schema(value_type = Option<String>)]
    pub payee: Option<Payee>,
    /// whose deposit it comes out of
    #[schema(value_type = Option<String>)]
    pub deposit_of: Option<Side>,
    /// in raw, as a decimal number
    pub amount_raw: String,
    /// the block, in upper-case hexadecimal digits
    pub hash: Option<String>,
    /// how far it is
    pub state: PaymentState,
}

/// How far a payment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaymentState {
    /// The rules order it, and the market names no block.
    Owed,
    /// The market has signed its block.
    Signed,
    /// The market says that its block is confirmed, and no Nano node was asked or has answered.
    Claimed,
    /// The Nano node has the block, confirmed, with this sender, payee and amount.
    Confirmed,
    /// The Nano node has another block under this hash, or the amount is not what the rules order.
    Wrong,
}

impl Payment {
    /// Whether it pays the agent for its work: its own deposit does not count.
    pub fn is_pay(&self) -> bool {
        self.payee == Some(Payee::Agent) && self.deposit_of == Some(Side::Principal)
    }

    /// Whether it has arrived, by the surest word that there is.
    pub fn is_done(&self, has_node: bool) -> bool {
        match self.state {
            PaymentState::Confirmed => true,
            PaymentState::Claimed => !has_node,
            _ => false,
        }
    }

    /// Whether nothing about it can change any more.
    pub fn is_final(&self, has_node: bool) -> bool {
        self.state == PaymentState::Wrong || self.is_done(has_node)
    }
}

/// The payments that settlements order, none of them made.
pub fn ordered(settlements: &[Settle]) -> Vec<Payment> {
    let accounts = settlements.iter().flat_map(|settle| settle.accounts.iter().map(move |it| (settle, it)));
    let legs = accounts.flat_map(|(settle, account)| {
        account.legs.iter().map(move |leg| Payment {
            kind: settle.settlement.kind().to_owned(),
            from: account.account.to_string(),
            to: leg.address.to_string(),
            payee: Some(leg.to),
            deposit_of: Some(account.depositor),
            amount_raw: leg.amount.get().to_string(),
            hash: None,
            state: PaymentState::Owed,
        })
    });
    legs.collect()
}

/// The ordered payments with what the market says of them, and what else it pays.
pub fn matched(ordered: &[Payment], told: &EscrowAnswer) -> Vec<Payment> {
    let mut payments: Vec<Payment> = ordered
        .iter()
        .filter(|payment| payment.payee.is_some())
        .map(|payment| Payment { hash: None, state: PaymentState::Owed, ..payment.clone() })
        .collect();
    for one in &told.payments {
        let (from, to) = (one.from.to_string(), one.to.to_string());
        let amount_raw = one.amount.0.get().to_string();
        let is_same = |it: &&mut Payment| it.hash.is_none() && it.from == from && it.to == to;
        let exact = payments.iter_mut().filter(|it| it.amount_raw == amount_raw).find(is_same);
        if let Some(payment) = exact {
            (payment.hash, payment.state) = (hash_of(one), state_of(one));
        } else if let Some(payment) = payments.iter_mut().filter(|it| it.kind == one.kind).find(is_same) {
            (payment.hash, payment.state) = (hash_of(one), PaymentState::Wrong);
        } else {
            payments.push(Payment {
                kind: one.kind.clone(),
                from,
                to,
                payee: None,
                deposit_of: None,
                amount_raw,
                hash: hash_of(one),
                state: state_of(one),
            });
        }
    }
    payments
}

fn hash_of(told: &EscrowPayment) -> Option<String> {
    let hash = told.hash.as_ref()?.to_uppercase();
    (hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
}

fn state_of(told: &EscrowPayment) -> PaymentState {
    match (hash_of(told), told.confirmed) {
        (None, _) => PaymentState::Owed,
        (Some(_), false) => PaymentState::Signed,
        (Some(_), true) => PaymentState::Claimed,
    }
}

/// Asks the node for the blocks that are not settled yet. What was confirmed stays so.
pub async fn check(payments: &mut [Payment], before: &[Payment], node: Option<&Node>) {
    for payment in payments {
        if !matches!(payment.state, PaymentState::Signed | PaymentState::Claimed) {
            continue;
        }
        let (Some(hash), Some(node)) = (&payment.hash, node) else { continue };
        let known = before.iter().find(|it| it.hash == payment.hash && it.amount_raw == payment.amount_raw);
        if known.is_some_and(|it| it.state == PaymentState::Confirmed) {
            payment.state = PaymentState::Confirmed;
            continue;
        }
        // Unknown to the node, or the node is away: the market's word stands.
        if let Some(Seen { from, to, raw, confirmed }) = node.sent(hash).await {
            let is_it = from == payment.from && to == payment.to && raw == payment.amount_raw;
            payment.state = match (is_it, confirmed) {
                (false, _) => PaymentState::Wrong,
                (true, true) => PaymentState::Confirmed,
                (true, false) => payment.state,
            };
        }
    }
}

/// What the agent was paid so far, in raw; `None` before the first payment.
pub fn earned(payments: &[Payment], has_node: bool) -> Option<String> {
    let mut pays = payments.iter().filter(|it| it.is_pay() && it.is_done(has_node)).peekable();
    pays.peek()?;
    Some(crate::nano::sum(pays.map(|it| it.amount_raw.as_str())))
}

#[cfg(test)]
mod tests;
