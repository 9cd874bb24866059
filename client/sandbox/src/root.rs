//! A root that shows nothing of this machine but what is named.

use std::path::{Path, PathBuf};

use crate::error::{Result, SandboxError, show};
use crate::raw::Raw;
use crate::wire;

/// Most volumes of a root: their descriptors travel in one frame.
const VOLUMES_MAX: usize = 3;

/// An image folder as the root of commands, read-only, with folders that they may write to. The image needs the folders
/// `dev`, `proc`, `sys`, `run` and `tmp` and every point of a bind or volume, none of them behind a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    image: PathBuf,
    binds: Vec<(PathBuf, PathBuf)>,
    volumes: Vec<PathBuf>,
}

impl Sealed {
    /// This folder as `/`.
    #[must_use]
    pub fn new(image: impl Into<PathBuf>) -> Self {
        Self { image: image.into(), binds: Vec::new(), volumes: Vec::new() }
    }

    /// Shows a file or folder of this machine at a point of the image, read-only, without what is mounted below it.
    #[must_use]
    pub fn bind(mut self, host: impl Into<PathBuf>, point: impl Into<PathBuf>) -> Self {
        self.binds.push((host.into(), point.into()));
        self
    }

    /// An empty folder that commands may write to and that the sandbox keeps from run to run, in memory. All volumes
    /// together have [`Builder::disk_limit`](crate::Builder::disk_limit), `/tmp` included, which is always one; `/run` has
    /// 16 MiB of its own.
    #[must_use]
    pub fn volume(mut self, point: impl Into<PathBuf>) -> Self {
        self.volumes.push(point.into());
        self
    }

    pub(crate) fn request(&self) -> Result<wire::Sealed> {
        if self.volumes.len() > VOLUMES_MAX {
            return Err(SandboxError::BadRoot {
                path: "the volumes".to_owned(),
                detail: "there are more than 3".into(),
            });
        }
        let real = |path: &Path| {
            std::fs::canonicalize(path)
                .map_err(|error| SandboxError::BadRoot { path: show(path), detail: error.to_string() })
        };
        let mut binds = Vec::new();
        for (host, point) in &self.binds {
            binds.push((Raw::from(&real(host)?), Raw::from(point)));
        }
        let volumes = self.volumes.iter().map(Raw::from).collect();
        Ok(wire::Sealed { image: Raw::from(&real(&self.image)?), binds, volumes })
    }
}
