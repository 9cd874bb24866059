//! Key files (decision A1), with this command line's refusals.

use crate::errors::{Fault, reason};
use crate::{files, output};
use std::path::Path;
use zx1_home::keys::{self, KeyError, KeyFileError};

pub use zx1_home::keys::{Form, Seed, is_private, public, solana_json};

/// Reads a key file; warns when others can read it too.
///
/// # Errors
/// The variants of [`Fault`] that begin with `Key`, each with the path.
pub fn read(path: &Path) -> Result<(Seed, Form), Fault> {
    let shown = files::shown(path);
    if shown.starts_with("usb:") || shown.starts_with("prompt:") || shown == "ASK" {
        return Err(Fault::KeyNotAFile { path: shown });
    }
    let key = keys::read(path).map_err(|error| fault(error, path))?;
    if !key.private {
        output::warn(&format!("others on this machine can read {shown}; run chmod 600 {shown}"));
    }
    Ok((key.seed, key.form))
}

fn fault(error: KeyFileError, file: &Path) -> Fault {
    let path = files::shown(file);
    match error {
        KeyFileError::Missing => Fault::KeyMissing { path },
        KeyFileError::Folder => Fault::KeyIsFolder { path },
        KeyFileError::Io(error) => files::read_failed(file, &error),
        KeyFileError::Key(KeyError::NotJson { why }) => Fault::KeyNotJson { path, why },
        KeyFileError::Key(KeyError::WrongLength { found }) => Fault::KeyWrongLength { path, found },
        KeyFileError::Key(KeyError::HalvesDiffer) => Fault::KeyHalvesDiffer { path },
        KeyFileError::Key(KeyError::UnknownForm { found }) => Fault::KeyUnknownForm { path, found },
    }
}

/// A new secret.
///
/// # Errors
/// [`Fault::RandomFailed`].
pub fn random() -> Result<Seed, Fault> {
    keys::random().map_err(|error| Fault::RandomFailed { why: reason(&error) })
}

/// Writes a key in Solana's form, for this user only; never over another.
///
/// # Errors
/// [`Fault::Exists`], [`Fault::WriteFailed`].
pub fn write(seed: &Seed, path: &Path) -> Result<(), Fault> {
    files::create_private(path, solana_json(seed).as_bytes())
}
