//! The planner: from what an account holds and who gets what to a list of legs, and from legs to a chain of blocks.
//! Pure: no clock, no I/O, the same input gives the same blocks, bit by bit. That matters: a restored backup that
//! decides the same thing again signs the very same block, which the network takes as a repetition.

use serde::{Deserialize, Serialize};

use super::EscrowError;
use crate::{Address, BlockHash, Head, PublicKey, Raw, StateBlock, blake2b_256};

/// One payment that a settlement orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// Address that is paid.
    pub to: Address,
    /// Amount in raw. A leg of zero is skipped.
    pub amount: Raw,
}

impl Leg {
    /// A payment of `amount` to `to`.
    pub fn new(to: impl Into<Address>, amount: Raw) -> Leg {
        Leg { to: to.into(), amount }
    }
}

/// The payments that divide what one account holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountLegs {
    /// The escrow account that pays.
    pub account: Address,
    /// Payments in the order in which they are made. Legs to one destination are merged into one send
    /// (decision F2).
    pub legs: Vec<Leg>,
    /// The last leg gets what the others leave, whatever its own amount is: for sums that were rounded down.
    #[serde(default)]
    pub remainder_to_last: bool,
}

impl AccountLegs {
    /// Legs that must sum exactly to what the account holds.
    pub fn exact(account: Address, legs: Vec<Leg>) -> AccountLegs {
        AccountLegs { account, legs, remainder_to_last: false }
    }
}

/// One step of a plan, which becomes one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Receives a deposit.
    Receive {
        /// Hash of the depositor's send.
        source: BlockHash,
        /// Amount of that send, in raw.
        amount: Raw,
    },
    /// Sends a payment.
    Send {
        /// Public key of the account that is paid.
        to: PublicKey,
        /// Amount in raw, above zero.
        amount: Raw,
    },
}

impl Step {
    /// The amount that is received or sent, in raw.
    pub fn amount(&self) -> Raw {
        match self {
            Step::Receive { amount, .. } | Step::Send { amount, .. } => *amount,
        }
    }

    /// The link of the block: the hash of the deposit's send, or the destination's key.
    pub fn link(&self) -> [u8; 32] {
        match self {
            Step::Receive { source, .. } => source.0,
            Step::Send { to, .. } => to.0,
        }
    }
}

/// Merge legs per destination in the order of first mention, leave out zeros, give the rest to the last leg if
/// told, and refuse what does not sum to `held` (8640, 8641), pays the account itself (8642) or burns (8643).
pub fn merge(request: &AccountLegs, held: Raw) -> Result<Vec<(PublicKey, Raw)>, EscrowError> {
    let mut merged: Vec<(PublicKey, Raw)> = Vec::with_capacity(request.legs.len());
    let last = request.legs.len().checked_sub(1);
    let mut sum = Raw::ZERO;
    for (i, leg) in request.legs.iter().enumerate() {
        let amount = if request.remainder_to_last && Some(i) == last {
            held.checked_sub(sum).ok_or(EscrowError::TooMuch {
                account: request.account,
                held,
                asked: sum,
            })?
        } else {
            leg.amount
        };
        sum = sum.checked_add(amount).ok_or(EscrowError::TooMuch {
            account: request.account,
            held,
            asked: Raw::MAX,
        })?;
        if amount.is_zero() {
            continue;
        }
        if leg.to == request.account {
            return Err(EscrowError::PaysItself(request.account));
        }
        if leg.to.is_burn() {
            return Err(EscrowError::Burns(request.account));
        }
        let to = leg.to.public_key();
        match merged.iter_mut().find(|(seen, _)| *seen == to) {
            // Cannot overflow: it is at most `sum`.
            Some((_, total)) => *total = total.add(amount)?,
            None => merged.push((to, amount)),
        }
    }
    match sum.cmp(&held) {
        std::cmp::Ordering::Greater => {
            Err(EscrowError::TooMuch { account: request.account, held, asked: sum })
        }
        std::cmp::Ordering::Less => {
            Err(EscrowError::TooLittle { account: request.account, held, asked: sum })
        }
        std::cmp::Ordering::Equal => Ok(merged),
    }
}

/// A send that was found on the ledger and does not belong to a plan yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paid {
    /// Hash of the send.
    pub hash: BlockHash,
    /// Public key of the account that was paid.
    pub to: PublicKey,
    /// Amount that was sent, in raw.
    pub amount: Raw,
}

