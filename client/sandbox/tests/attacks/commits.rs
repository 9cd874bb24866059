//! Attacks on the commit: what a person would overlook, what changes in between, what crashes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use zx1_sandbox::{Class, Consents, Kind, RecordState, Records, Repaired, Sandbox, SandboxError};

use crate::scenarios;
use crate::snapshot::{self, Depth, Snapshot};
use crate::world::{self, TREE, Who, good, records_dir, sandbox, sh};

scenarios! {
    contained:
        a_shim_that_fakes_success_needs_a_consent
        a_fix_that_edits_the_test_needs_a_consent
        start_up_files_hooks_and_setuid_need_consents_of_their_own
        writes_after_verification_fail
        a_full_refusal_touches_nothing;
    changing:
        a_file_changed_meanwhile_is_not_overwritten
        a_link_swapped_into_the_target_path_is_not_followed
        records_cannot_be_forged_by_a_fix
        every_kind_of_change_is_committed_and_undone
        a_crash_at_any_step_of_a_commit_leaves_all_or_nothing
        a_crash_at_any_step_of_an_undo_is_carried_to_its_end
        a_directory_of_another_user_is_committed_into_ok
        undo_refuses_when_the_files_were_changed_since
        undo_works_file_by_file_after_a_day_of_use;
}

fn refusal(sandbox: &mut Sandbox, consents: &Consents, who: Who) -> SandboxError {
    let changes = sandbox.changes().unwrap();
    let dir = tempfile_records(who);
    let records = Records::open(&dir).unwrap();
    let error = sandbox.dry_run_commit(&changes, consents, &records).expect_err("a refusal");
    fs::remove_dir_all(&dir).unwrap();
    error
}

/// Records outside of everything that is compared.
fn tempfile_records(who: Who) -> std::path::PathBuf {
    Path::new("/dev/shm").join(format!("records-{}", who.name()))
}

fn missing(error: &SandboxError) -> Vec<Class> {
    match error {
        SandboxError::NeedsConsent { missing, .. } => missing.clone(),
        other => panic!("{other}"),
    }
}

fn a_shim_that_fakes_success_needs_a_consent(who: Who) {
    let early = format!("{TREE}/bin");
    let build = || {
        let path = format!("{early}:/usr/bin:/bin");
        Sandbox::builder()
            .work_tree(TREE)
            .command_line("./run.sh && gcc main.c")
            .path_var(path)
            .build()
            .unwrap()
    };
    for line in [
        "mkdir bin; printf '#!/bin/sh\nexit 0\n' > bin/gcc; chmod 755 bin/gcc",
        "printf '#!/bin/sh\nexit 0\n' > run.sh",
        "rm run.sh; ln -s /bin/true run.sh",
        "mkdir bin; ln -s /bin/true bin/gcc",
    ] {
        let mut sandbox = build();
        good(&mut sandbox, line);
        let missing = missing(&refusal(&mut sandbox, &Consents::none(), who));
        assert!(missing.contains(&Class::OwnCommand), "{line}: {missing:?}");
        let shown = sandbox.changes().unwrap().to_string();
        assert!(
            shown.contains("needs a consent of its own: the executable of the failed command"),
            "{shown}"
        );
    }
}

fn a_fix_that_edits_the_test_needs_a_consent(who: Who) {
    for line in [
        "echo 'assert True' > tests/test_main.py",
        "rm tests/test_main.py",
        "rm -r tests",
        "mv tests t; ln -s t tests",
        "echo 'collect_ignore = [\"tests\"]' > conftest.py",
        "chmod 000 tests/test_main.py",
        "rm -r lib",
        "mv lib lib2",
    ] {
        let mut sandbox = sandbox();
        good(&mut sandbox, line);
        assert!(missing(&refusal(&mut sandbox, &Consents::none(), who)).contains(&Class::Tests), "{line}");
    }
}

