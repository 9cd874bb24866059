//! Every way that a contract can take, against a server in a process of its own: after each the transcript
//! verifies offline, its states are legal, and the balances on the ledger are the money table's rows, to the
//! raw, for every bounty of the table. Then the same ways while the server is killed with SIGKILL at every
//! step.

use std::collections::BTreeSet;

use serde_json::Value;
use zx1_market::chain::{Data, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{Millis, State};

use crate::support::live::{Live, agent, of, principal};
use crate::support::{address, court_of, key, xno};

const BOUNTIES: &[&str] = &["0.5", "1", "100"];

/// Rows of the money table that a way ends with.
struct End {
    scenario: &'static str,
    court: Option<&'static str>,
    state: State,
}

const fn end(scenario: &'static str, state: State) -> End {
    End { scenario, court: None, state }
}

const fn ruled(scenario: &'static str, court: &'static str) -> End {
    End { scenario, court: Some(court), state: State::Resolved }
}

macro_rules! ways {
    ($($name:ident $(($($argument:expr),*))?: $end:expr;)*) => {
        /// All rows that some way ends with.
        fn covered() -> BTreeSet<(String, Option<String>)> {
            [$($end),*].iter().map(|end| (end.scenario.to_owned(), end.court.map(str::to_owned))).collect()
        }

        $(mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn ends_as_the_table_says() {
                let mut live = Live::start(false).await;
                super::script::$name(&mut live, BOUNTIES $($(, $argument)*)?).await;
                finish(&mut live, &$end).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn ends_so_though_the_server_is_killed_at_every_step() {
                let mut live = Live::start(true).await;
                super::script::$name(&mut live, &["0.5"] $($(, $argument)*)?).await;
                finish(&mut live, &$end).await;
            }
        })*
    };
}

async fn finish(live: &mut Live, end: &End) {
    live.paid_as(end.scenario, end.court, &[]).await;
    live.sound(end.state.as_str()).await;
}

mod rulings {
    use super::*;
    pub(super) use Court::{Appeals, District, Supreme};
    pub(super) use Outcome::{Canceled, EvilAgent, EvilBoth, EvilPrincipal, Fulfilled, Impossible};
}
use rulings::*;

ways! {
    fulfilled: end("fulfilled", State::Fulfilled);
    fulfilled_at_the_second_attempt: end("fulfilled", State::Fulfilled);
    accepted_in_review: end("fulfilled", State::Fulfilled);
    review_timed_out: end("fulfilled", State::Fulfilled);
    halted_and_resumed: end("fulfilled", State::Fulfilled);
    attempts_exhausted: end("canceled_attempts_exhausted", State::Canceled);
    attempts_timed_out: end("canceled_attempts_exhausted", State::Canceled);
    rejected_in_review: end("canceled_attempts_exhausted", State::Canceled);
    principal_left_in_grace: end("grace_cancel", State::Canceled);
    agent_left_in_grace: end("grace_cancel", State::Canceled);
    principal_left_late: end("late_cancel_by_principal", State::Canceled);
    principal_left_after_a_fix: end("late_cancel_after_fix", State::Canceled);
    agent_left_late: end("late_cancel_by_agent", State::Canceled);
    judge_was_late: end("voided", State::Voided);
    judge_of_a_halt_was_late: end("voided", State::Voided);
    district_fulfilled(Fulfilled, District): ruled("ruling_fulfilled", "district");
    district_canceled(Canceled, District): ruled("ruling_canceled", "district");
    district_impossible(Impossible, District): ruled("ruling_impossible", "district/principal");
    district_impossible_for_the_agent(District, Side::Agent): ruled("ruling_impossible", "district/agent");
    district_unreadable: ruled("ruling_impossible", "district");
    district_evil_agent(EvilAgent, District): ruled("ruling_evil_agent", "district");
    district_evil_principal(EvilPrincipal, District): ruled("ruling_evil_principal", "district");
    district_evil_both(EvilBoth, District): ruled("ruling_evil_both", "district");
    appeals_fulfilled(Fulfilled, Appeals): ruled("ruling_fulfilled", "appeals");
    appeals_canceled(Canceled, Appeals): ruled("ruling_canceled", "appeals");
    appeals_impossible(Impossible, Appeals): ruled("ruling_impossible", "appeals/agent");
    appeals_impossible_for_the_principal(Appeals, Side::Principal): ruled("ruling_impossible", "appeals/principal");
    appeals_evil_agent(EvilAgent, Appeals): ruled("ruling_evil_agent", "appeals");
    appeals_evil_principal(EvilPrincipal, Appeals): ruled("ruling_evil_principal", "appeals");
    appeals_evil_both(EvilBoth, Appeals): ruled("ruling_evil_both", "appeals");
    supreme_fulfilled(Fulfilled, Supreme): ruled("ruling_fulfilled", "supreme");
    supreme_canceled(Canceled, Supreme): ruled("ruling_canceled", "supreme");
    supreme_impossible(Impossible, Supreme): ruled("ruling_impossible", "supreme/principal");
    supreme_impossible_for_the_agent(Supreme, Side::Agent): ruled("ruling_impossible", "supreme/agent");
    supreme_evil_agent(EvilAgent, Supreme): ruled("ruling_evil_agent", "supreme");
    supreme_evil_principal(EvilPrincipal, Supreme): ruled("ruling_evil_principal", "supreme");
    supreme_evil_both(EvilBoth, Supreme): ruled("ruling_evil_both", "supreme");
}

/// Ways from `open` to every final state.
#[allow(unreachable_pub)]
mod script {
    use super::*;

    async fn working(live: &mut Live, bounties: &[&str], autonomous: bool) {
        live.post(bounties, autonomous).await;
        live.bond(&agent(), "agent").await;
        live.accept().await;
    }

    pub async fn fulfilled(live: &mut Live, bounties: &[&str]) {
        live.post(bounties, false).await;
        live.bond(&agent(), "agent").await;
        let command = "cat foo.c".to_owned();
        live.act("investigate", Data::Investigate { command: command.clone() }, &agent(), "investigating")
            .await;
        let result = Data::Result { command, output: "int".into(), exit_code: Some(0), refused: false };
        live.act("result", result, &principal(), "investigating").await;
        live.accept().await;
        live.act("chat", Data::Ask { message: "which bar?".into() }, &agent(), "in_progress").await;
        live.fix("in_progress").await;
        live.verify(true, "fulfilled").await;
    }

    pub async fn fulfilled_at_the_second_attempt(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.fix("in_progress").await;
        live.verify(false, "in_progress").await;
        live.fix("in_progress").await;
        live.verify(true, "fulfilled").await;
    }

    pub async fn accepted_in_review(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, true).await;
        live.fix("review").await;
        let accept = Data::ReviewAccept { explanation: "fine".into() };
        live.act("review", accept, &principal(), "fulfilled").await;
    }

    pub async fn review_timed_out(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, true).await;
        live.fix("review").await;
        live.pass(Millis::secs(59)).await;
        live.reach("review").await;
        live.pass(Millis::secs(1)).await;
        live.reach("fulfilled").await;
    }

    pub async fn halted_and_resumed(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.fix("in_progress").await;
        live.act("halt", Data::Halt { reason: "rm -rf".into() }, &principal(), "halted").await;
        live.act("resume", Data::Resume { reason: "my mistake".into() }, &principal(), "in_progress").await;
        live.verify(true, "fulfilled").await;
    }

    pub async fn attempts_exhausted(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        for _ in 0..2 {
            live.fix("in_progress").await;
            live.verify(false, "in_progress").await;
        }
        live.pass(live.client.terms.windows.objection).await;
        live.reach("canceled").await;
    }

    pub async fn attempts_timed_out(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        for (id, _) in &live.ids {
            assert_eq!(live.client.view(*id, &agent()).await["status"], "in_progress");
        }
        // Two attempts of 300 s without a fix, then nobody objects.
        for _ in 0..2 {
            live.pass(Millis::secs(300)).await;
            live.reach("in_progress").await;
        }
        live.pass(live.client.terms.windows.objection).await;
        live.reach("canceled").await;
    }

    pub async fn rejected_in_review(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, true).await;
        live.fix("review").await;
        live.act("review", Data::ReviewReject { reason: "no".into(), failure: None }, &principal(), "review")
            .await;
        live.act("waive", Data::Waive { side: Side::Agent }, &agent(), "canceled").await;
    }

    pub async fn principal_left_in_grace(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        let last = live.client.terms.windows.grace.minus(Millis(1));
        live.pass(last).await;
        live.act("back_out", Data::BackOut { reason: String::new() }, &principal(), "canceled").await;
    }

    pub async fn agent_left_in_grace(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.act("back_out", Data::BackOut { reason: String::new() }, &agent(), "open").await;
        live.pass(live.client.terms.windows.open).await;
        live.reach("canceled").await;
    }

    pub async fn principal_left_late(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.pass(live.client.terms.windows.grace).await;
        live.act("back_out", Data::BackOut { reason: String::new() }, &principal(), "canceled").await;
    }

    pub async fn principal_left_after_a_fix(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.fix("in_progress").await;
        live.act("back_out", Data::BackOut { reason: "thanks".into() }, &principal(), "in_progress").await;
        live.pass(live.client.terms.windows.objection).await;
        live.reach("canceled").await;
    }

    pub async fn agent_left_late(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.pass(live.client.terms.windows.grace).await;
        live.act("back_out", Data::BackOut { reason: String::new() }, &agent(), "open").await;
        live.pass(live.client.terms.windows.open).await;
        live.reach("canceled").await;
    }

    pub async fn judge_was_late(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.fix("in_progress").await;
        live.dispute(Side::Principal).await;
        live.respond(Side::Agent).await;
        let windows = live.client.terms.windows;
        live.pass(windows.reexecution.plus(windows.judge)).await;
        live.reach("voided").await;
    }

    pub async fn judge_of_a_halt_was_late(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.act("halt", Data::Halt { reason: "rm -rf".into() }, &principal(), "halted").await;
        let windows = live.client.terms.windows;
        live.pass(windows.halt).await;
        live.reach("halted").await;
        live.pass(windows.reexecution.plus(windows.judge)).await;
        live.reach("voided").await;
    }

    /// Disputed by either side, in either mode, answered or not, up to a court, until it is final by a
    /// waiver, by time or because no court is above.
    async fn judged(live: &mut Live, bounties: &[&str], outcome: Outcome, court: Court) {
        let which = Outcome::ALL.iter().position(|o| *o == outcome).unwrap();
        let level = Court::ALL.iter().position(|c| *c == court).unwrap();
        let autonomous = (which + level) % 2 == 1;
        working(live, bounties, autonomous).await;
        let windows = live.client.terms.windows;
        let mut filer = Side::Principal;
        if autonomous {
            live.fix("review").await;
        } else {
            live.fix("in_progress").await;
            live.verify(false, "in_progress").await;
            if which.is_multiple_of(4) {
                filer = Side::Agent;
            }
        }
        let response = if autonomous { Millis::secs(60) } else { windows.response };
        let appeal = if autonomous { Millis::secs(60) } else { windows.appeal };
        live.dispute(filer).await;
        for (i, now) in Court::ALL.iter().take(level + 1).enumerate() {
            if (which + i) % 3 == 0 {
                // In absentia.
                live.pass(response).await;
                live.reach("disputed").await;
            } else {
                live.respond(filer.other()).await;
            }
            if *now == court {
                break;
            }
            // Each lower court finds for the one that did not lose the last time.
            let (said, loser) = match i {
                0 => (Canceled, Side::Agent),
                _ => (Fulfilled, Side::Principal),
            };
            live.rule(said, *now, "disputed").await;
            filer = loser;
            live.appeal(filer).await;
        }
        if court == Supreme {
            return live.rule(outcome, court, "resolved").await;
        }
        live.rule(outcome, court, "disputed").await;
        let loser = [Side::Principal, Side::Agent].into_iter().find(|side| outcome.is_lost_by(*side));
        match loser {
            Some(side) if !outcome.is_lost_by(side.other()) && which % 2 == 1 => {
                live.act("waive", Data::Waive { side }, &of(side), "resolved").await;
            }
            _ => {
                live.pass(appeal).await;
                live.reach("resolved").await;
            }
        }
    }

    /// Each court below finds against who calls this one, and this one for nobody.
    async fn called_in_vain(live: &mut Live, bounties: &[&str], court: Court, filer: Side) {
        working(live, bounties, false).await;
        live.fix("in_progress").await;
        live.verify(false, "in_progress").await;
        live.dispute(filer).await;
        live.respond(filer.other()).await;
        let lost = if filer == Side::Principal { Fulfilled } else { Canceled };
        for below in Court::ALL.into_iter().take_while(|below| *below != court) {
            live.rule(lost, below, "disputed").await;
            live.appeal(filer).await;
            live.respond(filer.other()).await;
        }
        if court == Supreme {
            return live.rule(Impossible, court, "resolved").await;
        }
        live.rule(Impossible, court, "disputed").await;
        for side in [Side::Agent, Side::Principal] {
            let state = if side == Side::Agent { "disputed" } else { "resolved" };
            live.act("waive", Data::Waive { side }, &of(side), state).await;
        }
    }

    macro_rules! called_in_vain {
        ($($name:ident)*) => {$(
            pub async fn $name(live: &mut Live, bounties: &[&str], court: Court, filer: Side) {
                called_in_vain(live, bounties, court, filer).await;
            }
        )*};
    }
    called_in_vain! {
        district_impossible_for_the_agent appeals_impossible_for_the_principal supreme_impossible_for_the_agent
    }

    pub async fn district_unreadable(live: &mut Live, bounties: &[&str]) {
        working(live, bounties, false).await;
        live.fix("in_progress").await;
        live.dispute(Side::Principal).await;
        live.respond(Side::Agent).await;
        live.rule_unreadably("disputed").await;
        live.pass(live.client.terms.windows.appeal).await;
        live.reach("resolved").await;
    }

    macro_rules! judged {
        ($($name:ident)*) => {$(
            pub async fn $name(live: &mut Live, bounties: &[&str], outcome: Outcome, court: Court) {
                judged(live, bounties, outcome, court).await;
            }
        )*};
    }
    judged! {
        district_fulfilled district_canceled district_impossible
        district_evil_agent district_evil_principal district_evil_both
        appeals_fulfilled appeals_canceled appeals_impossible
        appeals_evil_agent appeals_evil_principal appeals_evil_both
        supreme_fulfilled supreme_canceled supreme_impossible
        supreme_evil_agent supreme_evil_principal supreme_evil_both
    }
}

