//! Fetching a registration file from where its owner hosts it: a stranger's address, so that size, time and place are
//! bounded.

use crate::defaults::FILE_WITHIN;
use std::time::Duration;
use zx1_net::{Endpoint, Fetcher, Limit, Options, Targets};
use zx1_operator::registration::MAX_FILE;

/// The bytes at this address. On a local cluster it may lie anywhere, otherwise only on the public internet.
///
/// # Errors
/// Why there are none, as a clause.
pub async fn fetch(uri: &str, is_local: bool) -> Result<Vec<u8>, String> {
    fetch_within(uri, is_local, FILE_WITHIN).await
}

async fn fetch_within(uri: &str, is_local: bool, within: Duration) -> Result<Vec<u8>, String> {
    let endpoint = Endpoint::parse_with_secrets(uri).map_err(|error| error.to_string())?;
    let targets = if is_local { Targets::Any } else { Targets::Public };
    let options = Options {
        connect_timeout: within,
        timeout: within,
        targets,
        user_agent: concat!("zx1-node/", env!("CARGO_PKG_VERSION")),
        ..Options::default()
    };
    let fetcher = Fetcher::new(endpoint, options).map_err(|error| error.to_string())?;
    let answer = fetcher.fetch(fetcher.get_endpoint(), Limit::Whole(MAX_FILE)).await;
    let answer = answer.map_err(|error| error.to_string())?;
    if answer.status.is_success() {
        Ok(answer.body)
    } else {
        Err(format!("the server answers with HTTP status {}", answer.status.as_u16()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// Answers everybody with the same bytes, then waits.
    async fn serve(bytes: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut socket, _)) = listener.accept().await {
                let _ = socket.read(&mut [0; 1024]).await;
                let _ = socket.write_all(&bytes).await;
                open.push(socket);
            }
        });
        format!("http://{address}/a.json?x=y")
    }

    #[tokio::test]
    async fn a_file_is_bounded_in_size_time_and_place() {
        let good = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_vec()).await;
        assert_eq!(fetch(&good, true).await.unwrap(), b"{}");
        // A stranger sends nobody to its own machine or network.
        assert!(fetch(&good, false).await.unwrap_err().contains("public internet"));
        assert!(fetch(&good.replace("127.0.0.1", "localhost"), false).await.unwrap_err().contains("public"));
        for uri in ["", "ipfs://bafy", "file:///etc/passwd", "a.json", "http://"] {
            assert!(fetch(uri, true).await.is_err(), "{uri}");
        }
        let moved =
            serve(format!("HTTP/1.1 302 Found\r\nLocation: {good}\r\nContent-Length: 0\r\n\r\n").into());
        assert!(fetch(&moved.await, true).await.unwrap_err().contains("302"));
        let large = vec![b' '; MAX_FILE + 1];
        let said = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec(), large].concat();
        assert!(fetch(&serve(said).await, true).await.unwrap_err().contains("longer than 65536"));
        let hangs = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_vec()).await;
        let ended = fetch_within(&hangs, true, Duration::from_millis(200)).await.unwrap_err();
        assert!(ended.contains("within 200ms"), "{ended}");
    }
}
