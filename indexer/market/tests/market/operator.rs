//! What an operator relies on: figures, rebuilding from transcripts, another database, a clean stop.

use serde_json::Value;
use zx1_market::PartyKey;
use zx1_market_server::clock::Clock;

use crate::support::live::{Live, agent, principal};
use crate::support::process::{Process, command};
use crate::support::{self, Market, START};

#[test]
fn an_empty_variable_counts_as_none() {
    let variables = ["CONFIG", "DB", "DATA", "PORT", "SERVER_KEY", "NANO", "NANO_WS", "PLATFORM_ADDRESS"];
    let printed = |variables: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fix-server"));
        command.arg("--print-config").env_clear();
        command.envs(variables.iter().map(|name| (format!("FIX_{name}"), ""))).output().unwrap()
    };
    let usual = printed(&[]);
    assert!(usual.status.success(), "{usual:?}");
    assert_eq!(printed(&variables), usual);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plain_pages_answer_ok() {
    let m = Market::start().await;
    m.client.get("/readyz", None).await.says("ready");
    let key = m.client.get("/server_pubkey", None).await.ok();
    assert_eq!(key["fix_id"], m.client.terms.server.to_string());
    let info = m.client.get("/platform_info", None).await;
    let info: zx1_market::wire::PlatformInfo = serde_json::from_str(&info.text).unwrap();
    assert_eq!(info.terms().unwrap(), m.client.terms);
    let reputation = m.client.get(&format!("/reputation/{}", m.agent.id()), None).await.ok();
    assert_eq!(reputation["pubkey"], m.agent.id().hex());
    let metrics = m.client.get("/metrics", None).await;
    assert!(
        metrics.text.contains("# TYPE fix_market_requests_total counter") && !metrics.text.contains("# EOF"),
        "{}",
        metrics.text
    );
    let openapi = m.client.get("/openapi.json", None).await;
    assert_eq!(openapi.text, zx1_market_server::http::openapi::text());
    assert_eq!(m.client.get("/test/clock", None).await.ok()["now_ms"], support::START.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_say_what_has_happened() {
    let m = Market::start().await;
    let stream = m.client.http.get(format!("{}/contracts/stream", m.client.url)).send().await.unwrap();
    let id = m.working(&m.contract("0.5")).await;
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    m.client.get("/nowhere", None).await.refused(404, 9402);
    m.paid_as("fulfilled", None, "0.5").await;
    let entries = m.sound(id, "fulfilled").await.entries.len();
    let text = m.client.get("/metrics", None).await.text;
    for line in [
        "fix_market_contract_transitions_total{state=\"open\"} 1",
        "fix_market_contract_transitions_total{state=\"investigating\"} 1",
        "fix_market_contract_transitions_total{state=\"in_progress\"} 1",
        "fix_market_contract_transitions_total{state=\"fulfilled\"} 1",
        "fix_market_contracts{state=\"in_progress\"} 0",
        "fix_market_contracts{state=\"fulfilled\"} 1",
        "fix_market_absences_total{cause=\"ledger\"} 0",
        &format!("fix_market_entries_total {entries}"),
        "fix_market_settlements_total 1",
        "fix_market_escrow_errors_total 0",
        "fix_market_requests_total{status=\"404\"} 1",
        "fix_market_streams 1",
        "fix_market_streams_dropped_total 0",
        "fix_market_connections_cut_total 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is missing in {text}");
    }
    for name in
        ["request_duration_seconds_bucket", "request_duration_seconds_count", "connections", "build_info"]
    {
        assert!(text.contains(&format!("\nfix_market_{name}")), "{name} is missing in {text}");
    }
    // Nothing in it tells whose contracts they are.
    assert!(!text.contains(&id.to_string()) && !text.contains("fix_0"));
    drop(stream);
}

/// Every figure is on the operator's page, with its meaning or among those that are for graphs.
#[tokio::test(flavor = "multi_thread")]
async fn the_operators_page_names_every_figure() {
    let page = include_str!("../../../../docs/operate.md");
    let text = Market::start().await.client.get("/metrics", None).await.text;
    let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE fix_market_")?.split(' ').next());
    let names: Vec<_> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let named = page.contains(&format!("`{name}")) || page.contains(&format!("`fix_market_{name}"));
        assert!(named, "docs/operate.md does not say what {name} means");
    }
}

