//! What the caller and the helper say to each other: frames of JSON over a socket pair, descriptors beside
//! them.
//!
//! A frame is its length (u32, little-endian) and that many bytes. Descriptors travel with the length. Both
//! ends belong to one version of this crate, so there is no version number.

use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::command::LimitKind;
use crate::error::SandboxError;
use crate::raw::Raw;

/// Largest frame, bytes. A list of 1000 entries with long paths stays far below it.
const FRAME_MAX: usize = 64 << 20;
/// Most descriptors in a frame: standard input, output and error.
const FDS_MAX: usize = 3;
/// Port of the proxy on the loopback of the sandbox. It is alone there, so the number can be fixed.
pub(crate) const PROXY_PORT: u16 = 3128;

/// Caller to helper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// First message: build the view.
    Setup(Setup),
    /// Run a command; carries standard input, output and error.
    Run(RunRequest),
    /// End the present run.
    Kill,
    /// List the upper layers.
    Scan,
    /// Open a file of an upper layer for reading.
    Open { path: Raw },
    /// Put other content into a file of the view; carries it. A file that cannot be written is masked.
    Put { path: Raw },
    /// Mask one more path.
    Mask { path: Raw },
}

/// How the view is to be.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) work_tree: Raw,
    pub(crate) disk_limit: u64,
    pub(crate) masks: Vec<Raw>,
    /// Directories of which only `shown` is seen. `/` is everything.
    pub(crate) hidden: Vec<Raw>,
    pub(crate) shown: Vec<Raw>,
    /// Directories that get an overlay of their own, so that nothing above them need be copied up.
    pub(crate) own: Vec<Raw>,
    /// A root of its own in place of all this.
    pub(crate) sealed: Option<Sealed>,
}

/// A root that shows nothing of the machine but what is named.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sealed {
    pub(crate) image: Raw,
    /// Paths of the machine, and where they are shown.
    pub(crate) binds: Vec<(Raw, Raw)>,
    pub(crate) volumes: Vec<Raw>,
}

/// One run of a command in the sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunRequest {
    pub(crate) argv: Vec<Raw>,
    pub(crate) env: Vec<(Raw, Raw)>,
    pub(crate) cwd: Raw,
    pub(crate) read_only: bool,
    /// Ports of the run's own loopback that the caller serves.
    pub(crate) ports: Vec<u16>,
    /// Standard input is the view's own /dev/null, not the descriptor that came.
    pub(crate) no_input: bool,
    pub(crate) time_ms: u64,
    pub(crate) memory: u64,
    pub(crate) processes: u32,
    pub(crate) file_size: u64,
    pub(crate) open_files: u64,
}

/// Helper to caller.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The view stands; carries the folders of a sealed root's volumes.
    Ready(ReadyInfo),
    /// A step failed.
    Failed(SandboxError),
    /// Carries a listening TCP socket of the run's network namespace.
    Listening { port: u16 },
    /// The run is over.
    Exited { exit: Option<i32>, signal: Option<i32>, limit: Option<LimitKind> },
    /// Some entries of the upper layers.
    Entries(Vec<Upper>),
    /// All entries were sent.
    ScanDone,
    /// Carries an open file.
    Opened,
    /// It is done.
    Done,
}

/// What the helper found out about this system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReadyInfo {
    pub(crate) privileged: bool,
    /// Where the groups of runs are, if limits are kept by groups.
    pub(crate) groups: Option<Raw>,
    pub(crate) hidden: Vec<Raw>,
    pub(crate) masked: Vec<Raw>,
    pub(crate) overlays: Vec<Raw>,
}

/// One object in an upper layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Upper {
    /// Absolute path in the view.
    pub(crate) path: Raw,
    pub(crate) node: Node,
    /// Permission bits with set-id and sticky bits.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Modification time, seconds and nanoseconds.
    pub(crate) mtime: (i64, u32),
    /// Extended attributes, sorted, without the overlay's own.
    pub(crate) xattrs: Vec<(Raw, Raw)>,
    /// Path of the first entry that is the same file (a hard link).
    pub(crate) link_to: Option<Raw>,
}

/// Type of an object in an upper layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Node {
    /// Size in bytes and BLAKE2b-256 of the content.
    File {
        size: u64,
        hash: String,
        /// Whether all of it is text.
        text: bool,
    },
    /// A directory; opaque ones hide the directory below.
    Dir {
        opaque: bool,
    },
    Symlink {
        target: Raw,
    },
    Fifo,
    Socket,
    Device,
    /// The object below is deleted.
    Whiteout,
}

/// Sends one frame.
pub(crate) fn send<T: Serialize>(socket: impl AsFd, message: &T, fds: &[BorrowedFd<'_>]) -> Result<()> {
    let body = serde_json::to_vec(message).map_err(Error::other)?;
    let length = u32::try_from(body.len()).map_err(Error::other)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(Error::other("too many descriptors"));
    }
    let mut sent = 0;
    while let Some(rest) = frame.get(sent..).filter(|rest| !rest.is_empty()) {
        match sendmsg(&socket, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        // Descriptors go with the first piece only.
        ancillary.clear();
    }
    Ok(())
}

/// Receives one frame; `None` when the other end is closed.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> Result<Option<(T, Vec<OwnedFd>)>> {
    let mut header = [0u8; 4];
    let mut fds = Vec::new();
    let mut got = 0;
    while got < header.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let rest = header.get_mut(got..).unwrap_or_default();
        let count =
            match recvmsg(&socket, &mut [IoSliceMut::new(rest)], &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) => message.bytes,
                Err(rustix::io::Errno::INTR) => continue,
                Err(rustix::io::Errno::CONNRESET) => 0,
                Err(error) => return Err(error.into()),
            };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                fds.extend(rights);
            }
        }
        if count == 0 {
            return if got == 0 { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
        }
        got += count;
    }
    let length = u32::from_le_bytes(header) as usize;
    if length > FRAME_MAX {
        return Err(Error::other("a frame is too long"));
    }
    let mut body = vec![0u8; length];
    let mut got = 0;
    while let Some(rest) = body.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match rustix::io::read(&socket, rest) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => got += count,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
    }
    let message = serde_json::from_slice(&body).map_err(Error::other)?;
    Ok(Some((message, fds)))
}
