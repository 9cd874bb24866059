//! Attacks on the kernel, on other processes, on the network, and on limits.

use std::io::Read;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::time::{Duration, Instant};

use zx1_sandbox::{Command, LimitKind, Limits};

use crate::attacker::ARGUMENT;
use crate::jail::ATTACKER;
use crate::scenarios;
use crate::world::{TREE, Who, attack, good, limits, sandbox, sh};

scenarios! {
    contained:
        refused_system_calls_fail
        refused_sockets_fail
        nothing_reaches_the_network
        other_processes_are_out_of_reach
        the_kernels_files_are_read_only
        the_kernels_secrets_are_hidden
        no_descriptor_is_inherited
        the_terminal_is_out_of_reach
        there_are_no_rights_to_gain
        every_mount_is_nosuid
        there_is_no_way_above_the_root
        calls_of_another_architecture_are_killed
        a_fork_bomb_is_contained
        memory_is_limited
        memory_that_no_process_maps_is_limited
        shared_memory_that_is_not_mapped_is_limited
        the_disk_is_limited
        time_is_limited
        output_is_limited
        a_run_is_canceled_from_another_thread
        no_process_outlives_its_run
        nothing_outlives_a_killed_caller;
    changing: sockets_of_the_host_are_out_of_reach;
}

fn refused_system_calls_fail(_: Who) {
    attack(&mut sandbox(), "system-calls");
}

fn refused_sockets_fail(_: Who) {
    attack(&mut sandbox(), "socket-kinds");
}

fn other_processes_are_out_of_reach(_: Who) {
    attack(&mut sandbox(), "processes");
}

fn the_kernels_files_are_read_only(_: Who) {
    attack(&mut sandbox(), "proc-writes");
}

fn the_kernels_secrets_are_hidden(_: Who) {
    attack(&mut sandbox(), "proc-reads");
}

fn no_descriptor_is_inherited(_: Who) {
    // Open in the caller and not closed at exec, as a careless program would.
    let secret = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let directory = std::fs::File::open("/").unwrap();
    rustix::io::fcntl_setfd(&directory, rustix::io::FdFlags::empty()).unwrap();
    attack(&mut sandbox(), "descriptors");
}

fn the_terminal_is_out_of_reach(_: Who) {
    attack(&mut sandbox(), "terminal");
}

fn there_are_no_rights_to_gain(_: Who) {
    attack(&mut sandbox(), "rights");
}

fn every_mount_is_nosuid(_: Who) {
    attack(&mut sandbox(), "mount-flags");
}

fn there_is_no_way_above_the_root(_: Who) {
    attack(&mut sandbox(), "leaving-the-root");
}

fn calls_of_another_architecture_are_killed(_: Who) {
    if cfg!(target_arch = "x86_64") {
        let outcome =
            sandbox().run(&Command::argv([ATTACKER, ARGUMENT, "other-architecture"]), &limits()).unwrap();
        assert_eq!((outcome.signal, outcome.stdout.total), (Some(31), 0), "{outcome:?}");
    }
}

