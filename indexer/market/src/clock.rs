//! The time: the system's, or one that a test moves (decision E12).

#[cfg(feature = "testing")]
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
#[cfg(feature = "testing")]
use tokio::sync::watch;
pub use zx1_home::SystemClock;
use zx1_market::Millis;

/// The market's clock, which can also wait. Tests replace it.
pub trait Clock: zx1_home::Clock + 'static {
    /// The present moment, in milliseconds of Unix time.
    fn now(&self) -> Millis {
        Millis(self.unix_ms())
    }
    /// Wait until that moment; may return early, never late by more than the system is.
    fn until(&self, moment: Millis) -> BoxFuture<'_, ()>;
}

/// The longest single wait: the system's clock may be set meanwhile.
const LONGEST: Duration = Duration::from_secs(1);

impl Clock for SystemClock {
    fn until(&self, moment: Millis) -> BoxFuture<'_, ()> {
        let wait = Duration::from_millis(moment.minus(self.now()).0).min(LONGEST);
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock that stands still until it is moved; never goes back. Clones show the same time.
#[cfg(feature = "testing")]
#[derive(Debug, Clone)]
pub struct DrivenClock(Arc<watch::Sender<Millis>>);

#[cfg(feature = "testing")]
impl DrivenClock {
    /// A clock that shows `start`.
    pub fn new(start: Millis) -> DrivenClock {
        DrivenClock(Arc::new(watch::Sender::new(start)))
    }

    /// Move it forward to `moment`, if that is later than what it shows. What it shows then.
    pub fn set(&self, moment: Millis) -> Millis {
        self.0.send_if_modified(|now| {
            let later = moment > *now;
            *now = (*now).max(moment);
            later
        });
        self.now()
    }

    /// Move it forward by a span. What it shows then.
    pub fn advance(&self, span: Millis) -> Millis {
        self.0.send_modify(|now| *now = now.plus(span));
        self.now()
    }
}

#[cfg(feature = "testing")]
impl zx1_home::Clock for DrivenClock {
    fn since_epoch(&self) -> Duration {
        Duration::from_millis(self.0.borrow().0)
    }
}

#[cfg(feature = "testing")]
impl Clock for DrivenClock {
    fn until(&self, moment: Millis) -> BoxFuture<'_, ()> {
        let mut seen = self.0.subscribe();
        Box::pin(async move {
            // The sender lives in `self`.
            let _ = seen.wait_for(|now| *now >= moment).await;
        })
    }
}
