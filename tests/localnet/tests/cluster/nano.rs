//! The Nano ledger beside the chain.

use crate::common::*;
use serde_json::{Value, json};

fn ask(url: &str, request: &Value) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        http.post(url).json(request).send().await.unwrap().json().await.unwrap()
    })
}

const ACCOUNT: &str = "nano_3e3j5tkog48pnny9dmfzj1r16pg8t1e76dz5tmac6iq689wyjfpiij4txtdo";

#[test]
fn the_nano_ledger_is_kept_over_a_restart_and_reset_forgets_it_ok() {
    let folder = tempfile::tempdir().unwrap();
    let receivable = |net: &zx1_localnet::Localnet| {
        let url = net.env().nano_rpc_url.clone().unwrap();
        ask(&url, &json!({"action": "account_balance", "account": ACCOUNT}))["receivable"].clone()
    };
    let net = builder().state(folder.path()).start().unwrap();
    let url = net.env().nano_rpc_url.clone().unwrap();
    assert!(net.env().nano_ws_url.is_some());
    assert!(ask(&url, &json!({"action": "version"}))["node_vendor"].is_string());
    let raw = "5000000000000000000000000000000";
    let sent = ask(&url, &json!({"action": "faucet", "account": ACCOUNT, "amount": raw}));
    assert!(sent.get("error").is_none(), "{sent}");
    assert_eq!(receivable(&net), raw);
    net.stop().unwrap();
    let net = builder().state(folder.path()).start().unwrap();
    assert_eq!(receivable(&net), raw);
    net.stop().unwrap();
    let net = builder().state(folder.path()).reset(true).start().unwrap();
    assert_ne!(receivable(&net), raw);
}

#[test]
fn a_taken_nano_port_is_named_fails() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = builder().nano_port(port).start().err().unwrap();
    assert_eq!(error.to_string(), format!("The Nano RPC port {port} is taken by another program."));
    let net = builder().nano_port(port).nano(false).start().unwrap();
    assert_eq!(net.env().nano_rpc_url, None);
}
