//! What each fuzz target of this crate does with its bytes. `tests/fuzz` runs them too.

/// All targets by name.
pub(crate) const ALL: [(&str, fn(&[u8])); 1] = [("log_frames", zx1_log::read_frames)];
