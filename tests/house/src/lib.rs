//! Tests of what holds in the whole repository.
