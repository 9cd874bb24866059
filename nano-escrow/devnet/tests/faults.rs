//! Faults on order: each does what it says, as often as it says, and the ledger stays right.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nano_devnet::{Confirm, Devnet, DevnetError, Effect, Epoch, FaultRule, On, Refusal, RivalKey};
use nano_escrow::node::NodeCalls;
use nano_escrow::{BlockHash, Network, Raw, SignedBlock};
use serde_json::{Value, json};
use support::*;

const WITHIN: Duration = Duration::from_secs(20);

async fn raw_post(devnet: &Devnet, body: Value, within: Duration) -> reqwest::Result<String> {
    let client = reqwest::Client::builder().timeout(within).build().unwrap();
    client.post(devnet.rpc_url()).body(body.to_string()).send().await?.text().await
}

fn processing(signed: &SignedBlock) -> Value {
    json!({"action": "process", "json_block": "true", "subtype": "send", "block": signed})
}

/// A ledger with one account of 100, and its next send.
async fn ready() -> (Devnet, SignedBlock) {
    let devnet = Devnet::builder().confirm(Confirm::OnDemand).start().await.unwrap();
    let opened = open(&devnet, &key(1), 100).await;
    let send = send_block(&key(1), opened.hash(), 90, key(2).address());
    (devnet, send)
}

fn has(devnet: &Devnet, block: &SignedBlock) -> bool {
    devnet.look(|l| l.block(&block.hash()).is_some())
}

#[tokio::test]
async fn a_dropped_request_does_nothing_and_a_lost_answer_hides_what_was_done() {
    let (devnet, send) = ready().await;
    let drop_id = devnet.faults().add(FaultRule::once(On::action("process"), Effect::Drop));
    assert!(raw_post(&devnet, processing(&send), WITHIN).await.is_err());
    assert!(!has(&devnet, &send));
    assert_eq!(devnet.faults().struck(drop_id), 1);

    devnet
        .faults()
        .add(FaultRule::once(On::action("process").of(key(1).address()), Effect::LoseAnswer { ms: 0 }));
    assert!(raw_post(&devnet, processing(&send), WITHIN).await.is_err());
    assert!(has(&devnet, &send));

    let next = send_block(&key(1), send.hash(), 80, key(2).address());
    let rule = FaultRule::once(On::default().hash(next.hash()), Effect::LoseAnswer { ms: 60_000 });
    devnet.faults().add(rule);
    let lost = raw_post(&devnet, processing(&next), Duration::from_millis(200)).await.unwrap_err();
    assert!(lost.is_timeout());
    assert!(has(&devnet, &next));

    let third = send_block(&key(1), next.hash(), 70, key(2).address());
    devnet.faults().add(FaultRule::once(On::action("process"), Effect::CutAnswer));
    assert!(raw_post(&devnet, processing(&third), WITHIN).await.is_err());
    assert!(has(&devnet, &third));
    // The same without HTTP: the client learns that the outcome is unknown.
    devnet.faults().add(FaultRule::once(On::action("version"), Effect::LoseAnswer { ms: 0 }));
    assert!(devnet.version().await.is_err());
    devnet.version().await.unwrap();
    let stopped =
        tokio::time::timeout(WITHIN, devnet.stop()).await.expect("a hanging request does not stop a stop");
    stopped.unwrap();
}

