//! Attacks on files: destroying, hiding, linking, marking.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use zx1_sandbox::{Class, Command, Consents, Kind, LimitKind, Records, Sandbox};

use crate::scenarios;
use crate::world::{TREE, Who, attack, good, has_one_user, limits, records_dir, sandbox, sh};

scenarios! {
    contained:
        rm_rf_root_destroys_nothing
        writes_everywhere_stay_in_the_overlay
        hard_and_symbolic_links_lead_to_no_real_file
        device_files_keep_their_looks
        marks_of_the_overlay_set_by_hand_show_nothing
        a_read_only_run_writes_nothing
        a_deep_tree_and_strange_names_are_listed_or_refused
        names_and_contents_cannot_fake_lines_of_the_diff
        files_full_of_holes_are_refused_at_once
        sockets_and_pipes_in_the_change_set_are_shown_or_left_out
        a_directory_emptied_and_made_anew_is_seen
        directories_of_others_stay_closed;
    changing: a_hard_link_to_a_file_outside_needs_a_consent;
}

fn rm_rf_root_destroys_nothing(_: Who) {
    let mut sandbox = sandbox();
    sh(&mut sandbox, "rm -rf --no-preserve-root / 2>/dev/null; echo done");
    let changes = sandbox.changes().unwrap();
    // A directory that is gone takes all below it along.
    let lost = Path::new(TREE).join("main.c");
    let gone = lost.ancestors().find_map(|path| changes.get(path)).expect("the loss is shown");
    assert_eq!(gone.kind, Kind::Deleted);
    assert!(changes.classes().contains(&Class::OutsideTree));
    assert!(
        changes.get("/mnt/data/file").is_some_and(|entry| entry.kind == Kind::Deleted),
        "other mounts too"
    );
}

fn writes_everywhere_stay_in_the_overlay(who: Who) {
    let mut sandbox = sandbox();
    let places = [
        "/tmp",
        "/var/tmp",
        "/home/u",
        "/mnt/data",
        "'/mnt/strange name\\\n'",
        "/srv/locked",
        "/etc",
        "/root",
        "/var/lib",
    ];
    for place in places {
        let outcome = sh(
            &mut sandbox,
            &format!("echo x > {place}/evil && chmod 777 {place}/evil && rm -f {place}/file"),
        );
        let roots = matches!(place, "/etc" | "/root" | "/var/lib");
        assert_eq!(outcome.success(), who == Who::Root || has_one_user() || !roots, "{place}: {outcome:?}");
    }
    sh(&mut sandbox, "echo x > /run/evil; echo x > /dev/shm/evil; echo x > /var/run/evil");
    let changes = sandbox.changes().unwrap();
    for place in ["/tmp", "/home/u", "/mnt/data", "/mnt/strange name\\\n", "/srv/locked"] {
        let entry =
            changes.get(Path::new(place).join("evil")).unwrap_or_else(|| panic!("{place} is not shown"));
        assert!(entry.classes.contains(&Class::OutsideTree));
    }
    assert_eq!(changes.get("/etc/evil").is_some(), who == Who::Root || has_one_user());
    assert!(changes.get("/run/evil").is_none(), "what is private is forgotten");
}

fn hard_and_symbolic_links_lead_to_no_real_file(_: Who) {
    let mut sandbox = sandbox();
    good(
        &mut sandbox,
        "ln main.c h; ln -s /home/u/documents/letter s; ln -s / r; ln -s /proc/self/root p;
         echo evil > h; echo evil > s; echo evil > r/home/u/.bashrc; echo evil > p/tmp/shared; chmod 666 s;
         ln -sfn /home/u/documents deep/d; echo evil > deep/d/new
         mv deep elsewhere; mv elsewhere/a /tmp/moved",
    );
    let changes = sandbox.changes().unwrap();
    for path in ["/home/u/documents/letter", "/home/u/.bashrc", "/tmp/shared", "/home/u/documents/new"] {
        let entry = changes.get(path).unwrap_or_else(|| panic!("{path} is not shown in\n{changes}"));
        assert!(entry.classes.contains(&Class::OutsideTree), "a change by a link counts where it landed");
    }
    assert!(changes.get("/home/u/.bashrc").unwrap().classes.contains(&Class::StartUpFile));
}

fn a_hard_link_to_a_file_outside_needs_a_consent(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let mut sandbox = sandbox();
    good(&mut sandbox, "ln /home/u/documents/letter here");
    let changes = sandbox.changes().unwrap();
    let entry = changes.get(format!("{TREE}/here")).unwrap();
    assert!(entry.classes.contains(&Class::OutsideTree), "{entry:?}");
    let refused = sandbox.dry_run_commit(&changes, &Consents::none(), &records).unwrap_err();
    assert_eq!(refused.code(), 9222, "{refused}");
    let consents = Consents::none().with(Class::OutsideTree).with(Class::Link);
    let record = sandbox.commit(&changes, &consents, &records).unwrap();
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &str| std::fs::metadata(path).unwrap().ino();
    assert_eq!(inode(&format!("{TREE}/here")), inode("/home/u/documents/letter"));
    records.undo(record.id()).unwrap();
    assert!(!Path::new(TREE).join("here").exists());
}

fn device_files_keep_their_looks(_: Who) {
    attack(&mut sandbox(), "devices");
}

