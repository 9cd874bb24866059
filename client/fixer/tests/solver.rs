//! The step machine that lets a model repair a command.

use futures_util::future::BoxFuture;
use zx1_fixer::solver::{Action, Bounds, Observation, Proposal, Solver, Step, Task, read_action};
use zx1_model::prompt::{FenceToken, PromptError};
use zx1_model::{Answer, Finish, Line, Model, ModelError, Request, Scripted, Spend, Usage};

const INVESTIGATE: &str = r#"{"action":"investigate","command":"cat app.c"}"#;
const ACCEPT: &str = r#"{"action":"accept"}"#;
const DECLINE: &str = r#"{"action":"decline","reason":"Not mine."}"#;
const PROPOSE: &str =
    r#"{"action":"propose","fix":"true","explanation":"It lacks -lm.","corrected_command":"gcc app.c -lm"}"#;
const SAY: &str = r#"{"action":"say","text":"Which compiler?"}"#;

fn task() -> Task {
    Task {
        command: "gcc app.c".into(),
        error: "undefined reference to `sqrt'".into(),
        environment: r#"{"os":"Linux"}"#.into(),
        capabilities: r#"{"sudo":{"available":false}}"#.into(),
        verification: r#"[{"method":"exit_code","expected":0}]"#.into(),
        ..Task::default()
    }
}

fn allowed(command: &str) -> Result<(), String> {
    if command.starts_with("cat ") { Ok(()) } else { Err(format!("{command} is not on the whitelist")) }
}

fn tokens() -> impl FnMut() -> Result<FenceToken, PromptError> + Send {
    let mut n = 0u8;
    move || {
        n += 1;
        Ok(FenceToken::from_bytes([n; 16]))
    }
}

fn solver(bounds: Bounds) -> Solver<'static> {
    Solver::new(task(), bounds, allowed, tokens())
}

fn answer(solver: &mut Solver<'_>, text: &str) -> Step {
    solver.step(Observation::Answered(Ok(text.into())))
}

fn proposal() -> Proposal {
    Proposal {
        fix: "true".into(),
        explanation: "It lacks -lm.".into(),
        corrected_command: Some("gcc app.c -lm".into()),
    }
}

fn output(text: &str) -> Observation {
    Observation::Output { exit: Some(0), text: text.into() }
}

#[tokio::test]
async fn a_contract_is_investigated_taken_and_fixed_ok() {
    let model = Scripted::lines([INVESTIGATE, ACCEPT, PROPOSE]);
    let mut solver = solver(Bounds::default());
    let action = solver.drive(&model, Observation::Begin).await;
    assert_eq!(action, Action::Investigate("cat app.c".into()));
    assert_eq!(solver.drive(&model, output("#include <math.h>")).await, Action::Accept);
    assert_eq!(solver.drive(&model, Observation::Accepted).await, Action::Propose(proposal()));
    let asked = model.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[1].messages[0].text.contains("| #include <math.h>"));
    assert!(asked[1].messages[0].text.contains("Rounds left: 4."));
    assert!(asked[2].messages[0].text.contains("You have taken the contract."));
    assert!(asked.iter().all(|r| r.json && r.messages.len() == 1));
    // Every prompt has a fence of its own.
    assert!(asked[0].system.contains(&"01".repeat(16)) && asked[1].system.contains(&"02".repeat(16)));
}

#[tokio::test]
async fn a_proposal_while_investigating_accepts_first_and_asks_no_more() {
    let model = Scripted::lines([PROPOSE]);
    let mut solver = solver(Bounds::default());
    assert_eq!(solver.drive(&model, Observation::Begin).await, Action::Accept);
    assert_eq!(solver.drive(&model, Observation::Accepted).await, Action::Propose(proposal()));
    assert_eq!(model.calls(), 1);
}

#[tokio::test]
async fn another_command_is_not_proposed_where_the_contract_takes_none() {
    let refusing = || {
        let task = Task { refuses_corrected: true, ..task() };
        Solver::new(task, Bounds::default(), allowed, tokens())
    };
    let model = Scripted::lines([PROPOSE, PROPOSE]);
    let mut solver = refusing();
    let Action::Decline(_) = solver.drive(&model, Observation::Begin).await else { panic!("it insists") };
    let asked = model.asked();
    assert!(asked[0].messages[0].text.contains("takes no corrected command"));
    assert!(asked[1].messages[0].text.contains("propose a fix without one"));
    // Once told, it may find another way.
    let other = r#"{"action":"propose","fix":"make lib","explanation":"x","corrected_command":null}"#;
    let model = Scripted::lines([PROPOSE, other]);
    let mut solver = refusing();
    assert_eq!(solver.drive(&model, Observation::Begin).await, Action::Accept);
    let Action::Propose(proposal) = solver.drive(&model, Observation::Accepted).await else { panic!() };
    assert_eq!((proposal.fix.as_str(), proposal.corrected_command), ("make lib", None));
}

