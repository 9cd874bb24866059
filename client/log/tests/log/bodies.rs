//! What each fuzz target of this crate does with its bytes. `tests/fuzz` runs them too.

/// A target's body.
pub(crate) type Body = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Body); 1] = [("log_frames", zx1_log::read_frames)];