fn marks_of_the_overlay_set_by_hand_show_nothing(_: Who) {
    let mut sandbox = sandbox();
    attack(&mut sandbox, "overlay-marks");
    assert_eq!(good(&mut sandbox, "ls -A marked"), "", "nor in the next run");
    let changes = sandbox.changes().unwrap();
    assert_eq!(changes.entries.len(), 1, "{changes}");
}

fn a_read_only_run_writes_nothing(_: Who) {
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo kept > kept");
    let line = "for d in . /tmp /home/u /mnt/data /srv/locked /run /etc /root /run/lock; do
         (echo x > $d/evil) 2>/dev/null && echo open $d; done; rm -f main.c 2>/dev/null && echo open rm;
         touch main.c 2>/dev/null && echo open touch
         chmod 0 main.c 2>/dev/null && echo open chmod; cat kept";
    let outcome = sandbox.run(&Command::shell(line).read_only(true), &limits()).unwrap();
    assert_eq!(outcome.stdout.text(), "kept\n", "{outcome:?}");
    assert_eq!(sandbox.changes().unwrap().entries.len(), 1);
    good(&mut sandbox, "echo again > again");
}

fn a_deep_tree_and_strange_names_are_listed_or_refused(_: Who) {
    let mut sandbox = sandbox();
    good(
        &mut sandbox,
        r#"printf x > "$(printf 'a\nb')"; printf x > "$(printf '\377\376')"; printf x > ' '
           printf x > "$(printf 'e\033[31m')""#,
    );
    let changes = sandbox.changes().unwrap();
    assert!(changes.get(Path::new(TREE).join("a\nb")).is_some());
    assert!(changes.get(Path::new(TREE).join(std::ffi::OsStr::from_bytes(b"\xff\xfe"))).is_some());
    let deep = "i=0; while [ $i -lt 400 ]; do
        mkdir dddddddddddddddddddd && cd -P dddddddddddddddddddd || exit 0; i=$((i+1)); done";
    sh(&mut sandbox, deep);
    match sandbox.changes() {
        Ok(changes) => assert!(changes.entries.len() > 100),
        Err(error) => assert_eq!(error.code(), 9220, "{error}"),
    }
}

fn names_and_contents_cannot_fake_lines_of_the_diff(_: Who) {
    let mut sandbox = sandbox();
    good(
        &mut sandbox,
        r#"printf 'x' > "$(printf 'a\nM innocent')"; printf 'x' > "$(printf 'r\342\200\256txt')"
           printf 'one\r' > b; printf 'z\n' > c
           printf '\033[2K\033[1A hidden \342\200\213 \363\240\201\201\n' > d; mkfifo pipe"#,
    );
    let shown = sandbox.changes().unwrap().to_string();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(!lines.iter().any(|line| line.starts_with("M ")), "{shown}");
    assert!(lines.contains(&"A c  2 bytes"), "a line of its own after a file without a line end\n{shown}");
    assert!(lines.iter().any(|line| line.starts_with("A pipe") && line.contains("pipe")), "{shown}");
    assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "{shown:?}");
    for hidden in ['\u{202e}', '\u{200b}', '\u{e0041}'] {
        assert!(!shown.contains(hidden), "{shown:?}");
    }
}

fn files_full_of_holes_are_refused_at_once(_: Who) {
    let mut sandbox = sandbox();
    let holes = Command::argv([crate::jail::ATTACKER, crate::attacker::ARGUMENT, "many-holes"]);
    let outcome = sandbox.run(&holes, &limits()).unwrap();
    assert_eq!(outcome.limit_hit, Some(LimitKind::Files), "the run fails, and not only the scan");
    let began = std::time::Instant::now();
    let refused = sandbox.changes().unwrap_err();
    assert_eq!(refused.code(), 9228, "{refused}");
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

fn sockets_and_pipes_in_the_change_set_are_shown_or_left_out(_: Who) {
    let mut sandbox = sandbox();
    good(
        &mut sandbox,
        "mkfifo pipe
         perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => \"sock\", Listen => 1)'; test -S sock",
    );
    let changes = sandbox.changes().unwrap();
    assert!(changes.get(format!("{TREE}/pipe")).is_some());
    assert!(changes.get(format!("{TREE}/sock")).is_none(), "a socket without its process leads nowhere");
}

fn a_directory_emptied_and_made_anew_is_seen(_: Who) {
    let mut sandbox = sandbox();
    good(&mut sandbox, "rm -r deep tests; mkdir -p deep/a; echo x > deep/a/new; mkdir tests");
    let changes = sandbox.changes().unwrap();
    assert_eq!(changes.get(format!("{TREE}/deep/a/b")).unwrap().kind, Kind::Deleted, "{changes}");
    assert_eq!(changes.get(format!("{TREE}/deep/a/new")).unwrap().kind, Kind::Added);
    let test = changes.get(format!("{TREE}/tests/test_main.py")).unwrap();
    assert!(test.classes.contains(&Class::Tests));
}

fn directories_of_others_stay_closed(who: Who) {
    let mut sandbox: Sandbox = sandbox();
    let outcome = sh(&mut sandbox, "cat /root/notes; ls /root; echo x > /root/x; mv /root /root2");
    let text = outcome.stdout.text().into_owned();
    assert_eq!(text.contains("notes"), who == Who::Root || has_one_user(), "{outcome:?}");
}