fn start_up_files_hooks_and_setuid_need_consents_of_their_own(who: Who) {
    for (line, class) in [
        ("echo 'alias make=true' >> /home/u/.bashrc", Class::StartUpFile),
        ("echo 'exit 0' > /home/u/.zshenv", Class::StartUpFile),
        (
            "mkdir -p /home/u/.config/autostart; echo x > /home/u/.config/autostart/x.desktop",
            Class::StartUpFile,
        ),
        ("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", Class::Hook),
        ("mkdir -p .git/modules/sub/hooks; echo x > .git/modules/sub/hooks/post-checkout", Class::Hook),
        ("mkdir -p .git; echo '[core] fsmonitor = evil' > .git/config", Class::Hook),
        ("rm -rf .git", Class::Hook),
        ("cp /bin/sh tool; chmod 4755 tool", Class::SetuidBit),
        ("cp /bin/sh tool; chmod 2755 tool", Class::SetuidBit),
    ] {
        let mut sandbox = sandbox();
        sh(&mut sandbox, line);
        let found = missing(&refusal(&mut sandbox, &Consents::none().with(Class::OutsideTree), who));
        assert!(found.contains(&class), "{line}: {found:?}");
    }
}

fn writes_after_verification_fail(who: Who) {
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo good > file");
    let verified = sandbox.changes().unwrap();
    good(&mut sandbox, "echo evil > file");
    let dir = tempfile_records(who);
    let records = Records::open(&dir).unwrap();
    let error = sandbox.commit(&verified, &Consents::none(), &records).unwrap_err();
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(error.code(), 9221, "{error}");
}

fn a_full_refusal_touches_nothing(who: Who) {
    let mut sandbox = sandbox();
    good(&mut sandbox, "rm -rf /home/u/documents /tmp/shared; echo x > /mnt/data/file; rm main.c");
    let error = refusal(&mut sandbox, &Consents::none(), who);
    assert_eq!(error.code(), 9222);
    sandbox.discard();
}

fn a_file_changed_meanwhile_is_not_overwritten(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let main = Path::new(TREE).join("main.c");
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo fixed > main.c; echo x > new; rm -r deep");
    let changes = sandbox.changes().unwrap();
    sandbox.dry_run_commit(&changes, &Consents::none(), &records).unwrap();
    // By an editor, after the dry run.
    fs::write(&main, "the user's own work\n").unwrap();
    let error = sandbox.commit(&changes, &Consents::none(), &records).unwrap_err();
    assert!([9221, 9223].contains(&error.code()), "{error}");
    assert_eq!(fs::read_to_string(&main).unwrap(), "the user's own work\n");
    assert!(!Path::new(TREE).join("new").exists());
    assert!(Path::new(TREE).join("deep/a/b/c").exists());
    assert!(records.list().unwrap().is_empty());
}

fn a_link_swapped_into_the_target_path_is_not_followed(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let outside = "/home/u/documents";
    let before = snapshot::take(Path::new(outside), Depth::Visible);
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo x > deep/a/letter; chmod 600 deep/a/b/c");
    let changes = sandbox.changes().unwrap();
    // Somebody puts a link in the place of a directory on the way.
    fs::rename(format!("{TREE}/deep/a"), format!("{TREE}/deep/moved")).unwrap();
    symlink(outside, format!("{TREE}/deep/a")).unwrap();
    let error = sandbox.commit(&changes, &Consents::none(), &records).unwrap_err();
    assert!([9220, 9221, 9223, 9224, 9236].contains(&error.code()), "{error}");
    assert_eq!(
        snapshot::differences(&before, &snapshot::take(Path::new(outside), Depth::Visible)),
        Vec::<String>::new()
    );
}

