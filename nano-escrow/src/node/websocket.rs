//! The websocket: hints that something was confirmed. They are only hints; [`super::watch`] asks the node
//! about each.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::NodeError;
use crate::{Address, BlockHash};

/// A confirmation is a few kilobytes.
const MAX_FRAME: usize = 1 << 20;

/// A confirmation that the node announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hint {
    /// Hash of the confirmed block.
    pub hash: BlockHash,
    /// In whose chain.
    pub account: Option<Address>,
    /// To whom, when it is a send.
    pub to: Option<Address>,
}

/// What the websocket tells the watcher.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Subscribed: from now on nothing is missed until [`News::Lost`].
    Connected,
    /// The connection is gone.
    Lost,
    /// Something was confirmed.
    Hint(Hint),
}

/// How to keep a connection.
#[derive(Debug, Clone)]
pub(super) struct SocketOptions {
    pub url: String,
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// Ping after so long a silence; give up after twice as long.
    pub ping: Duration,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Stay connected until the receiver of the news is gone. `accounts` is whom to hear about.
pub(super) async fn run(
    options: SocketOptions,
    mut accounts: watch::Receiver<BTreeSet<Address>>,
    news: mpsc::Sender<News>,
) {
    let mut wait = options.first_wait;
    while !news.is_closed() {
        let ended = tokio::select! {
            ended = connected(&options, &mut accounts, &news, &mut wait) => ended,
            () = news.closed() => return,
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "the websocket ended");
        }
        if news.send(News::Lost).await.is_err() {
            return;
        }
        // The whole wait is kept: a node that restarts is not helped by many clients at once.
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = news.closed() => return,
        }
        wait = (wait * 2).min(options.longest_wait);
    }
}

fn failed(error: impl std::fmt::Display) -> NodeError {
    NodeError::Websocket(error.to_string())
}

async fn connected(
    options: &SocketOptions,
    accounts: &mut watch::Receiver<BTreeSet<Address>>,
    news: &mpsc::Sender<News>,
    wait: &mut Duration,
) -> Result<(), NodeError> {
    let limits = WebSocketConfig::default().max_message_size(Some(MAX_FRAME)).max_frame_size(Some(MAX_FRAME));
    let connecting = connect_async_with_config(options.url.as_str(), Some(limits), true);
    let (mut socket, _) = tokio::time::timeout(options.ping, connecting)
        .await
        .map_err(|_| failed("no connection in time"))?
        .map_err(failed)?;
    let mut known = accounts.borrow_and_update().clone();
    send(&mut socket, &subscription(&known)).await?;
    let mut subscribed = false;
    let mut pinged = false;
    loop {
        tokio::select! {
            frame = tokio::time::timeout(options.ping, socket.next()) => match frame {
                Err(_) if pinged => return Err(failed("no answer to a ping")),
                Err(_) => {
                    pinged = true;
                    socket.send(Frame::Ping(Default::default())).await.map_err(failed)?;
                }
                Ok(None) => return Ok(()),
                Ok(Some(frame)) => {
                    pinged = false;
                    match frame.map_err(failed)? {
                        Frame::Text(text) => match read(&text) {
                            Some(Incoming::Subscribed) if !subscribed => {
                                subscribed = true;
                                *wait = options.first_wait;
                                tell(news, News::Connected).await?;
                            }
                            Some(Incoming::Hint(hint)) => tell(news, News::Hint(hint)).await?,
                            _ => {}
                        },
                        Frame::Close(_) => return Ok(()),
                        _ => {}
                    }
                }
            },
            changed = accounts.changed() => {
                changed.map_err(failed)?;
                let now = accounts.borrow_and_update().clone();
                send(&mut socket, &update(&known, &now)).await?;
                known = now;
            }
        }
    }
}

async fn tell(news: &mpsc::Sender<News>, item: News) -> Result<(), NodeError> {
    news.send(item).await.map_err(failed)
}

async fn send(socket: &mut Socket, message: &Value) -> Result<(), NodeError> {
    socket.send(Frame::text(message.to_string())).await.map_err(failed)
}

fn list<'a>(accounts: impl Iterator<Item = &'a Address>) -> Vec<String> {
    accounts.map(Address::to_string).collect()
}

fn subscription(accounts: &BTreeSet<Address>) -> Value {
    json!({
        "action": "subscribe",
        "topic": "confirmation",
        "ack": true,
        "options": { "confirmation_type": "all", "include_block": true, "accounts": list(accounts.iter()) },
    })
}

fn update(before: &BTreeSet<Address>, now: &BTreeSet<Address>) -> Value {
    json!({
        "action": "update",
        "topic": "confirmation",
        "options": {
            "accounts_add": list(now.difference(before)),
            "accounts_del": list(before.difference(now)),
        },
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Incoming {
    Subscribed,
    Hint(Hint),
}

/// Read a frame; what is not understood is left out, because polling finds everything anyway.
fn read(text: &str) -> Option<Incoming> {
    let frame: Value = serde_json::from_str(text).ok()?;
    if frame.get("ack").and_then(Value::as_str) == Some("subscribe") {
        return Some(Incoming::Subscribed);
    }
    if frame.get("topic").and_then(Value::as_str) != Some("confirmation") {
        return None;
    }
    let message = frame.get("message")?;
    let hash = message.get("hash")?.as_str()?.parse().ok()?;
    let account = message.get("account").and_then(Value::as_str).and_then(|a| a.parse().ok());
    let block = message.get("block");
    let is_send = block.and_then(|b| b.get("subtype")).and_then(Value::as_str) == Some("send");
    let to = block
        .filter(|_| is_send)
        .and_then(|b| b.get("link_as_account"))
        .and_then(Value::as_str)
        .and_then(|a| a.parse().ok());
    Some(Incoming::Hint(Hint { hash, account, to }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_is_read_and_anything_else_is_left_out() {
        let to = Address::from(crate::PublicKey([5; 32]));
        let hash = BlockHash([9; 32]);
        let frame = json!({
            "topic": "confirmation", "time": "1",
            "message": {
                "account": to.to_string(), "hash": hash.to_string(),
                "block": { "subtype": "send", "link_as_account": to.to_string() },
            },
        });
        let hint = Hint { hash, account: Some(to), to: Some(to) };
        assert_eq!(read(&frame.to_string()), Some(Incoming::Hint(hint)));
        assert_eq!(read(r#"{"ack":"subscribe","time":"1"}"#), Some(Incoming::Subscribed));
        for other in
            ["", "{}", "[]", r#"{"topic":"vote"}"#, r#"{"topic":"confirmation","message":{"hash":"1"}}"#]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
