//! `zx1 probe`: another name of `zx1 qa probe`.

pub(crate) use super::qa::probe::{Args, run};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 probe --suite smoke
  zx1 probe --suite fuzz --seed 7

Another name of zx1 qa probe.";
