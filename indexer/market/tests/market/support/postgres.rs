//! A Postgres cluster of the test's own, run by an ordinary user (Postgres refuses root).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running cluster; stopped and removed when dropped.
pub struct Cluster {
    server: Child,
    folder: tempfile::TempDir,
    pub port: u16,
}

fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .expect("Postgres is installed (scripts/setup does it)")
        .map(|version| version.unwrap().path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    found.pop().expect("Postgres has its initdb")
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    String::from_utf8_lossy(&id.stdout).trim() == "0"
}

/// The program, as an ordinary user.
fn program(bin: &Path, name: &str) -> Command {
    let path = bin.join(name);
    let mut command = if is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
        setpriv
    } else {
        Command::new(path)
    };
    command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
    command
}

impl Cluster {
    /// Make and start one.
    pub fn start() -> Cluster {
        let bin = programs();
        let folder = tempfile::Builder::new().prefix("zx1-pg").tempdir().unwrap();
        if is_root() {
            let done = Command::new("chown").arg("nobody:nogroup").arg(folder.path()).status().unwrap();
            assert!(done.success());
        }
        let data = folder.path().join("data");
        let made = program(&bin, "initdb")
            .args(["--no-sync", "--auth=trust", "--username=market", "--encoding=UTF8", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        // Free now; the cluster tells if somebody was quicker.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let server = program(&bin, "postgres")
            .arg("-D")
            .arg(&data)
            .args(["-h", "127.0.0.1", "-c", "fsync=off", "-p"])
            .arg(port.to_string())
            .arg("-k")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut cluster = Cluster { server, folder, port };
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let ready = program(&bin, "pg_isready")
                .args(["-q", "-h", "127.0.0.1", "-p"])
                .arg(port.to_string())
                .status()
                .unwrap();
            if ready.success() {
                return cluster;
            }
            let log = || std::fs::read_to_string(cluster.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "Postgres did not start: {}", log());
            if let Some(status) = cluster.server.try_wait().unwrap() {
                panic!("Postgres ended with {status}: {}", log());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A database of this name, made.
    pub async fn database(&self, name: &str) -> String {
        use sqlx::{Connection, Executor};
        let admin = format!("postgres://market@127.0.0.1:{}/postgres", self.port);
        let mut connection = sqlx::PgConnection::connect(&admin).await.unwrap();
        let sql = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
        format!("postgres://market@127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SIGQUIT: stop at once, children too; nothing here is worth a checkpoint.
        let _ = Command::new("kill").args(["-QUIT", &self.server.id().to_string()]).status();
        let _ = self.server.wait();
    }
}
