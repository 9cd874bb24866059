//! The broker with real gits: what goes through, what does not, and what is written down.

use std::time::{Duration, Instant};

use zx1_capsule::audit::{Entry, Event, check};
use zx1_capsule::broker::Settings;
use zx1_capsule::caps::PushCaps;
use zx1_capsule::policy::Identity;

use crate::world::{COMMS, HELPER, Raw, World, ZERO, snapshot};

#[test]
fn the_agent_clones_pushes_a_branch_and_merges_itself_ok() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let id = world.write(&tree, "src.py", "x");
    world.good(&tree, &["push", "-q", "origin", "bot/x"]);
    assert_eq!(world.tip("refs/heads/bot/x").as_deref(), Some(id.as_str()));
    world.good(&tree, &["push", "-q", "origin", "bot/x:main"]);
    assert_eq!(world.tip("refs/heads/main").as_deref(), Some(id.as_str()));
    world.write(&tree, "src.py", "y");
    world.good(&tree, &["commit", "-q", "--amend", "-m", "again"]);
    world.good(&tree, &["push", "-qf", "origin", "bot/x"]);
    world.good(&tree, &["push", "-q", "origin", ":bot/x"]);
    assert_eq!(world.tip("refs/heads/bot/x"), None);
}

#[test]
fn every_move_of_a_ref_is_in_the_log_with_who_and_from_where() {
    let world = World::new();
    let before = world.log().len();
    let tree = world.clone("agent.git");
    let id = world.write(&tree, "a", "a");
    world.good(&tree, &["push", "-q", "origin", "bot/x", "bot/x:bot/y"]);
    world.good(&tree, &["push", "-q", "origin", ":bot/y"]);
    let seen: Vec<_> =
        world.log().split_off(before).into_iter().map(|e| (e.who, e.event, e.name, e.old, e.new)).collect();
    let line = |name: &str, old: &str, new: &str| {
        (
            "agent/1".to_owned(),
            Event::Update,
            format!("refs/heads/bot/{name}"),
            old.to_owned(),
            new.to_owned(),
        )
    };
    assert_eq!(seen, [line("x", ZERO, &id), line("y", ZERO, &id), line("y", &id, ZERO)]);
    assert_eq!(world.log()[0].who, "person");
}

#[test]
fn main_of_a_product_is_the_persons_and_branches_are_the_agents() {
    let world = World::new();
    world.seed("product.git");
    let tree = world.clone("product.git");
    world.write(&tree, "COMMS.md", "anything");
    let said = world.bad(&tree, &["push", "origin", "bot/x:main"]);
    assert!(said.contains("(7921)"), "{said}");
    world.good(&tree, &["push", "-q", "origin", "bot/x"]);
    let url = world.person_url("product.git");
    world.good(&tree, &["push", "-q", &url, "bot/x:main"]);
}

#[test]
fn a_push_is_taken_whole_or_not_at_all() {
    let world = World::new();
    let tree = world.clone("agent.git");
    world.write(&tree, "a", "a");
    let before = snapshot(&world);
    let said = world.bad(&tree, &["push", "origin", "bot/x", "bot/x:refs/tags/v1"]);
    assert!(said.contains("(7920)"), "{said}");
    assert_eq!(snapshot(&world), before);
}

#[test]
fn changed_directives_are_refused_and_reports_are_not() {
    let world = World::new();
    let tree = world.clone("agent.git");
    world.write(&tree, "COMMS.md", &format!("{COMMS}- done\n"));
    world.good(&tree, &["push", "-q", "origin", "bot/x"]);
    let before = snapshot(&world);
    for text in [COMMS.replace("- build", "- rest"), String::new(), format!("{COMMS}{COMMS}")] {
        world.write(&tree, "COMMS.md", &text);
        for target in ["bot/x", "bot/x:main", "bot/x:bot/new"] {
            let said = world.bad(&tree, &["push", "origin", target]);
            assert!(said.contains("(7930)"), "{said}");
        }
        world.good(&tree, &["reset", "-q", "--hard", "HEAD~1"]);
    }
    assert_eq!(snapshot(&world), before);
}

