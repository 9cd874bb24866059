//! Crash points: named places around every commit, RPC call and file write, so that a test can stop the process
//! there. Without the feature `testing` there is nothing in them.

#[cfg(feature = "testing")]
use std::sync::Arc;

/// What happens at a crash point.
#[cfg(feature = "testing")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The operation proceeds.
    Continue,
    /// Never go on: the caller's future stays pending until somebody drops it, as a crash would.
    Hang,
}

/// A hook that sees every crash point in the order in which the process passes them.
#[cfg(feature = "testing")]
pub trait Probe: Send + Sync {
    /// Called before and after each operation; `point` is `before commit:settle`, `after rpc:process` and so on.
    /// A test may kill the process here.
    fn at(&self, point: &str) -> At;
}

/// The crash points of a journal, its node client and its file writers. Clones share the probe.
#[derive(Clone, Default)]
pub struct CrashPoints {
    #[cfg(feature = "testing")]
    probe: Option<Arc<dyn Probe>>,
}

impl CrashPoints {
    /// Shows every point to `probe`.
    #[cfg(feature = "testing")]
    pub fn new(probe: Arc<dyn Probe>) -> CrashPoints {
        CrashPoints { probe: Some(probe) }
    }

    /// Passes the point `when what:name`, or hangs at it.
    #[cfg_attr(not(feature = "testing"), allow(clippy::unused_async, unused_variables))]
    pub async fn pass(&self, when: &str, what: &str, name: &str) {
        #[cfg(feature = "testing")]
        if let Some(probe) = &self.probe
            && probe.at(&format!("{when} {what}:{name}")) == At::Hang
        {
            std::future::pending::<()>().await;
        }
    }
}

impl std::fmt::Debug for CrashPoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrashPoints").finish_non_exhaustive()
    }
}
