//! No secret is read by any command that the whitelist knows, by name, by walking, by links, or by other
//! mounts.

use std::path::{Path, PathBuf};

use zx1_sandbox::{Class, Command, Consents, Limits, Records, Sandbox};
use zx1_whitelist::secret_paths;

use crate::jail::plant as file;
use crate::scenarios;
use crate::world::{SECRET, TREE, Who, limits, records_dir, sandbox, sh};

scenarios! {
    contained:
        no_whitelisted_command_reads_a_secret_path
        no_walk_finds_a_secret
        links_renames_and_other_mounts_lead_to_no_secret
        environment_files_of_the_tree_are_masked
        keys_in_the_tree_are_masked_unless_the_user_names_one
        secret_variables_do_not_come_in;
    changing: nothing_is_committed_into_a_place_of_secrets;
}

/// In keys of the working tree, which only strangers must not see.
const TREE_KEY: &str = "PLANTED-TREE-KEY-2b9d";

/// Every fixed secret path of both lists, as a file or as a directory with a file in it.
pub(crate) fn planted() -> Vec<PathBuf> {
    let all: Vec<String> = secret_paths::fixed(&["/home/u", "/root"]).collect();
    let skipped = ["/proc", "/sys", "/dev", "/boot", "/run", "/var/run"];
    let mut files = Vec::new();
    for (index, path) in all.iter().enumerate() {
        if skipped.iter().any(|top| Path::new(path).starts_with(top)) {
            continue;
        }
        let holds_others = all.iter().any(|other| other != path && Path::new(other).starts_with(path));
        let is_below = all.iter().any(|other| other != path && Path::new(path).starts_with(other));
        if !is_below {
            files.push(
                if holds_others || index % 2 == 0 { format!("{path}/secret") } else { path.clone() }.into(),
            );
        }
    }
    for extra in [
        "/home/u/.bash_history",
        "/home/u/.env",
        "/home/u/id.json",
        "/home/u/server.key",
        "/etc/ssh/ssh_host_ed25519_key",
        "/home/u/.local/state/fix/key",
    ] {
        files.push(extra.into());
    }
    files
}

/// As root of the jail, before anything is played.
pub(crate) fn plant_all() {
    for path in planted() {
        file(path, format!("{SECRET}\n"), 0o644);
    }
    for (name, text) in [
        (".env", SECRET),
        ("conf/.env.local", SECRET),
        ("certs/server.key", TREE_KEY),
        ("certs/id_rsa", TREE_KEY),
        ("wallet/id.json", TREE_KEY),
    ] {
        file(Path::new("/home/u/project").join(name), format!("{text}\n"), 0o644);
    }
    file("/home/u/project/.env.example", "CONTROL\n", 0o644);
}

fn no_whitelisted_command_reads_a_secret_path(_: Who) {
    let mut sandbox = sandbox();
    let secrets: Vec<String> = planted().iter().map(|path| path.display().to_string()).collect();
    assert!(secrets.len() > 200, "{}", secrets.len());
    let mut read = 0;
    // Some wait for input or for the end of a file that grows.
    let short = Limits { time: std::time::Duration::from_millis(250), ..limits() };
    for name in zx1_whitelist::names() {
        for options in [&[][..], &["-r", ""], &["-a"], &["-f"], &["-n"]] {
            let argv = |paths: &[String]| -> Vec<String> {
                let options = options.iter().map(|option| (*option).to_owned());
                [name.to_owned()].into_iter().chain(options).chain(paths.iter().cloned()).collect()
            };
            let command = |paths: &[String]| Command::argv(argv(paths)).read_only(true);
            let outcome = sandbox.run(&command(&secrets), &short).unwrap();
            if outcome.exit == Some(127) {
                break;
            }
            assert!(!outcome.stdout.text().contains(SECRET), "{name} {options:?} shows a secret");
            assert!(!outcome.stderr.text().contains(SECRET), "{name} {options:?} shows a secret");
            if options.is_empty() {
                let control =
                    sandbox.run(&command(&["/home/u/project/.env.example".to_owned()]), &short).unwrap();
                read += u32::from(control.stdout.text().contains("CONTROL"));
            }
        }
    }
    assert!(read >= 5, "the same commands do read files that are not secret: {read}");
}

fn no_walk_finds_a_secret(_: Who) {
    let mut sandbox = sandbox();
    let walk = |line: &str| Command::shell(line).read_only(true);
    let line = format!(
        "grep -rsE '{SECRET}|{TREE_KEY}' /home /root /etc /var /mnt /srv /tmp /opt/x .
        find / -xdev -name '*.json' -exec cat {{}} + 2>/dev/null"
    );
    let outcome = sandbox.run(&walk(&line), &limits()).unwrap();
    assert!(!outcome.stdout.text().contains("PLANTED"), "{}", outcome.stdout.text());
    let outcome = sandbox.run(&walk("grep -rs CONTROL /home"), &limits()).unwrap();
    assert!(outcome.stdout.text().contains("CONTROL"));
}

