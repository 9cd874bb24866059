//! One owner and its clients: real processes, kill -9, and what is not an owner or no client.

use crate::common::{
    AGENT, EPOCH, Message, PEER, before, contents, covered, encoded, folder, keys, message, share, sign, view,
};
use crate::crash::{Running, count};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;
use zx1_log::{AgentLog, LogHandle, Next, Origin};
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::units::Slot;

const PATIENCE: Duration = Duration::from_secs(60);

/// What a child process does with a shared log; false for the other tasks.
pub(crate) fn child(task: &str, dir: &Path, say: &dyn Fn(String)) -> bool {
    if !task.starts_with("share") {
        return false;
    }
    let log = match LogHandle::open(dir, AGENT, PATIENCE) {
        Ok(log) => log,
        Err(error) => {
            say(format!("refused {}", error.code()));
            return true;
        }
    };
    say(if log.is_owner() { "owner" } else { "client" }.to_owned());
    match task {
        "share nonces" => loop {
            say(log.reserve_nonce(Channel::Direct, 5).unwrap().to_string());
        },
        "share appends" => {
            let first = u64::from(std::process::id()) << 20;
            for number in first.. {
                log.append_own(&Message::deliver(number).envelope(), 0).unwrap();
                say(number.to_string());
            }
        }
        "share" => {
            let _ = std::io::stdin().read(&mut [0]);
            drop(log);
            say("ended".to_owned());
        }
        other => panic!("no task {other}"),
    }
    true
}

#[test]
fn everything_works_through_another_process_that_has_the_log() {
    let (_temp, dir) = folder();
    let mut owner = Running::this_binary("share", &dir);
    assert_eq!(owner.next(), "owner");
    let log = share(&dir);
    assert!(!log.is_owner());
    assert_eq!(AgentLog::open(&dir, AGENT).unwrap_err().code(), 7201, "there is one writer");

    let now = EPOCH.0 * 86_400_000_000;
    let nonce = log.reserve_nonce(Channel::Direct, now).unwrap();
    assert_eq!(log.reserve_nonce(Channel::Direct, now).unwrap(), nonce + 1);
    let own = Message::propose(1, 10);
    log.check_own(&own.envelope(), now).unwrap();
    assert!(log.append_own(&own.envelope(), now).unwrap().new);
    assert!(!log.append_own(&own.envelope(), now).unwrap().new);
    // Refusals keep their kind.
    let long = Message::sent(2, MsgType::Propose, vec![0; 401]);
    assert!(matches!(
        log.check_own(&long.envelope(), now).unwrap_err(),
        zx1_log::LogError::PayloadTooLong { len: 401 }
    ));
    let received = Message::deliver(3).incoming().signed();
    let admitted = log.inbox().admit(&received.cbor(), &keys(), now, Origin::File { slot: None }).unwrap();
    assert!(admitted.logged.unwrap().new);
    let mut replay = Message::deliver(4).incoming();
    replay.nonce = received.nonce;
    let refused =
        log.inbox().admit(&replay.signed().cbor(), &keys(), now, Origin::File { slot: None }).unwrap_err();
    assert_eq!((refused.code(), refused.is_of_message()), (7315, true));
    assert_eq!(log.seen_nonces(&PEER, Channel::Direct).unwrap().highest(), Some(received.nonce));
    log.put_attestation(&ConversationId([3; 16]), &PEER, [7; 32]).unwrap();
    assert_eq!(log.attestation(&ConversationId([3; 16]), &PEER).unwrap(), Some([7; 32]));
    let hash = log.put_payload(b"bulk").unwrap();
    assert_eq!(log.payload(&hash).unwrap(), Some(b"bulk".to_vec()));
    let built = log.build(covered(0, 0), Slot(1), Slot(2)).unwrap();
    let seen = before(&log.batches(), covered(0, 0));
    assert_eq!(log.next_batch(&seen).unwrap(), Next::Sign(seen.views[0]));
    let message = message(&built, covered(0, 0), &seen);
    let (signer, signature) = sign(&message);
    log.seal(&built.bundle().unwrap(), &message, signer, signature, &seen).unwrap();
    assert_eq!(log.next_batch(&seen).unwrap(), Next::Send(EPOCH));
    let foreign = crate::common::seen([view(5, [1; 32], 6)]);
    let error = log.next_batch(&foreign).unwrap_err();
    assert!(matches!(error, zx1_log::LogError::ForeignBatch(epoch) if epoch.0 == EPOCH.0 + 5), "{error}");
    log.adopt(&[1; 32]).unwrap();
    assert_eq!(log.next_batch(&foreign).unwrap(), Next::Sign(foreign.views[0]));
    assert_eq!(log.append_own(&Message::deliver(9).envelope(), now).unwrap_err().code(), 7220);
    assert_eq!(log.batches().list().unwrap().len(), 1);
    assert_eq!(contents(&dir), encoded(&[own, received]));

    // An owner that ends in order leaves nothing behind, and its client takes over.
    owner.end();
    assert_eq!(owner.next(), "ended");
    assert!(log.reserve_nonce(Channel::Direct, now).unwrap() > nonce + 1);
    assert!(log.is_owner());
    drop(log);
    assert!(!dir.join("log.sock").exists());
}

