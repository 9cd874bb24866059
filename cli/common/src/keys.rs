//! Key files (decision A1), with this command line's refusals.

use crate::errors::{Fault, reason};
use crate::files;
use crate::output::{self, Page};
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

/// Keys of this user below the home folder, where other programs keep them, but for the one that was chosen.
pub fn others(chosen: &Path, usual: &[&str]) -> Vec<String> {
    let home = zx1_home::config::user_home();
    let paths = usual.iter().filter_map(|path| Some(home.as_ref()?.join(path)));
    paths.filter(|path| path.exists() && path != chosen).map(|path| files::shown(&path)).collect()
}

/// Says that there are other keys, and how to use one of them.
pub fn draw_others(page: &mut Page, others: &[String], program: &str) {
    if !others.is_empty() {
        page.line(format!("You have other keys: {}.", others.join(", ")));
        page.line(format!(
            "To use one of them instead, move this one away and run {program} init --import FILE."
        ));
    }
}
