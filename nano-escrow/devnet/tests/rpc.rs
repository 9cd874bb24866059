//! The RPC of the embedded ledger: the shape of every answer, both dialects, and what is not a request.
#![allow(clippy::unwrap_used)]

mod support;

use nano_devnet::{Confirm, Devnet, Dialect, Epoch, ForkRule, Refusal};
use nano_escrow::node::{HttpNode, HttpOptions, NodeCalls};
use nano_escrow::{BlockHash, Network, PublicKey, Raw, SignedBlock, Subtype};
use serde_json::{Value, json};
use support::*;

const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Times become 0, so that answers can be compared.
fn timeless(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (name, inner) in map {
                    if name.ends_with("_timestamp") {
                        assert!(inner.as_str().unwrap().parse::<u64>().unwrap() > 1_600_000_000);
                        *inner = json!("0");
                    } else {
                        walk(inner);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

async fn ask(devnet: &Devnet, body: Value) -> Value {
    timeless(post(devnet, body).await)
}

/// Alice has an open block of 1000 and a send of 300 to Bob; Bob has received nothing. All is confirmed but a
/// second send of 7 to Bob.
struct Scene {
    devnet: Devnet,
    fund: BlockHash,
    open: SignedBlock,
    send: SignedBlock,
    small: SignedBlock,
}

async fn scene(dialect: Dialect) -> Scene {
    let devnet = Devnet::builder().confirm(Confirm::OnDemand).dialect(dialect).start().await.unwrap();
    let (alice, bob) = (key(1), key(2));
    let open = open(&devnet, &alice, 1000).await;
    let send = send_block(&alice, open.hash(), 700, bob.address());
    devnet.publish(&send).await.unwrap();
    devnet.confirm_all().await.unwrap();
    let small = send_block(&alice, send.hash(), 693, bob.address());
    devnet.publish(&small).await.unwrap();
    Scene { fund: open.block.link_hash(), devnet, open, send, small }
}

#[tokio::test]
async fn every_action_has_the_shape_of_a_nodes() {
    let s = scene(Dialect::Rust).await;
    let (alice, bob) = (key(1).address().to_string(), key(2).address().to_string());
    let genesis = GENESIS.address().to_string();
    let (send, small, open) =
        (s.send.hash().to_string(), s.small.hash().to_string(), s.open.hash().to_string());
    let ask = |body: Value| ask(&s.devnet, body);

    let version = ask(json!({"action": "version"})).await;
    assert_eq!(version["network"], "dev");
    assert_eq!(version["network_identifier"], Network::Dev.genesis().to_string());
    for name in ["rpc_version", "store_version", "protocol_version", "node_vendor", "build_info"] {
        assert!(version[name].is_string(), "{name}");
    }

    assert_eq!(
        ask(json!({"action": "account_info", "account": alice})).await,
        json!({
            "frontier": small, "open_block": open, "representative_block": small, "balance": "693",
            "modified_timestamp": "0", "block_count": "3", "account_version": "2", "confirmation_height": "2",
            "confirmation_height_frontier": send,
        })
    );
    let full = ask(json!({
        "action": "account_info", "account": alice, "representative": "true",
        "weight": true, "receivable": "true",
        "include_confirmed": "true",
    }))
    .await;
    for (name, expected) in [
        ("confirmed_balance", "700"),
        ("confirmed_height", "2"),
        ("confirmed_frontier", send.as_str()),
        ("representative", alice.as_str()),
        ("confirmed_representative", alice.as_str()),
        ("weight", "693"),
        ("pending", "0"),
        ("receivable", "0"),
        ("confirmed_pending", "0"),
        ("confirmed_receivable", "0"),
    ] {
        assert_eq!(full[name], expected, "{name}");
    }
    // Money that waits opens no account.
    let unopened = ask(json!({"action": "account_info", "account": bob, "receivable": "true"})).await;
    assert_eq!(unopened, json!({"error": "Account not found"}));

    let balance = |b: &str, r: &str| json!({"balance": b, "pending": r, "receivable": r});
    assert_eq!(ask(json!({"action": "account_balance", "account": bob})).await, balance("0", "300"));
    let all = json!({"action": "account_balance", "account": bob, "include_only_confirmed": "false"});
    assert_eq!(ask(all).await, balance("0", "307"));
    assert_eq!(ask(json!({"action": "account_balance", "account": alice})).await, balance("700", "0"));
    let stranger = key(9).address().to_string();
    assert_eq!(ask(json!({"action": "account_balance", "account": stranger})).await, balance("0", "0"));
    assert_eq!(
        ask(json!({"action": "accounts_balances", "accounts": [bob, "nano_1bad"]})).await,
        json!({"balances": {&bob: balance("0", "300")}, "errors": {"nano_1bad": "Bad account number"}})
    );
    assert_eq!(
        ask(json!({"action": "accounts_frontiers", "accounts": [alice, bob]})).await,
        json!({"frontiers": {&alice: small}, "errors": {&bob: "Account not found"}})
    );

    let receivable = |more: Value| {
        let mut body = json!({"action": "receivable", "account": bob});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    assert_eq!(ask(receivable(json!({}))).await, json!({"blocks": [send]}));
    let mut both = [send.clone(), small.clone()];
    both.sort();
    assert_eq!(ask(receivable(json!({"include_only_confirmed": "false"}))).await, json!({"blocks": both}));
    assert_eq!(ask(receivable(json!({"threshold": "1"}))).await, json!({"blocks": {&send: "300"}}));
    assert_eq!(ask(receivable(json!({"threshold": "301"}))).await, json!({"blocks": {}}));
    let one = receivable(json!({"count": "1", "sorting": "true", "include_only_confirmed": "false"}));
    assert_eq!(ask(one).await, json!({"blocks": {&send: "300"}}));
    assert_eq!(
        ask(receivable(json!({"source": "true", "min_version": "true"}))).await,
        json!({"blocks": {&send: {"amount": "300", "source": alice, "min_version": "2"}}})
    );
    assert_eq!(
        ask(json!({"action": "accounts_receivable", "accounts": [alice, bob], "source": "true"})).await,
        json!({"blocks": {&bob: {&send: {"amount": "300", "source": alice}}}})
    );
    let pending = ask(json!({"action": "pending", "account": bob})).await;
    assert_eq!(pending, json!({"blocks": [send], "deprecated": "1"}));
    for (hash, only_confirmed, exists) in
        [(&send, "true", "1"), (&small, "true", "0"), (&small, "false", "1")]
    {
        let body =
            json!({"action": "receivable_exists", "hash": hash, "include_only_confirmed": only_confirmed});
        assert_eq!(ask(body).await, json!({"exists": exists}));
    }

    let contents = serde_json::to_value(s.send).unwrap();
    let names =
        ["type", "account", "previous", "representative", "balance", "link", "link_as_account", "signature"];
    for name in names {
        assert!(contents[name].is_string(), "{name}");
    }
    let info = json!({
        "block_account": alice, "amount": "300", "balance": "700", "height": "2", "local_timestamp": "0",
        "successor": small, "confirmed": "true", "subtype": "send", "contents": contents,
    });
    assert_eq!(ask(json!({"action": "block_info", "json_block": "true", "hash": send})).await, info);
    let text = ask(json!({"action": "block_info", "hash": send})).await;
    let parsed: Value = serde_json::from_str(text["contents"].as_str().unwrap()).unwrap();
    assert_eq!(parsed, contents, "without json_block the block is a text");
    let head = ask(json!({"action": "block_info", "json_block": "true", "hash": small.to_lowercase()})).await;
    assert_eq!((&head["successor"], &head["confirmed"]), (&json!(ZERO), &json!("false")));
    let opened = ask(json!({"action": "block_info", "json_block": "true", "hash": open})).await;
    assert_eq!(opened["subtype"], "receive", "a node says receive of an open block");
    // Genesis has no time, so it is read as it is.
    let first = json!({"action": "block_info", "json_block": "true", "hash": Network::Dev.genesis()});
    let first = post(&s.devnet, first).await;
    assert_eq!(first["contents"]["type"], "open");
    assert!(first.get("subtype").is_none());

    let unknown = "AB".repeat(32);
    let several = |more: Value| {
        let mut body = json!({"action": "blocks_info", "json_block": "true", "hashes": [send, unknown]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    assert_eq!(ask(several(json!({}))).await, json!({"error": "Block not found"}));
    let asked =
        json!({"include_not_found": "true", "source": "true", "receive_hash": "true", "receivable": "true"});
    let mut entry = info.clone();
    let more = json!({"pending": "1", "receivable": "1", "receive_hash": ZERO, "source_account": "0"});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(ask(several(asked)).await, json!({"blocks": {&send: entry}, "blocks_not_found": [unknown]}));
    let fund = s.fund.to_string();
    let body = json!({"action": "blocks_info", "hashes": [fund, open], "source": true, "receive_hash": true});
    let received = ask(body).await;
    assert_eq!(received["blocks"][&fund]["receive_hash"], open);
    assert_eq!(received["blocks"][&open]["source_account"], genesis);

    assert_eq!(
        ask(json!({"action": "account_history", "account": alice, "count": "2"})).await,
        json!({
            "account": alice, "previous": open,
            "history": [
                {"type": "send", "account": bob, "amount": "7", "local_timestamp": "0", "height": "3",
                 "hash": small,
                 "confirmed": "false"},
                {"type": "send", "account": bob, "amount": "300", "local_timestamp": "0", "height": "2",
                 "hash": send,
                 "confirmed": "true"},
            ],
        })
    );
    let body =
        json!({"action": "account_history", "account": alice, "count": "-1", "raw": "true", "reverse": true});
    let raw = ask(body).await;
    let history = raw["history"].as_array().unwrap();
    assert_eq!(history.len(), 3);
    assert_eq!(
        history[0],
        json!({
            "type": "state", "subtype": "open", "representative": alice, "link": fund, "balance": "1000",
            "previous": ZERO, "signature": s.open.signature, "work": s.open.work, "account": genesis,
            "amount": "1000", "local_timestamp": "0", "height": "1", "hash": open, "confirmed": "true",
        })
    );
    assert!(raw.get("previous").is_none() && raw.get("next").is_none());

    assert_eq!(
        ask(json!({"action": "active_difficulty"})).await,
        json!({
            "network_minimum": "ffc0000000000000", "network_receive_minimum": "f000000000000000",
            "network_current": "ffc0000000000000", "network_receive_current": "f000000000000000",
            "multiplier": "1", "deprecated": "1",
        })
    );
    assert_eq!(
        ask(json!({"action": "block_count"})).await,
        json!({"count": "7", "unchecked": "0", "cemented": "6"})
    );
    assert_eq!(ask(json!({"action": "block_confirm", "hash": small})).await, json!({"started": "1"}));
    assert_eq!(
        ask(json!({"action": "block_confirm", "hash": unknown})).await,
        json!({"error": "Block not found"})
    );

    let work = ask(json!({"action": "work_generate", "hash": send})).await;
    assert_eq!(work["hash"], send);
    assert!(work["difficulty"].as_str().unwrap() >= "ffc0000000000000");
    assert!(work["multiplier"].as_str().unwrap().parse::<f64>().unwrap() >= 1.0);
    let checked = ask(json!({"action": "work_validate", "hash": send, "work": work["work"]})).await;
    assert_eq!((&checked["valid_all"], &checked["valid_receive"]), (&json!("1"), &json!("1")));
    let bad =
        ask(json!({"action": "work_validate", "hash": send, "work": "0", "difficulty": "ffffffffffffffff"}))
            .await;
    assert_eq!(bad["valid"], "0");
    let weak = ask(json!({"action": "work_generate", "hash": send, "difficulty": "f000000000000000"})).await;
    assert!(weak["difficulty"].as_str().unwrap() >= "f000000000000000");

    assert_eq!(ask(json!({"action": "block_account", "hash": send})).await, json!({"account": alice}));
    let hash = json!({"action": "block_hash", "json_block": "true", "block": s.send});
    assert_eq!(ask(hash).await, json!({"hash": send}));
    let weights = ask(json!({"action": "representatives"})).await;
    assert_eq!(weights["representatives"][&alice], "693");
    assert_eq!(ask(json!({"action": "account_weight", "account": bob})).await, json!({"weight": "0"}));
    let paid = ask(json!({"action": "faucet", "account": bob, "amount": "5"})).await;
    assert_eq!(paid["amount"], "5");
    s.devnet.audit().unwrap();
}

#[tokio::test]
async fn the_cpp_dialect_answers_empty_lists_and_maps_as_empty_texts() {
    let s = scene(Dialect::Cpp).await;
    let alice = key(1).address().to_string();
    let none = json!({"blocks": ""});
    for more in [json!({}), json!({"threshold": "1"}), json!({"source": "true"})] {
        let mut body = json!({"action": "receivable", "account": alice});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(ask(&s.devnet, body).await, none);
    }
    assert_eq!(ask(&s.devnet, json!({"action": "accounts_receivable", "accounts": [alice]})).await, none);
    let stranger = key(9).address().to_string();
    let history =
        ask(&s.devnet, json!({"action": "account_history", "account": stranger, "count": "1"})).await;
    assert_eq!(history, json!({"account": stranger, "history": ""}));
    let unknown = "AB".repeat(32);
    let body = json!({"action": "blocks_info", "hashes": [unknown], "include_not_found": "true"});
    assert_eq!(ask(&s.devnet, body).await, json!({"blocks": "", "blocks_not_found": [unknown]}));
}

#[tokio::test]
async fn the_node_client_reads_both_dialects_ok() {
    for dialect in [Dialect::Rust, Dialect::Cpp] {
        let s = scene(dialect).await;
        let http = HttpNode::new(&s.devnet.rpc_url(), HttpOptions::default()).unwrap();
        http.check_network(Network::Dev).await.unwrap();
        assert!(http.check_network(Network::Live).await.is_err());
        let state = http.account_info(key(1).address()).await.unwrap().unwrap();
        assert_eq!((state.frontier, state.balance), (s.small.hash(), Raw(693)));
        assert!(http.account_info(key(2).address()).await.unwrap().is_none());
        let known = http.block_info(s.send.hash()).await.unwrap().unwrap();
        assert_eq!(known.contents, Some(s.send));
        assert!(known.confirmed);
        // And the same without HTTP.
        let within = s.devnet.block_info(s.send.hash()).await.unwrap().unwrap();
        assert_eq!(within, known);
        let next = send_block(&key(1), s.small.hash(), 600, key(3).address());
        assert_eq!(http.process(next, Some(Subtype::Send)).await.unwrap(), next.hash());
    }
}

#[tokio::test]
async fn process_checks_reading_then_subtype_then_entry_work_then_the_ledger() {
    let devnet = Devnet::builder().start().await.unwrap();
    let alice = key(1);
    let opened = open(&devnet, &alice, 10).await;
    let send = send_block(&alice, opened.hash(), 4, key(2).address());
    let entry = Network::Dev.thresholds().entry();
    let mut weak = send;
    weak.work = Some(work_between(&send.root(), 0, Some(entry)));
    let mut unsigned = send;
    unsigned.signature.0[9] ^= 1;
    let mut weak_and_unsigned = weak;
    weak_and_unsigned.signature.0[9] ^= 1;
    let mut lost = send;
    lost.block.previous = BlockHash([5; 32]);

    refused(&process(&devnet, &weak, Some("receive")).await, Refusal::SubtypeBalance);
    refused(&process(&devnet, &weak, Some("open")).await, Refusal::SubtypePrevious);
    refused(&process(&devnet, &weak, Some("bogus")).await, Refusal::Subtype);
    refused(&process(&devnet, &lost, Some("bogus")).await, Refusal::GapPrevious);
    refused(&process(&devnet, &weak_and_unsigned, Some("send")).await, Refusal::WorkBelowEntry);
    refused(&process(&devnet, &unsigned, Some("send")).await, Refusal::BadSignature);
    for (name, value) in [
        ("work", json!("xyz")),
        ("signature", json!("")),
        ("account", json!("nano_1")),
        ("balance", json!("-1")),
        ("balance", json!("1e3")),
        ("type", json!("send")),
        ("link", json!(null)),
    ] {
        let mut block = serde_json::to_value(send).unwrap();
        block[name] = value.clone();
        let body = json!({"action": "process", "json_block": "true", "subtype": "bogus", "block": block});
        assert_eq!(post(&devnet, body).await, json!({"error": "Block is invalid"}), "{name} {value}");
    }
    // As a text, and with the node's other ways to write the same.
    let mut block = serde_json::to_value(send).unwrap();
    block["link"] = json!(key(2).address());
    block["account"] = json!(alice.address().to_string().replacen("nano_", "xrb-", 1));
    let body = json!({"action": "process", "block": block.to_string(), "subtype": "send"});
    assert_eq!(post(&devnet, body.clone()).await, json!({"hash": send.hash().to_string()}));

    // The trap: the block is in the ledger, and each way of asking again says something else.
    refused(&post(&devnet, body).await, Refusal::SubtypeBalance);
    refused(&process(&devnet, &send, None).await, Refusal::Old);
    let more = devnet.faucet(alice.address(), Raw(50)).await.unwrap();
    let receive = sign(block_of(&alice, send.hash(), 54, more), &alice);
    process(&devnet, &receive, Some("receive")).await;
    refused(&process(&devnet, &send, Some("send")).await, Refusal::Old);
    refused(&process(&devnet, &receive, Some("receive")).await, Refusal::Old);
    devnet.audit().unwrap();
}

fn block_of(
    key: &nano_escrow::PrivateKey,
    previous: BlockHash,
    balance: u128,
    link: BlockHash,
) -> nano_escrow::StateBlock {
    block(key.public_key(), previous, balance, link.0)
}

#[tokio::test]
async fn every_text_of_process_is_reached_by_rpc() {
    let devnet = Devnet::builder().genesis_epoch(Epoch::One).start().await.unwrap();
    let (alice, bob) = (key(1), key(2));
    let opened = open(&devnet, &alice, 1000).await;
    let head = opened.hash();
    let waits = devnet.faucet(alice.address(), Raw(50)).await.unwrap();
    let bobs = devnet.faucet(bob.address(), Raw(50)).await.unwrap();
    let of = |balance: u128, link: [u8; 32]| sign(block(alice.public_key(), head, balance, link), &alice);
    let epoch = |account: PublicKey, previous, balance, representative, link| {
        let b = nano_escrow::StateBlock { account, previous, representative, balance: Raw(balance), link };
        sign(b, &genesis_key())
    };
    let two = epoch_link(Epoch::Two);
    let mut bad = of(900, GENESIS.0);
    bad.signature.0[0] ^= 1;
    let mut weak = of(900, GENESIS.0);
    let t = Network::Dev.thresholds();
    weak.work = Some(work_between(&weak.root(), t.entry(), Some(t.old_account)));
    let mut door = weak;
    door.work = Some(work_between(&weak.root(), 0, Some(t.entry())));
    let gap = sign(block(alice.public_key(), BlockHash([3; 32]), 5, GENESIS.0), &alice);
    let fork = sign(nano_escrow::StateBlock { representative: GENESIS, ..opened.block }, &alice);
    let cases: Vec<(SignedBlock, Option<&str>, Refusal)> = vec![
        (gap, None, Refusal::GapPrevious),
        (of(1050, [3; 32]), None, Refusal::GapSource),
        (opened, None, Refusal::Old),
        (bad, None, Refusal::BadSignature),
        (fork, None, Refusal::Fork),
        (of(1050, bobs.0), None, Refusal::Unreceivable),
        (of(1051, waits.0), None, Refusal::BalanceMismatch),
        (weak, None, Refusal::InsufficientWork),
        (door, None, Refusal::WorkBelowEntry),
        (of(900, GENESIS.0), Some("receive"), Refusal::SubtypeBalance),
        (of(900, GENESIS.0), Some("open"), Refusal::SubtypePrevious),
        (of(900, GENESIS.0), Some("x"), Refusal::Subtype),
        (of(1000, [0; 32]), Some("epoch"), Refusal::SubtypeEpochLink),
        (
            epoch(alice.public_key(), head, 1000, alice.public_key(), epoch_link(Epoch::One)),
            None,
            Refusal::BlockPosition,
        ),
        (epoch(alice.public_key(), head, 1000, GENESIS, two), None, Refusal::RepresentativeMismatch),
        (
            epoch(key(8).public_key(), BlockHash::ZERO, 0, PublicKey::BURN, two),
            None,
            Refusal::GapEpochOpenPending,
        ),
        (epoch(PublicKey::BURN, BlockHash::ZERO, 0, PublicKey::BURN, two), None, Refusal::OpenedBurnAccount),
    ];
    let mut reached: Vec<Refusal> = Vec::new();
    for (signed, subtype, expected) in cases {
        let before = devnet.ledger();
        refused(&process(&devnet, &signed, subtype).await, expected);
        assert_eq!(devnet.ledger(), before);
        reached.push(expected);
    }
    for refusal in Refusal::ALL {
        // Only blocks of the old kinds can spend a negative amount.
        assert!(
            reached.contains(&refusal) || refusal == Refusal::NegativeSpend,
            "{refusal:?} is not reached"
        );
    }
}

#[tokio::test]
async fn a_block_that_comes_too_early_without_a_subtype_is_added_when_its_time_comes() {
    let devnet = Devnet::builder().start().await.unwrap();
    let (alice, bob) = (key(1), key(2));
    let opened = open(&devnet, &alice, 10).await;
    let first = send_block(&alice, opened.hash(), 6, bob.address());
    let second = send_block(&alice, first.hash(), 3, bob.address());
    let received = sign(block(bob.public_key(), BlockHash::ZERO, 4, first.hash().0), &bob);
    refused(&process(&devnet, &second, Some("send")).await, Refusal::GapPrevious);
    assert_eq!(
        post(&devnet, json!({"action": "block_count"})).await["unchecked"],
        "0",
        "with a subtype it is lost"
    );
    refused(&process(&devnet, &second, None).await, Refusal::GapPrevious);
    refused(&process(&devnet, &received, None).await, Refusal::GapSource);
    assert_eq!(post(&devnet, json!({"action": "block_count"})).await["unchecked"], "2");
    process(&devnet, &first, Some("send")).await;
    for hash in [first.hash(), second.hash(), received.hash()] {
        assert!(devnet.look(|l| l.is_confirmed(&hash)));
    }
    assert_eq!(post(&devnet, json!({"action": "block_count"})).await["unchecked"], "0");
    devnet.audit().unwrap();
}

#[tokio::test]
async fn a_fork_stays_out_unless_it_is_forced_or_the_rule_lets_the_last_win() {
    let devnet = Devnet::builder().confirm(Confirm::OnDemand).start().await.unwrap();
    let (alice, bob) = (key(1), key(2));
    let opened = open(&devnet, &alice, 10).await;
    let first = send_block(&alice, opened.hash(), 6, bob.address());
    let rival = send_block(&alice, opened.hash(), 1, bob.address());
    process(&devnet, &first, Some("send")).await;
    refused(&process(&devnet, &rival, None).await, Refusal::Fork);
    let forced = json!({"action": "process", "json_block": "true", "force": "true", "block": rival});
    assert_eq!(post(&devnet, forced).await, json!({"hash": rival.hash().to_string()}));
    assert_eq!(
        devnet.look(|l| (l.block(&first.hash()).is_some(), l.block(&rival.hash()).is_some())),
        (false, true)
    );
    devnet.confirm(rival.hash()).await.unwrap();
    // What is final stays, whatever a node answers.
    let forced = json!({"action": "process", "json_block": "true", "force": "true", "block": first});
    assert_eq!(post(&devnet, forced).await, json!({"hash": first.hash().to_string()}));
    assert!(devnet.look(|l| l.block(&first.hash()).is_none()));
    assert!(devnet.let_win(&first).await.is_err());
    devnet.audit().unwrap();

    let delay = std::time::Duration::from_millis(40);
    let last =
        Devnet::builder().confirm(Confirm::After(delay)).forks(ForkRule::LastSeen).start().await.unwrap();
    let opened = open(&last, &alice, 10).await;
    let within = std::time::Duration::from_secs(20);
    last.wait_confirmed(opened.hash(), within).await.unwrap();
    let first = send_block(&alice, opened.hash(), 6, bob.address());
    let rival = send_block(&alice, opened.hash(), 1, bob.address());
    // Held back, so that the rival always comes in time.
    use nano_devnet::{Effect, FaultRule, On};
    last.faults().add(FaultRule::new(On::default().hash(first.hash()), Effect::HoldConfirmation));
    process(&last, &first, Some("send")).await;
    refused(&process(&last, &rival, None).await, Refusal::Fork);
    last.wait_confirmed(rival.hash(), within).await.unwrap();
    assert!(last.look(|l| l.block(&first.hash()).is_none()));
    last.audit().unwrap();
}

#[tokio::test]
async fn hostile_requests_get_an_error_and_harm_nothing() {
    let devnet = Devnet::builder().max_body(10_000).start().await.unwrap();
    let unreadable = json!({"error": "Unable to parse JSON"});
    let deep = format!("{{\"action\":\"version\",\"x\":{}{}}}", "[".repeat(30), "]".repeat(30));
    for (body, expected) in [
        ("", unreadable.clone()),
        ("null", unreadable.clone()),
        ("[]", unreadable.clone()),
        ("{", unreadable.clone()),
        ("\u{0}", unreadable.clone()),
        ("{\"action\":\"version\"", unreadable.clone()),
        ("{}", unreadable.clone()),
        ("{\"action\":{}}", unreadable.clone()),
        ("{\"action\":\"no_such\"}", json!({"error": "Unknown command"})),
        ("{\"action\":\"account_info\"}", unreadable.clone()),
        ("{\"action\":\"account_info\",\"account\":\"nano_1\"}", json!({"error": "Bad account number"})),
        ("{\"action\":\"account_info\",\"account\":[]}", unreadable.clone()),
        ("{\"action\":\"block_info\",\"hash\":\"x\"}", json!({"error": "Invalid block hash"})),
        ("{\"action\":\"block_info\",\"hash\":\"1\"}", json!({"error": "Block not found"})),
        ("{\"action\":\"blocks_info\",\"hashes\":[\"x\"]}", json!({"error": "Bad hash number"})),
        ("{\"action\":\"blocks_info\"}", unreadable.clone()),
        ("{\"action\":\"process\"}", unreadable.clone()),
        ("{\"action\":\"process\",\"block\":7}", json!({"error": "Block is invalid"})),
        (
            "{\"action\":\"process\",\"json_block\":true,\"block\":\"x\"}",
            json!({"error": "Block is invalid"}),
        ),
        (
            "{\"action\":\"work_generate\",\"hash\":\"0\",\"difficulty\":\"ffffffffffffffff\"}",
            json!({"error": "Difficulty above config limit"}),
        ),
        ("{\"action\":\"work_validate\",\"hash\":\"0\",\"work\":\"-\"}", json!({"error": "Bad work"})),
        (deep.as_str(), json!({"error": "Max JSON depth exceeded"})),
    ] {
        assert_eq!(post_text(&devnet.rpc_url(), body).await, expected, "{body:.80}");
    }
    let account = key(1).address();
    for (name, value, expected) in [
        ("count", "x", "Invalid count limit"),
        ("count", "99999999999999999999999", "Invalid count limit"),
        ("threshold", "1.5", "Bad threshold number"),
        ("offset", "-2", "Invalid offset"),
    ] {
        let body = json!({"action": "receivable", "account": account, name: value});
        assert_eq!(post(&devnet, body).await, json!({"error": expected}), "{name}");
    }
    let client = reqwest::Client::new();
    let large = client.post(devnet.rpc_url()).body("x".repeat(10_001)).send().await.unwrap();
    assert_eq!(large.status(), 413);
    let get = client.get(devnet.rpc_url()).send().await.unwrap();
    assert_eq!(get.text().await.unwrap(), "{\"error\":\"Can only POST requests\"}");
    let binary = client.post(devnet.rpc_url()).body(vec![0xff, 0xfe, 0x00]).send().await.unwrap();
    assert_eq!(binary.text().await.unwrap(), unreadable.to_string());
    assert_eq!(post(&devnet, json!({"action": "block_count"})).await["count"], "3");
}

#[tokio::test]
async fn a_node_without_control_makes_no_work() {
    let body = json!({"action": "work_generate", "hash": "00"});
    let devnet = Devnet::builder().enable_control(false).start().await.unwrap();
    assert_eq!(post(&devnet, body.clone()).await, json!({"error": "RPC control is disabled"}));
    let devnet = Devnet::builder().work_generation(false).start().await.unwrap();
    assert_eq!(post(&devnet, body).await, json!({"error": "Work generation is disabled"}));
}
