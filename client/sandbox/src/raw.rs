//! Paths as bytes in JSON: a string where they are UTF-8, otherwise hexadecimal after a NUL.
//!
//! Names of files are bytes. JSON has no bytes, and a lossy name would commit to another file. A NUL cannot
//! be part of a path, so the two forms cannot be confused.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a path, a name or an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Raw(pub(crate) Vec<u8>);

impl Raw {
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.0.clone()))
    }

    pub(crate) fn os(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }
}

impl<T: AsRef<OsStr> + ?Sized> From<&T> for Raw {
    fn from(value: &T) -> Self {
        Self(value.as_ref().as_bytes().to_vec())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.starts_with('\0') => serializer.serialize_str(text),
            _ => serializer.serialize_str(&format!("\0{}", hex::encode(&self.0))),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix('\0') {
            Some(digits) => hex::decode(digits).map(Self).map_err(serde::de::Error::custom),
            None => Ok(Self(text.into_bytes())),
        }
    }
}

/// `#[serde(with = "crate::raw::path")]` for a `PathBuf`.
pub(crate) mod path {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
        Raw::from(path).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Raw::deserialize(deserializer).map(|raw| raw.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_come_back_as_they_were(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let raw = Raw(bytes);
            let text = serde_json::to_string(&raw).unwrap();
            prop_assert_eq!(serde_json::from_str::<Raw>(&text).unwrap(), raw);
        }
    }
}
