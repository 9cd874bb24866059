//! How an archive travels: `_ft` messages between two agents, which the relay passes on unread.

use crate::client::units;
use crate::defaults::{
    CHUNK_CHARS, CHUNK_SEND_MS, MAX_CONTENT, MAX_DEPTH, MAX_FRAME, MAX_RECEIVE, OFFER_MS, RECEIVE_MS, SEND_MS,
};
use crate::json::Value;
use crate::slurp::sha256;
use crate::{RelayError, Result};

/// What a FILE_CHUNK frame has beside its chunk's data: type, time stamp, addresses, transfer id, numbers.
const FRAME_ROOM: usize = 1_024;
/// Files that one offer names.
const MAX_FILES: usize = 256;

/// The name and size of an offered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its path in the archive.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
}

/// One message about a transfer. `tid` is the transfer's id, chosen by the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Message {
    Offer {
        tid: String,
        files: Vec<Offered>,
        total_size: u64,
        sha256: String,
        chunks: u64,
        sender_nick: String,
    },
    /// `from`: the first chunk wanted, which resumes a transfer; absent from older clients, and then 0.
    Accept {
        tid: String,
        from: u64,
    },
    Reject {
        tid: String,
    },
    Chunk {
        tid: String,
        idx: u64,
        total: u64,
        data: String,
    },
    Complete {
        tid: String,
        sha256: String,
    },
    Ack {
        tid: String,
        ok: bool,
        error: Option<String>,
    },
}

impl Message {
    /// Reads the content of a MSG or FILE_CHUNK.
    ///
    /// # Errors
    ///
    /// [`RelayError::NotATransfer`] for everything else.
    pub fn parse(content: &str) -> Result<Message> {
        if content.len() > MAX_FRAME {
            return Err(RelayError::NotATransfer);
        }
        let value = Value::parse(content, MAX_DEPTH).map_err(|_| RelayError::NotATransfer)?;
        Message::read(&value).ok_or(RelayError::NotATransfer)
    }

    fn read(value: &Value) -> Option<Message> {
        let text = |name: &str, most: usize| {
            value.get(name).and_then(Value::as_text).filter(|text| units(text) <= most).map(str::to_owned)
        };
        let number = |name: &str| value.get(name).and_then(Value::as_whole);
        let hash = || text("sha256", 64).filter(|hash| hash.len() == 64 && hex::decode(hash).is_ok());
        let tid = text("tid", 64).filter(|tid| !tid.is_empty())?;
        Some(match value.get("_ft")?.as_text()? {
            "offer" => {
                let files = value.get("files")?.as_list().filter(|files| files.len() <= MAX_FILES)?;
                let file = |file: &Value| {
                    let name = file.get("name")?.as_text().filter(|name| name.len() <= 1_024)?.to_owned();
                    Some(Offered { name, size: file.get("size")?.as_whole()? })
                };
                Message::Offer {
                    tid,
                    files: files.iter().map(file).collect::<Option<_>>()?,
                    total_size: number("totalSize")?,
                    sha256: hash()?,
                    chunks: number("chunks")?,
                    sender_nick: text("senderNick", 64).unwrap_or_default(),
                }
            }
            "accept" => {
                Message::Accept { tid, from: if value.get("from").is_some() { number("from")? } else { 0 } }
            }
            "reject" => Message::Reject { tid },
            "chunk" => Message::Chunk {
                tid,
                idx: number("idx")?,
                total: number("total")?,
                data: text("data", CHUNK_CHARS)?,
            },
            "complete" => Message::Complete { tid, sha256: hash()? },
            "ack" => {
                let Value::Bool(ok) = value.get("ok")? else { return None };
                Message::Ack { tid, ok: *ok, error: text("error", MAX_CONTENT) }
            }
            _ => return None,
        })
    }

