//! The model's broker: the runner asks over the capsule's own loopback, and only here a model is reached.
//!
//! What is asked and answered is in the transcript before the runner sees the answer, so it is there whatever happens
//! to the runner. The budget belongs to the capsule. No key is inside the jail.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use zx1_home::{Clock, files, socket};

use crate::caps::Budget;
use crate::error::{CapsuleError, Result};
use crate::listen::{self, Listening};

const HEAD_MAX: u64 = 16 << 10;
const BODY_MAX: usize = 4 << 20;
const TIME: Duration = Duration::from_secs(600);
/// Characters of a text that the transcript keeps.
const TEXT_MAX: usize = 4_000;

/// Something that answers.
pub trait Model: Send {
    /// `{system, messages, tools}` in, `{text, calls: [{tool, arguments}], tokens}` out.
    ///
    /// # Errors
    /// Why it did not answer, in words.
    fn answer(&mut self, request: &Value) -> Result<Value, String>;
}

/// A program at a unix socket that reads a line of JSON and writes one: scripts and tests.
#[derive(Debug)]
pub struct Scripted(PathBuf);

impl Scripted {
    /// The program that listens there.
    #[must_use]
    pub fn at(path: &Path) -> Scripted {
        Scripted(path.to_owned())
    }
}

impl Model for Scripted {
    fn answer(&mut self, request: &Value) -> Result<Value, String> {
        let say = |error: io::Error| format!("the scripted model: {error}");
        let name = self.0.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (_folder, path) = socket::path_in(files::folder_of(&self.0), name).map_err(say)?;
        let mut stream = UnixStream::connect(path).map_err(say)?;
        stream.set_read_timeout(Some(TIME)).map_err(say)?;
        stream.write_all(format!("{request}\n").as_bytes()).map_err(say)?;
        let mut line = String::new();
        BufReader::new(stream.take(u64::try_from(BODY_MAX).unwrap_or(u64::MAX)))
            .read_line(&mut line)
            .map_err(say)?;
        serde_json::from_str(&line).map_err(|error| format!("the scripted model: {error}"))
    }
}

struct Inner {
    model: Box<dyn Model>,
    budget: Budget,
}

/// Serves one capsule's model.
pub struct ModelBroker {
    inner: Mutex<Inner>,
    home: PathBuf,
    clock: Arc<dyn Clock>,
}