fn nothing_reaches_the_network(_: Who) {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let address = tcp.local_addr().unwrap().to_string();
    std::net::TcpStream::connect(&address).expect("the listener works outside");
    tcp.accept().unwrap();
    let command = Command::argv([ATTACKER, ARGUMENT, "network", &address]);
    let outcome = sandbox().run(&command, &limits()).unwrap();
    let text = outcome.stdout.text();
    assert!(outcome.success() && text.lines().count() >= 6, "{outcome:?}");
    assert!(text.lines().all(|line| line.starts_with("held")), "{text}");
    assert!(tcp.accept().is_err(), "nobody came");
    good(
        &mut sandbox(),
        "perl -MIO::Socket::INET -e '
        $s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1:0\", Listen => 1)
        or exit 1;
        IO::Socket::INET->new(PeerAddr => \"127.0.0.1:\".$s->sockport) or exit 2'",
    );
}

fn sockets_of_the_host_are_out_of_reach(who: Who) {
    let mut places = vec![
        "/tmp/sock".to_owned(),
        format!("{TREE}/sock"),
        "/mnt/data/sock".to_owned(),
        "/srv/locked/sock".to_owned(),
    ];
    if who == Who::Root {
        places.push("/run/docker.sock".to_owned());
        places.push("/var/lib/sock".to_owned());
    }
    let listeners: Vec<UnixListener> =
        places.iter().map(|place| UnixListener::bind(place).unwrap()).collect();
    let hidden = SocketAddr::from_abstract_name("zx1-abstract").unwrap();
    let hidden = UnixListener::bind_addr(&hidden).unwrap();
    // Bound after the sandbox began, so that no mask can know it.
    let mut sandbox = sandbox();
    let late = UnixListener::bind("/tmp/late").unwrap();
    let pipe = format!("{TREE}/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    use std::os::unix::fs::OpenOptionsExt;
    let mut reader =
        std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
    let mut words = vec![ATTACKER.to_owned(), ARGUMENT.to_owned(), "local-sockets".to_owned()];
    words.extend(places);
    words.extend([
        "@zx1-abstract".to_owned(),
        "/tmp/late".to_owned(),
        format!("|{pipe}"),
        "/run/docker.sock".to_owned(),
    ]);
    let outcome = sandbox.run(&Command::argv(words), &limits()).unwrap();
    let text = outcome.stdout.text();
    assert!(outcome.success() && text.lines().count() >= 8, "{outcome:?}");
    assert!(text.lines().all(|line| line.starts_with("held")), "{text}");
    for listener in listeners.iter().chain([&hidden, &late]) {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "somebody came to {listener:?}");
    }
    assert!(reader.read(&mut [0; 8]).unwrap_or(0) == 0, "the pipe of the host stays empty");
}

fn a_fork_bomb_is_contained(_: Who) {
    let mut sandbox = sandbox();
    let short = Limits { time: Duration::from_secs(5), ..limits() };
    // Since Linux 6.14 a hard bound, before the bomb: the counting of every 10 ms may come late.
    let release = good(&mut sandbox, "cat /proc/sys/kernel/osrelease; cat /proc/sys/kernel/pid_max");
    let numbers: Vec<u32> = release.split(['.', '-', '\n']).filter_map(|part| part.parse().ok()).collect();
    if numbers[..2] >= [6, 14][..] {
        assert!(release.trim().ends_with("\n301"), "{release}");
    }
    let bomb = sandbox.run(&Command::shell("b() { b | b & }; b; sleep 60"), &short).unwrap();
    // Either the count ends it, or the hard bound lets it fork no more and it dies of that by itself.
    let starved = bomb.exit == Some(2) && bomb.stderr.text().contains("Cannot fork");
    assert!(bomb.limit_hit.is_some() || starved, "{bomb:?}");
    assert!(bomb.wall < Duration::from_secs(20), "{bomb:?}");
    let outcome = sandbox.run(&Command::argv([ATTACKER, ARGUMENT, "forks"]), &short).unwrap();
    assert!(!outcome.stdout.text().contains("OPEN"), "{outcome:?}");
    good(&mut sandbox, "echo alive");
}

fn memory_is_limited(_: Who) {
    let mut sandbox = sandbox();
    let outcome =
        sh(&mut sandbox, "perl -e '$x = \"x\" x (1 << 20); push @a, $x . $_ for 1..1500; print \"OPEN\"'");
    assert_eq!(outcome.limit_hit, Some(LimitKind::Memory), "{outcome:?}");
    assert_eq!(outcome.stdout.total, 0);
    good(&mut sandbox, "echo alive");
}

fn memory_that_no_process_maps_is_limited(_: Who) {
    let small = Limits { memory: 128 << 20, ..limits() };
    let outcome = sandbox().run(&Command::argv([ATTACKER, ARGUMENT, "hidden-memory"]), &small).unwrap();
    assert!(!outcome.stdout.text().contains("OPEN"), "{outcome:?}");
}

fn shared_memory_that_is_not_mapped_is_limited(_: Who) {
    let command = Command::argv([ATTACKER, ARGUMENT, "unmapped-shared-memory"]);
    let small = Limits { memory: 128 << 20, ..limits() };
    let outcome = sandbox().run(&command, &small).unwrap();
    assert_eq!(outcome.limit_hit, Some(LimitKind::Memory), "{outcome:?}");
    assert!(!outcome.stdout.text().contains("OPEN"), "{outcome:?}");
}

fn the_disk_is_limited(_: Who) {
    let mut sandbox = sandbox();
    let outcome = sh(
        &mut sandbox,
        "head -c 200M /dev/zero > big; head -c 200M /dev/zero > /tmp/big; echo x > after || echo full",
    );
    assert!(outcome.stderr.text().contains("No space left"), "{outcome:?}");
    let total: u64 = sandbox
        .changes()
        .unwrap()
        .entries
        .iter()
        .filter_map(|entry| entry.after.as_ref())
        .map(|meta| meta.size)
        .sum();
    assert!(total <= 64 << 20, "{total}");
    good(&mut sandbox, "rm big /tmp/big; echo alive > after");
    let outcome = sh(
        &mut sandbox,
        "head -c 600M /dev/zero > /dev/shm/big
         i=0; while [ $i -lt 500 ]; do echo > /run/lock/$i; i=$((i+1)); done",
    );
    assert!(outcome.stderr.text().contains("No space left"), "{outcome:?}");
}

fn time_is_limited(_: Who) {
    let short = Limits { time: Duration::from_millis(300), ..limits() };
    let mut sandbox = sandbox();
    for line in
        ["sleep 60", "trap '' TERM HUP INT; while :; do :; done", "setsid sleep 60 & wait", "kill -STOP $$"]
    {
        let outcome = sandbox.run(&Command::shell(line), &short).unwrap();
        assert_eq!(outcome.limit_hit, Some(LimitKind::Time), "{line}: {outcome:?}");
        assert!(outcome.wall < Duration::from_secs(5), "{line}: {outcome:?}");
        assert!(!outcome.success());
    }
}

fn output_is_limited(_: Who) {
    let little = Limits { output: 1000, ..limits() };
    let outcome = sandbox().run(&Command::shell("yes"), &little).unwrap();
    assert_eq!(outcome.limit_hit, Some(LimitKind::Output));
    assert!(outcome.stdout.truncated && outcome.stdout.bytes.len() < 1100);
}

fn a_run_is_canceled_from_another_thread(_: Who) {
    let mut sandbox = sandbox();
    let canceller = sandbox.canceller();
    let mut said = false;
    let outcome = sandbox
        .run_with(&Command::shell("echo started; sleep 60"), &limits(), |_, _| {
            said = true;
            let canceller = canceller.clone();
            std::thread::spawn(move || canceller.cancel());
        })
        .unwrap();
    assert!(said);
    assert_eq!(outcome.limit_hit, Some(LimitKind::Canceled));
    good(&mut sandbox, "echo alive");
}

fn no_process_outlives_its_run(_: Who) {
    let mut sandbox = sandbox();
    let line = "trap '' HUP; (setsid sh -c 'trap \"\" HUP TERM; while :; do date +%N > beat; done' \
        >/dev/null 2>&1 &)
        while [ ! -s beat ]; do :; done";
    let outcome = sh(&mut sandbox, line);
    assert!(outcome.success(), "{outcome:?}");
    let first = sandbox.changes().unwrap();
    let second = sandbox.changes().unwrap();
    assert_eq!(first.digest, second.digest, "nothing is written after the run");
    assert_eq!(good(&mut sandbox, "set -- /proc/[0-9]*; echo $#"), "1\n", "the shell alone");
    assert_eq!(processes_named("sh -c trap"), 0);
}

/// Processes of the jail whose command line holds a text.
fn processes_named(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").contains(text)
        })
        .count()
}

