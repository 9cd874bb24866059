//! Canonical CBOR: whatever is decoded is encoded again and must give the very same bytes
//! (decision C1). This catches long forms, indefinite lengths and trailing bytes all at once, and it
//! needs no buffer: the encoder writes into a sink that only compares.

use minicbor::decode::Decoder;
use minicbor::encode::{Encoder, Error, Write};

/// A value with exactly one encoding.
pub(crate) trait Canonical {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>>;

    /// Whether `bytes` are this value's one encoding, no more and no less.
    fn is_encoded_as(&self, bytes: &[u8]) -> bool {
        let mut encoder = Encoder::new(Same(bytes));
        self.write(&mut encoder).is_ok() && encoder.into_writer().0.is_empty()
    }

    /// Writes the encoding to the front of `buffer` and returns its length; `None` if it does not fit.
    fn encode_to(&self, buffer: &mut [u8]) -> Option<usize> {
        let room = buffer.len();
        let mut encoder = Encoder::new(buffer);
        self.write(&mut encoder).ok()?;
        room.checked_sub(encoder.into_writer().len())
    }

    #[cfg(feature = "std")]
    fn encode_to_vec(&self) -> Vec<u8> {
        let mut encoder = Encoder::new(Vec::new());
        // A Vec takes every byte (its error type is Infallible).
        let Ok(()) = self.write(&mut encoder) else { return Vec::new() };
        encoder.into_writer()
    }
}

/// A sink that accepts only the bytes that it was made with, in order.
struct Same<'a>(&'a [u8]);

/// The encoding differs from the bytes.
struct Differs;

impl Write for Same<'_> {
    type Error = Differs;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Differs> {
        self.0 = self.0.strip_prefix(bytes).ok_or(Differs)?;
        Ok(())
    }
}

/// A byte string of exactly `N` bytes, borrowed from the input.
pub(crate) fn byte_array<'a, const N: usize>(decoder: &mut Decoder<'a>) -> Option<&'a [u8; N]> {
    decoder.bytes().ok()?.try_into().ok()
}

/// The head of a definite array of `len` items.
pub(crate) fn array_of(decoder: &mut Decoder<'_>, len: u64) -> Option<()> {
    (decoder.array().ok()? == Some(len)).then_some(())
}
