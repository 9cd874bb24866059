//! Connections that are encrypted, and whom they trust.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use zx1_home::clock::SystemClock;
use zx1_relay_client::{Client, ClientError, Options, Relay};
use zx1_relay_rules::server;

use crate::peer::{TS, id, within};

#[tokio::test]
async fn a_relay_is_reached_over_tls_only_under_a_certificate_that_is_trusted() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.key_pair.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let relay = Relay::parse(&format!("wss://localhost:{}", listener.local_addr().unwrap().port())).unwrap();
    let served = tokio::spawn(async move {
        use futures_util::{SinkExt as _, StreamExt as _};
        use tokio_tungstenite::tungstenite::Message;
        let mut refused = 0;
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(stream) = acceptor.accept(stream).await else {
                refused += 1;
                continue;
            };
            // Without the subprotocol the client hangs up and comes again.
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            let Some(Ok(Message::Text(text))) = socket.next().await else { continue };
            let welcome = server::welcome(&id("@abcdefgh"), "n", "over tls", "d", false, None, TS);
            socket.send(Message::text(welcome)).await.unwrap();
            return (refused, text.as_str().to_owned());
        }
    });
    let mut options = Options::new(relay, "tester", None, Arc::new(SystemClock));
    let refused = within(Client::connect(options.clone())).await.unwrap_err();
    assert!(matches!(refused, ClientError::Unreachable { .. }), "{refused}");
    options.roots = vec![certificate.to_vec()];
    let client = within(Client::connect(options)).await.unwrap();
    assert_eq!(client.welcome().server, "over tls");
    let (refused, text) = within(served).await.unwrap();
    assert_eq!((refused, text.as_str()), (1, r#"{"type":"IDENTIFY","name":"tester"}"#));
}
