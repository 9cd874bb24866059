//! One connection: the websocket, and identification.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::error::{ProtocolError, SubProtocolError};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, connect_async_tls_with_config};
use zx1_home::clock::Clock;
use zx1_net::{Endpoint, deepest_cause, one_line};
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::defaults::MAX_FRAME;
use zx1_relay_rules::event::{Event, Heard};
use zx1_relay_rules::hub::EXTENSIONS;
use zx1_relay_rules::{AgentId, RelayError, signing};

use crate::identity::Identity;
use crate::{ClientError, Result};
/// Time for connecting, and then for identification.
const HANDSHAKE: Duration = Duration::from_secs(20);
/// Time for one frame.
const SEND: Duration = Duration::from_secs(60);
/// Characters of a stranger's text in an error.
const SHOWN: usize = 200;

/// The address of a relay: `ws://` or `wss://`, host, port, path; without user, password, query and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay(Endpoint);

impl Relay {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`ClientError::Address`]
    pub fn parse(text: &str) -> Result<Relay> {
        let text = text.trim();
        let no = |why: String| ClientError::Address { why };
        let scheme = |long: &str, own: &str| {
            let head = text.get(..long.len()).filter(|head| head.eq_ignore_ascii_case(long))?;
            Some(format!("{own}{}", text.get(head.len()..).unwrap_or_default()))
        };
        let http = scheme("wss://", "https://")
            .or_else(|| scheme("ws://", "http://"))
            .ok_or_else(|| no("it does not begin with ws:// or wss://".to_owned()))?;
        Endpoint::parse(&http).map(Relay).map_err(|error| no(error.to_string()))
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.is_https()
    }

    /// Whether the relay is on this machine.
    pub fn is_this_machine(&self) -> bool {
        self.0.is_this_machine()
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let http = self.0.to_string();
        f.write_str(if self.is_encrypted() { "wss" } else { "ws" })?;
        f.write_str(http.trim_start_matches("https").trim_start_matches("http"))
    }
}

/// Certificates, in DER, of authorities beyond the public ones.
pub type Roots = Vec<Vec<u8>>;

/// What came over the wire.
pub(crate) enum Incoming {
    Text(String),
    /// Something that only shows life.
    Life,
    Closed(String),
}

/// An open connection, identified or not.
pub(crate) struct Link {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// Who a connection is, as WELCOME says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The id on this relay.
    pub agent: AgentId,
    /// The name that the relay knows it by.
    pub name: String,
    /// The relay's own name.
    pub server: String,
    /// Whether the key was proven.
    pub verified: bool,
    /// The relay's message of the day.
    pub motd: Option<String>,
}

fn lost(error: &WsError) -> ClientError {
    ClientError::Lost { why: deepest_cause(error) }
}

impl Link {
    /// Connects; nothing is sent yet.
    pub(crate) async fn open(relay: &Relay, roots: &Roots) -> Result<Link> {
        let failed = |why: String| ClientError::Unreachable { url: relay.to_string(), why };
        let connecting = async {
            match attempt(relay, roots, true).await {
                Err(error) if is_older(&error) => attempt(relay, roots, false).await,
                other => other,
            }
        };
        let connected = tokio::time::timeout(HANDSHAKE, connecting).await;
        let opened = connected.map_err(|_| failed("no connection in time".to_owned()))?;
        opened.map_err(|error| failed(deepest_cause(error.as_ref())))
    }

    /// Sends a frame.
    pub(crate) async fn send(&mut self, text: String) -> Result<()> {
        if text.len() > MAX_FRAME {
            return Err(RelayError::FrameTooLarge { bytes: text.len(), most: MAX_FRAME }.into());
        }
        let sent = tokio::time::timeout(SEND, self.socket.send(Message::text(text))).await;
        sent.map_err(|_| ClientError::Lost { why: "the relay takes nothing".to_owned() })?
            .map_err(|error| lost(&error))
    }

    /// Asks for a sign of life.
    pub(crate) async fn ping(&mut self) -> Result<()> {
        self.socket.send(Message::Ping(Vec::new().into())).await.map_err(|error| lost(&error))
    }

