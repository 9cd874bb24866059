//! Stopping a session from outside, for example when Ctrl+C is pressed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use zx1_sandbox::Canceller;

/// Stops a session. Clones stop the same one.
#[derive(Clone, Debug)]
pub struct Interrupts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pressed: watch::Sender<bool>,
    /// Something is under way at the market, which must be halted first.
    orderly: AtomicBool,
    running: Mutex<Option<Canceller>>,
}

impl Default for Interrupts {
    fn default() -> Self {
        let (pressed, orderly) = (watch::Sender::new(false), AtomicBool::new(false));
        Self(Arc::new(Inner { pressed, orderly, running: Mutex::new(None) }))
    }
}

impl Interrupts {
    /// Asks the session to stop, and ends what runs in its sandbox.
    pub fn press(&self) {
        if let Some(run) = &*self.0.running.lock().unwrap_or_else(PoisonError::into_inner) {
            run.cancel();
        }
        self.0.pressed.send_replace(true);
    }

    /// Whether the session must be asked to stop: ending the process would leave a contract behind.
    pub fn is_orderly(&self) -> bool {
        self.0.orderly.load(Ordering::SeqCst)
    }

    pub(crate) fn in_order(&self) {
        self.0.orderly.store(true, Ordering::SeqCst);
    }

    /// Whether it was asked to stop.
    pub fn was_pressed(&self) -> bool {
        *self.0.pressed.borrow()
    }

    /// Waits for [`Interrupts::press`]; returns at once after it.
    pub async fn pressed(&self) {
        let mut pressed = self.0.pressed.subscribe();
        // The sender lives as long as this.
        let _ = pressed.wait_for(|pressed| *pressed).await;
    }
}

impl zx1_trial::Watch for Interrupts {
    fn running(&self, run: Option<Canceller>) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}
