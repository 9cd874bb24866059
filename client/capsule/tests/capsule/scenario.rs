//! A whole capsule: native jail, real git, the runner in Python, a scripted model.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use zx1_capsule::broker::{Broker, Settings};
use zx1_capsule::jail::{Bounds, Jail, Life};
use zx1_capsule::machine::{Event, State};
use zx1_capsule::model::{ModelBroker, Scripted};
use zx1_capsule::native::{Image, Native};
use zx1_capsule::policy::Kind;
use zx1_capsule::status::Status;
use zx1_capsule::template;
use zx1_capsule::watcher::{Parts, REPOSITORY, Remote, Watcher};
use zx1_home::SystemClock;

use crate::world::HELPER;

/// An image without programs, which come from this machine's /usr.
fn image(folder: &Path) -> Image {
    for name in ["bot", "dev", "etc", "mnt/remote", "proc", "run", "sys", "tmp", "usr"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for link in ["bin", "sbin", "lib", "lib64"] {
        symlink(format!("usr/{link}"), folder.join(link)).unwrap();
    }
    let settings = "[url \"git://127.0.0.1:9418/agent.git\"]\n\tinsteadOf = /mnt/remote\n\
                    [user]\n\tname = agent\n\temail = agent@capsule\n[init]\n\tdefaultBranch = main\n";
    fs::write(folder.join("etc/gitconfig"), settings).unwrap();
    let remote = folder.join("mnt/remote");
    for name in ["objects", "refs"] {
        fs::create_dir(remote.join(name)).unwrap();
    }
    fs::write(remote.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(folder.join("etc/passwd"), "root:x:0:0::/bot:/bin/sh\n").unwrap();
    Image::open(folder).unwrap().bind("/usr", "/usr")
}

fn bounds() -> Bounds {
    Bounds { memory: 512 << 20, processes: 64, disk: 64 << 20, ..Bounds::default() }
}

fn native(folder: &Path) -> Native {
    Native::open(&image(folder), &bounds(), Some(Path::new(HELPER))).unwrap()
}

/// Runs one shell line in a jail, and gives its output.
fn line(jail: &mut Native, text: &str) -> (String, bool) {
    let mut output = Vec::new();
    let end = jail.live(Life {
        generation: 1,
        argv: ["/bin/sh", "-c", text].map(str::to_owned).to_vec(),
        env: Vec::new(),
        stdin: Vec::new(),
        serve: &mut |_, _| {},
        live: &mut |bytes| output.extend_from_slice(bytes),
    });
    (String::from_utf8_lossy(&output).into_owned(), end.unwrap().clean)
}

#[test]
fn a_jail_has_no_file_of_the_host_and_keeps_bot_from_life_to_life() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret"), "x").unwrap();
    let mut jail = native(&folder.path().join("image"));
    let secret = folder.path().join("secret");
    let (said, clean) =
        line(&mut jail, &format!("test ! -e {} && echo kept > /bot/x && ls /", secret.display()));
    assert!(clean, "{said}");
    assert_eq!(said, "bin\nbot\ndev\netc\nlib\nlib64\nmnt\nproc\nrun\nsbin\nsys\ntmp\nusr\n");
    assert_eq!(line(&mut jail, "cat /bot/x; test ! -w /etc/gitconfig"), ("kept\n".to_owned(), true));
    assert!(!line(&mut jail, "echo x > /etc/gitconfig").1);
}

#[test]
fn a_jail_refuses_bounds_that_it_cannot_keep_and_images_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let made = image(&folder.path().join("image"));
    for bounds in [Bounds { disk: u64::MAX / 2, ..bounds() }, Bounds { processes: 1, ..bounds() }] {
        assert_eq!(Native::open(&made, &bounds, Some(Path::new(HELPER))).unwrap_err().code(), 7970);
    }
    assert_eq!(Image::open(folder.path()).unwrap_err().code(), 7971);
    fs::write(folder.path().join("image/etc/gitconfig"), "").unwrap();
    assert_eq!(Image::open(&folder.path().join("image")).unwrap_err().code(), 7971);
}

