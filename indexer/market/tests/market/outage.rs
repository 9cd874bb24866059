//! An hour without a node, with contracts in every state that one can be in: nobody loses money or a window to it
//! (decision E21). 32 contracts; 1 000 with `ZX1_SOAK=1`.

use futures_util::StreamExt as _;
use futures_util::stream::iter;
use nano_devnet::{Devnet, Effect, FaultRule, On};
use nano_escrow::Raw;
use serde_json::Value;
use zx1_market::chain::{Data, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{ContractId, Millis};

use crate::support::{Market, address, body_with, eventually, row, xno};

const BOUNTY: &str = "0.5";

/// Where a contract is when the node goes, and what is done with it meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Posted; its principal pays when the node is back, and takes it back.
    Unpaid,
    /// Posted; its principal pays while the market cannot see it.
    PaidUnseen,
    /// Nobody takes it in time.
    Open,
    /// An agent was asked for its bond; it pays when the node is back, and repairs it.
    Reserved,
    /// Repaired and accepted while the node is away.
    Working,
    /// In review in autonomous mode, and nobody objects.
    Review,
    /// Disputed before, ruled for the agent while the node is away.
    Disputed,
    /// Given back by its principal while the node is away, before any fix.
    LeftLate,
}

const KINDS: [Kind; 8] = [
    Kind::Unpaid,
    Kind::PaidUnseen,
    Kind::Open,
    Kind::Reserved,
    Kind::Working,
    Kind::Review,
    Kind::Disputed,
    Kind::LeftLate,
];

struct One {
    n: usize,
    kind: Kind,
    id: ContractId,
    /// What somebody is still asked to pay.
    deposit: Value,
}

impl One {
    /// State in which it ends, with its row of the money table; none: everything goes back to the principal.
    fn end(&self) -> (&'static str, Option<Value>) {
        match self.kind {
            Kind::Unpaid | Kind::PaidUnseen | Kind::Open => ("canceled", None),
            Kind::Reserved | Kind::Working | Kind::Review => {
                ("fulfilled", Some(row("fulfilled", None, BOUNTY)))
            }
            Kind::Disputed => ("resolved", Some(row("ruling_fulfilled", Some("district"), BOUNTY))),
            Kind::LeftLate => ("canceled", Some(row("late_cancel_by_principal", None, BOUNTY))),
        }
    }
}

/// The market, and its node, which it asks as it asks any other.
struct World {
    m: Market,
    node: Devnet,
}

impl World {
    async fn pay(&self, deposit: &Value) {
        let account = deposit["address"].as_str().unwrap().parse().unwrap();
        self.node.faucet(account, xno(deposit["amount"].as_str().unwrap())).await.unwrap();
    }

    fn balance(&self, name: &str) -> Raw {
        let account = self.node.account(address(name));
        sum(account.receivable.values().copied().chain([account.balance]))
    }
}

fn payout(side: &str, n: usize) -> String {
    format!("{side} of {n}")
}

async fn post(World { m, .. }: &World, n: usize) -> One {
    let kind = KINDS[n % KINDS.len()];
    let autonomous = kind == Kind::Review;
    // Longer than a grace period, so that leaving costs what it costs late.
    let contract = m.contract_with(BOUNTY, |it| (it.review_window, it.max_attempts) = (600, 1), autonomous);
    let entry = m.client.post_entry(&contract, &m.principal, Some(address(&payout("principal", n))));
    let body = body_with(&entry, &[]);
    let got = m.client.send("POST", "/contracts", body, Some(&m.principal)).await.says("unfunded");
    One { n, kind, id: entry.contract_id().unwrap(), deposit: got["deposit"].clone() }
}

async fn bond(World { m, .. }: &World, one: &mut One) {
    let data = Data::Bond { agent: m.agent.id(), payout: Some(address(&payout("agent", one.n))) };
    one.deposit = m.client.act(one.id, "bond", data, &m.agent).await.says("reserved")["deposit"].clone();
}

async fn taken(w: &World, one: &One) {
    let World { m, .. } = w;
    w.pay(&one.deposit).await;
    m.client.until(one.id, &m.agent, "investigating").await;
    m.accept(one.id, &m.agent).await;
}

/// Everything before the node goes.
async fn prepare(w: &World, n: usize) -> One {
    let World { m, .. } = w;
    let mut one = post(w, n).await;
    if matches!(one.kind, Kind::Unpaid | Kind::PaidUnseen) {
        return one;
    }
    w.pay(&one.deposit).await;
    m.client.until(one.id, &m.principal, "open").await;
    if one.kind == Kind::Open {
        return one;
    }
    bond(w, &mut one).await;
    if one.kind == Kind::Reserved {
        return one;
    }
    taken(w, &one).await;
    if matches!(one.kind, Kind::Review | Kind::Disputed) {
        m.fix(one.id).await.ok();
    }
    one
}

/// What parties and a judge do in the first minute without the node.
async fn act(w: &World, one: &One) {
    let World { m, .. } = w;
    match one.kind {
        Kind::PaidUnseen => w.pay(&one.deposit).await,
        Kind::Working => {
            m.fix(one.id).await.ok();
            m.verify(one.id, true).await.says("fulfilled");
        }
        Kind::Disputed => {
            m.dispute(one.id, Side::Principal).await.ok();
            m.respond(one.id, Side::Agent).await.ok();
            m.client.rule(one.id, &m.judge, Outcome::Fulfilled, Court::District).await.ok();
        }
        Kind::LeftLate => {
            let data = Data::BackOut { reason: String::new() };
            m.client.act(one.id, "back_out", data, &m.principal).await.says("canceled");
        }
        Kind::Unpaid | Kind::Open | Kind::Reserved | Kind::Review => (),
    }
}

