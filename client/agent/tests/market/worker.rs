//! The agent against the real server: rules, models, money, disputes.

use std::sync::{Arc, Mutex};

use tokio::task::JoinHandle;
use zx1_agent::worker::{Config, Folder, Hooks, SubmittedFix, WorkError, Worker};
use zx1_home::SystemClock;
use zx1_market::chain::Data;
use zx1_market::contract::{Corrected, Run};
use zx1_market::counts::FixCounts;
use zx1_market::{Case, ContractId, EntryType, Millis, State};
use zx1_model::budget::{Budget, Limits, MemoryStore};
use zx1_model::{Line, Model, ModelError, Scripted};
use zx1_trial::{Bench as Proof, CannotRun, Job, Ran, ScriptedBench, Trial};

use crate::support::*;

pub(crate) fn quick() -> Config {
    Config { poll_ms: 10, discover_ms: 20, ..Config::default() }
}

/// What the hooks heard.
#[derive(Default)]
struct Heard {
    found: Mutex<Vec<ContractId>>,
    principals: Mutex<Vec<FixCounts>>,
    fixes: Mutex<Vec<SubmittedFix>>,
    ended: Mutex<Vec<(ContractId, State)>>,
    errors: Mutex<Vec<u32>>,
}

impl Hooks for Heard {
    fn on_contract_found(&self, case: &Case, principal: Option<FixCounts>) -> bool {
        self.found.lock().unwrap().push(case.id());
        self.principals.lock().unwrap().extend(principal);
        true
    }

    fn on_fix_submitted(&self, _: ContractId, fix: &SubmittedFix) {
        self.fixes.lock().unwrap().push(fix.clone());
    }

    fn on_ended(&self, contract: ContractId, state: State) {
        self.ended.lock().unwrap().push((contract, state));
    }

    fn on_error(&self, _: Option<ContractId>, error: &WorkError) {
        self.errors.lock().unwrap().push(error.code());
    }
}

