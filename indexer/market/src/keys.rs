//! The server's secrets: its signing key, the escrow's seed, and what its nonces are derived from. Never printed; erased when dropped.

use std::path::Path;

use nano_escrow::Seed;
use nano_escrow::escrow::NonceSecret;
use zeroize::Zeroizing;
use zx1_home::keys::{self, Form, KeyFileError};
use zx1_market::PartyKey;

use crate::error::{Error, Result};

fn refuse(path: &Path, why: impl ToString) -> Error {
    Error::KeyFile { path: path.display().to_string(), why: why.to_string() }
}

/// Read 32 secret bytes from a file of mode 0600, or make the file.
pub fn load_or_make(path: &Path) -> Result<keys::Seed> {
    match keys::read(path) {
        Ok(key) if !key.private => Err(refuse(path, "others may read it; run chmod 600")),
        Ok(key) => Ok(key.seed),
        Err(KeyFileError::Missing) => {
            let seed = keys::random().map_err(|error| Error::Random(error.to_string()))?;
            keys::create(path, &seed, Form::Hex).map_err(|error| refuse(path, error))?;
            Ok(seed)
        }
        Err(error) => Err(refuse(path, error)),
    }
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

/// The secret that nonces of the escrow's accounts are derived from: given (FIX_NANO_NONCE_SECRET), else of a file,
/// which is made if it is not there.
pub fn nonce_secret(given: Option<&str>, path: &Path) -> Result<NonceSecret> {
    match given {
        Some(text) => {
            let mut bytes = Zeroizing::new([0; 32]);
            hex::decode_to_slice(text.trim(), &mut *bytes).map_err(|_| {
                let text = "FIX_NANO_NONCE_SECRET is not 64 hexadecimal digits; correct it.";
                Error::Config(text.to_owned())
            })?;
            Ok(NonceSecret::from_bytes(*bytes))
        }
        None => Ok(NonceSecret::from_bytes(*load_or_make(path)?)),
    }
}

/// A former nonce secret, which must be there.
pub fn former_secret(path: &Path) -> Result<NonceSecret> {
    match keys::read(path) {
        Ok(key) if !key.private => Err(refuse(path, "others may read it; run chmod 600")),
        Ok(key) => Ok(NonceSecret::from_bytes(*key.seed)),
        Err(error) => Err(refuse(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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

    #[test]
    fn a_key_file_whose_halves_differ_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.key");
        let mut pair = load_or_make(&path).unwrap().to_vec();
        pair.extend([7; 32]);
        std::fs::write(&path, serde_json::to_string(&pair).unwrap()).unwrap();
        assert_eq!(load_or_make(&path).unwrap_err().code(), 9421);
    }
}