async fn unfunded_is_paid_and_taken_back(World { m, .. }: &World, one: &One) {
    m.client.until(one.id, &m.principal, "open").await;
    let view = m.client.view(one.id, &m.principal).await;
    let kinds: Vec<_> = view["transcript"].as_array().unwrap().iter().map(|e| e["type"].clone()).collect();
    assert_eq!(kinds, ["post", "resumed", "opened"], "{view}");
    let data = Data::Cancel { reason: String::new() };
    m.client.act(one.id, "", data, &m.principal).await.says("canceled");
}

/// What is left to do when the node is back.
async fn finish(w: &World, one: &One) {
    let World { m, .. } = w;
    match one.kind {
        Kind::Unpaid => {
            w.pay(&one.deposit).await;
            unfunded_is_paid_and_taken_back(w, one).await;
        }
        Kind::PaidUnseen => unfunded_is_paid_and_taken_back(w, one).await,
        Kind::Reserved => {
            taken(w, one).await;
            m.fix(one.id).await.ok();
            m.verify(one.id, true).await.says("fulfilled");
        }
        _ => (),
    }
}

fn sum(amounts: impl Iterator<Item = Raw>) -> Raw {
    Raw::checked_sum(amounts).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_hour_without_a_node_costs_nobody_a_raw_and_no_window() {
    let soak = std::env::var_os("ZX1_SOAK").is_some_and(|it| it == "1");
    let count = if soak { 1_000 } else { 32 };
    let node = Devnet::builder().start().await.unwrap();
    let m = Market::with_absences(|config| {
        config.nano.ledger = node.rpc_url();
        config.nano.ws = node.ws_url();
        config.nano.network = "dev".into();
    })
    .await;
    let w = World { m, node };
    let m = &w.m;
    let all: Vec<_> = iter(0..count).map(|n| prepare(&w, n)).buffer_unordered(16).collect::<Vec<_>>().await;

    // The node is gone for an hour: the market can ask it for nothing. The ledger itself goes on.
    let gone = Effect::Status { code: 502, body: "gone".into() };
    let fault = w.node.faults().add(FaultRule::new(On::default(), gone));
    eventually("the server notices", || async {
        (m.client.get("/readyz?for=paid", None).await.status == 503).then_some(())
    })
    .await;
    for one in all.iter().filter(|one| one.kind != Kind::LeftLate) {
        act(&w, one).await;
    }
    m.pass(m.client.terms.windows.grace).await;
    for one in all.iter().filter(|one| one.kind == Kind::LeftLate) {
        act(&w, one).await;
    }
    for _ in 0..60 {
        m.pass(Millis::secs(60)).await;
        // Every timer that is due runs, and nothing is paid.
        for one in all.iter().filter(|one| matches!(one.kind, Kind::Unpaid | Kind::Reserved)).take(8) {
            m.server().engine().run(one.id).await.unwrap();
        }
    }
    for one in &all {
        let case = m.server().engine().run(one.id).await.unwrap();
        let waits = matches!(one.kind, Kind::Unpaid | Kind::PaidUnseen | Kind::Reserved);
        assert_eq!(case.state().is_terminal(), !waits, "{:?}: {}", one.kind, case.state().as_str());
        if one.kind == Kind::Reserved {
            assert!(case.reserved_for().is_some(), "the agent may still pay");
        }
    }
    assert_eq!(w.balance("platform"), Raw::ZERO, "no payout without a node");

    w.node.faults().remove(fault);
    eventually("the server sees it again", || async {
        (m.client.get("/readyz?for=paid", None).await.status == 200).then_some(())
    })
    .await;
    iter(&all).for_each_concurrent(16, |one| finish(&w, one)).await;

    // To the raw, and to the party that it is due.
    let (mut platform, mut charity) = (Vec::new(), Vec::new());
    for one in &all {
        let (state, row) = one.end();
        m.client.until(one.id, &m.principal, state).await;
        let amount = |name: &str| row.as_ref().map_or(Raw::ZERO, |row| xno(row[name].as_str().unwrap()));
        let principal = if row.is_some() { amount("principal") } else { xno("0.67") };
        for (side, due) in [("principal", principal), ("agent", amount("agent"))] {
            let name = payout(side, one.n);
            eventually(&format!("{:?} {name} has {due}", one.kind), || async {
                (w.balance(&name) == due).then_some(())
            })
            .await;
        }
        platform.push(amount("platform"));
        charity.push(amount("charity"));
    }
    for (name, due) in [("platform", sum(platform.into_iter())), ("charity", sum(charity.into_iter()))] {
        eventually(&format!("{name} has {due}"), || async { (w.balance(name) == due).then_some(()) }).await;
    }
    w.node.audit().unwrap();
    let escrow = m.server().engine().desk().unwrap().escrow().clone();
    let audit = eventually("the journal agrees with the ledger, and holds nothing", || async {
        escrow.audit(true).await.ok().filter(|it| it.is_clean() && it.held == Raw::ZERO)
    })
    .await;
    assert_eq!((audit.receivable, audit.paid_in), (Raw::ZERO, audit.paid_out));
    for one in &all {
        m.sound(one.id, one.end().0).await;
    }
    eventually("nothing waits, and there is nothing to look at", || async {
        let text = m.client.get("/metrics", None).await.text;
        let zero =
            ["outbox", "dead_letters", "escrow_open_alarms", "stopped_contracts", "escrow_stopped_accounts"];
        zero.iter().all(|name| text.contains(&format!("\nfix_market_{name} 0\n"))).then_some(())
    })
    .await;
}
