//! Child processes that end with the test.

use std::{
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A binary of this workspace: in `$ZX1_BIN_DIR`, else beside the test's own executable, where
/// `cargo build` puts it.
pub fn binary(name: &str) -> PathBuf {
    let folder = match std::env::var_os("ZX1_BIN_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let test = std::env::current_exe().unwrap();
            // target/debug/deps/test-1234
            test.ancestors().nth(2).unwrap().to_path_buf()
        }
    };
    let file = folder.join(name);
    assert!(
        file.is_file(),
        "{} is not there: run `scripts/e2e --build` first, or name the folder in ZX1_BIN_DIR",
        file.display()
    );
    file
}

/// Waits for a condition for up to a minute, then panics with `what`.
#[track_caller]
pub fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a process has said so far.
#[derive(Default)]
struct Said {
    text: Mutex<(String, usize)>,
    more: Condvar,
}

impl Said {
    fn listen(self: &Arc<Self>, stream: impl Read + Send + 'static) {
        let said = self.clone();
        std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                said.text.lock().unwrap().0.push_str(&String::from_utf8_lossy(&line));
                said.more.notify_all();
                line.clear();
            }
            said.text.lock().unwrap().1 += 1;
            said.more.notify_all();
        });
    }

    fn all(&self) -> String {
        self.text.lock().unwrap().0.clone()
    }

    /// The text when it holds `wanted`; None when the process closed both streams, or after a minute.
    fn wait_for(&self, wanted: &str) -> Option<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut text = self.text.lock().unwrap();
        loop {
            if text.0.contains(wanted) {
                return Some(text.0.clone());
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            if text.1 == 2 {
                return None;
            }
            text = self.more.wait_timeout(text, left).unwrap().0;
        }
    }
}

/// A process in the background. It is killed when this is dropped.
pub struct Running {
    child: Child,
    name: String,
    said: Arc<Said>,
    out: Arc<Said>,
}

impl Running {
    /// Starts a command; what it says is collected.
    pub fn start(mut command: Command) -> Self {
        let name = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("{name} does not start: {why}"));
        let (said, out) = (Arc::new(Said::default()), Arc::new(Said::default()));
        let stdout = child.stdout.take().unwrap();
        // Standard output goes to both texts, line by line.
        let copy = Tee { inner: stdout, out: out.clone() };
        said.listen(copy);
        said.listen(child.stderr.take().unwrap());
        Self { child, name, said, out }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has said this, on either stream; panics with all that it said if it does not.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.said
            .wait_for(text)
            .unwrap_or_else(|| panic!("{} did not say '{text}' but:\n{}", self.name, self.said.all()))
    }

    /// All that it said so far, both streams mixed.
    pub fn said(&self) -> String {
        self.said.all()
    }

    /// What it said on standard output so far.
    pub fn stdout(&self) -> String {
        self.out.all()
    }

    /// True until it has ended.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits, at most a minute, until it ends by itself.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let name = self.name.clone();
        wait_until(&format!("{name} ends"), || self.child.try_wait().unwrap())
    }

    /// Kills it as a power cut would (SIGKILL).
    pub fn kill9(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end (SIGTERM), and waits until it has.
    #[track_caller]
    pub fn terminate(&mut self) -> ExitStatus {
        let sent = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status().unwrap();
        assert!(sent.success(), "{} was not there to be ended", self.name);
        self.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill9();
    }
}

struct Tee<R> {
    inner: R,
    out: Arc<Said>,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.out.text.lock().unwrap().0.push_str(&String::from_utf8_lossy(&buffer[..length]));
        Ok(length)
    }
}
