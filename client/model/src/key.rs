//! Keys of model servers.

use std::fmt;
use std::path::Path;

use zeroize::Zeroizing;
use zx1_home::{files, keys};
use zx1_net::header::HeaderValue;

use super::ConfigError;

/// Largest key file in bytes.
const MAX_FILE: u64 = 8 << 10;

/// A key of a model's server. It is zeroized when dropped and never printed. The environment variable that it
/// came from, and the header of a request under way, are copies that this cannot erase.
#[derive(Clone)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// A key. Space around it is cut. Fails with 9333 if it cannot stand in a header.
    pub fn new(key: impl Into<String>) -> Result<ApiKey, ConfigError> {
        let key = Zeroizing::new(key.into());
        let text = Zeroizing::new(key.trim().to_owned());
        if text.is_empty() || text.len() > 4096 || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ConfigError::BadKey);
        }
        Ok(ApiKey(text))
    }

    /// The key in an environment variable, for example `OPENROUTER_API_KEY` or `FIX_API_KEY` (fix.md,
    /// "Environment variables"). Fails with 9332 if it is not set or empty.
    pub fn from_env(name: &str) -> Result<ApiKey, ConfigError> {
        match std::env::var(name) {
            Ok(key) if !key.trim().is_empty() => ApiKey::new(key),
            _ => Err(ConfigError::NoKey { name: name.to_owned() }),
        }
    }

    /// The key in a file that only its owner can read. Space around it is cut. Fails with 9338 if others can read the
    /// file, or if it cannot be read at all, and with 9333 for what is not a key.
    pub fn from_file(path: &Path) -> Result<ApiKey, ConfigError> {
        let refused =
            |why: &str| ConfigError::KeyFile { path: path.display().to_string(), why: why.to_owned() };
        let bytes = files::read(path, MAX_FILE).map_err(|error| refused(&error.to_string()))?;
        let bytes = Zeroizing::new(bytes.ok_or_else(|| refused("there is no such file"))?);
        if !keys::is_private(path).map_err(|error| refused(&error.to_string()))? {
            return Err(refused("others on this machine can read it"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| ConfigError::BadKey)?;
        ApiKey::new(text)
    }

    /// The header's value: `prefix` and the key, marked as secret.
    pub(super) fn header(&self, prefix: &str) -> Result<HeaderValue, ConfigError> {
        let text = Zeroizing::new(format!("{prefix}{}", self.0.as_str()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| ConfigError::BadKey)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The text without the key: servers echo keys in their errors.
    pub(super) fn remove_from(&self, text: &str) -> String {
        text.replace(self.0.as_str(), "[key]")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_key_file_that_others_can_read_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.key");
        assert_eq!(ApiKey::from_file(&path).unwrap_err().code(), 9338);
        std::fs::write(&path, " sk-1234\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let refused = ApiKey::from_file(&path).unwrap_err();
        assert!(refused.code() == 9338 && !refused.to_string().contains("1234"), "{refused}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(ApiKey::from_file(&path).unwrap().0.as_str(), "sk-1234");
        std::fs::write(&path, "two words").unwrap();
        assert_eq!(ApiKey::from_file(&path).unwrap_err().code(), 9333);
    }
}
