//! The version that observations carry.

/// The version of this program.
pub(crate) fn of_this_program() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