    /// What comes next. It may be dropped while it waits.
    pub(crate) async fn next(&mut self) -> Result<Incoming> {
        Ok(match self.socket.next().await {
            None => Incoming::Closed("it was closed".to_owned()),
            Some(Err(error)) => return Err(lost(&error)),
            Some(Ok(Message::Text(text))) => Incoming::Text(text.as_str().to_owned()),
            Some(Ok(Message::Close(frame))) => Incoming::Closed(frame.map_or_else(
                || "it was closed".to_owned(),
                |frame| one_line(&format!("closed with {}: {}", u16::from(frame.code), frame.reason), SHOWN),
            )),
            Some(Ok(_)) => Incoming::Life,
        })
    }

    /// Ends it politely; whether the relay learns of it changes nothing.
    pub(crate) async fn close(mut self) {
        let _ = tokio::time::timeout(Duration::from_secs(1), self.socket.close(None)).await;
    }

    /// Identifies, with a key by answering the challenge.
    pub(crate) async fn identify(
        &mut self,
        name: &str,
        identity: Option<&Identity>,
        clock: &dyn Clock,
    ) -> Result<Welcome> {
        let done = self.identify_whenever(name, identity, clock);
        tokio::time::timeout(HANDSHAKE, done).await.map_err(|_| ClientError::NoAnswer)?
    }

    async fn identify_whenever(
        &mut self,
        name: &str,
        identity: Option<&Identity>,
        clock: &dyn Clock,
    ) -> Result<Welcome> {
        let pubkey = identity.map(|identity| identity.pem().to_owned());
        self.send(Frame::Identify { name: name.to_owned(), pubkey }.encode()).await?;
        loop {
            let text = match self.next().await? {
                Incoming::Text(text) => text,
                Incoming::Life => continue,
                Incoming::Closed(why) => return Err(ClientError::Lost { why }),
            };
            let Ok(heard) = Heard::parse(&text) else { continue };
            match heard.event {
                Event::Challenge { challenge_id, nonce, .. } => {
                    let identity = identity.ok_or(RelayError::SignatureNeeded)?;
                    #[allow(clippy::cast_precision_loss)]
                    let timestamp = clock.unix_ms() as f64;
                    let signature = identity.sign(&signing::auth(&nonce, &challenge_id, timestamp));
                    self.send(Frame::VerifyIdentity { challenge_id, signature, timestamp }.encode()).await?;
                }
                Event::Welcome { agent, name, server, verified, motd, .. } => {
                    return Ok(Welcome { agent, name, server, verified, motd });
                }
                Event::Refused { code, message } => return Err(refused(&code, &message)),
                Event::Removed { reason, .. } => return Err(removed(&reason)),
                _ => {}
            }
        }
    }
}

/// The relay's refusal, as it may be shown.
pub(crate) fn refused(code: &str, message: &str) -> ClientError {
    let message = one_line(message, SHOWN).trim_end_matches('.').to_owned();
    ClientError::Refused { code: one_line(code, 64), message }
}

/// The relay's removal of this agent, as it may be shown.
pub(crate) fn removed(reason: &str) -> ClientError {
    ClientError::Removed { reason: one_line(reason, SHOWN).trim_end_matches('.').to_owned() }
}

/// Whether a relay does not know the subprotocol.
fn is_older(error: &WsError) -> bool {
    let WsError::Protocol(ProtocolError::SecWebSocketSubProtocolError(found)) = error else { return false };
    *found == SubProtocolError::NoSubProtocol
}

async fn attempt(relay: &Relay, roots: &Roots, extensions: bool) -> Result<Link, Box<WsError>> {
    let mut request = relay.to_string().into_client_request()?;
    if extensions {
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(EXTENSIONS));
    }
    let limits = WebSocketConfig::default().max_message_size(Some(MAX_FRAME)).max_frame_size(Some(MAX_FRAME));
    let connector = if relay.is_encrypted() { tls(roots)? } else { Connector::Plain };
    let (socket, _) = connect_async_tls_with_config(request, Some(limits), true, Some(connector)).await?;
    Ok(Link { socket })
}

/// TLS with one provider by name: a process that links two of them has no default.
fn tls(roots: &Roots) -> Result<Connector, Box<WsError>> {
    let failed = |error: rustls::Error| Box::new(WsError::Io(std::io::Error::other(error)));
    let mut store = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in roots {
        store.add(root.clone().into()).map_err(failed)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(store)
        .with_no_client_auth();
    Ok(Connector::Rustls(Arc::new(config)))
}
