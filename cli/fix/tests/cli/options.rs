//! What was asked for on the command line holds: `--expect`, `--attach`, `--allow-host`, and a server that is
//! made again from saved transcripts.

use crate::support::{Home, Market, Service};
use serde_json::Value;

fn ended(said: &crate::support::Said) -> Value {
    let events = said.events();
    events.iter().find(|event| event["event"] == "ended").unwrap_or_else(|| panic!("{said:?}")).clone()
}

#[test]
fn a_fix_counts_only_if_the_output_matches_what_is_expected() {
    for (pattern, right) in [("^hello$", true), ("^good bye$", false)] {
        let config = Home::new();
        let file = config.file("market.toml", "[windows_ms]\nopen = 2000\nobjection = 500\n");
        let data = config.path().join("market");
        let options = ["--config", file.to_str().unwrap(), "--data", data.to_str().unwrap()];
        let market = Market::start(&options);
        let (home, agents) = (Home::new(), Home::new());
        let _agent = market.scripted_agent(&agents, "echo hello > out.txt");
        let line = ["--json", "--server", market.url(), "--yes", "--expect", pattern, "cat", "out.txt"];
        let said = home.fix(line);
        let end = ended(&said);
        assert_eq!((said.code == 0, home.work().join("out.txt").exists()), (right, right), "{said:?}");
        assert_eq!(end["state"] == "fulfilled", right, "{said:?}");
        assert_eq!(said.out.contains("(output_mismatch, outcome 0)"), !right, "{said:?}");
    }
}

#[test]
fn an_expectation_that_is_no_expression_is_refused_before_anything_is_sent() {
    let market = Market::start(&[]);
    let home = Home::new();
    let said = home.fix(["--server", market.url(), "--yes", "--expect", "(", "cat", "out.txt"]);
    assert!(said.code == 1 && said.err.contains("error 90"), "{said:?}");
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts"));
}

#[test]
fn what_is_expected_is_shown_before_it_is_sent_and_holds_no_secret() {
    let home = Home::new();
    let run = |pattern: &str| {
        home.fix(["--server", "http://127.0.0.1:9", "--dry-run", "--expect", pattern, "cat", "out.txt"])
    };
    let said = run("^hello$");
    assert!(said.code == 1 && said.err.contains("expected  ^hello$"), "{said:?}");
    assert!(said.err.contains("; shell: "), "it leaves the machine, too: {said:?}");
    let said = run("password=hunter2hunter2");
    assert!(said.code == 1 && said.err.contains("error 9545: "), "{said:?}");
    assert!(!said.err.contains("This is all that leaves your machine"), "{said:?}");
}

#[test]
fn attached_files_are_shown_scrubbed_and_lie_below_the_folder() {
    let market = Market::start(&[]);
    let home = Home::new();
    home.file("settings.ini", "password=hunter2hunter2\n");
    std::fs::write(home.path().join("outside.txt"), "x").unwrap();
    let run = |file: &str| {
        let line = ["--server", market.url(), "--dry-run", "--attach", file, "cat", "out.txt"];
        home.fix(line)
    };
    let said = run("settings.ini");
    assert!(
        said.err.contains("files     settings.ini (") && said.err.contains("1 removed: password"),
        "{said:?}"
    );
    assert!(said.code == 1 && !said.err.contains("hunter2"), "{said:?}");
    let said = run("../outside.txt");
    assert!(said.code == 1 && said.err.contains("error 9546: "), "{said:?}");
    let said = run("nothing.txt");
    assert!(said.code == 1 && said.err.contains("error 9506: "), "{said:?}");
}

