//! Why a ledger refuses a block, and the text by which a node says so.

use std::fmt;

/// Why a block was not added. The texts are a node's own (wire.md, "Nano"), because clients decide by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The block that it follows is unknown, or belongs to another account while this one is not open.
    GapPrevious,
    /// The send that it receives is unknown, or an open block names none.
    GapSource,
    /// An epoch block opens an account that has nothing receivable.
    GapEpochOpenPending,
    /// The block is in the ledger already.
    Old,
    /// The signature fits neither the account nor, for an epoch block, the epoch's signer.
    BadSignature,
    /// Another block follows the same block, or the account is open already.
    Fork,
    /// Its source is not a send to this account, or was received.
    Unreceivable,
    /// A send that raises the balance. Only blocks of the old kinds can do that; this ledger holds none but
    /// genesis.
    NegativeSpend,
    /// The balance does not rise by the amount of the send, or changes without a link.
    BalanceMismatch,
    /// An epoch block that skips or repeats an epoch.
    BlockPosition,
    /// An epoch block that changes the representative, or opens an account with one.
    RepresentativeMismatch,
    /// The work is below what this kind of block needs in this account's epoch.
    InsufficientWork,
    /// The work is below what any block needs. Seen before the ledger looks at the block.
    WorkBelowEntry,
    /// The account is the burn account.
    OpenedBurnAccount,
    /// `subtype` says send, receive, change or epoch, and the balance says another.
    SubtypeBalance,
    /// `subtype` says open and there is a previous block, or change and there is none.
    SubtypePrevious,
    /// `subtype` says epoch and the link is not an epoch's.
    SubtypeEpochLink,
    /// `subtype` is not a word that a node knows.
    Subtype,
}

impl Refusal {
    /// All of them, for tests that want to see each.
    pub const ALL: [Refusal; 18] = [
        Refusal::GapPrevious,
        Refusal::GapSource,
        Refusal::GapEpochOpenPending,
        Refusal::Old,
        Refusal::BadSignature,
        Refusal::Fork,
        Refusal::Unreceivable,
        Refusal::NegativeSpend,
        Refusal::BalanceMismatch,
        Refusal::BlockPosition,
        Refusal::RepresentativeMismatch,
        Refusal::InsufficientWork,
        Refusal::WorkBelowEntry,
        Refusal::OpenedBurnAccount,
        Refusal::SubtypeBalance,
        Refusal::SubtypePrevious,
        Refusal::SubtypeEpochLink,
        Refusal::Subtype,
    ];

    /// The text of a node's answer.
    pub const fn text(self) -> &'static str {
        match self {
            Refusal::GapPrevious => "Gap previous block",
            Refusal::GapSource => "Gap source block",
            Refusal::GapEpochOpenPending => "Gap pending for open epoch block",
            Refusal::Old => "Old block",
            Refusal::BadSignature => "Bad signature",
            Refusal::Fork => "Fork",
            Refusal::Unreceivable => "Unreceivable",
            Refusal::NegativeSpend => "Negative spend",
            Refusal::BalanceMismatch => "Balance and amount delta do not match",
            Refusal::BlockPosition => "This block cannot follow the previous block",
            // A node has no text of its own for this one.
            Refusal::RepresentativeMismatch => "Error processing block",
            Refusal::InsufficientWork => "Block work is insufficient",
            Refusal::WorkBelowEntry => "Block work is less than threshold",
            Refusal::OpenedBurnAccount => "Block attempts to open the burn account",
            Refusal::SubtypeBalance => "Invalid block balance for given subtype",
            Refusal::SubtypePrevious => "Invalid previous block for given subtype",
            Refusal::SubtypeEpochLink => "Invalid epoch link",
            Refusal::Subtype => "Invalid block subtype",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Refusal {}