#[test]
fn every_row_of_the_money_table_is_the_end_of_some_way() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/escrow_routing.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut rows, mut bounties) = (BTreeSet::new(), BTreeSet::new());
    for row in table["rows"].as_array().unwrap() {
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        rows.insert((text("scenario").unwrap(), court_of(row)));
        bounties.insert(text("bounty").unwrap());
    }
    assert_eq!(covered(), rows);
    assert_eq!(bounties, BOUNTIES.iter().map(|b| (*b).to_owned()).collect());
}

/// What the table has no row for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declined_contract_reopens_and_the_next_agent_is_paid() {
    let mut live = Live::start(false).await;
    live.post(BOUNTIES, false).await;
    live.bond(&key(3), "other").await;
    live.act("decline", Data::Decline { reason: "too hard".into() }, &key(3), "open").await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    live.verify(true, "fulfilled").await;
    let back = [("other 0.5", "0.67"), ("other 1", "1.17"), ("other 100", "100.17")];
    live.paid_as("fulfilled", None, &back).await;
    live.sound("fulfilled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_says_nothing_is_taken_to_decline() {
    let mut live = Live::start(false).await;
    live.post(&["0.5"], false).await;
    live.bond(&agent(), "agent").await;
    live.pass(live.client.terms.windows.investigation).await;
    live.reach("open").await;
    live.act("", Data::Cancel { reason: String::new() }, &principal(), "canceled").await;
    let whole = ["principal 0.5", "agent 0.5"].map(|name| (name.to_owned(), xno("0.67")));
    live.paid(&whole.into_iter().collect()).await;
    live.sound("canceled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn free_contracts_end_without_a_raw_being_moved() {
    for (autonomous, success, end) in
        [(false, true, "fulfilled"), (false, false, "canceled"), (true, true, "fulfilled")]
    {
        let mut live = Live::start(false).await;
        live.post(&[""], autonomous).await;
        live.accept().await;
        if autonomous {
            live.fix("review").await;
            live.pass(Millis::secs(60)).await;
        } else if success {
            live.fix("in_progress").await;
            live.verify(true, end).await;
        } else {
            live.fix("in_progress").await;
            live.verify(false, "in_progress").await;
            live.fix("in_progress").await;
            live.verify(false, end).await;
        }
        live.reach(end).await;
        for name in ["principal ", "agent ", "platform", "charity"] {
            assert!(live.balance(address(name)).await.is_zero());
        }
        live.sound(end).await;
    }
}
