//! Words between the parties: `fix chat`, and the agent's question on the terminal of a running fix.

use crate::support::{Home, Http, Market, Service, said};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A model that accepts, asks a question with a hostile letter in it, waits, and proposes `touch done`.
struct Model {
    http: Http,
    go_on: Sender<()>,
    asked: Receiver<String>,
}

fn model() -> Model {
    let (go_on, wait) = channel();
    let (told, asked) = channel();
    let state = Mutex::new((0, wait));
    let http = Http::serve(move |body| {
        let mut state = state.lock().unwrap();
        state.0 += 1;
        let action = match state.0 {
            1 => json!({ "action": "accept" }),
            2 => json!({ "action": "say", "text": "Which name?\u{1b}[2J" }),
            _ => {
                // The test says when; it may have ended.
                let _ = state.1.recv();
                let _ = told.send(body.to_owned());
                json!({ "action": "propose", "fix": "touch done", "explanation": "Trust me." })
            }
        };
        let choice = json!({ "message": { "content": action.to_string() }, "finish_reason": "stop" });
        Some(json!({ "choices": [choice], "usage": {} }).to_string())
    });
    Model { http, go_on, asked }
}

fn agent(market: &Market, agents: &Home, model: &Model) -> Service {
    let named = format!("openai:asking@{}", model.http.url);
    market.agent(agents, &["--no-rules", "--model", &named])
}

fn id(home: &Home, market: &Market) -> String {
    let listed = home.fix(["--json", "--server", market.url(), "contracts", "--all"]);
    let listed: Value = serde_json::from_str(listed.ok()).unwrap();
    listed[0]["id"].as_str().unwrap().to_owned()
}

fn asked(home: &Home, market: &Market) -> Terminal {
    let mut terminal = Terminal::start(home.command(["--server", market.url(), "test", "-f", "done"]));
    terminal.wait_for("Send this? [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("The agent asks: Which name?");
    terminal.wait_for("Your answer (Enter: none");
    terminal
}

#[test]
fn an_answer_on_the_terminal_reaches_the_agent_without_its_secrets() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let model = model();
    let _agent = agent(&market, &agents, &model);
    let mut terminal = asked(&home, &market);
    terminal.type_keys("call it done, password=hunter2hunter2\r");
    terminal.wait_for("You answer: call it done, password=[REDACTED:password]");
    model.go_on.send(()).unwrap();
    terminal.wait_for("Apply the fix? [y/N]");
    terminal.type_keys("y\r");
    let id = id(&home, &market);
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("\u{1b}[2J"), "{seen:?}");
    let shown = home.fix(["--json", "--server", market.url(), "chat", &id]);
    let shown: Value = serde_json::from_str(shown.ok()).unwrap();
    let kinds: Vec<&str> =
        shown["said"].as_array().unwrap().iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ask", "answer"], "{shown}");
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
}

#[test]
fn a_question_gives_way_to_the_fix_and_half_a_line_never_becomes_a_consent() {
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let model = model();
    let _agent = agent(&market, &agents, &model);
    let mut terminal = asked(&home, &market);
    terminal.type_keys("y");
    model.go_on.send(()).unwrap();
    terminal.wait_for("The agent goes on without an answer");
    terminal.wait_for("Apply the fix? [y/N]");
    terminal.type_keys("\r");
    terminal.wait_for("Why not?");
    terminal.kill();
    assert!(!home.work().join("done").exists());
}

#[test]
fn both_sides_talk_from_other_terminals_and_strangers_do_not() {
    let market = Market::start(&[]);
    let (home, agents, others) = (Home::new(), Home::new(), Home::new());
    let model = model();
    let _agent = agent(&market, &agents, &model);
    // With --yes the question is shown, and nobody is asked.
    let server = ["--server", market.url()];
    let line = ["--yes", "test", "-f", "done"];
    let mut terminal = Terminal::start(home.command(server.iter().chain(&line)));
    terminal.wait_for("The agent asks: Which name?");
    let id = id(&home, &market);
    let chat = |home: &Home, words: &[&str]| said(&mut home.command(server.iter().chain(words)));
    let shown = chat(&home, &["chat", &id]);
    assert!(shown.ok().contains("the agent asks: Which name?") && !shown.out.contains('\u{1b}'), "{shown:?}");
    assert!(chat(&home, &["chat", &id, "done; token=ghp_0123456789abcdefghijABCDEFGHIJ012345"]).code == 0);
    let theirs = chat(&agents, &["chat", "--as-agent", &id, "thank you"]);
    let lines: Vec<&str> = theirs.ok().lines().collect();
    assert!(lines[0].starts_with("you ask: Which name?"), "{lines:?}");
    assert!(lines[1].starts_with("the principal: done; ") && lines[1].contains("[REDACTED"), "{lines:?}");
    assert_eq!(lines[2], "you: thank you");
    terminal.wait_for("The agent says: thank you");
    assert!(chat(&others, &["chat", &id, "me too"]).code == 1);
    model.go_on.send(()).unwrap();
    let heard = model.asked.recv_timeout(crate::support::LIMIT).unwrap();
    assert!(!heard.contains("ghp_0123"), "{heard}");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(chat(&home, &["chat", &id, "too late"]).code, 1);
}
