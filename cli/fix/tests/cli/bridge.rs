//! The 0x01 envelopes of a contract between two parties with agent ids (decision G1), with real processes.

use crate::court::World;
use crate::local::NEEDS_LM;
use crate::registry::Cluster;
use crate::support::{Home, Http, LIMIT, Market};
use serde_json::Value;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use zx1_cli_common::keys;
use zx1_log::{LogReader, agent_dir};
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::BehaviorBatch;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::signature;
use zx1_protocol::units::{Epoch, Slot};

const PRINCIPAL: AgentId = AgentId([0xa1; 32]);
const AGENT: AgentId = AgentId([0xa2; 32]);
const JUDGE: AgentId = AgentId([0xa3; 32]);

fn epoch() -> Epoch {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Epoch::from_unix_micros(u64::try_from(since.as_micros()).unwrap())
}

/// A batch that is built of an agent's log, as `zx1 batch build` does: every entry is read and checked.
fn batch(home: &Home, agent: AgentId, from: Epoch) -> BehaviorBatch {
    let folder = agent_dir(&home.path().join(".config/zx1"), &agent);
    LogReader::new(folder, agent).build(Covered { from, to: epoch() }, Slot(1), Slot(100_000)).unwrap().batch
}

/// How many entries it has.
fn batched(home: &Home, agent: AgentId, from: Epoch) -> u32 {
    batch(home, agent, from).log_len
}

#[test]
fn both_logs_hold_the_envelopes_of_a_contract_and_a_batch_builds_from_each() {
    let from = epoch();
    let cluster = Cluster::start();
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    cluster.registers(PRINCIPAL, key_of(&home, "key.ed25519"));
    cluster.registers(AGENT, key_of(&agents, "agent.key"));
    let _agent = market.agent(&agents, &["--agent-id", &AGENT.to_string(), "--cluster", &cluster.url]);
    home.file("m.c", NEEDS_LM);
    let server = ["--json", "--server", market.url()];
    let line = ["--yes", "--accept-corrected", "--bounty", "0.5", "--market", "gcc", "m.c", "-o", "m"];
    let mut command = home.command(server.iter().chain(&line));
    command.env("FIX_AGENT_ID", PRINCIPAL.to_string()).env("FIX_CLUSTER", &cluster.url);
    let said = crate::support::said(&mut command);
    assert_eq!(said.code, 0, "{said:?}");
    let events = said.events();
    let end = events.iter().find(|event| event["event"] == "ended").unwrap();
    let id = end["contract"].as_str().unwrap();

    // The agent's own part may come after fix has ended; whoever looks at the contract logs it.
    let show = || {
        let mut command = home.command(server.iter().chain(&["show", id]));
        command.env("FIX_AGENT_ID", PRINCIPAL.to_string()).env("FIX_CLUSTER", &cluster.url);
        crate::support::said(&mut command).ok().to_owned()
    };
    let deadline = Instant::now() + LIMIT;
    // DISCOVER, PROPOSE, ACCEPT, DELIVER, two FEEDBACK; the agent got no broadcast.
    while (batched(&home, PRINCIPAL, from), batched(&agents, AGENT, from)) != (6, 5) {
        let found = (batched(&home, PRINCIPAL, from), batched(&agents, AGENT, from));
        assert!(Instant::now() < deadline, "{found:?}: {said:?}");
        show();
    }
    let transcript = std::fs::read_to_string(end["transcript"].as_str().unwrap()).unwrap();
    let transcript: Value = serde_json::from_str(&transcript).unwrap();
    let entries = transcript["transcript"].as_array().or(transcript["entries"].as_array()).unwrap();
    let carrying: Vec<&str> = entries
        .iter()
        .filter(|entry| entry["data"]["envelope"].is_string())
        .map(|entry| entry["type"].as_str().unwrap())
        .collect();
    assert_eq!(carrying, ["post", "bond", "accept", "fix", "feedback", "feedback"]);
    assert!(home.fix(["verify", id]).ok().contains("All "));
}

