//! The client against servers on the loopback interface that lie, stall, redirect and never end.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zx1_net::{Endpoint, FetchError, Fetcher, Limit, Method, Options, Proxies, StatusCode, Targets};

/// What arrives in the buffers of two sockets after the client has stopped reading.
const IN_FLIGHT: usize = 16 << 20;

/// Serves every connection with `answer`, which gets the socket after the request's head was read and the
/// head itself.
async fn serve<F, Fut>(answer: F) -> SocketAddr
where
    F: Fn(TcpStream, String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut buffer = [0; 1024];
                while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                    match socket.read(&mut buffer).await {
                        Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
                        _ => return,
                    }
                }
                answer(socket, String::from_utf8(head).unwrap()).await;
            });
        }
    });
    address
}

/// Serves the same bytes to everybody.
async fn serve_bytes(bytes: &'static [u8]) -> SocketAddr {
    serve(move |mut socket, _| async move {
        let _ = socket.write_all(bytes).await;
        let _ = socket.shutdown().await;
    })
    .await
}

fn options() -> Options {
    Options { timeout: Duration::from_secs(20), user_agent: "test/1", ..Options::default() }
}

fn fetcher(address: SocketAddr, options: Options) -> Fetcher {
    Fetcher::new(Endpoint::parse(&format!("http://{address}")).unwrap(), options).unwrap()
}

/// A server whose chunked answer never ends; how many bytes it got rid of.
async fn endless(status: &'static str) -> (SocketAddr, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let address = serve(move |mut socket, _| {
        let counter = Arc::clone(&counter);
        async move {
            let head = format!("HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n");
            socket.write_all(head.as_bytes()).await.unwrap();
            let mut chunk = b"10000\r\n".to_vec();
            chunk.resize(chunk.len() + 0x10000, b'x');
            chunk.extend_from_slice(b"\r\n");
            while socket.write_all(&chunk).await.is_ok() {
                counter.fetch_add(chunk.len(), Ordering::Relaxed);
            }
        }
    })
    .await;
    (address, sent)
}

/// Waits until the server has noticed that nobody reads any more, and says how much it sent.
async fn settled(sent: &AtomicUsize) -> usize {
    loop {
        let before = sent.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(100)).await;
        if sent.load(Ordering::Relaxed) == before {
            return before;
        }
    }
}

#[tokio::test]
async fn a_chunked_answer_without_end_is_cut_at_the_limit_and_fills_no_memory() {
    let (address, sent) = endless("200 OK").await;
    let fetcher = fetcher(address, options());
    let limit = 100_000;
    let refused = fetcher.fetch(fetcher.get("/"), Limit::Whole(limit)).await.unwrap_err();
    assert_eq!(refused, FetchError::TooLarge { limit });
    assert!(settled(&sent).await < IN_FLIGHT);
    let cut = fetcher.fetch(fetcher.get("/"), Limit::Prefix(limit)).await.unwrap();
    assert_eq!((cut.status, cut.body), (StatusCode::OK, vec![b'x'; limit]));
    assert!(settled(&sent).await < 2 * IN_FLIGHT);
}

#[tokio::test]
async fn a_refusal_without_end_is_cut_too() {
    let (address, sent) = endless("500 No").await;
    let fetcher = fetcher(address, options());
    let answer = fetcher.fetch(fetcher.get("/"), Limit::Whole(1 << 30)).await.unwrap();
    assert_eq!((answer.status, answer.body.len()), (StatusCode::INTERNAL_SERVER_ERROR, 64 << 10));
    assert!(settled(&sent).await < IN_FLIGHT);
}

#[tokio::test]
async fn a_body_is_read_to_its_last_byte_and_one_more_fails() {
    let address = serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await;
    let fetcher = fetcher(address, options());
    let ask = async |limit| fetcher.fetch(fetcher.get("/"), limit).await;
    assert_eq!(ask(Limit::Whole(5)).await.unwrap().body, b"hello");
    assert_eq!(ask(Limit::Whole(4)).await.unwrap_err(), FetchError::TooLarge { limit: 4 });
    assert_eq!(ask(Limit::Prefix(4)).await.unwrap().body, b"hell");
    assert_eq!(ask(Limit::Prefix(9)).await.unwrap().body, b"hello");
}

#[tokio::test]
async fn a_length_that_is_announced_too_long_fails_before_anything_is_read() {
    let address = serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\nhello").await;
    let fetcher = fetcher(address, options());
    let refused = fetcher.fetch(fetcher.get("/"), Limit::Whole(1000)).await.unwrap_err();
    assert_eq!(refused, FetchError::TooLarge { limit: 1000 });
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_never_followed() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let target = serve(move |mut socket, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move {
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        }
    })
    .await;
    for status in [301, 302, 303, 307, 308] {
        let server = serve(move |mut socket, _| async move {
            let head =
                format!("HTTP/1.1 {status} Moved\r\nLocation: http://{target}/\r\nContent-Length: 0\r\n\r\n");
            let _ = socket.write_all(head.as_bytes()).await;
        })
        .await;
        let fetcher = fetcher(server, options());
        let post = fetcher.request(Method::POST, "/pay").body("secret");
        let answer = fetcher.fetch(post, Limit::Whole(10)).await.unwrap();
        assert_eq!(answer.status.as_u16(), status);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn what_happened_to_a_request_is_told_apart() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let ask = async |address, options| {
        let fetcher = fetcher(address, options);
        fetcher.fetch(fetcher.get("/"), Limit::Whole(10)).await.unwrap_err()
    };
    // No connection: nothing was sent.
    let error = ask(unused, options()).await;
    let FetchError::Unreachable { why } = &error else { panic!("{error:?}") };
    assert!(why.contains("refused") && !why.contains("127.0.0.1"), "{why}");
    // Cut off in the middle of the answer.
    let broken = serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe").await;
    assert!(matches!(ask(broken, options()).await, FetchError::Broken { .. }));
    // Not HTTP at all.
    let garbage = serve_bytes(b"SSH-2.0-OpenSSH_9.9\r\n\r\n").await;
    assert!(matches!(ask(garbage, options()).await, FetchError::Broken { .. }));
    // Silence, before the head and within the body.
    let after = Duration::from_millis(200);
    let silent = serve(|socket, _| async move {
        std::future::pending::<()>().await;
        drop(socket);
    })
    .await;
    let short = Options { timeout: after, ..options() };
    assert_eq!(ask(silent, short).await, FetchError::TimedOut { after });
    let stalled = serve(|mut socket, _| async move {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe").await;
        std::future::pending::<()>().await;
    })
    .await;
    let patient = Options { read_timeout: Some(after), ..options() };
    assert_eq!(ask(stalled, patient).await, FetchError::TimedOut { after });
}

