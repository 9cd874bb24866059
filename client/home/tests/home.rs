//! Files and locks where processes die in the middle.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use zx1_home::files::{self, Draft};
use zx1_home::keys::{self, Form, KeyError, KeyFileError};
use zx1_home::{Lock, LockError};

/// Tells a child of a test what to work on. A process that dies needs to be one of its own, so such tests run
/// themselves again.
const CHILD: &str = "ZX1_HOME_TEST_PATH";

fn child_path() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// The command that runs `test` again, as a child, below `prefix`.
fn again(test: &str, path: &Path, limits: &str) -> Command {
    let mut command = Command::new("sh");
    let line = format!("{limits} exec \"$0\" --exact {test} --nocapture");
    command.args(["-c", &line]).arg(std::env::current_exe().unwrap()).env(CHILD, path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_process_that_dies_while_it_writes_leaves_the_old_file() {
    if let Some(path) = child_path() {
        // The kernel ends this process when the file passes the limit that its parent has set.
        files::replace(&path, &vec![b'n'; 1 << 20]).unwrap();
        unreachable!("the limit did not hold");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    files::replace(&path, b"old").unwrap();
    let test = "a_process_that_dies_while_it_writes_leaves_the_old_file";
    let died = again(test, &path, "ulimit -c 0; ulimit -f 64;").output().unwrap();
    assert!(!died.status.success());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    // The torn file is there under another name, and whoever has the folder's lock removes it.
    let left = names(folder.path());
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(files::is_unfinished(Path::new(&left[0])), "{left:?}");
    assert_eq!(fs::metadata(folder.path().join(&left[0])).unwrap().len() % 512, 0);
    files::remove_unfinished(folder.path()).unwrap();
    assert_eq!(names(folder.path()), ["state"]);
    files::replace(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    files::create(&path, b"old").unwrap();
    let mut draft = Draft::new(&path).unwrap();
    draft.write_all(b"half").unwrap();
    drop(draft);
    assert_eq!(files::create(&path, b"new").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(files::replace(Path::new(""), b"x").unwrap_err().kind(), ErrorKind::InvalidInput);
    let taken = folder.path().join("folder");
    fs::create_dir(&taken).unwrap();
    assert!(files::replace(&taken, b"new").is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["folder", "state"]);
    assert!(files::remove(&path).unwrap());
    assert!(!files::remove(&path).unwrap());
}

#[test]
fn files_and_folders_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b/c");
    files::make_folder(&deep).unwrap();
    for made in ["a", "a/b", "a/b/c"] {
        assert_eq!(mode(&folder.path().join(made)), 0o700, "{made}");
    }
    files::create(&deep.join("created"), b"1").unwrap();
    files::replace(&deep.join("replaced"), b"1").unwrap();
    files::replace_shared(&deep.join("shared"), b"1").unwrap();
    drop(Lock::try_take(&deep.join("lock")).unwrap());
    for private in ["created", "replaced", "lock"] {
        assert_eq!(mode(&deep.join(private)), 0o600, "{private}");
    }
    assert_eq!(mode(&deep.join("shared")) | 0o066, 0o666);
    // Replacing a file that others could read takes it from them.
    fs::set_permissions(deep.join("replaced"), fs::Permissions::from_mode(0o644)).unwrap();
    files::replace(&deep.join("replaced"), b"2").unwrap();
    assert_eq!(mode(&deep.join("replaced")), 0o600);
    // A folder that others could enter is closed only by the function that says so.
    fs::set_permissions(&deep, fs::Permissions::from_mode(0o755)).unwrap();
    files::make_folder(&deep).unwrap();
    assert_eq!(mode(&deep), 0o755);
    files::make_private_folder(&deep).unwrap();
    assert_eq!(mode(&deep), 0o700);
    assert!(files::make_folder(&deep.join("created")).is_err());
    assert!(files::make_folder(&deep.join("created/below")).is_err());
}

#[test]
fn a_file_is_read_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert!(files::read(&path, 10).unwrap().is_none());
    files::create(&path, &[7; 100]).unwrap();
    assert_eq!(files::read(&path, 100).unwrap().unwrap().as_slice(), [7; 100]);
    let refused = files::read(&path, 99).unwrap_err().to_string();
    assert_eq!(refused, "it has 100 bytes, and at most 99 are read");
}

#[test]
fn a_second_process_is_told_who_has_the_lock() {
    if let Some(path) = child_path() {
        let _lock = Lock::try_take(&path).unwrap();
        println!("locked {}", std::process::id());
        // Until the parent kills this process.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::abort();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut holder =
        again("a_second_process_is_told_who_has_the_lock", &path, "ulimit -c 0;").spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let said = lines
        .map(Result::unwrap)
        .find_map(|line| line.split_once("locked ").map(|(_, id)| id.trim().parse::<u32>().unwrap()));
    assert_eq!(said, Some(holder.id()));
    let refused = Lock::try_take(&path).unwrap_err();
    assert!(matches!(&refused, LockError::Held { owner, .. } if *owner == Some(holder.id())), "{refused}");
    assert_eq!(refused.to_string(), format!("{} is locked by process {}", path.display(), holder.id()));
    let begun = Instant::now();
    let limit = Duration::from_millis(100);
    assert!(matches!(Lock::take_within(&path, limit), Err(LockError::Held { .. })));
    assert!(begun.elapsed() >= limit);
    holder.kill().unwrap();
    holder.wait().unwrap();
    // The kernel has taken it back; what the dead process wrote into the file says nothing any more.
    let lock = Lock::try_take(&path).unwrap();
    let ours = Lock::try_take(&path).unwrap_err();
    assert!(matches!(ours, LockError::Held { owner: Some(id), .. } if id == std::process::id()));
    drop(lock);
    Lock::wait(&path).unwrap().remove();
    assert!(!path.exists());
}

#[test]
fn a_lock_whose_file_was_removed_is_a_lock_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let first = Lock::try_take(&path).unwrap();
    let waiting = {
        let path = path.clone();
        std::thread::spawn(move || Lock::wait(&path).unwrap())
    };
    first.remove();
    let second = waiting.join().unwrap();
    assert!(path.exists());
    assert!(matches!(Lock::try_take(&path), Err(LockError::Held { .. })));
    drop(second);
    assert!(Lock::try_take(&path).is_ok());
}

#[test]
fn a_key_file_is_read_back_in_every_form_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    for form in [Form::SolanaJson, Form::Raw, Form::Hex] {
        let path = folder.path().join(format!("keys/{form:?}"));
        let seed = keys::random().unwrap();
        keys::create(&path, &seed, form).unwrap();
        let read = keys::read(&path).unwrap();
        assert_eq!((&read.seed, read.form, read.private), (&seed, form, true));
        let other = keys::random().unwrap();
        assert_ne!(other, seed);
        assert_eq!(keys::create(&path, &other, form).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(keys::read(&path).unwrap().seed, seed);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(!keys::read(&path).unwrap().private);
    }
}

#[test]
fn a_key_file_whose_halves_differ_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (path, seed) = (folder.path().join("key"), keys::random().unwrap());
    let half = keys::public(&keys::random().unwrap());
    let pair: Vec<String> = seed.iter().chain(&half).map(u8::to_string).collect();
    files::create(&path, format!("[{}]", pair.join(",")).as_bytes()).unwrap();
    assert!(matches!(keys::read(&path), Err(KeyFileError::Key(KeyError::HalvesDiffer))));
}

#[test]
fn what_is_no_key_file_fails_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    assert!(matches!(keys::read(&path), Err(KeyFileError::Missing)));
    assert!(matches!(keys::read(folder.path()), Err(KeyFileError::Folder)));
    files::create(&path, &vec![b'a'; 5_000]).unwrap();
    let refused = keys::read(&path).unwrap_err();
    assert!(matches!(refused, KeyFileError::Key(KeyError::UnknownForm { found: 5_000 })), "{refused}");
}
