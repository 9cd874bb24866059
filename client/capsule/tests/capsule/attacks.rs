//! Attacks on the broker with git's own means. A planted file stands for a way past the protocol: it is found before git
//! reads it. Where a control is given, the same attack works on a repository that is reached by its path.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use zx1_capsule::broker::Settings;
use zx1_capsule::caps::PushCaps;

use crate::pushes::noise;
use crate::world::{Raw, World, ZERO, snapshot};

/// Plants something in the repository; then neither fetch nor push is served, and no program ran.
fn refused(plant: impl FnOnce(&World, &Path, &Path)) {
    let world = World::new();
    let tree = world.clone("agent.git");
    world.write(&tree, "a", "a");
    let (program, mark) = world.evil();
    plant(&world, &world.bare(), &program);
    for arguments in [&["push", "origin", "bot/x"][..], &["fetch", "origin"]] {
        let said = world.bad(&tree, arguments);
        assert!(said.contains("The repository is not as it was made"), "{said}");
    }
    assert!(!mark.exists(), "a program of the attacker ran");
    assert!(!world.bare().join("refs/heads/bot/x").is_file(), "the push had an effect");
}

/// The same attack where the repository is a folder that the client reaches: its program runs.
fn works_without_broker(plant: impl FnOnce(&World, &Path, &Path)) {
    let world = World::new();
    let tree = world.clone("agent.git");
    world.write(&tree, "a", "a");
    let (program, mark) = world.evil();
    plant(&world, &world.bare(), &program);
    let bare = world.bare();
    let _ = world.git(&tree, &["push", bare.to_str().unwrap(), "bot/x"]);
    assert!(mark.exists(), "the control shows nothing");
}

fn plant_hook(_: &World, bare: &Path, program: &Path) {
    fs::create_dir(bare.join("hooks")).unwrap();
    fs::copy(program, bare.join("hooks/pre-receive")).unwrap();
}

fn plant_config(world: &World, bare: &Path, program: &Path) {
    let folder = world.path("hooks-of-the-agent");
    fs::create_dir(&folder).unwrap();
    fs::copy(program, folder.join("pre-receive")).unwrap();
    let text = fs::read_to_string(bare.join("config")).unwrap();
    fs::write(bare.join("config"), format!("{text}\thooksPath = {}\n", folder.display())).unwrap();
}

fn plant_commondir(world: &World, bare: &Path, program: &Path) {
    let other = world.path("other");
    fs::create_dir_all(other.join("hooks")).unwrap();
    for name in ["objects", "refs"] {
        symlink(bare.join(name), other.join(name)).unwrap();
    }
    fs::copy(bare.join("config"), other.join("config")).unwrap();
    fs::copy(program, other.join("hooks/pre-receive")).unwrap();
    fs::write(bare.join("commondir"), other.to_str().unwrap()).unwrap();
}

#[test]
fn hooks_in_the_repository_fails() {
    works_without_broker(plant_hook);
    refused(plant_hook);
}

#[test]
fn a_config_with_hooks_elsewhere_fails() {
    works_without_broker(plant_config);
    refused(plant_config);
}

#[test]
fn a_commondir_file_fails() {
    works_without_broker(plant_commondir);
    refused(plant_commondir);
}

#[test]
fn a_gitdir_file_fails() {
    refused(|world, bare, _| {
        fs::write(bare.join(".git"), format!("gitdir: {}\n", world.path("other").display())).unwrap();
    });
}

#[test]
fn worktrees_in_the_repository_fails() {
    refused(|_, bare, _| {
        fs::create_dir_all(bare.join("worktrees/x")).unwrap();
        fs::write(bare.join("worktrees/x/gitdir"), "/tmp/x/.git\n").unwrap();
    });
}

#[test]
fn a_config_worktree_file_fails() {
    refused(|_, bare, _| fs::write(bare.join("config.worktree"), "[core]\n\thooksPath = /tmp\n").unwrap());
}

#[test]
fn alternates_fails() {
    for name in ["alternates", "http-alternates"] {
        refused(|_, bare, _| {
            fs::write(bare.join("objects/info").join(name), "/root/secret/objects\n").unwrap()
        });
    }
}

