//! Ctrl+C: the first stops in order, the second leaves at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{SignalKind, signal};
use zx1_cli_common::{Exit, confirm, output};
use zx1_principal::Interrupts;

/// Watches for Ctrl+C. Clones watch the same.
#[derive(Clone, Debug)]
pub struct CtrlC {
    /// What the first Ctrl+C stops.
    pub interrupts: Interrupts,
    /// The command on the real machine gets Ctrl+C, and it alone.
    others: Arc<AtomicBool>,
}

impl CtrlC {
    /// Starts to watch. From here on the system's default, to end this process, does not hold.
    pub fn watch() -> std::io::Result<Self> {
        let watch = Self { interrupts: Interrupts::default(), others: Arc::default() };
        let mut signals = signal(SignalKind::interrupt())?;
        let watched = watch.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                watched.pressed();
            }
        });
        Ok(watch)
    }

    /// While this holds, Ctrl+C is for the command on the real machine.
    pub fn leave_to_others(&self, yes: bool) {
        self.others.store(yes, Ordering::SeqCst);
    }

    fn pressed(&self) {
        if self.others.load(Ordering::SeqCst) {
            return;
        }
        // The process may end where nothing is lost by that.
        let at_once = !self.interrupts.is_orderly() && confirm::is_asking();
        if self.interrupts.was_pressed() || at_once {
            output::write_err("\n");
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
        self.interrupts.press();
    }
}
