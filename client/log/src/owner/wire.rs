//! What is said on the owner's socket.
//!
//! ```text
//! frame     length u32 | body length u32 | JSON of that length | body        integers little-endian
//! greeting  {"version":2,"agent":"<hex>"} from the owner, once
//! then      a request, its answer, the next request
//! ```
//!
//! The body is a batch's data for `seal`, else empty. Both ends are programs of the same user, who could write
//! the files as well; lengths and times are limited all the same, so that a broken one cannot fill the memory
//! or hold the owner.

use crate::agent_log::{AgentLog, Appended, Incoming, NonceRule};
use crate::error::{LogError, OwnerRefusal, Result};
use crate::head::{Next, Seen, View};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use zx1_coded::Coded as _;
use zx1_protocol::batch::{BATCH_MESSAGE_LEN, BatchMessage};
use zx1_protocol::bundle::{Bundle, MAX_BUNDLE_BYTES};
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::nonce::{LastNonce, NonceError, ReplayWindow, SeenNonces};
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::{MAX_MESSAGE_SIZE, Reason};

/// Of this protocol. Both ends must have the same.
pub(super) const VERSION: u32 = 2;
/// Longest JSON of a frame: a group of messages in hex, and what stands around them.
const MAX_JSON: usize = 4 * MAX_GROUP_BYTES;
/// Messages in one request.
pub(super) const MAX_GROUP: usize = 256;
/// Bytes of messages in one request; a longer group is sent in parts.
pub(super) const MAX_GROUP_BYTES: usize = 1 << 20;
const _: () = assert!(MAX_MESSAGE_SIZE <= MAX_GROUP_BYTES);

/// A message on its way to the log: all rules but that of the nonce hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entrant {
    #[serde(with = "hexed")]
    pub(crate) envelope: Vec<u8>,
    pub(crate) arrival_micros: u64,
    pub(crate) nonce_rule: NonceRule,
}

/// What an owner is asked to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Request {
    Admit(Vec<Entrant>),
    AppendOwn {
        envelopes: Vec<Bytes>,
        now_micros: u64,
    },
    CheckOwn {
        envelope: Bytes,
        now_micros: u64,
    },
    ReserveNonce {
        channel: u8,
        now_micros: u64,
    },
    SeenNonces {
        sender: Fixed<32>,
        channel: u8,
    },
    FindNear {
        epoch: u64,
        leaf: Fixed<32>,
    },
    PutPayload {
        payload: Bytes,
    },
    PutAttestation {
        conversation: ConversationId,
        rater: Fixed<32>,
        hash: Fixed<32>,
    },
    NextBatch {
        seen: Sight,
    },
    Adopt {
        digest: Fixed<32>,
    },
    /// The bundle is the frame's body.
    Seal {
        message: Box<Fixed<BATCH_MESSAGE_LEN>>,
        signer: Fixed<32>,
        signature: Box<Fixed<64>>,
        seen: Sight,
    },
}

/// A [`Seen`] on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sight {
    network: Fixed<32>,
    tenure_from: u64,
    views: Vec<Look>,
}

/// A [`View`] on the wire.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Look {
    last_epoch: u64,
    digest: Fixed<32>,
    current: u64,
}

impl From<&Seen> for Sight {
    fn from(Seen { network, tenure_from, views }: &Seen) -> Self {
        let views = views.iter().map(|view| Look::from(*view)).collect();
        Self { network: Fixed(*network), tenure_from: tenure_from.0, views }
    }
}

impl From<&Sight> for Seen {
    fn from(Sight { network, tenure_from, views }: &Sight) -> Self {
        let views = views.iter().map(|look| View::from(*look)).collect();
        Self { network: network.0, tenure_from: Epoch(*tenure_from), views }
    }
}

impl From<View> for Look {
    fn from(View { last_epoch, digest, current }: View) -> Self {
        Self { last_epoch: last_epoch.0, digest: Fixed(digest), current: current.0 }
    }
}

impl From<Look> for View {
    fn from(Look { last_epoch, digest, current }: Look) -> Self {
        Self { last_epoch: Epoch(last_epoch), digest: digest.0, current: Epoch(current) }
    }
}

