//! Every action of the client, as a payment uses them.

use nano_devnet::{Devnet, Dialect, Effect, FaultRule, On};
use nano_escrow::node::rpc::*;
use nano_escrow::node::{Fault, NodeApi, NodeCalls, Sight};
use nano_escrow::{BlockHash, Network, Raw, Signature, Subtype, Thresholds, Work};

use crate::support::{Place, confirmed, embedded, finish, fresh_key, fund, genesis, head_of, outside};

#[tokio::test]
async fn a_payment_on_the_embedded_ledger_ok() {
    for dialect in [Dialect::Cpp, Dialect::Rust] {
        payment(&embedded(Devnet::builder().dialect(dialect)).await).await;
    }
}

#[tokio::test]
async fn a_payment_in_the_same_process_ok() {
    let devnet = Devnet::builder().start().await.unwrap();
    payment(&Place { devnet: None, node: std::sync::Arc::new(devnet), websocket: None }).await;
}

#[tokio::test]
async fn a_payment_on_the_node_of_the_environment_ok() {
    if let Some(place) = outside() {
        payment(&place).await;
    }
}

#[tokio::test]
async fn what_a_node_lacks_is_what_its_peers_say_if_it_tells() {
    for dialect in [Dialect::Cpp, Dialect::Rust] {
        let place = embedded(Devnet::builder().dialect(dialect)).await;
        let (node, devnet) = (&*place.node, place.devnet.as_ref().unwrap());
        let lacks = async || Sight::of(&node).await.map(|sight| sight.lacks());
        assert_eq!(lacks().await.unwrap(), 0, "a ledger without peers");
        for (peers, lacked) in [(3, 7), (2, 0)] {
            devnet.faults().add(FaultRule::new(On::action("telemetry"), Effect::Behind { blocks: 7, peers }));
            assert_eq!(lacks().await.unwrap(), lacked);
            devnet.faults().clear();
        }
        // Not everybody who serves a node serves all of it.
        for action in ["telemetry", "block_count"] {
            for effect in [
                Effect::Error { text: "Unknown command".into() },
                Effect::Status { code: 403, body: "not for you".into() },
            ] {
                devnet.faults().add(FaultRule::new(On::action(action), effect));
                assert_eq!(lacks().await.unwrap(), 0);
                devnet.faults().clear();
            }
        }
        devnet.faults().add(FaultRule::new(On::action("telemetry"), Effect::Drop));
        assert_eq!(lacks().await.unwrap_err().code(), 8202);
    }
}

async fn payment(place: &Place) {
    let node = &*place.node;
    let version = node.check_network(Network::Dev).await.unwrap();
    assert_eq!(version.known_network(), Some(Network::Dev));
    assert_eq!(node.check_network(Network::Live).await.unwrap_err().code(), 8205);

    let alice = fresh_key();
    let send = nobody_knows_it_yet(node, &alice).await;
    confirmed(node, send.hash()).await;
    let expected =
        ReceivableBlock { hash: send.hash(), amount: Some(Raw(5_000)), source: Some(genesis().address()) };
    assert_eq!(node.receivable(Receivable::confirmed(alice.address())).await.unwrap(), [expected]);
    let above = Receivable { threshold: Some(Raw(5_001)), ..Receivable::confirmed(alice.address()) };
    assert_eq!(node.receivable(above).await.unwrap(), []);
    let many = AccountsReceivable {
        accounts: vec![alice.address(), fresh_key().address()],
        count: 10,
        threshold: Some(Raw(1)),
        confirmed_only: true,
    };
    let many = node.ask(many).await.unwrap();
    assert_eq!(many.get(&alice.address()).unwrap(), &[expected]);
    assert_eq!(many.values().flatten().count(), 1);
    let exists = ReceivableExists { hash: send.hash(), confirmed_only: true };
    assert!(node.ask(exists).await.unwrap());

    let open = head_of(node, &alice).await.open(send.hash(), Raw(5_000)).unwrap();
    let open = finish(open, &alice);
    assert_eq!(node.process(open, Some(Subtype::Open)).await.unwrap(), open.hash());
    confirmed(node, open.hash()).await;
    assert!(!node.ask(exists).await.unwrap());

    let bob = fresh_key();
    let pay = finish(head_of(node, &alice).await.sweep(bob.address()).unwrap(), &alice);
    node.process(pay, None).await.unwrap();
    confirmed(node, pay.hash()).await;
    what_is_there(node, &alice, [send.hash(), open.hash(), pay.hash()]).await;
    what_is_refused(node, &alice, pay).await;
    work_is_judged_as_here(node, pay.hash()).await;
}

async fn nobody_knows_it_yet(
    node: &dyn NodeApi,
    alice: &nano_escrow::PrivateKey,
) -> nano_escrow::SignedBlock {
    assert_eq!(node.account_info(alice.address()).await.unwrap(), None);
    assert_eq!(node.account_balance(alice.address(), true).await.unwrap(), Balance::default());
    assert_eq!(node.receivable(Receivable::all(alice.address())).await.unwrap(), []);
    assert_eq!(
        node.account_history(AccountHistory::whole(alice.address())).await.unwrap(),
        History::default()
    );
    let nowhere = BlockHash(alice.public_key().0);
    assert_eq!(node.block_info(nowhere).await.unwrap(), None);
    let found = node.ask(BlocksInfo { hashes: vec![nowhere] }).await.unwrap();
    assert_eq!((found.blocks.len(), found.unknown), (0, vec![nowhere]));
    let frontiers = AccountsFrontiers { accounts: vec![alice.address()] };
    assert_eq!(node.ask(frontiers).await.unwrap().len(), 0);

    let send = fund(node, alice.address(), Raw(5_000)).await;
    // Repeated: whatever it says, block_info knows better.
    let again = node.process(send, Some(Subtype::Send)).await.unwrap_err();
    assert!(matches!(again.fault(), Some(Fault::Old | Fault::SubtypeBalance)), "{again}");
    let again = node.process(send, None).await.unwrap_err();
    assert_eq!(again.fault(), Some(&Fault::Old));
    assert_eq!(node.block_info(send.hash()).await.unwrap().unwrap().contents, Some(send));
    assert_eq!(node.account_info(alice.address()).await.unwrap(), None, "money waits, but there is no block");
    send
}

