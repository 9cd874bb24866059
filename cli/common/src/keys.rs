//! Key files (decision A1), with this command line's refusals.

use crate::errors::{Fault, reason};
use crate::output::{self, Page};
use crate::{confirm, files};
use std::path::{Path, PathBuf};
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

/// Makes a program's first key in `path`, or takes the one that another program keeps in `theirs`, so that both are one
/// party (decision A1). `agree` is asked before a key is taken. What cannot be read as a key is left alone. Gives the key
/// and the file that it was taken from.
///
/// # Errors
/// [`Fault::Exists`], [`Fault::WriteFailed`], [`Fault::RandomFailed`]; those of `agree`.
pub fn first(
    path: &Path,
    theirs: Option<&Path>,
    agree: impl FnOnce(&Path, &Seed) -> Result<bool, Fault>,
) -> Result<(Seed, Option<PathBuf>), Fault> {
    let theirs = theirs.filter(|theirs| *theirs != path);
    let found = theirs.and_then(|theirs| Some((theirs, keys::read(theirs).ok()?.seed)));
    let (seed, from) = match found {
        Some((theirs, seed)) if agree(theirs, &seed)? => (seed, Some(theirs.to_owned())),
        _ => (random()?, None),
    };
    write(&seed, path)?;
    Ok((seed, from))
}

/// Whether another program's key is used here, too: asked where somebody can be asked and `asks` says so, else yes.
pub fn is_shared(program: &str, theirs: &Path, asks: bool) -> bool {
    let text = format!(
        "{program} has a key in {}. Use it here, too, so that you are one party? (n: a new key)",
        files::shown(theirs)
    );
    !asks || !confirm::can_ask() || confirm::ask(&text).is_ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_is_taken_from_another_program_or_made_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (theirs, none) = (at("theirs"), at("none"));
        let (made, from) = first(&theirs, Some(&none), |_, _| Ok(true)).unwrap();
        assert_eq!(from, None);
        let (taken, from) = first(&at("ours"), Some(&theirs), |_, _| Ok(true)).unwrap();
        assert_eq!((*taken, from), (*made, Some(theirs.clone())));
        let (own, from) = first(&at("own"), Some(&theirs), |_, _| Ok(false)).unwrap();
        assert!(*own != *made && from.is_none());
        assert!(matches!(first(&theirs, None, |_, _| Ok(true)), Err(Fault::Exists { .. })));
        std::fs::write(&none, "not a key").unwrap();
        let (new, from) = first(&at("new"), Some(&none), |_, _| Ok(true)).unwrap();
        assert!(from.is_none() && *new != *made);
        assert_eq!(*read(&theirs).unwrap().0, *made);
    }
}
