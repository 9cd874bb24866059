//! What acts in the QA loop: its state on disk, tools in sandboxes, probes, the gate, proposals. The rules are
//! [`zx1_qa`]'s, which this module obeys; [docs/qa.md](../../../docs/qa.md) explains both.
//!
//! * [`state`], [`settings`], [`journal`]: the folder of one repository's loop: dial, kill switch, journal
//! * [`run`]: one run with its lock, folder and budget; what a killed one leaves is cleaned up by the next
//! * [`tools`]: the tools of the table, each in a sandbox; [`decode`], [`attack`]: what they do inside
//! * [`probe`], [`repeat`]: suites of calls, and a call as often as it takes
//! * [`gate`], [`outcomes`]: runs R0 to R4 of a proposal; [`proposal`]: its branch and record
//! * [`tick`]: what is due; [`triage`]: the feedback log, ranked
//!
//! Nothing here writes a default branch: merging is a person's act, and the command line's.

pub mod attack;
mod command_lines;
pub mod decode;
pub mod error;
pub mod gate;
mod git;
mod inside;
pub mod journal;
pub mod outcomes;
pub mod probe;
pub mod proposal;
pub mod repeat;
pub mod run;
pub mod settings;
pub mod state;
pub mod tick;
pub mod tools;
pub mod triage;
mod version;

pub use error::QaError;
pub use git::Git;
pub use inside::main_if_asked;
pub use run::Run;
pub use state::State;
pub use tools::Tools;