/// The public key in this file of a home; made if there is none.
fn key_of(home: &Home, file: &str) -> [u8; 32] {
    let path = home.path().join(".fix").join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !path.exists() {
        keys::write(&keys::random().unwrap(), &path).unwrap();
    }
    zx1_home::keys::public(&zx1_home::keys::read(&path).unwrap().seed)
}

#[test]
fn an_envelope_of_an_agent_that_is_another_wallets_is_not_logged() {
    let from = epoch();
    let cluster = Cluster::start();
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    cluster.registers(PRINCIPAL, key_of(&home, "key.ed25519"));
    // The agent that works here names an id that somebody else owns, and has a cluster that says otherwise.
    cluster.registers(AGENT, [0x99; 32]);
    let its = Cluster::start();
    its.registers(AGENT, key_of(&agents, "agent.key"));
    let _agent = market.agent(&agents, &["--agent-id", &AGENT.to_string(), "--cluster", &its.url]);
    home.file("m.c", NEEDS_LM);
    let server = ["--json", "--server", market.url()];
    let line = ["--yes", "--accept-corrected", "--bounty", "0.5", "--market", "gcc", "m.c", "-o", "m"];
    let mut command = home.command(server.iter().chain(&line));
    command.env("FIX_AGENT_ID", PRINCIPAL.to_string()).env("FIX_CLUSTER", &cluster.url);
    let said = crate::support::said(&mut command);
    assert_eq!(said.code, 0, "{said:?}");
    // Its own DISCOVER and FEEDBACK, and nothing of the other side.
    assert_eq!(batched(&home, PRINCIPAL, from), 2, "{said:?}");
}

#[test]
fn deals_are_signed_with_the_deal_key_of_the_settings() {
    let from = epoch();
    let cluster = Cluster::start();
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    cluster.registers(PRINCIPAL, key_of(&home, "key.ed25519"));
    let (own, deal) = (key_of(&agents, "agent.key"), key_of(&agents, "deal.key"));
    cluster.registers_with(AGENT, own, &[(own, Scopes::PEER), (deal, Scopes::DEAL)]);
    settings(&agents, "agent", AGENT, &cluster.url);
    let path = agents.path().join(".fix/config.toml");
    let text = std::fs::read_to_string(&path).unwrap() + "deal_key = \"~/.fix/deal.key\"\n";
    std::fs::write(&path, text).unwrap();
    let _agent = market.agent(&agents, &[]);
    home.file("m.c", NEEDS_LM);
    settings(&home, "principal", PRINCIPAL, &cluster.url);
    let line = ["--yes", "--accept-corrected", "--bounty", "0.5", "--market", "gcc", "m.c", "-o", "m"];
    let said = home.fix(["--json", "--server", market.url()].iter().chain(&line));
    assert_eq!(said.code, 0, "{said:?}");
    let events = said.events();
    let end = events.iter().find(|event| event["event"] == "ended").unwrap();
    let id = end["contract"].as_str().unwrap();
    let deadline = Instant::now() + LIMIT;
    while batched(&home, PRINCIPAL, from) != 6 {
        assert!(Instant::now() < deadline, "{said:?}");
        home.fix(["--server", market.url(), "show", id]).ok();
    }
    let transcript = std::fs::read_to_string(end["transcript"].as_str().unwrap()).unwrap();
    let transcript: Value = serde_json::from_str(&transcript).unwrap();
    let entries = transcript["transcript"].as_array().or(transcript["entries"].as_array()).unwrap();
    let mut signed = Vec::new();
    for kind in ["bond", "accept", "fix"] {
        let entry = entries.iter().find(|entry| entry["type"] == kind).unwrap();
        let bytes = hex::decode(entry["data"]["envelope"].as_str().unwrap()).unwrap();
        let envelope = Envelope::decode(&bytes).unwrap();
        let holds = |key: &[u8; 32]| signature::verify(key, &envelope.signing_bytes(), envelope.signature);
        signed.push((envelope.header.msg_type, holds(&own), holds(&deal)));
    }
    let (propose, accept) = ((MsgType::Propose, false, true), (MsgType::Accept, false, true));
    assert_eq!(signed, [propose, accept, (MsgType::Deliver, true, false)]);
}

