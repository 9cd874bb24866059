//! The codec of direct streams: one envelope, one answer (see [`crate::wire`]).

use crate::defaults::DIRECT_FIRST_BYTES;
use crate::drops::{Counters, Dropped};
use crate::wire::{
    ACK, ACK_FRAME, FrameError, LENGTH_BYTES, answer_length, envelope_length, envelope_prefix,
};
use libp2p::futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::request_response::Codec;
use libp2p::swarm::StreamProtocol;
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// What the recipient of an envelope does with the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The envelope is valid and on disk: `ACK` is written.
    Acknowledge,
    /// Nothing is written, and the stream is dropped, whatever the reason: yamux resets it, or only ends it when
    /// the sender has closed its own side before.
    Reset,
}

/// What a peer did to a frame that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It announced no envelope: no bytes, or more than one has.
    Length,
    /// The stream ended before all of it had come.
    CutOff,
}

/// What comes or goes by a direct stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The envelope's bytes.
    Envelope(Vec<u8>),
    /// None could be read. It is handed on like one, because libp2p tells nobody of a request that failed.
    Broken(Fault),
}

/// Reads and writes the two frames of a direct stream.
#[derive(Debug, Clone, Default)]
pub struct DirectCodec {
    counters: Arc<Counters>,
}

impl DirectCodec {
    /// A codec that counts frames it does not take as [`Dropped::Frame`].
    pub fn new(counters: Arc<Counters>) -> Self {
        Self { counters }
    }
}

impl Codec for DirectCodec {
    type Protocol = StreamProtocol;
    type Request = Frame;
    type Response = Answer;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        let frame = read_frame(io).await;
        if matches!(frame, Frame::Broken(_)) {
            self.counters.drop_one(Dropped::Frame);
        }
        Ok(frame)
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Answer>
    where
        T: AsyncRead + Unpin + Send,
    {
        let length = answer_length(read_prefix(io).await?).map_err(invalid)?;
        let mut answer = [0; ACK.len()];
        io.read_exact(answer.get_mut(..length).ok_or(ErrorKind::InvalidData)?).await?;
        if &answer == ACK { Ok(Answer::Acknowledge) } else { Err(ErrorKind::InvalidData.into()) }
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, frame: Frame) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        let Frame::Envelope(envelope) = frame else { return Err(ErrorKind::InvalidInput.into()) };
        io.write_all(&envelope_prefix(&envelope).map_err(invalid)?).await?;
        io.write_all(&envelope).await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, answer: Answer) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        match answer {
            Answer::Acknowledge => io.write_all(&ACK_FRAME).await,
            // The error makes libp2p drop the stream; an answer that is merely omitted would close it.
            Answer::Reset => Err(ErrorKind::ConnectionReset.into()),
        }
    }
}

/// Reads the frame of an envelope, of which it takes no more memory than has come.
pub async fn read_frame<T: AsyncRead + Unpin + Send>(io: &mut T) -> Frame {
    match read_envelope(io).await {
        Ok(envelope) => Frame::Envelope(envelope),
        Err(error) if error.kind() == ErrorKind::InvalidData => Frame::Broken(Fault::Length),
        Err(_) => Frame::Broken(Fault::CutOff),
    }
}

async fn read_envelope<T: AsyncRead + Unpin + Send>(io: &mut T) -> io::Result<Vec<u8>> {
    let length = envelope_length(read_prefix(io).await?).map_err(invalid)?;
    // Room grows with what comes, so that a peer pays for memory with bytes.
    let mut envelope = Vec::with_capacity(length.min(DIRECT_FIRST_BYTES));
    let limit = u64::try_from(length).map_err(|_| ErrorKind::InvalidData)?;
    io.take(limit).read_to_end(&mut envelope).await?;
    if envelope.len() == length { Ok(envelope) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

async fn read_prefix<T: AsyncRead + Unpin + Send>(io: &mut T) -> io::Result<[u8; LENGTH_BYTES]> {
    let mut first = [0; LENGTH_BYTES];
    io.read_exact(&mut first).await?;
    Ok(first)
}

fn invalid(error: FrameError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::DIRECT_PROTOCOL;
    use libp2p::futures::io::Cursor;
    use proptest::prelude::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A stream that ends the test when anything is read after the length.
    struct OnlyPrefix(Cursor<[u8; 4]>);

    impl AsyncRead for OnlyPrefix {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            to: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            assert!(self.0.position() < 4, "the codec read on after the length");
            Pin::new(&mut self.0).poll_read(cx, to)
        }
    }

    async fn written(envelope: &[u8]) -> Vec<u8> {
        let mut io = Cursor::new(Vec::new());
        let frame = Frame::Envelope(envelope.to_vec());
        DirectCodec::default().write_request(&DIRECT_PROTOCOL, &mut io, frame).await.unwrap();
        io.into_inner()
    }

    async fn read(bytes: &[u8]) -> Frame {
        DirectCodec::default().read_request(&DIRECT_PROTOCOL, &mut Cursor::new(bytes)).await.unwrap()
    }

    #[tokio::test]
    async fn a_length_that_is_too_large_is_refused_before_anything_else_is_read() {
        for length in [65_537_u32, u32::MAX, 0] {
            let mut io = OnlyPrefix(Cursor::new(length.to_le_bytes()));
            assert_eq!(read_frame(&mut io).await, Frame::Broken(Fault::Length));
        }
    }

    #[tokio::test]
    async fn a_promise_of_many_bytes_sets_few_aside() {
        let short = [&65_536_u32.to_le_bytes()[..], b"only this"].concat();
        assert_eq!(read(&short).await, Frame::Broken(Fault::CutOff));
        assert_eq!(read(b"").await, Frame::Broken(Fault::CutOff));
    }

    #[tokio::test]
    async fn only_the_three_bytes_are_an_acknowledgement() {
        for (bytes, good) in
            [(&b"\x03\0\0\0ACK"[..], true), (b"\x03\0\0\0NAK", false), (b"\x02\0\0\0AC", false), (b"", false)]
        {
            let answer =
                DirectCodec::default().read_response(&DIRECT_PROTOCOL, &mut Cursor::new(bytes)).await;
            assert_eq!(answer.is_ok(), good, "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn a_refusal_writes_nothing() {
        let mut io = Cursor::new(Vec::new());
        let refused = DirectCodec::default().write_response(&DIRECT_PROTOCOL, &mut io, Answer::Reset).await;
        assert_eq!((refused.unwrap_err().kind(), io.into_inner().len()), (ErrorKind::ConnectionReset, 0));
        let mut io = Cursor::new(Vec::new());
        DirectCodec::default().write_response(&DIRECT_PROTOCOL, &mut io, Answer::Acknowledge).await.unwrap();
        assert_eq!(io.into_inner(), ACK_FRAME);
    }

    #[tokio::test]
    async fn an_envelope_that_is_too_long_is_not_sent() {
        let mut io = Cursor::new(Vec::new());
        for frame in [Frame::Envelope(vec![0; 65_537]), Frame::Broken(Fault::CutOff)] {
            let refused = DirectCodec::default().write_request(&DIRECT_PROTOCOL, &mut io, frame).await;
            assert!(refused.is_err() && io.get_ref().is_empty());
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(envelope in prop::collection::vec(any::<u8>(), 1..2_000)) {
            let back = libp2p::futures::FutureExt::now_or_never(async {
                read(&written(&envelope).await).await
            });
            prop_assert_eq!(back, Some(Frame::Envelope(envelope)));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = libp2p::futures::FutureExt::now_or_never(read(&bytes));
        }
    }
}