#[test]
fn after_kill_9_of_the_owner_a_client_takes_over_and_the_others_follow() {
    let (_temp, dir) = folder();
    let mut owner = Running::this_binary("share", &dir);
    assert_eq!(owner.next(), "owner");
    let (first, second) = (share(&dir), share(&dir));
    first.append_own(&Message::deliver(1).envelope(), 0).unwrap();
    owner.kill();
    assert!(dir.join("log.sock").exists(), "the socket was left");
    second.append_own(&Message::deliver(2).envelope(), 0).unwrap();
    first.append_own(&Message::deliver(3).envelope(), 0).unwrap();
    assert!(second.is_owner() && !first.is_owner());
    assert_eq!(contents(&dir), encoded(&[1, 2, 3].map(Message::deliver)));
}

/// After the first kill the newest process may be as quick as the older ones.
fn assert_is_possible(round: u32, role: &str) {
    let expected = match round {
        0 => &["owner"][..],
        1 => &["client"],
        _ => &["owner", "client"],
    };
    assert!(expected.contains(&role), "{role} in round {round}");
}

#[test]
fn no_nonce_is_given_out_twice_when_owners_are_killed_one_after_the_other() {
    let (_temp, dir) = folder();
    let mut said = Vec::new();
    let mut running: Vec<Running> = Vec::new();
    for round in 0..6 {
        running.push(Running::this_binary("share nonces", &dir));
        let newest = running.last_mut().unwrap();
        let role = newest.next();
        assert_is_possible(round, &role);
        running.iter_mut().for_each(|child| said.extend((0..20).map(|_| child.next())));
        // The oldest has it, or another client that was quicker; either way somebody goes on.
        if round > 0 {
            said.extend(running.remove(0).kill());
            running.iter_mut().for_each(|child| said.extend((0..20).map(|_| child.next())));
        }
    }
    running.into_iter().for_each(|child| said.extend(child.kill()));
    let nonces: Vec<u64> = said.iter().map(|line| count(line)).collect();
    let distinct: HashSet<u64> = nonces.iter().copied().collect();
    assert_eq!(distinct.len(), nonces.len());
    assert!(nonces.len() > 300, "{}", nonces.len());
}

