//! What is paid: by the rules, by the market's word, and as the Nano node has it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::nano::Node;
use axum::routing::post;
use nano_escrow::{Address, BlockHash, Seed, StateBlock};
use serde_json::{Value, json};
use zx1_market::Raw;
use zx1_market::wire::Xno;

fn address(number: u8) -> Address {
    Address::from(nano_escrow::PublicKey([number; 32]))
}

fn pay(amount: u128) -> Payment {
    Payment {
        kind: "fulfilled".into(),
        from: address(1).to_string(),
        to: address(2).to_string(),
        payee: Some(Payee::Agent),
        deposit_of: Some(Side::Principal),
        amount_raw: amount.to_string(),
        hash: None,
        state: PaymentState::Owed,
    }
}

fn told(to: u8, amount: u128, hash: Option<&str>, confirmed: bool) -> EscrowPayment {
    EscrowPayment {
        kind: "fulfilled".into(),
        from: address(1),
        to: address(to),
        amount: Xno(Raw(amount)),
        hash: hash.map(str::to_owned),
        confirmed,
    }
}

fn answer(payments: Vec<EscrowPayment>) -> EscrowAnswer {
    EscrowAnswer { inclusive_bond: Xno(Raw(1)), accounts: Vec::new(), payments }
}

#[test]
fn what_the_market_says_of_a_payment_is_taken_by_sender_payee_and_amount() {
    let hash = "ab".repeat(32);
    let states = |payments: Vec<EscrowPayment>| {
        let matched = matched(&[pay(5)], &answer(payments));
        matched.iter().map(|it| (it.payee, it.state)).collect::<Vec<_>>()
    };
    let agent = Some(Payee::Agent);
    assert_eq!(states(Vec::new()), [(agent, PaymentState::Owed)]);
    assert_eq!(states(vec![told(2, 5, None, true)]), [(agent, PaymentState::Owed)]);
    assert_eq!(states(vec![told(2, 5, Some(&hash), false)]), [(agent, PaymentState::Signed)]);
    assert_eq!(states(vec![told(2, 5, Some(&hash), true)]), [(agent, PaymentState::Claimed)]);
    assert_eq!(states(vec![told(2, 4, Some(&hash), true)]), [(agent, PaymentState::Wrong)]);
    assert_eq!(
        states(vec![told(3, 5, Some(&hash), true)]),
        [(agent, PaymentState::Owed), (None, PaymentState::Claimed)]
    );
    assert_eq!(
        matched(&[pay(5)], &answer(vec![told(2, 5, Some(&hash), true)]))[0].hash,
        Some(hash.to_uppercase())
    );
    assert_eq!(states(vec![told(2, 5, Some("not a hash"), true)]), [(agent, PaymentState::Owed)]);
}

#[test]
fn only_pay_that_has_arrived_is_earned_and_a_deposit_back_is_no_pay() {
    let done = |state| Payment { state, ..pay(5) };
    let back = Payment { deposit_of: Some(Side::Agent), ..done(PaymentState::Confirmed) };
    let all = [done(PaymentState::Confirmed), done(PaymentState::Claimed), done(PaymentState::Signed), back];
    assert_eq!(earned(&all, true), Some("5".into()));
    assert_eq!(earned(&all, false), Some("10".into()), "without a node the market's word has to do");
    assert_eq!(earned(&all[2..], true), None);
    assert!(all[0].is_final(true) && !all[1].is_final(true) && all[1].is_final(false));
    assert!(done(PaymentState::Wrong).is_final(true) && !done(PaymentState::Wrong).is_done(false));
}

/// A node that knows this block only.
async fn node(hash: String, info: Value) -> Node {
    let answer = move |body: String| {
        let (hash, info) = (hash.clone(), info.clone());
        async move {
            let asked: Value = serde_json::from_str(&body).unwrap();
            let is_known = asked["action"] == "block_info" && asked["hash"] == hash;
            if is_known { info.to_string() } else { json!({"error": "Block not found"}).to_string() }
        }
    };
    let router = axum::Router::new().route("/", post(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, router).into_future());
    Node::new(&url).unwrap().unwrap()
}

/// A send of 5 raw to this account.
fn send(to: Address, is_confirmed: bool) -> (Address, String, Value) {
    let key = nano_escrow::binding::nano_key(&Seed::from_bytes([1; 32]), 0).keypair();
    let block = StateBlock {
        account: key.public_key(),
        previous: BlockHash::from([3; 32]),
        representative: key.public_key(),
        balance: Raw(10),
        link: to.public_key().0,
    };
    let hash = block.hash().to_string();
    let contents = serde_json::to_value(block.sign(&key).unwrap()).unwrap();
    let info = json!({
        "block_account": key.address().to_string(), "amount": "5", "balance": "10", "height": "2",
        "local_timestamp": "0", "successor": "0".repeat(64), "confirmed": is_confirmed.to_string(),
        "contents": contents, "subtype": "send",
    });
    (key.address(), hash, info)
}

async fn checked(payment: Payment, info: (String, Value)) -> PaymentState {
    let node = node(info.0, info.1).await;
    let mut payments = [payment];
    check(&mut payments, &[], Some(&node)).await;
    payments[0].state
}

#[tokio::test]
async fn a_block_counts_as_confirmed_only_when_the_node_has_it_with_sender_payee_and_amount() {
    let (from, hash, info) = send(address(2), true);
    let claimed = |to: u8, raw: u128| Payment {
        from: from.to_string(),
        to: address(to).to_string(),
        hash: Some(hash.clone()),
        state: PaymentState::Claimed,
        ..pay(raw)
    };
    let known = || (hash.clone(), info.clone());
    assert_eq!(checked(claimed(2, 5), known()).await, PaymentState::Confirmed);
    assert_eq!(checked(claimed(3, 5), known()).await, PaymentState::Wrong, "another payee");
    assert_eq!(checked(claimed(2, 6), known()).await, PaymentState::Wrong, "another amount");
    let other = Payment { from: address(9).to_string(), ..claimed(2, 5) };
    assert_eq!(checked(other, known()).await, PaymentState::Wrong, "another sender");
    let unknown = ("AB".repeat(32), info.clone());
    assert_eq!(checked(claimed(2, 5), unknown).await, PaymentState::Claimed, "the market's word stands");
    let (_, hash_again, waiting) = send(address(2), false);
    assert_eq!(checked(claimed(2, 5), (hash_again, waiting)).await, PaymentState::Claimed);
}
