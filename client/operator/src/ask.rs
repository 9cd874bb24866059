//! Asks: a leaf of a batch is shown, or the batch counts for nothing (decision P4).

mod leaf;
mod list;
pub(crate) mod settle;
mod show;

pub use leaf::Asked;
pub use list::{Listed, State};
pub use settle::{Done, Settled};
pub use show::Shown;

use crate::error::{Refusal, Result};
use crate::operator::Operator;
use solana_address::Address;
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::AskAccount;
use zx1_protocol::challenge::show_deadline;
use zx1_protocol::units::Slot;

pub use zx1_interface::states::asked::{OPEN, SHOWN, WITHHELD};

/// A tree of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The entries of the log.
    Log,
    /// The records of the economic arrays.
    Arrays,
}

impl Tree {
    /// Both trees of a batch.
    pub const ALL: [Self; 2] = [Self::Log, Self::Arrays];

    /// Its number, as instructions have it.
    pub fn number(self) -> u8 {
        match self {
            Self::Log => 0,
            Self::Arrays => 1,
        }
    }

    /// The tree of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tree| tree.number() == number)
    }

    /// The name that people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Arrays => "arrays",
        }
    }

    /// The tree of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tree| tree.name() == name)
    }
}

/// A tree's name, also of one that this version does not know.
pub fn tree_name(number: u8) -> &'static str {
    Tree::from_number(number).map_or("unknown", Tree::name)
}

/// The last slot in which the leaf can be shown.
pub fn deadline(ask: &AskAccount) -> Slot {
    show_deadline(Slot(ask.created_slot))
}

impl Operator {
    /// The ask at an address.
    ///
    /// # Errors
    /// 7554 when there is none.
    async fn ask_at(&self, address: Address) -> Result<Stored<AskAccount>> {
        let found = self.client().leaf_ask(address).await?;
        found.ok_or_else(|| Refusal::NoAsk { address: address.to_string() }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_have_the_numbers_of_the_instruction() {
        assert_eq!(Tree::from_name("log").map(Tree::number), Some(0));
        assert_eq!(Tree::from_name("arrays").map(Tree::number), Some(1));
        assert_eq!((Tree::from_name("leaves"), tree_name(2)), (None, "unknown"));
    }
}
