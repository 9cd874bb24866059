//! What older clients send and expect (wire.md, "Market HTTP", decision E13): bodies without entries, entries
//! whose signature leaves the timestamp out, requests signed with line ends, answers with the next state in
//! them.

use serde_json::{Value, json};
use zx1_market::chain::{Data, Head};
use zx1_market::money::{Court, Outcome};
use zx1_market::{Json, Millis, PartyKey};
use zx1_market_server::clock::Clock;

use crate::support::{Got, Market, key};

/// A server for older clients, which never pay.
async fn market() -> Market {
    Market::with(|config| {
        config.compat = true;
        config.nano.auto_fund = true;
    })
    .await
}

/// Sign as they do, and send.
async fn send(m: &Market, method: &str, path: &str, body: &Value, key: &PartyKey) -> Got {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let now = format!("{:.3}", m.clock.advance(Millis(1)).as_secs_f64());
    let signature = hex::encode(key.sign([method, path, &body, &now].join("\n").as_bytes()));
    m.client.send_with(method, path, body.into_bytes(), Some((key.id().hex(), signature, now))).await
}

/// An entry as they sign it: without its timestamp.
fn entry(m: &Market, data: &Data, head: Head, key: &PartyKey) -> Value {
    let json = data.to_json(&Default::default());
    let mut fields = vec![
        ("type", Json::from(data.kind().as_str())),
        ("data", json),
        ("seq", head.seq.into()),
        ("author", key.id().to_string().into()),
        ("prev_hash", head.hex().into()),
    ];
    let payload = Json::object(fields.clone()).canonical();
    fields.push(("timestamp", Json::Float(m.clock.now().as_secs_f64())));
    fields.push(("signature", hex::encode(key.sign(payload.as_bytes())).into()));
    serde_json::from_str(&Json::object(fields).canonical()).unwrap()
}

