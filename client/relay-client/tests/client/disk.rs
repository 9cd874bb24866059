//! What is read and written on disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use tempfile::tempdir;
use zx1_relay_client::ClientError;
use zx1_relay_client::files::{gather, store};
use zx1_relay_rules::RelayError;
use zx1_relay_rules::slurp::File;

use crate::peer::names;

fn file(path: &str) -> File {
    File { path: path.into(), bytes: format!("{path}\n").into_bytes() }
}

#[test]
fn a_folder_is_read_whole_and_written_again() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    let src = from.path().join("src");
    fs::create_dir_all(src.join("deep/er")).unwrap();
    fs::write(src.join("b"), "b\n").unwrap();
    fs::write(src.join("deep/er/a"), [0, 1, 2]).unwrap();
    fs::write(from.path().join("one"), "1\n").unwrap();
    let files = gather(&[src, from.path().join("one")]).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/b", "src/deep/er/a", "one"]);
    let out = to.path().join("new/out");
    let written = store(&out, &files).unwrap();
    assert_eq!(written[1], out.join("src/deep/er/a"));
    assert_eq!(fs::read(&written[1]).unwrap(), [0, 1, 2]);
    assert_eq!(fs::metadata(&written[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(&out), ["one", "src", "src/b", "src/deep", "src/deep/er", "src/deep/er/a"]);
}

#[test]
fn links_pipes_and_too_many_files_are_not_read() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("secret"), "s").unwrap();
    fs::create_dir(at("linked")).unwrap();
    symlink(at("secret"), at("linked/link")).unwrap();
    symlink(at("linked"), at("door")).unwrap();
    fs::create_dir(at("piped")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("piped/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    for name in ["linked", "linked/link", "door", "piped"] {
        assert!(matches!(gather(&[at(name)]), Err(ClientError::NotPlain { .. })), "{name}");
    }
    assert!(matches!(gather(&[at("nothing")]), Err(ClientError::Disk { .. })));
    fs::create_dir(at("many")).unwrap();
    for number in 0..257 {
        fs::write(at(&format!("many/{number}")), "").unwrap();
    }
    assert!(matches!(gather(&[at("many")]), Err(ClientError::TooMany { most: 256, .. })));
    fs::remove_file(at("many/256")).unwrap();
    assert_eq!(gather(&[at("many")]).unwrap().len(), 256);
    let large = fs::File::create(at("large")).unwrap();
    large.set_len(50 * 1024 * 1024 + 1).unwrap();
    assert!(matches!(gather(&[at("large")]), Err(ClientError::Rule(RelayError::ArchiveTooLarge { .. }))));
}

fn refused(folder: &Path, files: &[File]) -> ClientError {
    let before = names(folder);
    let refused = store(folder, files).unwrap_err();
    assert_eq!(names(folder), before, "{refused}");
    refused
}

#[test]
fn nothing_is_written_outside_of_the_folder_or_over_a_file() {
    let place = tempdir().unwrap();
    let (out, outside) = (place.path().join("out"), place.path().join("outside"));
    fs::create_dir_all(out.join("real")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(out.join("taken"), "old").unwrap();
    symlink(&outside, out.join("door")).unwrap();
    symlink(outside.join("dangling"), out.join("leaf")).unwrap();
    for path in ["../x", "/etc/x", "a/../../x", "a\\b", "c:x", "con"] {
        assert!(
            matches!(refused(&out, &[file("ok"), file(path)]), ClientError::Rule(RelayError::Path { .. })),
            "{path}"
        );
    }
    assert_eq!(refused(&out, &[file("a"), file("A")]), RelayError::SameName.into());
    assert!(matches!(refused(&out, &[file("ok"), file("taken")]), ClientError::Taken { .. }));
    assert!(matches!(refused(&out, &[file("ok"), file("leaf")]), ClientError::Taken { .. }));
    assert!(matches!(refused(&out, &[file("ok"), file("door/x")]), ClientError::NotPlain { .. }));
    assert!(matches!(refused(&out, &[file("ok"), file("taken/x")]), ClientError::NotPlain { .. }));
    assert!(matches!(refused(&out, &[file("real")]), ClientError::Taken { .. }));
    assert_eq!(fs::read_to_string(out.join("taken")).unwrap(), "old");
    assert_eq!(names(&outside), Vec::<String>::new());
    store(&out, &[file("real/x"), file("ok")]).unwrap();
    assert_eq!(fs::read_to_string(out.join("real/x")).unwrap(), "real/x\n");
}
