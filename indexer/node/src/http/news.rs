//! The websocket: received messages from any place in the log on, then all news as it comes.

use super::App;
use super::routes::page;
use crate::error::{Error, Result};
use crate::inbox::Place;
use axum::extract::ws::{
    CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code, rejection::WebSocketUpgradeRejection,
};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use std::sync::Arc;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use utoipa::IntoParams;
use zx1_operator::node::wire::{MAX_PAGE, News};
use zx1_server::query;

/// Longest frame that a client sends; it has nothing to say.
const MAX_FRAME: usize = 4_096;

/// Where to begin.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct NewsQuery {
    /// id of the last message that the reader has; without one only what comes from now on is sent
    after: Option<String>,
}

/// News as a websocket
///
/// A reader that is too slow is closed with the reason, and resumes after the last message that it has.
#[utoipa::path(get, path = "/v1/ws", params(NewsQuery), responses((status = 101, description = "A websocket")))]
pub(super) async fn websocket(
    State(app): State<App>,
    RawQuery(raw): RawQuery,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let mut after = None;
    for (name, value) in query::pairs(raw.as_deref()) {
        match name.as_str() {
            "after" => after = Some(value.parse::<Place>()?),
            other => return Err(Error::BadRequest(format!("unknown parameter '{other}'"))),
        }
    }
    let upgrade = upgrade.map_err(|error| Error::BadRequest(error.to_string()))?;
    let seat = Arc::clone(&app.inner.seats).try_acquire_owned().map_err(|_| Error::Busy)?;
    Ok(upgrade.max_message_size(MAX_FRAME).on_upgrade(async move |mut socket| {
        // Before anything is read, so that nothing falls between the pages and the news.
        let news = app.inner.agent.subscribe();
        let closed = serve(&app, &mut socket, after, news).await;
        if let Err(reason) = closed {
            let frame = CloseFrame { code: close_code::AGAIN, reason: reason.into() };
            let _ = socket.send(Message::Close(Some(frame))).await;
        }
        drop(seat);
    }))
}

/// Sends until the client leaves.
///
/// # Errors
/// The reason why the client is left.
async fn serve(
    app: &App,
    socket: &mut WebSocket,
    after: Option<Place>,
    mut news: Receiver<Arc<News>>,
) -> Result<(), String> {
    let mut last = after;
    while let Some(from) = last {
        let read = page(app, Some(from), MAX_PAGE).await.map_err(|error| error.to_string())?;
        let is_last = read.messages.len() < MAX_PAGE;
        for message in read.messages {
            let at_micros = message.arrival_micros;
            let id = message.id.clone();
            let place: Option<Place> = id.parse().ok();
            let of = serde_json::to_value(message).unwrap_or_default();
            let item = News { r#type: "message".to_owned(), id, at_micros, of };
            if !send(socket, &item).await {
                return Ok(());
            }
            last = place.or(last);
        }
        if is_last {
            break;
        }
    }
    loop {
        tokio::select! {
            () = app.inner.stopping.cancelled() => return Err("the node stops".to_owned()),
            item = news.recv() => match item {
                Ok(item) => {
                    let place: Option<Place> = item.id.parse().ok().filter(|_| item.r#type == "message");
                    if place.is_some_and(|place| last.is_some_and(|last| place <= last)) {
                        continue;
                    }
                    last = place.or(last);
                    if !send(socket, &item).await {
                        return Ok(());
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    let from = last.map_or_else(|| "the last message you have".to_owned(), |last| last.to_string());
                    return Err(format!("too slow; resume after {from}"));
                }
                Err(RecvError::Closed) => return Err("the node stops".to_owned()),
            },
            frame = socket.recv() => match frame {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
                Some(Ok(_)) => {}
            },
        }
    }
}

async fn send(socket: &mut WebSocket, item: &News) -> bool {
    let text = serde_json::to_string(item).unwrap_or_default();
    socket.send(Message::Text(text.into())).await.is_ok()
}
