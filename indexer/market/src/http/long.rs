//! Long answers: read from the store in pages, while their reader takes them. Pages that nobody has taken count against
//! a budget, of all readers and of each; when it is used up, no further long answer begins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::stream;
use tokio::sync::Notify;
use zx1_server::answer::text;
use zx1_server::limits::Client;

use super::limits::Limits;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::store::StoreError;

/// A page counts as this number of bytes while it is read, and as what it has afterwards.
const PAGE: u64 = 1 << 20;

/// The bytes of long answers that were read from the store and that their readers have not taken.
#[derive(Debug)]
pub(crate) struct Unsent {
    most: u64,
    per_client: u64,
    held: Mutex<Held>,
    freed: Notify,
    metrics: Metrics,
}

#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    by_client: HashMap<Client, u64>,
}

impl Held {
    fn of(&self, client: Option<Client>) -> u64 {
        client.and_then(|client| self.by_client.get(&client).copied()).unwrap_or(0)
    }

    fn change(&mut self, client: Option<Client>, from: u64, to: u64) {
        self.bytes = self.bytes.saturating_sub(from).saturating_add(to);
        let Some(client) = client else { return };
        let of = self.by_client.entry(client).or_insert(0);
        *of = of.saturating_sub(from).saturating_add(to);
        if *of == 0 {
            self.by_client.remove(&client);
        }
    }
}

impl Unsent {
    pub(crate) fn new(limits: &Limits, metrics: Metrics) -> Arc<Unsent> {
        Arc::new(Unsent {
            most: limits.unsent_bytes,
            per_client: limits.unsent_bytes_per_address,
            held: Mutex::default(),
            freed: Notify::new(),
            metrics,
        })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever begins a long answer, with room for its first page. Fails with 9431 when there is none.
    pub(super) fn reader(self: &Arc<Unsent>, client: Option<Client>) -> Result<LongReader> {
        let whose = Whose { unsent: self.clone(), client };
        match whose.try_room() {
            Some(share) => Ok(LongReader { whose, share }),
            None => Err(Error::Unsent(self.held().bytes)),
        }
    }

    fn change(&self, client: Option<Client>, from: u64, to: u64) {
        let mut held = self.held();
        held.change(client, from, to);
        self.metrics.unsent_bytes.set(i64::try_from(held.bytes).unwrap_or(i64::MAX));
        drop(held);
        if to < from {
            self.freed.notify_waiters();
        }
    }
}

/// Whose pages they are.
#[derive(Debug, Clone)]
struct Whose {
    unsent: Arc<Unsent>,
    client: Option<Client>,
}

impl Whose {
    /// Room for one page; waits for it behind those that were read before.
    async fn room(&self) -> Share {
        loop {
            let freed = self.unsent.freed.notified();
            let mut freed = std::pin::pin!(freed);
            // From here on nothing that is freed is missed.
            freed.as_mut().enable();
            if let Some(share) = self.try_room() {
                return share;
            }
            freed.await;
        }
    }

    /// One page fits always when nothing else is there, however small the budget is.
    fn try_room(&self) -> Option<Share> {
        let fits = |is: u64, most: u64| is == 0 || is.saturating_add(PAGE) <= most;
        let mut held = self.unsent.held();
        if !fits(held.bytes, self.unsent.most) || !fits(held.of(self.client), self.unsent.per_client) {
            return None;
        }
        held.change(self.client, 0, PAGE);
        Some(Share { whose: self.clone(), bytes: PAGE })
    }
}

/// The reader of a long answer.
#[derive(Debug)]
pub(super) struct LongReader {
    whose: Whose,
    /// Room for the first page.
    share: Share,
}

impl LongReader {
    /// A JSON answer that `next` makes, piece by piece. It is asked for one when the reader has taken the last ones.
    pub(super) fn json<S, F, N>(self, first: S, mut next: N) -> Response
    where
        S: Send + 'static,
        F: Future<Output = Result<Option<(String, S)>, StoreError>> + Send + 'static,
        N: FnMut(S) -> F + Send + 'static,
    {
        let LongReader { whose, share } = self;
        let chunks = stream::try_unfold((Some(share), first), move |(share, state)| {
            let (whose, next) = (whose.clone(), next(state));
            async move {
                let share = match share {
                    Some(share) => share,
                    None => whose.room().await,
                };
                let Some((text, state)) = next.await? else { return Ok::<_, StoreError>(None) };
                Ok(Some((share.page(text), (None, state))))
            }
        });
        text(StatusCode::OK, "application/json", Body::from_stream(chunks))
    }
}

/// A part of the budget; dropping it gives it back.
#[derive(Debug)]
struct Share {
    whose: Whose,
    bytes: u64,
}

impl Share {
    /// Holds the share until the text is sent.
    fn page(mut self, text: String) -> Bytes {
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.whose.unsent.change(self.whose.client, self.bytes, bytes);
        self.bytes = bytes;
        Bytes::from_owner(Page { text, _share: self })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.whose.unsent.change(self.whose.client, self.bytes, 0);
    }
}

struct Page {
    text: String,
    _share: Share,
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsent(most: u64, per_client: u64) -> Arc<Unsent> {
        let limits = Limits { unsent_bytes: most, unsent_bytes_per_address: per_client, ..Limits::default() };
        Unsent::new(&limits, Metrics::default())
    }

    fn client(n: u8) -> Option<Client> {
        Some(Client::new([192, 0, 2, n].into()))
    }

    #[tokio::test]
    async fn a_page_counts_until_it_is_dropped() {
        let unsent = unsent(PAGE + 10, PAGE + 10);
        let LongReader { whose, share } = unsent.reader(client(1)).unwrap();
        let page = share.page("x".repeat(11));
        assert_eq!(unsent.held().bytes, 11);
        // Eleven and a page are more than the budget: the next one waits until the first is sent.
        let waits = tokio::spawn(async move { drop(whose.room().await) });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished() && unsent.reader(client(1)).is_err());
        drop(page);
        waits.await.unwrap();
        assert_eq!(unsent.held().bytes, 0);
        assert!(unsent.held().by_client.is_empty());
        // With one byte less there is room.
        let _page = unsent.reader(client(1)).unwrap().share.page("x".repeat(10));
        unsent.reader(client(1)).unwrap();
    }

    #[tokio::test]
    async fn whoever_has_used_its_part_up_begins_no_further_answer() {
        let unsent = unsent(2 * PAGE, PAGE);
        let first = unsent.reader(client(1)).unwrap();
        assert!(matches!(unsent.reader(client(1)), Err(Error::Unsent(bytes)) if bytes == PAGE));
        // Another address has its own part, and all of them one.
        let second = unsent.reader(client(2)).unwrap();
        for n in [1, 2, 3] {
            assert!(matches!(unsent.reader(client(n)), Err(Error::Unsent(_))));
        }
        drop(first);
        assert!(unsent.reader(client(2)).is_err());
        drop(second);
        unsent.reader(client(2)).unwrap();
    }

    #[tokio::test]
    async fn a_page_larger_than_the_budget_is_sent_alone() {
        let unsent = unsent(1, 1);
        let page = unsent.reader(None).unwrap().share.page("x".repeat(5));
        assert!(unsent.reader(None).is_err());
        assert_eq!(page.len(), 5);
        drop(page);
        unsent.reader(None).unwrap();
    }
}