/// Match legs with sends that are on chain already: each send pays at most one leg, and only one of exactly its
/// destination and amount. Answers, for each leg, the send that paid it.
pub fn match_paid(legs: &[(PublicKey, Raw)], paid: &[Paid]) -> Vec<Option<BlockHash>> {
    let mut free: Vec<&Paid> = paid.iter().collect();
    legs.iter()
        .map(|(to, amount)| {
            let at = free.iter().position(|p| p.to == *to && p.amount == *amount)?;
            Some(free.remove(at).hash)
        })
        .collect()
}

/// Build the blocks of `steps` on `head`, each on the one before it. Fails as [`Head::receive`] and [`Head::send`]
/// do.
pub fn chain(mut head: Head, steps: &[Step]) -> Result<Vec<StateBlock>, EscrowError> {
    let mut blocks = Vec::with_capacity(steps.len());
    for step in steps {
        let block = match step {
            Step::Receive { source, amount } => head.receive(*source, *amount)?,
            Step::Send { to, amount } => head.send(Address::from(*to), *amount)?,
        };
        head = head.after(&block)?;
        blocks.push(block);
    }
    Ok(blocks)
}

/// What identifies a request, whatever the order of its accounts and of its legs: the digest stored beside the
/// idempotency key. Two requests under one key must have one digest.
pub fn digest(request: &[AccountLegs]) -> [u8; 32] {
    let mut accounts: Vec<_> = request.iter().collect();
    accounts.sort_by_key(|a| a.account);
    let mut bytes = Vec::new();
    for entry in accounts {
        let (fixed, last) = match entry.legs.split_last() {
            Some((last, fixed)) if entry.remainder_to_last => (fixed, Some(last.to)),
            _ => (entry.legs.as_slice(), None),
        };
        let mut sums: std::collections::BTreeMap<PublicKey, u128> = std::collections::BTreeMap::new();
        for leg in fixed.iter().filter(|l| !l.amount.is_zero()) {
            let sum = sums.entry(leg.to.public_key()).or_default();
            *sum = sum.saturating_add(leg.amount.get());
        }
        bytes.extend_from_slice(&entry.account.public_key().0);
        bytes.extend_from_slice(&(sums.len() as u64).to_be_bytes());
        for (to, sum) in sums {
            bytes.extend_from_slice(&to.0);
            bytes.extend_from_slice(&sum.to_be_bytes());
        }
        match last {
            Some(to) => {
                bytes.push(1);
                bytes.extend_from_slice(&to.public_key().0);
            }
            None => bytes.push(0),
        }
    }
    blake2b_256(&[b"nano-escrow/plan/v1", &bytes])
}

/// Maximum number of deposits that together make up what is expected.
pub const MAX_PARTS: u32 = 8;

/// The least deposit that counts while `missing` is missing: an eighth of it, rounded up.
pub fn least_part(missing: Raw) -> Raw {
    Raw(missing.get().div_ceil(u128::from(MAX_PARTS)))
}

