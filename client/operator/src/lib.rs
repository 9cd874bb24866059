//! What runs an agent on chain, for every front end: register, stake, lease, batches, challenges, the keeper,
//! feedback, ratings, reputation and audits.
//!
//! Requests and results are typed, errors are numbered ([`Error`], [`Refusal`]), progress is an [`Event`], and
//! nothing is sent before [`Front::approve`] has seen the simulated transaction. This crate prints nothing and
//! reads no arguments, environment or terminal.
//!
//! * [`Operator`]: one cluster, one home folder and a front end; the operations are its methods
//! * [`keys`]: whose turn an agent is, and the keys that act for it
//! * [`batch`], [`challenge`], [`ask`]: an agent's account of what it did, and disputes about it
//! * [`backup`]: what an agent cannot get back from the chain, encrypted
//! * [`keeper`]: decides what has to be done and does it
//! * [`steps`]: what an agent needs next; [`setup`]: the way from a wallet to the first batch; [`holdings`]: what a wallet holds and what comes back to it
//! * [`facts`]: stake and lease as they count now; [`health`]: what is well and what is not; [`identity`]: who owns an agent, who signs for it
//! * [`message`]: messages of an agent, made and judged; [`log`]: the log of messages
//! * [`register`]: becoming an agent; [`registration`]: where its node is, in the file that its owner hosts
//! * [`node`]: the local API of an agent's mesh node, and who signs its deals
//! * [`qa`]: the QA loop: state, tools in sandboxes, probes, the gate, proposals
//! * [`inspect`]: every field of messages, entries, batches, accounts and transactions
//! * [`Sent`], [`Attempt`]: the outcome of a transaction
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

pub mod ask;
pub mod attest;
pub mod audit;
pub mod backup;
pub mod batch;
pub mod challenge;
pub mod defaults;
pub mod facts;
pub mod feedback;
pub mod health;
pub mod holdings;
pub mod identity;
pub mod inspect;
pub mod keeper;
pub mod keys;
pub mod lease;
pub mod log;
pub mod message;
pub mod node;
pub mod qa;
pub mod register;
pub mod registration;
pub mod reputation;
pub mod setup;
pub mod stake;
pub mod steps;

mod error;
mod files;
mod operator;
mod send;

pub use error::{Error, Origin, Refusal, Result, Silent};
pub use operator::{
    Agent, Chain, Event, Front, LOCK_PATIENCE, Mode, Now, Operator, Options, Wallet, agent_folder,
    log_reader, place,
};
pub use send::{Attempt, OUTBOX, Preview, Sent, Status, holds, outbox};
pub use zx1_coded::Coded;

/// The value of an attempt that was carried out; a preview is returned to the caller's caller.
macro_rules! done {
    ($attempt:expr) => {
        match $attempt {
            $crate::Attempt::Done(value) => value,
            $crate::Attempt::Preview(preview) => return Ok($crate::Attempt::Preview(preview)),
        }
    };
}
pub(crate) use done;