#[tokio::test]
async fn a_fix_that_failed_is_shown_and_another_is_proposed() {
    let model = Scripted::lines([PROPOSE, PROPOSE, PROPOSE]);
    let mut solver = solver(Bounds { attempts: 2, ..Bounds::default() });
    solver.drive(&model, Observation::Begin).await;
    solver.drive(&model, Observation::Accepted).await;
    let failed = Observation::Verified { text: "still undefined".into() };
    assert_eq!(solver.drive(&model, failed.clone()).await, Action::Propose(proposal()));
    assert!(model.asked()[1].messages[0].text.contains("| still undefined"));
    let Action::Decline(reason) = solver.drive(&model, failed).await else { panic!("no attempt is left") };
    assert_eq!(reason, "No attempt is left.");
    assert_eq!(model.calls(), 2);
    assert!(solver.ended());
}

#[test]
fn a_refused_command_is_told_and_costs_no_round() {
    let mut solver = solver(Bounds::default());
    solver.step(Observation::Begin);
    let Step::Ask(request) = answer(&mut solver, r#"{"action":"investigate","command":"rm -rf /"}"#) else {
        panic!("the model is asked again")
    };
    assert!(request.messages[0].text.contains("| rm -rf / is not on the whitelist"));
    assert_eq!(solver.bounds_left().rounds, 5);
    assert_eq!(answer(&mut solver, INVESTIGATE), Step::Act(Action::Investigate("cat app.c".into())));
    assert_eq!(solver.bounds_left().rounds, 4);
}

#[test]
fn refused_commands_without_end_decline() {
    let mut solver = solver(Bounds { refusals: 2, ..Bounds::default() });
    solver.step(Observation::Begin);
    let evil = r#"{"action":"investigate","command":"sh"}"#;
    assert!(matches!(answer(&mut solver, evil), Step::Ask(_)));
    assert!(matches!(answer(&mut solver, evil), Step::Ask(_)));
    assert!(matches!(answer(&mut solver, evil), Step::Act(Action::Decline(_))));
}

#[test]
fn no_investigation_after_the_last_round() {
    let mut solver = solver(Bounds { rounds: 1, ..Bounds::default() });
    solver.step(Observation::Begin);
    assert!(matches!(answer(&mut solver, INVESTIGATE), Step::Act(Action::Investigate(_))));
    solver.step(output("x"));
    let Step::Ask(request) = answer(&mut solver, INVESTIGATE) else { panic!("one repair") };
    assert!(request.messages[0].text.contains("no investigation round is left"));
    assert!(matches!(answer(&mut solver, INVESTIGATE), Step::Act(Action::Decline(_))));
}

#[test]
fn an_unreadable_answer_is_repaired_once_and_then_declined() {
    let mut solver = solver(Bounds::default());
    solver.step(Observation::Begin);
    let Step::Ask(request) = answer(&mut solver, "Sure! Let me look.") else { panic!("one repair") };
    assert!(
        request.messages[0]
            .text
            .contains("Your last answer was not taken: The answer is not exactly one JSON")
    );
    assert!(!request.messages[0].text.contains("Sure!"), "what it said is not repeated to it");
    assert!(matches!(answer(&mut solver, INVESTIGATE), Step::Act(Action::Investigate(_))));
    // A readable answer gives the repair back.
    let Step::Ask(request) = solver.step(output("x")) else { panic!() };
    assert!(!request.messages[0].text.contains("Your last answer"));
    assert!(matches!(answer(&mut solver, "?"), Step::Ask(_)));
    assert_eq!(
        answer(&mut solver, "?"),
        Step::Act(Action::Decline("The model's answers cannot be read.".into()))
    );
}

#[test]
fn messages_are_bounded() {
    let mut solver = solver(Bounds { says: 1, ..Bounds::default() });
    solver.step(Observation::Begin);
    assert_eq!(answer(&mut solver, SAY), Step::Act(Action::Say("Which compiler?".into())));
    let Step::Ask(request) = solver.step(Observation::Heard { text: "gcc 12".into() }) else { panic!() };
    assert!(request.messages[0].text.contains("| Which compiler?\n"));
    assert!(request.messages[0].text.contains("| gcc 12\n"));
    assert!(matches!(answer(&mut solver, SAY), Step::Ask(_)));
    assert!(matches!(answer(&mut solver, SAY), Step::Act(Action::Decline(_))));
}

#[test]
fn a_model_that_fails_declines_with_the_reason() {
    for error in [
        ModelError::AllLimited { retry_after: std::time::Duration::from_secs(9) },
        ModelError::OverBudget { why: "The cap.".into() },
        ModelError::Refused { why: "no".into() },
    ] {
        let mut solver = solver(Bounds::default());
        solver.step(Observation::Begin);
        let step = solver.step(Observation::Answered(Err(error.clone())));
        assert_eq!(step, Step::Act(Action::Decline(error.to_string())));
    }
}