fn links_renames_and_other_mounts_lead_to_no_secret(_: Who) {
    let mut sandbox = sandbox();
    let outcome = sh(
        &mut sandbox,
        "cd /home/u/project; ln -s /home/u s; ln -s /home/u/.ssh t; ln /home/u/.bash_history h
         cat t/secret s/.ssh/* h;
         cat /mnt/alias/.ssh/secret /mnt/alias/.bash_history /mnt/alias/project/.env;
         cat /proc/self/root/home/u/.ssh/secret; cd /home/u/.ssh && cat secret;
         mv /home/u/.config /home/u/other; cat /home/u/other/*/*; mv /home/u /tmp/u; cat /tmp/u/.ssh/*;
         mv /home/u/.ssh /tmp/ssh; cat /tmp/ssh/*; rm -rf /home/u/.ssh; cat /home/u/.ssh/*
         cp -a /home/u/. /tmp/copy;
         cat /tmp/copy/.ssh/* /tmp/copy/.bash_history; tar c /home/u /root | cat
         chmod -R 777 /home/u/.ssh; cat /home/u/.ssh/*;
         umount /home/u/.ssh; cat /home/u/.ssh/secret; dd if=/home/u/.bash_history",
    );
    assert!(!outcome.stdout.text().contains(SECRET), "{}", outcome.stdout.text());
    let again = sh(&mut sandbox, "cat /home/u/.ssh/secret /tmp/*/.ssh/secret /home/u/other/*/*; cat h");
    assert!(!again.stdout.text().contains(SECRET), "nor in a later run: {again:?}");
}

fn environment_files_of_the_tree_are_masked(_: Who) {
    let mut sandbox = sandbox();
    let outcome = sh(&mut sandbox, "cat .env conf/.env.local; cat .env.example");
    assert_eq!(outcome.stdout.text(), "CONTROL\n");
    // Nor does the diff show them when a command puts something in their place.
    sh(&mut sandbox, "rm -f .env; echo x > .env");
    assert!(!sandbox.changes().unwrap().to_string().contains(SECRET));
}

fn keys_in_the_tree_are_masked_unless_the_user_names_one(_: Who) {
    let line = "cat certs/server.key certs/id_rsa wallet/id.json .env";
    for read_only in [true, false] {
        let stranger = sandbox().run(&Command::shell(line).read_only(read_only), &limits()).unwrap();
        assert_eq!(stranger.stdout.total, 0, "{stranger:?}");
    }
    let own = format!("{TREE}/wallet/id.json");
    let mut named = Sandbox::builder().work_tree(TREE).unmask("certs/server.key").mask(own).unmask("wallet");
    named = named.disk_limit(64 << 20);
    let seen = sh(&mut named.build().unwrap(), line);
    assert_eq!(seen.stdout.text(), format!("{TREE_KEY}\n"), "the one that was named, and no key of ours");
}

fn secret_variables_do_not_come_in(_: Who) {
    let variables = [
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("SSH_AUTH_SOCK", SECRET),
        ("MY_TOKEN", SECRET),
        ("PATH", "/usr/bin:/bin"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let outcome = sandbox().run(&Command::argv(["env"]).envs(variables), &limits()).unwrap();
    assert!(outcome.success() && !outcome.stdout.text().contains(SECRET), "{outcome:?}");
    assert!(outcome.stdout.text().contains("PATH=/usr/bin:/bin"));
}

fn nothing_is_committed_into_a_place_of_secrets(who: Who) {
    let home = if who == Who::Root { "/root" } else { "/home/u" };
    let records = Records::open(records_dir(who)).unwrap();
    let all = [Class::OutsideTree, Class::StartUpFile, Class::Executable, Class::Dotfile];
    let all = all.into_iter().fold(Consents::none(), Consents::with);
    for line in [
        format!("mkdir -p {home}/.ssh2 && echo x > {home}/.netrc.new; echo x > {home}/.python_history"),
        format!("mkdir -p {home}/.electrum/wallets; echo x > {home}/.age; true"),
    ] {
        let mut sandbox = sandbox();
        sh(&mut sandbox, &line);
        let changes = sandbox.changes().unwrap();
        match sandbox.dry_run_commit(&changes, &all, &records) {
            Ok(()) => assert!(changes.is_empty(), "{changes}"),
            Err(error) => assert_eq!(error.code(), 9227, "{error}\n{changes}"),
        }
    }
}
