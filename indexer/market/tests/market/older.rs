//! What older clients send and expect (wire.md, "Market HTTP", decision E13): bodies without entries, entries
//! whose signature leaves the timestamp out, requests signed with line ends, answers with the next state in
//! them.

use serde_json::{Value, json};
use zx1_market::chain::{Data, Head};
use zx1_market::money::{Court, Outcome};
use zx1_market::{Json, Millis, PartyKey};
use zx1_market_server::clock::Clock;

use crate::support::{Got, Headers, Market, address, key};

/// A server for older clients, which never pay.
async fn market() -> Market {
    Market::with(|config| {
        config.compat = true;
        config.nano.auto_fund = true;
    })
    .await
}

/// Sign as they do, and send: METHOD, PATH without its query, TIMESTAMP, BODY. `tests/vectors/fix/request_auth.json`
/// has signatures of their own making, which the rules' tests check.
async fn send(m: &Market, method: &str, path: &str, body: &Value, key: &PartyKey) -> Got {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let now = format!("{:.3}", m.clock.advance(Millis(1)).as_secs_f64());
    let bare = path.split('?').next().unwrap();
    let signature = hex::encode(key.sign([method, bare, &now, &body].join("\n").as_bytes()));
    m.client.send_with(method, path, body.into_bytes(), Some(Headers::older(key, signature, now))).await
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
    let payout = address("principal").to_string();
    let principal = m.principal.id().to_string();
    let body =
        json!({"contract": contract, "principal_pubkey": principal, "payout_address": payout, "_nonce": "1"});
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
    // Nothing is paid without a word to whom (decision E19).
    send(&m, "POST", &page("bond"), &json!({"agent_pubkey": agent}), &m.agent).await.refused(400, 9056);
    let body = json!({"agent_pubkey": agent, "payout_address": address("agent").to_string()});
    let got = send(&m, "POST", &page("bond"), &body, &m.agent).await.says("investigating");
    assert_eq!(got["bond"], json!({"status": "agent_locked", "inclusive_bond": "0.67", "judge_fee": "0.17"}));
    let body = json!({"command": "cat foo.c", "agent_pubkey": agent});
    let got = send(&m, "POST", &page("investigate"), &body, &m.agent).await.says("pending_result");
    assert_eq!(got["command"], "cat foo.c");
    let body = json!({"command": "cat foo.c", "output": "int", "principal_pubkey": principal});
    send(&m, "POST", &page("result"), &body, &m.principal).await.says("ok");
    // One that signs entries does it without the timestamp.
    let got = send(&m, "POST", &page("accept"), &json!({}), &m.agent).await;
    let message = "missing field `agent_pubkey` at line 1 column 2";
    let older =
        format!(r#"{{"detail":[{{"type":"value_error","loc":["body"],"msg":"{message}","input":null}}]}}"#);
    assert_eq!((got.status, got.text), (422, older), "the shape that they know");
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
    // The winner has nothing to dispute; the loser's dispute is its appeal.
    let body = json!({"argument": "it works", "side": "agent", "pubkey": agent, "_nonce": "2"});
    assert_eq!(send(&m, "POST", &page("dispute"), &body, &m.agent).await.status, 409);
    let body = json!({"argument": "it does not", "side": "principal", "pubkey": principal, "_nonce": "3"});
    let got = send(&m, "POST", &page("dispute"), &body, &m.principal).await.says("awaiting_response");
    assert_eq!(got["court"], "appeals");
    let body = json!({"argument": "it does", "side": "agent", "pubkey": agent});
    let path = page("respond");
    let respond = send(&m, "POST", &path, &body, &m.agent);
    let judge = async {
        crate::support::eventually("it is before the second judge", || async {
            let tasks = m.client.get("/judge/tasks", Some(&m.judge)).await.ok();
            (tasks["tasks"][0]["court"] == "appeals").then_some(())
        })
        .await;
        m.client.rule(id.parse().unwrap(), &m.judge, Outcome::Fulfilled, Court::Appeals).await.ok()
    };
    let (answer, _) = tokio::join!(respond, judge);
    assert_eq!(answer.ok()["court"], "appeals");
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
    let body = json!({"agent_pubkey": agent, "payout_address": address("agent").to_string()});
    send(&m, "POST", &page("bond"), &body, &m.agent).await.says("investigating");
    let status = send(&m, "GET", &page("review_status"), &Value::Null, &m.agent).await.ok();
    assert_eq!((&status["remaining"], &status["expires_at"]), (&json!(0.0), &Value::Null));
    let told = json!({"agent_account": address("agent").to_string(), "pubkey": agent});
    send(&m, "POST", &page("accounts"), &told, &m.agent).await.says("ok");
    send(&m, "POST", &page("accept"), &json!({"agent_pubkey": agent}), &m.agent).await.says("in_progress");
    let body = json!({"fix": "true", "explanation": "", "agent_pubkey": agent});
    let got = send(&m, "POST", &page("fix"), &body, &m.agent).await.says("review");
    assert!(got["review_expires_at"].is_number());
    let body = json!({"action": "accept", "principal_pubkey": principal}).to_string().into_bytes();
    let (path, then) = (page("review"), m.clock.now().to_string());
    let message = [b"POST", path.as_bytes(), then.as_bytes(), &body].join(&b'\n');
    let signature = hex::encode(m.principal.sign(&message));
    let headers = Some(Headers::older(&m.principal, signature, then));
    m.clock.advance(Millis::secs(301));
    m.client.send_with("POST", &path, body.clone(), headers.clone()).await.refused(401, 9092);
    let m2 = (m.clock.now(), headers);
    assert!(m2.0 > Millis(0));
    let body: Value = serde_json::from_slice(&body).unwrap();
    send(&m, "POST", &path, &body, &m.principal).await.says("fulfilled");
    m.sound(id.parse().unwrap(), "fulfilled").await;
    m.paid("0.17", "1.12", "0.05", "0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_compat_nothing_of_it_is_taken() {
    let m = Market::with(|config| config.nano.ledger = "none".into()).await;
    let got = send(&m, "GET", "/contracts?mine=1", &Value::Null, &m.agent).await;
    got.refused(401, 9090);
    let id = m.open(&m.contract("")).await;
    let path = format!("/contracts/{id}/accept");
    let body = json!({"agent_pubkey": m.agent.id().to_string()});
    m.client.post(&path, &body, &m.agent).await.refused(400, 9049);
    m.client.post(&path, &json!([]), &m.agent).await.refused(422, 9434);
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

/// What the newest of them checks before it bonds: every signature leaves the timestamp out (decision E13).
#[tokio::test(flavor = "multi_thread")]
async fn every_entry_of_the_server_verifies_for_whom_it_is_served() {
    let m = market().await;
    let id = posted(&m, false).await;
    let agent = m.agent.id().to_string();
    let body = json!({"agent_pubkey": agent, "payout_address": address("agent").to_string()});
    send(&m, "POST", &format!("/contracts/{id}/bond"), &body, &m.agent).await.says("investigating");
    let body = json!({"message": "hello", "from_side": "agent", "pubkey": agent});
    send(&m, "POST", &format!("/contracts/{id}/chat"), &body, &m.agent).await.says("sent");
    let head = m.client.head(id.parse().unwrap(), &m.agent).await;
    // One that signs itself, a minute ago by its own clock: the server's time goes in.
    let mut signed = entry(&m, &Data::Accept { agent: m.agent.id() }, head, &m.agent);
    signed["timestamp"] = json!(m.clock.now().as_secs_f64() - 3_000.0);
    let body = json!({"agent_pubkey": agent, "chain_entry": signed});
    send(&m, "POST", &format!("/contracts/{id}/accept"), &body, &m.agent).await.says("in_progress");
    let view = m.client.view(id.parse().unwrap(), &m.agent).await;
    let transcript = view["transcript"].as_array().unwrap();
    let (mut before, mut server_says) = (0.0, false);
    for entry in transcript {
        let entry = Json::parse(entry.to_string().as_bytes()).unwrap();
        let text = |name: &str| entry.get(name).unwrap().as_str().unwrap().to_owned();
        let fields = ["type", "data", "seq", "author", "prev_hash"];
        let payload = Json::object(fields.map(|name| (name, entry.get(name).unwrap().clone()))).canonical();
        let author: zx1_market::PartyId = text("author").parse().unwrap();
        let mut signature = [0; 64];
        hex::decode_to_slice(text("signature"), &mut signature).unwrap();
        assert!(author.verify(payload.as_bytes(), &signature), "{payload}");
        let at = entry.get("timestamp").unwrap().as_f64().unwrap();
        assert!(at >= before, "time runs backwards at {payload}");
        before = at;
        server_says |= text("type") == "message" && payload.contains("\"from\":\"agent\"");
    }
    assert!(server_says, "the server says who speaks");
    m.sound_so_far(id.parse().unwrap()).await;
}

/// The exchanges of the older client with its own server, replayed in their order. Where this server answers with
/// another status, the table says so.
#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_exchanges_are_answered_as_recorded_or_as_listed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/recorded_wire.json");
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let m = market().await;
    let stranger = key(4);
    let (mut id, mut differences) = (String::new(), Vec::new());
    let mut agent = m.agent.clone();
    for record in recorded["records"].as_array().unwrap() {
        let label = record["label"].as_str().unwrap();
        // Times out of the window, other keys and other bytes are the request signature's tests.
        // A review that is rejected ends theirs with a 400, and ours, which knows the word, with the contract.
        if label.ends_with("_401") || label == "bad_json_422" || label == "review_reject?" {
            continue;
        }
        // Whoever gave a contract back does not get it again here: another agent goes on.
        match label {
            "bond2" => agent = key(5),
            _ if label.starts_with("post") => agent = m.agent.clone(),
            _ => {}
        }
        let fill = |text: &str| {
            text.replace("<cid>", &id)
                .replace("<principal_fix_id>", &m.principal.id().to_string())
                .replace("<agent_fix_id>", &agent.id().to_string())
                .replace("<stranger_fix_id>", &stranger.id().to_string())
                .replace(&format!("fix_{}", "ab".repeat(32)), &m.client.terms.server.to_string())
        };
        let mut body: Value = serde_json::from_str(&fill(&record["request"].to_string())).unwrap();
        let said = body.to_string();
        let who = [&agent, &m.principal, &stranger].into_iter().find(|key| {
            ["pubkey", "agent_pubkey", "principal_pubkey"]
                .iter()
                .any(|name| body[name] == key.id().to_string())
                || (body.is_null() && label.contains("stranger") && key.id() == stranger.id())
        });
        let who = who.unwrap_or(&m.principal);
        if label.starts_with("post") {
            // They name no payout address, so they get free contracts only (decision E19).
            let paid = send(&m, "POST", "/contracts", &body, who).await;
            paid.refused(400, 9056);
            body["contract"]["judge"] = json!({"pubkey": "", "fee": "0"});
        }
        if body["chain_entry"].is_object() {
            let entry_type = body["chain_entry"]["type"].as_str().unwrap().to_owned();
            let data = Json::parse(body["chain_entry"]["data"].to_string().as_bytes()).unwrap();
            let data = Data::read(entry_type.parse().unwrap(), &data);
            let Ok((data, _)) = data else { panic!("{label}: {said}") };
            let mut head = m.client.head(id.parse().unwrap(), &m.principal).await;
            if label.contains("conflict") {
                head.seq -= 1;
            }
            let mut signed = entry(&m, &data, head, who);
            signed["data"] = body["chain_entry"]["data"].clone();
            let json = Json::parse(body["chain_entry"]["data"].to_string().as_bytes()).unwrap();
            signed = resigned(&signed, &json, who);
            body["chain_entry"] = signed;
        }
        let method = record["method"].as_str().unwrap();
        let path = fill(record["path"].as_str().unwrap());
        // The pause between two investigations, and nothing that ends a window.
        let waits = label == "investigate_not_whitelisted";
        m.clock.advance(if waits { Millis::secs(6) } else { Millis(100) });
        let got = send(&m, method, &path, &body, who).await;
        if label.starts_with("post") && got.status == 200 {
            id = got.body["contract_id"].as_str().unwrap().to_owned();
        }
        if i64::from(got.status) != record["status"].as_i64().unwrap() {
            differences.push(format!("{label} {} {}", record["status"], got.status));
        }
    }
    assert_eq!(differences, DIFFERENCES);
}

/// The entry with these data, signed as older clients sign.
fn resigned(entry: &Value, data: &Json, key: &PartyKey) -> Value {
    let mut entry = entry.clone();
    let get = |name: &str| Json::parse(entry[name].to_string().as_bytes()).unwrap();
    let fields = vec![
        ("type", get("type")),
        ("data", data.clone()),
        ("seq", get("seq")),
        ("author", get("author")),
        ("prev_hash", get("prev_hash")),
    ];
    let signature = hex::encode(key.sign(Json::object(fields).canonical().as_bytes()));
    entry["signature"] = json!(signature);
    entry
}

/// What is deliberately answered otherwise: label, recorded status, ours.
const DIFFERENCES: &[&str] = &[
    // Words and numbers that mean nothing are refused instead of passed over.
    "list_bad_status 200 400",
    "list_limit_0 200 400",
    "list_limit_bad 422 400",
    // The shape of a body comes before the contract.
    "accounts_bad_addr 400 422",
    "accounts_nothing 404 422",
    // An answer wants a question, a fix an agent that has accepted, a verification a fix.
    "result_for_never_asked 200 409",
    "chat_bad_type_400 400 403",
    "chat_type_chat_400 400 422",
    "fix_while_investigating 200 409",
    "verify_before_fix? 200 409",
    // So the contract has not ended here.
    "accounts_after_resolved 409 200",
    // Without a payout address contracts are free, and free ones know no court.
    "review_dispute 200 501",
];
