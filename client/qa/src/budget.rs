//! What a run may use. Every act reserves before it begins and settles after it has ended, so that a run that was ended
//! in between is charged with what it may have used.

use std::collections::BTreeMap;
use zx1_coded::Coded;
use zx1_market::Json;

/// Why nothing was reserved. Numbers 7830 to 7834.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum BudgetError {
    /// More than is left.
    #[code(7830)]
    #[error("The run's budget is exceeded: {asked} {what} were asked for, and {left} are left.")]
    Exceeded {
        /// Name of the amount.
        what: &'static str,
        /// What the act would reserve.
        asked: u64,
        /// What nobody has reserved or used.
        left: u64,
    },
    /// Settled twice, or never reserved.
    #[code(7831)]
    #[error("There is no open reservation {0}.")]
    NotReserved(u64),
}

/// The names of [`Amounts`], in their order.
pub const NAMES: [&str; 7] =
    ["writes", "lamports", "raw_millionths", "micro_usd", "cpu_ms", "wall_ms", "bytes"];

/// Amounts of everything that a run can use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Transactions and entries written.
    pub writes: u64,
    /// Lamports that left a wallet.
    pub lamports: u64,
    /// Nano paid, in 10^24 raw (a millionth of a Nano).
    pub raw_millionths: u64,
    /// Price of model calls, in millionths of a US dollar.
    pub micro_usd: u64,
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// Wall time of tools in milliseconds.
    pub wall_ms: u64,
    /// Bytes of output and input that are kept.
    pub bytes: u64,
}

impl Amounts {
    fn all(&self) -> [u64; 7] {
        [
            self.writes,
            self.lamports,
            self.raw_millionths,
            self.micro_usd,
            self.cpu_ms,
            self.wall_ms,
            self.bytes,
        ]
    }

    fn of([writes, lamports, raw_millionths, micro_usd, cpu_ms, wall_ms, bytes]: [u64; 7]) -> Self {
        Self { writes, lamports, raw_millionths, micro_usd, cpu_ms, wall_ms, bytes }
    }

    /// The sum; amounts stop at the largest number.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.all();
        sum.iter_mut().zip(other.all()).for_each(|(sum, other)| *sum = sum.saturating_add(other));
        Self::of(sum)
    }

    /// An object with all names.
    pub fn json(&self) -> Json {
        Json::object(NAMES.into_iter().zip(self.all()))
    }

    /// Reads what [`Self::json`] wrote; a name that is missing is zero.
    pub fn parse(json: &Json) -> Option<Self> {
        let fields = json.as_object()?;
        let mut all = [0; 7];
        for (name, value) in fields {
            let at = NAMES.iter().position(|known| known == name)?;
            *all.get_mut(at)? = value.as_u64()?;
        }
        Some(Self::of(all))
    }
}

/// What is used and reserved of a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    limit: Amounts,
    used: Amounts,
    open: BTreeMap<u64, Amounts>,
}

impl Book {
    /// A book of which nothing is used.
    pub fn new(limit: Amounts) -> Self {
        Self { limit, ..Self::default() }
    }

    /// What was settled and charged.
    pub fn used(&self) -> Amounts {
        self.used
    }

    /// Reservations that are not settled, by their ids.
    pub fn open(&self) -> &BTreeMap<u64, Amounts> {
        &self.open
    }

    /// Reserves amounts under a new id.
    pub fn reserve(&mut self, id: u64, amounts: Amounts) -> Result<(), BudgetError> {
        let taken = self.open.values().fold(self.used, |sum, open| sum.plus(open));
        for (at, what) in NAMES.into_iter().enumerate() {
            let of = |amounts: &Amounts| amounts.all().get(at).copied().unwrap_or(0);
            let left = of(&self.limit).saturating_sub(of(&taken));
            if of(&amounts) > left {
                return Err(BudgetError::Exceeded { what, asked: of(&amounts), left });
            }
        }
        self.open.insert(id, amounts);
        Ok(())
    }

    /// Ends a reservation with what was used of it.
    pub fn settle(&mut self, id: u64, used: Amounts) -> Result<(), BudgetError> {
        self.open.remove(&id).ok_or(BudgetError::NotReserved(id))?;
        self.used = self.used.plus(&used);
        Ok(())
    }

    /// Ends a reservation as if all of it was used, because nobody knows. What that was.
    pub fn charge(&mut self, id: u64) -> Result<Amounts, BudgetError> {
        let amounts = *self.open.get(&id).ok_or(BudgetError::NotReserved(id))?;
        self.settle(id, amounts).map(|()| amounts)
    }
}
