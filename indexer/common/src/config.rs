//! A file of settings: TOML, read strictly where its type says so, printed whole.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads a file.
///
/// # Errors
///
/// A sentence.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let wrong = |error: &dyn std::fmt::Display| {
        format!("The configuration {} cannot be read ({error}); correct it.", path.display())
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    toml::from_str(&text).map_err(|error| wrong(&error))
}

/// Every value, as TOML.
///
/// # Errors
///
/// A sentence.
pub fn print<T: Serialize>(config: &T) -> Result<String, String> {
    toml::to_string_pretty(config).map_err(|error| format!("The configuration cannot be printed ({error})."))
}