#[tokio::test]
async fn answers_that_are_late_doubled_stale_or_wrong() {
    let (devnet, send) = ready().await;
    let faults = devnet.faults();
    let start = std::time::Instant::now();
    faults.add(FaultRule::once(On::action("version"), Effect::Delay { ms: 30 }));
    faults.add(FaultRule::once(On::action("version"), Effect::DelayAnswer { ms: 30 }));
    post(&devnet, json!({"action": "version"})).await;
    assert!(start.elapsed() >= Duration::from_millis(60), "both rules strike");

    faults.add(FaultRule::once(On::action("process"), Effect::DoTwice));
    refused(&process(&devnet, &send, Some("send")).await, Refusal::SubtypeBalance);
    assert!(has(&devnet, &send));

    let next = send_block(&key(1), send.hash(), 80, key(2).address());
    let text = Refusal::SubtypeBalance.text().to_owned();
    faults.add(FaultRule::once(On::action("process"), Effect::DoneButError { text }));
    refused(&process(&devnet, &next, Some("send")).await, Refusal::SubtypeBalance);
    assert!(has(&devnet, &next));

    let third = send_block(&key(1), next.hash(), 70, key(2).address());
    faults.add(FaultRule::once(On::action("process"), Effect::Error { text: "Stopped".into() }));
    assert_eq!(process(&devnet, &third, Some("send")).await, json!({"error": "Stopped"}));
    assert!(!has(&devnet, &third));

    faults.add(FaultRule::once(On::action("process"), Effect::Status { code: 503, body: "<html>".into() }));
    let client = reqwest::Client::new();
    let answer = client.post(devnet.rpc_url()).body(processing(&third).to_string()).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (503, "<html>".to_owned()));
    assert!(!has(&devnet, &third));

    // The first request is remembered; the second gets its answer.
    let repeat = faults.add(FaultRule::once(On::action("account_balance"), Effect::RepeatAnswer).after(1));
    let ask = |n| {
        let account = key(n).address();
        json!({"action": "account_balance", "account": account, "include_only_confirmed": "false"})
    };
    let first = post(&devnet, ask(1)).await;
    assert_eq!(post(&devnet, ask(9)).await, first);
    assert_ne!(post(&devnet, ask(9)).await, first);
    assert_eq!(faults.struck(repeat), 1);
    devnet.audit().unwrap();
}

#[tokio::test]
async fn rules_strike_what_they_name_after_what_they_skip_and_not_beyond_their_number() {
    let (devnet, _) = ready().await;
    let faults = devnet.faults();
    let error = |text: &str| Effect::Error { text: text.into() };
    let id = faults.add(
        FaultRule::new(On::action("account_balance").of(key(1).address()), error("no")).after(1).times(2),
    );
    let ask = |n| json!({"action": "account_balance", "account": key(n).address()});
    let mut refusals = Vec::new();
    for _ in 0..5 {
        refusals.push(post(&devnet, ask(1)).await.get("error").is_some());
        assert!(post(&devnet, ask(2)).await.get("error").is_none());
    }
    assert_eq!(refusals, [false, true, true, false, false]);
    let state = faults.remove(id).unwrap();
    assert_eq!((state.seen, state.struck), (5, 2));
    assert!(faults.list().is_empty());
    faults.add(FaultRule::new(On { subtype: Some("send".into()), ..On::default() }, error("sends")));
    let opened = devnet.account(key(1).address()).chain[0].block.hash();
    let change = sign(block(key(1).public_key(), opened, 100, [0; 32]), &key(1));
    assert!(process(&devnet, &change, Some("change")).await.get("hash").is_some());
    let send = send_block(&key(1), change.hash(), 1, key(2).address());
    assert_eq!(process(&devnet, &send, Some("send")).await, json!({"error": "sends"}));
    faults.clear();
    assert!(process(&devnet, &send, Some("send")).await.get("hash").is_some());
}

#[tokio::test]
async fn a_rival_comes_first_or_wins_afterwards() {
    let (devnet, send) = ready().await;
    let rule = |effect| FaultRule::once(On::action("process"), effect);
    devnet.faults().add(rule(Effect::RivalBefore { key: RivalKey(key(1)) }));
    refused(&process(&devnet, &send, None).await, Refusal::Fork);
    let rival = devnet.account(key(1).address()).chain[1];
    assert_eq!(rival.block.previous(), send.block.previous);
    assert_eq!(rival.balance, Raw(100), "the rival moves no money");

    // Applied and answered, then taken back with what came of it.
    let next = send_block(&key(1), rival.block.hash(), 60, key(2).address());
    devnet.faults().add(rule(Effect::RivalAfter { key: RivalKey(key(1)) }));
    assert_eq!(process(&devnet, &next, Some("send")).await["hash"], next.hash().to_string());
    assert!(!has(&devnet, &next));
    assert_eq!(devnet.account(key(1).address()).chain.len(), 3);

    // A rival of an open block, and one that the test made.
    let fund = devnet.faucet(key(4).address(), Raw(9)).await.unwrap();
    let opening = sign(block(key(4).public_key(), BlockHash::ZERO, 9, fund.0), &key(4));
    devnet.faults().add(rule(Effect::RivalBefore { key: RivalKey(key(4)) }));
    refused(&process(&devnet, &opening, None).await, Refusal::Fork);
    assert_eq!(devnet.account(key(4).address()).balance, Raw(9));
    let head = devnet.account(key(4).address()).chain[0].block.hash();
    let (mine, theirs) =
        (send_block(&key(4), head, 8, key(5).address()), send_block(&key(4), head, 1, key(5).address()));
    devnet.faults().add(rule(Effect::RivalBlock { block: Box::new(theirs), before: false }));
    assert!(process(&devnet, &mine, Some("send")).await.get("hash").is_some());
    assert!(has(&devnet, &theirs) && !has(&devnet, &mine));
    // What is final is not taken back.
    devnet.confirm_all().await.unwrap();
    assert!(matches!(devnet.let_win(&mine).await, Err(DevnetError::Cemented(_))));
    devnet.audit().unwrap();
}