/// How much of a deposit counts, when `parts` deposits with `credited` of `expected` count already; the rest is
/// excess. Less than an eighth of what is missing does not count, and the eighth part has to fill it. What fills it
/// always counts, so nobody can keep the real deposit out. With no expectation all of it counts.
pub fn credit(expected: Option<Raw>, credited: Raw, parts: u32, amount: Raw) -> Raw {
    let Some(expected) = expected else { return amount };
    let missing = expected.saturating_sub(credited);
    if amount >= missing {
        return missing;
    }
    if parts.saturating_add(1) >= MAX_PARTS || amount < least_part(missing) {
        return Raw::ZERO;
    }
    amount
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn who(n: u8) -> Address {
        Address::from(PublicKey([n; 32]))
    }

    fn request(legs: &[(u8, u128)], remainder: bool) -> AccountLegs {
        AccountLegs {
            account: who(200),
            legs: legs.iter().map(|(to, a)| Leg::new(who(*to), Raw(*a))).collect(),
            remainder_to_last: remainder,
        }
    }

    #[test]
    fn legs_to_one_destination_are_one_send() {
        let merged = merge(&request(&[(1, 5), (2, 0), (3, 4), (1, 1)], false), Raw(10)).unwrap();
        assert_eq!(merged, [(PublicKey([1; 32]), Raw(6)), (PublicKey([3; 32]), Raw(4))]);
    }

    #[test]
    fn a_sum_that_is_not_what_is_held_fails() {
        let legs = request(&[(1, 5), (2, 5)], false);
        assert_eq!(merge(&legs, Raw(11)).unwrap_err().code(), 8641);
        assert_eq!(merge(&legs, Raw(9)).unwrap_err().code(), 8640);
        assert_eq!(merge(&request(&[(1, u128::MAX), (2, 1)], false), Raw::MAX).unwrap_err().code(), 8640);
    }

    #[test]
    fn the_last_leg_takes_the_remainder_if_told() {
        let merged = merge(&request(&[(1, 3), (2, 3), (3, 0)], true), Raw(10)).unwrap();
        assert_eq!(merged.last(), Some(&(PublicKey([3; 32]), Raw(4))));
        assert_eq!(merge(&request(&[(1, 11), (3, 0)], true), Raw(10)).unwrap_err().code(), 8640);
        assert_eq!(merge(&request(&[(1, 10), (3, 7)], true), Raw(10)).unwrap().len(), 1);
    }

    #[test]
    fn paying_itself_or_the_burn_account_fails() {
        assert_eq!(merge(&request(&[(200, 1)], false), Raw(1)).unwrap_err().code(), 8642);
        assert_eq!(merge(&request(&[(0, 1)], false), Raw(1)).unwrap_err().code(), 8643);
    }

    #[test]
    fn a_send_on_chain_pays_one_leg_only() {
        let (a, b) = (PublicKey([1; 32]), PublicKey([2; 32]));
        let paid = [Paid { hash: BlockHash([9; 32]), to: a, amount: Raw(5) }];
        let legs = [(b, Raw(5)), (a, Raw(4)), (a, Raw(5)), (a, Raw(5))];
        assert_eq!(match_paid(&legs, &paid), [None, None, Some(BlockHash([9; 32])), None]);
    }

    proptest! {
        #[test]
        fn what_is_planned_is_what_is_held(
            amounts in prop::collection::vec((1_u8..6, 0..u128::MAX >> 8), 1..9),
            remainder: bool,
            slack in 0_u128..1000,
        ) {
            let sum: u128 = amounts.iter().map(|(_, a)| a).sum();
            let legs = request(&amounts, remainder);
            let fixed: u128 = if remainder { sum - amounts.last().unwrap().1 } else { sum };
            let held = Raw(if remainder { fixed + slack } else { sum });
            let merged = merge(&legs, held).unwrap();
            prop_assert_eq!(Raw::checked_sum(merged.iter().map(|(_, a)| *a)), Some(held));
            prop_assert!(merged.iter().all(|(_, a)| !a.is_zero()));
            let mut seen = std::collections::HashSet::new();
            prop_assert!(merged.iter().all(|(to, _)| seen.insert(*to)));
        }

        #[test]
        fn a_chain_is_linear_and_ends_with_what_is_left(
            deposits in prop::collection::vec(1_u128..1 << 100, 1..5),
            shares in prop::collection::vec(1_u128..1000, 1..5),
        ) {
            let total: u128 = deposits.iter().sum();
            let mut steps: Vec<Step> = deposits
                .iter()
                .enumerate()
                .map(|(i, a)| Step::Receive { source: BlockHash([i as u8 + 1; 32]), amount: Raw(*a) })
                .collect();
            let mut left = total;
            for (i, share) in shares.iter().enumerate() {
                let amount = (left / share).max(1).min(left);
                if amount == 0 { continue; }
                left -= amount;
                steps.push(Step::Send { to: PublicKey([i as u8 + 1; 32]), amount: Raw(amount) });
            }
            let start = Head::unopened(who(200), who(100));
            let blocks = chain(start, &steps).unwrap();
            prop_assert_eq!(&blocks, &chain(start, &steps).unwrap(), "the same every time");
            let mut previous = BlockHash::ZERO;
            for block in &blocks {
                prop_assert_eq!(block.previous, previous);
                previous = block.hash();
            }
            prop_assert_eq!(blocks.last().unwrap().balance, Raw(left));
        }

        #[test]
        fn the_digest_knows_no_order(mut legs in prop::collection::vec((1_u8..6, 0_u128..50), 0..6), swap: bool) {
            let one = digest(&[request(&legs, false)]);
            legs.reverse();
            prop_assert_eq!(one, digest(&[request(&legs, false)]));
            if swap && let Some(leg) = legs.first_mut() {
                leg.1 += 1;
                prop_assert_ne!(one, digest(&[request(&legs, false)]));
            }
        }

        #[test]
        fn credits_never_pass_what_is_expected(expected in 0_u128..100, amounts in prop::collection::vec(0_u128..60, 0..6)) {
            let (mut credited, mut parts) = (Raw::ZERO, 0);
            for amount in amounts {
                let part = credit(Some(Raw(expected)), credited, parts, Raw(amount));
                prop_assert!(part <= Raw(amount));
                let missing = Raw(expected).saturating_sub(credited);
                prop_assert!(Raw(amount) < missing || part == missing, "what fills it counts");
                parts += u32::from(!part.is_zero());
                prop_assert!(parts <= MAX_PARTS);
                credited = credited.add(part).unwrap();
                prop_assert!(credited <= Raw(expected));
            }
        }
    }
}
