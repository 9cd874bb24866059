//! Metrics, alerts and dashboards: what promtool says of them, and that each names what the servers serve.

use crate::{all, node, ops, read, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use zx1_e2e::Localnet;

/// Debian's, where scripts/setup has put it.
fn promtool() -> Command {
    let tools = std::env::var_os("ZX1_TOOLS").map(PathBuf::from);
    let cache = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/zx1"));
    let own = tools.or_else(cache).map(|tools| tools.join("bin/promtool"));
    Command::new(own.filter(|path| path.is_file()).unwrap_or_else(|| "promtool".into()))
}

#[track_caller]
fn checked(mut command: Command, input: &str) -> Output {
    let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.unwrap_or_else(|error| panic!("promtool ({error}): run scripts/setup"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Runs promtool in the folder of what operators are given; it must be content.
#[track_caller]
fn content(arguments: &[&str]) {
    let mut command = promtool();
    command.args(arguments).current_dir(ops(""));
    let output = checked(command, "");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// The names of the samples that a text of metrics describes.
fn served(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        if kind == "histogram" {
            names.extend(["_bucket", "_sum", "_count"].map(|end| format!("{name}{end}")));
        } else {
            names.insert(name.to_owned());
        }
    }
    names
}

/// The metrics of ours that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = |word: &&str| {
        ["zx1_indexer_", "fix_market_", "zx1_sponsor_", "zx1_relay_", "zx1_node_", "gossipsub_", "process_"]
            .iter()
            .any(|prefix| word.starts_with(prefix))
    };
    words.filter(ours).map(str::to_owned).collect()
}

/// The names of the alerts.
fn alerts() -> Vec<String> {
    let rules = read("alerts.yml");
    let names = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    names.map(str::to_owned).collect()
}

/// Each with the prefix of what its server serves, and the least number of metrics that it draws.
fn dashboards() -> [(&'static str, &'static str, usize); 4] {
    [
        ("grafana/indexer.json", "zx1_indexer", 20),
        ("grafana/market.json", "fix_market", 20),
        ("grafana/node.json", "zx1_node", 15),
        ("grafana/relay.json", "zx1_relay", 9),
    ]
}

/// What the panels of a dashboard ask for.
fn drawn(dashboard: &str) -> BTreeSet<String> {
    let board: Value = serde_json::from_str(&read(dashboard)).unwrap();
    let panels = board["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    targets.flat_map(|target| named(target["expr"].as_str().unwrap())).collect()
}

#[test]
fn promtool_finds_nothing_in_the_metrics_and_all_that_is_asked_for_is_served() {
    let net = Localnet::builder().start();
    let mut everything = BTreeSet::new();
    for (prefix, server) in all(&net).into_iter().chain([("zx1_node", node(&net))]) {
        let text = server.metrics();
        let mut command = promtool();
        command.args(["check", "metrics"]);
        let output = checked(command, &text);
        assert!(output.status.success() && output.stderr.is_empty(), "{prefix}: {output:?}");
        let names = served(&text);
        for name in [format!("{prefix}_build_info"), "process_open_fds".to_owned()] {
            assert!(names.contains(&name), "{name}: {text}");
        }
        everything.extend(names);
        let open = "application/openmetrics-text";
        let (_, plain, _) = server.get("/metrics", Some("*/*"));
        let (_, kind, text) = server.get("/metrics", Some(open));
        assert!(plain.starts_with("text/plain; version=0.0.4"), "{plain}");
        assert!(kind.starts_with(open) && text.ends_with("# EOF\n"), "{kind} {text}");
    }
    let asked = named(&read("alerts.yml"));
    assert!(asked.is_subset(&everything), "{:?}", asked.difference(&everything));
    for (dashboard, prefix, least) in dashboards() {
        let drawn = drawn(dashboard);
        assert!(drawn.len() > least, "{dashboard}: {drawn:?}");
        assert!(drawn.is_subset(&everything), "{dashboard}: {:?}", drawn.difference(&everything));
        // And all that a server serves is drawn; of a histogram one part is enough.
        let own = everything.iter().filter(|name| name.starts_with(prefix) || name.starts_with("process_"));
        let missing: Vec<_> = own
            .filter(|name| !drawn.contains(*name) && !name.ends_with("_sum") && !name.ends_with("_count"))
            .collect();
        assert!(missing.is_empty(), "{dashboard} does not draw {missing:?}");
    }
}

#[test]
fn promtool_takes_the_rules_their_tests_and_the_configuration() {
    content(&["check", "rules", "--lint-fatal", "alerts.yml"]);
    content(&["check", "config", "prometheus.yml"]);
    content(&["test", "rules", "alerts.test.yml"]);
}

#[test]
fn each_alert_is_explained_to_the_operator_and_tested_both_ways() {
    let alerts = alerts();
    assert!(alerts.len() >= 28, "{}", alerts.len());
    let page = std::fs::read_to_string(root().join("docs/operate.md")).unwrap();
    let tests = read("alerts.test.yml");
    for alert in &alerts {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{alert}` |")));
        let cells = row.map(|row| row.trim_matches('|').split(" | ").count());
        assert_eq!(cells, Some(3), "docs/operate.md does not explain {alert}");
        for how in ["fires", "is silent"] {
            assert!(tests.contains(&format!("name: \"{alert} {how}\"")), "{alert} {how}");
        }
    }
    // And no alert is explained that is not there.
    let section = page.split("\n## Alerts\n").nth(1).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let explained: BTreeSet<&str> = rows.collect();
    assert_eq!(explained, alerts.iter().map(String::as_str).collect());
}

#[test]
fn dashboards_explain_their_panels_and_leave_the_data_source_to_grafana() {
    for (dashboard, prefix, _) in dashboards() {
        let board: Value = serde_json::from_str(&read(dashboard)).unwrap();
        let variables: Vec<&str> = board["templating"]["list"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        assert_eq!(variables, ["datasource", "instance"], "{dashboard}");
        let mut ids = BTreeSet::new();
        for panel in board["panels"].as_array().unwrap() {
            assert!(ids.insert(panel["id"].as_i64().unwrap()), "{dashboard}: {}", panel["id"]);
            assert!(panel["description"].as_str().is_some_and(|text| text.len() > 10), "{}", panel["title"]);
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{}", panel["title"]);
            for target in panel["targets"].as_array().unwrap() {
                let expression = target["expr"].as_str().unwrap();
                assert!(expression.contains("$instance"), "{prefix}: {expression}");
            }
        }
    }
}