#[tokio::test]
async fn an_epoch_block_comes_between_two_calls() {
    let devnet = Devnet::builder().genesis_epoch(Epoch::One).start().await.unwrap();
    let opened = open(&devnet, &key(1), 100).await;
    let send = send_block(&key(1), opened.hash(), 90, key(2).address());
    devnet.faults().add(FaultRule::once(On::action("process"), Effect::EpochBlock { account: None }));
    refused(&process(&devnet, &send, None).await, Refusal::Fork);
    let epoch = devnet.account(key(1).address()).chain[1];
    assert_eq!((epoch.epoch, epoch.balance), (Epoch::Two, Raw(100)));
    let again = send_block(&key(1), epoch.block.hash(), 90, key(2).address());
    assert!(process(&devnet, &again, Some("send")).await.get("hash").is_some());
    // On an account without blocks, before its owner opens it.
    let rule =
        FaultRule::once(On::action("account_info"), Effect::EpochBlock { account: Some(key(2).address()) });
    devnet.faults().add(rule);
    let info = post(&devnet, json!({"action": "account_info", "account": key(2).address()})).await;
    assert_eq!(
        (&info["balance"], &info["block_count"], &info["account_version"]),
        (&json!("0"), &json!("1"), &json!("2"))
    );
    assert!(matches!(devnet.append_epoch(key(2).address()).await, Err(DevnetError::NoEpoch(2))));
    devnet.audit().unwrap();
}

#[tokio::test]
async fn a_lying_frontier_another_network_and_bad_work() {
    let (devnet, send) = ready().await;
    devnet.publish(&send).await.unwrap();
    devnet.confirm_all().await.unwrap();
    let account = key(1).address();
    let info = json!({"action": "account_info", "account": account});
    devnet.faults().add(FaultRule::once(On::action("account_info"), Effect::OldFrontier { blocks: 1 }));
    let old = post(&devnet, info.clone()).await;
    assert_eq!(
        (&old["frontier"], &old["balance"], &old["block_count"]),
        (&json!(send.block.previous.to_string()), &json!("100"), &json!("1"))
    );
    assert_eq!(old["confirmation_height"], "1");
    let lie = BlockHash([0xee; 32]);
    devnet
        .faults()
        .add(FaultRule::once(On::default().of(account), Effect::FalseFrontier { hash: lie }).times(2));
    assert_eq!(post(&devnet, info.clone()).await["frontier"], lie.to_string());
    let all = json!({"action": "accounts_frontiers", "accounts": [account]});
    assert_eq!(post(&devnet, all).await["frontiers"][account.to_string()], lie.to_string());
    assert_eq!(post(&devnet, info).await["frontier"], send.hash().to_string());

    let live = Effect::OtherNetwork { network: "live".into(), genesis: Network::Live.genesis() };
    devnet.faults().add(FaultRule::once(On::action("version"), live));
    assert!(devnet.check_network(Network::Dev).await.is_err());
    devnet.check_network(Network::Dev).await.unwrap();

    devnet.faults().add(FaultRule::once(On::action("work_generate"), Effect::BadWork));
    let threshold = Network::Dev.thresholds().send_or_change;
    for good in [false, true] {
        let answer = post(&devnet, json!({"action": "work_generate", "hash": send.hash()})).await;
        let work: nano_escrow::Work = answer["work"].as_str().unwrap().parse().unwrap();
        assert_eq!(work.is_valid(&send.hash(), threshold), good);
        assert!(answer["difficulty"].as_str().unwrap() >= "ffc0000000000000", "it says that it is good");
    }
}