impl Request {
    /// Whether it may be asked again after an answer was lost: whatever was done the first time, doing it
    /// again leaves the log as once would, and the answer is as true. A second nonce only skips one. A message
    /// that is not logged would be refused as a replay of itself.
    pub(super) fn may_be_repeated(&self) -> bool {
        match self {
            Self::Admit(entrants) => entrants.iter().all(|entrant| entrant.nonce_rule == NonceRule::AnyOrder),
            Self::AppendOwn { .. }
            | Self::CheckOwn { .. }
            | Self::ReserveNonce { .. }
            | Self::SeenNonces { .. }
            | Self::FindNear { .. }
            | Self::PutPayload { .. }
            | Self::PutAttestation { .. }
            | Self::NextBatch { .. }
            | Self::Adopt { .. }
            | Self::Seal { .. } => true,
        }
    }
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Done,
    Nonce(u64),
    Seen {
        strict: bool,
        highest: Option<u64>,
        #[serde(with = "hexed")]
        window: Vec<u8>,
    },
    Hash(Fixed<32>),
    Place(Option<Place>),
    Places(Vec<Place>),
    Admitted(Vec<Result<Option<Place>, Fault>>),
    /// A signed batch of this epoch comes next.
    Send(u64),
    /// A new batch comes next.
    Sign(Look),
    Refused(Fault),
}

/// Of the owner, when a connection begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Greeting {
    pub(super) version: u32,
    pub(super) agent: Fixed<32>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    epoch: u64,
    index: u32,
    leaf: Fixed<32>,
    new: bool,
}

impl From<Appended> for Place {
    fn from(Appended { epoch, index, leaf, new }: Appended) -> Self {
        Self { epoch: epoch.0, index, leaf: Fixed(leaf), new }
    }
}

impl From<Place> for Appended {
    fn from(Place { epoch, index, leaf, new }: Place) -> Self {
        Self { epoch: Epoch(epoch), index, leaf: leaf.0, new }
    }
}

/// A [`LogError`]. Those that callers tell apart keep their kind; of the others number and text remain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Fault {
    EpochSealed(u64),
    NotOurs,
    PayloadTooLong(usize),
    MessageTooLong(usize),
    LogFull,
    SenderFull,
    LogChanged,
    WrongBundle,
    SealedDifferently(u64),
    MayStillLand(u64),
    ForeignBatch(u64),
    HeadsDiffer,
    NotIncreasing { last: u64 },
    Replayed { highest: u64 },
    Other { code: u32, sentence: String, of_message: bool, transient: bool },
}

impl From<&LogError> for Fault {
    fn from(error: &LogError) -> Self {
        match error {
            LogError::EpochSealed(epoch) => Self::EpochSealed(epoch.0),
            LogError::SenderFull => Self::SenderFull,
            LogError::NotOurs => Self::NotOurs,
            LogError::PayloadTooLong { len } => Self::PayloadTooLong(*len),
            LogError::MessageTooLong { len } => Self::MessageTooLong(*len),
            LogError::LogFull => Self::LogFull,
            LogError::LogChanged => Self::LogChanged,
            LogError::WrongBundle => Self::WrongBundle,
            LogError::SealedDifferently(epoch) => Self::SealedDifferently(epoch.0),
            LogError::MayStillLand(epoch) => Self::MayStillLand(epoch.0),
            LogError::ForeignBatch(epoch) => Self::ForeignBatch(epoch.0),
            LogError::HeadsDiffer => Self::HeadsDiffer,
            LogError::Rule(Reason::Nonce(NonceError::NotIncreasing { last })) => {
                Self::NotIncreasing { last: *last }
            }
            LogError::Rule(Reason::Nonce(NonceError::Replayed { highest })) => {
                Self::Replayed { highest: *highest }
            }
            other => Self::Other {
                code: other.code(),
                sentence: other.to_string(),
                of_message: other.is_of_message(),
                transient: other.transient(),
            },
        }
    }
}

impl From<Fault> for LogError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::EpochSealed(epoch) => Self::EpochSealed(Epoch(epoch)),
            Fault::SenderFull => Self::SenderFull,
            Fault::NotOurs => Self::NotOurs,
            Fault::PayloadTooLong(len) => Self::PayloadTooLong { len },
            Fault::MessageTooLong(len) => Self::MessageTooLong { len },
            Fault::LogFull => Self::LogFull,
            Fault::LogChanged => Self::LogChanged,
            Fault::WrongBundle => Self::WrongBundle,
            Fault::SealedDifferently(epoch) => Self::SealedDifferently(Epoch(epoch)),
            Fault::MayStillLand(epoch) => Self::MayStillLand(Epoch(epoch)),
            Fault::ForeignBatch(epoch) => Self::ForeignBatch(Epoch(epoch)),
            Fault::HeadsDiffer => Self::HeadsDiffer,
            Fault::NotIncreasing { last } => Self::Rule(Reason::Nonce(NonceError::NotIncreasing { last })),
            Fault::Replayed { highest } => Self::Rule(Reason::Nonce(NonceError::Replayed { highest })),
            Fault::Other { code, sentence, of_message, transient } => {
                Self::ByOwner(OwnerRefusal { code, sentence, of_message, transient })
            }
        }
    }
}