#[tokio::test]
async fn a_stream_outlives_the_time_for_an_exchange() {
    let after = Duration::from_millis(300);
    let address = serve(move |mut socket, _| async move {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
        socket.write_all(head).await.unwrap();
        socket.write_all(b"5\r\nfirst\r\n").await.unwrap();
        tokio::time::sleep(3 * after).await;
        socket.write_all(b"6\r\nsecond\r\n0\r\n\r\n").await.unwrap();
    })
    .await;
    let fetcher = fetcher(address, Options { timeout: after, ..options() });
    let mut stream = fetcher.open(fetcher.get("/events")).await.unwrap();
    assert_eq!((stream.status(), stream.media_type().as_str()), (StatusCode::OK, "text/event-stream"));
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.chunk().await.unwrap() {
        chunks.push(chunk);
    }
    assert_eq!(chunks.concat(), b"firstsecond");
}

/// Set for the child of the test below.
const PROXY: &str = "ZX1_NET_TEST_PROXY";

/// The environment of a process cannot be changed safely, so the test runs itself again with another one.
#[tokio::test]
async fn proxies_of_the_environment_are_ignored_for_this_machine_and_for_no_other() {
    if let Some(proxy) = std::env::var_os(PROXY) {
        return ask_under_a_proxy(proxy.to_str().unwrap()).await;
    }
    let proxy = serve(|mut socket, head| async move {
        let line = head.lines().next().unwrap_or_default().to_owned();
        let body = format!("proxied {line}");
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let _ = socket.write_all(answer.as_bytes()).await;
    })
    .await;
    let proxy = format!("http://{proxy}");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "proxies_of_the_environment_are_ignored_for_this_machine_and_for_no_other"]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, &proxy);
    }
    for name in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
        child.env_remove(name);
    }
    child.env(PROXY, &proxy);
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

async fn ask_under_a_proxy(proxy: &str) {
    let direct = serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect").await;
    let ask = async |base: &str, proxies| {
        let endpoint = Endpoint::parse(base).unwrap();
        let fetcher = Fetcher::new(endpoint, Options { proxies, ..options() }).unwrap();
        let answer = fetcher.fetch(fetcher.get("/"), Limit::Whole(1000)).await;
        answer.map(|answer| String::from_utf8(answer.body).unwrap())
    };
    for host in ["127.0.0.1", "localhost"] {
        let base = format!("http://{host}:{}", direct.port());
        assert_eq!(ask(&base, Proxies::Environment).await.unwrap(), "direct", "{base}");
    }
    for host in ["127.evil.example", "localhost.example"] {
        let said = ask(&format!("http://{host}"), Proxies::Environment).await.unwrap();
        assert_eq!(said, format!("proxied GET http://{host}/ HTTP/1.1"));
        assert!(ask(&format!("http://{host}"), Proxies::Never).await.is_err(), "{host} through {proxy}");
    }
}

#[tokio::test]
async fn for_strangers_addresses_only_the_public_internet_is_reached() {
    let here = serve_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret").await;
    let options = Options { targets: Targets::Public, ..options() };
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "10.0.0.1", "169.254.169.254", "0.0.0.0"] {
        let endpoint = Endpoint::parse(&format!("http://{host}:{}", here.port())).unwrap();
        assert_eq!(Fetcher::new(endpoint, options).unwrap_err(), FetchError::NotPublic, "{host}");
    }
    // A name is judged by what it stands for.
    let endpoint = Endpoint::parse(&format!("http://localhost:{}/a?b=c", here.port())).unwrap_err();
    assert_eq!(endpoint, zx1_net::EndpointError::Query);
    let text = format!("http://localhost:{}/a?b=c", here.port());
    let fetcher = Fetcher::new(Endpoint::parse_with_secrets(&text).unwrap(), options).unwrap();
    let refused = fetcher.fetch(fetcher.get_endpoint(), Limit::Whole(1000)).await.unwrap_err();
    assert!(
        matches!(&refused, FetchError::Unreachable { why } if why.contains("no public address")),
        "{refused}"
    );
    let any = Fetcher::new(Endpoint::parse_with_secrets(&text).unwrap(), self::options()).unwrap();
    assert_eq!(any.fetch(any.get_endpoint(), Limit::Whole(1000)).await.unwrap().body, b"secret");
}
