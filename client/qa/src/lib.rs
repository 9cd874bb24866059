//! The pure rules of the QA loop (decision H): from a finding to a branch that a person may merge.
//!
//! * [`finding`]: the `qa/v1` text of an entry
//! * [`repro`], [`tool`]: the one line that may run, and the tools that it may name
//! * [`rank`]: which findings are one, and which comes first
//! * [`dial`]: what the loop may do unattended
//! * [`patch`]: what a proposal may touch
//! * [`gate`]: what a proposal has to show
//! * [`journal`]: the steps of a finding, and what a crash leaves
//! * [`budget`], [`observation`], [`suite`], [`sibling`]: what a run may use, what tools answer, what runs when
//!
//! Time is an argument, in unix seconds. Errors are numbered from 7800 to 7899.
//!
//! What a rung may call is a matter of types: a tool that writes takes an [`dial::Exercise`], which nobody can make from
//! an [`dial::Observe`].
//!
//! ```compile_fail,E0308
//! fn write_tool(_: zx1_qa::dial::Exercise) {}
//! fn unattended(rung: zx1_qa::dial::Observe) {
//!     write_tool(rung);
//! }
//! ```
//!
//! ```compile_fail,E0308
//! fn propose_tool(_: zx1_qa::dial::Propose) {}
//! fn unattended(rung: zx1_qa::dial::Exercise) {
//!     propose_tool(rung);
//! }
//! ```
//!
//! ```compile_fail,E0423
//! let rung = zx1_qa::dial::Exercise(());
//! ```
//!
//! A rung is used up by one call, so that the next one asks the dial again:
//!
//! ```compile_fail,E0382
//! fn write_tool(_: zx1_qa::dial::Exercise) {}
//! fn unattended(rung: zx1_qa::dial::Exercise) {
//!     write_tool(rung);
//!     write_tool(rung);
//! }
//! ```

pub mod budget;
pub mod defaults;
pub mod dial;
pub mod finding;
pub mod gate;
mod hex;
pub mod journal;
pub mod observation;
pub mod patch;
pub mod rank;
pub mod repro;
pub mod severity;
pub mod sibling;
pub mod suite;
pub mod surface;
pub mod tool;