impl Answer {
    pub(super) fn of(outcome: Result<Self>) -> Self {
        outcome.unwrap_or_else(|error| Self::Refused(Fault::from(&error)))
    }

    pub(super) fn of_seen(seen: SeenNonces) -> Self {
        match seen {
            SeenNonces::Strict(last) => Self::Seen { strict: true, highest: last.0, window: Vec::new() },
            SeenNonces::Window(window) => {
                Self::Seen { strict: false, highest: None, window: window.to_bytes().to_vec() }
            }
        }
    }

    pub(super) fn into_seen(self) -> Result<SeenNonces> {
        match self {
            Self::Seen { strict: true, highest, .. } => Ok(SeenNonces::Strict(LastNonce(highest))),
            Self::Seen { window, .. } => {
                let window = window.as_array().and_then(ReplayWindow::from_bytes);
                Ok(SeenNonces::Window(window.ok_or(UNEXPECTED)?))
            }
            _ => Err(UNEXPECTED),
        }
    }
}

/// An answer to another question than the one that was asked.
pub(super) const UNEXPECTED: LogError = LogError::OwnerUnknown("its answer does not fit the request");

/// Does what is asked of a log, but for `Admit`, which goes in groups.
pub(super) fn carry_out(log: &mut AgentLog, request: &Request, body: &[u8]) -> Result<Answer> {
    Ok(match request {
        Request::Admit(entrants) => {
            return admit(log, entrants).map(Answer::Admitted);
        }
        Request::AppendOwn { envelopes, now_micros } => {
            let envelopes =
                envelopes.iter().map(|bytes| Envelope::decode(&bytes.0)).collect::<Result<Vec<_>, _>>()?;
            let places = log.append_own(&envelopes, *now_micros)?;
            Answer::Places(places.into_iter().map(Place::from).collect())
        }
        Request::CheckOwn { envelope, now_micros } => {
            log.check_own(&Envelope::decode(&envelope.0)?, *now_micros)?;
            Answer::Done
        }
        Request::ReserveNonce { channel, now_micros } => {
            Answer::Nonce(log.reserve_nonce(channel_from(*channel)?, *now_micros)?)
        }
        Request::SeenNonces { sender, channel } => {
            Answer::of_seen(log.seen_nonces(&AgentId(sender.0), channel_from(*channel)?))
        }
        Request::FindNear { epoch, leaf } => {
            Answer::Place(log.find_near(Epoch(*epoch), &leaf.0)?.map(Place::from))
        }
        Request::PutPayload { payload } => Answer::Hash(Fixed(log.put_payload(&payload.0)?)),
        Request::PutAttestation { conversation, rater, hash } => {
            log.put_attestation(conversation, &AgentId(rater.0), hash.0)?;
            Answer::Done
        }
        Request::NextBatch { seen } => match log.next_batch(&seen.into())? {
            Next::Send(epoch) => Answer::Send(epoch.0),
            Next::Sign(view) => Answer::Sign(view.into()),
        },
        Request::Adopt { digest } => {
            log.adopt(&digest.0)?;
            Answer::Done
        }
        Request::Seal { message, signer, signature, seen } => {
            let message = BatchMessage::parse(&message.0).ok_or(LogError::NotThisBatch)?;
            log.seal(&Bundle::decode(body)?, &message, signer.0.into(), signature.0, &seen.into())?;
            Answer::Done
        }
    })
}

/// The group of one request, or of several.
pub(super) fn admit<'e>(
    log: &mut AgentLog,
    entrants: impl IntoIterator<Item = &'e Entrant>,
) -> Result<Vec<Result<Option<Place>, Fault>>> {
    let incoming = |entrant: &'e Entrant| {
        let Entrant { envelope, arrival_micros, nonce_rule } = entrant;
        let envelope = Envelope::decode(envelope).map_err(LogError::from)?;
        Ok(Incoming { envelope, arrival_micros: *arrival_micros, nonce_rule: *nonce_rule })
    };
    let mut group = Vec::new();
    // What does not decode keeps its place and is refused alone: the others may be of other clients.
    let broken: Vec<Option<LogError>> = entrants
        .into_iter()
        .map(|entrant| incoming(entrant).map(|message| group.push(message)).err())
        .collect();
    let mut outcomes = log.admit_group(&group)?.into_iter();
    Ok(broken
        .into_iter()
        .map_while(|broken| broken.map_or_else(|| outcomes.next(), |error| Some(Err(error))))
        .map(|one| one.map(|place| place.map(Place::from)).map_err(|error| Fault::from(&error)))
        .collect())
}

