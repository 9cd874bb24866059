//! The websocket of the embedded ledger, by a real client.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use nano_devnet::{Confirm, Devnet, Dialect, Effect, FaultRule, On, Order};
use nano_escrow::{BlockHash, Raw};
use serde_json::{Value, json};
use support::*;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

const WITHIN: Duration = Duration::from_secs(20);

struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    async fn to(devnet: &Devnet) -> Client {
        Client(connect_async(devnet.ws_url()).await.unwrap().0)
    }

    async fn say(&mut self, value: Value) {
        self.0.send(Message::text(value.to_string())).await.unwrap();
    }

    /// The next text, whatever pings come between.
    async fn hear(&mut self) -> Value {
        loop {
            let message =
                tokio::time::timeout(WITHIN, self.0.next()).await.expect("in time").expect("open").unwrap();
            if let Message::Text(text) = message {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    async fn subscribe(&mut self, options: Value) {
        self.say(json!({"action": "subscribe", "topic": "confirmation", "ack": true, "options": options}))
            .await;
        assert_eq!(self.hear().await["ack"], "subscribe");
    }

    /// Everything up to the answer to a ping: what was not sent by then will not come.
    async fn hear_all(&mut self) -> Vec<Value> {
        self.say(json!({"action": "ping", "id": "end"})).await;
        let mut heard = Vec::new();
        loop {
            let value = self.hear().await;
            if value["ack"] == "pong" {
                return heard;
            }
            heard.push(value);
        }
    }
}

fn hash_of(value: &Value) -> BlockHash {
    value["message"]["hash"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_confirmation_has_the_shape_of_a_nodes() {
    let devnet = Devnet::builder().start().await.unwrap();
    let mut client = Client::to(&devnet).await;
    client.say(json!({"action": "subscribe", "topic": "confirmation", "ack": "true", "id": "7"})).await;
    let ack = client.hear().await;
    assert_eq!((&ack["ack"], &ack["id"]), (&json!("subscribe"), &json!("7")));
    assert!(ack["time"].as_str().unwrap().parse::<u64>().unwrap() > 1_600_000_000_000);
    let alice = key(1);
    let send = devnet.faucet(alice.address(), Raw(5)).await.unwrap();
    let told = client.hear().await;
    assert_eq!(told["topic"], "confirmation");
    assert!(told["time"].is_string());
    let message = &told["message"];
    assert_eq!(message["account"], GENESIS.address().to_string());
    assert_eq!(message["amount"], "5");
    assert_eq!(message["hash"], send.to_string());
    assert_eq!(message["confirmation_type"], "active_quorum");
    assert_eq!(message["block"]["subtype"], "send");
    assert_eq!(message["block"]["link_as_account"], alice.address().to_string());
    let block: nano_escrow::SignedBlock = serde_json::from_value(message["block"].clone()).unwrap();
    assert_eq!(block.hash(), send);
    block.verify_strict().unwrap();
}

#[tokio::test]
async fn only_the_accounts_asked_for_are_told_of_as_sender_or_receiver() {
    let devnet = Devnet::builder().start().await.unwrap();
    let (alice, bob, carol) = (key(1), key(2), key(3));
    let mut client = Client::to(&devnet).await;
    client.subscribe(json!({"accounts": [alice.address()], "include_block": false})).await;
    let to_alice = devnet.faucet(alice.address(), Raw(5)).await.unwrap();
    devnet.faucet(bob.address(), Raw(5)).await.unwrap();
    let open = sign(block(alice.public_key(), BlockHash::ZERO, 5, to_alice.0), &alice);
    devnet.publish(&open).await.unwrap();
    let first = client.hear().await;
    assert!(first["message"].get("block").is_none());
    assert_eq!((hash_of(&first), hash_of(&client.hear().await)), (to_alice, open.hash()));
    // Change the filter.
    client
        .say(json!({"action": "update", "topic": "confirmation", "ack": true,
            "options": {"accounts_add": [carol.address()], "accounts_del": [alice.address()]}}))
        .await;
    assert_eq!(client.hear().await["ack"], "update");
    let away = send_block(&alice, open.hash(), 4, bob.address());
    devnet.publish(&away).await.unwrap();
    let to_carol = devnet.faucet(carol.address(), Raw(1)).await.unwrap();
    assert_eq!(hash_of(&client.hear().await), to_carol);
    client.say(json!({"action": "unsubscribe", "topic": "confirmation", "ack": true})).await;
    assert_eq!(client.hear().await["ack"], "unsubscribe");
    devnet.faucet(carol.address(), Raw(1)).await.unwrap();
    assert_eq!(client.hear_all().await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_a_block_stands_on_is_told_first_and_as_inactive() {
    let devnet = Devnet::builder().confirm(Confirm::OnDemand).start().await.unwrap();
    let mut all = Client::to(&devnet).await;
    all.subscribe(json!({"include_election_info": true})).await;
    let mut active = Client::to(&devnet).await;
    active.subscribe(json!({"confirmation_type": "active"})).await;
    let mut fresh = Client::to(&devnet).await;
    fresh.say(json!({"action": "subscribe", "topic": "new_unconfirmed_block", "ack": true})).await;
    fresh.hear().await;
    let alice = key(1);
    let opened = open(&devnet, &alice, 10).await;
    assert_eq!(fresh.hear().await["message"]["subtype"], "send");
    let new = fresh.hear().await;
    assert_eq!(
        (&new["topic"], &new["message"]["subtype"]),
        (&json!("new_unconfirmed_block"), &json!("receive"))
    );
    devnet.confirm(opened.hash()).await.unwrap();
    let (first, second) = (all.hear().await, all.hear().await);
    assert_eq!(hash_of(&first), opened.block.link_hash());
    assert_eq!(first["message"]["confirmation_type"], "active_confirmation_height");
    assert!(first["message"]["election_info"]["tally"].is_string());
    assert_eq!(hash_of(&second), opened.hash());
    assert_eq!(second["message"]["confirmation_type"], "active_quorum");
    assert_eq!(hash_of(&active.hear().await), opened.hash());
    assert_eq!(active.hear_all().await, Vec::<Value>::new());
    // Asking once more tells once more.
    post(&devnet, json!({"action": "block_confirm", "hash": opened.hash()})).await;
    assert_eq!(hash_of(&all.hear().await), opened.hash());
}

#[tokio::test]
async fn hidden_and_repeated_confirmations() {
    let devnet = Devnet::builder().start().await.unwrap();
    let (alice, bob) = (key(1), key(2));
    let mut client = Client::to(&devnet).await;
    client.subscribe(json!({})).await;
    let hide =
        devnet.faults().add(FaultRule::once(On::default().of(alice.address()), Effect::HideConfirmation));
    devnet.faults().add(FaultRule::once(On::default().of(bob.address()), Effect::RepeatConfirmation));
    let hidden = devnet.faucet(alice.address(), Raw(1)).await.unwrap();
    let twice = devnet.faucet(bob.address(), Raw(1)).await.unwrap();
    let told = devnet.faucet(alice.address(), Raw(1)).await.unwrap();
    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(hash_of(&client.hear().await));
    }
    assert_eq!(heard, [twice, twice, told]);
    assert!(devnet.look(|l| l.is_confirmed(&hidden)));
    assert_eq!(devnet.faults().struck(hide), 1);
}

#[tokio::test]
async fn the_order_of_confirmation_is_as_asked_for() {
    for (order, expected) in [(Order::Arrival, [0, 1, 2, 3]), (Order::Reverse, [3, 2, 1, 0])] {
        let devnet = Devnet::builder().order(order).start().await.unwrap();
        // Opens of four accounts whose funds are final, so that none stands on another.
        let mut opens = Vec::new();
        for n in 0..4 {
            let send = devnet.faucet(key(n).address(), Raw(5)).await.unwrap();
            opens.push(sign(block(key(n).public_key(), BlockHash::ZERO, 5, send.0), &key(n)));
        }
        let mut client = Client::to(&devnet).await;
        client.subscribe(json!({"accounts": (0..4).map(|n| key(n).address()).collect::<Vec<_>>()})).await;
        // Held, so that all are due together, however slow this machine is, when the rule goes.
        let hold = devnet.faults().add(FaultRule::new(On::default(), Effect::HoldConfirmation));
        for open in &opens {
            devnet.publish(open).await.unwrap();
        }
        devnet.faults().remove(hold);
        let mut heard = Vec::new();
        while heard.len() < 4 {
            let hash = hash_of(&client.hear().await);
            heard.extend(opens.iter().position(|o| o.hash() == hash));
        }
        assert_eq!(heard, expected, "{order:?}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_and_nobody_waits_for_it() {
    let devnet = Devnet::builder().ws_queue(4).start().await.unwrap();
    let mut deaf = Client::to(&devnet).await;
    deaf.subscribe(json!({})).await;
    let mut good = Client::to(&devnet).await;
    good.subscribe(json!({"accounts": [key(5).address()]})).await;
    // Far more than the queue and both sockets' buffers hold.
    let mut sent = 0;
    while devnet.ws_clients().1 == 0 {
        devnet.faucet(key(1).address(), Raw(1)).await.unwrap();
        sent += 1;
        assert!(sent < 50_000, "a client that does not read is never dropped");
    }
    assert_eq!(devnet.ws_clients(), (1, 1));
    let last = devnet.faucet(key(5).address(), Raw(1)).await.unwrap();
    assert_eq!(hash_of(&good.hear().await), last);
}

#[tokio::test]
async fn a_silent_connection_is_pinged_and_then_dropped() {
    let devnet = Devnet::builder().keepalive(Duration::from_millis(30)).start().await.unwrap();
    // Tungstenite answers pings only while it is read: this one is not.
    let silent = Client::to(&devnet).await;
    let mut alive = Client::to(&devnet).await;
    let reading = tokio::spawn(async move {
        loop {
            match alive.0.next().await {
                Some(Ok(_)) => {}
                _ => return,
            }
        }
    });
    let gone = async {
        while devnet.ws_clients().0 > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(WITHIN, gone).await.expect("the silent one is dropped");
    assert_eq!(devnet.ws_clients().0, 1);
    drop(silent);
    devnet.stop().await.unwrap();
    tokio::time::timeout(WITHIN, reading).await.expect("the other hears of the stop").unwrap();
}

#[tokio::test]
async fn rubbish_on_the_websocket_is_ignored_and_a_flood_closes_it() {
    let devnet = Devnet::builder().start().await.unwrap();
    let mut client = Client::to(&devnet).await;
    for text in
        ["", "{", "[]", "{\"action\":7}", "{\"action\":\"subscribe\",\"topic\":\"vote\",\"ack\":true}"]
    {
        client.0.send(Message::text(text)).await.unwrap();
    }
    client.0.send(Message::binary(vec![0, 159])).await.unwrap();
    assert_eq!(client.hear_all().await, Vec::<Value>::new());
    client.0.send(Message::text("x".repeat(70 << 10))).await.ok();
    let end = tokio::time::timeout(WITHIN, async { while let Some(Ok(_)) = client.0.next().await {} }).await;
    end.expect("a message that is too long closes the connection");
    devnet.faucet(key(1).address(), Raw(1)).await.unwrap();
}

#[tokio::test]
async fn a_text_where_a_boolean_belongs_ends_the_connection_as_with_the_rust_node() {
    for (dialect, served) in [(Dialect::Cpp, true), (Dialect::Rust, false)] {
        let devnet = Devnet::builder().dialect(dialect).start().await.unwrap();
        let mut client = Client::to(&devnet).await;
        let options = json!({"include_block": "true"});
        client
            .say(json!({"action": "subscribe", "topic": "confirmation", "ack": true, "options": options}))
            .await;
        let answer = tokio::time::timeout(WITHIN, client.0.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(matches!(answer, Message::Text(_)), served, "{dialect:?}: {answer:?}");
        assert_eq!(matches!(answer, Message::Close(_)), !served, "{dialect:?}: {answer:?}");
    }
}
