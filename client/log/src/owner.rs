//! One owner of an agent's log, and everybody else through its socket.
//!
//! The process that has the folder's lock owns the log. It listens on `log.sock` in the folder, which only
//! the same user can reach; every other program of the agent becomes its client when it opens the log, and
//! does not notice. Reading needs neither lock nor owner ([`LogReader`]).
//!
//! # What a crash can do
//!
//! A killed owner loses lock and connections at once. Its clients open the log again with their next request:
//! one of them gets the lock, removes the socket that was left and is the owner now. A request whose answer
//! was lost is asked again when doing it twice is doing it once (own messages are found by their leaf, a
//! second nonce only skips one); otherwise it fails with 7204, because nobody knows whether it was carried
//! out. There are never two writers: nothing writes without the lock.

mod client;
mod server;
mod wire;

use crate::agent_log::{AgentLog, Appended, Recovery};
use crate::batches::SavedBatches;
use crate::disk;
use crate::error::{LogError, Result};
use crate::head::{Next, Seen};
use crate::reader::LogReader;
use client::{Broken, Client};
use server::Owner;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wire::{Answer, Bytes, Fixed, MAX_GROUP, MAX_GROUP_BYTES, Request, UNEXPECTED};
use zx1_protocol::batch::{BatchMessage, Covered};
use zx1_protocol::behavior_batch::Built;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::units::{Epoch, Slot};

pub(crate) use wire::Entrant;
#[cfg(feature = "unchecked")]
pub use wire::read_frames;

/// Pause before lock and socket are tried again.
const OPEN_POLL: Duration = Duration::from_millis(20);
/// How often a request is asked again after its owner was lost.
const TRIES: u32 = 3;

/// An agent's log, whoever has it. Clones share one connection, or the ownership.
///
/// All methods block, at most until the owner answers; in asynchronous code call them on a thread for
/// blocking work.
#[derive(Clone, Debug)]
pub struct LogHandle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: PathBuf,
    agent: AgentId,
    patience: Duration,
    recovery: Recovery,
    face: Mutex<Face>,
}

/// Which side of the socket this process is on.
#[derive(Debug)]
enum Face {
    Owner(Owner),
    Client(Client),
    /// The owner was lost; the next request opens the log again.
    Gone,
}

/// Outcome of a request to the owner.
enum Asked {
    Answered(Answer),
    /// The owner was gone before it had all of the request.
    NotSent,
    /// It was gone before it answered.
    Lost,
}

