//! Every page shows the numbers of the ledgers and the market, as `zx1`, `fix` and the Nano ledger say them.

use crate::support::{Stage, cells, figures, grouped, rows, score, short, usdc, xno};
use serde_json::Value;
use zx1_e2e::wait_until;
use zx1_explorer_tests::{HOSTILE, Page};

/// What the command lines say.
struct Said {
    leases: Vec<Value>,
    /// 0 where there is none.
    stakes: Vec<u64>,
    batches: Vec<Value>,
    challenges: Value,
    feedback: Value,
    contracts: Value,
    /// Alice's account on the Nano ledger: balance and receivable.
    earned: (u128, u128),
}

impl Said {
    fn ask(stage: &Stage) -> Self {
        let world = &stage.world;
        let each = |words: &[&str]| -> Vec<Value> {
            world.agents.iter().map(|one| one.zx1.json(words.iter().copied())).collect()
        };
        let stakes = world.agents.iter().map(|one| {
            let said = one.zx1.run(["--output", "json", "stake", "show"]);
            // 7500: there is none.
            if said.number() == Some(7500) { 0 } else { said.json()["stake_micro_usdc"].as_u64().unwrap() }
        });
        let any = &world.agents[0].zx1;
        // Alice has what the fulfilled contract owes her, to the raw; its blocks may come after its end.
        let deal = world.principal.show(&world.deals.fulfilled);
        let accounts = deal["settlements"][0]["accounts"].as_array().unwrap().iter();
        let legs = accounts.flat_map(|account| account["legs"].as_array().unwrap());
        let owed: u128 = legs
            .filter(|leg| leg["to"] == "agent")
            .map(|leg| text(&leg["amount"]).parse::<u128>().unwrap())
            .sum();
        let address = world.bind(&world.agents[0]);
        wait_until("Alice is paid", || (world.nano(&address) == (0, owed)).then_some(()));
        world.until_indexed(&format!("/v1/agents/{}", world.agents[0].mint), |it| {
            it["agent"]["nano"]["receivable_raw"] == owed.to_string()
        });
        Self {
            leases: each(&["lease", "show"]),
            stakes: stakes.collect(),
            batches: each(&["batch", "show", "--all"]),
            challenges: any.json(["challenge", "list"]),
            feedback: any.json(["feedback", "list"]),
            contracts: world.principal.run(&["contracts", "--all"]).ok().json(),
            earned: world.nano(&address),
        }
    }

    fn leases(&self, state: &str) -> usize {
        self.leases.iter().filter(|lease| lease["state"] == state).count()
    }
}

#[test]
fn every_page_shows_what_the_ledgers_and_the_market_say() {
    let stage = Stage::start();
    let said = Said::ask(&stage);
    let page = stage.page("");
    overview(&stage, &said, &page);
    agents(&stage, &said, &page);
    one_agent(&stage, &said, &page);
    batches(&stage, &said, &page);
    challenges(&stage, &said, &page);
    contracts(&stage, &said, &page);
    feedback(&stage, &said, &page);
    events(&stage, &said, &page);
    status(&stage, &page);
    page.assert_clean("the pages");
}

