//! What a fix and a court's machine see of a host, and what a fix may leave behind.

use std::fs;
use std::path::Path;

use zx1_sandbox::{Class, Command, Consents, LimitKind, Records, Sandbox};

use crate::scenarios;
use crate::world::{TREE, Who, good, limits, records_dir, sh};

scenarios! {
    contained:
        of_homes_only_the_work_toolchains_and_what_is_named_are_seen
        of_a_machine_only_the_work_and_programs_are_seen
        a_scrubbed_copy_is_all_that_any_tool_reads
        what_nobody_could_read_or_commit_fails_the_run
        git_directories_of_any_form_need_a_consent;
    changing:
        what_was_hidden_is_never_replaced
        work_below_a_folder_of_root_can_be_fixed_by_its_owner
        ten_thousand_files_are_committed_and_undone_in_linear_time;
}

fn homeless() -> Sandbox {
    let builder = Sandbox::builder().work_tree(TREE).hide_homes().disk_limit(64 << 20);
    builder.show("/home/u/documents").build().unwrap_or_else(|error| panic!("{error}"))
}

fn of_homes_only_the_work_toolchains_and_what_is_named_are_seen(_: Who) {
    let mut sandbox = homeless();
    let seen = good(
        &mut sandbox,
        "find /home /root -type f -size +0 2>/dev/null; cat main.c deep/a/b/c /home/u/documents/letter",
    );
    assert!(seen.contains("sqrt") && seen.contains("deep\n") && seen.contains("dear\n"), "{seen}");
    let known = |line: &&str| line.starts_with(TREE) || line.starts_with("/home/u/documents");
    let others: Vec<&str> = seen.lines().filter(|line| line.starts_with('/') && !known(line)).collect();
    assert!(others.is_empty(), "{others:?}");
    // The same home by the name of another mount.
    let alias =
        good(&mut sandbox, "cat /mnt/alias/.bashrc /mnt/alias/documents/letter 2>/dev/null; echo end");
    assert_eq!(alias, "end\n");
    // Work goes on as usual, and is seen as changes.
    good(
        &mut sandbox,
        "echo x > new.txt; mkdir -p ~/.cache/tool; echo y > ~/.cache/tool/z; echo w >> main.c",
    );
    let changes = sandbox.changes().unwrap();
    assert!(
        changes.get(format!("{TREE}/new.txt")).is_some() && changes.get(format!("{TREE}/main.c")).is_some()
    );
}

fn of_a_machine_only_the_work_and_programs_are_seen(_: Who) {
    let builder = Sandbox::builder().work_tree(TREE).tools_only().disk_limit(64 << 20);
    let mut sandbox = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let line = "cat main.c; cat /etc/hostname /etc/machine-id /etc/important.conf /mnt/data/file /srv/locked/file \
                /tmp/shared /var/lib/state /home/u/documents/letter /root/notes 2>/dev/null; \
                ls -A /srv /opt /mnt /home /root /var/lib /tmp 2>/dev/null; touch /tmp/x && echo works";
    let seen = good(&mut sandbox, line);
    let rest: Vec<&str> =
        seen.lines().filter(|line| !line.contains("include") && !line.contains("main(void)")).collect();
    let empty = |line: &&&str| !line.is_empty() && !line.ends_with(':') && !["works", "u"].contains(line);
    assert!(!rest.iter().any(|line| empty(&line)), "{seen}");
    assert!(seen.contains("sqrt") && seen.ends_with("works\n"), "{seen}");
}

fn a_scrubbed_copy_is_all_that_any_tool_reads(_: Who) {
    let builder = Sandbox::builder().work_tree(TREE).tools_only().disk_limit(64 << 20);
    let mut sandbox = builder.build().unwrap();
    let file = Path::new(TREE).join("main.c");
    sandbox.put(&file, b"scrubbed\n").unwrap();
    sandbox.mask(&Path::new(TREE).join("Makefile")).unwrap();
    for line in
        ["grep -o . main.c | tr -d '\\n'", "cat main.c", "dd if=main.c 2>/dev/null", "cat ./deep/../main.c"]
    {
        let outcome = sandbox.run(&Command::shell(line).read_only(true), &limits()).unwrap();
        assert_eq!(outcome.stdout.text().trim(), "scrubbed", "{line}");
    }
    let masked = sandbox.run(&Command::shell("cat Makefile").read_only(true), &limits()).unwrap();
    assert_eq!(masked.stdout.total, 0);
}

