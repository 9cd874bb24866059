//! The client against the real server.

use std::time::Duration;

use nano_escrow::Network;
use zx1_market::case::{Transcript, replay};
use zx1_market::chain::{Common, Data, Side};
use zx1_market::wire::MessageKind;
use zx1_market::{EntryType, Millis, NetworkId, State};
use zx1_market_client::{
    ClientError, Deposit, ListFilter, Market, Pin, Transcripts, WalletPurse, WatchOptions,
};

use crate::support::*;

/// A free contract that an agent (key 2) has accepted.
async fn working(world: &World) -> (zx1_market::ContractId, Market) {
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let agent = world.party(2).await;
    agent.bond(id, None).await.unwrap();
    agent.accept(id).await.unwrap();
    (id, agent)
}

#[tokio::test]
async fn a_paid_contract_goes_from_post_to_payment_ok() {
    let world = World::start().await;
    let terms = world.terms().await;
    let bench = Bench::lacks_lm();
    let (wallet, _) = world.purse("principal", "2").await;
    let contract = bench.contract(&terms, "0.5", &[], |_| {});
    let posted = world.principal.post(&contract, Some(address("principal"))).await.unwrap();
    assert_eq!(posted.status, State::Unfunded);
    let deposit = posted.deposit.clone().unwrap();
    assert_eq!(deposit.amount, xno("0.67"));
    // Twice, as a program does that was restarted: one payment.
    world.principal.pay(&*wallet, &deposit).await.unwrap();
    world.principal.pay(&*wallet, &deposit).await.unwrap();
    let view = world.principal.wait_open(&posted, PATIENCE).await.unwrap();
    assert_eq!((view.state(), view.side()), (State::Open, Some(Side::Principal)));

    let agent = world.party(2).await;
    let seen = agent.list(ListFilter { status: Some(State::Open), ..ListFilter::default() }).await.unwrap();
    assert_eq!(seen.iter().map(|v| v.id).collect::<Vec<_>>(), [posted.id]);
    let bonded = agent.bond(posted.id, Some(address("agent"))).await.unwrap();
    let due = bonded.deposit.clone().unwrap();
    agent.check_reserved(&bonded).await.unwrap();
    world.devnet().faucet(due.address, due.amount).await.unwrap();
    agent.wait(posted.id, "ours", PATIENCE, |v| v.state() == State::Investigating).await.unwrap();
    agent.accept(posted.id).await.unwrap();
    let corrected = Some("gcc app.c -o app -lm".to_owned());
    agent.fix(posted.id, "true".into(), "the command lacks -lm".into(), corrected.clone()).await.unwrap();
    let end = bench.serve(&world.principal, posted.id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    eventually("everybody is paid", || async {
        let paid = [("principal", "0.17"), ("agent", "1.12"), ("platform", "0.05")];
        paid.iter().all(|(who, amount)| world.balance(address(who)) == xno(amount)).then_some(())
    })
    .await;
    // What was saved proves all of it, offline.
    let transcripts = world.principal.options().transcripts.clone().unwrap();
    let saved = std::fs::read(transcripts.path(&world.principal.server(), posted.id)).unwrap();
    let report = replay(&Transcript::parse(&saved).unwrap());
    assert!(report.valid && report.exact_times, "{report:?}");
    assert_eq!(report.state, Some(State::Fulfilled));
}

/// The addresses of all networks look alike: who has a wallet with real money and a market on play money would pay an
/// account that nobody looks at.
#[tokio::test]
async fn a_wallet_of_another_network_pays_nothing_and_signs_no_block() {
    let world = World::start().await;
    let contract = Bench::lacks_lm().contract(&world.terms().await, "0.5", &[], |_| {});
    let posted = world.principal.post(&contract, Some(address("principal"))).await.unwrap();
    let deposit = posted.deposit.clone().unwrap();
    let (wallet, account) = world.wallet("principal", "2").await;
    let before = world.devnet().account(account);
    for network in [Network::Live, Network::Beta, Network::Test] {
        let purse = WalletPurse::new(wallet.clone(), network, 0);
        let error = world.principal.pay(&purse, &deposit).await.unwrap_err();
        assert_eq!(error.code(), 9380);
        let (asked, has) = (NetworkId::from(Network::Dev), NetworkId::from(network));
        assert!(error.to_string().contains(&asked.to_string()), "{error}");
        assert!(error.to_string().contains(&has.to_string()), "{error}");
    }
    // No block on the ledger, none in the wallet's journal, and the money is where it was.
    assert_eq!(world.devnet().account(account), before);
    let payment = deposit.payment_id(&world.principal.server());
    assert!(wallet.wait(&payment, Duration::ZERO).await.is_err(), "the journal knows no such payment");
    assert_eq!(wallet.balance(0).await.unwrap().confirmed, xno("2"));
    assert_eq!(world.principal.view(posted.id).await.unwrap().state(), State::Unfunded);
    // The same deposit from a wallet of its network is paid.
    let purse = WalletPurse::new(wallet.clone(), Network::Dev, 0).confirm_within(PATIENCE);
    world.principal.pay(&purse, &deposit).await.unwrap();
    world.until(posted.id, State::Open).await;
    assert_eq!(wallet.balance(0).await.unwrap().confirmed, xno("1.33"));
}

#[tokio::test]
async fn a_server_with_another_key_is_refused_before_anything_is_signed() {
    let world = World::start().await;
    let file = world.folder.path().join("fix/servers.json");
    let connect = |pin| Market::connect(world.url(), key(1), pin, options(&world.clock));
    connect(Pin::File(file.clone())).await.unwrap();
    connect(Pin::File(file.clone())).await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&world.principal.server().to_string()), "{text}");
    std::fs::write(&file, text.replace(&world.principal.server().hex(), &key(7).id().hex())).unwrap();
    let error = connect(Pin::File(file)).await.unwrap_err();
    assert_eq!(error.code(), 9370);
    assert!(error.to_string().contains("servers.json"), "{error}");
    assert_eq!(connect(Pin::Key(key(7).id())).await.unwrap_err().code(), 9370);
}