#[test]
fn what_was_acknowledged_is_in_the_log_once_when_owners_are_killed() {
    let (_temp, dir) = folder();
    let mut acknowledged = Vec::new();
    let mut running: Vec<Running> = Vec::new();
    for round in 0..4 {
        running.push(Running::this_binary("share appends", &dir));
        let role = running.last_mut().unwrap().next();
        assert_is_possible(round, &role);
        running.iter_mut().for_each(|child| acknowledged.extend((0..5).map(|_| child.next())));
        if round > 0 {
            acknowledged.extend(running.remove(0).kill());
        }
    }
    running.into_iter().for_each(|child| acknowledged.extend(child.kill()));
    let there = contents(&dir);
    let distinct: HashSet<&Vec<u8>> = there.iter().collect();
    assert_eq!(distinct.len(), there.len(), "an entry is there twice");
    for line in &acknowledged {
        assert!(distinct.contains(&Message::deliver(count(line)).encoded()), "{line} is lost");
    }
    assert!(there.len() - acknowledged.len() <= 8, "{} of {}", there.len(), acknowledged.len());
    // One writer at a time: the file is whole.
    assert!(AgentLog::open(&dir, AGENT).unwrap().recovery().is_clean());
}

/// Something that has the lock and the socket, and does what the test says with the first connection.
fn pretender(dir: &Path, attend: impl FnOnce(UnixStream) + Send + 'static) -> std::thread::JoinHandle<()> {
    drop(share(dir));
    let lock = File::open(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let path = dir.join("log.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        attend(stream);
        // As a process that is killed: nothing is cleaned up.
        drop((listener, lock));
    })
}

fn frame(json: &str) -> Vec<u8> {
    let len = u32::try_from(json.len()).unwrap().to_le_bytes();
    [len.as_slice(), &[0; 4], json.as_bytes()].concat()
}

