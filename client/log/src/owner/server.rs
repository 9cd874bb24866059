//! The process that has the log: one thread writes, one lets clients in, one attends to each.

use super::wire::{self, Answer, Entrant, Fixed, Greeting, MAX_GROUP, Request};
use super::{Timed, is_same_user};
use crate::agent_log::AgentLog;
use crate::error::{LogError, Result};
use crate::layout;
use std::fs::{self, File, Permissions};
use std::io;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use zx1_home::socket;
use zx1_protocol::ids::AgentId;

/// How long a group waits for more messages after its first.
const GROUP_WITHIN: Duration = Duration::from_millis(5);
/// How long a client has to send the rest of a request, and to take an answer.
const FRAME_WITHIN: Duration = Duration::from_secs(10);
/// Clients at a time.
const MAX_GUESTS: usize = 64;
/// Pause after a connection that could not be accepted, such as for want of file numbers.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const PRIVATE_SOCKET: u32 = 0o600;

/// Work for the thread that has the log.
#[derive(Debug)]
pub(super) enum Job {
    Ask { request: Request, body: Vec<u8>, reply: Sender<Result<Answer>> },
    Stop,
}

/// The log of this process. The lock is free again when it has been dropped.
#[derive(Debug)]
pub(super) struct Owner {
    jobs: Sender<Job>,
    writer: Option<JoinHandle<()>>,
    /// None where the folder's disk takes no sockets: others then wait for the lock.
    door: Option<Door>,
}

/// Where clients come in.
#[derive(Debug)]
struct Door {
    _folder: Option<File>,
    path: PathBuf,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Owner {
    /// Shares the log. Whoever calls it has the folder's lock, so a socket that is there is of a process that
    /// has ended.
    pub(super) fn start(log: AgentLog) -> Result<Self> {
        let (jobs, work) = mpsc::channel();
        let door = Door::open(log.dir(), log.agent(), jobs.clone()).ok();
        let dir = log.dir().to_owned();
        let writer = Builder::new().name("zx1-log".to_owned()).spawn(move || write(log, &work));
        let writer = Some(writer.map_err(LogError::io("start a thread for", dir))?);
        Ok(Self { jobs, writer, door })
    }

    pub(super) fn jobs(&self) -> Sender<Job> {
        self.jobs.clone()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // First the clients: what they have asked is still carried out and answered.
        self.door = None;
        let _ = self.jobs.send(Job::Stop);
        self.writer.take().map(JoinHandle::join);
    }
}

/// Asks the thread that has the log; `None` when it has ended.
pub(super) fn ask(jobs: &Sender<Job>, request: Request, body: Vec<u8>) -> Option<Result<Answer>> {
    let (reply, answer) = mpsc::channel();
    jobs.send(Job::Ask { request, body, reply }).ok()?;
    answer.recv().ok()
}

/// The thread that has the log.
fn write(mut log: AgentLog, jobs: &Receiver<Job>) {
    let mut next = None;
    while let Some(job) = next.take().or_else(|| jobs.recv().ok()) {
        match job {
            Job::Ask { request: Request::Admit(entrants), reply, .. } => {
                next = write_group(&mut log, jobs, (entrants, reply));
            }
            Job::Ask { request, body, reply } => {
                // Whoever has asked may be gone.
                let _ = reply.send(wire::carry_out(&mut log, &request, &body));
            }
            Job::Stop => return,
        }
    }
}

type Guests = (Vec<Entrant>, Sender<Result<Answer>>);

/// Takes in the messages of this request and of those that follow at once, with one sync. Returns the job that
/// came behind them.
fn write_group(log: &mut AgentLog, jobs: &Receiver<Job>, first: Guests) -> Option<Job> {
    let until = Instant::now() + GROUP_WITHIN;
    let mut count = first.0.len();
    let mut group = vec![first];
    let next = loop {
        if count >= MAX_GROUP {
            break None;
        }
        match jobs.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Job::Ask { request: Request::Admit(entrants), reply, .. })
                if count + entrants.len() <= MAX_GROUP =>
            {
                count += entrants.len();
                group.push((entrants, reply));
            }
            Ok(other) => break Some(other),
            Err(_) => break None,
        }
    };
    match wire::admit(log, group.iter().flat_map(|(entrants, _)| entrants)) {
        Ok(outcomes) => {
            let mut outcomes = outcomes.into_iter();
            for (entrants, reply) in group {
                let own = outcomes.by_ref().take(entrants.len()).collect();
                let _ = reply.send(Ok(Answer::Admitted(own)));
            }
        }
        Err(error) => {
            let fault = wire::Fault::from(&error);
            let mut error = Some(error);
            for (_, reply) in group {
                let _ = reply.send(Err(error.take().unwrap_or_else(|| fault.clone().into())));
            }
        }
    }
    next
}

impl Door {
    fn open(dir: &Path, agent: AgentId, jobs: Sender<Job>) -> io::Result<Self> {
        let (folder, path) = socket::path_in(dir, layout::SOCKET)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // The folder is private, so nobody else comes in between these two.
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(PRIVATE_SOCKET))?;
        let closing = Arc::new(AtomicBool::new(false));
        let closed = closing.clone();
        let thread = Builder::new().name("zx1-log-door".to_owned());
        let thread = Some(thread.spawn(move || let_in(&listener, agent, &jobs, &closed))?);
        Ok(Self { _folder: folder, path, closing, thread })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for the next client.
        let woken = UnixStream::connect(&self.path).is_ok();
        let _ = fs::remove_file(&self.path);
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
    }
}

struct Guest {
    stream: UnixStream,
    thread: JoinHandle<()>,
}

