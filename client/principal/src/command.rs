//! The command on the real machine, exactly as it was typed: with its own standard input, and with terminals
//! where it would have terminals. Its output is kept while it streams.

use crate::{Refusal, Result};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use zx1_market::contract::Run;
use zx1_net::clause;

/// Bytes that are kept of the beginning and of the end of the output: together what a contract holds, and
/// some more for what scrubbing takes away.
const HEAD: usize = 24 * 1024;
const TAIL: usize = 72 * 1024;
/// How long output is awaited after the command's end, from processes that it left.
const LINGER: Duration = Duration::from_millis(300);

/// Outcome of the command's run.
#[derive(Debug)]
pub struct Ran {
    /// Standard output and error as they came, with lines that end in \n.
    pub output: String,
    /// Exit code; 127 when there is no such program, 128 and the signal when one ended it.
    pub exit: u8,
    /// Ctrl+C ended it.
    pub interrupted: bool,
}

/// Standard stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stream {
    Out,
    Err,
}

/// Runs a command in a folder. `terminal`: both of its streams are one terminal, so that their order is kept. Everything that
/// it writes is passed on at once.
///
/// # Errors
/// 9541 when it cannot be started for another reason than that there is no such program or it may not be run.
pub fn run(
    words: &[OsString],
    folder: &Path,
    terminal: bool,
    pass_on: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ran> {
    let program = words.first().ok_or(Refusal::NotUtf8)?;
    let (sender, pieces) = channel();
    let (out, err) = pipes(&sender, terminal).map_err(|error| cannot(program, &error))?;
    drop(sender);
    let child =
        Command::new(program).args(words.iter().skip(1)).current_dir(folder).stdout(out).stderr(err).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let program = program.to_string_lossy();
            // What shells say of a path.
            let why = if program.contains('/') { "No such file or directory" } else { "command not found" };
            let said = format!("{program}: {why}\n");
            pass_on(Stream::Err, said.as_bytes());
            return Ok(Ran { output: said, exit: 127, interrupted: false });
        }
        // What shells say when a file may not be run.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let said = format!("{}: Permission denied\n", program.to_string_lossy());
            pass_on(Stream::Err, said.as_bytes());
            return Ok(Ran { output: said, exit: 126, interrupted: false });
        }
        Err(error) => return Err(cannot(program, &error).into()),
    };
    let mut kept = Kept::default();
    let mut keep = |(stream, piece): (Stream, Vec<u8>)| {
        pass_on(stream, &piece);
        kept.add(&piece);
    };
    let status = loop {
        // The readers end when the command and all that it left have closed their ends.
        match pieces.recv_timeout(Duration::from_millis(20)) {
            Ok(piece) => keep(piece),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait().map_err(|error| cannot(program, &error))? {
                    break status;
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                break child.wait().map_err(|error| cannot(program, &error))?;
            }
        }
    };
    drain(&pieces, &mut keep);
    let exit = code(status);
    let text = String::from_utf8_lossy(&kept.bytes()).into_owned();
    let interrupted = status.signal() == Some(2) || exit == 130;
    Ok(Ran { output: text.replace("\r\n", "\n"), exit, interrupted })
}

/// A line that was run once, to see how it ends.
#[derive(Debug)]
pub(crate) struct Once {
    /// How it ended, and its standard output.
    pub(crate) run: Run,
    /// Both streams, one after the other.
    pub(crate) output: String,
}

