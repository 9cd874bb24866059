//! What every move of the challenge game costs and brings (decisions B12 and P4). Sums are micro-USDC; the
//! cluster's configuration holds them.

use crate::error::sentences;
use zx1_interface::accounts::Config;

const PERCENT: u8 = 100;

/// The amounts of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// The smallest stake with which a batch lands.
    pub min_stake: u64,
    /// What a challenger puts up.
    pub challenge_stake: u64,
    /// Part of a lost challenge stake that goes into the challenged era.
    pub lost_to_stake: u64,
    /// Part of a lost challenge stake that goes to who answered; the rest is the treasury's.
    pub lost_to_answerer: u64,
    /// Price of an ask.
    pub ask_price: u64,
    /// Part of the price that goes to who shows the leaf.
    pub ask_to_shower: u64,
    /// Part of the price that goes into the era; the rest is the treasury's.
    pub ask_to_stake: u64,
    /// Fine for a withheld leaf, once a batch.
    pub fine: u64,
    /// Part of the fine that goes to the asker; the rest is the treasury's.
    pub fine_to_asker: u64,
    /// Deposit of a rank, in lamports.
    pub rank_deposit: u64,
    /// The finders' part of a slashed stake, in percent; the rest is the treasury's.
    pub finders_percent: u8,
    /// What each finder takes of what is left of the finders' part, in percent.
    pub share_percent: u8,
}

/// Why amounts do not fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountsError {
    /// A stake or a price that must cost something is zero.
    Zero,
    /// Parts are more than their whole.
    PartsExceedWhole,
    /// A percentage is more than 100.
    AboveHundredPercent,
}

sentences!(AmountsError {
    Self::Zero => "The minimum stake, the challenge stake and the price of an ask must not be zero.";
    Self::PartsExceedWhole => "The parts of an amount are more than the whole.";
    Self::AboveHundredPercent => "A percentage is more than 100.";
});

/// The stake of a challenge that was answered, divided. The parts add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Into the challenged era.
    pub stake: u64,
    /// To who answered.
    pub answerer: u64,
    /// The rest, to the treasury.
    pub treasury: u64,
}

/// The price of an ask whose leaf was shown, divided. The parts add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Into the era.
    pub stake: u64,
    /// To who showed the leaf.
    pub shower: u64,
    /// The rest, to the treasury.
    pub treasury: u64,
}

/// What a withheld leaf takes from the era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fine {
    /// To who asked.
    pub asker: u64,
    /// The rest, to the treasury.
    pub treasury: u64,
}

/// A slashed stake, divided. The parts add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slashed {
    /// The finders' part, rounded down.
    pub pot: u64,
    /// The rest, to the treasury.
    pub treasury: u64,
}

impl Amounts {
    /// What the committed simulation shows sound (`scripts/simulate-challenges`).
    pub const DEFAULT: Self = Self {
        min_stake: 30_000_000,
        challenge_stake: 5_000_000,
        lost_to_stake: 1_500_000,
        lost_to_answerer: 500_000,
        ask_price: 500_000,
        ask_to_shower: 300_000,
        ask_to_stake: 100_000,
        fine: 10_000_000,
        fine_to_asker: 3_000_000,
        rank_deposit: 10_000_000,
        finders_percent: 40,
        share_percent: 50,
    };

    /// The amounts of a configuration account.
    pub fn of(config: &Config) -> Self {
        Self {
            min_stake: config.min_stake,
            challenge_stake: config.challenge_stake,
            lost_to_stake: config.lost_to_stake,
            lost_to_answerer: config.lost_to_answerer,
            ask_price: config.ask_price,
            ask_to_shower: config.ask_to_shower,
            ask_to_stake: config.ask_to_stake,
            fine: config.fine,
            fine_to_asker: config.fine_to_asker,
            rank_deposit: config.rank_deposit,
            finders_percent: config.finders_percent,
            share_percent: config.share_percent,
        }
    }

    /// Whether they fit each other.
    pub fn check(&self) -> Result<(), AmountsError> {
        if self.min_stake == 0 || self.challenge_stake == 0 || self.ask_price == 0 {
            return Err(AmountsError::Zero);
        }
        let divisions = [
            (self.challenge_stake, self.lost_to_stake, self.lost_to_answerer),
            (self.ask_price, self.ask_to_shower, self.ask_to_stake),
            (self.fine, self.fine_to_asker, 0),
        ];
        for (whole, a, b) in divisions {
            if a.checked_add(b).is_none_or(|parts| parts > whole) {
                return Err(AmountsError::PartsExceedWhole);
            }
        }
        if self.finders_percent > PERCENT || self.share_percent > PERCENT {
            return Err(AmountsError::AboveHundredPercent);
        }
        Ok(())
    }

    /// Divides the stake of an answered challenge. A smaller one than configured fills the parts in order.
    pub fn lost(&self, deposit: u64) -> Lost {
        let (stake, rest) = take(deposit, self.lost_to_stake);
        let (answerer, treasury) = take(rest, self.lost_to_answerer);
        Lost { stake, answerer, treasury }
    }

    /// Divides the price of an ask whose leaf was shown.
    pub fn shown(&self, price: u64) -> Shown {
        let (stake, rest) = take(price, self.ask_to_stake);
        let (shower, treasury) = take(rest, self.ask_to_shower);
        Shown { stake, shower, treasury }
    }

    /// The fine that an era with `rest` left pays: all of it when it holds less.
    pub fn fine_of(&self, rest: u64) -> Fine {
        let (asker, treasury) = take(self.fine.min(rest), self.fine_to_asker);
        Fine { asker, treasury }
    }

    /// Divides a stake that is slashed, however little is left of it.
    pub fn slash(&self, stake: u64) -> Slashed {
        let pot = percent(stake, self.finders_percent);
        Slashed { pot, treasury: stake.saturating_sub(pot) }
    }

    /// What the next finder takes of the finders' part.
    pub fn share(&self, pot: u64) -> u64 {
        percent(pot, self.share_percent)
    }
}

/// (`part` or all of it, the rest).
fn take(whole: u64, part: u64) -> (u64, u64) {
    let part = part.min(whole);
    (part, whole.saturating_sub(part))
}

/// The exact floor; at most the whole.
fn percent(whole: u64, percent: u8) -> u64 {
    let percent = u64::from(percent.min(PERCENT));
    // Hundreds and remainder apart, so that the product fits 64 bits.
    let hundreds = (whole / 100).saturating_mul(percent);
    hundreds.saturating_add((whole % 100).saturating_mul(percent) / 100)
}
