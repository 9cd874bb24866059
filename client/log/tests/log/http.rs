//! Uploads to and downloads from a real server on the loopback interface.

use crate::common::{AGENT, EPOCH};
use crate::store::{bundle, lying};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use zx1_log::{BatchStore, Http, HttpOptions, LogError, Put};
use zx1_protocol::bundle::MAX_BUNDLE_BYTES;
use zx1_protocol::units::Epoch;

type Key = (String, u64);

/// What the server does next instead of its work.
#[derive(Clone)]
enum Fault {
    Answer(u16, &'static str),
    Silence,
}

#[derive(Clone, Default)]
struct Server {
    stored: Arc<Mutex<HashMap<Key, Bytes>>>,
    faults: Arc<Mutex<Vec<Fault>>>,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(&self, prefix: &str) -> Http {
        let route = format!("{prefix}/v1/agents/{{mint}}/batches/{{epoch}}/data");
        let app = Router::new()
            .route(&route, get(serve).put(store))
            .layer(DefaultBodyLimit::disable())
            .with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}{prefix}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Http::new(&base, options()).unwrap()
    }

    fn fail_next(&self, faults: &[Fault]) {
        *self.faults.lock().unwrap() = faults.to_vec();
    }

    fn calls(&self) -> usize {
        std::mem::take(&mut *self.calls.lock().unwrap()).len()
    }

    async fn fault(&self, call: &str) -> Option<Response> {
        self.calls.lock().unwrap().push(call.to_owned());
        let fault = {
            let mut faults = self.faults.lock().unwrap();
            (!faults.is_empty()).then(|| faults.remove(0))
        };
        match fault? {
            Fault::Answer(status, body) => {
                Some((StatusCode::from_u16(status).unwrap(), body.to_owned()).into_response())
            }
            Fault::Silence => std::future::pending().await,
        }
    }
}

fn options() -> HttpOptions {
    HttpOptions {
        connect_timeout: Duration::from_secs(5),
        read_timeout: Duration::from_millis(400),
        total_timeout: Duration::from_secs(20),
        attempts: 3,
        pause: Duration::from_millis(1),
    }
}

async fn serve(State(server): State<Server>, Path(key): Path<Key>) -> Response {
    if let Some(fault) = server.fault("GET").await {
        return fault;
    }
    let stored = server.stored.lock().unwrap().get(&key).cloned();
    stored.map_or_else(|| StatusCode::NOT_FOUND.into_response(), IntoResponse::into_response)
}

async fn store(
    State(server): State<Server>,
    Path(key): Path<Key>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert_eq!(headers["content-type"], "application/cbor");
    if let Some(fault) = server.fault("PUT").await {
        return fault;
    }
    let old = server.stored.lock().unwrap().insert(key, body.clone());
    let status = if old == Some(body) { StatusCode::OK } else { StatusCode::CREATED };
    status.into_response()
}

async fn server() -> (Server, Http) {
    let server = Server::default();
    let http = server.start("").await;
    (server, http)
}

#[tokio::test]
async fn what_is_uploaded_comes_back() {
    for prefix in ["", "/zx1"] {
        let server = Server::default();
        let http = server.start(prefix).await;
        let bundle = bundle();
        assert_eq!(http.get(&AGENT, EPOCH).await.unwrap(), None);
        assert_eq!(http.put(&AGENT, EPOCH, &bundle).await.unwrap(), Put::Created);
        assert_eq!(http.put(&AGENT, EPOCH, &bundle).await.unwrap(), Put::Same);
        assert_eq!(http.get(&AGENT, EPOCH).await.unwrap(), Some(bundle));
        assert_eq!(http.get(&AGENT, Epoch(1)).await.unwrap(), None);
        let mint = AGENT.to_string();
        assert!(server.stored.lock().unwrap().contains_key(&(mint, EPOCH.0)));
    }
}

