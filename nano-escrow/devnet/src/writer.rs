//! The thread that writes records, many at a time with one sync.
//!
//! Whoever changed or read the ledger waits until all that was changed before is on the disk, and only then
//! answers. So nobody ever sees a block that a crash could take away.

use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::watch;

use super::DevnetError;
use super::store::{Record, Store};

/// A write takes up more changes until it has this many records.
const BATCH: usize = 4096;

#[derive(Debug, Clone, Default)]
struct Progress {
    kept: u64,
    failed: Option<String>,
}

/// Takes records in order; tells up to which they are kept.
#[derive(Debug)]
pub(crate) struct Writer {
    sender: Option<mpsc::Sender<Vec<Record>>>,
    progress: watch::Sender<Progress>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Without a store, everything counts as kept at once.
    pub(crate) fn new(store: Option<Store>) -> Writer {
        let progress = watch::Sender::new(Progress::default());
        let Some(store) = store else {
            return Writer { sender: None, progress, thread: None };
        };
        let (sender, receiver) = mpsc::channel();
        let out = progress.clone();
        let thread = std::thread::Builder::new().name("nano-devnet-disk".into());
        match thread.spawn(move || run(store, &receiver, &out)) {
            Ok(thread) => Writer { sender: Some(sender), progress, thread: Some(thread) },
            Err(e) => {
                progress.send_modify(|p| p.failed = Some(e.to_string()));
                Writer { sender: Some(sender), progress, thread: None }
            }
        }
    }

    /// Hand over the records of one change; they go into one write. The caller holds the ledger's lock, so
    /// changes come in order, and counts the records: `number` is that of the last.
    pub(crate) fn submit(&self, records: Vec<Record>, number: u64) {
        match &self.sender {
            None => self.progress.send_modify(|p| p.kept = number),
            Some(sender) => {
                // The thread ends only after a failure, which `kept` reports.
                let _ = sender.send(records);
            }
        }
    }

    /// Wait until the record of this number is kept.
    pub(crate) async fn kept(&self, number: u64) -> Result<(), DevnetError> {
        let mut progress = self.progress.subscribe();
        let state = progress
            .wait_for(|p| p.failed.is_some() || p.kept >= number)
            .await
            .map_err(|_| DevnetError::Stopped)?;
        match &state.failed {
            Some(reason) if state.kept < number => Err(DevnetError::Write(reason.clone())),
            _ => Ok(()),
        }
    }

    /// Write what is left and close the file.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread would be reported by `kept`, never here.
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(mut store: Store, receiver: &mpsc::Receiver<Vec<Record>>, progress: &watch::Sender<Progress>) {
    while let Ok(mut batch) = receiver.recv() {
        while batch.len() < BATCH
            && let Ok(more) = receiver.try_recv()
        {
            batch.extend(more);
        }
        match store.append(&batch) {
            Ok(()) => progress.send_modify(|p| p.kept += batch.len() as u64),
            Err(e) => {
                tracing::error!(error = %e, "the block file cannot be written; nothing is answered any more");
                progress.send_modify(|p| p.failed = Some(e.to_string()));
                return;
            }
        }
    }
}