#[test]
fn a_life_ends_by_its_own_number_only_and_an_end_that_comes_late_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut jail = native(&folder.path().join("image"));
    let ender = jail.ender();
    ender.end(1);
    let mut told = false;
    let end = jail.live(Life {
        generation: 1,
        argv: ["/bin/sh", "-c", "echo on; sleep 1000 & wait"].map(str::to_owned).to_vec(),
        env: Vec::new(),
        stdin: Vec::new(),
        serve: &mut |_, _| {},
        live: &mut |_| {
            ender.end(2);
            ender.end(1);
            told = true;
        },
    });
    let end = end.unwrap();
    assert!(told && !end.clean && end.why.contains("Canceled"), "{end:?}");
    ender.end(1);
    assert_eq!(line(&mut jail, "echo next"), ("next\n".to_owned(), true));
}

type Script = Arc<Mutex<VecDeque<Value>>>;

struct Capsule {
    folder: TempDir,
    script: Script,
    broker: Arc<Broker>,
    remote: Remote,
    thread: Option<JoinHandle<()>>,
}

fn bash(command: &str) -> Value {
    json!({ "text": "", "calls": [{ "tool": "bash", "arguments": { "command": command } }], "tokens": 10 })
}

fn bootstrap(branch: &str) -> Value {
    json!({ "text": "", "calls": [{ "tool": "bootstrap", "arguments": { "branch": branch } }], "tokens": 10 })
}

/// Makes a branch in its folder, does something there, commits and pushes it.
fn change(name: &str, what: &str) -> Value {
    bash(&format!(
        "set -e; git clone -q /mnt/remote /bot/{name}/minifram; cd /bot/{name}/minifram; git checkout -q -b bot/{name}; \
         {what}; git add -A; git commit -qm {name}; git push -q origin bot/{name}"
    ))
}

