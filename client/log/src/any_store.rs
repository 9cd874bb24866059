//! A batch store from its location.

use crate::error::{LogError, Result};
#[cfg(feature = "http")]
use crate::http::{Http, HttpOptions};
use crate::store::{BatchStore, Folder, Put};
use zx1_protocol::units::Epoch;

/// A store of any kind.
#[derive(Clone, Debug)]
pub enum AnyStore {
    /// A folder of this machine.
    Folder(Folder),
    /// A server, over HTTP.
    #[cfg(feature = "http")]
    Http(Http),
}

impl AnyStore {
    /// The store at this location: an address that begins with `http://` or `https://`, or a path, also
    /// as `file://`.
    pub fn parse(location: &str) -> Result<Self> {
        let bad = || LogError::BadLocation(location.to_owned());
        if let Some(path) = location.strip_prefix("file://") {
            return path.starts_with('/').then(|| Self::Folder(Folder::new(path))).ok_or_else(bad);
        }
        #[cfg(feature = "http")]
        if location.starts_with("http://") || location.starts_with("https://") {
            return Ok(Self::Http(Http::new(location, HttpOptions::default())?));
        }
        if location.is_empty() || location.contains("://") {
            return Err(bad());
        }
        Ok(Self::Folder(Folder::new(location)))
    }
}

impl BatchStore for AnyStore {
    async fn put(&self, agent: &[u8; 32], epoch: Epoch, bundle: &[u8]) -> Result<Put> {
        match self {
            Self::Folder(folder) => folder.put(agent, epoch, bundle).await,
            #[cfg(feature = "http")]
            Self::Http(http) => http.put(agent, epoch, bundle).await,
        }
    }

    async fn get(&self, agent: &[u8; 32], epoch: Epoch) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Folder(folder) => folder.get(agent, epoch).await,
            #[cfg(feature = "http")]
            Self::Http(http) => http.get(agent, epoch).await,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Folder(folder) => folder.describe(),
            #[cfg(feature = "http")]
            Self::Http(http) => http.describe(),
        }
    }
}