fn records_cannot_be_forged_by_a_fix(_: Who) {
    let dir = Path::new(TREE).join("records");
    let records = Records::open(&dir).unwrap();
    let mut sandbox = sandbox();
    let forged = "mkdir -p records/1-1/backup; echo committing > records/1-1/state
        echo '{}' > records/1-1/record.json";
    good(&mut sandbox, forged);
    let changes = sandbox.changes().unwrap();
    let error = sandbox.dry_run_commit(&changes, &Consents::none(), &records).unwrap_err();
    assert_eq!(error.code(), 9227, "{error}");
}

/// Its modification time cannot be put back, which must not fail the commit.
fn a_directory_of_another_user_is_committed_into_ok(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo x > /tmp/new; echo y > /tmp/shared");
    let changes = sandbox.changes().unwrap();
    let record = sandbox.commit(&changes, &consents(), &records).unwrap();
    assert_eq!(fs::read_to_string("/tmp/shared").unwrap(), "y\n");
    records.undo(record.id()).unwrap();
    assert_eq!(fs::read_to_string("/tmp/shared").unwrap(), "shared\n");
    assert!(!Path::new("/tmp/new").exists());
}

/// One of every kind; the tree and what lies outside.
const EVERYTHING: &str = "
    echo added > added; printf '\\0\\1' > binary; echo changed > main.c; rm run.sh; chmod 600 Makefile
    mkdir -p new/dir; echo in > new/dir/file; chmod 500 new/dir; ln -s file new/dir/link; mkfifo new/pipe
    ln new/dir/file new/hard; rm -r deep; echo 'was a directory' > deep
    rm link.c; mkdir link.c; echo x > link.c/x
    touch -d @1000000000.123456789 hard.c; mkdir empty; echo outside > /mnt/data/outside
    rm /home/u/documents/letter
    chown 1000:1000 binary 2>/dev/null; /opt/attack/attacker zx1-attack own-attributes";

fn consents() -> Consents {
    let all = [Class::OutsideTree, Class::Link, Class::Binary, Class::Executable, Class::System];
    all.into_iter().fold(Consents::none(), Consents::with)
}

fn real_tree() -> Snapshot {
    let mut all = snapshot::take(Path::new(TREE), Depth::Visible);
    all.extend(snapshot::take(Path::new("/mnt/data"), Depth::Visible));
    all.extend(snapshot::take(Path::new("/home/u/documents"), Depth::Visible));
    all
}

fn prepared() -> (Sandbox, zx1_sandbox::ChangeSet) {
    let mut sandbox = sandbox();
    let outcome = sh(&mut sandbox, EVERYTHING);
    assert!(outcome.success(), "{outcome:?}");
    let changes = sandbox.changes().unwrap();
    (sandbox, changes)
}

fn every_kind_of_change_is_committed_and_undone(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let before = real_tree();
    let (mut sandbox, changes) = prepared();
    // What the commands saw at the end is what must be there afterwards.
    let seen = good(&mut sandbox, LISTING);
    sandbox.dry_run_commit(&changes, &consents(), &records).unwrap();
    let record = sandbox.commit(&changes, &consents(), &records).unwrap();
    let real =
        std::process::Command::new("/bin/sh").args(["-c", LISTING]).current_dir(TREE).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&real.stdout), seen);
    let tree = Path::new(TREE);
    assert_eq!(fs::metadata(tree.join("new/hard")).unwrap().nlink(), 2);
    assert_eq!(fs::metadata(tree.join("new/dir")).unwrap().permissions().mode() & 0o7777, 0o500);
    assert_eq!(fs::metadata(tree.join("hard.c")).unwrap().mtime_nsec(), 123_456_789);
    for name in ["added", "hard.c"] {
        let mut value = [0u8; 8];
        let length = rustix::fs::getxattr(tree.join(name), "user.zx1", &mut value[..]).unwrap();
        assert_eq!(value[..length], *b"hello", "attributes are part of the change");
    }
    let kinds = |kind: Kind| changes.entries.iter().any(|entry| entry.kind == kind);
    assert!([Kind::Added, Kind::Modified, Kind::Deleted, Kind::Meta, Kind::Replaced].into_iter().all(kinds));
    // A second look by a new sandbox finds nothing to do.
    records.undo(record.id()).unwrap();
    assert_eq!(snapshot::differences(&before, &real_tree()), Vec::<String>::new());
    assert_eq!(records.list().unwrap()[0].state, RecordState::Undone);
    assert_eq!(records.undo(record.id()).unwrap_err().code(), 9232);
    records.forget(record.id()).unwrap();
    assert!(records.list().unwrap().is_empty());
}

