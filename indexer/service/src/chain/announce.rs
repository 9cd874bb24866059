//! What a node's websocket announces: transactions that name one of the programs. An announcement decides
//! nothing. It wakes the ingest, and it is held against the node's own list: a transaction that was announced
//! and is not listed shows that the list lags, and then the cursor waits.

use crate::error::{Error, Result};
use crate::parse::Program;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use solana_signature::Signature;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

/// Number of announcements that are kept; of older ones only the slot is.
const MAX_PENDING: usize = 65_536;
/// Silence after which the node is pinged.
const PING: Duration = Duration::from_secs(20);

/// A transaction that the node's websocket has announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Slot of the transaction.
    pub slot: u64,
    /// Signature of the transaction.
    pub signature: [u8; 64],
}

#[derive(Debug, Default)]
struct Inbox {
    pending: BTreeMap<(u64, [u8; 64]), ()>,
    /// Whether all subscriptions are active.
    subscribed: bool,
}

/// The announcements that came and were not taken yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Announcements {
    inbox: Arc<Mutex<Inbox>>,
    wake: Arc<Notify>,
}

impl Announcements {
    fn inbox(&self) -> std::sync::MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all subscriptions are active.
    pub fn subscribed(&self) -> bool {
        self.inbox().subscribed
    }

    fn set_subscribed(&self, subscribed: bool) {
        self.inbox().subscribed = subscribed;
        self.wake.notify_one();
    }

    /// Records that a transaction was announced.
    pub fn announce(&self, announced: Announced) {
        let mut inbox = self.inbox();
        inbox.pending.insert((announced.slot, announced.signature), ());
        while inbox.pending.len() > MAX_PENDING {
            // Nothing is lost: the list is what is indexed.
            inbox.pending.pop_first();
        }
        drop(inbox);
        self.wake.notify_one();
    }

    /// Those up to and including this slot; they stay until [`Self::done`].
    pub fn up_to(&self, slot: u64) -> Vec<Announced> {
        let inbox = self.inbox();
        let range = inbox.pending.range(..=(slot, [u8::MAX; 64]));
        range.map(|((slot, signature), ())| Announced { slot: *slot, signature: *signature }).collect()
    }

    /// Forgets those up to and including this slot.
    pub fn done(&self, slot: u64) {
        let mut inbox = self.inbox();
        let later = slot.saturating_add(1);
        inbox.pending = inbox.pending.split_off(&(later, [0; 64]));
    }

    /// Whether any is left.
    pub fn is_empty(&self) -> bool {
        self.inbox().pending.is_empty()
    }

    /// Until something is announced, or the subscription changes.
    pub async fn wait(&self) {
        self.wake.notified().await;
    }

    /// Subscribes at this websocket, again after every loss, until cancelled.
    pub async fn run(self, url: String, pause: Duration, cancel: CancellationToken) {
        loop {
            let ended = tokio::select! {
                () = cancel.cancelled() => return,
                ended = self.listen(&url) => ended,
            };
            self.set_subscribed(false);
            if let Err(error) = ended {
                tracing::warn!(code = error.code(), %error, "the subscription was lost; polling meanwhile");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn listen(&self, url: &str) -> Result<()> {
        let lost = |detail: String| Error::Websocket { url: url.to_owned(), detail };
        let (mut socket, _) =
            tokio_tungstenite::connect_async(url).await.map_err(|error| lost(error.to_string()))?;
        for (id, program) in (1_u64..).zip(Program::ALL) {
            let ask = json!({
                "jsonrpc": "2.0", "id": id, "method": "logsSubscribe",
                "params": [{ "mentions": [program.address().to_string()] }, { "commitment": "confirmed" }],
            });
            socket.send(Message::text(ask.to_string())).await.map_err(|error| lost(error.to_string()))?;
        }
        let mut agreed = 0_usize;
        let mut silent = false;
        loop {
            let message = match tokio::time::timeout(PING, socket.next()).await {
                Err(_) if silent => return Err(lost("it is silent".to_owned())),
                Err(_) => {
                    silent = true;
                    let ping = Message::Ping(Vec::new().into());
                    socket.send(ping).await.map_err(|error| lost(error.to_string()))?;
                    continue;
                }
                Ok(None) => return Err(lost("it was closed".to_owned())),
                Ok(Some(message)) => message.map_err(|error| lost(error.to_string()))?,
            };
            silent = false;
            let Message::Text(text) = message else { continue };
            let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
            if let Some(error) = value.get("error") {
                return Err(lost(error.to_string()));
            }
            if value.get("id").is_some() {
                agreed = agreed.saturating_add(1);
                if agreed == Program::ALL.len() {
                    self.set_subscribed(true);
                }
                continue;
            }
            if let Some(announced) = announced(&value) {
                self.announce(announced);
            }
        }
    }
}

/// Reads a notification of logs. Failed transactions did nothing.
fn announced(value: &Value) -> Option<Announced> {
    let result = value.get("params")?.get("result")?;
    let slot = result.get("context")?.get("slot")?.as_u64()?;
    let body = result.get("value")?;
    body.get("err").is_none_or(Value::is_null).then_some(())?;
    let signature: Signature = body.get("signature")?.as_str()?.parse().ok()?;
    Some(Announced { slot, signature: signature.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_forgotten_and_what_is_later_stays() {
        let inbox = Announcements::default();
        for slot in [5, 6, 7] {
            inbox.announce(Announced { slot, signature: [slot as u8; 64] });
            inbox.announce(Announced { slot, signature: [slot as u8; 64] });
        }
        assert_eq!(inbox.up_to(6).len(), 2);
        inbox.done(6);
        assert_eq!(inbox.up_to(u64::MAX).iter().map(|it| it.slot).collect::<Vec<_>>(), [7]);
        inbox.done(7);
        assert!(inbox.is_empty());
    }

    #[test]
    fn a_failed_transaction_announces_nothing() {
        let notification = |err: Value| {
            json!({ "method": "logsNotification", "params": { "subscription": 1, "result": {
                "context": { "slot": 9 },
                "value": { "signature": Signature::from([3; 64]).to_string(), "err": err, "logs": [] },
            } } })
        };
        assert_eq!(announced(&notification(Value::Null)), Some(Announced { slot: 9, signature: [3; 64] }));
        assert_eq!(announced(&notification(json!({ "InstructionError": [0, "x"] }))), None);
        assert_eq!(announced(&json!({ "params": 3 })), None);
    }
}