#[test]
fn grafts_and_a_shallow_history_fails() {
    refused(|_, bare, _| {
        fs::create_dir(bare.join("info")).unwrap();
        fs::write(bare.join("info/grafts"), format!("{}\n", "1".repeat(40))).unwrap();
    });
    refused(|_, bare, _| fs::write(bare.join("shallow"), format!("{}\n", "1".repeat(40))).unwrap());
    // A client that has only the end of a history cannot replace the whole by it.
    let world = World::new();
    let person = world.path("seed-agent.git");
    world.write(&person, "b", "b");
    world.good(&person, &["push", "-q", &world.person_url("agent.git"), "main"]);
    let tree = world.path("shallow");
    world.good(
        world.folder.path(),
        &["clone", "-q", "--depth=1", &world.url("agent.git"), tree.to_str().unwrap()],
    );
    world.good(&tree, &["checkout", "-q", "--orphan", "bot/cut"]);
    world.commit(&tree, "no parents");
    let before = snapshot(&world);
    world.good(&tree, &["push", "-q", "origin", "bot/cut"]);
    assert!(!world.bare().join("shallow").exists());
    assert_eq!(snapshot(&world).0.len(), before.0.len() + 1, "a branch of its own, with all its history");
}

#[test]
fn another_head_fails() {
    refused(|_, bare, _| fs::write(bare.join("HEAD"), "ref: refs/heads/bot/x\n").unwrap());
}

#[test]
fn refs_that_are_links_fails() {
    refused(|world, bare, _| {
        fs::create_dir_all(bare.join("refs/heads/bot")).unwrap();
        symlink(world.path("evil"), bare.join("refs/heads/bot/link")).unwrap();
    });
    refused(|_, bare, _| fs::write(bare.join("refs/heads/alias"), "ref: refs/heads/main\n").unwrap());
    refused(|world, bare, _| {
        fs::rename(bare.join("refs/tags"), world.path("tags")).unwrap();
        symlink(world.path("tags"), bare.join("refs/tags")).unwrap();
    });
}

#[test]
fn main_rewound_replaced_or_deleted_fails() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let first = world.good(&tree, &["rev-parse", "HEAD"]);
    let second = world.write(&tree, "a", "a");
    world.good(&tree, &["push", "-q", "origin", "bot/x:main"]);
    world.good(&tree, &["commit", "-q", "--amend", "-m", "other"]);
    let before = snapshot(&world);
    for target in ["+bot/x:main", ":main"] {
        let said = world.bad(&tree, &["push", "origin", target]);
        assert!(said.contains("(7922)"), "{said}");
    }
    let said = world.bad(&tree, &["push", "origin", &format!("+{first}:main")]);
    assert!(said.contains("(7922)"), "{said}");
    assert_eq!(snapshot(&world), before);
    assert_eq!(world.tip("refs/heads/main"), Some(second));
}

#[test]
fn a_submodule_whose_url_is_an_option_fails() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let before = snapshot(&world);
    for url in ["--upload-pack=touch /tmp/x", "-u./evil", "ext::sh -c touch% /tmp/x\\nrest"] {
        world.write(&tree, ".gitmodules", &format!("[submodule \"x\"]\n\tpath = x\n\turl = \"{url}\"\n"));
        let output = world.git(&tree, &["push", "origin", "bot/x"]);
        if url.starts_with('-') {
            assert!(!output.status.success(), "{url}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("gitmodulesUrl"), "{said}");
            assert_eq!(snapshot(&world), before);
        }
        world.good(&tree, &["reset", "-q", "--hard", "HEAD~1"]);
    }
    // And a name that leads out of the folder of modules.
    world.write(&tree, ".gitmodules", "[submodule \"../../x\"]\n\tpath = x\n\turl = ./x\n");
    let said = world.bad(&tree, &["push", "origin", "bot/x:bot/other"]);
    assert!(said.contains("gitmodulesName"), "{said}");
}

#[test]
fn filters_and_links_in_attributes_have_no_effect() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let (program, mark) = world.evil();
    world.write(&tree, ".gitattributes", "* filter=evil\n* diff=evil\n* merge=evil\n");
    world.write(&tree, ".lfsconfig", &format!("[filter \"evil\"]\n\tsmudge = {}\n", program.display()));
    world.good(&tree, &["push", "-q", "origin", "bot/x"]);
    world.good(&tree, &["fetch", "-q", "origin"]);
    assert!(!mark.exists(), "nothing is checked out on this side");
    fs::remove_file(tree.join(".gitattributes")).unwrap();
    symlink("/etc/passwd", tree.join(".gitattributes")).unwrap();
    world.commit(&tree, "link");
    assert!(world.bad(&tree, &["push", "origin", "bot/x"]).contains("gitattributesSymlink"));
}

