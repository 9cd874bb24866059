//! Reading and writing fixed-width packed bytes without indexing, so that no input can make it panic.

/// Takes fixed-width fields off the front of a slice; `None` once it is too short.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|&[byte]| byte)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Puts fields one after the other into a buffer that the caller has made large enough; what would not
/// fit is dropped, which the length in the caller's test would show.
pub(crate) struct Writer<'a> {
    buffer: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, at: 0 }
    }

    pub(crate) fn put(&mut self, field: &[u8]) -> &mut Self {
        let end = self.at.saturating_add(field.len());
        if let Some(place) = self.buffer.get_mut(self.at..end) {
            place.copy_from_slice(field);
            self.at = end;
        }
        self
    }

    /// The part that has been written.
    pub(crate) fn finish(self) -> &'a [u8] {
        let Self { buffer, at } = self;
        buffer.get(..at).unwrap_or_default()
    }
}
