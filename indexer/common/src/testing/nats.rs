//! A NATS server of a test's own, which can be killed, frozen and started again.

use super::tool;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server with JetStream on a free port of loopback; killed, and its data removed, when dropped.
#[derive(Debug)]
pub struct NatsServer {
    folder: tempfile::TempDir,
    port: u16,
    server: Option<Child>,
}

impl NatsServer {
    /// Starts one.
    ///
    /// # Panics
    ///
    /// When it is not installed (scripts/setup does it), or does not start within 20 seconds.
    #[must_use]
    pub fn start() -> NatsServer {
        let folder = tempfile::Builder::new().prefix("zx1-nats").tempdir().unwrap();
        // Free now; the server tells if somebody was quicker.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut server = NatsServer { folder, port, server: None };
        server.restart();
        server
    }

    /// Where it answers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Starts it again on the same port, with what it has on disk.
    ///
    /// # Panics
    ///
    /// As [`NatsServer::start`].
    pub fn restart(&mut self) {
        self.kill();
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(tool("nats-server/bin/nats-server"));
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-js", "-sd"]);
        command.arg(self.folder.path().join("data")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.server = Some(command.spawn().unwrap());
        self.wait();
    }

    /// Until it greets whoever connects.
    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let greets = || -> std::io::Result<bool> {
            let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            let mut first = [0; 5];
            stream.read_exact(&mut first)?;
            Ok(&first == b"INFO ")
        };
        while !greets().unwrap_or(false) {
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the NATS server did not start: {}", log());
            if let Some(status) = self.server.as_mut().and_then(|server| server.try_wait().unwrap()) {
                panic!("the NATS server ended with {status}: {}", log());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills it at once: nothing is flushed.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// Kills it and removes what it had.
    pub fn forget(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(self.folder.path().join("data"));
    }

    /// Freezes it: connections stay open and nothing is answered.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        let pid = self.server.as_ref().map(Pid::from_child);
        // Its threads run on until the system has stopped each of them.
        waitpid(pid, WaitOptions::UNTRACED).unwrap();
    }

    /// Lets a frozen one go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(server) = &self.server {
            let _ = kill_process(Pid::from_child(server), signal);
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
