//! Why a transaction was not approved: an operation only learns that it was not.

use crate::errors::Failure;
use std::sync::{Mutex, PoisonError};

/// The refusal of whoever was asked.
#[derive(Debug, Default)]
pub struct Declined(Mutex<Option<Failure>>);

impl Declined {
    /// Keeps the answer until [`Self::take`].
    pub fn keep(&self, failure: Failure) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    /// Takes the answer, so that it is reported once.
    pub fn take(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