fn channel_from(number: u8) -> Result<Channel> {
    Channel::from_number(number).ok_or(LogError::OwnerUnknown("there is no such channel"))
}

/// Writes a frame.
pub(super) fn send(to: &mut impl Write, value: &impl Serialize, body: &[&[u8]]) -> io::Result<()> {
    let json = serde_json::to_vec(value)?;
    let body_len: usize = body.iter().map(|part| part.len()).sum();
    let too_long = || io::Error::from(io::ErrorKind::InvalidInput);
    if json.len() > MAX_JSON || body_len > MAX_BUNDLE_BYTES {
        return Err(too_long());
    }
    let len = u32::try_from(json.len()).map_err(|_| too_long())?.to_le_bytes();
    let body_len = u32::try_from(body_len).map_err(|_| too_long())?.to_le_bytes();
    // In one piece: nearly all frames are short.
    to.write_all(&[&len, &body_len, json.as_slice()].concat())?;
    for part in body {
        to.write_all(part)?;
    }
    to.flush()
}

/// Reads a frame; `None` when the other end has closed the connection between two. `begun` is called with the
/// first byte.
pub(super) fn receive<T: for<'de> Deserialize<'de>, R: Read>(
    from: &mut R,
    begun: impl FnOnce(&mut R),
) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut first = [0];
    if from.read(&mut first)? == 0 {
        return Ok(None);
    }
    begun(from);
    let mut rest = [0; 7];
    from.read_exact(&mut rest)?;
    let ([a], [b, c, d, e, f, g, h]) = (first, rest);
    let limited = |len: [u8; 4], most: usize| {
        let len = usize::try_from(u32::from_le_bytes(len)).ok().filter(|len| *len <= most);
        len.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    };
    let (json, body) = (limited([a, b, c, d], MAX_JSON)?, limited([e, f, g, h], MAX_BUNDLE_BYTES)?);
    let json = read_exactly(from, json)?;
    let body = read_exactly(from, body)?;
    Ok(Some((serde_json::from_slice(&json)?, body)))
}

/// Reads bytes as both ends of the socket would, to their end or to the first frame that is not one. What is
/// read must be written and read again as the same. For fuzzing.
#[cfg(feature = "unchecked")]
pub fn read_frames(bytes: &[u8]) {
    fn read<T: Serialize + for<'de> Deserialize<'de>>(mut from: &[u8]) {
        while let Ok(Some((value, body))) = receive::<T, _>(&mut from, |_| ()) {
            let mut written = Vec::new();
            if send(&mut written, &value, &[&body]).is_ok() {
                let again = receive::<T, _>(&mut written.as_slice(), |_| ()).ok().flatten();
                let same = again.map(|(value, body)| (serde_json::to_value(value).ok(), body));
                assert_eq!(same, Some((serde_json::to_value(value).ok(), body)));
            }
        }
    }
    read::<Greeting>(bytes);
    read::<Request>(bytes);
    read::<Answer>(bytes);
}

/// Takes memory as bytes come, and not for a length that is only said.
fn read_exactly(from: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(len as u64).read_to_end(&mut bytes)?;
    if read == len { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Bytes as hex.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bytes(#[serde(with = "hexed")] pub(super) Vec<u8>);

/// A byte string of fixed length, in hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Bytes", into = "Bytes")]
pub(super) struct Fixed<const N: usize>(pub(super) [u8; N]);

impl<const N: usize> From<Fixed<N>> for Bytes {
    fn from(fixed: Fixed<N>) -> Self {
        Self(fixed.0.to_vec())
    }
}

impl<const N: usize> TryFrom<Bytes> for Fixed<N> {
    type Error = String;

    fn try_from(bytes: Bytes) -> Result<Self, String> {
        bytes.0.try_into().map(Self).map_err(|bytes: Vec<u8>| format!("{} bytes instead of {N}", bytes.len()))
    }
}

mod hexed {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        hex::decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}
