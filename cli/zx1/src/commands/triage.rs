//! `zx1 triage`: another name of `zx1 qa triage`.

pub(crate) use super::qa::triage::{Args, run};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 triage
  zx1 triage --state new --output json

Another name of zx1 qa triage.";
