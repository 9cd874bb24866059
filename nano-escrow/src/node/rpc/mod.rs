//! The messages: one a file.
//!
//! Nodes write numbers and flags as texts, hashes in either case, and an empty list as `[]`, `{}` or `""`.
//! The readers in [`read`] take them all.

mod account_balance;
mod account_history;
mod account_info;
mod accounts_balances;
mod accounts_frontiers;
mod accounts_receivable;
mod active_difficulty;
mod block_confirm;
mod block_count;
mod block_info;
mod blocks_info;
mod process;
pub mod read;
mod receivable;
mod receivable_exists;
mod telemetry;
mod version;
mod work_generate;
mod work_validate;

pub use account_balance::{AccountBalance, Balance};
pub use account_history::{AccountHistory, History, HistoryEntry};
pub use account_info::{AccountInfo, AccountState, ConfirmedState};
pub use accounts_balances::AccountsBalances;
pub use accounts_frontiers::AccountsFrontiers;
pub use accounts_receivable::AccountsReceivable;
pub use active_difficulty::{ActiveDifficulty, Difficulty};
pub use block_confirm::BlockConfirm;
pub use block_count::{BlockCount, Counts};
pub use block_info::{BlockInfo, BlockState};
pub use blocks_info::{BlocksFound, BlocksInfo};
pub use process::Process;
pub use receivable::{Receivable, ReceivableBlock};
pub use receivable_exists::ReceivableExists;
pub use telemetry::Telemetry;
pub use version::{Version, VersionInfo};
pub use work_generate::WorkGenerate;
pub use work_validate::{WorkValidate, WorkVerdict};