fn count(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn overview(stage: &Stage, said: &Said, page: &Page) {
    let found = figures(page);
    let shows = |name: &str, value: &str, remark: &str| {
        assert_eq!(found[name], (value.to_owned(), remark.to_owned()), "{name}");
    };
    let [active, grace, dead, none] = ["active", "grace", "deactivated", "none"].map(|it| said.leases(it));
    let remark = format!("{active} active, {grace} in grace, {dead} deactivated, {none} without lease");
    shows("Agents", &said.leases.len().to_string(), &remark);
    shows("Staked now", &usdc(said.stakes.iter().sum()), "slashed so far: 0.00 USDC");
    let treasury = stage.world.net.usdc(&stage.world.net.env().treasury.parse().unwrap());
    shows("Leases paid", &usdc(treasury), "since the beginning");
    shows("Nano balance", &xno(said.earned.0), "of all bound agents");
    let batches: usize = said.batches.iter().map(|one| count(&one["batches"])).sum();
    shows("Batches", &batches.to_string(), "the data of all is served");
    let challenges = said.challenges["challenges"].as_array().unwrap();
    let open = challenges.iter().filter(|one| one["state"] == "open").count();
    shows("Challenges", &challenges.len().to_string(), &format!("{open} open, 0 succeeded"));
    let contracts = said.contracts.as_array().unwrap();
    let open = contracts.iter().filter(|one| one["state"] == "open").count();
    shows("Contracts", &contracts.len().to_string(), &format!("{open} open for an agent"));
    let entries = said.feedback["entries"].as_array().unwrap();
    let resolved = entries.iter().filter(|one| one["resolution"].is_object()).count();
    shows("Feedback", &format!("{} entries", entries.len()), &format!("{resolved} resolved"));
}

fn agents(stage: &Stage, said: &Said, page: &Page) {
    stage.go(page, "#/agents");
    let found = rows(page, "#main");
    assert_eq!(found.len(), stage.world.agents.len());
    for (at, agent) in stage.world.agents.iter().enumerate() {
        let row = &found[at];
        assert_eq!(row["Agent"], format!("{} #{} · {}", agent.name, at + 1, short(&agent.mint)));
        let lease = &said.leases[at];
        match lease["state"].as_str().unwrap() {
            "none" => assert_eq!(row["Lease"], "no lease"),
            state => {
                let day = day(number(&lease["paid_through_epoch"]));
                let to = if state == "active" { "to" } else { "paid to" };
                assert_eq!(row["Lease"], format!("{state} {to} {day}"));
            }
        }
        let stake = match said.stakes[at] {
            0 => "none".to_owned(),
            stake => usdc(stake),
        };
        let against = |one: &&Value| one["agent"] == agent.mint.as_str() && one["state"] == "open";
        let all = said.challenges["challenges"].as_array().unwrap();
        let stake = match all.iter().filter(against).count() {
            0 => stake,
            open => format!("{stake} {open} open challenge"),
        };
        assert_eq!(row["Stake"], stake, "{}", agent.name);
        assert_eq!(row["Batches"], count(&said.batches[at]["batches"]).to_string(), "{}", agent.name);
        assert_eq!(row["Lost"], "0");
    }
    // Nothing was made of the third agent's name but text.
    assert_eq!(stage.world.agents[2].name, HOSTILE);
}

/// The day of an epoch.
fn day(epoch: u64) -> String {
    let seconds = epoch * 86_400;
    let output =
        std::process::Command::new("date").args(["-u", "-d", &format!("@{seconds}"), "+%F"]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
}

fn one_agent(stage: &Stage, said: &Said, page: &Page) {
    let alice = &stage.world.agents[0];
    stage.go(page, &format!("#/agents/{}", alice.mint));
    let found = figures(page);
    assert_eq!(found["Stake"].0, usdc(said.stakes[0]));
    assert_eq!(found["Lease"].0, text(&said.leases[0]["state"]));
    let paid = day(number(&said.leases[0]["paid_through_epoch"]));
    assert_eq!(found["Lease"].1, format!("paid through {paid}"));
    assert_eq!(found["Batches"], ("1".to_owned(), format!("last for {}", day(stage.world.epoch))));
    assert_eq!(found["Challenges lost"], ("0".to_owned(), "0 open, 0 answered".to_owned()));
    let (balance, receivable) = said.earned;
    assert!(receivable > 0, "Alice was paid");
    assert_eq!(found["Nano balance"], (xno(balance), format!("and {} to receive", xno(receivable))));
    let seen = alice.zx1.json(["reputation", "show", "--data", &stage.world.url]);
    let (scores, unbound) = (&seen["scores"], &seen["unbound"]);
    let milli = |vector: &Value, name: &str| score(vector[name].as_i64().unwrap());
    let table = cells(page, "[aria-labelledby='reputation']");
    assert!(scores["reliability_milli"] != 0 || unbound["reliability_milli"] != 0, "{seen}");
    for (row, name) in [
        ("Reliability", "reliability_milli"),
        ("Cooperation", "cooperation_milli"),
        ("Notary accuracy", "notary_milli"),
    ] {
        let found = table.iter().find(|cells| cells[0] == row).unwrap();
        assert_eq!((&found[1], &found[3]), (&milli(scores, name), &milli(unbound, name)), "{row}: {seen}");
    }
    for (row, name) in [("Tasks", "tasks"), ("Notarized", "notarized"), ("Disputes", "disputes")] {
        let found = table.iter().find(|cells| cells[0] == row).unwrap();
        assert_eq!(found[1], scores[name].to_string(), "{row}: {seen}");
    }
}

fn batches(stage: &Stage, said: &Said, page: &Page) {
    stage.go(page, "#/batches");
    let found = rows(page, "#main");
    for (at, agent) in stage.world.agents.iter().enumerate().take(2) {
        let batch = &said.batches[at]["batches"][0];
        let name = format!("{} {}", agent.name, short(&agent.mint));
        let row = found.iter().find(|row| row["Agent"] == name).unwrap_or_else(|| panic!("{found:?}"));
        let epoch = number(&batch["epoch"]);
        assert_eq!(row["Epoch"], format!("{} epoch {}", day(epoch), grouped(epoch)));
        assert_eq!(row["Log entries"], batch["log_len"].to_string());
        assert_eq!(row["Records"], batch["arrays_len"].to_string());
        let end = grouped(number(&batch["challengeable_through_slot"]));
        assert!(row["Window"].starts_with("open until") && row["Window"].ends_with(&end), "{row:?}");
        // The batch's own page.
        stage.go(page, &format!("#/agents/{}/batches/{epoch}", agent.mint));
        assert_eq!(figures(page)["Data"].0, "served");
        for hash in ["batch_hash", "log_merkle_root", "arrays_root", "signer"] {
            page.until_text(text(&batch[hash]));
        }
        stage.go(page, "#/batches");
    }
    assert_eq!(found.len(), 2);
}

fn challenges(stage: &Stage, said: &Said, page: &Page) {
    let challenge = &said.challenges["challenges"][0];
    stage.go(page, "#/challenges");
    let found = rows(page, "#main");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["Challenge"], short(&stage.world.challenge));
    assert_eq!(
        (found[0]["State"].as_str(), &*found[0]["Ground"]),
        (text(&challenge["state"]), text(&challenge["ground"]))
    );
    stage.go(page, &format!("#/challenges/{}", stage.world.challenge));
    let found = figures(page);
    let until = grouped(number(&challenge["answerable_through_slot"]));
    assert!(found["Answer until"].0.ends_with(&format!("slot {until}")), "{found:?}");
    assert_eq!(found["Against"].0, "bob");
    page.until_text(text(&challenge["challenger"]));
}

fn contracts(stage: &Stage, said: &Said, page: &Page) {
    let world = &stage.world;
    stage.go(page, "#/contracts");
    let found = rows(page, "#main");
    assert_eq!(found.len(), count(&said.contracts));
    for contract in said.contracts.as_array().unwrap() {
        let id = text(&contract["id"]);
        let shown = world.principal.show(id);
        let entries = shown["total"].as_u64().unwrap();
        let row = found.iter().find(|row| row["Task"].ends_with(id)).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(row["State"], text(&contract["state"]));
        let (task, bounty, transcript) = if id == world.deals.review {
            // Strangers see neither task nor bounty nor entries of a contract under way.
            ("Task not public".to_owned(), "not public".to_owned(), "private".to_owned())
        } else {
            let bounty = match text(&contract["bounty"]) {
                "0" => "free".to_owned(),
                bounty => format!("{bounty} XNO"),
            };
            (text(&contract["command"]).to_owned(), bounty, format!("valid {entries} entries"))
        };
        assert_eq!(row["Task"], format!("{task} {id}"));
        assert_eq!((&row["Bounty"], &row["Transcript"]), (&bounty, &transcript));
        // The contract's own page; parties are named by their keys.
        stage.go(page, &format!("#/contracts/{id}"));
        let figures = figures(page);
        assert_eq!((&*figures["State"].0, &figures["Bounty"].0), (text(&contract["state"]), &bounty));
        for party in ["principal", "agent"] {
            let title = page.text(&format!(
                "[...document.querySelectorAll('#main .figure')].find((f) => \
                 f.querySelector('dt').innerText.toLowerCase() === '{party}').querySelector('dd').innerHTML"
            ));
            match shown[party].as_str() {
                Some(key) => assert!(title.contains(key), "{party} of {id}: {title}"),
                None => assert!(title.contains("nobody yet"), "{party} of {id}: {title}"),
            }
        }
    }
}

fn feedback(stage: &Stage, said: &Said, page: &Page) {
    stage.go(page, "#/feedback");
    let found = page.eval(
        "[...document.querySelectorAll('#main .entry')].map((e) => [\
         e.querySelector('.entry-index').innerText, e.querySelector('a').title, \
         e.querySelector('.text').innerText, \
         e.querySelector('.resolution [title]')?.title ?? null])",
    );
    let entries = said.feedback["entries"].as_array().unwrap().iter();
    let expected: Vec<Value> = entries
        .map(|one| {
            let index = format!("#{}", one["index"]);
            let commit = &one["resolution"]["commit"];
            Value::from(vec![index.into(), one["sender"].clone(), one["text"].clone(), commit.clone()])
        })
        .collect();
    assert_eq!(found, Value::from(expected));
}

fn events(stage: &Stage, said: &Said, page: &Page) {
    stage.go(page, "#/events?limit=200");
    let found = rows(page, "#main");
    let shown = |name: &str| found.iter().filter(|row| row["Event"].starts_with(name)).count();
    let paid = said.leases.iter().filter(|lease| lease["paid_through_epoch"].is_u64()).count();
    assert_eq!(
        (shown("Lease paid"), shown("Stake locked")),
        (paid, said.stakes.iter().filter(|it| **it > 0).count())
    );
    assert_eq!(shown("Agent registered"), said.leases.len());
    assert_eq!((shown("Batch submitted"), shown("Challenge submitted")), (2, 1));
    assert_eq!(
        (shown("Feedback submitted"), shown("Feedback resolved")),
        (count(&said.feedback["entries"]), 1)
    );
}

fn status(stage: &Stage, page: &Page) {
    stage.go(page, "#/status");
    page.until_text("Live and complete");
    let world = &stage.world;
    let genesis = world.net.rpc("getGenesisHash", Value::Array(Vec::new())).unwrap();
    page.until_text(text(&genesis));
    page.until_text(text(&world.market["url"]));
    let found = figures(page);
    assert_eq!(found["Epoch"].0, grouped(number(&world.agents[0].zx1.json(["lease", "show"])["epoch"])));
    assert_eq!(found["Chain's stream"], ("subscribed".to_owned(), "Nano node reachable".to_owned()));
    assert_eq!(found["Events"].1, "no gap");
}
