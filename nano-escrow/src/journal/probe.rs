//! Crash points: named places around every commit, RPC call and file write, so that a test can stop the process
//! there. In ordinary use the probe is [`NoProbe`] and costs one virtual call.

use std::sync::Arc;

/// What happens at a crash point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Go on.
    Continue,
    /// Never go on: the caller's future stays pending until somebody drops it, as a crash would.
    Hang,
}

/// A hook that sees every crash point in the order in which the process passes them.
pub trait Probe: Send + Sync {
    /// Called before and after each operation; `point` is `before commit:settle`, `after rpc:process` and so on.
    /// A test may kill the process here.
    fn at(&self, point: &str) -> At;
}

/// Does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: &str) -> At {
        At::Continue
    }
}

/// A probe that is shared by a journal, its node client and its file writers.
pub type SharedProbe = Arc<dyn Probe>;

/// Passes the point or hangs at it.
pub async fn pass(probe: &SharedProbe, when: &str, what: &str, name: &str) {
    if probe.at(&format!("{when} {what}:{name}")) == At::Hang {
        std::future::pending::<()>().await;
    }
}