impl LogHandle {
    /// Opens the agent's log; makes the folder if there is none. The first process owns the log and shares
    /// it, the next ones are its clients. Waits up to `patience` for a process that has the lock and does not
    /// answer: it is starting, or ending, or repairs the log. The same goes for later requests that find
    /// their owner gone.
    pub fn open(dir: impl AsRef<Path>, agent: AgentId, patience: Duration) -> Result<Self> {
        let dir = dir.as_ref().to_owned();
        disk::create_dir(&dir)?;
        let (face, recovery) = Face::open(&dir, agent, patience)?;
        let shared = Shared { dir, agent, patience, recovery, face: Mutex::new(face) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The agent whose log it is.
    pub fn agent(&self) -> AgentId {
        self.shared.agent
    }

    /// Whether this process has the log, and other programs come to it.
    pub fn is_owner(&self) -> bool {
        matches!(*self.face(), Face::Owner(_))
    }

    /// What opening put right, if this process became the owner then.
    pub fn recovery(&self) -> &Recovery {
        &self.shared.recovery
    }

    /// A reader of the folder.
    pub fn reader(&self) -> LogReader {
        LogReader::new(self.shared.dir.clone(), self.shared.agent)
    }

    /// The batches that were signed.
    pub fn batches(&self) -> SavedBatches {
        self.reader().batches()
    }

    /// The batch of these epochs: see [`LogReader::build`].
    pub fn build(&self, covered: Covered, slot_start: Slot, slot_end: Slot) -> Result<Built> {
        self.reader().build(covered, slot_start, slot_end)
    }

    /// The payload of this hash: see [`LogReader::payload`].
    pub fn payload(&self, hash: &Hash) -> Result<Option<Vec<u8>>> {
        self.reader().payload(hash)
    }

    /// Adds a message of this agent: see [`AgentLog::append_own`].
    pub fn append_own(&self, envelope: &Envelope<'_>, now_micros: u64) -> Result<Appended> {
        let request = Request::AppendOwn { envelopes: vec![Bytes(envelope.to_cbor())], now_micros };
        match self.ask(&request, &[])? {
            Answer::Places(places) => places.first().map(|place| (*place).into()).ok_or(UNEXPECTED),
            _ => Err(UNEXPECTED),
        }
    }

    /// Whether [`Self::append_own`] would take the message: see [`AgentLog::check_own`].
    pub fn check_own(&self, envelope: &Envelope<'_>, now_micros: u64) -> Result<()> {
        self.done(&Request::CheckOwn { envelope: Bytes(envelope.to_cbor()), now_micros }, &[])
    }

    /// A nonce for the next message on this channel: see [`AgentLog::reserve_nonce`].
    pub fn reserve_nonce(&self, channel: Channel, now_micros: u64) -> Result<u64> {
        match self.ask(&Request::ReserveNonce { channel: channel.number(), now_micros }, &[])? {
            Answer::Nonce(nonce) => Ok(nonce),
            _ => Err(UNEXPECTED),
        }
    }

    /// The nonces that were accepted from this sender on this channel.
    pub fn seen_nonces(&self, sender: &AgentId, channel: Channel) -> Result<SeenNonces> {
        let request = Request::SeenNonces { sender: Fixed(sender.0), channel: channel.number() };
        self.ask(&request, &[])?.into_seen()
    }

    /// Stores a payload by itself: see [`AgentLog::put_payload`].
    pub fn put_payload(&self, payload: &[u8]) -> Result<Hash> {
        match self.ask(&Request::PutPayload { payload: Bytes(payload.to_vec()) }, &[])? {
            Answer::Hash(hash) => Ok(hash.0),
            _ => Err(UNEXPECTED),
        }
    }

    /// Keeps the hash of a rating's attestation: see [`AgentLog::put_attestation`].
    pub fn put_attestation(&self, conversation: &ConversationId, rater: &AgentId, hash: Hash) -> Result<()> {
        let (conversation, rater, hash) = (*conversation, Fixed(rater.0), Fixed(hash));
        self.done(&Request::PutAttestation { conversation, rater, hash }, &[])
    }

    /// The hash that [`Self::put_attestation`] kept.
    pub fn attestation(&self, conversation: &ConversationId, rater: &AgentId) -> Result<Option<Hash>> {
        self.reader().attestation(conversation, rater)
    }

    /// What comes next of this agent's batches: see [`AgentLog::next_batch`].
    pub fn next_batch(&self, seen: &Seen) -> Result<Next> {
        match self.ask(&Request::NextBatch { seen: seen.into() }, &[])? {
            Answer::Send(epoch) => Ok(Next::Send(Epoch(epoch))),
            Answer::Sign(view) => Ok(Next::Sign(view.into())),
            _ => Err(UNEXPECTED),
        }
    }

    /// Goes on from a head that was moved elsewhere: see [`AgentLog::adopt`].
    pub fn adopt(&self, digest: &Hash) -> Result<()> {
        self.done(&Request::Adopt { digest: Fixed(*digest) }, &[])
    }

    /// Saves a signed batch and closes its epochs: see [`AgentLog::seal`].
    pub fn seal(
        &self,
        bundle: &Bundle<'_>,
        message: &BatchMessage,
        signer: WalletKey,
        signature: [u8; 64],
        seen: &Seen,
    ) -> Result<()> {
        let (message, signer) = (Box::new(Fixed(message.to_bytes())), Fixed(signer.to_bytes()));
        let request =
            Request::Seal { message, signer, signature: Box::new(Fixed(signature)), seen: seen.into() };
        self.done(&request, &bundle.parts().slices())
    }

    /// The messages' places in the log, each for itself: see [`AgentLog::admit_group`]. Longer groups go in
    /// parts.
    pub(crate) fn admit(&self, entrants: Vec<Entrant>) -> Result<Vec<Result<Option<Appended>>>> {
        let mut places = Vec::with_capacity(entrants.len());
        let (mut part, mut bytes) = (Vec::new(), 0);
        for entrant in entrants {
            let len = entrant.envelope.len();
            if part.len() == MAX_GROUP || bytes + len > MAX_GROUP_BYTES {
                places.extend(self.admit_part(std::mem::take(&mut part))?);
                bytes = 0;
            }
            bytes += len;
            part.push(entrant);
        }
        places.extend(self.admit_part(part)?);
        Ok(places)
    }

    fn admit_part(&self, entrants: Vec<Entrant>) -> Result<Vec<Result<Option<Appended>>>> {
        let count = entrants.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        match self.ask(&Request::Admit(entrants), &[])? {
            Answer::Admitted(outcomes) if outcomes.len() == count => {
                let outcomes = outcomes.into_iter();
                Ok(outcomes.map(|one| Ok(one.map_err(LogError::from)?.map(Appended::from))).collect())
            }
            _ => Err(UNEXPECTED),
        }
    }

    /// Where the entry with this leaf is, if it is in the epoch or in one beside it.
    pub(crate) fn find_near(&self, epoch: Epoch, leaf: Hash) -> Result<Option<Appended>> {
        match self.ask(&Request::FindNear { epoch: epoch.0, leaf: Fixed(leaf) }, &[])? {
            Answer::Place(place) => Ok(place.map(Appended::from)),
            _ => Err(UNEXPECTED),
        }
    }

    fn done(&self, request: &Request, body: &[&[u8]]) -> Result<()> {
        match self.ask(request, body)? {
            Answer::Done => Ok(()),
            _ => Err(UNEXPECTED),
        }
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        self.shared.face.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, request: &Request, body: &[&[u8]]) -> Result<Answer> {
        for _ in 0..TRIES {
            match self.ask_once(request, body)? {
                Asked::Answered(Answer::Refused(fault)) => return Err(fault.into()),
                Asked::Answered(answer) => return Ok(answer),
                Asked::NotSent => {}
                Asked::Lost if request.may_be_repeated() => {}
                Asked::Lost => return Err(LogError::OwnerLost),
            }
        }
        Err(LogError::OwnerLost)
    }

    fn ask_once(&self, request: &Request, body: &[&[u8]]) -> Result<Asked> {
        let Shared { dir, agent, patience, .. } = &*self.shared;
        let mut face = self.face();
        if matches!(*face, Face::Gone) {
            *face = Face::open(dir, *agent, *patience)?.0;
        }
        let broken = match &mut *face {
            Face::Owner(owner) => {
                let jobs = owner.jobs();
                // Others may ask meanwhile, and their messages come into one group.
                drop(face);
                if let Some(outcome) = server::ask(&jobs, request.clone(), body.concat()) {
                    return outcome.map(Asked::Answered);
                }
                *self.face() = Face::Gone;
                return Ok(Asked::Lost);
            }
            Face::Client(client) => match client.ask(request, body) {
                Ok(answer) => return Ok(Asked::Answered(answer)),
                Err(broken) => broken,
            },
            Face::Gone => return Ok(Asked::NotSent),
        };
        *face = Face::Gone;
        match broken {
            Broken::NotSent => Ok(Asked::NotSent),
            Broken::Lost => Ok(Asked::Lost),
            Broken::Silent => Err(LogError::OwnerSilent),
            Broken::Unknown(why) => Err(LogError::OwnerUnknown(why)),
        }
    }
}

impl Face {
    fn open(dir: &Path, agent: AgentId, patience: Duration) -> Result<(Self, Recovery)> {
        let begun = Instant::now();
        loop {
            match disk::lock(dir, Duration::ZERO) {
                Ok(lock) => {
                    let log = AgentLog::open_locked(dir.to_owned(), agent, lock)?;
                    let recovery = log.recovery().clone();
                    return Ok((Self::Owner(Owner::start(log)?), recovery));
                }
                Err(LogError::InUse { .. }) => {}
                Err(error) => return Err(error),
            }
            match Client::connect(dir, &agent) {
                Ok(client) => return Ok((Self::Client(client), Recovery::default())),
                Err(Broken::Unknown(why)) => return Err(LogError::OwnerUnknown(why)),
                Err(_) if begun.elapsed() >= patience => {
                    return Err(LogError::InUse { path: dir.to_owned() });
                }
                Err(_) => std::thread::sleep(OPEN_POLL),
            }
        }
    }
}

/// Whether the other end is a process of this user. Elsewhere than on Linux the folder's permissions are all
/// that keeps others out.
fn is_same_user(stream: &UnixStream) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid());
    #[cfg(not(target_os = "linux"))]
    true
}

/// A stream whose reads and writes end together at one time.
struct Timed<'s> {
    stream: &'s UnixStream,
    until: Option<Instant>,
}

impl<'s> Timed<'s> {
    fn new(stream: &'s UnixStream, limit: Option<Duration>) -> Self {
        Self { stream, until: limit.map(|limit| Instant::now() + limit) }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(until) = self.until else { return Ok(None) };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
