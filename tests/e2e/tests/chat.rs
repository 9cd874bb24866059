//! README's chapter on chat, by two people's shells and a relay of their own: talk, a proposal that both complete,
//! files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use zx1_e2e::{Running, binary, wait_until};

struct Person {
    home: tempfile::TempDir,
    relay: String,
}

impl Person {
    fn new(relay: &str) -> Person {
        let person = Person { home: tempfile::tempdir().unwrap(), relay: relay.to_owned() };
        assert!(person.run(&["init"]).status.success());
        person
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary("zx1"));
        command
            .arg("--json")
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home.path())
            .env("ZX1_HOME", self.home.path().join("zx1"))
            .env("ZX1_RELAY", &self.relay)
            .env("NO_COLOR", "1")
            .current_dir(self.home.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command prints that goes well.
    #[track_caller]
    fn chat(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["chat"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect()
    }

    fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(&[&["chat"], arguments].concat()))
    }
}

/// The objects that a process has printed.
fn objects(process: &Running) -> Vec<Value> {
    process.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits for an event, and gives it.
#[track_caller]
fn event(process: &Running, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    wait_until(what, || objects(process).into_iter().find(|it| fits(it)))
}

fn relay(data: &Path) -> (Running, String) {
    let mut command = Command::new(binary("zx1-relay"));
    command.args(["--host", "127.0.0.1", "--port", "0", "--min-proposal-age-ms", "0", "--data"]).arg(data);
    let process = Running::start(command);
    let said = process.wait_for("\"ready\":true");
    let ready: Value =
        serde_json::from_str(said.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
    (process, ready["url"].as_str().unwrap().to_owned())
}

#[test]
fn two_people_talk_agree_complete_and_exchange_files() {
    let data = tempfile::tempdir().unwrap();
    let (_relay, url) = relay(data.path());
    let (alice, bob) = (Person::new(&url), Person::new(&url));
    let mut listening = alice.start(&["listen", "#general"]);
    let here = event(&listening, "alice is there", |it| it["event"] == "here");
    let of_alice = here["agent"].as_str().unwrap().to_owned();
    wait_until("alice is in the channel", || {
        let who = serde_json::to_string(&bob.chat(&["who", "#general"])).unwrap();
        who.contains(&of_alice).then_some(())
    });
    bob.chat(&["say", "#general", "who can translate?"]);
    let heard = event(&listening, "alice hears bob", |it| it["content"] == "who can translate?");
    let of_bob = heard["from"].as_str().unwrap().to_owned();
    assert_ne!(of_alice, of_bob);

    bob.chat(&["propose", &of_alice, "--task", "translate 3 pages", "--amount", "5", "--currency", "XNO"]);
    let proposed = event(&listening, "alice sees the proposal", |it| {
        it["event"].as_str().is_some_and(|event| event.contains("propos"))
    });
    let text = proposed.to_string();
    assert!(text.contains("translate 3 pages"), "{text}");
    let start = text.find("prop_").unwrap();
    let id: String = text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    listening.kill9();

    alice.chat(&["accept", &id]);
    bob.chat(&["complete", &id, "--proof", "three pages"]);
    let confirmed = serde_json::to_string(&alice.chat(&["complete", &id])).unwrap();
    assert_eq!(confirmed.matches("1208").count(), 2, "both ratings: {confirmed}");
    let again = alice.run(&["chat", "complete", &id]);
    assert!(!again.status.success(), "{again:?}");

    std::fs::write(bob.home.path().join("pages.txt"), "page 1\npage 2\n").unwrap();
    std::fs::write(bob.home.path().join("scan.bin"), [0, 159, 146, 150]).unwrap();
    let mut receiving = alice.start(&["receive", &of_bob, "--to", "inbox"]);
    let health = url.replace("ws://", "http://") + "/health";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    wait_until("alice is there again", || {
        let text = runtime.block_on(async { reqwest::get(&health).await.unwrap().text().await.unwrap() });
        let health: Value = serde_json::from_str(&text).unwrap();
        (health["agents"]["connected"] == 1).then_some(())
    });
    bob.chat(&["send", &of_alice, "pages.txt", "scan.bin", "--yes"]);
    assert!(receiving.wait().success(), "{}", receiving.said());
    let inbox = alice.home.path().join("inbox");
    assert_eq!(std::fs::read(inbox.join("pages.txt")).unwrap(), b"page 1\npage 2\n");
    assert_eq!(std::fs::read(inbox.join("scan.bin")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(std::fs::read_dir(&inbox).unwrap().count(), 2);
}