/// The sandbox names its proxy in the environment only when a host was allowed.
#[test]
fn a_fix_reaches_the_network_only_through_the_hosts_that_were_allowed() {
    for allowed in [false, true] {
        let config = Home::new();
        let file = config.file("market.toml", "[windows_ms]\nopen = 2000\nobjection = 500\n");
        let data = config.path().join("market");
        let options = ["--config", file.to_str().unwrap(), "--data", data.to_str().unwrap()];
        let market = Market::start(&options);
        let (home, agents) = (Home::new(), Home::new());
        let _agent = market.scripted_agent(&agents, "test -n \"$https_proxy\" && touch done");
        let host = ["--allow-host", "packages.example.org"];
        let mut line = vec!["--server", market.url(), "--yes"];
        line.extend(host.iter().filter(|_| allowed));
        line.extend(["test", "-f", "done"]);
        let said = home.fix(line);
        assert_eq!((said.code == 0, home.work().join("done").exists()), (allowed, allowed), "{said:?}");
        let shown = if allowed { "network: packages.example.org" } else { "network: none" };
        assert!(said.err.contains(shown), "{said:?}");
    }
}

#[test]
fn a_server_that_lost_everything_but_its_key_is_made_again_from_a_clients_transcripts() {
    let old = Home::new();
    let data = old.path().join("market");
    let start = |data: &std::path::Path, options: &[&str]| {
        let serve = ["serve", "--port", "0", "--nano", "none", "--data", data.to_str().unwrap()];
        Service::start(old.command(serve.iter().chain(options)))
    };
    let mut server = start(&data, &[]);
    let url = server.ready["url"].as_str().unwrap().to_owned();
    let (home, agents) = (Home::new(), Home::new());
    let mut agent = Service::start(agents.command(["--json", "--server", &url, "agent"]));
    home.file("m.c", crate::local::NEEDS_LM);
    let line =
        ["--json", "--server", &url, "--yes", "--accept-corrected", "--market", "gcc", "m.c", "-o", "m"];
    let end = ended(&home.fix(line));
    assert_eq!(end["state"], "fulfilled");
    let (id, kept) = (end["contract"].as_str().unwrap(), end["transcript"].as_str().unwrap());
    let folder = std::path::Path::new(kept).parent().unwrap();
    agent.kill();
    server.kill();

    let key = data.join("server.key");
    let again = old.path().join("again");
    let options = ["--server-key", key.to_str().unwrap(), "--import", folder.to_str().unwrap()];
    let server = start(&again, &options);
    let url = server.ready["url"].as_str().unwrap();
    let shown = home.fix(["--server", url, "show", id]);
    assert!(shown.ok().contains("fulfilled"), "{shown:?}");
    let listed = home.fix(["--json", "--server", url, "contracts", "--all"]);
    let listed: Value = serde_json::from_str(listed.ok()).unwrap();
    assert_eq!((listed[0]["id"].as_str(), listed[0]["state"].as_str()), (Some(id), Some("fulfilled")));
    drop(server);

    // A transcript that does not hold stops it, and nothing is served.
    let text = std::fs::read_to_string(kept).unwrap();
    std::fs::write(kept, text.replacen("\"fulfilled\"", "\"canceled\"", 1).replacen("gcc", "gcd", 1))
        .unwrap();
    let broken = old.path().join("broken");
    let serve = ["serve", "--port", "0", "--nano", "none", "--data", broken.to_str().unwrap()];
    let said = crate::support::said(&mut old.command(serve.iter().chain(&options)));
    assert!(said.code == 1 && said.err.contains("error 94") && said.out.is_empty(), "{said:?}");
}

/// Root rights beyond the command's own are granted by a word only: being root, as in containers, is none.
#[test]
fn sudo_is_granted_by_the_option_or_by_a_command_that_names_it() {
    let home = Home::new();
    for (options, line, granted) in [
        (&[][..], &["sh", "-c", "exit 3"][..], "no"),
        (&["--allow-sudo"], &["sh", "-c", "exit 3"], "yes"),
        (&[], &["sh", "-c", "exit 3; sudo true"], "yes"),
    ] {
        let arguments = [&["--server", "http://127.0.0.1:9", "--dry-run"], options, line].concat();
        let said = home.fix(arguments);
        assert_eq!(said.code, 3, "{said:?}");
        assert!(said.err.contains(&format!("sudo: {granted};")), "{said:?}");
    }
    assert_eq!(home.fix(["--local", "--allow-sudo", "sh", "-c", "exit 3"]).code, 2);
}