    /// The content, with the fields in the order of existing clients.
    pub fn encode(&self) -> String {
        let head =
            |kind: &str, tid: &str| vec![("_ft".to_owned(), kind.into()), ("tid".to_owned(), tid.into())];
        let mut fields: Vec<(String, Value)>;
        let mut add = Vec::new();
        match self {
            Message::Offer { tid, files, total_size, sha256, chunks, sender_nick } => {
                fields = head("offer", tid);
                let file = |file: &Offered| {
                    Value::object([("name", file.name.as_str().into()), ("size", file.size.into())])
                };
                add.push(("files", Value::List(files.iter().map(file).collect())));
                add.push(("totalSize", (*total_size).into()));
                add.push(("sha256", sha256.as_str().into()));
                add.push(("chunks", (*chunks).into()));
                add.push(("senderNick", sender_nick.as_str().into()));
            }
            Message::Accept { tid, from } => {
                fields = head("accept", tid);
                if *from > 0 {
                    add.push(("from", (*from).into()));
                }
            }
            Message::Reject { tid } => fields = head("reject", tid),
            Message::Chunk { tid, idx, total, data } => {
                fields = head("chunk", tid);
                add.push(("idx", (*idx).into()));
                add.push(("total", (*total).into()));
                add.push(("data", data.as_str().into()));
            }
            Message::Complete { tid, sha256 } => {
                fields = head("complete", tid);
                add.push(("sha256", sha256.as_str().into()));
            }
            Message::Ack { tid, ok, error } => {
                fields = head("ack", tid);
                add.push(("ok", (*ok).into()));
                if let Some(error) = error {
                    add.push(("error", error.as_str().into()));
                }
            }
        }
        fields.extend(add.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Value::Object(fields).stringify()
    }
}

/// The bytes of one character in a frame: its text is escaped in the `_ft` message, and that in the frame.
const fn cost(c: char) -> usize {
    match c {
        '"' | '\\' => 4,
        '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 3,
        '\0'..='\u{1f}' => 7,
        _ => c.len_utf8(),
    }
}

/// Whether this many chunks arrive before the receiver gives up.
///
/// # Errors
///
/// [`RelayError::TooSlow`] above 550 chunks.
pub fn in_time(chunks: usize) -> Result<()> {
    let ms = (chunks as u64).saturating_mul(CHUNK_SEND_MS);
    if ms > SEND_MS { Err(RelayError::TooSlow { ms, most: SEND_MS }) } else { Ok(()) }
}

/// Cuts an archive: a chunk ends at [`CHUNK_CHARS`] UTF-16 units or where its frame would pass [`MAX_FRAME`].
///
/// # Errors
///
/// [`RelayError::TooSlow`] when the chunks would take longer than the receiver waits.
pub fn chunks(archive: &str) -> Result<Vec<&str>> {
    let mut found = Vec::new();
    let (mut start, mut units, mut bytes) = (0, 0, 0);
    for (at, c) in archive.char_indices() {
        let cost = cost(c);
        if units + c.len_utf16() > CHUNK_CHARS || bytes + cost > MAX_FRAME - FRAME_ROOM {
            found.push(archive.get(start..at).unwrap_or_default());
            (start, units, bytes) = (at, 0, 0);
        }
        units += c.len_utf16();
        bytes += cost;
    }
    if start < archive.len() || archive.is_empty() {
        found.push(archive.get(start..).unwrap_or_default());
    }
    in_time(found.len())?;
    Ok(found)
}

/// Where a receiver stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waits for this side's answer.
    Offered,
    /// Accepted; it takes chunks.
    Receiving,
    /// Has ended, whichever way.
    Ended,
}

/// The receiver's half of a transfer.
#[derive(Debug, Clone)]
pub struct Receiver {
    state: State,
    deadline: u64,
    chunks: u64,
    sha256: String,
    next: u64,
    text: String,
}