async fn posted(m: &Market, autonomous: bool) -> String {
    let contract = m.contract_with("0.5", |execution| execution.max_attempts = 1, autonomous);
    let contract: Value = serde_json::from_str(&contract.json().canonical()).unwrap();
    let body = json!({"contract": contract, "principal_pubkey": m.principal.id().to_string(), "_nonce": "1"});
    let got = send(m, "POST", "/contracts", &body, &m.principal).await.says("open");
    assert_eq!(got["server_pubkey"], m.client.terms.server.hex());
    got["contract_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_contract_of_older_clients_up_to_a_ruling_ok() {
    let m = market().await;
    let id = posted(&m, false).await;
    let (agent, principal) = (m.agent.id().to_string(), m.principal.id().to_string());
    let page = |action: &str| format!("/contracts/{id}/{action}");
    let listed = send(&m, "GET", "/contracts?status=open&limit=200", &Value::Null, &m.agent).await.ok();
    assert_eq!(listed["contracts"][0]["id"], id);
    let view = send(&m, "GET", &format!("/contracts/{id}"), &Value::Null, &m.agent).await.ok();
    for name in [
        "id",
        "status",
        "contract",
        "principal_pubkey",
        "agent_pubkey",
        "judge_pubkey",
        "execution_mode",
        "review_expires_at",
        "last_investigation_at",
        "transcript",
        "chain_head",
        "server_pubkey",
        "created_at",
        "updated_at",
        "briefing",
    ] {
        assert!(view.get(name).is_some(), "{name} is missing in {view}");
    }
    let got = send(&m, "POST", &page("bond"), &json!({"agent_pubkey": agent}), &m.agent)
        .await
        .says("investigating");
    assert_eq!(got["bond"], json!({"status": "agent_locked", "inclusive_bond": "0.67", "judge_fee": "0.17"}));
    let body = json!({"command": "cat foo.c", "agent_pubkey": agent});
    let got = send(&m, "POST", &page("investigate"), &body, &m.agent).await.says("pending_result");
    assert_eq!(got["command"], "cat foo.c");
    let body = json!({"command": "cat foo.c", "output": "int", "principal_pubkey": principal});
    send(&m, "POST", &page("result"), &body, &m.principal).await.says("ok");
    // One that signs entries does it without the timestamp.
    assert_eq!(send(&m, "POST", &page("accept"), &json!({}), &m.agent).await.status, 422);
    let head = m.client.head(id.parse().unwrap(), &m.agent).await;
    let signed = entry(&m, &Data::Accept { agent: m.agent.id() }, head, &m.agent);
    let body = json!({"agent_pubkey": agent, "chain_entry": signed});
    send(&m, "POST", &page("accept"), &body, &m.agent).await.says("in_progress");
    let body = json!({"message": "which?", "from_side": "agent", "msg_type": "ask", "pubkey": agent});
    send(&m, "POST", &page("chat"), &body, &m.agent).await.says("sent");
    let body = json!({"fix": "true", "explanation": "", "agent_pubkey": agent});
    send(&m, "POST", &page("fix"), &body, &m.agent).await.says("pending_verification");
    let body = json!({"success": false, "explanation": "", "principal_pubkey": principal});
    // They know no `pending`; the agent may still object.
    send(&m, "POST", &page("verify"), &body, &m.principal).await.says("canceled");
    let body = json!({"argument": "it works", "side": "agent", "pubkey": agent});
    let got = send(&m, "POST", &page("dispute"), &body, &m.agent).await.says("awaiting_response");
    assert_eq!((&got["court"], &got["response_window"]), (&json!("district"), &json!(30)));
    // The answer to a response is the ruling: it waits for the judge.
    let body = json!({"argument": "no", "side": "principal", "pubkey": principal});
    let path = page("respond");
    let respond = send(&m, "POST", &path, &body, &m.principal);
    let judge = async {
        crate::support::eventually("it is before the judge", || async {
            let tasks = m.client.get("/judge/tasks", Some(&m.judge)).await.ok();
            (tasks["tasks"][0]["court"] == "district").then_some(())
        })
        .await;
        m.client.rule(id.parse().unwrap(), &m.judge, Outcome::Fulfilled, Court::District).await.ok()
    };
    let (answer, _) = tokio::join!(respond, judge);
    let answer = answer.ok();
    for name in
        ["outcome", "reasoning", "court", "level", "final", "can_appeal", "next_court", "next_fee", "flags"]
    {
        assert!(answer.get(name).is_some(), "{name} is missing in {answer}");
    }
    assert_eq!(answer["outcome"], "fulfilled");
    // Or the one who waits disputes again, and hears it.
    let body = json!({"argument": "it works", "side": "agent", "pubkey": agent, "_nonce": "2"});
    assert_eq!(send(&m, "POST", &page("dispute"), &body, &m.agent).await.ok()["outcome"], "fulfilled");
    let ruling = send(&m, "GET", &page("ruling"), &Value::Null, &m.agent).await.ok();
    assert_eq!(ruling["outcome"], "fulfilled");
    m.pass(m.client.terms.windows.appeal).await;
    m.client.until(id.parse().unwrap(), &m.agent, "resolved").await;
    m.sound(id.parse().unwrap(), "resolved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_review_fulfills_and_an_old_signature_is_good_for_300_s() {
    let m = market().await;
    let id = posted(&m, true).await;
    let page = |action: &str| format!("/contracts/{id}/{action}");
    let (agent, principal) = (m.agent.id().to_string(), m.principal.id().to_string());
    send(&m, "POST", &page("bond"), &json!({"agent_pubkey": agent}), &m.agent).await.says("investigating");
    send(&m, "POST", &page("accept"), &json!({"agent_pubkey": agent}), &m.agent).await.says("in_progress");
    let body = json!({"fix": "true", "explanation": "", "agent_pubkey": agent});
    let got = send(&m, "POST", &page("fix"), &body, &m.agent).await.says("review");
    assert!(got["review_expires_at"].is_number());
    let body = json!({"action": "accept", "principal_pubkey": principal}).to_string().into_bytes();
    let (path, then) = (page("review"), m.clock.now().to_string());
    let message = [b"POST", path.as_bytes(), &body, then.as_bytes()].join(&b'\n');
    let headers = Some((m.principal.id().hex(), hex::encode(m.principal.sign(&message)), then));
    m.clock.advance(Millis::secs(301));
    m.client.send_with("POST", &path, body.clone(), headers.clone()).await.refused(401, 9092);
    let m2 = (m.clock.now(), headers);
    assert!(m2.0 > Millis(0));
    let body: Value = serde_json::from_slice(&body).unwrap();
    send(&m, "POST", &path, &body, &m.principal).await.says("fulfilled");
    m.sound(id.parse().unwrap(), "fulfilled").await;
    m.paid("0", "0", "0.05", "0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_compat_nothing_of_it_is_taken() {
    let m = Market::with(|config| config.nano.ledger = "none".into()).await;
    let got = send(&m, "GET", "/contracts?mine=1", &Value::Null, &m.agent).await;
    got.refused(401, 9094);
    let id = m.open(&m.contract("")).await;
    let path = format!("/contracts/{id}/accept");
    let body = json!({"agent_pubkey": m.agent.id().to_string()});
    m.client.post(&path, &body, &m.agent).await.refused(400, 9049);
    let head = m.client.head(id, &m.agent).await;
    let signed = entry(&m, &Data::Accept { agent: m.agent.id() }, head, &m.agent);
    m.client.post(&path, &json!({"chain_entry": signed}), &m.agent).await.refused(400, 9044);
    // Nor does anybody sign for somebody else, with compat or without.
    let compat = market().await;
    let id = posted(&compat, false).await;
    let body = json!({"agent_pubkey": compat.agent.id().to_string()});
    let got = compat.client.post(&format!("/contracts/{id}/bond"), &body, &key(66)).await;
    got.refused(400, 9045);
}
