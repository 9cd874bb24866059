//! `zx1 audit` against a real indexer, and against one that lies: what an indexer says is compared with the
//! chain, and a false word is named with its account.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use axum::{Router, body::Bytes, extract::State, http::Uri, response::IntoResponse, routing::get};
use serde_json::Value;
use std::process::Command;
use zx1_e2e::{Localnet, Running, Zx1, binary};

/// Serves what the true indexer says, but for one thing.
#[derive(Clone)]
struct Liar {
    http: reqwest::Client,
    truth: String,
    lie: (&'static str, &'static str, &'static str),
}

impl Liar {
    async fn answer(State(liar): State<Self>, uri: Uri) -> impl IntoResponse {
        let body = liar.http.get(format!("{}{uri}", liar.truth)).send().await.unwrap().text().await.unwrap();
        let (path, word, other) = liar.lie;
        let said = if uri.path() == path { body.replace(word, other) } else { body.clone() };
        assert!(uri.path() != path || said != body, "{word} does not stand in {body}");
        ([("content-type", "application/json")], Bytes::from(said))
    }

    /// Its address; it runs as long as the runtime.
    fn start(
        runtime: &tokio::runtime::Runtime,
        truth: &str,
        lie: (&'static str, &'static str, &'static str),
    ) -> String {
        let liar = Self { http: reqwest::Client::new(), truth: truth.to_owned(), lie };
        let app = Router::new().fallback(get(Self::answer)).with_state(liar);
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        url
    }
}

#[test]
fn an_honest_indexer_passes_the_audit_and_a_lying_one_is_caught() {
    let net = Localnet::builder().start();
    let zx1 = Zx1::new(&net).keypair(net.wallet_file(0));
    let made = zx1.json(["register", "--name", "alice", "--uri", "https://example.org/a.json", "--yes"]);
    let mint = made["agent"].as_str().unwrap().to_owned();
    let key = net.wallet_file(0);
    zx1.json(["keys", "add", key.to_str().unwrap(), "--scopes", "pay,batch,deal,peer", "--yes"]);
    zx1.json(["stake", "lock", "30", "--yes"]);
    zx1.json(["lease", "pay", "--yes"]);
    zx1.json(["feedback", "submit", "it works", "--yes"]);

    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary("zx1-indexer"));
    command.args(["--rpc", net.rpc_url(), "--ws", net.ws_url(), "--port", "0", "--data"]).arg(data.path());
    let indexer = Running::start(command);
    let said = indexer.wait_for("\"ready\":true");
    let ready = said.lines().find(|line| line.contains("\"ready\":true")).unwrap();
    let ready: Value = serde_json::from_str(ready).unwrap();
    let truth = ready["url"].as_str().unwrap();

    let audit = zx1.json(["audit", "--indexer", truth]);
    assert_eq!(audit["differences"], Value::Array(Vec::new()), "{audit}");
    assert_eq!(audit["accounts"], 5, "tenure, key, stake, lease and the feedback log: {audit}");
    let page = zx1.run(["--output", "display", "audit", "--indexer", truth]).ok();
    assert!(page.stdout.contains("The indexer agrees with the chain."), "{page}");

    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (lie, what, index, chain) in [
        (("/v1/agents", "\"30000000\"", "\"90000000\""), "stake", "90000000", "30000000"),
        (("/v1/agents", mint.as_str(), "11111111111111111111111111111112"), "stake", "nothing", "30000000"),
    ] {
        // The liar's words are the test's own; they live as long as the process.
        let lie = (lie.0, &*lie.1.to_owned().leak(), lie.2);
        let url = Liar::start(&runtime, truth, lie);
        let caught = zx1.run(["--output", "json", "audit", "--indexer", &url]).fails_with(7591);
        let found = caught.json();
        let difference = found["differences"].as_array().unwrap().iter().find(|it| it["what"] == what);
        let difference = difference.unwrap_or_else(|| panic!("{caught}"));
        assert_eq!((&difference["index"], &difference["chain"]), (&index.into(), &chain.into()), "{caught}");
        assert_eq!(difference["agent"], mint.as_str(), "{caught}");
        assert!(difference["account"].as_str().is_some_and(|it| it.len() >= 32), "{caught}");
    }

    // Neither a server that is not an indexer nor a text that is not an address.
    zx1.run(["audit", "--indexer", net.rpc_url()]).fails_with(9619);
    zx1.run(["audit", "--indexer", "http://127.0.0.1:9"]).fails_with(9619);
    zx1.run(["audit", "--indexer", "indexer.example.org"]).fails_with(7590);
    let nowhere = zx1.clone().url("http://127.0.0.1:9");
    assert_eq!(nowhere.run(["audit", "--indexer", truth]).number(), Some(7000));
}
