//! A command line's own configuration: one TOML file, read strictly, written whole.

use crate::{Fault, files};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Largest configuration in bytes.
const LIMIT: u64 = 1 << 20;

/// Reads a configuration; an absent one is empty.
///
/// # Errors
/// [`Fault::ConfigMalformed`] when it does not parse, with the line; as [`files::read_limited`] otherwise.
pub fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, Fault> {
    let Some(bytes) = files::read_limited(path, LIMIT)? else { return Ok(T::default()) };
    let malformed = |why: String| Fault::ConfigMalformed { path: files::shown(path), why };
    let text = std::str::from_utf8(&bytes).map_err(|_| malformed("it is not UTF-8".to_owned()))?;
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or_default();
            format!("line {}, ", before.matches('\n').count().saturating_add(1))
        });
        let message = error.message().trim_end_matches('.').replace('\n', " ");
        malformed(format!("{}{message}", line.unwrap_or_default()))
    })
}

/// Writes a configuration whole, below a header of comments.
///
/// # Errors
/// [`Fault::WriteFailed`].
pub fn write<T: Serialize>(path: &Path, header: &str, config: &T) -> Result<(), Fault> {
    let failed =
        |error: toml::ser::Error| Fault::WriteFailed { path: files::shown(path), why: error.to_string() };
    let text = toml::to_string(config).map_err(failed)?;
    files::replace_private(path, format!("{header}{text}").as_bytes())
}
