//! The backup: one armoured age file, opened by a passphrase, that holds what an agent cannot get back from
//! the chain: the key, the list of agents, unsent transactions, and which nonces and epochs are used up. A
//! restored agent goes on above the saved nonces (decision C4), so it never signs the same one twice.
//!
//! Inside the encryption: `zx1-backup/v1\n`, then for each file the path's length (u32, big-endian), the
//! path, the content's length (u64), the content. age authenticates all of it, and where it ends.

use crate::error::{Error, Refusal, Result};
use crate::send::OUTBOX;
use age::armor::{ArmoredReader, ArmoredWriter, Format};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};
use zx1_home::files::{self, Draft};

pub use age::secrecy::SecretString;

/// Name of the key's file in a backup.
pub const KEYPAIR: &str = "id.json";
/// Name of the configuration in zx1's folder and in a backup.
pub const CONFIG: &str = "config.toml";
/// The folder of agents' logs, nonces and batches, in zx1's folder.
pub const AGENTS: &str = "agents";

const MAGIC: &[u8] = b"zx1-backup/v1\n";
/// Longest path inside a backup.
const MAX_PATH: u32 = 4_096;
/// Files of an agent's folder that are always saved: without them it could sign one nonce twice, or two
/// batches of one epoch. The rest is large and saved on demand.
const ALWAYS: &[&str] = &["nonces", "attestations"];

/// What was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of files, the key among them.
    pub files: usize,
    /// Total size of these files, in bytes.
    pub bytes: u64,
}

fn failed(write: bool, path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| {
        let path = path.clone();
        if write { Error::WriteFailed { path, source } } else { Error::ReadFailed { path, source } }
    }
}

/// Writes a backup of `home` and of a key file's content to `target`; never over another file. `whole` saves logs,
/// payloads and batches too.
///
/// # Errors
/// 7405 and 7406 when the system refuses, also because the target exists. Nothing is left then.
pub fn save(
    home: &Path,
    key: &[u8],
    target: &Path,
    passphrase: SecretString,
    whole: bool,
) -> Result<Summary> {
    let listed = list(home, whole)?;
    let failed = failed(true, target);
    let draft = Draft::new(target).map_err(&failed)?;
    let armored = ArmoredWriter::wrap_output(draft, Format::AsciiArmor).map_err(&failed)?;
    let encryptor = age::Encryptor::with_user_passphrase(passphrase);
    let mut out = BufWriter::new(encryptor.wrap_output(armored).map_err(&failed)?);
    out.write_all(MAGIC).map_err(&failed)?;
    let mut summary = Summary { files: 1, bytes: key.len() as u64 };
    put(&mut out, KEYPAIR, summary.bytes, key).map_err(&failed)?;
    for path in listed {
        let full = home.join(&path);
        let unread = self::failed(false, &full);
        let file = File::open(&full).map_err(&unread)?;
        // A log may grow meanwhile; its length now is what counts, and a torn entry is dropped on opening.
        let length = file.metadata().map_err(&unread)?.len();
        put(&mut out, &path.to_string_lossy(), length, BufReader::new(file)).map_err(&failed)?;
        summary.files = summary.files.saturating_add(1);
        summary.bytes = summary.bytes.saturating_add(length);
    }
    let stream = out.into_inner().map_err(|error| failed(error.into_error()))?;
    stream.finish().and_then(ArmoredWriter::finish).and_then(Draft::create).map_err(failed)?;
    Ok(summary)
}

fn put(out: &mut impl Write, path: &str, length: u64, content: impl Read) -> io::Result<()> {
    let path_length = u32::try_from(path.len()).map_err(io::Error::other)?;
    out.write_all(&path_length.to_be_bytes())?;
    out.write_all(path.as_bytes())?;
    out.write_all(&length.to_be_bytes())?;
    let copied = io::copy(&mut content.take(length), out)?;
    if copied == length { Ok(()) } else { Err(io::Error::other("a file became shorter while it was read")) }
}

/// What is saved, relative to zx1's folder, in a fixed order. Logs come before payloads, as an entry's
/// payload is always written first.
fn list(home: &Path, whole: bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let config = PathBuf::from(CONFIG);
    if home.join(&config).exists() {
        found.push(config);
    }
    walk(home, Path::new(OUTBOX), &mut found)?;
    let mut agents = Vec::new();
    walk(home, Path::new(AGENTS), &mut agents)?;
    found.extend(agents.into_iter().filter(|path| is_saved(path, whole)));
    Ok(found)
}

fn is_saved(path: &Path, whole: bool) -> bool {
    let name = path.file_name().unwrap_or_default();
    if name == "lock" || name == ".lock" {
        return false;
    }
    whole || ALWAYS.iter().any(|always| name == *always) || path.extension().is_some_and(|kind| kind == "sig")
}