#[tokio::test]
async fn a_node_that_is_behind_answers_from_then_and_takes_what_follows_that() {
    let (devnet, send) = ready().await;
    devnet.faults().fall_behind();
    let other = open(&devnet, &key(3), 5).await;
    let info = |n| json!({"action": "account_info", "account": key(n).address()});
    assert_eq!(post(&devnet, info(3)).await, json!({"error": "Account not found"}));
    assert_eq!(
        post(&devnet, json!({"action": "block_info", "hash": other.hash()})).await,
        json!({"error": "Block not found"})
    );
    // A block on what it does not know yet is a gap for it; one on what it knows goes to the network.
    let onward = send_block(&key(3), other.hash(), 1, key(1).address());
    refused(&process(&devnet, &onward, Some("send")).await, Refusal::GapPrevious);
    assert_eq!(process(&devnet, &send, Some("send")).await["hash"], send.hash().to_string());
    assert!(has(&devnet, &send) && !has(&devnet, &onward));
    assert_eq!(post(&devnet, info(1)).await["frontier"], send.hash().to_string());
    // The network has decided otherwise meanwhile, and the node does not know: it takes a fork.
    let next = send_block(&key(1), send.hash(), 50, key(2).address());
    let fork = send_block(&key(1), send.hash(), 40, key(2).address());
    devnet.publish(&next).await.unwrap();
    assert_eq!(process(&devnet, &fork, Some("send")).await["hash"], fork.hash().to_string());
    devnet.faults().catch_up();
    assert!(has(&devnet, &next) && !has(&devnet, &fork));
    assert_eq!(post(&devnet, info(1)).await["frontier"], next.hash().to_string());
    devnet.audit().unwrap();
}

#[tokio::test]
async fn held_confirmations_hold_what_stands_on_them_and_come_when_released() {
    for confirm in [Confirm::AtOnce, Confirm::After(Duration::from_millis(1))] {
        let devnet = Devnet::builder().confirm(confirm).start().await.unwrap();
        let opened = open(&devnet, &key(1), 100).await;
        devnet.wait_confirmed(opened.hash(), WITHIN).await.unwrap();
        let send = send_block(&key(1), opened.hash(), 90, key(2).address());
        let hold =
            devnet.faults().add(FaultRule::new(On::default().hash(send.hash()), Effect::HoldConfirmation));
        devnet.publish(&send).await.unwrap();
        let received = sign(block(key(2).public_key(), BlockHash::ZERO, 10, send.hash().0), &key(2));
        devnet.publish(&received).await.unwrap();
        post(&devnet, json!({"action": "block_confirm", "hash": received.hash()})).await;
        // Something else goes through meanwhile, so the elections have run.
        let other = devnet.faucet(key(3).address(), Raw(1)).await.unwrap();
        devnet.wait_confirmed(other, WITHIN).await.unwrap();
        assert!(devnet.look(|l| !l.is_confirmed(&send.hash()) && !l.is_confirmed(&received.hash())));
        devnet.faults().remove(hold);
        devnet.wait_confirmed(received.hash(), WITHIN).await.unwrap();
        assert!(devnet.look(|l| l.is_confirmed(&send.hash())));
        let never = devnet.wait_for(Duration::from_millis(20), |_| None::<()>).await;
        assert!(matches!(never, Err(DevnetError::Timeout(_))));
        devnet.audit().unwrap();
    }
}

#[tokio::test]
async fn the_faucet_refuses_nothing_and_more_than_there_is() {
    let (devnet, _) = ready().await;
    assert!(matches!(devnet.faucet(key(1).address(), Raw::ZERO).await, Err(DevnetError::FaucetZero)));
    assert!(matches!(devnet.faucet(key(1).address(), Raw::MAX).await, Err(DevnetError::FaucetEmpty { .. })));
    let none = devnet.confirm(BlockHash([1; 32])).await;
    assert!(matches!(none, Err(DevnetError::Unknown(_))));
}