fn what_nobody_could_read_or_commit_fails_the_run(_: Who) {
    for line in [
        "i=0; while [ $i -lt 3000 ]; do mkdir d && cd d || exit 0; i=$((i+1)); done",
        "truncate -s 3G a",
        "i=0; n=$(printf %0200d 1); while [ $i -lt 20 ]; do mkdir $n && cd $n || exit 0; i=$((i+1)); done",
    ] {
        let mut sandbox = homeless();
        let outcome = sh(&mut sandbox, line);
        assert_eq!(outcome.limit_hit, Some(LimitKind::Files), "{line}: {outcome:?}");
    }
}

fn git_directories_of_any_form_need_a_consent(_: Who) {
    for line in [
        "rm -rf .git; ln -s evil .git",
        "mkdir sub; echo 'gitdir: ../evil' > sub/.git",
        "mkdir -p b/objects b/refs; echo 'ref: refs/heads/main' > b/HEAD; printf '[core]\nbare = false\n' > b/config",
        "mkdir evil; echo /x > evil/gitdir; echo .. > evil/commondir",
        "mkdir -p deep/er/.git/hooks; echo x > deep/er/.git/hooks/post-checkout",
    ] {
        let mut sandbox = homeless();
        good(&mut sandbox, line);
        let classes = sandbox.changes().unwrap().classes();
        assert!(classes.contains(&Class::Hook), "{line}: {classes:?}");
    }
}

/// A fix that did not see a file does not replace it, with whatever consents.
fn what_was_hidden_is_never_replaced(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let all = [Class::OutsideTree, Class::StartUpFile, Class::Dotfile, Class::Executable];
    let all = all.into_iter().fold(Consents::none(), Consents::with);
    let home = if who == Who::Root { "/root" } else { "/home/u" };
    let mut sandbox = homeless();
    good(&mut sandbox, &format!("echo mine > {home}/notes; echo x > /home/u/.bashrc; true"));
    let changes = sandbox.changes().unwrap();
    let error = sandbox.dry_run_commit(&changes, &all, &records).unwrap_err();
    assert_eq!(error.code(), 9229, "{error}");
    assert_eq!(fs::read_to_string("/home/u/.bashrc").unwrap(), "# mine\n");
}

/// As in /var/www/site or /srv/app: the folder is the user's, what it lies in is root's.
fn work_below_a_folder_of_root_can_be_fixed_by_its_owner(who: Who) {
    let site = Path::new("/srv/site");
    if !site.is_dir() {
        return;
    }
    let records = Records::open(records_dir(who)).unwrap();
    let builder = Sandbox::builder().work_tree(site).hide_homes().disk_limit(64 << 20);
    let mut sandbox = builder.build().unwrap_or_else(|error| panic!("{error}"));
    good(&mut sandbox, "sed -i s/old/new/ conf.txt; mkdir -p a/b; echo x > a/b/c");
    let changes = sandbox.changes().unwrap();
    sandbox.commit(&changes, &Consents::none(), &records).unwrap();
    assert_eq!(fs::read_to_string(site.join("conf.txt")).unwrap(), "new\n");
}

/// 2 000 and 8 000 changed files took 13 s and 126 s once: four times the files may take at most twelve times as long.
fn ten_thousand_files_are_committed_and_undone_in_linear_time(who: Who) {
    let records = Records::open(records_dir(who)).unwrap();
    let mut times = Vec::new();
    for count in [2_000, 8_000] {
        let tree = Path::new(TREE).join(format!("many{count}"));
        fs::create_dir(&tree).unwrap();
        for n in 0..count {
            fs::write(tree.join(n.to_string()), "old\n").unwrap();
        }
        let builder = Sandbox::builder().work_tree(&tree).disk_limit(256 << 20);
        let mut sandbox = builder.build().unwrap_or_else(|error| panic!("{error}"));
        good(&mut sandbox, &format!("i=0; while [ $i -lt {count} ]; do echo new > $i; i=$((i+1)); done"));
        let changes = sandbox.changes().unwrap();
        assert_eq!(changes.entries.len(), count);
        let began = std::time::Instant::now();
        let record = sandbox.commit(&changes, &Consents::none(), &records).unwrap();
        records.undo(record.id()).unwrap();
        times.push(began.elapsed());
        println!("{count} files: commit and undo in {:?}", began.elapsed());
        assert_eq!(fs::read_to_string(tree.join("7")).unwrap(), "old\n");
    }
    assert!(times[1] < times[0] * 12, "{times:?}");
}
