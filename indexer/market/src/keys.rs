//! The server's secrets: its signing key and the escrow's seed. Never printed; erased when dropped.

use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nano_escrow::Seed;
use zeroize::Zeroizing;
use zx1_market::PartyKey;

use crate::error::{Error, Result};

fn refuse(path: &Path, why: impl ToString) -> Error {
    Error::KeyFile { path: path.display().to_string(), why: why.to_string() }
}

/// 32 bytes in one of the usual forms (decision A1): raw, 64 hexadecimal digits, or a JSON list of 64
/// numbers, whose first half is the seed.
fn parse(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut seed = Zeroizing::new([0u8; 32]);
    if bytes.len() == 32 {
        seed.copy_from_slice(bytes);
        return Some(seed);
    }
    let text = std::str::from_utf8(bytes).ok()?.trim();
    if text.starts_with('[') {
        let all: Zeroizing<Vec<u8>> = Zeroizing::new(serde_json::from_str(text).ok()?);
        if all.len() != 64 {
            return None;
        }
        seed.copy_from_slice(all.get(..32)?);
        return Some(seed);
    }
    hex::decode_to_slice(text, &mut seed[..]).ok()?;
    Some(seed)
}

/// Read 32 secret bytes from a file of mode 0600, or make the file.
pub fn load_or_make(path: &Path) -> Result<Zeroizing<[u8; 32]>> {
    match std::fs::File::open(path) {
        Ok(file) => {
            let mode = file.metadata().map_err(|e| refuse(path, e))?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(refuse(path, format!("others may read it: its mode is {:o}", mode & 0o777)));
            }
            let mut bytes = Zeroizing::new(Vec::with_capacity(1024));
            (&file).take(1024).read_to_end(&mut bytes).map_err(|e| refuse(path, e))?;
            parse(&bytes).ok_or_else(|| refuse(path, "it holds no key"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => make(path),
        Err(error) => Err(refuse(path, error)),
    }
}

fn make(path: &Path) -> Result<Zeroizing<[u8; 32]>> {
    let mut seed = Zeroizing::new([0u8; 32]);
    getrandom::fill(&mut seed[..]).map_err(|e| Error::Random(e.to_string()))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| refuse(path, e))?;
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(|e| refuse(path, e))?;
    let text = Zeroizing::new(hex::encode(&seed[..]));
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| refuse(path, e))?;
    Ok(seed)
}

/// The server's key of a file, which is made if it is not there.
pub fn server_key(path: &Path) -> Result<PartyKey> {
    Ok(PartyKey::from_seed(&*load_or_make(path)?))
}

/// The escrow's seed: 64 hexadecimal digits given (FIX_NANO_SEED), else of a file, which is made if it is not
/// there.
pub fn nano_seed(given: Option<&str>, path: &Path) -> Result<Seed> {
    match given {
        Some(text) => Seed::from_hex(text.trim())
            .map_err(|_| Error::Config("FIX_NANO_SEED is not 64 hexadecimal digits; correct it.".to_owned())),
        None => Ok(Seed::from_bytes(*load_or_make(path)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again_in_every_form_ok() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/server.key");
        let made = load_or_make(&path).unwrap();
        assert_eq!(load_or_make(&path).unwrap(), made);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, *made).unwrap();
        assert_eq!(load_or_make(&path).unwrap(), made);
        let mut pair = made.to_vec();
        pair.extend(PartyKey::from_seed(&made).id().as_bytes());
        std::fs::write(&path, serde_json::to_string(&pair).unwrap()).unwrap();
        assert_eq!(load_or_make(&path).unwrap(), made);
    }

    #[test]
    fn a_key_file_that_others_may_read_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.key");
        load_or_make(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(load_or_make(&path).unwrap_err().code(), 9421);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "no key").unwrap();
        assert_eq!(load_or_make(&path).unwrap_err().code(), 9421);
    }
}