#[test]
fn a_deal_key_that_is_missing_is_refused_before_anything_is_sent() {
    let home = Home::new();
    let named = PRINCIPAL.to_string();
    let options = ["--server", "http://127.0.0.1:9", "--agent-id", &named, "--cluster", "http://127.0.0.1:9"];
    let said =
        home.fix(options.iter().copied().chain(["--deal-key", "none.key", "--yes", "sh", "-c", "exit 7"]));
    assert!(said.code == 7 && said.err.contains("none.key"), "{said:?}");
}

/// Who is at work with an agent id, in the settings of its home.
fn settings(home: &Home, party: &str, agent: AgentId, cluster: &str) {
    std::fs::create_dir_all(home.path().join(".fix")).unwrap();
    let text = format!("[zx1]\n{party} = \"{agent}\"\ncluster = \"{cluster}\"\n");
    std::fs::write(home.path().join(".fix/config.toml"), text).unwrap();
}

#[test]
fn the_verdicts_of_a_judge_are_in_its_log_and_in_those_of_both_parties() {
    let from = epoch();
    let cluster = Cluster::start();
    let judges = Home::new();
    settings(&judges, "judge", JUDGE, &cluster.url);
    cluster.registers(JUDGE, key_of(&judges, "judge.key"));
    let mut world = World::start_by(judges, "halt = 30000\n", &["evil_principal", "canceled"]);
    cluster.registers(PRINCIPAL, key_of(&world.home, "key.ed25519"));
    cluster.registers(AGENT, key_of(&world.agents, "agent.key"));
    settings(&world.home, "principal", PRINCIPAL, &cluster.url);
    settings(&world.agents, "agent", AGENT, &cluster.url);
    world.agent = Some(world.market.scripted_agent(&world.agents, "touch done"));
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
    world.wait_for(&id, "ruling", 1);
    world.we(&["--yes", "appeal", &id, "look again"]).ok();
    world.wait_for(&id, "ruling", 2);
    world.assert_ended(&id, "resolved", "ruling_canceled", Some("appeals"));
    // Each ruling carries one to each party, signed by the judge.
    let judge = world.judges.fix(["judge", "--id"]).ok().trim().parse::<zx1_market::PartyId>().unwrap();
    let transcript = world.transcript(&id);
    let rulings: Vec<&Value> = transcript.iter().filter(|entry| entry["type"] == "ruling").collect();
    assert_eq!(rulings.len(), 2);
    for ruling in rulings {
        let texts = ruling["data"]["envelopes"].as_array().unwrap();
        let mut to = Vec::new();
        for text in texts {
            let bytes = hex::decode(text.as_str().unwrap()).unwrap();
            let envelope = Envelope::decode(&bytes).unwrap();
            assert_eq!((envelope.header.msg_type, envelope.header.sender()), (MsgType::Verdict, JUDGE));
            assert!(judge.verify(&envelope.signing_bytes(), envelope.signature));
            to.push(envelope.header.recipient());
        }
        assert_eq!(to, [PRINCIPAL, AGENT]);
    }
    // Received by each party: both rulings. Sent by the judge: one to each party of each ruling.
    let deadline = Instant::now() + LIMIT;
    loop {
        let received = [(&world.home, PRINCIPAL), (&world.agents, AGENT)]
            .map(|(home, agent)| batch(home, agent, from).tasks_completed);
        let sent = batch(&world.judges, JUDGE, from);
        if received == [2, 2] {
            assert_eq!((sent.notarizations, sent.log_len), (4, 4));
            break;
        }
        assert!(Instant::now() < deadline, "{received:?}");
        world.we(&["show", &id]).ok();
    }
    // Reading it again writes nothing twice.
    world.we(&["show", &id]).ok();
    assert_eq!(batch(&world.home, PRINCIPAL, from).tasks_completed, 2);
    assert!(world.we(&["verify", &id]).ok().contains("All "));
}