/// Type, mode, links, size, time and content of everything that a command sees.
const LISTING: &str =
    "find . /mnt/data /home/u/documents ! -name '.env*' ! -path '*/certs/*' ! -path '*/wallet/*' -printf '%p %y %m %s %l\\n' | sort |
        grep -v ' d '
    find . ! -name '.env*' -type d -printf '%p %m\\n' | sort
    cat added main.c deep new/dir/file; stat -c %Y.%y hard.c main.c added";

/// In a process of its own that kills itself at a step; says how it ended.
fn killed_at(step: u64, who: Who, what: &str) -> bool {
    let status = std::process::Command::new("/proc/self/exe")
        .args([world::ARGUMENT, who.name(), what])
        .env("ZX1_TEST_STEP", step.to_string())
        .status()
        .unwrap();
    assert!(status.success() || status.signal() == Some(9), "{status}");
    !status.success()
}

fn step_of_this_process() -> Option<u64> {
    std::env::var("ZX1_TEST_STEP").ok().and_then(|step| step.parse().ok())
}

fn a_crash_at_any_step_of_a_commit_leaves_all_or_nothing(who: Who) {
    if let Some(step) = step_of_this_process() {
        let records = Records::open(records_dir(who)).unwrap();
        let (sandbox, changes) = prepared();
        zx1_sandbox::testing::kill_at_step(step);
        sandbox.commit(&changes, &consents(), &records).unwrap();
        return;
    }
    let before = real_tree();
    let mut forward = 0;
    let mut back = 0;
    let mut step = 0;
    while killed_at(step, who, "a_crash_at_any_step_of_a_commit_leaves_all_or_nothing") {
        let records = Records::open(records_dir(who)).unwrap();
        match records.repaired() {
            [Repaired::Committed(id)] => {
                forward += 1;
                let id = id.clone();
                all_is_committed(&before, step);
                records.undo(&id).unwrap();
            }
            [Repaired::TakenBack(_)] | []
                if records.list().unwrap().iter().all(|one| one.state != RecordState::Done) =>
            {
                back += 1;
            }
            // It was complete, only nobody heard of it.
            [] => {
                let list = records.list().unwrap();
                let id = &list.iter().find(|one| one.state == RecordState::Done).unwrap().id;
                all_is_committed(&before, step);
                records.undo(id).unwrap();
            }
            other => panic!("step {step}: {other:?}"),
        }
        let differences = snapshot::differences(&before, &real_tree());
        assert!(differences.is_empty(), "step {step}: {differences:#?}");
        step += 1;
    }
    assert!(forward >= 10 && back >= 10, "{step} steps, {forward} forward, {back} back");
    println!("{step} steps, {forward} carried on, {back} taken back");
}

fn all_is_committed(before: &Snapshot, step: u64) {
    let now = real_tree();
    assert!(!snapshot::differences(before, &now).is_empty());
    let tree = Path::new(TREE);
    assert_eq!(fs::read_to_string(tree.join("new/dir/file")).unwrap(), "in\n", "step {step}");
    assert_eq!(fs::read_to_string(tree.join("deep")).unwrap(), "was a directory\n", "step {step}");
    assert!(!tree.join("run.sh").exists() && !Path::new("/home/u/documents/letter").exists(), "step {step}");
    let left = now
        .keys()
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".zx1-")));
    assert_eq!(left, None, "step {step}");
}

