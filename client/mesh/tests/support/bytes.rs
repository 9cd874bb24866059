//! Streams of plain bytes, as a stranger's program may write them.

#![allow(unreachable_pub)]

use libp2p::futures::future;
use libp2p::futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::request_response::Codec;
use libp2p::swarm::StreamProtocol;
use std::io;

/// Writes whatever bytes it is given, and reads until the other end closes or resets. A stalling one neither
/// ends its side nor reads.
#[derive(Clone, Default)]
pub struct Bytes {
    pub stalls: bool,
}

impl Codec for Bytes {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = Vec<u8>;

    async fn read_request<T: AsyncRead + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io.read_to_end(&mut bytes).await.map(|_| bytes)
    }

    async fn read_response<T: AsyncRead + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = io.read_to_end(&mut bytes).await;
        // What came before a reset would show here.
        read.map_err(|error| io::Error::new(error.kind(), format!("{bytes:?}"))).map(|_| bytes)
    }

    async fn write_request<T: AsyncWrite + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        bytes: Vec<u8>,
    ) -> io::Result<()> {
        io.write_all(&bytes).await?;
        io.flush().await?;
        if self.stalls { future::pending().await } else { Ok(()) }
    }

    async fn write_response<T: AsyncWrite + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        bytes: Vec<u8>,
    ) -> io::Result<()> {
        io.write_all(&bytes).await
    }
}