/// What the ledger's side refuses says what to do next, as the market's own sentences do.
#[test]
fn a_start_that_the_ledgers_side_refuses_says_what_to_do() {
    let folder = support::live::folder(|_| {});
    Process::start(folder.path(), START, &[]).kill();
    let refused = |options: &[&str]| {
        let output = command(folder.path()).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let seed = folder.path().join("data/nano.seed");
    let right = std::fs::read(&seed).unwrap();
    std::fs::write(&seed, "5".repeat(64)).unwrap();
    let said = refused(&[]);
    assert!(
        said.contains("error 8603: ") && said.contains(". Give the seed that the journal was made"),
        "{said}"
    );
    std::fs::write(&seed, right).unwrap();
    let said = refused(&["--nano", "http://127.0.0.1:9", "--network", "beta"]);
    assert!(said.contains("error 8604: ") && said.contains(". Name the journal's network"), "{said}");
    // And nothing was changed.
    Process::start(folder.path(), START, &[]).kill();
}

async fn save(live: &Live, folder: &std::path::Path, key: &PartyKey) {
    for (id, _) in &live.ids {
        let got = live.client.get(&format!("/contracts/{id}"), Some(key)).await;
        assert_eq!(got.status, 200);
        std::fs::write(folder.join(format!("{id}.json")), got.text).unwrap();
    }
}

/// The database is lost; the escrow's journal, the ledger and the clients' transcripts are there.
#[tokio::test(flavor = "multi_thread")]
async fn a_market_is_rebuilt_from_its_clients_transcripts_and_pays_nothing_twice() {
    let mut live = Live::start(false).await;
    let saved = tempfile::tempdir().unwrap();
    live.post(&["0.5"], false).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    save(&live, saved.path(), &principal()).await;
    live.ids.clear();
    live.post(&["1"], true).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("review").await;
    save(&live, saved.path(), &agent()).await;
    let running = live.ids.clone();
    live.ids.clear();
    live.post(&[""], false).await;
    save(&live, saved.path(), &principal()).await;
    let free = live.ids.clone();
    live.process.kill();
    // The other party's copy is older; the longer one counts, whatever the files are called.
    let whole: Value =
        serde_json::from_slice(&std::fs::read(saved.path().join(format!("{}.json", running[0].0))).unwrap())
            .unwrap();
    let mut older = whole.clone();
    for list in ["transcript", "received_at"] {
        older[list].as_array_mut().unwrap().truncate(3);
    }
    let copies = ["0.json", "zz.json"].map(|name| saved.path().join(name));
    for copy in &copies {
        std::fs::write(copy, older.to_string()).unwrap();
    }
    live.database.lose();
    let import = saved.path().to_str().unwrap().to_owned();
    // Twice: what was imported before is left as it is.
    for _ in 0..2 {
        live.process.kill();
        live.process =
            Process::start(live.folder.path(), live.clock.now(), &["--auto-fund", "--import", &import]);
        live.client.url = live.process.url();
        for file in std::fs::read_dir(saved.path()).unwrap() {
            let file_path = file.unwrap().path();
            let was: Value = serde_json::from_slice(&std::fs::read(&file_path).unwrap()).unwrap();
            if copies.contains(&file_path) {
                continue;
            }
            let is = live.client.view(was["id"].as_str().unwrap().parse().unwrap(), &principal()).await;
            for name in
                ["status", "transcript", "received_at", "chain_head", "agent_pubkey", "review_expires_at"]
            {
                assert_eq!(is[name], was[name], "{name}");
            }
        }
    }
    // All of it goes on.
    live.ids = running;
    live.pass(zx1_market::Millis::secs(60)).await;
    live.reach("fulfilled").await;
    live.paid_as(
        "fulfilled",
        None,
        &[("platform", "0.05"), ("agent 0.5", "1.12"), ("principal 0.5", "0.17")],
    )
    .await;
    live.sound("fulfilled").await;
    live.ids = free;
    live.reach("canceled").await;
    live.sound("canceled").await;
    // A folder with something else in it is refused, with its name; and so is another history.
    live.process.kill();
    let mut other = whole;
    let last = other["transcript"].as_array_mut().unwrap().pop().unwrap();
    other["transcript"][3] = last;
    for bad in ["{}".to_owned(), other.to_string()] {
        std::fs::write(saved.path().join("x.json"), bad).unwrap();
        let refused = command(live.folder.path()).args(["--import", &import]).output().unwrap();
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("error 9427") && said.contains("x.json"), "{said}");
    }
}

#[test]
fn a_server_that_is_told_to_stop_ends_well() {
    let folder = support::live::folder(|_| {});
    let mut process = Process::start(folder.path(), START, &[]);
    assert_eq!(process.stop().code(), Some(0));
    // Its database is its own: another key does not get it.
    std::fs::remove_file(folder.path().join("data/server.key")).unwrap();
    let refused = command(folder.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("error 9416"), "{refused:?}");
}

/// The market itself over Postgres, and killed at every step.
#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn a_contract_over_postgres_is_paid_though_the_server_is_killed_at_every_step() {
    let cluster = zx1_server::testing::Cluster::start();
    let url = cluster.database("market");
    let mut live = Live::with(true, |config| config.db = url).await;
    live.post(&["0.5", "1"], false).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    live.sound("fulfilled").await;
    assert_eq!(live.client.get("/stats", None).await.ok()["fulfilled"], 2);
    assert!(live.clock.now() >= START && live.deaths > 10);
    drop(live);
}