fn a_crash_at_any_step_of_an_undo_is_carried_to_its_end(who: Who) {
    if let Some(step) = step_of_this_process() {
        let records = Records::open(records_dir(who)).unwrap();
        let id = records.list().unwrap().last().unwrap().id.clone();
        zx1_sandbox::testing::kill_at_step(step);
        records.undo(&id).unwrap();
        return;
    }
    let before = real_tree();
    let mut step = 0;
    loop {
        let records = Records::open(records_dir(who)).unwrap();
        let (sandbox, changes) = prepared();
        let id = sandbox.commit(&changes, &consents(), &records).unwrap().id().to_owned();
        drop(records);
        let killed = killed_at(step, who, "a_crash_at_any_step_of_an_undo_is_carried_to_its_end");
        let records = Records::open(records_dir(who)).unwrap();
        let state = records.list().unwrap().into_iter().find(|one| one.id == id).unwrap().state;
        if state == RecordState::Done {
            records.undo(&id).unwrap();
        }
        let differences = snapshot::differences(&before, &real_tree());
        assert!(differences.is_empty(), "step {step}: {differences:#?}");
        records.forget(&id).unwrap();
        if !killed {
            break;
        }
        step += 1;
    }
    assert!(step >= 10, "{step} steps");
}

fn undo_refuses_when_the_files_were_changed_since(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo fixed > main.c; mkdir d; echo x > d/x");
    let changes = sandbox.changes().unwrap();
    let record = sandbox.commit(&changes, &Consents::none(), &records).unwrap();
    for name in ["main.c", "d/x"] {
        fs::write(format!("{TREE}/{name}"), "mine\n").unwrap();
    }
    assert_eq!(records.undo(record.id()).unwrap_err().code(), 9233);
    assert_eq!(fs::read_to_string(format!("{TREE}/main.c")).unwrap(), "mine\n", "nothing was undone");
}

/// A folder of caches, a run that touches a time, an edit of the same length and time: what is still the commit's goes,
/// everything else stays and is named.
fn undo_works_file_by_file_after_a_day_of_use(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let tree = Path::new(TREE);
    let mut sandbox = sandbox();
    good(
        &mut sandbox,
        "echo fixed > main.c; echo m > Makefile; mkdir -p pkg/sub; echo x > pkg/x; echo y > pkg/sub/y",
    );
    let changes = sandbox.changes().unwrap();
    let record = sandbox.commit(&changes, &Consents::none(), &records).unwrap();
    fs::create_dir(tree.join("pkg/__pycache__")).unwrap();
    fs::write(tree.join("pkg/__pycache__/x.pyc"), "cache").unwrap();
    fs::File::options()
        .write(true)
        .open(tree.join("pkg/sub/y"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    // The same length, and its time is put back.
    let makefile = tree.join("Makefile");
    let time = fs::metadata(&makefile).unwrap().modified().unwrap();
    fs::write(&makefile, "u\n").unwrap();
    fs::File::options().write(true).open(&makefile).unwrap().set_modified(time).unwrap();
    // An editor writes the same text again, into a new file.
    fs::write(tree.join("main.new"), "fixed\n").unwrap();
    fs::rename(tree.join("main.new"), tree.join("main.c")).unwrap();

    let left = records.undo(record.id()).unwrap();
    assert_eq!(
        left,
        [makefile.clone(), tree.join("pkg")],
        "a folder that holds something else stays, and is named"
    );
    assert_eq!(fs::read_to_string(&makefile).unwrap(), "u\n", "a later edit is not overwritten");
    assert!(fs::read_to_string(tree.join("main.c")).unwrap().contains("sqrt"), "the old one is back");
    assert!(!tree.join("pkg/x").exists() && !tree.join("pkg/sub").exists());
    assert!(tree.join("pkg/__pycache__/x.pyc").exists(), "it is not the commit's");
    assert_eq!(records.list().unwrap()[0].state, RecordState::Undone);
}
