//! A request's body, within its bounds of size and time.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderMap, header};
use futures_util::{StreamExt as _, TryStreamExt as _};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

/// Why a request's body was refused.
#[derive(Debug)]
pub enum BodyFault {
    /// The body is longer than this limit in bytes, or announces that it is.
    Large(usize),
    /// The body did not arrive in time, or broke off.
    Slow,
    /// The body could not be written to its file.
    File(io::Error),
    /// The body is of another media type than this one.
    Kind(&'static str),
}

/// Whether a body is of the media type, or of none.
///
/// # Errors
///
/// [`BodyFault::Kind`].
pub fn is_of(headers: &HeaderMap, kind: &'static str) -> Result<(), BodyFault> {
    let Some(said) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let said = said.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if said.eq_ignore_ascii_case(kind) { Ok(()) } else { Err(BodyFault::Kind(kind)) }
}

fn fault(error: &axum::BoxError, most: usize) -> BodyFault {
    if error.is::<LengthLimitError>() { BodyFault::Large(most) } else { BodyFault::Slow }
}

/// Refuses at once what says that it is too large.
///
/// # Errors
///
/// [`BodyFault::Large`].
pub fn announced(body: &Body, most: usize) -> Result<(), BodyFault> {
    let said = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if said > most { Err(BodyFault::Large(most)) } else { Ok(()) }
}

/// Reads a body within its limits of size and time.
///
/// # Errors
///
/// [`BodyFault::Large`], [`BodyFault::Slow`].
pub async fn read(body: Body, most: usize, time: Duration) -> Result<Bytes, BodyFault> {
    announced(&body, most)?;
    match tokio::time::timeout(time, Limited::new(body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) => Err(fault(&error, most)),
        Err(_) => Err(BodyFault::Slow),
    }
}

/// Writes a body to a file, part by part as it arrives, within its limits of size and time. Returns
/// the number of bytes; they are in the file, and not flushed to the disk yet.
///
/// # Errors
///
/// All of [`BodyFault`]. The file is then there in part; its owner removes it.
pub async fn spool(body: Body, most: usize, time: Duration, path: &Path) -> Result<u64, BodyFault> {
    announced(&body, most)?;
    let write = async {
        let file = tokio::fs::File::create(path).await.map_err(BodyFault::File)?;
        let mut file = tokio::io::BufWriter::with_capacity(256 << 10, file);
        let mut parts = Limited::new(body, most).into_data_stream().map_err(|error| fault(&error, most));
        let mut bytes = 0_u64;
        while let Some(part) = parts.next().await {
            let part = part?;
            file.write_all(&part).await.map_err(BodyFault::File)?;
            bytes = bytes.saturating_add(part.len() as u64);
        }
        file.flush().await.map_err(BodyFault::File)?;
        Ok(bytes)
    };
    tokio::time::timeout(time, write).await.unwrap_or(Err(BodyFault::Slow))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures_util::stream;

    const LONG: Duration = Duration::from_secs(60);

    fn parts() -> Body {
        let parts = [&b"one "[..], b"two ", b"three"].map(Ok::<_, io::Error>);
        Body::from_stream(stream::iter(parts))
    }

    #[test]
    fn a_media_type_is_compared_without_its_parameters() {
        let of = |said: &str| {
            is_of(&HeaderMap::from_iter([(header::CONTENT_TYPE, said.parse().unwrap())]), "application/json")
        };
        for same in ["application/json", "Application/JSON; charset=utf-8"] {
            of(same).unwrap();
        }
        for other in ["", "text/plain", "application/jsonp", "application/x-www-form-urlencoded"] {
            assert!(matches!(of(other), Err(BodyFault::Kind("application/json"))), "{other}");
        }
        is_of(&HeaderMap::new(), "application/json").unwrap();
    }

    #[tokio::test]
    async fn a_body_within_its_bounds_is_read_whole_ok() {
        assert_eq!(read(parts(), 13, LONG).await.unwrap(), "one two three");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("body");
        assert_eq!(spool(parts(), 13, LONG, &path).await.unwrap(), 13);
        assert_eq!(std::fs::read(&path).unwrap(), b"one two three");
    }

    #[tokio::test]
    async fn one_byte_too_many_fails() {
        assert!(matches!(read(parts(), 12, LONG).await, Err(BodyFault::Large(12))));
        assert!(matches!(read(Body::from("x".repeat(13)), 12, LONG).await, Err(BodyFault::Large(12))));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("body");
        assert!(matches!(spool(parts(), 12, LONG, &path).await, Err(BodyFault::Large(12))));
        // What says so itself is refused before a byte of it is kept.
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(
            spool(Body::from("x".repeat(13)), 12, LONG, &path).await,
            Err(BodyFault::Large(12))
        ));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_body_that_never_ends_fails() {
        let endless = || Body::from_stream(stream::pending::<io::Result<Bytes>>());
        assert!(matches!(read(endless(), 12, Duration::from_millis(10)).await, Err(BodyFault::Slow)));
        let broken = [Ok(Bytes::from("x")), Err(io::Error::other("gone"))];
        assert!(matches!(
            read(Body::from_stream(stream::iter(broken)), 12, LONG).await,
            Err(BodyFault::Slow)
        ));
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_made_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/body");
        assert!(matches!(spool(parts(), 13, LONG, &path).await, Err(BodyFault::File(_))));
    }
}
