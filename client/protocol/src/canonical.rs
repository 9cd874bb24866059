//! Canonical CBOR (decision C1): definite lengths, shortest forms, nothing behind the value.
//!
//! minicbor writes. Reading is done here, because a program reads too: our formats are fixed sequences of
//! integers, byte strings and one bool (off chain also of texts, and maps whose keys have one order), for
//! which a reader is a page, and a tenth of a general decoder's code. It reads any form that is well formed and remembers whether each was the shortest, so that
//! bytes that mean nothing and bytes that are not canonical are told apart, in whatever order they come.

use crate::bytes::Reader;
use minicbor::encode::{Encoder, Error, Write};

/// A value with exactly one encoding.
pub(crate) trait Canonical {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>>;

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

// The major types that our formats use: the upper three bits of an item's first byte.
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
#[cfg(feature = "std")]
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
#[cfg(feature = "std")]
const MAP: u8 = 5;

// The lower five bits: below this the number itself, from it on the width of what follows.
const ONE_BYTE: u8 = 24;
const TWO_BYTES: u8 = 25;
const FOUR_BYTES: u8 = 26;
const EIGHT_BYTES: u8 = 27;

const FALSE: u8 = 0xf4;
const TRUE: u8 = 0xf5;

/// Takes items off the front of CBOR bytes; `None` for anything but the item that is asked for.
pub(crate) struct CborReader<'a> {
    rest: Reader<'a>,
    canonical: bool,
}

impl<'a> CborReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: Reader::new(bytes), canonical: true }
    }

    /// Whether everything was read, and in the one form that it has.
    pub(crate) fn is_canonical(&self) -> bool {
        self.canonical && self.rest.is_empty()
    }

    /// The head of a definite array of `len` items.
    pub(crate) fn array_of(&mut self, len: u64) -> Option<()> {
        (self.number(ARRAY)? == len).then_some(())
    }

    /// The head of a definite array: its length.
    #[cfg(feature = "std")]
    pub(crate) fn array(&mut self) -> Option<u64> {
        self.number(ARRAY)
    }

    /// The head of a definite map: how many keys it has.
    #[cfg(feature = "std")]
    pub(crate) fn map(&mut self) -> Option<u64> {
        self.number(MAP)
    }

    /// This key and no other. The caller asks for keys in their canonical order, so each comes once.
    #[cfg(feature = "std")]
    pub(crate) fn key(&mut self, key: &str) -> Option<()> {
        (self.text()? == key).then_some(())
    }

    #[cfg(feature = "std")]
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let len = self.number(TEXT)?;
        core::str::from_utf8(self.rest.slice(usize::try_from(len).ok()?)?).ok()
    }

    #[cfg(feature = "std")]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.unsigned()?.try_into().ok()
    }

    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        self.number(UNSIGNED)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.unsigned()?.try_into().ok()
    }

    pub(crate) fn i8(&mut self) -> Option<i8> {
        if self.next_major()? == NEGATIVE {
            // -1 - n, which is the complement of n.
            i8::try_from(self.number(NEGATIVE)?).ok().map(|number| !number)
        } else {
            i8::try_from(self.unsigned()?).ok()
        }
    }

    pub(crate) fn bool(&mut self) -> Option<bool> {
        match self.rest.u8()? {
            FALSE => Some(false),
            TRUE => Some(true),
            _ => None,
        }
    }

    #[inline(never)]
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number(BYTES)?;
        self.rest.slice(usize::try_from(len).ok()?)
    }

    /// A byte string of exactly `N` bytes, borrowed from the input.
    pub(crate) fn byte_array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        self.bytes()?.try_into().ok()
    }

    fn next_major(&self) -> Option<u8> {
        self.rest.rest().first().map(|first| first >> 5)
    }

    /// The number in the head of an item of this major type: a value or a length.
    #[inline(never)]
    fn number(&mut self, major: u8) -> Option<u64> {
        let first = self.rest.u8()?;
        if first >> 5 != major {
            return None;
        }
        let short = first & 0x1f;
        let width: usize = match short {
            ..ONE_BYTE => return Some(short.into()),
            ONE_BYTE => 1,
            TWO_BYTES => 2,
            FOUR_BYTES => 4,
            EIGHT_BYTES => 8,
            _ => return None,
        };
        let mut number = 0;
        for byte in self.rest.slice(width)? {
            number = number << 8 | u64::from(*byte);
        }
        // The shortest form holds nothing that the next smaller one could hold.
        let smaller = match short {
            ONE_BYTE => u64::from(ONE_BYTE),
            TWO_BYTES => 1 << 8,
            FOUR_BYTES => 1 << 16,
            _ => 1 << 32,
        };
        self.canonical &= number >= smaller;
        Some(number)
    }
}