#[test]
fn a_decline_is_the_end() {
    let mut solver = solver(Bounds::default());
    solver.step(Observation::Begin);
    assert_eq!(answer(&mut solver, DECLINE), Step::Act(Action::Decline("Not mine.".into())));
    for observation in [Observation::Begin, Observation::Accepted, Observation::Answered(Ok(PROPOSE.into()))]
    {
        assert!(matches!(solver.step(observation), Step::Act(Action::Decline(_))));
    }
}

#[test]
fn without_randomness_nothing_is_asked() {
    let mut solver = Solver::new(task(), Bounds::default(), allowed, || Err(PromptError::Random));
    assert!(matches!(solver.step(Observation::Begin), Step::Act(Action::Decline(_))));
}

#[test]
fn a_huge_history_stays_within_bounds() {
    let mut solver = solver(Bounds { rounds: 1_000, calls: 1_000, ..Bounds::default() });
    solver.step(Observation::Begin);
    let mut longest = 0;
    for _ in 0..100 {
        assert!(matches!(answer(&mut solver, INVESTIGATE), Step::Act(_)));
        let Step::Ask(request) = solver.step(output(&"\u{0}<|x\n".repeat(100_000))) else { panic!() };
        longest = longest.max(request.messages[0].text.len());
    }
    assert!(longest < 100 << 10, "{longest}");
}

/// Answers what can be read, but cut.
struct Cut;

impl Model for Cut {
    fn name(&self) -> &str {
        "cut"
    }

    fn worst_case(&self, _: &Request) -> Spend {
        Spend::default()
    }

    fn complete<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async {
            Ok(Answer {
                text: PROPOSE.into(),
                usage: Usage::default(),
                micro_usd: 0,
                model: "cut".into(),
                finish: Finish::Length,
            })
        })
    }
}

#[tokio::test]
async fn a_cut_answer_is_none() {
    let mut solver = solver(Bounds::default());
    assert!(matches!(solver.drive(&Cut, Observation::Begin).await, Action::Decline(_)));
}

#[tokio::test]
async fn a_model_that_never_comes_to_an_end_is_stopped() {
    for line in [INVESTIGATE, SAY, ACCEPT, "?", PROPOSE] {
        let model = Scripted::function(move |_| Line::from(line));
        let mut solver = solver(Bounds { rounds: 1_000, says: 1_000, attempts: 1_000, ..Bounds::default() });
        let mut observation = Observation::Begin;
        let mut actions = 0;
        loop {
            observation = match solver.drive(&model, observation).await {
                Action::Decline(_) => break,
                Action::Investigate(_) => output("x"),
                Action::Say(_) => Observation::Said,
                Action::Accept => Observation::Accepted,
                Action::Propose(_) => Observation::Verified { text: "no".into() },
            };
            actions += 1;
        }
        assert!(model.calls() <= 24 && actions <= 26, "{line}: {} {actions}", model.calls());
    }
}

#[test]
fn only_the_five_shapes_are_actions() {
    for good in [INVESTIGATE, ACCEPT, DECLINE, PROPOSE, SAY] {
        read_action(good).unwrap();
        let more = good.replacen('{', "{\"more\":1,", 1);
        assert_eq!(read_action(&more).unwrap_err().code(), 9357, "{more}");
    }
    let long = format!(r#"{{"action":"investigate","command":"{}"}}"#, "x".repeat(1_001));
    for bad in [
        "{}",
        r#"{"action":"Accept"}"#,
        r#"{"action":"accept","command":"ls"}"#,
        r#"{"action":["accept"]}"#,
        r#"{"action":"investigate"}"#,
        r#"{"action":"investigate","command":""}"#,
        r#"{"action":"investigate","command":"ls\nrm x"}"#,
        r#"{"action":"investigate","command":"ls\rrm x"}"#,
        r#"{"action":"investigate","command":["ls"]}"#,
        r#"{"action":"decline"}"#,
        r#"{"action":"decline","reason":" "}"#,
        r#"{"action":"propose","fix":"x"}"#,
        r#"{"action":"propose","explanation":"x"}"#,
        r#"{"action":"propose","fix":"a\u0000","explanation":"x"}"#,
        r#"{"action":"propose","fix":"a\u001b[2Jb","explanation":"x"}"#,
        r#"{"action":"propose","fix":"a\rb","explanation":"x"}"#,
        r#"{"action":"propose","fix":"a","explanation":"x","corrected_command":7}"#,
        r#"{"action":"propose","fix":"a","explanation":"x","corrected_command":"a\nb"}"#,
        r#"{"action":"propose","fix":"a","explanation":"x","corrected_command":""}"#,
        long.as_str(),
    ] {
        assert_eq!(read_action(bad).unwrap_err().code(), 9357, "{bad}");
    }
    let plain = r#"{"action":"propose","fix":"a\n\tb","explanation":"x","corrected_command":null}"#;
    assert!(matches!(read_action(plain).unwrap(), Action::Propose(p) if p.corrected_command.is_none()));
}
