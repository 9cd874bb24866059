//! A program that uses another one's log.

use super::wire::{self, Answer, Greeting, Request};
use super::{Timed, is_same_user};
use crate::layout;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use zx1_home::socket;
use zx1_protocol::ids::AgentId;

/// How long an owner has to greet: it does so before it looks at anything else.
const GREETING_WITHIN: Duration = Duration::from_secs(5);
/// How long an owner has to answer: before this request it may have others, and a batch to check.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A connection to the owner.
#[derive(Debug)]
pub(super) struct Client {
    stream: UnixStream,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Broken {
    /// The owner cannot have carried it out: it did not receive all of it.
    NotSent,
    /// The connection ended before the answer.
    Lost,
    /// There was none in time.
    Silent,
    /// It is none that this program understands.
    Unknown(&'static str),
}

impl Client {
    /// Connects to the owner of the folder.
    pub(super) fn connect(dir: &Path, agent: &AgentId) -> Result<Self, Broken> {
        let (_folder, path) = socket::path_in(dir, layout::SOCKET).map_err(|_| Broken::NotSent)?;
        let stream = UnixStream::connect(path).map_err(|_| Broken::NotSent)?;
        if !is_same_user(&stream) {
            return Err(Broken::Unknown("it belongs to another user"));
        }
        let greeting = wire::receive(&mut Timed::new(&stream, Some(GREETING_WITHIN)), |_| ());
        match greeting {
            Ok(Some((Greeting { version: wire::VERSION, agent: owner }, _))) if owner.0 == agent.0 => {
                Ok(Self { stream })
            }
            Ok(Some((Greeting { version: wire::VERSION, .. }, _))) => {
                Err(Broken::Unknown("it is another agent's"))
            }
            Ok(Some(_)) => Err(Broken::Unknown("it is of another version")),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Broken::Unknown("it does not greet as an owner does"))
            }
            // It is ending, or has more guests than it takes.
            Ok(None) | Err(_) => Err(Broken::NotSent),
        }
    }

    /// Sends a request and waits for its answer. After an error the connection is of no more use.
    pub(super) fn ask(&mut self, request: &Request, body: &[&[u8]]) -> Result<Answer, Broken> {
        let mut stream = Timed::new(&self.stream, Some(ANSWER_WITHIN));
        wire::send(&mut stream, request, body).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Broken::Silent,
            io::ErrorKind::InvalidInput => Broken::Unknown("the request is too long for it"),
            _ => Broken::NotSent,
        })?;
        match wire::receive(&mut stream, |_| ()) {
            Ok(Some((answer, _))) => Ok(answer),
            Ok(None) => Err(Broken::Lost),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Broken::Silent,
                io::ErrorKind::InvalidData => Broken::Unknown("its answer cannot be read"),
                _ => Broken::Lost,
            }),
        }
    }
}
