//! The program that git runs as the broker's hook, and that connects a git of the host with the broker.
//!
//! As a hook it decides nothing: it carries what git says to the broker that started this git, and the broker's answer
//! back. Without a broker it refuses.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use zx1_home::socket;

/// Variable with the folder of the broker's socket for the hooks of one connection.
pub const TALK: &str = "ZX1_CAPSULE_TALK";
/// Name of that socket.
pub const SOCKET: &str = "hook";
/// Names under which git runs this program.
pub const HOOKS: [&str; 2] = ["pre-receive", "reference-transaction"];
/// Most that a hook says, bytes.
pub const SAYS_MAX: u64 = 1 << 20;

/// Runs as a hook if git started this program as one, and does not return then. Call it first in `main`.
pub fn hook_main_if_asked() {
    if let Some(name) = hook_name(std::env::args_os().next()) {
        std::process::exit(i32::from(hook(&name).is_err()))
    }
}

fn hook_name(program: Option<OsString>) -> Option<String> {
    std::env::var_os(TALK)?;
    let program = program?;
    let name = Path::new(&program).file_name()?.to_str()?;
    HOOKS.contains(&name).then(|| name.to_owned())
}

/// `main` of the helper program: a hook, or `connect SOCKET`.
#[must_use]
pub fn main() -> ExitCode {
    hook_main_if_asked();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match &arguments[..] {
        [word, path] if word == "connect" => connect(Path::new(path)),
        _ => Err(io::Error::other("expected `connect SOCKET`")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "zx1-capsule-helper: {error}");
            ExitCode::FAILURE
        }
    }
}

fn hook(name: &str) -> io::Result<()> {
    let folder = std::env::var_os(TALK).ok_or(io::ErrorKind::NotFound)?;
    let (_folder, path) = socket::path_in(Path::new(&folder), SOCKET)?;
    let mut stream = UnixStream::connect(path)?;
    let state = std::env::args().nth(1).unwrap_or_default();
    let quarantine = std::env::var("GIT_QUARANTINE_PATH").unwrap_or_default();
    write!(stream, "{name}\n{state}\n{quarantine}\n")?;
    io::copy(&mut io::stdin().take(SAYS_MAX), &mut stream)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = String::new();
    stream.take(4_096).read_to_string(&mut answer)?;
    if answer == "ok" {
        return Ok(());
    }
    let _ = writeln!(io::stderr(), "{answer}");
    Err(io::Error::other("refused"))
}

/// Carries bytes both ways between standard input and output and a socket. Git's `ext::` transport uses it.
///
/// # Errors
/// The system's.
pub fn connect(path: &Path) -> io::Result<()> {
    let folder = zx1_home::files::folder_of(path);
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    let (_folder, path) = socket::path_in(folder, name)?;
    let stream = UnixStream::connect(path)?;
    let mut to_broker = stream.try_clone()?;
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut to_broker);
        let _ = to_broker.shutdown(Shutdown::Write);
    });
    let mut from_broker = stream;
    let mut out = io::stdout();
    let mut piece = [0u8; 1 << 14];
    loop {
        let count = from_broker.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        out.write_all(piece.get(..count).unwrap_or_default())?;
        out.flush()?;
    }
}