/// Runs a line of the shell in a folder to its end, with nothing to read.
///
/// # Errors
/// 9541 when no shell can be started.
pub(crate) fn once(line: &str, folder: &Path) -> Result<Once> {
    let shell = OsString::from("/bin/sh");
    let (sender, pieces) = channel();
    let (out, err) = pipes(&sender, false).map_err(|error| cannot(&shell, &error))?;
    drop(sender);
    let child = Command::new(&shell)
        .args(["-c", line])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn();
    let mut child = child.map_err(|error| cannot(&shell, &error))?;
    let (mut out, mut err) = (Kept::default(), Kept::default());
    let mut keep = |(stream, piece): (Stream, Vec<u8>)| match stream {
        Stream::Out => out.add(&piece),
        Stream::Err => err.add(&piece),
    };
    let status = loop {
        match pieces.recv_timeout(Duration::from_millis(20)) {
            Ok(piece) => keep(piece),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait().map_err(|error| cannot(&shell, &error))? {
                    break status;
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                break child.wait().map_err(|error| cannot(&shell, &error))?;
            }
        }
    };
    drain(&pieces, &mut keep);
    let text = |kept: Kept| String::from_utf8_lossy(&kept.bytes()).into_owned();
    let stdout = text(out);
    let output = format!("{stdout}{}", text(err));
    let run = Run { exit: status.code(), signal: status.signal(), limit: None, stdout };
    Ok(Once { run, output })
}

fn cannot(program: &OsString, error: &io::Error) -> Refusal {
    Refusal::CannotRun { program: program.to_string_lossy().into_owned(), why: reason(error) }
}

/// A system error's reason without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    clause(text.split(" (os error").next().unwrap_or(&text))
}

/// The exit code as shells count it.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| signal.saturating_add(128));
    u8::try_from(status.code().or(signal).unwrap_or(1)).unwrap_or(1)
}

fn drain(pieces: &Receiver<(Stream, Vec<u8>)>, keep: &mut impl FnMut((Stream, Vec<u8>))) {
    let end = Instant::now() + LINGER;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        match pieces.recv_timeout(left) {
            Ok(piece) => keep(piece),
            Err(_) => return,
        }
    }
}

/// What the command writes to: one terminal for both streams where both are terminals, so that their order is
/// kept; pipes elsewhere.
fn pipes(sender: &Sender<(Stream, Vec<u8>)>, terminal: bool) -> io::Result<(Stdio, Stdio)> {
    if terminal && let Ok((master, slave)) = pseudo_terminal() {
        let second = slave.try_clone()?;
        read_in_background(master, Stream::Out, sender);
        return Ok((slave.into(), second.into()));
    }
    let pipe = |stream| -> io::Result<Stdio> {
        let (reader, writer): (PipeReader, _) = io::pipe()?;
        read_in_background(reader, stream, sender);
        Ok(writer.into())
    };
    Ok((pipe(Stream::Out)?, pipe(Stream::Err)?))
}

/// A terminal of the same size that changes nothing on the way.
fn pseudo_terminal() -> io::Result<(File, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let name = name.to_str().map_err(io::Error::other)?;
    let slave = OpenOptions::new().read(true).write(true).open(name)?;
    let mut modes = tcgetattr(&slave)?;
    // The real terminal does this once; twice would show.
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    if let Ok(size) = tcgetwinsize(io::stderr()) {
        tcsetwinsize(&slave, size)?;
    }
    Ok((File::from(master), slave))
}