#[tokio::test]
async fn what_others_say_in_between_is_signed_over_again() {
    let world = World::start().await;
    let (id, agent) = working(&world).await;
    // The principal's view is old when it speaks; words change nothing.
    let old = world.principal.view(id).await.unwrap();
    for n in 0..3 {
        agent.chat(id, MessageKind::Ask, &format!("question {n}")).await.unwrap();
    }
    let data = Data::Halt { reason: "stop".into() };
    let acted = world.principal.act_on(&old, data, Common::default()).await.unwrap();
    assert_eq!(acted.entry.seq(), old.head().seq + 3);
    assert_eq!(acted.status(), Some("halted"));
}

#[tokio::test]
async fn what_changes_the_meaning_is_not_signed_over() {
    let world = World::start().await;
    let (id, agent) = working(&world).await;
    let old = agent.view(id).await.unwrap();
    world.principal.halt(id, "stop").await.unwrap();
    world.principal.resume(id, "go on").await.unwrap();
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    let error = agent.act_on(&old, fix, Common::default()).await.unwrap_err();
    assert_eq!(error.code(), 9378, "{error}");
    assert!(error.to_string().contains("halt, resume"), "{error}");
    assert!(agent.view(id).await.unwrap().entries().iter().all(|e| e.kind() != EntryType::Fix));
}

#[tokio::test]
async fn a_refusal_of_the_server_names_the_rule() {
    let world = World::start().await;
    let (id, agent) = working(&world).await;
    let error = agent.accept(id).await.unwrap_err();
    let ClientError::Refused(refused) = &error else { panic!("{error}") };
    assert_eq!((refused.status, refused.code, error.code()), (409, Some(9111), 9374));
    assert_eq!(error.reason(), Some(zx1_market::Reason::WrongState), "{error}");
    let stranger = world.party(5).await;
    assert_eq!(stranger.view(id).await.unwrap_err().status(), Some(403));
    // What the server would refuse by its shape never leaves.
    let data =
        Data::Fix { fix: "x".into(), explanation: String::new(), corrected_command: Some("a\nb".into()) };
    assert_eq!(agent.act(id, data).await.unwrap_err().code(), 9385);
    let terms = world.terms().await;
    let mut cheap = terms.clone();
    cheap.fees.min_bounty = xno("0.01");
    let contract = Bench::lacks_folder().contract(&cheap, "0.02", &[], |_| {});
    assert_eq!(world.principal.post(&contract, None).await.unwrap_err().code(), 9385);
}

#[tokio::test]
async fn a_rewritten_history_is_found_and_nothing_is_signed() {
    let world = World::start().await;
    let (id, agent) = working(&world).await;
    agent.chat(id, MessageKind::Ask, "which compiler?").await.unwrap();
    let view = agent.view(id).await.unwrap();
    // The saved transcript has one more entry than the server shows.
    let transcripts = agent.options().transcripts.clone().unwrap();
    let mut longer = view.transcript().clone();
    longer
        .entries
        .push(agent.sign(&view, &Data::Ask { message: "hello?".into() }, &Common::default()).await.unwrap());
    longer.received_at.push(*longer.received_at.last().unwrap());
    transcripts.save(&agent.server(), id, &longer).unwrap();
    let error = agent.view(id).await.unwrap_err();
    assert_eq!(error.code(), 9375, "{error}");
    // Or another one at the same place.
    let path = transcripts.path(&agent.server(), id);
    let mut other = view.transcript().clone();
    let last = other.entries.pop().unwrap();
    let head = zx1_market::chain::Head { seq: last.seq(), hash: *last.prev_hash() };
    other.entries.push(zx1_market::Entry::sign(
        &Data::Ask { message: "no".into() },
        head,
        last.at(),
        &key(2),
    ));
    std::fs::write(&path, other.to_json().canonical()).unwrap();
    let error = agent.decline(id, "x").await.unwrap_err();
    assert_eq!(error.code(), 9375);
    assert!(error.to_string().contains(&format!("entry {}", last.seq())), "{error}");
}