#[test]
fn a_judge_whose_cluster_is_gone_rules_all_the_same() {
    let judges = Home::new();
    settings(&judges, "judge", JUDGE, "http://127.0.0.1:9");
    let cluster = Cluster::start();
    let mut world = World::start_by(judges, "halt = 30000\n", &["canceled"]);
    cluster.registers(AGENT, key_of(&world.agents, "agent.key"));
    settings(&world.home, "principal", PRINCIPAL, &cluster.url);
    settings(&world.agents, "agent", AGENT, &cluster.url);
    world.agent = Some(world.market.scripted_agent(&world.agents, "touch done"));
    let (terminal, id) = world.at_the_consent(&[]);
    terminal.kill();
    world.we(&["--yes", "dispute", &id, "it never worked"]).ok();
    world.wait_for(&id, "ruling", 1);
    let transcript = world.transcript(&id);
    let ruling = transcript.iter().find(|entry| entry["type"] == "ruling").unwrap();
    assert!(ruling["data"]["envelopes"].is_null(), "{ruling}");
    world.assert_ended(&id, "resolved", "ruling_canceled", Some("district"));
}

#[test]
fn without_an_agent_id_no_envelope_is_made_and_no_cluster_is_asked() {
    let cluster = Http::serve(|body| panic!("the cluster is asked: {body}"));
    let market = Market::start(&[]);
    let (home, agents) = (Home::new(), Home::new());
    let _agent = market.agent(&agents, &["--cluster", &cluster.url]);
    home.file("m.c", NEEDS_LM);
    let line = ["--json", "--server", market.url(), "--cluster", &cluster.url, "--yes", "--accept-corrected"];
    let said = home.fix(line.iter().chain(&["--market", "gcc", "m.c", "-o", "m"]));
    assert_eq!(said.code, 0, "{said:?}");
    let events = said.events();
    let end = events.iter().find(|event| event["event"] == "ended").unwrap();
    assert!(!std::fs::read_to_string(end["transcript"].as_str().unwrap()).unwrap().contains("envelope"));
    assert!(!home.path().join(".config").exists() && !agents.path().join(".config").exists());
}

#[test]
fn an_agent_id_that_is_none_or_has_no_cluster_is_refused_before_anything_is_sent() {
    let home = Home::new();
    let run = |options: &[&str]| home.fix(options.iter().copied().chain(["--yes", "sh", "-c", "exit 7"]));
    let said = run(&["--server", "http://127.0.0.1:9", "--agent-id", "nonsense"]);
    assert!(said.code == 7 && said.err.contains("error 9397: "), "{said:?}");
    let named = PRINCIPAL.to_string();
    let said = run(&["--server", "http://127.0.0.1:9", "--agent-id", &named]);
    assert!(said.code == 7 && said.err.contains("error 9566: "), "{said:?}");
    let said = run(&["--server", "http://127.0.0.1:9", "--agent-id", &named, "--cluster", "nowhere"]);
    assert!(said.code == 7 && said.err.contains("error 9398: "), "{said:?}");
}

#[test]
fn the_settings_of_fix_and_then_of_zx1_name_agent_id_and_cluster() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join(".fix")).unwrap();
    std::fs::create_dir_all(home.path().join(".config/zx1")).unwrap();
    let settings = format!("[zx1]\nprincipal = \"{PRINCIPAL}\"\n");
    std::fs::write(home.path().join(".fix/config.toml"), settings).unwrap();
    std::fs::write(home.path().join(".config/zx1/config.toml"), "url = \"http://127.0.0.1:9\"\n").unwrap();
    // The cluster is zx1's, and nobody is there; the market is real, and gets no contract.
    let market = Market::start(&[]);
    let said = home.fix(["--server", market.url(), "--yes", "sh", "-c", "exit 7"]);
    assert!(said.code == 7 && said.err.contains("error 9395: "), "{said:?}");
    assert!(said.err.contains(&format!("agent id  {PRINCIPAL}")), "{said:?}");
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts"));
}
