//! A command line's own configuration: one TOML file, read strictly, written whole.

use crate::{Fault, files};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use zx1_home::config::{self, ConfigError, FileLayer};

/// Reads a configuration; an absent one is empty.
///
/// # Errors
/// [`Fault::ConfigMalformed`] when it does not parse, with the line; as [`files::read_limited`] otherwise.
pub fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, Fault> {
    config::read_toml(path).map(Option::unwrap_or_default).map_err(|error| match error {
        ConfigError::Malformed { why } => Fault::ConfigMalformed { path: files::shown(path), why },
        ConfigError::Io(error) => files::read_failed(path, &error),
        ConfigError::TooLarge { size, limit } => {
            Fault::InputTooLarge { what: files::shown(path), size, limit }
        }
    })
}

/// A configuration as a layer of settings, under the name that people call it.
///
/// # Errors
/// [`Fault::ConfigMalformed`].
pub fn layer(name: &'static str, path: PathBuf, config: &impl Serialize) -> Result<FileLayer, Fault> {
    let shown = files::shown(&path);
    let malformed = |error: ConfigError| Fault::ConfigMalformed { path: shown, why: error.to_string() };
    FileLayer::new(name, path, config).map_err(malformed)
}

/// Writes a configuration whole, below a header of comments.
///
/// # Errors
/// [`Fault::WriteFailed`].
pub fn write<T: Serialize>(path: &Path, header: &str, config: &T) -> Result<(), Fault> {
    files::make_private_folder(zx1_home::files::folder_of(path))?;
    config::write_toml(path, header, config).map_err(|error| match error {
        ConfigError::Io(error) => files::write_failed(path, &error),
        error => Fault::WriteFailed { path: files::shown(path), why: error.to_string() },
    })
}