#[tokio::test]
async fn transcripts_are_replaced_whole_and_never_shortened() {
    let world = World::start().await;
    let (id, agent) = working(&world).await;
    let view = agent.view(id).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let transcripts = Transcripts::open(folder.path().join("a/b")).unwrap();
    let server = agent.server();
    transcripts.save(&server, id, view.transcript()).unwrap();
    let mut shorter = view.transcript().clone();
    shorter.entries.pop();
    shorter.received_at.pop();
    transcripts.save(&server, id, &shorter).unwrap();
    assert_eq!(transcripts.load(&server, id).unwrap().unwrap(), *view.transcript());
    assert_eq!(transcripts.list(&server).unwrap(), [id]);
    std::fs::write(transcripts.path(&server, id), "garbage").unwrap();
    assert_eq!(transcripts.load(&server, id).unwrap_err().code(), 9382);
}

#[tokio::test]
async fn contracts_are_found_by_stream_and_by_polling_and_a_restart_of_the_server_loses_none() {
    let mut world = World::start().await;
    let contract = Bench::lacks_folder().contract(&world.terms().await, "", &[], |_| {});
    let quick = WatchOptions { poll: Duration::from_millis(20), ..WatchOptions::default() };
    let watcher = world.party(2).await;
    let mut by_stream =
        watcher.watch(WatchOptions { poll_beside: Duration::from_secs(600), ..quick.clone() });
    let mut by_poll = watcher.watch(WatchOptions { sse: false, ..quick });
    // The first list of the stream's watcher is over when it shows this one.
    let first = world.open(&contract).await;
    assert_eq!(by_poll.next().await.unwrap().contract_id, first);
    assert_eq!(by_stream.next().await.unwrap().contract_id, first);
    world.clock.advance(Millis(1_000));
    let second = world.open(&contract).await;
    let mut seen = first;
    while seen != second {
        seen = tokio::time::timeout(PATIENCE, by_stream.next()).await.unwrap().unwrap().contract_id;
    }
    // The same address again, so that the watcher can come back.
    world.config.bind = world.url().trim_start_matches("http://").parse().unwrap();
    world.server.take().unwrap().stop().await.unwrap();
    world.server = Some(boot(&world.config, &world.clock).await);
    world.clock.advance(Millis(1_000));
    let third = world.open(&contract).await;
    let found = async {
        loop {
            if by_stream.next().await.unwrap().contract_id == third {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, found).await.unwrap();
}

#[tokio::test]
async fn a_deposit_is_looked_up_again_after_a_restart_ok() {
    let world = World::start().await;
    let contract = Bench::lacks_lm().contract(&world.terms().await, "0.5", &[], |_| {});
    let posted = world.principal.post(&contract, Some(address("principal"))).await.unwrap();
    let again = world.party(1).await;
    let view = again.view(posted.id).await.unwrap();
    let due = again.deposit_due(&view).await.unwrap().unwrap();
    let first = posted.deposit.unwrap();
    let same = |d: &Deposit| (d.address, d.amount, d.payment_id(&again.server()));
    assert_eq!(same(&due), same(&first));
    // The post again is the same post: its answer is looked up, and nothing is posted twice.
    assert_eq!(again.list(ListFilter { mine: true, ..ListFilter::default() }).await.unwrap().len(), 1);
}

#[tokio::test]
async fn many_at_once_are_chained_once_each_or_told_so() {
    let world = World::start().await;
    let (id, agent) = working(&world).await;
    let talk = (0..12).map(|n| {
        let market = if n % 2 == 0 { agent.clone() } else { world.principal.clone() };
        async move { market.chat(id, MessageKind::Message, &format!("word {n}")).await }
    });
    let said = futures_util::future::join_all(talk).await;
    // With five tries each some may give up, with a numbered error; none is chained twice.
    let good = said.iter().filter(|s| s.is_ok()).count();
    let errors: Vec<_> = said.iter().filter_map(|s| s.as_ref().err()).collect();
    assert!(errors.iter().all(|e| e.code() == 9379), "{errors:?}");
    let view = agent.view(id).await.unwrap();
    let words = view.entries().iter().filter(|e| e.kind() == EntryType::Message).count();
    assert_eq!(words, good);
    assert!(good >= 5);
}
