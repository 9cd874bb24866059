//! Where batch data is uploaded to and fetched from (decision C7).

use crate::batches::{check_bundle, check_form};
use crate::disk;
#[cfg(feature = "http")]
use crate::disk::off_the_runtime;
use crate::error::{LogError, Result};
use crate::layout::{BUNDLE_ENDING, base58};
use std::fs;
use std::future::Future;
use std::path::PathBuf;
use zx1_home::files;
use zx1_protocol::units::Epoch;

/// What a [`BatchStore`] did with an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It has the data now.
    Created,
    /// It had the same data before.
    Same,
}

/// Serves batch data, so that anyone can build a proof.
///
/// What goes in with [`Self::put`] must hold together and be of that agent and epoch: it is one's own. What
/// comes out of [`Self::get`] has the form of a bundle, and nothing more is known of it. What the caller asks
/// of it depends on what it is for:
///
/// - Challenges and answers rest on records and leaves: `Bundle::check_against` the BatchAccount's
///   commitment. What the batch says about itself plays no part, so that one with false counters or arrays,
///   or of another agent's name, stays challengeable.
/// - Reputation counts only a batch that is the one on chain and true in all that can be recomputed:
///   `Bundle::check()?.commitment()` must equal the BatchAccount's.
pub trait BatchStore {
    /// Uploads the bundle of an agent's batch. The same bundle again is fine.
    fn put(&self, agent: &[u8; 32], epoch: Epoch, bundle: &[u8]) -> impl Future<Output = Result<Put>> + Send;

    /// What is served as the bundle of an agent's batch; `None` when nothing is.
    fn get(&self, agent: &[u8; 32], epoch: Epoch) -> impl Future<Output = Result<Option<Vec<u8>>>> + Send;

    /// Where it is, for messages.
    fn describe(&self) -> String;
}

/// Batch data in a folder: `<mint in base58>/<epoch>.zx1batch`. Everybody may read it; a web server can
/// serve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// The folder; made with the first upload.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The file of a batch's data.
    pub fn path(&self, agent: &[u8; 32], epoch: Epoch) -> PathBuf {
        self.dir.join(base58(agent)).join(format!("{}.{BUNDLE_ENDING}", epoch.0))
    }

    /// [`BatchStore::put`], blocking. A file with other content is replaced: only the owner writes here.
    pub fn put_now(&self, agent: &[u8; 32], epoch: Epoch, bundle: &[u8]) -> Result<Put> {
        check_bundle(bundle, agent, epoch)?;
        let path = self.path(agent, epoch);
        let folder = path.parent().unwrap_or(&self.dir);
        if disk::read_if_there(&path)?.is_some_and(|there| there == bundle) {
            // Its name may be from a run that ended before this.
            disk::sync_dir(folder)?;
            return Ok(Put::Same);
        }
        fs::create_dir_all(folder).map_err(LogError::io("create the folder", folder))?;
        disk::sync_dir(&self.dir)?;
        // Several processes may upload at once, and others read what is here.
        files::replace_shared(&path, bundle).map_err(LogError::io("write", &path))?;
        Ok(Put::Created)
    }

    /// As [`BatchStore::get`], blocking.
    pub fn get_now(&self, agent: &[u8; 32], epoch: Epoch) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = disk::read_if_there(&self.path(agent, epoch))? else { return Ok(None) };
        check_form(&bytes)?;
        Ok(Some(bytes))
    }
}

impl BatchStore for Folder {
    #[cfg(feature = "http")]
    async fn put(&self, agent: &[u8; 32], epoch: Epoch, bundle: &[u8]) -> Result<Put> {
        let (folder, agent, bundle) = (self.clone(), *agent, bundle.to_vec());
        off_the_runtime(move || folder.put_now(&agent, epoch, &bundle), &self.dir).await
    }

    #[cfg(not(feature = "http"))]
    async fn put(&self, agent: &[u8; 32], epoch: Epoch, bundle: &[u8]) -> Result<Put> {
        self.put_now(agent, epoch, bundle)
    }

    #[cfg(feature = "http")]
    async fn get(&self, agent: &[u8; 32], epoch: Epoch) -> Result<Option<Vec<u8>>> {
        let (folder, agent) = (self.clone(), *agent);
        off_the_runtime(move || folder.get_now(&agent, epoch), &self.dir).await
    }

    #[cfg(not(feature = "http"))]
    async fn get(&self, agent: &[u8; 32], epoch: Epoch) -> Result<Option<Vec<u8>>> {
        self.get_now(agent, epoch)
    }

    fn describe(&self) -> String {
        format!("the folder {}", self.dir.display())
    }
}
