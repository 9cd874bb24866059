//! One instruction a file.

mod config_initialize;
mod deposit_take;
mod era_settle;
mod key_add;
mod key_close;
mod key_end;
mod rank_take;
mod stake_claim;
mod stake_lock;
mod tenure_open;
mod tenure_take_over;
mod unlock_cancel;
mod unlock_queue;
mod vault_open;

pub use config_initialize::*;
pub use deposit_take::*;
pub use era_settle::*;
pub use key_add::*;
pub use key_close::*;
pub use key_end::*;
pub use rank_take::*;
pub use stake_claim::*;
pub use stake_lock::*;
pub use tenure_open::*;
pub use tenure_take_over::*;
pub use unlock_cancel::*;
pub use unlock_queue::*;
pub use vault_open::*;