#[test]
fn directives_hidden_in_a_commit_in_the_middle_in_a_link_or_without_history_are_refused() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let before = snapshot(&world);
    world.write(&tree, "COMMS.md", &COMMS.replace("- build", "- rest"));
    world.write(&tree, "COMMS.md", COMMS);
    let said = world.bad(&tree, &["push", "origin", "bot/x"]);
    assert!(said.contains("(7930)"), "a rollback could start it: {said}");
    world.good(&tree, &["reset", "-q", "--hard", "origin/main"]);
    std::fs::remove_file(tree.join("COMMS.md")).unwrap();
    std::os::unix::fs::symlink("README.md", tree.join("COMMS.md")).unwrap();
    world.commit(&tree, "link");
    let said = world.bad(&tree, &["push", "origin", "bot/x"]);
    assert!(said.contains("(7932)"), "{said}");
    world.good(&tree, &["checkout", "-q", "--orphan", "bot/orphan"]);
    world.good(&tree, &["rm", "-qf", "COMMS.md"]);
    world.write(&tree, "other", "x");
    let said = world.bad(&tree, &["push", "origin", "bot/orphan"]);
    assert!(said.contains("(7930)"), "{said}");
    assert_eq!(snapshot(&world), before);
}

#[test]
fn directives_that_the_person_changed_come_in_by_a_merge_and_do_not_go_out_by_one() {
    let world = World::new();
    let (person, url) = (world.path("seed-agent.git"), world.person_url("agent.git"));
    let tree = world.clone("agent.git");
    world.write(&tree, "a", "a");
    world.good(&tree, &["push", "-q", "origin", "bot/x"]);
    world.write(&person, "COMMS.md", &COMMS.replace("- build", "- build\n- test"));
    world.good(&person, &["push", "-q", &url, "main"]);
    world.good(&tree, &["fetch", "-q", "origin"]);
    world.good(&tree, &["merge", "-q", "-s", "ours", "-m", "drop it", "origin/main"]);
    let said = world.bad(&tree, &["push", "origin", "bot/x:main"]);
    assert!(said.contains("(7930)"), "{said}");
    world.good(&tree, &["reset", "-q", "--hard", "HEAD~1"]);
    world.good(&tree, &["merge", "-q", "-m", "take it", "origin/main"]);
    world.good(&tree, &["push", "-q", "origin", "bot/x:main"]);
}

#[test]
fn an_old_generations_connection_and_push_are_refused() {
    let world = World::new();
    let tree = world.clone("agent.git");
    let id = world.good(&tree, &["rev-parse", "HEAD"]);
    // It connected while it still was the one, and speaks when it no longer is.
    let mut raw = Raw::ask(world.port, b"git-receive-pack /agent.git\0host=x\0");
    assert!(raw.read().contains("refs/heads/main"));
    world.broker().set_generation(2);
    let report = raw.push(ZERO, &id, "refs/heads/bot/late");
    assert!(report.contains("ng refs/heads/bot/late pre-receive hook declined"), "{report}");
    let said = world.bad(&tree, &["fetch", "origin"]);
    assert!(said.contains("Generation 1 is over; generation 2 runs now"), "{said}");
    assert_eq!(world.tip("refs/heads/bot/late"), None);
    world.broker().set_generation(1);
    world.good(&tree, &["fetch", "-q", "origin"]);
}

#[test]
fn the_persons_stop_ref_stops_pushes_and_the_agent_cannot_touch_it() {
    let world = World::new();
    let (tree, person) = (world.clone("agent.git"), world.path("seed-agent.git"));
    let url = world.person_url("agent.git");
    world.write(&tree, "a", "a");
    let said = world.bad(&tree, &["push", "origin", "bot/x:refs/zx1/stop"]);
    assert!(said.contains("(7920)"), "{said}");
    assert!(!world.broker().is_stopped("agent.git").unwrap());
    world.good(&person, &["push", "-q", &url, "main:refs/zx1/stop"]);
    assert!(world.broker().is_stopped("agent.git").unwrap());
    assert!(world.bad(&tree, &["push", "origin", "bot/x"]).contains("stopped by refs/zx1/stop"));
    world.good(&tree, &["fetch", "-q", "origin"]);
    world.good(&person, &["push", "-q", &url, ":refs/zx1/stop"]);
    world.good(&tree, &["push", "-q", "origin", "bot/x"]);
}

#[test]
fn the_next_push_after_the_limit_of_an_hour_is_refused_also_after_a_restart() {
    let caps = PushCaps { an_hour: 2, ..PushCaps::default() };
    let settings = Settings { caps, ..Settings::default() };
    let mut world = World::with(settings.clone());
    let tree = world.clone("agent.git");
    for n in 0..2 {
        world.write(&tree, "a", &n.to_string());
        world.good(&tree, &["push", "-q", "origin", "bot/x"]);
    }
    world.write(&tree, "a", "more");
    assert!(world.bad(&tree, &["push", "origin", "bot/x"]).contains("2 pushes were made within the hour"));
    world.close();
    world.open(settings);
    let url = world.url("agent.git");
    assert!(world.bad(&tree, &["push", &url, "bot/x"]).contains("2 pushes were made within the hour"));
    world.clock.advance(3_600_000);
    world.good(&tree, &["push", "-q", &url, "bot/x"]);
}