/// An agent at work; it stops with the test.
struct Agent {
    heard: Arc<Heard>,
    task: JoinHandle<Result<(), WorkError>>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn agent(world: &World, n: u8, config: Config, more: impl FnOnce(Worker) -> Worker) -> Agent {
    let market = world.party(n).await;
    let folder = Folder::open(world.folder.path().join(format!("agent-{n}"))).unwrap();
    let heard = Arc::new(Heard::default());
    let worker = more(Worker::new(market, config, Box::new(folder)).with_hooks(heard.clone()));
    Agent { heard, task: tokio::spawn(worker.run(std::future::pending())) }
}

fn with_model(worker: Worker, model: Arc<dyn Model>) -> Worker {
    let budget =
        Budget::open(Limits::default(), Box::new(MemoryStore::default()), Arc::new(SystemClock)).unwrap();
    worker.with_model(model, budget)
}

/// How many records an agent keeps.
fn records(world: &World, n: u8) -> usize {
    std::fs::read_dir(world.folder.path().join(format!("agent-{n}"))).unwrap().count()
}

#[tokio::test]
async fn rules_repair_a_missing_library_flag_and_the_agent_is_paid() {
    let world = World::start().await;
    let (purse, address) = world.purse("agent", "3").await;
    let agent = agent(&world, 2, quick(), |worker| worker.with_purse(purse)).await;
    let bench = Bench::lacks_lm();
    let id = world.open(&bench.contract(&world.terms().await, "0.5", &[], |_| {})).await;
    let end = bench.serve(&world.principal, id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    eventually("the agent has its bond and the bounty", || async {
        (world.balance(address) == xno("3.45")).then_some(())
    })
    .await;
    let fixes = agent.heard.fixes.lock().unwrap().clone();
    assert_eq!(fixes.len(), 1);
    assert_eq!(fixes[0].corrected_command.as_deref(), Some("gcc app.c -o app -lm"));
    eventually("the record is gone", || async { (records(&world, 2) == 0).then_some(()) }).await;
    assert_eq!(*agent.heard.ended.lock().unwrap(), [(id, State::Fulfilled)]);
    assert!(agent.heard.errors.lock().unwrap().is_empty());
    // Before it bonded, the market had counted nothing of this principal; now it counts one fix that works.
    assert_eq!(*agent.heard.principals.lock().unwrap(), [FixCounts::default()]);
    let counted = world.principal.reputation(&world.principal.id()).await.unwrap();
    let once = FixCounts { fixes: 1, failed_outside: 0 };
    assert_eq!(counted.fixes(zx1_market::chain::Side::Principal, false), Some(once));
}

#[tokio::test]
async fn several_free_contracts_are_repaired_at_once_and_what_no_rule_knows_is_left() {
    let world = World::start().await;
    let _agent = agent(&world, 2, quick(), |worker| worker).await;
    let terms = world.terms().await;
    let benches: Vec<_> = (0..3).map(|_| Bench::lacks_folder()).collect();
    let mut ids = Vec::new();
    for bench in &benches {
        ids.push(world.open(&bench.contract(&terms, "", &[], |_| {})).await);
        world.clock.advance(Millis(1));
    }
    let strange = world.open(&Bench::unknown().contract(&terms, "", &[], |_| {})).await;
    let served = benches.iter().zip(&ids).map(|(bench, id)| bench.serve(&world.principal, *id, true));
    for end in futures_util::future::join_all(served).await {
        assert_eq!(end.state(), State::Fulfilled);
    }
    let left = world.principal.view(strange).await.unwrap();
    assert_eq!((left.state(), left.entries().len()), (State::Open, 2), "nobody bonded");
}

#[tokio::test]
async fn rules_that_must_read_first_ask_over_the_market() {
    let world = World::start().await;
    let _agent = agent(&world, 2, quick(), |worker| worker).await;
    let bench = Bench::new(
        "printf '#include <stdio.h>\\nint main(void) {\\n    int a = 3\\n    printf(\"%%d\", a);\\n    \
             return 0;\\n}\\n' > a.c",
        "gcc a.c -o app",
    );
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let end = bench.serve(&world.principal, id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    assert!(end.entries().iter().any(|e| e.kind() == EntryType::Result), "it read the source first");
}

#[tokio::test]
async fn a_contract_that_takes_no_corrected_command_is_left_by_who_knows_nothing_else() {
    let world = World::start().await;
    let agent = agent(&world, 2, quick(), |worker| worker).await;
    let terms = world.terms().await;
    let says = |bench: &Bench, word| bench.contract(&terms, "", &[], |e| e.corrected_command = word);
    // Known at once: it does not bond. Known after a look: it declines and says why.
    let (known, looked) = (Bench::lacks_lm(), Bench::new("printf 'build:\n' > Makefile", "make biuld"));
    let left = world.open(&says(&known, Some(Corrected::No))).await;
    let declined = world.open(&says(&looked, Some(Corrected::No))).await;
    // The first answer never comes from a person: the principal's client answers what it is asked.
    let view = eventually("it is declined", || async {
        let view = world.principal.view(declined).await.unwrap();
        for command in view.case().pending_investigations() {
            let (exit, output) = looked.sh(command);
            let _ = world.principal.result(declined, command, output, Some(exit), false).await;
        }
        view.entries().iter().any(|e| e.kind() == EntryType::Decline).then_some(view)
    })
    .await;
    let decline = view.entries().iter().find(|e| e.kind() == EntryType::Decline).unwrap();
    let (Data::Decline { reason }, _) = decline.read().unwrap() else { unreachable!() };
    assert!(reason.contains("corrected command"), "{reason}");
    // A repair of the world is as good as ever, and who asks may be offered another command.
    let world_bench = Bench::lacks_folder();
    let fixed = world.open(&says(&world_bench, Some(Corrected::No))).await;
    assert_eq!(world_bench.serve(&world.principal, fixed, true).await.state(), State::Fulfilled);
    for word in [Some(Corrected::Asks), Some(Corrected::Yes)] {
        let id = world.open(&says(&known, word)).await;
        assert_eq!(known.serve(&world.principal, id, true).await.state(), State::Fulfilled, "{word:?}");
        world.clock.advance(Millis(1));
    }
    let view = world.principal.view(left).await.unwrap();
    assert_eq!((view.state(), view.entries().len()), (State::Open, 2), "nobody bonded");
    assert!(agent.heard.errors.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_model_repairs_what_no_rule_knows_and_learns_from_a_failure() {
    let world = World::start().await;
    let script = Scripted::lines([
        r#"{"action":"investigate","command":"ls -la"}"#,
        r#"{"action":"propose","fix":"echo no > frob","explanation":"first try","corrected_command":null}"#,
        r#"{"action":"propose","fix":"touch frobnicator","explanation":"it was missing","corrected_command":"test -f frobnicator"}"#,
    ])
    .shared();
    let model = script.clone();
    let _agent = agent(&world, 2, quick(), |worker| with_model(worker, model)).await;
    let bench = Bench::unknown();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let end = bench.serve(&world.principal, id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    let kinds: Vec<_> = end.entries().iter().map(|e| e.kind().as_str()).collect();
    let expected =
        ["post", "opened", "bond", "investigate", "result", "accept", "fix", "verify", "fix", "verify"];
    assert_eq!(kinds, expected);
    let asked = script.asked();
    assert!(asked[1].messages[0].text.contains("frobnicator") || asked[1].messages[0].text.contains("total"));
    assert!(asked[2].messages[0].text.contains("verification_failed"), "{}", asked[2].messages[0].text);
}

#[tokio::test]
async fn when_all_models_are_limited_the_contract_goes_back_to_others() {
    let world = World::start().await;
    let limited =
        Scripted::function(|_| Line::Fail(ModelError::AllLimited { retry_after: PATIENCE })).shared();
    let config = Config { poll_ms: 10, discover_ms: 20, ..Config::free_agent() };
    let _first = agent(&world, 2, config, |worker| with_model(worker, limited)).await;
    let id = world.open(&Bench::unknown().contract(&world.terms().await, "", &[], |_| {})).await;
    let view = eventually("it was given back", || async {
        let view = world.principal.view(id).await.unwrap();
        view.entries().iter().any(|e| e.kind() == EntryType::Decline).then_some(view)
    })
    .await;
    assert_eq!(view.state(), State::Open);
}

#[tokio::test]
async fn money_bounds_are_kept() {
    let world = World::start().await;
    let (purse, address) = world.purse("agent", "1").await;
    let config =
        Config { min_bounty: xno("0.3"), max_bounty: xno("0.6"), max_at_stake: xno("0.8"), ..quick() };
    let agent = agent(&world, 2, config, |worker| worker.with_purse(purse)).await;
    let terms = world.terms().await;
    let bench = Bench::lacks_folder();
    let mut small = Vec::new();
    for bounty in ["0.2", "0.7"] {
        small.push(world.open(&bench.contract(&terms, bounty, &[], |_| {})).await);
    }
    let one = world.open(&bench.contract(&terms, "0.5", &[], |_| {})).await;
    world.until(one, State::Investigating).await;
    // 0.67 are at stake; another one would be too much.
    let two = world.open(&bench.contract(&terms, "0.4", &[], |_| {})).await;
    bench.serve(&world.principal, one, true).await;
    for id in small.into_iter().chain([two]) {
        let view = world.principal.view(id).await.unwrap();
        assert!(view.entries().iter().all(|e| e.kind() != EntryType::Bond), "{id}");
    }
    eventually("paid", || async { (world.balance(address) == xno("1.45")).then_some(()) }).await;
    assert!(agent.heard.errors.lock().unwrap().is_empty());
}

fn ran(exit: i32) -> Ran {
    Ran { run: Run { exit: Some(exit), ..Run::default() }, ..Ran::default() }
}

/// What a machine finds when the fix ends with `fix`, and the command with 1 before it and with `after` then.
fn finds(fix: i32, after: i32) -> Arc<dyn Proof> {
    let checks = vec![ran(after), ran(after)];
    let trial = Trial { control: vec![ran(1)], fix: ran(fix), checks, as_root: true, ..Trial::default() };
    Arc::new(ScriptedBench(Ok(trial)))
}

fn passes() -> Arc<dyn Proof> {
    finds(0, 0)
}

fn fails() -> Arc<dyn Proof> {
    finds(0, 1)
}

/// A principal that says no to every fix. How it stands when the contract closes or a dispute is filed.
async fn rejected(proof: Arc<dyn Proof>, inputs: &[&str]) -> (World, ContractId, Agent) {
    let world = World::start().await;
    let (purse, _) = world.purse("agent", "3").await;
    let worker = agent(&world, 2, quick(), |worker| worker.with_purse(purse).with_bench(proof)).await;
    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "0.5", inputs, |e| e.max_attempts = 1);
    let id = world.open(&contract).await;
    bench.serve(&world.principal, id, false).await;
    (world, id, worker)
}

#[tokio::test]
async fn a_rejected_fix_is_disputed_with_a_proof_only() {
    let (world, id, _agent) = rejected(passes(), &["a.c"]).await;
    let view = world.until(id, State::Disputed).await;
    let filed = view.entries().iter().find(|e| e.kind() == EntryType::DisputeFiled).unwrap();
    let (Data::DisputeFiled { argument, .. }, _) = filed.read().unwrap() else { unreachable!() };
    assert!(argument.contains("passed after it"), "{argument}");

    // A proof that fails, or none because there are no inputs: the contract ends at once.
    for (proof, inputs) in [(fails(), &["a.c"][..]), (passes(), &[][..])] {
        let (world, id, _agent) = rejected(proof, inputs).await;
        let view = world.until(id, State::Canceled).await;
        assert!(view.entries().iter().any(|e| e.kind() == EntryType::Waive));
        assert!(view.entries().iter().all(|e| e.kind() != EntryType::DisputeFiled));
    }
}

#[tokio::test]
async fn an_agent_answers_a_dispute_and_waives_what_it_cannot_prove() {
    use zx1_agent::courtroom::{CourtModels, Courtroom, CourtroomOptions};
    use zx1_agent::judge::{Outcome, scripted};
    let world = World::start().await;
    let (purse, address) = world.purse("agent", "3").await;
    let _agent = agent(&world, 2, quick(), |worker| worker.with_purse(purse)).await;
    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "0.5", &[], |_| {}).clone();
    let id = world.open(&contract).await;
    bench.until_fix(&world.principal, id).await;
    world.principal.dispute(id, "it does not what I wanted").await.unwrap();
    let models = CourtModels::all(scripted([Outcome::Canceled]).shared());
    let options =
        CourtroomOptions { poll: std::time::Duration::from_millis(20), ..CourtroomOptions::default() };
    let judge = Courtroom::new(world.party(9).await, models, fails(), options);
    let court = tokio::spawn(async move { judge.run(std::future::pending()).await });
    let view = world.until(id, State::Resolved).await;
    court.abort();
    let kinds: Vec<_> = view.entries().iter().map(|e| e.kind()).collect();
    assert!(kinds.contains(&EntryType::DisputeResponse) && kinds.contains(&EntryType::Waive));
    assert!(!kinds.contains(&EntryType::Appeal), "without a proof it does not appeal");
    // Its bond less the court's fee.
    eventually("the bond is back", || async { (world.balance(address) == xno("2.98")).then_some(()) }).await;
}

#[tokio::test]
async fn a_stuck_agent_leaves_and_the_contract_reopens() {
    let world = World::start().await;
    let _agent = agent(&world, 2, quick(), |worker| worker).await;
    // The rule's repair works, but the principal says no: the rules know nothing else.
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |e| e.max_attempts = 3)).await;
    bench.until_fix(&world.principal, id).await;
    world.principal.verify(id, false, "no".into(), Some(1), String::new()).await.unwrap();
    let view = eventually("it left", || async {
        let view = world.principal.view(id).await.unwrap();
        view.entries().iter().any(|e| e.kind() == EntryType::BackOut).then_some(view)
    })
    .await;
    assert_eq!(view.state(), State::Open);
    let fixes = view.entries().iter().filter(|e| e.kind() == EntryType::Fix).count();
    assert_eq!(fixes, 1, "the same repair is not proposed twice");
}

#[test]
fn a_job_that_cannot_be_run_again_says_why() {
    let CannotRun(why) = Job::of(&free_case(), &[]).unwrap_err();
    assert!(why.contains("no agent"), "{why}");
}

fn free_case() -> Case {
    let server = key(8);
    let terms = zx1_market::Terms::new(server.id(), address("platform")).unwrap();
    let contract = Bench::lacks_folder().contract(&terms, "", &[], |_| {});
    let (principal, market) = (key(1).id(), Some(terms.market()));
    let data = Data::Post { contract: contract.json().clone(), principal, payout: None, market };
    let post = zx1_market::Entry::sign(&data, zx1_market::chain::Head::GENESIS, START, &key(1));
    Case::start(post, &terms, START, &server).unwrap().0
}
