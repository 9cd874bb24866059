//! A Postgres for a test.
#![allow(clippy::expect_used, clippy::unwrap_used, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A Postgres of the test's own, run by an ordinary user, since it refuses root.
pub struct Cluster {
    server: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

fn program(bin: &Path, name: &str, root: bool) -> Command {
    let path = bin.join(name);
    let mut command = if root { Command::new("setpriv") } else { Command::new(&path) };
    if root {
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
    }
    command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

impl Cluster {
    /// Where it answers.
    pub fn url(&self) -> String {
        format!("postgres://zx1@127.0.0.1:{}/postgres", self.port)
    }

    /// One that forgets everything when the machine loses its power: for tests.
    #[allow(dead_code)]
    pub fn start() -> Self {
        Self::with("off")
    }

    /// One that keeps what it has taken, as an operator's does: for figures.
    #[allow(dead_code)]
    pub fn durable() -> Self {
        Self::with("on")
    }

    fn with(fsync: &str) -> Self {
        let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
            .expect("Postgres is installed (scripts/setup does it)")
            .map(|version| version.unwrap().path().join("bin"))
            .filter(|bin| bin.join("initdb").exists())
            .collect();
        found.sort();
        let bin = found.pop().expect("Postgres has its initdb");
        let id = Command::new("id").arg("-u").output().unwrap();
        let root = id.stdout.trim_ascii() == b"0";
        let folder = tempfile::Builder::new().prefix("zx1-pg").tempdir().unwrap();
        if root {
            assert!(
                Command::new("chown").arg("nobody:nogroup").arg(folder.path()).status().unwrap().success()
            );
        }
        let data = folder.path().join("data");
        let made = program(&bin, "initdb", root)
            .args(["--no-sync", "--auth=trust", "--username=zx1", "--encoding=UTF8", "-D"])
            .arg(&data)
            .status();
        assert!(made.unwrap().success());
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let server = program(&bin, "postgres", root)
            .arg("-D")
            .arg(&data)
            .args(["-h", "127.0.0.1", "-c", &format!("fsync={fsync}"), "-p", &port.to_string(), "-k"])
            .arg(folder.path())
            .stderr(log)
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let port_text = port.to_string();
        while !program(&bin, "pg_isready", root)
            .args(["-q", "-h", "127.0.0.1", "-p", &port_text])
            .status()
            .unwrap()
            .success()
        {
            assert!(Instant::now() < deadline, "Postgres did not start");
            std::thread::yield_now();
        }
        Self { server, port, _folder: folder }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
