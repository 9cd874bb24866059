//! Ctrl+C: the first asks to stop in order, the second leaves at once.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use zx1_cli_common::{Exit, confirm, output};
use zx1_sandbox::Canceller;

/// Watches for Ctrl+C. Clones watch the same.
#[derive(Clone, Debug)]
pub struct Interrupts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pressed: watch::Sender<u32>,
    /// The command on the real machine gets it, and it alone.
    others: AtomicBool,
    /// Something is under way at the market, which must be halted first.
    orderly: AtomicBool,
    presses: AtomicU32,
    running: Mutex<Option<Canceller>>,
}

impl Interrupts {
    /// Starts to watch. From here on the system's default, to end this process, does not hold.
    pub fn watch() -> std::io::Result<Self> {
        let inner = Arc::new(Inner {
            pressed: watch::Sender::new(0),
            others: AtomicBool::new(false),
            orderly: AtomicBool::new(false),
            presses: AtomicU32::new(0),
            running: Mutex::new(None),
        });
        let mut signals = signal(SignalKind::interrupt())?;
        let watched = inner.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                watched.pressed();
            }
        });
        Ok(Self(inner))
    }

    /// While this holds, Ctrl+C is for the command on the real machine.
    pub fn leave_to_others(&self, yes: bool) {
        self.0.others.store(yes, Ordering::SeqCst);
    }

    /// While this holds, the first Ctrl+C is left to [`Interrupts::pressed`]; otherwise it ends the process
    /// where nothing is lost by that.
    pub fn in_order(&self, yes: bool) {
        self.0.orderly.store(yes, Ordering::SeqCst);
    }

    /// Whether Ctrl+C was pressed.
    pub fn was_pressed(&self) -> bool {
        *self.0.pressed.borrow() > 0
    }

    /// Waits for Ctrl+C; returns at once when it was pressed before.
    pub async fn pressed(&self) {
        let mut pressed = self.0.pressed.subscribe();
        // The sender lives as long as this.
        let _ = pressed.wait_for(|count| *count > 0).await;
    }

    /// Forgets what was pressed, after it was acted upon.
    pub fn forget(&self) {
        self.0.pressed.send_replace(0);
        self.0.presses.store(0, Ordering::SeqCst);
    }
}

impl zx1_trial::Watch for Interrupts {
    /// What Ctrl+C stops right now, beside everything else.
    fn running(&self, run: Option<Canceller>) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}

impl Inner {
    fn pressed(&self) {
        if self.others.load(Ordering::SeqCst) {
            return;
        }
        let before = self.presses.fetch_add(1, Ordering::SeqCst);
        let orderly = self.orderly.load(Ordering::SeqCst);
        if before > 0 || (!orderly && confirm::is_asking()) {
            output::write_err("\n");
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
        if let Some(run) = &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            run.cancel();
        }
        self.pressed.send_replace(1);
    }
}