/// The caller is killed in the middle of a run: helper, command and overlay end with it.
fn nothing_outlives_a_killed_caller(who: Who) {
    use std::io::{BufRead, Write};
    const INNER: &str = "ZX1_TEST_CALLER";
    if std::env::var_os(INNER).is_some() {
        let line = "echo x > begun; echo started; while :; do sleep 12345; done";
        let _ = sandbox().run_with(&Command::shell(line), &limits(), |_, bytes| {
            std::io::stdout().write_all(bytes).unwrap();
            std::io::stdout().flush().unwrap();
        });
        return;
    }
    let mut caller = std::process::Command::new("/proc/self/exe")
        .args([crate::world::ARGUMENT, who.name(), "nothing_outlives_a_killed_caller"])
        .env(INNER, "1")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::new(caller.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let deadline = Instant::now() + Duration::from_secs(10);
    while processes_named("sleep 12345") == 0 {
        assert!(Instant::now() < deadline, "the run did not begin");
        std::thread::yield_now();
    }
    caller.kill().unwrap();
    caller.wait().unwrap();
    while processes_named("sleep 12345") > 0 || processes_named("zx1-sandbox-helper") > 0 {
        assert!(Instant::now() < deadline, "something is still there");
        std::thread::yield_now();
    }
    assert!(!Path::new(TREE).join("begun").exists());
}
