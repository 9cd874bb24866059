//! A capsule's folder with a broker, and gits of the host that speak with it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use tempfile::TempDir;
use zx1_capsule::audit::{self, Entry};
use zx1_capsule::broker::{Broker, Settings};
use zx1_capsule::listen::Listening;
use zx1_capsule::policy::{Identity, Kind};
use zx1_home::FixedClock;

pub(crate) const HELPER: &str = env!("CARGO_BIN_EXE_zx1-capsule-helper");
pub(crate) const COMMS: &str =
    "# COMMS\n\n<!-- directives -->\n- build\n<!-- /directives -->\n\n## Reports\n";
pub(crate) const ZERO: &str = "0000000000000000000000000000000000000000";

/// Where the agent's own repository and a product are, and who serves them.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) clock: FixedClock,
    pub(crate) broker: Option<Arc<Broker>>,
    listening: Vec<Listening>,
    pub(crate) port: u16,
    person: u16,
}

impl World {
    pub(crate) fn new() -> World {
        World::with(Settings::default())
    }

    /// Generation 1 runs; main has COMMS.md.
    pub(crate) fn with(settings: Settings) -> World {
        let folder = tempfile::tempdir().unwrap();
        let clock = FixedClock::new(1_764_300_000_000);
        let mut world = World { folder, clock, broker: None, listening: Vec::new(), port: 0, person: 0 };
        std::fs::create_dir(world.path("home")).unwrap();
        world.open(settings);
        world.seed("agent.git");
        world
    }

    /// The person's first push to a repository, from a tree that stays.
    pub(crate) fn seed(&self, name: &str) {
        let tree = self.path(&format!("seed-{name}"));
        std::fs::create_dir(&tree).unwrap();
        self.good(&tree, &["init", "-q", "-b", "main", "."]);
        std::fs::write(tree.join("COMMS.md"), COMMS).unwrap();
        self.commit(&tree, "begin");
        self.good(&tree, &["push", "-q", &self.person_url(name), "main"]);
    }

    pub(crate) fn open(&mut self, settings: Settings) {
        let kinds = [("agent.git", Kind::Own), ("product.git", Kind::Product)];
        let clock = Arc::new(self.clock.clone());
        let broker = Broker::open(&self.path("capsule"), Path::new(HELPER), &kinds, settings, clock).unwrap();
        broker.set_generation(1);
        let broker = Arc::new(broker);
        self.port = self.serve(&broker, Identity::Agent { generation: 1 });
        self.person = self.serve(&broker, Identity::Person);
        self.broker = Some(broker);
    }

    fn serve(&mut self, broker: &Arc<Broker>, who: Identity) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        self.listening.push(broker.listen(listener, who).unwrap());
        port
    }

    /// The broker's process ends.
    pub(crate) fn close(&mut self) {
        self.listening.clear();
        let broker = self.broker.take().unwrap();
        // Connections that are just ending let go of it.
        while Arc::strong_count(&broker) > 1 {
            std::thread::yield_now();
        }
    }

    pub(crate) fn broker(&self) -> &Arc<Broker> {
        self.broker.as_ref().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The agent's repository on disk.
    pub(crate) fn bare(&self) -> PathBuf {
        self.path("capsule/git/agent.git")
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.port)
    }

    pub(crate) fn person_url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.person)
    }

    /// A clone of the agent's, on a branch of its own.
    pub(crate) fn clone(&self, name: &str) -> PathBuf {
        let tree = self.path(&format!("{name}-tree"));
        let url = self.url(name);
        self.good(self.folder.path(), &["clone", "-q", &url, tree.to_str().unwrap()]);
        self.good(&tree, &["checkout", "-q", "-b", "bot/x"]);
        tree
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.current_dir(folder).args(arguments).env("HOME", self.path("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        for name in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{name}_NAME"), "a").env(format!("GIT_{name}_EMAIL"), "a@b");
            command.env(format!("GIT_{name}_DATE"), "1764300000 +0000");
        }
        command.output().unwrap()
    }

    pub(crate) fn good(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.git(folder, arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {text}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// A git that must fail, and what it said.
    pub(crate) fn bad(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.git(folder, arguments);
        assert!(!output.status.success(), "git {arguments:?} went through");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    pub(crate) fn commit(&self, tree: &Path, text: &str) -> String {
        self.good(tree, &["add", "-A"]);
        self.good(tree, &["commit", "-q", "--allow-empty", "-m", text]);
        self.good(tree, &["rev-parse", "HEAD"])
    }

    pub(crate) fn write(&self, tree: &Path, name: &str, text: &str) -> String {
        std::fs::write(tree.join(name), text).unwrap();
        self.commit(tree, name)
    }

    pub(crate) fn refs(&self, name: &str) -> Vec<(String, String)> {
        let text = self.good(self.folder.path(), &["ls-remote", &self.person_url(name), "refs/*"]);
        text.lines()
            .map(|line| line.split_once('\t').map(|(id, name)| (name.into(), id.into())).unwrap())
            .collect()
    }

    pub(crate) fn tip(&self, name: &str) -> Option<String> {
        self.refs("agent.git").into_iter().find(|(other, _)| other == name).map(|(_, id)| id)
    }

    pub(crate) fn log(&self) -> Vec<Entry> {
        audit::check(&std::fs::read(self.path("capsule/audit.log")).unwrap()).unwrap().entries
    }

    /// A program that leaves a mark when it runs.
    pub(crate) fn evil(&self) -> (PathBuf, PathBuf) {
        use std::os::unix::fs::PermissionsExt as _;
        let (program, mark) = (self.path("evil"), self.path("mark"));
        std::fs::write(&program, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        (program, mark)
    }
}

/// A client that says whatever it wants in git's protocol.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) fn ask(port: u16, request: &[u8]) -> Raw {
        use std::io::Write as _;
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(format!("{:04x}", request.len() + 4).as_bytes()).unwrap();
        stream.write_all(request).unwrap();
        Raw(stream)
    }

    /// Packets up to the next flush, or to the end.
    pub(crate) fn read(&mut self) -> String {
        use std::io::Read as _;
        let mut text = String::new();
        loop {
            let mut digits = [0u8; 4];
            if self.0.read_exact(&mut digits).is_err() {
                return text;
            }
            let length = usize::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap();
            if length < 4 {
                return text;
            }
            let mut body = vec![0u8; length - 4];
            self.0.read_exact(&mut body).unwrap();
            text.push_str(&String::from_utf8_lossy(&body));
        }
    }

    /// Sends one command of a push with a pack of nothing, and reads the report.
    pub(crate) fn push(&mut self, old: &str, new: &str, name: &str) -> String {
        use std::io::Write as _;
        let command = format!("{old} {new} {name}\0 report-status");
        write!(self.0, "{:04x}{command}0000", command.len() + 4).unwrap();
        let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
        pack.extend(hex::decode("029d08823bd8a8eab510ad6ac75c823cfd3ed31e").unwrap());
        if new != ZERO {
            self.0.write_all(&pack).unwrap();
        }
        self.read()
    }
}

/// Whether two refused pushes of a world left everything as it was.
pub(crate) fn snapshot(world: &World) -> (Vec<(String, String)>, usize) {
    (world.refs("agent.git"), world.log().len())
}
