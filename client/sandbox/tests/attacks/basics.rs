//! What everything else relies on: run, changes, commit, undo, discard.

use std::fs;
use std::path::Path;

use zx1_sandbox::{Consents, Kind, RecordState, Records};

use crate::scenarios;
use crate::snapshot::{self, Depth};
use crate::world::{Who, good, records_dir, sandbox, sh};

scenarios! {
    contained: discard_leaves_no_trace the_view_shows_the_host_ok exit_codes_come_through_ok;
    changing: commit_applies_exactly_the_change_set_and_undo_puts_all_back;
}

fn discard_leaves_no_trace(_: Who) {
    let mut sandbox = sandbox();
    good(&mut sandbox, "echo new > new; echo more >> main.c; rm run.sh; chmod 600 Makefile; mkdir -p d/e");
    good(&mut sandbox, "cat new; test ! -e run.sh; echo x > /tmp/x; echo y > /mnt/data/y");
    let changes = sandbox.changes().unwrap();
    assert!(!changes.is_empty());
    sandbox.discard();
}

fn the_view_shows_the_host_ok(who: Who) {
    let mut sandbox = sandbox();
    assert_eq!(sandbox.info().privileged, who == Who::Root);
    assert_eq!(
        good(&mut sandbox, "cat deep/a/b/c; cat /mnt/data/file; cat /etc/important.conf"),
        "deep\ndata\nvalue = 1\n"
    );
    assert_eq!(good(&mut sandbox, "cat '/mnt/strange name\\\n/file'"), "strange\n");
    assert_eq!(
        good(&mut sandbox, "pwd; id -u"),
        format!("/home/u/project\n{}\n", if who == Who::Root { 0 } else { 1000 })
    );
    assert!(sandbox.changes().unwrap().is_empty(), "looking changes nothing");
}

fn exit_codes_come_through_ok(_: Who) {
    let mut sandbox = sandbox();
    assert_eq!(sh(&mut sandbox, "exit 7").exit, Some(7));
    assert_eq!(sh(&mut sandbox, "kill -TERM $$").signal, Some(15));
    assert_eq!(sh(&mut sandbox, "no-such-program-at-all").exit, Some(127));
    let run = sandbox.run(&zx1_sandbox::Command::argv(["no-such-program"]), &crate::world::limits()).unwrap();
    assert_eq!(run.exit, Some(127), "{run:?}");
}

fn commit_applies_exactly_the_change_set_and_undo_puts_all_back(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let tree = Path::new("/home/u/project");
    let before = snapshot::take(tree, Depth::Visible);
    let mut sandbox = sandbox();
    good(
        &mut sandbox,
        "echo new > new; echo more >> main.c; rm run.sh; chmod 600 Makefile; mkdir -p d/e; ln -s x d/l",
    );
    let changes = sandbox.changes().unwrap();
    println!("{changes}");
    assert_eq!(changes.get("/home/u/project/new").unwrap().kind, Kind::Added);
    assert_eq!(changes.get("/home/u/project/run.sh").unwrap().kind, Kind::Deleted);
    let consents = Consents::none().with(zx1_sandbox::Class::Link);
    sandbox.dry_run_commit(&changes, &consents, &records).unwrap();
    let record = sandbox.commit(&changes, &consents, &records).unwrap();
    assert_eq!(fs::read_to_string(tree.join("new")).unwrap(), "new\n");
    assert!(!tree.join("run.sh").exists());
    assert_eq!(records.list().unwrap()[0].state, RecordState::Done);
    records.undo(record.id()).unwrap();
    let after = snapshot::take(tree, Depth::Visible);
    assert_eq!(snapshot::differences(&before, &after), Vec::<String>::new());
}
