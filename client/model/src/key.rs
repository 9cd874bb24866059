//! Keys of model servers.

use std::fmt;

use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

use super::ConfigError;

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

    /// The key in an environment variable, for example `OPENROUTER_API_KEY` or `FIX_API_KEY` (spec,
    /// "Environment variables"). Fails with 9332 if it is not set or empty.
    pub fn from_env(name: &str) -> Result<ApiKey, ConfigError> {
        match std::env::var(name) {
            Ok(key) if !key.trim().is_empty() => ApiKey::new(key),
            _ => Err(ConfigError::NoKey { name: name.to_owned() }),
        }
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
