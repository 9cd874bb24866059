//! What a connection has not read yet. It is bounded, and nobody else waits for a slow reader.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::Notify;
use zx1_relay_rules::Close;

/// How much may be unsent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Sum of the frames' texts, in bytes.
    pub bytes: usize,
    /// Number of frames, whatever their size.
    pub frames: usize,
}

/// Frames of which the next one of their kind makes up for a lost one. They go first when a reader is slow.
const DROPPED_FIRST: [&str; 3] =
    [r#"{"type":"TYPING""#, r#"{"type":"PRESENCE_CHANGED""#, r#"{"type":"MEMBERS""#];

/// The unsent frames of one connection. The core writes, the connection's task reads.
#[derive(Debug)]
pub struct Outbox {
    bounds: Bounds,
    /// Whether the connection knows this relay's own frames.
    pub extensions: bool,
    unsent: Mutex<Unsent>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Unsent {
    frames: VecDeque<Utf8Bytes>,
    bytes: usize,
    close: Option<Close>,
}

/// What a push did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The outbox was empty: its reader has to be woken.
    First,
    /// It waits behind others.
    Behind,
    /// It was dropped; a later frame makes up for it.
    Dropped,
    /// The bound is passed; the connection ends.
    TooSlow,
}

/// What there is to send.
#[derive(Debug, Default)]
pub struct Taken {
    /// Frames to send, oldest first.
    pub frames: VecDeque<Utf8Bytes>,
    /// After the frames the connection is closed so.
    pub close: Option<Close>,
}

impl Outbox {
    /// An empty one.
    pub fn new(bounds: Bounds, extensions: bool) -> Outbox {
        Outbox { bounds, extensions, unsent: Mutex::default(), wake: Notify::new() }
    }

    fn unsent(&self) -> MutexGuard<'_, Unsent> {
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame. Nothing is added behind a close.
    pub fn push(&self, frame: &Utf8Bytes) -> Pushed {
        let mut unsent = self.unsent();
        if unsent.close.is_some() {
            return Pushed::Dropped;
        }
        let (bytes, frames) =
            (unsent.bytes.saturating_add(frame.len()), unsent.frames.len().saturating_add(1));
        let is_half_full = bytes > self.bounds.bytes / 2 || frames > self.bounds.frames / 2;
        if is_half_full && DROPPED_FIRST.iter().any(|kind| frame.starts_with(kind)) {
            return Pushed::Dropped;
        }
        if bytes > self.bounds.bytes || frames > self.bounds.frames {
            *unsent = Unsent { close: Some(Close::TooSlow), ..Unsent::default() };
            drop(unsent);
            self.wake.notify_one();
            return Pushed::TooSlow;
        }
        unsent.bytes = bytes;
        unsent.frames.push_back(frame.clone());
        if frames == 1 { Pushed::First } else { Pushed::Behind }
    }

    /// Ends the connection behind what is unsent, and wakes its reader.
    pub fn close(&self, how: Close) {
        self.unsent().close.get_or_insert(how);
        self.wake.notify_one();
    }

    /// Wakes the reader.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Waits until [`Outbox::wake`] or [`Outbox::close`].
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Empties the outbox; a close stays for the next call.
    pub fn take(&self) -> Taken {
        let mut unsent = self.unsent();
        unsent.bytes = 0;
        Taken { frames: std::mem::take(&mut unsent.frames), close: unsent.close }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox(bytes: usize, frames: usize) -> Outbox {
        Outbox::new(Bounds { bytes, frames }, false)
    }

    #[test]
    fn frames_come_out_in_order_and_only_the_first_wakes() {
        let outbox = outbox(100, 10);
        let pushed = ["a", "b"].map(|text| outbox.push(&text.into()));
        assert_eq!(pushed, [Pushed::First, Pushed::Behind]);
        assert_eq!(outbox.take().frames, ["a", "b"].map(Utf8Bytes::from));
        assert_eq!(outbox.push(&"c".into()), Pushed::First);
    }

    #[test]
    fn at_the_bound_everything_is_kept_and_one_byte_more_closes() {
        let outbox = outbox(4, 10);
        assert_eq!([outbox.push(&"ab".into()), outbox.push(&"cd".into())], [Pushed::First, Pushed::Behind]);
        assert_eq!(outbox.push(&"e".into()), Pushed::TooSlow);
        let taken = outbox.take();
        assert_eq!((taken.frames.len(), taken.close), (0, Some(Close::TooSlow)), "memory is free at once");
        assert_eq!(outbox.push(&"f".into()), Pushed::Dropped);
    }

    #[test]
    fn what_a_later_frame_makes_up_for_is_dropped_first() {
        let outbox = outbox(1_000, 4);
        let typing = Utf8Bytes::from(r#"{"type":"TYPING","ts":1}"#);
        assert_eq!([outbox.push(&typing), outbox.push(&typing)], [Pushed::First, Pushed::Behind]);
        assert_eq!(outbox.push(&typing), Pushed::Dropped);
        assert_eq!(outbox.push(&"MSG".into()), Pushed::Behind);
    }

    #[test]
    fn the_first_close_counts_and_nothing_comes_behind_it() {
        let outbox = outbox(100, 10);
        outbox.push(&"a".into());
        outbox.close(Close::Kicked);
        outbox.close(Close::Restart);
        assert_eq!(outbox.push(&"b".into()), Pushed::Dropped);
        let taken = outbox.take();
        assert_eq!((taken.frames.len(), taken.close), (1, Some(Close::Kicked)));
    }
}
