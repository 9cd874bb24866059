//! The time: the system's, or one that a test moves (decision E12).

#[cfg(feature = "testing")]
use std::sync::Arc;
use std::sync::LazyLock;
#[cfg(feature = "testing")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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
    /// Time that passed since some moment, which no clock setting moves.
    fn steady(&self) -> Duration;
    /// Whether silences of the process and jumps of this clock are counted (decision E21). A clock that tests drive
    /// stands still for hours and then moves by a day.
    fn counts_absence(&self) -> bool {
        true
    }
    /// Whether its time passes while the process does not run.
    fn stalls(&self) -> bool {
        true
    }
    /// Wait until that moment; may return early, never late by more than the system is.
    fn until(&self, moment: Millis) -> BoxFuture<'_, ()>;
}

/// The longest single wait: the system's clock may be set meanwhile.
const LONGEST: Duration = Duration::from_secs(1);

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn steady(&self) -> Duration {
        STARTED.elapsed()
    }

    fn until(&self, moment: Millis) -> BoxFuture<'_, ()> {
        let wait = Duration::from_millis(moment.minus(self.now()).0).min(LONGEST);
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock that stands still until it is moved; never goes back. Clones show the same time.
#[cfg(feature = "testing")]
#[derive(Debug, Clone)]
pub struct DrivenClock {
    shown: Arc<watch::Sender<Millis>>,
    /// What it was set ahead by, without time passing.
    jumped: Arc<AtomicU64>,
    absences: bool,
}

#[cfg(feature = "testing")]
impl DrivenClock {
    /// A clock that shows `start`.
    pub fn new(start: Millis) -> DrivenClock {
        DrivenClock { shown: Arc::new(watch::Sender::new(start)), jumped: Arc::default(), absences: false }
    }

    /// The same clock, whose jumps and restarts count as absences.
    pub fn with_absences(self) -> DrivenClock {
        DrivenClock { absences: true, ..self }
    }

    /// Somebody sets it ahead; no time passes.
    pub fn jump(&self, span: Millis) -> Millis {
        self.jumped.fetch_add(span.0, Ordering::SeqCst);
        self.advance(span)
    }

    /// Move it forward to `moment`, if that is later than what it shows. What it shows then.
    pub fn set(&self, moment: Millis) -> Millis {
        self.shown.send_if_modified(|now| {
            let later = moment > *now;
            *now = (*now).max(moment);
            later
        });
        self.now()
    }

    /// Move it forward by a span. What it shows then.
    pub fn advance(&self, span: Millis) -> Millis {
        self.shown.send_modify(|now| *now = now.plus(span));
        self.now()
    }
}

#[cfg(feature = "testing")]
impl zx1_home::Clock for DrivenClock {
    fn since_epoch(&self) -> Duration {
        Duration::from_millis(self.shown.borrow().0)
    }
}

#[cfg(feature = "testing")]
impl Clock for DrivenClock {
    fn steady(&self) -> Duration {
        let jumped = self.jumped.load(Ordering::SeqCst);
        Duration::from_millis(self.shown.borrow().0.saturating_sub(jumped))
    }

    fn counts_absence(&self) -> bool {
        self.absences
    }

    fn stalls(&self) -> bool {
        false
    }

    fn until(&self, moment: Millis) -> BoxFuture<'_, ()> {
        let mut seen = self.shown.subscribe();
        Box::pin(async move {
            // The sender lives in `self`.
            let _ = seen.wait_for(|now| *now >= moment).await;
        })
    }
}
