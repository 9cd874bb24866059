//! A headless Chromium on a pipe, and the raw DevTools protocol.
//!
//! The browser reads commands from its file descriptor 3 and answers on 4 (`--remote-debugging-pipe`), so it
//! needs no port and no websocket, and ends when this process does.

use std::{
    collections::HashMap,
    ffi::OsString,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
};

use serde_json::{Value, json};

use crate::PATIENCE;

/// The variable that names the browser's program.
pub const CHROMIUM: &str = "ZX1_CHROMIUM";
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The browser's program: `$ZX1_CHROMIUM`, else the first of three names on the PATH.
///
/// # Errors
/// A sentence that says what to do.
pub fn find(variable: Option<OsString>, path: Option<OsString>) -> Result<PathBuf, String> {
    if let Some(file) = variable.filter(|file| !file.is_empty()).map(PathBuf::from) {
        return if file.is_file() {
            Ok(file)
        } else {
            Err(format!("{CHROMIUM} names {}, which does not exist; correct or unset it.", file.display()))
        };
    }
    let path = path.unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|file| file.is_file());
    found.ok_or_else(|| {
        format!(
            "No Chromium is on the PATH (looked for {}), and the explorer's tests need one. Run \
             scripts/setup, or name the browser's program in {CHROMIUM}.",
            NAMES.join(", ")
        )
    })
}

type Waiting = Mutex<HashMap<u64, mpsc::Sender<Result<Value, String>>>>;

/// What the reading thread and the callers share.
#[derive(Default)]
struct Shared {
    waiting: Waiting,
    /// Events by session.
    events: Mutex<HashMap<String, Vec<Value>>>,
    /// What the browser wrote on standard error, for messages.
    said: Mutex<String>,
    ended: Mutex<bool>,
}

/// A running browser. It is killed when this is dropped.
pub struct Browser {
    child: Child,
    pipe: Arc<Mutex<ChildStdin>>,
    shared: Arc<Shared>,
    next: Arc<AtomicU64>,
    // Dropped last: the browser writes here until it is dead.
    _profile: tempfile::TempDir,
}

/// A connection to one target, or to the browser itself.
#[derive(Clone)]
pub struct Session {
    id: Option<String>,
    pipe: Arc<Mutex<ChildStdin>>,
    shared: Arc<Shared>,
    next: Arc<AtomicU64>,
}

impl Browser {
    /// Starts the browser with an empty profile. Panics with a sentence that says what to do where there is
    /// none.
    #[track_caller]
    pub fn start() -> Self {
        let program = find(std::env::var_os(CHROMIUM), std::env::var_os("PATH"))
            .unwrap_or_else(|sentence| panic!("{sentence}"));
        // The browser's own sandbox refuses root.
        let is_root = is_root();
        let browser = Self::launch(&program, !is_root);
        match browser.session(None).try_call("Browser.getVersion", json!({})) {
            Ok(_) => browser,
            // It needs namespaces or a helper that belongs to root, which containers often lack. The pages
            // are the tests' own.
            Err(why) if !is_root && why.contains("sandbox") => Self::launch(&program, false),
            Err(why) => panic!("{} does not start: {why}", program.display()),
        }
    }

    #[track_caller]
    fn launch(program: &Path, sandbox: bool) -> Self {
        let profile = tempfile::Builder::new().prefix("zx1-chromium-").tempdir().unwrap();
        // The shell only puts the pipes where the browser expects them.
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#]).arg(program).args([
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-extensions",
            "--disable-sync",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-features=Translate,OptimizationHints,MediaRouter",
            // A hidden page's timers are slowed down, and no page of a test is ever in front.
            "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            "--lang=en-GB",
            "--mute-audio",
            "--no-proxy-server",
            "--password-store=basic",
        ]);
        if !sandbox {
            command.arg("--no-sandbox");
        }
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command
            .env("HOME", profile.path())
            .env("TZ", "UTC")
            .env_remove("DISPLAY")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("sh does not start: {why}"));
        let shared = Arc::new(Shared::default());
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let reader = shared.clone();
        std::thread::spawn(move || reader.read(stdout));
        let listener = shared.clone();
        std::thread::spawn(move || listener.listen(stderr));
        let pipe = Arc::new(Mutex::new(child.stdin.take().unwrap()));
        Self { child, pipe, shared, next: Arc::new(AtomicU64::new(1)), _profile: profile }
    }

    pub(crate) fn session(&self, id: Option<String>) -> Session {
        Session { id, pipe: self.pipe.clone(), shared: self.shared.clone(), next: self.next.clone() }
    }

    /// What the browser is: its name and version.
    #[track_caller]
    pub fn version(&self) -> String {
        let answer = self.session(None).call("Browser.getVersion", json!({}));
        answer["product"].as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Session {
    /// A call of the protocol: its result. Panics with the browser's own words if it is refused.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    /// A call of the protocol: its result.
    ///
    /// # Errors
    /// The browser's refusal, or that it did not answer or has ended.
    pub fn try_call(&self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.next.fetch_add(1, Ordering::SeqCst);
        let (sender, answer) = mpsc::channel();
        self.shared.waiting.lock().unwrap().insert(id, sender);
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.id {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let sent = {
            let mut pipe = self.pipe.lock().unwrap();
            pipe.write_all(&bytes).and_then(|()| pipe.flush())
        };
        let said = || self.shared.said.lock().unwrap().clone();
        sent.map_err(|why| format!("the browser has ended ({why}):\n{}", said()))?;
        if *self.shared.ended.lock().unwrap() {
            return Err(format!("the browser has ended:\n{}", said()));
        }
        answer.recv_timeout(PATIENCE).map_err(|_| format!("the browser gave no answer:\n{}", said()))?
    }

    /// All events of this session so far, the oldest first.
    pub fn events(&self) -> Vec<Value> {
        let id = self.id.as_deref().unwrap_or_default();
        self.shared.events.lock().unwrap().get(id).cloned().unwrap_or_default()
    }
}

impl Shared {
    fn read(&self, stream: impl Read) {
        let mut stream = BufReader::new(stream);
        let mut bytes = Vec::new();
        while stream.read_until(0, &mut bytes).is_ok_and(|length| length > 0) {
            let text = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
            if let Ok(message) = serde_json::from_slice::<Value>(text) {
                self.take(message);
            }
            bytes.clear();
        }
        *self.ended.lock().unwrap() = true;
        // Whoever waits for an answer hears that none will come.
        self.waiting.lock().unwrap().clear();
    }

    fn take(&self, mut message: Value) {
        if let Some(id) = message["id"].as_u64() {
            let answer = match message.get_mut("error") {
                Some(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
                None => Ok(message["result"].take()),
            };
            if let Some(waiting) = self.waiting.lock().unwrap().remove(&id) {
                let _ = waiting.send(answer);
            }
        } else {
            let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
            self.events.lock().unwrap().entry(session).or_default().push(message);
        }
    }

    fn listen(&self, stream: impl Read) {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            self.said.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}
