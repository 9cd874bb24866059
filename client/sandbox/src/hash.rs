//! Content hashes and extended attributes, the same for upper layers, the real filesystem and the records.

use std::io::{Read, Result};
use std::path::Path;

use crate::raw::Raw;

/// Bytes read at a time.
const PIECE: usize = 1 << 16;
/// The kernel's own limit on the value of an attribute.
const ATTRIBUTE_MAX: usize = 1 << 16;

/// Size in bytes and BLAKE2b-256 in hexadecimal of everything that a reader gives.
pub(crate) fn reader(file: impl Read) -> Result<(u64, String)> {
    let (size, hash, _) = content(file)?;
    Ok((size, hash))
}

/// The same, and whether all of it is text: UTF-8 without NUL.
pub(crate) fn content(mut file: impl Read) -> Result<(u64, String, bool)> {
    let mut state = state();
    let mut piece = vec![0u8; PIECE];
    let mut size = 0u64;
    let mut text = Text::default();
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok((size, hex::encode(state.finalize().as_bytes()), text.is_whole()));
        }
        size = size.saturating_add(count as u64);
        let bytes = piece.get(..count).unwrap_or_default();
        state.update(bytes);
        text.push(bytes);
    }
}

/// Tells text from other bytes, piece by piece.
#[derive(Default)]
struct Text {
    is_other: bool,
    /// The beginning of a character that a piece has cut.
    rest: Vec<u8>,
}

impl Text {
    fn push(&mut self, bytes: &[u8]) {
        if self.is_other {
            return;
        }
        let joined;
        let bytes = if self.rest.is_empty() {
            bytes
        } else {
            joined = [&self.rest[..], bytes].concat();
            &joined[..]
        };
        self.is_other = bytes.contains(&0);
        let rest = match std::str::from_utf8(bytes) {
            Ok(_) => Vec::new(),
            Err(error) if error.error_len().is_none() => {
                bytes.get(error.valid_up_to()..).unwrap_or_default().to_vec()
            }
            Err(_) => {
                self.is_other = true;
                Vec::new()
            }
        };
        self.rest = rest;
    }

    fn is_whole(&self) -> bool {
        !self.is_other && self.rest.is_empty()
    }
}

/// A fresh BLAKE2b-256 state.
pub(crate) fn state() -> blake2b_simd::State {
    blake2b_simd::Params::new().hash_length(32).to_state()
}

/// Attributes that belong to a file for its user: `user.*`, access lists and file capabilities. The overlay's
/// own marks and labels of security modules, which the real filesystem sets itself, are left out.
pub(crate) fn is_kept_attribute(name: &[u8]) -> bool {
    let overlay = name.starts_with(b"user.overlay.");
    let known = name == b"system.posix_acl_access"
        || name == b"system.posix_acl_default"
        || name == b"security.capability";
    (name.starts_with(b"user.") && !overlay) || known
}

/// Attributes of a file by its path, without following a link; sorted.
pub(crate) fn attributes(path: &Path) -> Vec<(Raw, Raw)> {
    let length = rustix::fs::llistxattr_query(path).unwrap_or(0);
    if length == 0 {
        return Vec::new();
    }
    let mut list = vec![0u8; length];
    let length = rustix::fs::llistxattr(path, &mut list[..]).unwrap_or(0);
    let mut found = Vec::new();
    for name in list.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
        if name.is_empty() || !is_kept_attribute(name) {
            continue;
        }
        if let Some(value) = attribute(path, name) {
            found.push((Raw(name.to_vec()), Raw(value)));
        }
    }
    found.sort();
    found
}

/// One attribute, without following a link.
pub(crate) fn attribute(path: &Path, name: &[u8]) -> Option<Vec<u8>> {
    let mut value = vec![0u8; ATTRIBUTE_MAX];
    let length = rustix::fs::lgetxattr(path, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}