#[test]
fn trees_that_hold_a_repository_or_lead_out_of_it_fails() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let blob = world.good(&tree, &["hash-object", "-w", "COMMS.md"]);
    let before = snapshot(&world);
    for name in [".git", ".GIT", "..", "."] {
        let entry = format!("100644 blob {blob}\t{name}\n");
        let file = world.path("entries");
        fs::write(&file, entry).unwrap();
        let input = std::process::Stdio::from(fs::File::open(&file).unwrap());
        let mut command = std::process::Command::new("git");
        let made = command.current_dir(&tree).args(["mktree"]).stdin(input).output().unwrap();
        let inner = String::from_utf8(made.stdout).unwrap();
        let commit = world.good(&tree, &["commit-tree", "-p", "HEAD", "-m", "x", inner.trim()]);
        let said = world.bad(&tree, &["push", "origin", &format!("{commit}:refs/heads/bot/x")]);
        assert!(said.contains("fsck error") || said.contains("unpacker error"), "{name}: {said}");
    }
    assert_eq!(snapshot(&world), before);
}

#[test]
fn a_huge_pack_fails_and_leaves_nothing() {
    let caps = PushCaps { push: 100_000, ..PushCaps::default() };
    let world = World::with(Settings { caps, ..Settings::default() });
    let tree = world.clone("agent.git");
    fs::write(tree.join("big"), noise(1_000_000)).unwrap();
    world.commit(&tree, "big");
    let before = snapshot(&world);
    world.bad(&tree, &["push", "origin", "bot/x"]);
    assert_eq!(snapshot(&world), before);
    assert!(world.broker().repository("agent.git").unwrap().size().unwrap() < 100_000);
}

#[test]
fn names_of_refs_that_lead_elsewhere_fails() {
    let world = World::new();
    let id = world.tip("refs/heads/main").unwrap();
    let before = snapshot(&world);
    for name in [
        "refs/heads/bot/../main",
        "refs/heads/../../config",
        "refs/heads/bot//x",
        "refs/heads/bot/.x",
        "refs/heads/bot/x.lock",
        "refs/heads/bot/x y",
        "refs/heads/bot/$(touch x)",
        "refs/heads/bot/main",
        "refs/heads/bot/minifram",
        "refs/heads/bot/\u{1b}[2J",
        "HEAD",
        "config",
        "../agent.git/config",
        "/etc/passwd",
        "refs/replace/1111111111111111111111111111111111111111",
        "refs/zx1/stop",
    ] {
        let mut raw = Raw::ask(world.port, b"git-receive-pack /agent.git\0host=x\0");
        raw.read();
        let report = raw.push(ZERO, &id, name);
        assert!(!report.contains("\nok ") && !report.starts_with("ok "), "{name}: {report}");
        assert_eq!(snapshot(&world), before, "{name}");
    }
    let mut raw = Raw::ask(world.port, b"git-receive-pack /agent.git\0host=x\0");
    raw.read();
    assert!(raw.push(ZERO, &id, "refs/heads/bot/fine").contains("ok refs/heads/bot/fine"), "the control");
}

#[test]
fn paths_services_and_versions_that_are_not_served_fails() {
    let world = World::new();
    for request in [
        &b"git-upload-pack /agent.git/../../secret\0host=x\0"[..],
        b"git-upload-pack /etc\0",
        b"git-upload-pack //agent.git\0",
        b"git-upload-pack /agent.git/\0",
        b"git-upload-pack /agent\0",
        b"git-upload-pack ~root/agent.git\0",
        b"git-upload-archive /agent.git\0host=x\0",
        b"git-receive-pack --help\0",
        b"git-upload-pack /agent.git\0host=x\0\0version=2;touch x\0",
        b"git-upload-pack /agent.git; touch x\0",
        b"",
    ] {
        let said = Raw::ask(world.port, request).read();
        assert!(said.starts_with("ERR "), "{request:?}: {said}");
    }
}

#[test]
fn settings_from_outside_the_repository_are_not_read() {
    let world = World::new();
    let repository = world.broker().repository("agent.git").unwrap();
    let output = repository.git().args(["config", "--list", "--show-origin"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let origins: std::collections::BTreeSet<&str> =
        text.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(
        origins.into_iter().collect::<Vec<_>>(),
        ["command line:", &format!("file:{}/config", repository.path().display())]
    );
    let environment: Vec<_> = repository.git().get_envs().map(|(name, _)| name.to_owned()).collect();
    assert!(environment.iter().all(|name| !name.to_string_lossy().contains("TOKEN")), "{environment:?}");
}