fn walk(home: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let full = home.join(folder);
    let failed = failed(false, &full);
    let entries = match fs::read_dir(&full) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let mut entries = entries.collect::<io::Result<Vec<_>>>().map_err(&failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(&failed)?;
        let path = folder.join(entry.file_name());
        if kind.is_dir() {
            walk(home, &path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// A backup unpacked beside what it is to become. What was not moved away goes when this is dropped.
#[derive(Debug)]
pub struct Unpacked {
    staging: PathBuf,
    home: PathBuf,
    /// Number of files, the key among them.
    pub files: usize,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.staging);
    }
}

impl Unpacked {
    /// Path of the key file.
    pub fn key(&self) -> PathBuf {
        self.staging.join(KEYPAIR)
    }

    /// Path of the configuration, which may be missing.
    pub fn config(&self) -> PathBuf {
        self.staging.join(CONFIG)
    }

    /// Moves outbox and agents' folders into place. The key comes last, so that an interrupted restore leaves no
    /// usable agent.
    ///
    /// # Errors
    /// 7405
    pub fn settle(&self) -> Result<()> {
        for name in [OUTBOX, AGENTS] {
            let from = self.staging.join(name);
            if from.exists() {
                fs::rename(&from, self.home.join(name)).map_err(failed(true, &from))?;
            }
        }
        Ok(())
    }
}

/// Unpacks a backup for `home` and for a key at `key`, beside the folder, so that a wrong passphrase or a damaged
/// file changes nothing.
///
/// # Errors
/// 7423 when the restore would overwrite something, 7421 for a wrong passphrase, 7420 for a file that is not
/// a backup.
pub fn open(source: &Path, home: &Path, key: &Path, passphrase: SecretString) -> Result<Unpacked> {
    let taken = [home.join(CONFIG), home.join(OUTBOX), home.join(AGENTS), key.to_owned()];
    if let Some(path) = taken.iter().find(|path| path.exists()) {
        return Err(Refusal::RestoreBlocked { path: path.display().to_string() }.into());
    }
    files::make_folder(home).map_err(failed(true, home))?;
    let staging = home.join(format!(".restore.{}", std::process::id()));
    let mut unpacked = Unpacked { staging, home: home.to_owned(), files: 0 };
    unpacked.files = unpack(source, &unpacked.staging, passphrase)?;
    Ok(unpacked)
}

fn unpack(source: &Path, staging: &Path, passphrase: SecretString) -> Result<usize> {
    let path = source.display().to_string();
    let bad = |why: &str| Error::from(Refusal::BackupUnreadable { path: path.clone(), why: why.to_owned() });
    let damaged = |error: io::Error| bad(&error.to_string());
    let file = File::open(source).map_err(failed(false, source))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(bad("it is a folder"));
    }
    let decryptor = age::Decryptor::new_buffered(ArmoredReader::new(BufReader::new(file)))
        .map_err(|_| bad("not an age file"))?;
    if !decryptor.is_scrypt() {
        return Err(bad("an age file that is not encrypted with a passphrase"));
    }
    let identity = age::scrypt::Identity::new(passphrase);
    let mut content = decryptor.decrypt(std::iter::once(&identity as _)).map_err(|error| match error {
        age::DecryptError::DecryptionFailed
        | age::DecryptError::KeyDecryptionFailed
        | age::DecryptError::NoMatchingKeys => Refusal::WrongPassphrase { path: path.clone() }.into(),
        other => bad(&other.to_string()),
    })?;
    let mut magic = [0; MAGIC.len()];
    content.read_exact(&mut magic).map_err(damaged)?;
    if magic != MAGIC {
        return Err(bad("unknown contents, or written by a later version"));
    }
    let mut count = 0usize;
    while let Some(path_length) = read_u32(&mut content).map_err(damaged)? {
        if path_length > MAX_PATH {
            return Err(bad("a path in it is too long"));
        }
        let mut inner = vec![0; path_length as usize];
        content.read_exact(&mut inner).map_err(damaged)?;
        let inner = String::from_utf8(inner).map_err(|_| bad("a path in it is not UTF-8"))?;
        let target = safe(staging, &inner).ok_or_else(|| bad("a path in it leads outside zx1's folder"))?;
        let mut length = [0; 8];
        content.read_exact(&mut length).map_err(damaged)?;
        unpack_file(&mut content, u64::from_be_bytes(length), &target)?;
        count = count.saturating_add(1);
    }
    if staging.join(KEYPAIR).exists() { Ok(count) } else { Err(bad("no key in it")) }
}

fn unpack_file(content: &mut impl Read, length: u64, target: &Path) -> Result<()> {
    let mut write = || -> io::Result<()> {
        files::make_folder(files::folder_of(target))?;
        let mut draft = Draft::new(target)?;
        if io::copy(&mut content.take(length), &mut draft)? != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        draft.create()
    };
    write().map_err(failed(true, target))
}

/// The next file's path length; `None` at the end.
fn read_u32(content: &mut impl Read) -> io::Result<Option<u32>> {
    let mut first = [0; 1];
    if content.read(&mut first)? == 0 {
        return Ok(None);
    }
    let mut rest = [0; 3];
    content.read_exact(&mut rest)?;
    let [a] = first;
    let [b, c, d] = rest;
    Ok(Some(u32::from_be_bytes([a, b, c, d])))
}

/// Where a saved path goes; `None` for one that leads elsewhere.
fn safe(staging: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let mut parts = path.components();
    let Some(Component::Normal(top)) = parts.next() else { return None };
    let known = [KEYPAIR, CONFIG, OUTBOX, AGENTS];
    let fits =
        known.iter().any(|name| top == *name) && parts.all(|part| matches!(part, Component::Normal(_)));
    fits.then(|| staging.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_leads_out_of_the_folder() {
        let staging = Path::new("/s");
        for bad in ["", "/etc/passwd", "../x", "agents/../../x", "other/file", "./id.json"] {
            assert_eq!(safe(staging, bad), None, "{bad}");
        }
        assert_eq!(safe(staging, "agents/m/nonces"), Some("/s/agents/m/nonces".into()));
    }

    #[test]
    fn nonces_and_signatures_are_always_saved_and_logs_on_demand() {
        for (path, small, whole) in [
            ("agents/m/nonces", true, true),
            ("agents/m/batches/7.sig", true, true),
            ("agents/m/batches/7.zx1batch", false, true),
            ("agents/m/log/7.log", false, true),
            ("agents/m/lock", false, false),
        ] {
            assert_eq!(
                (is_saved(Path::new(path), false), is_saved(Path::new(path), true)),
                (small, whole),
                "{path}"
            );
        }
    }
}