fn let_in(listener: &UnixListener, agent: AgentId, jobs: &Sender<Job>, closing: &AtomicBool) {
    let mut guests: Vec<Guest> = Vec::new();
    for stream in listener.incoming() {
        if closing.load(Ordering::SeqCst) {
            break;
        }
        guests.retain(|guest| !guest.thread.is_finished());
        let Ok(stream) = stream else {
            std::thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        if guests.len() >= MAX_GUESTS || !is_same_user(&stream) {
            continue;
        }
        let (Ok(own), jobs) = (stream.try_clone(), jobs.clone()) else { continue };
        let thread = Builder::new().name("zx1-log-guest".to_owned());
        let attended = thread.spawn(move || {
            // A guest that breaks off, or sends what is not a request, is let go.
            let _ = attend(&own, agent, &jobs);
            let _ = own.shutdown(Shutdown::Both);
        });
        guests.extend(attended.ok().map(|thread| Guest { stream, thread }));
    }
    for Guest { stream, thread } in guests {
        // Nothing new; the answer to what was asked still goes out.
        let _ = stream.shutdown(Shutdown::Read);
        let _ = thread.join();
    }
}

fn attend(stream: &UnixStream, agent: AgentId, jobs: &Sender<Job>) -> io::Result<()> {
    let greeting = Greeting { version: wire::VERSION, agent: Fixed(agent.0) };
    wire::send(&mut Timed::new(stream, Some(FRAME_WITHIN)), &greeting, &[])?;
    // Between two requests a guest may be quiet for as long as it likes.
    let begun = |timed: &mut Timed<'_>| timed.until = Some(Instant::now() + FRAME_WITHIN);
    while let Some((request, body)) = wire::receive(&mut Timed::new(stream, None), begun)? {
        let Some(outcome) = ask(jobs, request, body) else { return Ok(()) };
        wire::send(&mut Timed::new(stream, Some(FRAME_WITHIN)), &Answer::of(outcome), &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_log::NonceRule;
    use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
    use zx1_protocol::hash::{Keccak as _, Sha3};
    use zx1_protocol::units::Slot;

    const AGENT: AgentId = AgentId([1; 32]);

    /// Asks for one message to be taken in.
    fn admit(jobs: &Sender<Job>, nonce: u64) -> Receiver<Result<Answer>> {
        let header = EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: MsgType::Reject,
            sender: &[2; 32],
            recipient: AGENT.as_bytes(),
            timestamp: nonce,
            block_ref: Slot(1),
            nonce,
            conversation_id: &[3; 16],
            payload_hash: &Sha3::hashv(&[]),
            payload_len: 0,
        };
        let envelope = Envelope { header, payload: &[], signature: &[0; 64] }.to_cbor();
        let entrant = Entrant { envelope, arrival_micros: nonce, nonce_rule: NonceRule::Channel };
        put(jobs, Request::Admit(vec![entrant]))
    }

    fn put(jobs: &Sender<Job>, request: Request) -> Receiver<Result<Answer>> {
        let (reply, answer) = mpsc::channel();
        jobs.send(Job::Ask { request, body: Vec::new(), reply }).unwrap();
        answer
    }

    /// Takes the next job, which is messages, and the group that follows.
    fn group(log: &mut AgentLog, work: &Receiver<Job>) -> Option<Job> {
        let Ok(Job::Ask { request: Request::Admit(entrants), reply, .. }) = work.recv() else { panic!() };
        write_group(log, work, (entrants, reply))
    }

    #[test]
    fn a_group_takes_256_messages_and_ends_before_anything_else() {
        let temp = tempfile::tempdir().unwrap();
        let mut log = AgentLog::open(temp.path(), AGENT).unwrap();
        let (jobs, work) = mpsc::channel();
        let answers: Vec<_> = (1..=300).map(|nonce| admit(&jobs, nonce)).collect();
        let nonce = put(&jobs, Request::ReserveNonce { channel: 3, now_micros: 7 });
        let behind = admit(&jobs, 301);
        let answered = |answer: &Receiver<Result<Answer>>| match answer.try_recv() {
            Ok(Ok(Answer::Admitted(outcomes))) => {
                assert!(matches!(outcomes.as_slice(), [Ok(Some(_))]), "{outcomes:?}");
                true
            }
            _ => false,
        };
        assert!(group(&mut log, &work).is_none());
        assert_eq!(answers.iter().filter(|answer| answered(answer)).count(), MAX_GROUP);
        let next = group(&mut log, &work);
        assert_eq!(answers.iter().filter(|answer| answered(answer)).count(), 300 - MAX_GROUP);
        assert!(matches!(next, Some(Job::Ask { request: Request::ReserveNonce { .. }, .. })));
        assert!(nonce.try_recv().is_err() && !answered(&behind), "both are still to come");
    }

    #[test]
    fn what_is_not_a_message_is_refused_alone_and_not_with_the_group_that_it_came_in() {
        let temp = tempfile::tempdir().unwrap();
        let mut log = AgentLog::open(temp.path(), AGENT).unwrap();
        let (jobs, work) = mpsc::channel();
        let before = admit(&jobs, 1);
        let broken = Entrant { envelope: vec![0xff; 40], arrival_micros: 2, nonce_rule: NonceRule::Channel };
        let broken = put(&jobs, Request::Admit(vec![broken]));
        let behind = admit(&jobs, 3);
        drop(jobs);
        assert!(group(&mut log, &work).is_none());
        for good in [before, behind] {
            let answer = good.recv().unwrap();
            assert!(
                matches!(&answer, Ok(Answer::Admitted(places)) if matches!(places[..], [Ok(Some(_))])),
                "{answer:?}"
            );
        }
        let answer = broken.recv().unwrap();
        assert!(
            matches!(&answer, Ok(Answer::Admitted(places)) if matches!(places[..], [Err(_)])),
            "{answer:?}"
        );
    }
}