impl Receiver {
    /// Takes an offer at this time.
    ///
    /// # Errors
    ///
    /// Anything but an offer, more than [`MAX_RECEIVE`] bytes, and numbers of chunks that nobody could send in time.
    pub fn offered(offer: &Message, now: u64) -> Result<Receiver> {
        let Message::Offer { total_size, sha256, chunks, .. } = offer else {
            return Err(RelayError::NotATransfer);
        };
        if *total_size > MAX_RECEIVE {
            return Err(RelayError::ArchiveTooLarge { bytes: *total_size, most: MAX_RECEIVE });
        }
        if *chunks == 0 || *chunks > RECEIVE_MS / crate::defaults::CHUNK_SPACING_MS {
            return Err(RelayError::Chunk);
        }
        Ok(Receiver {
            state: State::Offered,
            deadline: now.saturating_add(OFFER_MS),
            chunks: *chunks,
            sha256: sha256.to_ascii_lowercase(),
            next: 0,
            text: String::new(),
        })
    }

    /// Where it stands at this time.
    pub fn state(&self, now: u64) -> State {
        if now >= self.deadline { State::Ended } else { self.state }
    }

    /// The first chunk that is missing, which `accept` asks for.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Accepts, or resumes after a break within the offer's 30 minutes or a new offer of the same hash.
    ///
    /// # Errors
    ///
    /// [`RelayError::OfferExpired`] at 30 minutes, [`RelayError::TransferState`] when it was accepted or has ended.
    pub fn accept(&mut self, now: u64) -> Result<()> {
        self.expect(State::Offered, now, RelayError::OfferExpired)?;
        self.state = State::Receiving;
        self.deadline = now.saturating_add(RECEIVE_MS);
        Ok(())
    }

    /// Goes on with another offer of the same archive, cut into the same number of chunks; what came is kept.
    ///
    /// # Errors
    ///
    /// [`RelayError::Hash`] when it is another archive.
    pub fn resume(mut self, offer: &Message, now: u64) -> Result<Receiver> {
        let other = Receiver::offered(offer, now)?;
        if other.sha256 != self.sha256 || other.chunks != self.chunks {
            return Err(RelayError::Hash);
        }
        self.state = State::Offered;
        self.deadline = other.deadline;
        Ok(self)
    }

    /// Rejects the offer.
    pub fn reject(&mut self) {
        self.state = State::Ended;
    }

    /// Takes the next chunk. One that came before is passed over, since a resumed sender may repeat it.
    ///
    /// # Errors
    ///
    /// Chunks out of order, too many bytes, the deadline.
    pub fn chunk(&mut self, idx: u64, total: u64, data: &str, now: u64) -> Result<()> {
        self.expect(State::Receiving, now, RelayError::TransferExpired)?;
        if total != self.chunks || idx >= total || idx > self.next {
            return Err(RelayError::Chunk);
        }
        if idx < self.next {
            return Ok(());
        }
        let bytes = (self.text.len() as u64).saturating_add(data.len() as u64);
        if bytes > MAX_RECEIVE {
            self.state = State::Ended;
            return Err(RelayError::ArchiveTooLarge { bytes, most: MAX_RECEIVE });
        }
        self.text.push_str(data);
        self.next += 1;
        Ok(())
    }

    /// Ends it: the archive's text, when it is the offered one.
    ///
    /// # Errors
    ///
    /// [`RelayError::Chunk`] when chunks are missing, [`RelayError::Hash`] when the text is another one.
    pub fn complete(&mut self, hash: &str, now: u64) -> Result<String> {
        self.expect(State::Receiving, now, RelayError::TransferExpired)?;
        if self.next != self.chunks {
            return Err(RelayError::Chunk);
        }
        self.state = State::Ended;
        if !hash.eq_ignore_ascii_case(&self.sha256) || sha256(&self.text) != self.sha256 {
            return Err(RelayError::Hash);
        }
        Ok(std::mem::take(&mut self.text))
    }

    fn expect(&self, state: State, now: u64, late: RelayError) -> Result<()> {
        if self.state != state {
            return Err(RelayError::TransferState);
        }
        if now >= self.deadline { Err(late) } else { Ok(()) }
    }
}
