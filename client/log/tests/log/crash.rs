//! Processes that are killed in the middle, disks that are full, and two processes on one folder.
//!
//! The child is this test binary itself, told by an environment variable what to do.

use crate::common::{AGENT, EPOCH, Message, contents, encoded, folder, open};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use zx1_coded::Coded;
use zx1_log::{AgentLog, Append, LogReader};
use zx1_protocol::channel::Channel;
use zx1_protocol::units::Epoch;

const TASK: &str = "ZX1_LOG_CHILD_TASK";
const DIR: &str = "ZX1_LOG_CHILD_DIR";
const GROUP: u64 = 7;

/// Not a test of its own: what a child process runs.
#[test]
fn child() {
    let (Ok(task), Ok(dir)) = (std::env::var(TASK), std::env::var(DIR)) else { return };
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "said {line}").unwrap();
        out.flush().unwrap();
    };
    if crate::owner::child(&task, Path::new(&dir), &say) {
        return;
    }
    let mut log = match AgentLog::open(&dir, AGENT) {
        Ok(log) => log,
        Err(error) => return say(format!("refused {}", error.code())),
    };
    let first = u64::from(LogReader::new(&dir, AGENT).len(Epoch(0), Epoch(u64::MAX)).unwrap());
    match task.as_str() {
        "append" => {
            for number in first.. {
                match Message::deliver(number).append_to(&mut log) {
                    Ok(_) => say(format!("{}", number + 1)),
                    Err(error) => return say(format!("failed {}", error.code())),
                }
            }
        }
        "groups" => {
            for number in (first..).step_by(GROUP as usize) {
                let group: Vec<Message> = (number..number + GROUP).map(Message::deliver).collect();
                append_group(&mut log, &group);
                say(format!("{}", number + GROUP));
            }
        }
        "nonces" => loop {
            say(log.reserve_nonce(Channel::Direct, 5).unwrap().to_string());
        },
        "hold" => {
            say("holding".to_owned());
            let _ = std::io::stdin().read(&mut [0]);
        }
        other => panic!("no task {other}"),
    }
}

fn append_group(log: &mut AgentLog, group: &[Message]) {
    let appends: Vec<Append<'_>> = group
        .iter()
        .map(|m| Append { envelope: m.envelope(), direction: m.direction, arrival_micros: m.timestamp })
        .collect();
    log.append_all(&appends).unwrap();
}

pub(crate) struct Running {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

impl Running {
    fn start(mut command: Command, task: &str, dir: &Path) -> Self {
        command.env(TASK, task).env(DIR, dir).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        // The harness begins its own line without ending it, so "said" need not stand first.
        let lines = out
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| line.split_once("said ").map(|(_, said)| said.to_owned()));
        Self { child, lines: Box::new(lines) }
    }

    pub(crate) fn this_binary(task: &str, dir: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::child", "--nocapture"]);
        Self::start(command, task, dir)
    }

    pub(crate) fn next(&mut self) -> String {
        self.lines.next().expect("the child says something")
    }

    /// Ends its wait.
    pub(crate) fn end(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Kill -9, then everything that it had said.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.lines.collect()
    }
}

pub(crate) fn count(line: &str) -> u64 {
    line.parse().unwrap_or_else(|_| panic!("the child said `{line}`"))
}

/// Kills children after 1, 2, 3, ... acknowledged appends on one folder. Returns nothing: all is asserted.
fn kill_appenders(task: &str, most_unacknowledged: u64) {
    let (_temp, dir) = folder();
    let mut acknowledged = 0;
    for round in 1..=12 {
        let mut child = Running::this_binary(task, &dir);
        for _ in 0..round {
            acknowledged = count(&child.next());
        }
        if let Some(last) = child.kill().last() {
            acknowledged = count(last);
        }
        let log = open(&dir);
        let there = contents(&dir);
        let surplus = (there.len() as u64).checked_sub(acknowledged);
        assert!(surplus.is_some_and(|n| n <= most_unacknowledged), "{} of {acknowledged}", there.len());
        let expected: Vec<Message> = (0..there.len() as u64).map(Message::deliver).collect();
        assert_eq!(there, encoded(&expected), "round {round}");
        for message in &expected {
            let payload = log.payload(message.envelope().header.payload_hash).unwrap();
            assert_eq!(payload.as_ref(), Some(&message.payload), "the payload is there before the entry");
        }
    }
}

