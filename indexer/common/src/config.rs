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
    let wrong = |why: &dyn std::fmt::Display| {
        format!("The configuration {} cannot be read ({why}); correct it.", path.display())
    };
    match zx1_home::config::read_toml(path) {
        Ok(config) => config.ok_or_else(|| wrong(&"there is no such file")),
        Err(error) => Err(wrong(&error)),
    }
}

/// Every value, as TOML.
///
/// # Errors
///
/// A sentence.
pub fn print<T: Serialize>(config: &T) -> Result<String, String> {
    toml::to_string_pretty(config).map_err(|error| format!("The configuration cannot be printed ({error})."))
}
