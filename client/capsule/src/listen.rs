//! Accepts connections on a thread until it is dropped.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

const TICK: Duration = Duration::from_millis(50);

/// A socket that is served. Dropped, nobody is accepted any more; connections that are open go on to their end.
#[derive(Debug)]
pub struct Listening {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Gives each connection to `handle`, on a thread of its own.
///
/// # Errors
/// The system's.
pub(crate) fn listen(
    listener: OwnedFd,
    handle: impl Fn(OwnedFd) + Send + Sync + 'static,
) -> io::Result<Listening> {
    rustix::io::ioctl_fionbio(&listener, true)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (ended, handle) = (Arc::clone(&stop), Arc::new(handle));
    let accept = move || {
        while !ended.load(Ordering::SeqCst) {
            if !wait(&listener, TICK) {
                continue;
            }
            let Ok(connection) = rustix::net::accept_with(&listener, rustix::net::SocketFlags::CLOEXEC)
            else {
                continue;
            };
            let handle = Arc::clone(&handle);
            let _ = Builder::new().spawn(move || handle(connection));
        }
    };
    let thread = Builder::new().name("zx1-capsule-listen".to_owned()).spawn(accept)?;
    Ok(Listening { stop, thread: Some(thread) })
}

/// Whether something can be read within a time.
pub(crate) fn wait(from: impl AsFd, time: Duration) -> bool {
    let mut polled = [PollFd::new(&from, PollFlags::IN)];
    let time = Timespec::try_from(time).ok();
    poll(&mut polled, time.as_ref()).is_ok_and(|count| count > 0)
}
