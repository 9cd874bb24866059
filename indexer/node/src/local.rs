//! The socket in the agent's folder.

use crate::error::{Error, Result};
use axum::Router;
use axum::serve::Listener;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream, unix::SocketAddr};
use tokio_util::sync::CancellationToken;
use zx1_home::socket;
use zx1_operator::node::SOCKET;

const PRIVATE: u32 = 0o600;
/// Pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The socket, which is removed when it is dropped.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The user to whom the folder belongs, and who alone is served.
    user: u32,
    _folder: Option<File>,
}

impl Socket {
    /// Listens in this folder. Whoever calls it has the node's lock, so a socket that is there is of a node that has
    /// ended.
    ///
    /// # Errors
    /// 7683
    pub fn open(folder: &Path) -> Result<Self> {
        let failed = |error: io::Error| Error::File {
            action: "written",
            path: folder.join(SOCKET),
            why: error.to_string(),
        };
        let (held, path) = socket::path_in(folder, SOCKET).map_err(failed)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let user = fs::metadata(folder).map_err(failed)?.uid();
        // The folder is private, so nobody else comes in between these two.
        let listener = UnixListener::bind(&path).map_err(failed)?;
        fs::set_permissions(&path, Permissions::from_mode(PRIVATE)).map_err(failed)?;
        Ok(Self { listener, path, user, _folder: held })
    }

    /// Serves until cancelled.
    pub async fn serve(self, router: Router, stopping: CancellationToken) {
        let served = axum::serve(self, router).with_graceful_shutdown(stopping.cancelled_owned());
        if let Err(error) = served.await {
            tracing::warn!(%error, "the socket is not served any more");
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Listener for Socket {
    type Io = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (UnixStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) if stream.peer_cred().is_ok_and(|peer| peer.uid() == self.user) => {
                    return (stream, address);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