#[test]
fn after_kill_9_all_acknowledged_entries_are_there_and_one_more_at_most() {
    kill_appenders("append", 1);
}

#[test]
fn after_kill_9_all_acknowledged_groups_are_there_and_one_more_at_most() {
    kill_appenders("groups", GROUP);
}

#[test]
fn nonces_never_repeat_across_kill_9() {
    let (_temp, dir) = folder();
    let mut last = None;
    // 1 100 numbers are more than one block that is reserved at a time.
    for wanted in [1, 40, 1100, 3, 1025] {
        let mut child = Running::this_binary("nonces", &dir);
        let mut said: Vec<String> = (0..wanted).map(|_| child.next()).collect();
        said.extend(child.kill());
        for nonce in said.iter().map(|line| count(line)) {
            assert!(last.is_none_or(|last| nonce > last), "{nonce} after {last:?}");
            last = Some(nonce);
        }
    }
}

#[test]
fn a_second_process_is_refused_until_the_first_ends() {
    let (_temp, dir) = folder();
    let mut holder = Running::this_binary("hold", &dir);
    assert_eq!(holder.next(), "holding");
    assert_eq!(Running::this_binary("append", &dir).next(), "refused 7201");
    let error = AgentLog::open(&dir, AGENT).unwrap_err();
    assert_eq!(error.code(), 7201);
    assert!(Coded::transient(&error));
    // It waits; the lock of a killed process is free at once.
    let waiting = {
        let dir = dir.clone();
        std::thread::spawn(move || AgentLog::open_wait(&dir, AGENT, Duration::from_secs(60)).map(drop))
    };
    holder.kill();
    waiting.join().unwrap().unwrap();
}

#[test]
fn the_same_process_cannot_open_a_folder_twice() {
    let (_temp, dir) = folder();
    let _first = open(&dir);
    assert_eq!(AgentLog::open(&dir, AGENT).unwrap_err().code(), 7201);
}

/// The limit on file sizes stands for a full disk: a write stops in the middle of a record.
#[test]
fn a_write_that_fails_half_way_leaves_the_log_readable_and_usable() {
    let (_temp, dir) = folder();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 5; exec \"$0\" --exact crash::child --nocapture"]);
    shell.arg(std::env::current_exe().unwrap());
    let mut child = Running::start(shell, "append", &dir);
    let mut acknowledged = 0;
    let failure = loop {
        let line = child.next();
        match line.parse() {
            Ok(number) => acknowledged = number,
            Err(_) => break line,
        }
    };
    assert_eq!(failure, "failed 7200");
    assert!(acknowledged > 2, "{acknowledged}");
    child.child.wait().unwrap();
    let mut log = open(&dir);
    assert!(log.recovery().is_clean(), "what could not be completed was taken back at once");
    let expected: Vec<Message> = (0..acknowledged).map(Message::deliver).collect();
    assert_eq!(contents(&dir), encoded(&expected));
    let next = Message::deliver(acknowledged).append_to(&mut log).unwrap();
    assert_eq!((next.epoch, u64::from(next.index)), (EPOCH, acknowledged));
}

/// A reader without the lock, while another thread adds entries.
#[test]
fn a_reader_beside_a_writer_sees_a_growing_log_and_never_half_an_entry() {
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let reader = log.reader();
    let writer = std::thread::spawn(move || {
        for number in 0..300 {
            Message::deliver(number).append_to(&mut log).unwrap();
        }
    });
    let mut seen = 0;
    while seen < 300 {
        let leaves = reader.leaves(EPOCH, EPOCH).unwrap();
        assert!(leaves.len() >= seen);
        seen = leaves.len();
        assert!(!writer.is_finished() || seen == 300 || reader.len(EPOCH, EPOCH).unwrap() == 300);
    }
    writer.join().unwrap();
    let all: Vec<Message> = (0..300).map(Message::deliver).collect();
    assert_eq!(contents(&dir), encoded(&all));
}