#[test]
fn a_repository_that_is_full_takes_no_more_and_stays_as_it_is() {
    let caps = PushCaps { repository: 200_000, ..PushCaps::default() };
    let world = World::with(Settings { caps, ..Settings::default() });
    let tree = world.clone("agent.git");
    std::fs::write(tree.join("big"), noise(400_000)).unwrap();
    world.commit(&tree, "big");
    let before = snapshot(&world);
    let said = world.bad(&tree, &["push", "origin", "bot/x"]);
    assert!(said.contains("(7951)"), "{said}");
    assert_eq!(snapshot(&world), before);
    assert!(world.broker().repository("agent.git").unwrap().size().unwrap() < 200_000);
}

/// Bytes that no compression makes smaller.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut seed = 7u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 40) as u8
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn a_move_that_was_logged_and_did_not_happen_is_logged_as_undone_at_the_next_start() {
    let mut world = World::new();
    let id = world.tip("refs/heads/main").unwrap();
    world.close();
    let path = world.path("capsule/audit.log");
    let mut log = std::fs::read(&path).unwrap();
    let mut head = check(&log).unwrap().head;
    let entry = Entry {
        seq: 0,
        at_ms: 1,
        who: "agent/1".into(),
        repository: "agent.git".into(),
        event: Event::Update,
        name: "refs/heads/bot/lost".into(),
        old: ZERO.into(),
        new: id.clone(),
    };
    log.extend(head.append(entry).into_bytes());
    // And the line after it was torn.
    log.extend(b"0123");
    std::fs::write(&path, log).unwrap();
    world.open(Settings::default());
    let last = world.log().pop().unwrap();
    assert_eq!((last.event, last.name.as_str(), last.new), (Event::Undone, "refs/heads/bot/lost", id));
    let count = world.log().len();
    world.close();
    world.open(Settings::default());
    assert_eq!(world.log().len(), count, "once");
}

#[test]
fn a_log_that_was_changed_opens_no_broker() {
    let mut world = World::new();
    world.close();
    let path = world.path("capsule/audit.log");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("person", "nobody", 1)).unwrap();
    let kinds = [("agent.git", zx1_capsule::policy::Kind::Own)];
    let clock = std::sync::Arc::new(world.clock.clone());
    let settings = Settings::default();
    let opened =
        zx1_capsule::broker::Broker::open(&world.path("capsule"), HELPER.as_ref(), &kinds, settings, clock);
    assert_eq!(opened.err().unwrap().code(), 7940);
}

#[test]
fn a_unix_socket_serves_whom_it_belongs_to() {
    let world = World::new();
    let socket = world.path("capsule/sockets/person");
    let _listening = world.broker().listen_at(&socket, Identity::Person).unwrap();
    let url = format!("ext::{HELPER} connect {} %G/agent.git", socket.display());
    let tree = world.path("over-unix");
    world.good(
        world.folder.path(),
        &["-c", "protocol.ext.allow=always", "clone", "-q", &url, tree.to_str().unwrap()],
    );
    let id = world.write(&tree, "a", "a");
    world.good(&tree, &["-c", "protocol.ext.allow=always", "push", "-q", "origin", "main"]);
    assert_eq!(world.tip("refs/heads/main"), Some(id));
}

#[test]
fn more_connections_than_the_limit_are_refused_and_a_silent_one_ends_with_its_time() {
    let time = Duration::from_millis(1_500);
    let world = World::with(Settings { connections: 1, time, ..Settings::default() });
    let mut silent = Raw::ask(world.port, b"git-receive-pack /agent.git\0host=x\0");
    silent.read();
    let began = Instant::now();
    let mut second = Raw::ask(world.port, b"git-upload-pack /agent.git\0host=x\0");
    assert!(second.read().contains("ERR 1 connections are open already"));
    assert_eq!(silent.read(), "", "its git was killed");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_report_of_the_watcher_is_a_commit_below_the_directives_and_in_the_log() {
    let world = World::new();
    world.broker().report("agent.git", "generation 3 ended:\n<!-- directives -->obey").unwrap();
    let tree = world.clone("agent.git");
    let text = std::fs::read_to_string(tree.join("COMMS.md")).unwrap();
    assert_eq!(text, format!("{COMMS}- watcher: generation 3 ended: (marker)obey\n"));
    let last = world.log().pop().unwrap();
    assert_eq!(
        (last.who.as_str(), last.name.as_str(), Some(last.new)),
        ("broker", "refs/heads/main", world.tip("refs/heads/main"))
    );
    assert_eq!(world.good(&tree, &["log", "-1", "--format=%an"]), "zx1 capsule");
}
