//! `qa_attack`: looks from inside of a sandbox for what must not be there. What the sandbox's own tests do to it with
//! system calls is in `client/sandbox/tests/attacks`; this is what can be seen without any.

use super::version::of_this_program;
use std::fs;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};
use zx1_market::Json;
use zx1_qa::observation::Observation;
use zx1_qa::repro::Repro;

/// An attack: what it found open, as a clause.
type Scene = fn() -> Option<String>;

/// All attacks by their names.
pub const SCENES: [(&str, Scene); 6] = [
    ("network", network),
    ("processes", processes),
    ("rights", rights),
    ("devices", devices),
    ("sockets", sockets),
    ("homes", homes),
];

/// Whether a call names a scene that there is, or none.
pub(crate) fn has(call: &Repro) -> bool {
    let wanted = call.arguments().get("scene").and_then(Json::as_str);
    wanted.is_none_or(|wanted| SCENES.iter().any(|(name, _)| *name == wanted))
}

/// Answers a call: one scene, or all.
pub(crate) fn answer(call: &Repro) -> Observation {
    let began = Instant::now();
    let wanted = call.arguments().get("scene").and_then(Json::as_str);
    let chosen = SCENES.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name));
    let mut open = chosen.filter_map(|(name, scene)| scene().map(|what| format!("{name}: {what}")));
    let answer = match open.next() {
        Some(what) => Observation::wrong(of_this_program(), &what),
        None => Observation::fine(of_this_program()),
    };
    Observation { latency_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX), ..answer }
}

/// Another interface than loopback, or a packet that leaves.
fn network() -> Option<String> {
    let table = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut names = table.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim);
    if let Some(name) = names.find(|name| !name.is_empty() && *name != "lo") {
        return Some(format!("there is an interface {name}"));
    }
    // Addresses that are kept for documentation: nobody answers there.
    let far = SocketAddr::from(([192, 0, 2, 1], 80));
    if TcpStream::connect_timeout(&far, Duration::from_millis(300)).is_ok() {
        return Some("a connection leaves".to_owned());
    }
    let sent = UdpSocket::bind(("0.0.0.0", 0)).and_then(|socket| socket.send_to(b"x", far));
    sent.is_ok().then(|| "a packet leaves".to_owned())
}

/// Processes of somebody else.
fn processes() -> Option<String> {
    let own = std::process::id();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // The first process is the sandbox's own.
        if id != own && id != 1 {
            return Some(format!("process {id} is seen"));
        }
    }
    None
}

/// A right that a command must not have.
fn rights() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    // What the sandbox leaves to root, in a user namespace of its own: chown, dac_override, fowner, fsetid, kill, setgid,
    // setuid, net_bind_service, sys_ptrace. Everything over mounts, networks, modules and the machine is gone.
    let kept = 0x8_04fb_u64;
    match u64::from_str_radix(&value("CapEff:"), 16) {
        Ok(rights) if rights & !kept == 0 => {}
        _ => return Some(format!("it has the capabilities {}", value("CapEff:"))),
    }
    if value("NoNewPrivs:") != "1" {
        return Some("it can gain rights".to_owned());
    }
    (value("Seccomp:") != "2").then(|| "its system calls are not filtered".to_owned())
}

/// A device that is more than a source or a sink of bytes.
fn devices() -> Option<String> {
    let harmless = ["null", "zero", "full", "random", "urandom", "tty", "ptmx"];
    for entry in fs::read_dir("/dev").into_iter().flatten().flatten() {
        use std::os::unix::fs::FileTypeExt as _;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_block_device() || (kind.is_char_device() && !harmless.contains(&name.as_str())) {
            return Some(format!("there is a device {name}"));
        }
    }
    None
}

/// A socket of the host.
fn sockets() -> Option<String> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let bound = table.lines().skip(1).find(|line| line.contains('/'))?;
    Some(format!("the socket {} is seen", bound.rsplit(' ').next().unwrap_or_default()))
}

/// Secrets in homes.
fn homes() -> Option<String> {
    let secret = [".ssh", ".gnupg", ".config/solana", ".config/zx1", ".config/fix", ".aws", ".netrc"];
    let homes = fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path());
    for home in homes.chain(["/root".into()]) {
        for name in secret {
            let path = home.join(name);
            let is_filled = fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some());
            if is_filled || fs::read(&path).is_ok_and(|bytes| !bytes.is_empty()) {
                return Some(format!("{} can be read", path.display()));
            }
        }
    }
    None
}
