//! StakeLock, Lease and BehaviorLog under LiteSVM: one module an instruction, so that it links once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod common;

mod cancel_unlock;
mod challenge_counter;
mod claim_stake;
mod close_batch;
mod initialize_config;
mod keys;
mod lock_stake;
mod mark_withheld;
mod multisig;
mod open_head;
mod open_tenure;
mod open_vault;
mod pay_lease;
mod queue_unlock;
mod relay;
mod slash;
mod submit_batch;
mod submit_batch_signature;
mod take_over;
mod tick_lease;
