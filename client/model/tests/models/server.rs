//! Real servers on the loopback.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Seen {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A server that remembers what it was asked.
pub(crate) struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers with what a function makes of the number of the request, from 0.
    pub(crate) async fn start(answer: impl Fn(usize) -> Response + Clone + Send + Sync + 'static) -> Server {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let record = seen.clone();
        let app = Router::new().fallback(move |request: Request| {
            let (record, answer) = (record.clone(), answer.clone());
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let n = {
                    let mut seen = record.lock().unwrap();
                    seen.push(Seen { path: parts.uri.path().to_owned(), headers: parts.headers, body });
                    seen.len() - 1
                };
                answer(n)
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Server { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// A server that writes these bytes to everyone and closes the connection.
pub(crate) async fn raw(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let _ = socket.read(&mut request).await;
            let _ = socket.write_all(bytes).await;
            let _ = socket.shutdown().await;
        }
    });
    address
}

/// An answer of JSON.
pub(crate) fn json(status: u16, body: &str) -> Response {
    typed(status, "application/json", Body::from(body.to_owned()))
}

/// An answer of any type.
pub(crate) fn typed(status: u16, content_type: &str, body: Body) -> Response {
    Response::builder().status(status).header("content-type", content_type).body(body).unwrap()
}
