//! Subscriptions, over the real websocket.

use crate::common::*;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use solana_address::Address;
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;
use std::time::Duration;
use tokio_tungstenite::{connect_async, tungstenite::Message};

type Socket = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

async fn subscribe(socket: &mut Socket, method: &str, params: Value) {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    socket.send(Message::text(request.to_string())).await.unwrap();
    let answer = next(socket, |message| message["id"] == 1).await;
    assert!(answer["result"].is_u64(), "{method}: {answer}");
}

/// The next message that is wanted, within half a minute.
async fn next(socket: &mut Socket, wanted: impl Fn(&Value) -> bool) -> Value {
    tokio::time::timeout(Duration::from_secs(30), async {
        loop {
            let text = socket.next().await.unwrap().unwrap().into_text().unwrap();
            if let Some(value) = serde_json::from_str::<Value>(&text).ok().filter(&wanted) {
                return value;
            }
        }
    })
    .await
    .expect("a message comes")
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_accounts_signatures_and_logs_are_told_ok() {
    let net = tokio::task::spawn_blocking(start).await.unwrap();
    let owner = wallet(&net, "wallet-1");
    let stranger = Address::new_unique();
    let (mut socket, _) = connect_async(&net.env().ws_url).await.unwrap();
    subscribe(&mut socket, "slotSubscribe", json!([])).await;
    let first = next(&mut socket, |message| message["method"] == "slotNotification").await;
    let slot = |message: &Value| message["params"]["result"]["slot"].as_u64().unwrap();
    let second =
        next(&mut socket, |message| message["method"] == "slotNotification" && slot(message) > slot(&first))
            .await;
    assert_eq!(slot(&second), slot(&first) + 1);

    let (mut accounts, _) = connect_async(&net.env().ws_url).await.unwrap();
    let options = json!({"encoding": "base64", "commitment": "confirmed"});
    subscribe(&mut accounts, "accountSubscribe", json!([stranger.to_string(), options])).await;
    let (mut logs, _) = connect_async(&net.env().ws_url).await.unwrap();
    let who = json!({"mentions": [owner.pubkey().to_string()]});
    subscribe(&mut logs, "logsSubscribe", json!([who, {"commitment": "confirmed"}])).await;

    let net = std::sync::Arc::new(net);
    let (wire, signature) = {
        let (net, owner) = (net.clone(), owner.insecure_clone());
        tokio::task::spawn_blocking(move || {
            let wire = signed(&net, &[transfer(&owner.pubkey(), &stranger, 4_000_000)], &owner, &[]);
            use base64::Engine;
            let bytes = base64::engine::general_purpose::STANDARD.decode(&wire).unwrap();
            let signature = solana_signature::Signature::try_from(&bytes[1..65]).unwrap().to_string();
            (wire, signature)
        })
        .await
        .unwrap()
    };
    let (mut signatures, _) = connect_async(&net.env().ws_url).await.unwrap();
    subscribe(&mut signatures, "signatureSubscribe", json!([signature, {"commitment": "confirmed"}])).await;
    let sent = {
        let net = net.clone();
        tokio::task::spawn_blocking(move || {
            rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}]))
        })
    };
    assert_eq!(sent.await.unwrap().unwrap(), signature);
    let told = next(&mut signatures, |message| message["method"] == "signatureNotification").await;
    assert!(told["params"]["result"]["value"]["err"].is_null(), "{told}");
    let told = next(&mut accounts, |message| message["method"] == "accountNotification").await;
    assert_eq!(told["params"]["result"]["value"]["lamports"], 4_000_000, "{told}");
    let told = next(&mut logs, |message| message["method"] == "logsNotification").await;
    assert_eq!(told["params"]["result"]["value"]["signature"], signature, "{told}");
    tokio::task::spawn_blocking(move || drop(net)).await.unwrap();
}