async fn what_is_there(node: &dyn NodeApi, alice: &nano_escrow::PrivateKey, blocks: [BlockHash; 3]) {
    let [send, open, pay] = blocks;
    let account = alice.address();
    let state = node.account_info(account).await.unwrap().unwrap();
    assert_eq!((state.frontier, state.open_block, state.block_count), (pay, open, 2));
    assert_eq!((state.balance, state.representative), (Raw::ZERO, genesis().address()));
    assert_eq!((state.confirmed.height, state.confirmed.frontier), (2, Some(pay)));
    assert_eq!((state.confirmed.balance, state.receivable), (Some(Raw::ZERO), Some(Raw::ZERO)));

    let found = node.ask(BlocksInfo { hashes: vec![send, open, pay] }).await.unwrap();
    assert_eq!((found.blocks.len(), found.unknown.len()), (3, 0));
    assert_eq!(found.blocks[&send].receive_hash, Some(open));
    let opened = &found.blocks[&open];
    assert_eq!((opened.amount, opened.balance, opened.height), (Some(Raw(5_000)), Some(Raw(5_000)), 1));
    assert_eq!((opened.successor, opened.source), (Some(pay), Some(genesis().address())));
    let paid = node.block_info(pay).await.unwrap().unwrap();
    assert_eq!((paid.subtype, paid.confirmed, paid.successor), (Some(Subtype::Send), true, None));
    assert_eq!((paid.account, paid.amount, paid.balance), (account, Some(Raw(5_000)), Some(Raw::ZERO)));

    let history = node.account_history(AccountHistory::whole(account)).await.unwrap();
    let hashes: Vec<_> = history.entries.iter().map(|e| (e.hash, e.height, e.amount)).collect();
    assert_eq!(hashes, [(open, 1, Some(Raw(5_000))), (pay, 2, Some(Raw(5_000)))]);
    let newest = AccountHistory { account, count: Some(1), head: None, reverse: false };
    let newest = node.account_history(newest).await.unwrap();
    assert_eq!((newest.entries[0].hash, newest.next), (pay, Some(open)));

    let accounts = vec![account, fresh_key().address()];
    let frontiers = node.ask(AccountsFrontiers { accounts: accounts.clone() }).await.unwrap();
    assert_eq!(frontiers.into_iter().collect::<Vec<_>>(), [(account, pay)]);
    let balances = node.ask(AccountsBalances { accounts, confirmed_only: true }).await.unwrap();
    assert_eq!(balances[&account], Balance::default());
    let count = node.ask(BlockCount).await.unwrap();
    assert!(count.count >= 4 && count.cemented >= 3, "{count:?}");
}

async fn what_is_refused(node: &dyn NodeApi, alice: &nano_escrow::PrivateKey, pay: nano_escrow::SignedBlock) {
    let rival = nano_escrow::StateBlock { link: [9; 32], ..pay.block };
    let rival = finish(rival, alice);
    let refused = |e: nano_escrow::node::NodeError| e.fault().cloned().unwrap_or_else(|| panic!("{e}"));
    assert_eq!(refused(node.process(rival, None).await.unwrap_err()), Fault::Fork);
    let mut forged = rival;
    forged.signature = Signature([3; 64]);
    assert_eq!(refused(node.process(forged, None).await.unwrap_err()), Fault::BadSignature);
    let late = nano_escrow::StateBlock { previous: BlockHash([8; 32]), ..pay.block };
    assert_eq!(refused(node.process(finish(late, alice), None).await.unwrap_err()), Fault::GapPrevious);
    let weak = (0..).map(Work).find(|w| !w.is_valid(&pay.root(), Thresholds::DEV.entry())).unwrap();
    let weak = pay.with_work(weak);
    assert!(refused(node.process(weak, None).await.unwrap_err()).is_work());
    let bare = nano_escrow::SignedBlock { work: None, ..pay };
    assert_eq!(node.process(bare, None).await.unwrap_err().code(), 8063, "never sent without work");
}

async fn work_is_judged_as_here(node: &dyn NodeApi, root: BlockHash) {
    let difficulty = node.ask(ActiveDifficulty).await.unwrap();
    assert_eq!(difficulty.minimum, Thresholds::DEV.send_or_change);
    assert_eq!(difficulty.receive_minimum, Thresholds::DEV.receive_or_open);
    for nonce in 0..64 {
        let work = Work(nonce);
        let verdict = node.ask(WorkValidate { root, work }).await.unwrap();
        let value = work.value(&root);
        assert_eq!(verdict.difficulty, value);
        assert_eq!(verdict.valid_all, value >= Thresholds::DEV.send_or_change);
        assert_eq!(verdict.valid_receive, value >= Thresholds::DEV.receive_or_open);
    }
    match node.work_generate(root, Thresholds::DEV.send_or_change).await {
        Ok(work) => work.check(&root, Thresholds::DEV.send_or_change).unwrap(),
        Err(error) => {
            assert!(matches!(error.fault(), Some(Fault::ControlDisabled | Fault::WorkDisabled)), "{error}");
        }
    }
}
