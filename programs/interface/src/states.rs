//! What the numbers in the accounts of the challenge game mean.

/// `outcome` of a challenge.
pub mod outcome {
    /// Neither answered nor resolved.
    pub const OPEN: u8 = 0;
    /// Somebody showed the record.
    pub const ANSWERED: u8 = 1;
    /// The challenger was paid.
    pub const SUCCEEDED: u8 = 2;
    /// Nothing was left to win.
    pub const NOTHING_LEFT: u8 = 3;
}

/// `state` of a draft.
pub mod rank {
    /// It never took one.
    pub const NONE: u8 = 0;
    /// It holds one, or lets it lapse.
    pub const HELD: u8 = 1;
    /// Its challenge has it now.
    pub const USED: u8 = 2;
    /// It holds the one of a challenge that it took over, which nobody can use any more.
    pub const SWAPPED: u8 = 3;
    /// The era's order has moved past it.
    pub const PASSED: u8 = 4;
}

/// `state` of an ask.
pub mod asked {
    /// The leaf can be shown, or its time is over.
    pub const OPEN: u8 = 0;
    /// The leaf was shown.
    pub const SHOWN: u8 = 1;
    /// The batch is marked for it, and the money waits for the era's challenges.
    pub const WITHHELD: u8 = 2;
    /// The money is paid.
    pub const SETTLED: u8 = 3;
}