fn greeting(version: u32, agent: AgentId) -> Vec<u8> {
    frame(&format!(r#"{{"version":{version},"agent":"{}"}}"#, hex::encode(agent)))
}

/// Greets, takes one request whole, and is gone.
fn loses_a_request(mut stream: UnixStream) {
    stream.write_all(&greeting(2, AGENT)).unwrap();
    let mut head = [0; 8];
    stream.read_exact(&mut head).unwrap();
    let len = u32::from_le_bytes(head[..4].try_into().unwrap());
    stream.read_exact(&mut vec![0; len as usize]).unwrap();
}

#[test]
fn a_request_whose_answer_was_lost_is_repeated_only_when_that_is_safe() {
    let (_temp, dir) = folder();
    let pretends = pretender(&dir, loses_a_request);
    let log = share(&dir);
    let nonce = log.reserve_nonce(Channel::Direct, 100).unwrap();
    assert!(nonce >= 100 && log.is_owner(), "asked again, of the log itself");
    pretends.join().unwrap();
    drop(log);

    let (_temp, dir) = folder();
    let pretends = pretender(&dir, loses_a_request);
    let log = share(&dir);
    let message = Message::deliver(3).incoming().signed();
    let admit =
        || log.inbox().admit(&message.cbor(), &keys(), message.timestamp, Origin::File { slot: None });
    assert_eq!(admit().unwrap_err().code(), 7204, "nobody knows whether it was taken");
    pretends.join().unwrap();
    // Whoever looks and asks again gets a true answer.
    assert!(admit().unwrap().logged.unwrap().new);
    assert!(!admit().unwrap().logged.unwrap().new);
}

#[test]
fn what_does_not_greet_as_this_agents_owner_is_no_owner() {
    for greeting in [greeting(1, AGENT), greeting(2, PEER), frame("{}"), vec![0xff; 64]] {
        let (_temp, dir) = folder();
        let pretends = pretender(&dir, move |mut stream| {
            stream.write_all(&greeting).unwrap();
            let _ = stream.read(&mut [0]);
        });
        let error = LogHandle::open(&dir, AGENT, PATIENCE).unwrap_err();
        assert_eq!(error.code(), 7206, "{error}");
        pretends.join().unwrap();
        assert!(share(&dir).is_owner(), "and when it has gone, the log is free");
    }
}

#[test]
fn a_holder_of_the_lock_that_shares_nothing_is_waited_for_and_then_named() {
    let (_temp, dir) = folder();
    let holder = AgentLog::open(&dir, AGENT).unwrap();
    assert_eq!(LogHandle::open(&dir, AGENT, Duration::ZERO).unwrap_err().code(), 7201);
    let waiting = {
        let dir = dir.clone();
        std::thread::spawn(move || share(&dir).is_owner())
    };
    drop(holder);
    assert!(waiting.join().unwrap());
}

#[test]
fn requests_that_are_none_end_their_connection_and_nothing_else() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    for noise in [
        vec![0xff; 8],
        [u32::MAX.to_le_bytes(), [0; 4]].concat(),
        [8u32.to_le_bytes(), u32::MAX.to_le_bytes()].concat(),
        frame("{}"),
        frame(r#"{"ReserveNonce":{"channel":9,"now_micros":1}}"#),
        frame(r#"{"AppendOwn":{"envelopes":["00"],"now_micros":1}}"#),
        frame(r#"{"SeenNonces":{"sender":"00","channel":1}}"#),
        frame("[[[[[[[[")[..12].to_vec(),
    ] {
        let mut stream = UnixStream::connect(dir.join("log.sock")).unwrap();
        stream.write_all(&noise).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        let beyond = said.len() - greeting(2, AGENT).len();
        assert!(beyond == 0 || String::from_utf8_lossy(&said).contains("Refused"), "{noise:?}");
    }
    log.append_own(&Message::deliver(1).envelope(), 0).unwrap();
    assert_eq!(contents(&dir).len(), 1);
}

#[test]
fn more_clients_than_there_are_places_wait_for_one() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let path = dir.join("log.sock");
    let seats: Vec<UnixStream> = (0..64)
        .map(|_| {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.read_exact(&mut vec![0; greeting(2, AGENT).len()]).unwrap();
            stream
        })
        .collect();
    assert_eq!(LogHandle::open(&dir, AGENT, Duration::ZERO).unwrap_err().code(), 7201);
    let waiting = {
        let dir = dir.clone();
        std::thread::spawn(move || share(&dir).reserve_nonce(Channel::Direct, 7).unwrap())
    };
    drop(seats);
    waiting.join().unwrap();
    drop(log);
}

#[test]
fn only_the_same_user_reaches_the_log() {
    let (_temp, dir) = folder();
    let log = share(&dir);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join("log.sock"))), (0o700, 0o600));
    // With permissions that somebody has loosened, the socket itself asks who comes. Only root can become
    // somebody else to try it.
    let open_to_all =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    dir.ancestors().take(3).for_each(|folder| open_to_all(folder, 0o755));
    open_to_all(&dir.join("log.sock"), 0o666);
    if rustix::process::geteuid().is_root() {
        let reach = |user: u32| {
            let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                          sys.exit(0 if s.recv(8) else 3)";
            let mut command = std::process::Command::new("python3");
            std::os::unix::process::CommandExt::uid(&mut command, user);
            let said = command.arg("-c").arg(script).arg(dir.join("log.sock")).current_dir("/").status();
            said.ok().and_then(|status| status.code())
        };
        if reach(0) == Some(0) {
            assert_eq!(reach(65_534), Some(3), "it is not even greeted");
        }
    }
    drop(log);
}

#[test]
fn a_socket_that_a_killed_process_left_and_a_very_long_path_hinder_nobody() {
    let (temp, dir) = folder();
    drop(share(&dir));
    drop(UnixListener::bind(dir.join("log.sock")).unwrap());
    assert!(share(&dir).is_owner());
    let deep = temp.path().join("d".repeat(120));
    let log = share(&deep);
    let client = share(&deep);
    assert!(log.is_owner() && !client.is_owner());
    client.append_own(&Message::deliver(1).envelope(), 0).unwrap();
    assert_eq!(contents(&deep).len(), 1);
}