#[tokio::test]
async fn refusals_carry_the_servers_sentence_and_are_not_repeated() {
    let (server, http) = server().await;
    let bundle = bundle();
    let put = async |status, body| {
        server.fail_next(&[Fault::Answer(status, body)]);
        let error = http.put(&AGENT, EPOCH, &bundle).await.unwrap_err();
        assert_eq!(server.calls(), 1, "{status} is asked once");
        error
    };
    let error = put(422, r#"{"code":9123,"error":"The log's root differs."}"#).await;
    assert!(
        matches!(&error, LogError::Mismatch { code: 9123, sentence } if sentence == "The log's root differs.")
    );
    assert_eq!(error.code(), 7261);
    assert_eq!(put(422, "no json").await.code(), 7261);
    let error = put(404, r#"{"code":1,"detail":"No batch of epoch 20000.","next":"Wait."}"#).await;
    assert_eq!(error.code(), 7260);
    assert!(error.to_string().contains("No batch of epoch 20000."));
    assert_eq!(put(404, "").await.code(), 7260);
    let error = put(404, "<html>no such page</html>").await;
    assert!(matches!(error, LogError::Refused { status: 404, .. }), "another server: {error}");
    let error = put(500, "broken\u{1b}[2J").await;
    assert_eq!(error.code(), 7262);
    assert!(error.to_string().contains("broken [2J"), "no control characters: {error}");
    // A redirect is not followed.
    assert_eq!(put(307, "").await.code(), 7262);
    server.fail_next(&[Fault::Answer(500, "broken")]);
    assert_eq!(http.get(&AGENT, EPOCH).await.unwrap_err().code(), 7262);
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let (server, http) = server().await;
    let bundle = bundle();
    for status in [429, 502, 503, 504] {
        server.fail_next(&[Fault::Answer(status, ""), Fault::Answer(status, "")]);
        http.put(&AGENT, EPOCH, &bundle).await.unwrap();
        assert_eq!(server.calls(), 3);
        server.fail_next(&[Fault::Answer(status, "")]);
        assert_eq!(http.get(&AGENT, EPOCH).await.unwrap().as_ref(), Some(&bundle));
        assert_eq!(server.calls(), 2);
        server.fail_next(&[const { Fault::Answer(503, "busy") }; 3]);
        assert_eq!(http.put(&AGENT, EPOCH, &bundle).await.unwrap_err().code(), 7262);
        assert_eq!(server.calls(), 3);
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let (server, http) = server().await;
    server.fail_next(&[Fault::Silence, Fault::Silence, Fault::Silence]);
    assert_eq!(http.get(&AGENT, EPOCH).await.unwrap_err().code(), 7264);
    server.fail_next(&[Fault::Silence]);
    assert_eq!(http.put(&AGENT, EPOCH, &bundle()).await.unwrap(), Put::Created);
}

#[tokio::test]
async fn nobody_there_is_one_sentence() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Http::new(&base, options()).unwrap().get(&AGENT, EPOCH).await.unwrap_err();
    assert_eq!(error.code(), 7263);
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn data_that_does_not_hold_together_is_not_sent_and_what_is_no_bundle_not_taken() {
    let (server, http) = server().await;
    let good = bundle();
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    assert_eq!(http.put(&AGENT, EPOCH, &bad).await.unwrap_err().code(), 7233);
    assert_eq!(http.put(&AGENT, Epoch(1), &good).await.unwrap_err().code(), 7234);
    assert_eq!(server.calls(), 0);
    let mint = AGENT.to_string();
    let serve = |epoch: u64, bytes: &[u8]| {
        server.stored.lock().unwrap().insert((mint.clone(), epoch), Bytes::copy_from_slice(bytes));
    };
    // A batch that lies about itself was committed to as it is; the caller compares it with the chain.
    let lie = lying(&good);
    serve(EPOCH.0, &lie);
    assert_eq!(http.get(&AGENT, EPOCH).await.unwrap(), Some(lie));
    for broken in [&b""[..], &good[1..], &good[..good.len() - 1]] {
        serve(EPOCH.0, broken);
        assert_eq!(http.get(&AGENT, EPOCH).await.unwrap_err().code(), 7233);
    }
}

/// A server of one answer for every request, byte for byte.
async fn raw(answer: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Http {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let answer = answer();
            tokio::spawn(async move {
                let _ = socket.read(&mut [0; 4096]).await;
                let _ = socket.write_all(&answer).await;
            });
        }
    });
    Http::new(&base, options()).unwrap()
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_data() {
    let bundle = bundle();
    let http = raw(move || {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", bundle.len());
        [head.as_bytes(), &bundle[..bundle.len() / 2]].concat()
    })
    .await;
    assert_eq!(http.get(&AGENT, EPOCH).await.unwrap_err().code(), 7263);
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_read() {
    let length = MAX_BUNDLE_BYTES + 1;
    let http =
        raw(move || format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\nx").into_bytes()).await;
    assert_eq!(http.get(&AGENT, EPOCH).await.unwrap_err().code(), 7265);
}

#[tokio::test]
async fn an_endless_answer_is_stopped() {
    async fn endless() -> Body {
        let part = Bytes::from(vec![0; 1 << 20]);
        let parts = futures_util::stream::repeat_with(move || Ok::<_, std::io::Error>(part.clone()));
        Body::from_stream(parts)
    }
    let app = Router::new().fallback(get(endless));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let http = Http::new(&base, options()).unwrap();
    assert_eq!(http.get(&AGENT, EPOCH).await.unwrap_err().code(), 7265);
}