impl Capsule {
    fn new() -> Capsule {
        let folder = tempfile::tempdir().unwrap();
        let script = Script::default();
        let socket = folder.path().join("model");
        let (listener, answers) = (UnixListener::bind(&socket).unwrap(), Arc::clone(&script));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                BufReader::new(&stream).read_line(&mut String::new()).unwrap();
                let answer = answers.lock().unwrap().pop_front();
                let answer = answer.unwrap_or(json!({ "text": "nothing to do", "calls": [], "tokens": 1 }));
                writeln!(stream, "{answer}").unwrap();
            }
        });
        fs::create_dir(folder.path().join("capsule")).unwrap();
        let broker = Capsule::broker(folder.path());
        broker.begin(REPOSITORY, &template::FILES).unwrap().unwrap();
        let (remote, thread) = Capsule::watch(folder.path(), &broker);
        Capsule { folder, script, broker, remote, thread: Some(thread) }
    }

    fn broker(folder: &Path) -> Arc<Broker> {
        let kinds = [(REPOSITORY, Kind::Own)];
        let clock = Arc::new(SystemClock);
        Arc::new(
            Broker::open(&folder.join("capsule"), Path::new(HELPER), &kinds, Settings::default(), clock)
                .unwrap(),
        )
    }

    fn watch(folder: &Path, broker: &Arc<Broker>) -> (Remote, JoinHandle<()>) {
        let home = folder.join("capsule");
        let model = Box::new(Scripted::at(&folder.join("model")));
        let model = Arc::new(ModelBroker::open(&home, model, Arc::new(SystemClock)).unwrap());
        let image = tempfile::Builder::new().prefix("image").tempdir_in(folder).unwrap().keep();
        let jail = Box::new(native(&image));
        let parts = Parts::new("test", &home, Arc::clone(broker), model, jail, Arc::new(SystemClock));
        let watcher = Watcher::open(parts).unwrap();
        let remote = watcher.remote();
        (remote, std::thread::spawn(move || watcher.watch(false).unwrap()))
    }

    fn say(&self, answers: &[Value]) {
        self.script.lock().unwrap().extend(answers.iter().cloned());
    }

    fn status(&self) -> Option<Status> {
        let bytes = fs::read(self.folder.path().join("capsule/status.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Looks until the status is as it should be.
    fn until(&self, what: &str, is: impl Fn(&Status) -> bool) -> Status {
        let began = Instant::now();
        loop {
            if let Some(status) = self.status().filter(|status| is(status)) {
                return status;
            }
            let log =
                || fs::read_to_string(self.folder.path().join("capsule/watcher.log")).unwrap_or_default();
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: {:?}\n{}", self.status(), log());
            // A look every few milliseconds, not a wait for a time.
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn healthy(&self, what: &str, generation: u64) -> Status {
        self.until(what, |status| status.state == State::Healthy && status.generation >= generation)
    }

    fn show(&self, path: &str) -> Option<String> {
        let mut command = self.broker.repository(REPOSITORY).unwrap().git();
        command.args(["show", &format!("main:{path}")]);
        let output = command.output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn quit(&mut self) {
        self.remote.quit();
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Capsule {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.remote.quit();
            let _ = thread.join();
        }
    }
}

#[test]
fn an_agent_changes_itself_on_a_branch_tests_itself_merges_and_runs_as_main() {
    let capsule = Capsule::new();
    capsule.say(&[
        change("better", "echo improved > src/new.txt"),
        bootstrap("bot/better"),
        bash("set -e; python3 -m py_compile infra/runner.py; git push -q origin bot/better:main"),
        bootstrap("main"),
    ]);
    capsule.remote.tell(Event::Up);
    let status = capsule.healthy("main again", 3);
    assert_eq!((status.branch.as_str(), status.generation), ("main", 3));
    assert_eq!(capsule.show("src/new.txt").as_deref(), Some("improved\n"));
    let main = capsule.broker.repository(REPOSITORY).unwrap().resolve("refs/heads/main").unwrap();
    assert_eq!(status.commit, main);
    assert_eq!(status.last_error, None);
    let transcript = fs::read_to_string(capsule.folder.path().join("capsule/transcript.jsonl")).unwrap();
    assert!(transcript.lines().count() >= 8 && transcript.contains("py_compile"), "{transcript}");
}

#[test]
fn poisoned_versions_are_left_for_main_and_the_watcher_says_so() {
    let capsule = Capsule::new();
    capsule.say(&[change("crash", "echo 'raise SystemExit(1)' > infra/runner.py"), bootstrap("bot/crash")]);
    capsule.remote.tell(Event::Up);
    let status = capsule.healthy("main after a crash", 3);
    assert_eq!(
        (status.branch.as_str(), status.last_error.as_deref()),
        ("main", Some("it ended with exit code 1"))
    );
    let comms = capsule.show("COMMS.md").unwrap();
    assert!(
        comms.contains("- watcher: generation 2 (bot/crash) ended: it ended with exit code 1"),
        "{comms}"
    );

    // What it needs is gone, and it never gets to SUCCESS; then a branch that is nowhere.
    capsule.say(&[change("blind", "git rm -q SYSTEM.md"), bootstrap("bot/blind")]);
    let signals = capsule.folder.path().join("capsule/signals");
    fs::write(signals.join("unfinished"), "bot/nowhere\n").unwrap();
    fs::rename(signals.join("unfinished"), signals.join("bootstrap")).unwrap();
    let status = capsule
        .until("main after a bad target", |status| status.state == State::Healthy && status.generation >= 5);
    assert_eq!(status.branch, "main");
    assert!(status.last_error.is_some());
}

#[test]
fn a_watcher_that_is_ended_goes_on_with_a_new_generation_and_a_stop_ref_stops_it() {
    let mut capsule = Capsule::new();
    capsule.remote.tell(Event::Up);
    let first = capsule.healthy("main", 1);
    capsule.quit();
    let (remote, thread) = Capsule::watch(capsule.folder.path(), &capsule.broker);
    (capsule.remote, capsule.thread) = (remote, Some(thread));
    let second = capsule.healthy("main again", first.generation + 1);
    assert_eq!(second.branch, "main");
    let session = fs::read_to_string(capsule.folder.path().join("capsule/session")).unwrap();
    assert_eq!(session, format!("{}\n", second.generation));
    let repository = capsule.broker.repository(REPOSITORY).unwrap();
    let main = repository.resolve("refs/heads/main").unwrap().unwrap();
    assert!(repository.git().args(["update-ref", "refs/zx1/stop", &main]).status().unwrap().success());
    capsule.until("stopped", |status| status.state == State::Stopped);
}
