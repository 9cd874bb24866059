//! A Postgres and a NATS server of a test's own; answers held against the description of an interface; what every server refuses.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

pub mod nats;
pub mod schema;
pub mod web;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that `scripts/setup` has installed.
///
/// # Panics
///
/// When it is missing.
#[must_use]
pub fn tool(path: &str) -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).unwrap_or_default();
    let program = set("ZX1_TOOLS").unwrap_or_else(|| cache().join("zx1")).join(path);
    assert!(program.exists(), "{} is missing; run scripts/setup", program.display());
    program
}

/// A running cluster, by an ordinary user, since Postgres refuses root; stopped and removed when dropped.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    server: Child,
    folder: tempfile::TempDir,
    port: u16,
}

/// Postgres's own programs.
#[derive(Debug)]
struct Programs {
    bin: PathBuf,
    is_root: bool,
}

impl Programs {
    fn find() -> Programs {
        let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
            .expect("Postgres is installed (scripts/setup does it)")
            .map(|version| version.unwrap().path().join("bin"))
            .filter(|bin| bin.join("initdb").exists())
            .collect();
        found.sort();
        let bin = found.pop().expect("Postgres has its initdb");
        Programs { bin, is_root: rustix::process::geteuid().is_root() }
    }

    /// One of them, as an ordinary user.
    fn command(&self, name: &str) -> Command {
        let path = self.bin.join(name);
        let mut command = if self.is_root {
            let mut setpriv = Command::new("setpriv");
            setpriv.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
            setpriv
        } else {
            Command::new(path)
        };
        command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// Runs one to its end, which must be good.
    fn run(&self, name: &str, arguments: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) {
        let output = self.command(name).args(arguments).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn own_by_nobody(folder: &Path) {
    let status = Command::new("chown").arg("nobody:nogroup").arg(folder).status().unwrap();
    assert!(status.success());
}

impl Cluster {
    /// Makes one and starts it. It forgets everything when the machine loses its power: for tests.
    ///
    /// # Panics
    ///
    /// Without Postgres, or when it does not start within a minute.
    #[must_use]
    pub fn start() -> Cluster {
        Cluster::with("off")
    }

    /// One that keeps what it has taken, as an operator's does: for figures.
    ///
    /// # Panics
    ///
    /// As [`Cluster::start`].
    #[must_use]
    pub fn durable() -> Cluster {
        Cluster::with("on")
    }

    fn with(fsync: &str) -> Cluster {
        let programs = Programs::find();
        let folder = tempfile::Builder::new().prefix("zx1-pg").tempdir().unwrap();
        if programs.is_root {
            own_by_nobody(folder.path());
        }
        let data = folder.path().join("data");
        let options = ["--no-sync", "--auth=trust", "--username=zx1", "--encoding=UTF8", "-D"];
        programs.run("initdb", options.map(std::ffi::OsStr::new).iter().copied().chain([data.as_os_str()]));
        // Free now; the cluster tells if somebody was quicker.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let server = programs
            .command("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-h", "127.0.0.1", "-c", &format!("fsync={fsync}"), "-p", &port.to_string(), "-k"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut cluster = Cluster { programs, server, folder, port };
        cluster.wait();
        cluster
    }

    /// Until it answers.
    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let port = self.port.to_string();
        loop {
            let mut asked = self.programs.command("pg_isready");
            if asked.args(["-q", "-h", "127.0.0.1", "-p", &port]).status().unwrap().success() {
                return;
            }
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "Postgres did not start: {}", log());
            if let Some(status) = self.server.try_wait().unwrap() {
                panic!("Postgres ended with {status}: {}", log());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Where it answers, in the database that is there from the start.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://zx1@127.0.0.1:{}/postgres", self.port)
    }

    /// A new database of this name. Where it answers.
    ///
    /// # Panics
    ///
    /// When there is one of this name.
    #[must_use]
    pub fn database(&self, name: &str) -> String {
        self.programs.run("createdb", ["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "zx1", name]);
        format!("postgres://zx1@127.0.0.1:{}/{name}", self.port)
    }

    /// A new database that begins as this one. Whoever was connected to this one is thrown out.
    ///
    /// # Panics
    ///
    /// When there is one of the new name, or none of the old.
    pub fn copy(&self, name: &str, new: &str) {
        let out = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        let port = self.port.to_string();
        let here = ["-h", "127.0.0.1", "-p", &port, "-U", "zx1"];
        self.programs.run("psql", here.into_iter().chain(["-q", "-d", "postgres", "-c", &out]));
        self.programs.run("createdb", here.into_iter().chain(["-T", name, new]));
    }

    /// Deletes a database. Whoever is connected to it is thrown out.
    ///
    /// # Panics
    ///
    /// When there is none of this name.
    pub fn remove(&self, name: &str) {
        let port = self.port.to_string();
        self.programs.run("dropdb", ["-h", "127.0.0.1", "-p", &port, "-U", "zx1", "--force", name]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SIGQUIT: stop at once, children too; nothing here is worth a checkpoint. The server is ours, also
        // when it runs as another user.
        let pid = rustix::process::Pid::from_child(&self.server);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        let _ = self.server.wait();
    }
}