impl ModelBroker {
    /// The broker of a capsule's folder. The budget goes on where it was.
    ///
    /// # Errors
    /// 7965.
    pub fn open(home: &Path, model: Box<dyn Model>, clock: Arc<dyn Clock>) -> Result<ModelBroker> {
        let failed = CapsuleError::repository("reading the budget");
        files::make_private_folder(home).map_err(&failed)?;
        let saved = files::read_if_there(&home.join("budget.json")).map_err(&failed)?;
        let budget = saved.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Ok(ModelBroker { inner: Mutex::new(Inner { model, budget }), home: home.to_owned(), clock })
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tokens and seconds that are left.
    #[must_use]
    pub fn left(&self) -> (u64, u64) {
        let inner = self.inner();
        (inner.budget.tokens_left(), inner.budget.seconds_left(self.clock.unix_ms()))
    }

    /// Serves one generation on a listening socket, until the value is dropped.
    ///
    /// # Errors
    /// 7965.
    pub fn listen(self: &Arc<Self>, listener: TcpListener, generation: u64) -> Result<Listening> {
        let broker = Arc::clone(self);
        let serve = move |connection: OwnedFd| drop(broker.one(TcpStream::from(connection), generation));
        listen::listen(listener.into(), serve).map_err(CapsuleError::repository("listening"))
    }

    fn one(&self, mut stream: TcpStream, generation: u64) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.set_write_timeout(Some(Duration::from_secs(30)))?;
        let (status, wait, body) = match read_request(&stream) {
            Ok(request) => match self.answer(&request, generation) {
                Ok(answer) => ("200 OK", None, answer),
                Err((status, wait, text)) => (status, wait, json!({ "error": text })),
            },
            Err(_) => (
                "400 Bad Request",
                None,
                json!({ "error": "invalid request: expected POST /v1/step with JSON" }),
            ),
        };
        let body = body.to_string();
        let wait = wait.map(|seconds: u64| format!("Retry-After: {seconds}\r\n")).unwrap_or_default();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{wait}Connection: close\r\n\r\n{body}",
            body.len()
        )
    }

    fn answer(&self, request: &Value, generation: u64) -> Result<Value, (&'static str, Option<u64>, String)> {
        let broken = |error: io::Error| ("500 Internal Server Error", None, error.to_string());
        let mut inner = self.inner();
        if let Err(error) = inner.budget.send(self.clock.unix_ms()) {
            let wait = match &error {
                CapsuleError::TooManySends { wait_s, .. } => Some(*wait_s),
                _ => None,
            };
            return Err(("429 Too Many Requests", wait, error.to_string()));
        }
        self.save(&inner.budget).map_err(broken)?;
        let last = request.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
        self.note(generation, "asked", last.unwrap_or(&Value::Null)).map_err(broken)?;
        let answer = inner.model.answer(request).map_err(|text| ("502 Bad Gateway", None, text))?;
        let tokens = answer.get("tokens").and_then(Value::as_u64).unwrap_or(1);
        inner.budget.spend(tokens);
        self.save(&inner.budget).map_err(broken)?;
        self.note(generation, "answered", &answer).map_err(broken)?;
        Ok(answer)
    }

    fn save(&self, budget: &Budget) -> io::Result<()> {
        let bytes = serde_json::to_vec(budget).map_err(io::Error::other)?;
        files::replace(&self.home.join("budget.json"), &bytes)
    }

    fn note(&self, generation: u64, word: &str, what: &Value) -> io::Result<()> {
        let text: String = what.to_string().chars().take(TEXT_MAX).collect();
        let line =
            json!({ "at_ms": self.clock.unix_ms(), "generation": generation, "what": word, "text": text });
        let mut options = OpenOptions::new();
        let mut file =
            options.append(true).create(true).mode(0o600).open(self.home.join("transcript.jsonl"))?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }

    /// The last lines of the transcript, at most `most`, and 256 KiB.
    ///
    /// # Errors
    /// 7965.
    pub fn last_lines(&self, most: usize) -> Result<Vec<String>> {
        use std::io::{Seek as _, SeekFrom};
        let failed = CapsuleError::repository("reading the transcript");
        let mut file = match std::fs::File::open(self.home.join("transcript.jsonl")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let length = file.metadata().map_err(&failed)?.len();
        let from = length.saturating_sub(256 << 10);
        file.seek(SeekFrom::Start(from)).map_err(&failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(&failed)?;
        let text = String::from_utf8_lossy(&bytes);
        // The first line may be cut where the text was.
        let lines: Vec<&str> = text.lines().skip(usize::from(from > 0)).collect();
        Ok(lines.iter().skip(lines.len().saturating_sub(most)).map(|line| (*line).to_owned()).collect())
    }
}

fn read_request(stream: &TcpStream) -> io::Result<Value> {
    let bad = || io::Error::other("not a request");
    let mut reader = BufReader::new(stream.take(HEAD_MAX));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.starts_with("POST /v1/step HTTP/1.") {
        return Err(bad());
    }
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(bad());
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(bad)?;
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(bad());
        }
        if name.eq_ignore_ascii_case("content-length") && length.replace(value.trim().to_owned()).is_some() {
            return Err(bad());
        }
    }
    let length: usize = length.ok_or_else(bad)?.parse().map_err(|_| bad())?;
    if length > BODY_MAX {
        return Err(bad());
    }
    let mut body = vec![0u8; length];
    let room = u64::try_from(length).map_err(io::Error::other)?;
    let limit = reader.get_ref().limit().saturating_add(room);
    reader.get_mut().set_limit(limit);
    reader.read_exact(&mut body)?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}
