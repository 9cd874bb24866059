//! SLURP v4: several files as one text (decision J): bytes in, bytes out. Clients walk folders.

mod path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub use self::path::{Paths, check_path};
use crate::defaults::MAX_RECEIVE;
use crate::{RelayError, Result};

const HEAD: &str = "# --- SLURP v4 ---";

/// One file: a path with `/` between its parts, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative, see [`check_path`].
    pub path: String,
    /// The content as bytes.
    pub bytes: Vec<u8>,
}

/// What a block of an archive is, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As written in the archive; not checked.
    pub path: String,
    /// Bytes of the block's text in the archive.
    pub len: usize,
    /// Whether the block is base64.
    pub binary: bool,
}

struct Block<'a> {
    path: &'a str,
    body: &'a str,
    binary: bool,
}

/// Packs files. Text without a last newline gains one when it is received, as existing clients do.
///
/// # Errors
///
/// Paths that no receiver takes, two files of one name, a text that holds its own end line, too many bytes.
pub fn pack(name: &str, created: &str, files: &[File]) -> Result<String> {
    let mut paths = Paths::default();
    for file in files {
        paths.take(&file.path)?;
    }
    let line = |text: &str| text.replace(['\n', '\r'], " ");
    let total: usize = files.iter().map(|file| file.bytes.len()).sum();
    let width = files.iter().map(|file| file.path.chars().count()).max().unwrap_or(0);
    let mut out = format!(
        "{HEAD}\n#\n# name: {}\n# files: {}\n# total: {}\n# created: {}\n#\n# MANIFEST:\n",
        line(name),
        files.len(),
        size(total),
        line(created),
    );
    for file in files {
        let hash = hex::encode(Sha256::digest(&file.bytes));
        let tag = if text_of(&file.bytes).is_none() { "  [binary]" } else { "" };
        let bytes = size(file.bytes.len());
        out.push_str(&format!("#   {:width$}  {bytes:>10}  sha256:{}{tag}\n", file.path, &hash[..16]));
    }
    out.push_str("#\n\n");
    for (at, file) in files.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let path = &file.path;
        match text_of(&file.bytes) {
            Some(text) => {
                let body = text.strip_suffix('\n').unwrap_or(text);
                let end = end_line(path);
                if body.split('\n').any(|line| line == end) {
                    return Err(RelayError::EndLine);
                }
                out.push_str(&format!("=== {path} ===\n{body}\n{end}\n"));
            }
            None => {
                out.push_str(&format!("=== {path} [binary] ===\n"));
                for row in STANDARD.encode(&file.bytes).as_bytes().chunks(76) {
                    out.push_str(&String::from_utf8_lossy(row));
                    out.push('\n');
                }
                out.push_str(&format!("{}\n", end_line(path)));
            }
        }
    }
    fits(&out)?;
    Ok(out)
}

/// The blocks of an archive, in their order.
///
/// # Errors
///
/// Blocks without an end, and archives that are too large.
pub fn list(archive: &str) -> Result<Vec<Entry>> {
    fits(archive)?;
    let entry =
        |block: Block<'_>| Entry { path: block.path.into(), len: block.body.len(), binary: block.binary };
    Ok(blocks(archive)?.into_iter().map(entry).collect())
}

/// The files of an archive. Nothing is written under a name that a receiver could not have meant: where the
/// older client mends a path, this refuses the archive.
///
/// # Errors
///
/// Paths that leave the folder or collide, blocks without an end, base64 that is none, too many bytes.
pub fn apply(archive: &str) -> Result<Vec<File>> {
    fits(archive)?;
    let mut paths = Paths::default();
    let mut files = Vec::new();
    for block in blocks(archive)? {
        paths.take(block.path)?;
        let bytes = if block.binary {
            let body: String = block.body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            STANDARD.decode(body).map_err(|_| RelayError::Archive)?
        } else {
            format!("{}\n", block.body).into_bytes()
        };
        files.push(File { path: block.path.to_owned(), bytes });
    }
    Ok(files)
}

/// The hash of an offer: SHA-256 over the archive's text, in hex.
pub fn sha256(archive: &str) -> String {
    hex::encode(Sha256::digest(archive.as_bytes()))
}

fn fits(archive: &str) -> Result<()> {
    let bytes = archive.len() as u64;
    if bytes > MAX_RECEIVE { Err(RelayError::ArchiveTooLarge { bytes, most: MAX_RECEIVE }) } else { Ok(()) }
}

fn end_line(path: &str) -> String {
    format!("=== END {path} ===")
}

fn blocks(archive: &str) -> Result<Vec<Block<'_>>> {
    let mut found = Vec::new();
    let mut rest = archive;
    while let Some((line, after)) = next_line(rest) {
        rest = after;
        let title = line.strip_prefix("=== ").and_then(|line| line.strip_suffix(" ==="));
        let Some(title) = title.filter(|title| !title.starts_with("END ")) else { continue };
        let (path, binary) = title.strip_suffix(" [binary]").map_or((title, false), |path| (path, true));
        let end = end_line(path);
        let body_at = rest;
        loop {
            let (line, after) = next_line(rest).ok_or(RelayError::Archive)?;
            if line == end {
                let len = body_at.len() - rest.len();
                let body = body_at.get(..len).unwrap_or_default();
                found.push(Block { path, body: body.strip_suffix('\n').unwrap_or(body), binary });
                rest = after;
                break;
            }
            rest = after;
        }
    }
    Ok(found)
}

/// The first line without its newline, and what follows.
fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() { None } else { Some(text.split_once('\n').unwrap_or((text, ""))) }
}

/// The text of a file that is packed inline: no NUL in the first 8192 bytes, and UTF-8 throughout.
fn text_of(bytes: &[u8]) -> Option<&str> {
    if bytes.iter().take(8_192).any(|byte| *byte == 0) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// Bytes as the manifest writes them: `512 B`, `1.2 KB`.
#[allow(clippy::cast_precision_loss)]
fn size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}