fn read_in_background(mut from: impl Read + Send + 'static, stream: Stream, to: &Sender<(Stream, Vec<u8>)>) {
    let to = to.clone();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match from.read(&mut buffer) {
                // A terminal ends with an error once its last user has closed it.
                Ok(0) => return,
                Ok(size) => {
                    let piece = buffer.get(..size).unwrap_or_default().to_vec();
                    if to.send((stream, piece)).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
}

/// Beginning and end of the output.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    left_out: usize,
}

impl Kept {
    fn add(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() > 2 * (HEAD + TAIL) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.bytes.len().saturating_sub(HEAD + TAIL);
        if excess > 0 {
            self.bytes.drain(HEAD..HEAD.saturating_add(excess));
            self.left_out = self.left_out.saturating_add(excess);
        }
    }

    fn bytes(mut self) -> Vec<u8> {
        self.cut();
        if self.left_out > 0 {
            let note = format!("\n[... {} bytes left out ...]\n", self.left_out);
            self.bytes.splice(HEAD..HEAD, note.into_bytes());
        }
        self.bytes
    }
}

/// Commands that a shell has itself.
const BUILTINS: &[&str] = &[
    ".", ":", "alias", "bg", "break", "cd", "command", "continue", "eval", "exec", "exit", "export", "fc",
    "fg", "getopts", "hash", "jobs", "local", "read", "readonly", "return", "set", "shift", "times", "trap",
    "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// Whether a word is a command of shells, and not a program on PATH.
pub fn is_builtin(word: &str) -> bool {
    BUILTINS.contains(&word) && !is_program(word)
}

/// Whether there is something to run under this word: a path, a line for the shell, a command of shells, a program on
/// PATH.
pub fn is_found(word: &str) -> bool {
    word.contains(|c: char| c == '/' || c.is_whitespace()) || BUILTINS.contains(&word) || is_program(word)
}

pub(crate) fn is_program(word: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let meta = folder.join(word).metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// Whether a word needs no quotes.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./=:,+@%^".contains(&byte))
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
    if is_plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Words as one command line of a POSIX shell.
///
/// # Errors
/// 9540.
pub fn line_of<S: AsRef<OsStr>>(words: &[S]) -> Result<String, Refusal> {
    let words: Option<Vec<String>> = words.iter().map(|word| Some(quoted(word.as_ref().to_str()?))).collect();
    Ok(words.ok_or(Refusal::NotUtf8)?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(line: &str) -> Ran {
        run(&["sh".into(), "-c".into(), line.into()], Path::new("/"), false, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn output_of_both_streams_and_the_exit_code_are_kept() {
        let ran = ran("echo out; echo err >&2; exit 3");
        assert!(ran.output.contains("out\n") && ran.output.contains("err\n"), "{ran:?}");
        assert_eq!((ran.exit, ran.interrupted), (3, false));
    }

    #[test]
    fn a_signal_counts_as_shells_count_it() {
        assert_eq!(ran("kill -9 $$").exit, 137);
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failed_command() {
        let ran = run(&["no-such-program-anywhere".into()], Path::new("/"), false, &mut |_, _| {}).unwrap();
        assert_eq!((ran.exit, ran.output.as_str()), (127, "no-such-program-anywhere: command not found\n"));
    }

    #[test]
    fn a_path_that_is_not_there_is_missing_and_no_command() {
        let ran = run(&["./nothing.sh".into()], Path::new("/"), false, &mut |_, _| {}).unwrap();
        assert_eq!((ran.exit, ran.output.as_str()), (127, "./nothing.sh: No such file or directory\n"));
    }

    #[test]
    fn programs_paths_and_what_shells_have_are_found() {
        for word in ["sh", "./nothing", "cd build && make", "cd", "ulimit"] {
            assert!(is_found(word), "{word}");
        }
        assert!(!is_found("no-such-program-anywhere") && !is_found(""));
        assert!(is_builtin("cd") && !is_builtin("sh") && !is_builtin("contrcts"));
    }

    #[test]
    fn a_file_without_the_execute_bit_is_a_failed_command() {
        let ran = run(&["/etc/passwd".into()], Path::new("/"), false, &mut |_, _| {}).unwrap();
        assert_eq!((ran.exit, ran.output.as_str()), (126, "/etc/passwd: Permission denied\n"));
    }

    #[test]
    fn of_long_output_beginning_and_end_are_kept() {
        let ran = ran("echo first; head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; echo last");
        assert!(ran.output.starts_with("first\n") && ran.output.ends_with("last\n"));
        assert!(ran.output.contains("bytes left out") && ran.output.len() < 2 * (HEAD + TAIL));
    }

    #[test]
    fn a_process_that_stays_behind_does_not_hold_it_up() {
        let began = Instant::now();
        let ran = ran("sleep 30 & echo done");
        assert!(ran.output.contains("done") && began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn words_come_back_from_a_shell_as_they_were() {
        let words =
            ["printf", "%s|", "plain", "", "two words", "it's", "$HOME", "a\nb", "*", "~", "a;b", "\\"];
        let output =
            std::process::Command::new("sh").arg("-c").arg(line_of(&words).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), words[2..].join("|") + "|");
    }

    #[test]
    fn a_usual_command_stays_readable() {
        assert_eq!(line_of(&["gcc", "-O2", "m.c", "-o", "m"]).unwrap(), "gcc -O2 m.c -o m");
    }
}
