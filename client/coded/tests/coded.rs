//! What the derive macro makes of an enum: numbers, names, transience and the list.

use zx1_coded::{Coded, Row};

/// An error below.
#[derive(Debug, Clone, Copy, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Inner {
    /// Comes and goes.
    #[code(10, transient)]
    #[error("The node is away.")]
    Away,
    /// Depends on the status.
    #[code(11, transient = Self::may_pass)]
    #[error("The server answered {status}.")]
    Status {
        /// The status in HTTP.
        status: u16,
    },
}

impl Inner {
    fn may_pass(&self) -> bool {
        matches!(self, Self::Status { status } if *status >= 500)
    }
}

/// An error above.
#[derive(Debug, thiserror::Error, Coded)]
enum Outer {
    /// The inner error's number.
    #[code(inner)]
    #[error(transparent)]
    Inner(#[from] Inner),
    /// Passed on from the heap.
    #[code(inner)]
    #[error(transparent)]
    Boxed(Box<Inner>),
    /// Passed on with what it is about.
    #[code(inner)]
    #[error("{path}: {source}")]
    At { path: &'static str, source: Inner },
    /// A number of its own.
    #[code(20)]
    #[error("The file {path} has {} bytes too many.", .size - 1)]
    Large { path: &'static str, size: u8 },
    /// A variant that is not compiled.
    #[cfg(any())]
    #[code(21)]
    #[error("Never.")]
    Never,
}

#[test]
fn a_variant_has_the_number_the_name_and_the_transience_that_stand_beside_it() {
    let large = Outer::Large { path: "a", size: 3 };
    assert_eq!((large.code(), large.name(), large.transient()), (20, "Large", false));
    assert_eq!(large.to_string(), "The file a has 2 bytes too many.");
    assert!(!Inner::Status { status: 404 }.transient());
    assert!(Inner::Status { status: 503 }.transient());
}

#[test]
fn an_error_that_passes_another_one_on_shows_that_ones_number_and_name() {
    let at = Outer::At { path: "a", source: Inner::Away };
    assert_eq!(at.to_string(), "a: The node is away.");
    for outer in [Outer::from(Inner::Away), Outer::Boxed(Box::new(Inner::Away)), at] {
        assert_eq!((outer.code(), outer.name(), outer.transient()), (10, "Away", true));
    }
}

#[test]
fn the_list_has_every_number_of_the_type_itself_once() {
    let large = Row {
        code: 20,
        name: "Large",
        message: "The file {path} has {} bytes too many.",
        transient: Some(false),
    };
    assert_eq!(Outer::ROWS, [large]);
    let transient: Vec<_> = Inner::ROWS.iter().map(|row| row.transient).collect();
    assert_eq!(transient, [Some(true), None]);
}
