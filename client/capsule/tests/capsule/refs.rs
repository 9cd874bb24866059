//! Who may move which ref; the person's part of COMMS.md.

use proptest::prelude::*;
use zx1_capsule::directives;
use zx1_capsule::policy::{Change, Identity, Kind, STOP, decide};

const AGENT: Identity = Identity::Agent { generation: 4 };
const CHANGES: [Change; 4] = [Change::Create, Change::Forward, Change::Force, Change::Delete];

fn code(who: Identity, kind: Kind, name: &str, change: Change) -> Option<u32> {
    decide(who, kind, 4, name, change).err().map(|error| error.code())
}

#[test]
fn the_agent_moves_its_own_branches_freely_ok() {
    for kind in [Kind::Own, Kind::Product] {
        for change in CHANGES {
            assert_eq!(code(AGENT, kind, "refs/heads/bot/x", change), None);
        }
    }
}

#[test]
fn main_only_moves_forward_and_in_a_product_only_by_the_person() {
    let main = "refs/heads/main";
    for change in CHANGES {
        let forward = change == Change::Forward;
        assert_eq!(code(AGENT, Kind::Own, main, change).is_none(), forward, "{change:?}");
        assert_eq!(code(AGENT, Kind::Product, main, change), Some(7921));
        let person = forward || change == Change::Create;
        for kind in [Kind::Own, Kind::Product] {
            assert_eq!(code(Identity::Person, kind, main, change).is_none(), person, "{change:?}");
        }
    }
}

#[test]
fn the_agent_moves_nothing_else() {
    for name in [
        STOP,
        "refs/heads/feature",
        "refs/heads/bot",
        "refs/heads/bots/x",
        "refs/tags/v1",
        "refs/notes/x",
        "refs/replace/0123456789abcdef0123456789abcdef01234567",
        "refs/remotes/origin/main",
        "refs/zx1/other",
        "refs/heads/mainly",
        "HEAD/x",
    ] {
        for change in CHANGES {
            assert_eq!(code(AGENT, Kind::Own, name, change), Some(7920), "{name} {change:?}");
        }
    }
    for name in
        ["refs/heads/bot/main", "refs/heads/bot/minifram", "refs/heads/bot/a b", "refs/heads/bot/../main"]
    {
        assert!(code(AGENT, Kind::Own, name, Change::Create).is_some(), "{name}");
    }
}

#[test]
fn the_person_stops_tags_and_branches_ok_but_replaces_nothing() {
    for name in [STOP, "refs/heads/feature", "refs/tags/v1", "refs/heads/bot/x"] {
        assert_eq!(code(Identity::Person, Kind::Own, name, Change::Create), None, "{name}");
    }
    for name in ["refs/replace/abc", "refs/zx1/other", "refs/notes/x"] {
        assert_eq!(code(Identity::Person, Kind::Own, name, Change::Create), Some(7924), "{name}");
    }
}

#[test]
fn another_generation_moves_nothing() {
    for generation in [0, 3, 5] {
        let who = Identity::Agent { generation };
        assert_eq!(code(who, Kind::Own, "refs/heads/bot/x", Change::Create), Some(7923));
    }
}

const COMMS: &str = "# COMMS\n<!-- directives -->\n- do this\n<!-- /directives -->\n## Reports\n- done\n";

#[test]
fn the_agent_may_change_all_but_the_directives() {
    let same = |after: &str| directives::same(Some(COMMS.as_bytes()), Some(after.as_bytes()));
    assert!(same(COMMS));
    assert!(same(&COMMS.replace("- done", "- done\n- a question")));
    assert!(same(&COMMS.replace("# COMMS", "# Talk")));
    for after in [
        COMMS.replace("do this", "do that"),
        COMMS.replace("- do this\n", ""),
        COMMS.replace("do this", "do this "),
        COMMS.replace("<!-- directives -->", "<!-- Directives -->"),
        COMMS.replace("<!-- /directives -->", ""),
        format!("{COMMS}<!-- directives -->\n- obey me\n<!-- /directives -->\n"),
        format!("{COMMS}<!-- directives -->\n"),
        COMMS.replace("<!-- directives -->", "<!-- /directives -->\n<!-- directives -->"),
        String::new(),
    ] {
        assert!(!same(&after), "{after}");
    }
    assert!(!directives::same(Some(COMMS.as_bytes()), None), "the file is not removed");
    assert!(!directives::same(None, Some(COMMS.as_bytes())), "nor are directives invented");
    assert!(directives::same(None, Some(b"# COMMS\n")));
}

#[test]
fn a_file_whose_markers_the_person_broke_stays_as_it_is() {
    let broken = COMMS.replace("<!-- /directives -->", "");
    assert_eq!(directives::section(broken.as_bytes()).unwrap_err().code(), 7931);
    assert!(directives::same(Some(broken.as_bytes()), Some(broken.as_bytes())));
    assert!(!directives::same(Some(broken.as_bytes()), Some(COMMS.as_bytes())));
}

proptest! {
    #[test]
    fn what_is_taken_has_the_same_bytes_between_the_markers(
        before in "[ab]{0,3}(<!-- directives -->)?[ab]{0,3}(<!-- /directives -->)?[ab]{0,2}",
        after in "[ab]{0,3}(<!-- directives -->)?[ab]{0,3}(<!-- /directives -->)?[ab]{0,2}",
    ) {
        if directives::same(Some(before.as_bytes()), Some(after.as_bytes())) {
            match directives::section(before.as_bytes()) {
                Ok(section) => prop_assert_eq!(section, directives::section(after.as_bytes()).unwrap()),
                Err(_) => prop_assert_eq!(before, after),
            }
        }
    }
}
