//! Every page shows the numbers of the ledgers and the market, as `zx1`, `fix` and the Nano ledger say them.

use crate::support::{Stage, cells, figures, grouped, line, rows, score, short, usdc, xno};
use serde_json::Value;
use std::collections::BTreeMap;
use zx1_e2e::wait_until;
use zx1_explorer_tests::{HOSTILE, Page};

/// What the command lines say.
struct Said {
    leases: Vec<Value>,
    /// Of each agent its eras, by number.
    stakes: Vec<Vec<Value>>,
    /// Keys and tenure of each agent.
    keys: Vec<Value>,
    batches: Vec<Value>,
    challenges: Value,
    asks: Value,
    /// What the events of the settled ask's transaction say: the fine, and what the asker got.
    fine: [u64; 2],
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
            if said.number() == Some(7500) { Vec::new() } else { list(&said.json()["eras"]) }
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
        let settled = any.json(["inspect", "tx", &world.settled]);
        let settled = list(&settled["events"]).into_iter().find(|event| event["name"] == "AskSettled");
        let settled = settled.expect("an ask was settled");
        Self {
            leases: each(&["lease", "show"]),
            stakes: stakes.collect(),
            keys: each(&["keys", "list"]),
            batches: each(&["batch", "show", "--all"]),
            challenges: any.json(["challenge", "list"]),
            asks: any.json(["ask", "list"]),
            fine: ["fine", "to_asker"].map(|field| amount(&settled["fields"][field])),
            feedback: any.json(["feedback", "list"]),
            contracts: world.principal.run(&["contracts", "--all"]).ok().json(),
            earned: world.nano(&address),
        }
    }

    fn leases(&self, state: &str) -> usize {
        self.leases.iter().filter(|lease| lease["state"] == state).count()
    }

    /// What is staked for an agent, in all its eras.
    fn staked(&self, at: usize) -> u64 {
        self.stakes[at].iter().map(|era| number(&era["stake_micro_usdc"])).sum()
    }

    /// Of an agent's batches, those of this kind.
    fn of_batches(&self, at: usize, is: impl Fn(&Value) -> bool) -> Vec<Value> {
        list(&self.batches[at]["batches"]).into_iter().filter(is).collect()
    }

    fn withheld(&self, at: usize) -> usize {
        self.of_batches(at, |batch| batch["withheld"] == true).len()
    }

    /// How many epochs of an agent's tenure no batch covers: of a former one up to its end, of the present one up
    /// to the last that a batch covers.
    fn uncovered(&self, at: usize, tenure: u64) -> usize {
        let (from, to) = self.tenure(at, tenure);
        let covered = self.of_batches(at, |batch| batch["withheld"] == false);
        let covers = |epoch: u64| {
            let holds = |one: &Value| number(&one["covers_from"]) <= epoch && epoch <= number(&one["epoch"]);
            covered.iter().any(holds)
        };
        let last = covered.iter().map(|one| number(&one["epoch"])).max().map_or(from, |last| last + 1);
        (from..to.map_or(last, |to| to + 1)).filter(|epoch| !covers(*epoch)).count()
    }

    /// First and last epoch of an agent's tenure. This world's agents list a key and open their head on the day of
    /// the tenure.
    fn tenure(&self, at: usize, tenure: u64) -> (u64, Option<u64>) {
        let present = &self.keys[at]["tenure"];
        let (last, from) = (number(&present["number"]), number(&present["from_epoch"]));
        if tenure == last {
            return (from, None);
        }
        assert_eq!((tenure, last), (1, 2), "an agent was sold twice");
        let keys = list(&self.keys[at]["keys"]).into_iter().filter(|key| key["tenure"] == tenure);
        (keys.map(|key| number(&key["from_epoch"])).min().unwrap(), Some(from - 1))
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
    authority(&stage, &said, &page);
    asks(&stage, &said, &page);
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

fn list(list: &Value) -> Vec<Value> {
    list.as_array().unwrap_or_else(|| panic!("no list: {list}")).clone()
}

/// An amount, as a number or in digits.
fn amount(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("no amount: {value}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn overview(stage: &Stage, said: &Said, page: &Page) {
    money(stage, page);
    stage.go(page, "#/network");
    let found = figures(page);
    let shows = |name: &str, value: &str, remark: &str| {
        assert_eq!(found[name], (value.to_owned(), remark.to_owned()), "{name}");
    };
    let [active, grace, dead, none] = ["active", "grace", "deactivated", "none"].map(|it| said.leases(it));
    let remark = format!("{active} active, {grace} in grace, {dead} deactivated, {none} without lease");
    shows("Agents", &said.leases.len().to_string(), &remark);
    let staked = (0..said.stakes.len()).map(|at| said.staked(at)).sum();
    shows("Staked now", &usdc(staked), "slashed so far: 0.00 USDC");
    shows("Leases paid", &usdc(stage.world.leases), "since the beginning");
    let (balance, receivable) = said.earned;
    shows("Nano balance", &xno(balance + receivable), "of all bound agents, with what they may receive");
    let batches: usize = said.batches.iter().map(|one| count(&one["batches"])).sum();
    assert_eq!((0..said.batches.len()).map(|at| said.withheld(at)).sum::<usize>(), 1);
    shows("Batches", &batches.to_string(), "1 withheld: counts for nothing");
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

/// What the fulfilled contract has paid Alice for her work: 0.5 XNO less the platform's tenth.
const PAY: &str = "0.45 XNO";

fn money(stage: &Stage, page: &Page) {
    stage.world.until_indexed("/v1/network", |it| it["paid_to_agents_raw"] != "0");
    page.reload();
    page.settled();
    let found = figures(page);
    assert_eq!(found["Paid to agents"], (PAY.to_owned(), "for 1 repair".to_owned()));
    assert_eq!(found["Success rate"], ("100 %".to_owned(), "1 of 1 contract repaired".to_owned()));
    assert_eq!(found["Open bounties"].1, "none waits for an agent");
    assert!(found["Median time to a fix"].0.ends_with(" s"), "{found:?}");
    // The open contract comes first, though it is free.
    let first = rows(page, "[aria-labelledby='contracts']").remove(0);
    assert!(first["Task"].ends_with(&stage.world.deals.open), "{first:?}");
    page.until_text(&format!("was paid {PAY}"));
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
        let stake = if said.stakes[at].is_empty() { "none".to_owned() } else { usdc(said.staked(at)) };
        let against = |one: &&Value| one["agent"] == agent.mint.as_str() && one["state"] == "open";
        let all = said.challenges["challenges"].as_array().unwrap();
        let stake = match all.iter().filter(against).count() {
            0 => stake,
            1 => format!("{stake} 1 open challenge"),
            open => format!("{stake} {open} open challenges"),
        };
        assert_eq!(row["Stake"], stake, "{}", agent.name);
        let batches = match (count(&said.batches[at]["batches"]), said.withheld(at)) {
            (count, 0) => count.to_string(),
            (count, withheld) => format!("{count} {withheld} withheld"),
        };
        assert_eq!(row["Batches"], batches, "{}", agent.name);
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
    assert_eq!(found["Stake"].0, usdc(said.staked(0)));
    assert_eq!(found["Lease"].0, text(&said.leases[0]["state"]));
    let paid = day(number(&said.leases[0]["paid_through_epoch"]));
    assert_eq!(found["Lease"].1, format!("paid through {paid}"));
    assert_eq!(found["Batches"], ("2".to_owned(), format!("last for {}", day(stage.world.epoch))));
    assert_eq!(found["Challenges lost"], ("0".to_owned(), "0 open, 0 answered".to_owned()));
    let (balance, receivable) = said.earned;
    assert!(receivable > 0, "Alice was paid");
    let total = (xno(balance + receivable), format!("{} of it to receive", xno(receivable)));
    assert_eq!(found["Nano balance"], total);
    assert_eq!((&*found["Earned"].0, &*found["Success rate"].0), (PAY, "100 %"));
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

/// Whose turn an agent was, which keys act for it, and which stakes answer for it.
fn authority(stage: &Stage, said: &Said, page: &Page) {
    for (at, agent) in stage.world.agents.iter().enumerate() {
        stage.go(page, &format!("#/agents/{}", agent.mint));
        let under = |section: &str| rows(page, &format!("[aria-labelledby='{section}']"));
        let present = said.keys[at]["tenure"]["number"].as_u64();
        keys(&said.keys[at], &under("keys"));
        stakes(&said.stakes[at], &under("stakes"));
        let found = under("tenures");
        assert_eq!(found.len() as u64, present.unwrap_or_default(), "{}", agent.name);
        for (row, tenure) in found.iter().zip((1..=present.unwrap_or_default()).rev()) {
            let (from, to) = said.tenure(at, tenure);
            let (name, owner) = if Some(tenure) == present {
                (format!("Tenure {tenure} present"), text(&said.keys[at]["tenure"]["owner"]))
            } else {
                let keys = said.keys[at]["keys"].as_array().unwrap();
                let of_it = keys.iter().find(|key| key["tenure"] == tenure).unwrap();
                (format!("Tenure {tenure}"), text(&of_it["owner"]))
            };
            let end = to.map_or_else(|| "now".to_owned(), dated);
            let uncovered = match said.uncovered(at, tenure) {
                0 => "none".to_owned(),
                1 => "1 epoch".to_owned(),
                epochs => format!("{epochs} epochs"),
            };
            assert_eq!((&row["Tenure"], &row["Owner"]), (&name, &short(owner)));
            assert_eq!((&row["From"], &row["To"]), (&dated(from), &end));
            assert_eq!(row["Uncovered"], uncovered, "{name} of {}", agent.name);
        }
        let Some(present) = present else { continue };
        let head = page.text("document.querySelector('#main .agent-ids').innerText");
        assert!(
            head.contains(&format!("tenure {present} since {}", day(said.tenure(at, present).0))),
            "{head}"
        );
        if count(&said.batches[at]["batches"]) > 0 {
            // The client computes the present tenure's epochs itself.
            let seen = agent.zx1.json(["reputation", "show", "--data", &stage.world.url]);
            assert_eq!(number(&seen["uncovered_epochs"]), said.uncovered(at, present) as u64, "{seen}");
        }
        let note = page.text(
            "[...document.querySelectorAll(\"[aria-labelledby='reputation'] > p.small\")].at(-1).innerText",
        );
        let uncovered = match (1..=present).map(|tenure| said.uncovered(at, tenure)).sum() {
            0 => String::new(),
            1 => "1 epoch that no batch covers".to_owned(),
            epochs => format!("{epochs} epochs that no batch covers"),
        };
        let withheld = match said.withheld(at) {
            0 => String::new(),
            1 => "1 withheld batch".to_owned(),
            batches => format!("{batches} withheld batches"),
        };
        let left: Vec<String> = [uncovered, withheld].into_iter().filter(|note| !note.is_empty()).collect();
        if left.is_empty() {
            assert_eq!(note, "No epoch is uncovered and no batch is withheld.");
        } else {
            assert_eq!(note, format!("Left out, over all tenures: {}.", left.join(", ")));
        }
    }
    // The world has what this compares: a sale, and a batch that no longer covers its epoch.
    assert_eq!((said.stakes[2].len(), said.uncovered(2, 1), said.uncovered(0, 1)), (2, 3, 1));
}

fn keys(said: &Value, found: &[BTreeMap<String, String>]) {
    let keys = said["keys"].as_array().unwrap();
    assert_eq!(found.len(), keys.len(), "{found:?}");
    for key in keys {
        // A sold agent's former and new key are different ones.
        let name = short(text(&key["key"]));
        let row = found.iter().find(|row| row["Key"] == name).unwrap_or_else(|| panic!("{found:?}"));
        let state = match text(&key["standing"]) {
            "notice" => "not yet",
            "former" => "does not act",
            same => same,
        };
        assert!(row["State"].starts_with(state), "{row:?}: {key}");
        assert_eq!(row["Scopes"], text(&key["scopes"]).replace(',', " "));
        let last = key["until_epoch"].as_u64().map_or_else(|| "open".to_owned(), dated);
        assert_eq!((&row["First epoch"], &row["Last epoch"]), (&dated(number(&key["from_epoch"])), &last));
        let owner = short(text(&key["owner"]));
        assert_eq!((&row["Tenure"], &row["Listed by"]), (&key["tenure"].to_string(), &owner));
        assert_eq!(row["Ended"] == "–", state != "ended", "{row:?}");
    }
}

fn stakes(said: &[Value], found: &[BTreeMap<String, String>]) {
    assert_eq!(found.len(), said.len(), "{found:?}");
    // The newest era first.
    for (row, era) in found.iter().zip(said.iter().rev()) {
        assert_eq!(row["Era"], format!("Era {}", era["era"]));
        assert_eq!(row["Stake"], usdc(number(&era["stake_micro_usdc"])));
        assert_eq!(row["Open challenges"], era["open_challenges"].to_string());
        assert_eq!(row["Locked by"], short(text(&era["owner"])));
        let state = if era["is_present"] == true { "present" } else { "ended" };
        assert!(row["State"].starts_with(state), "{row:?}: {era}");
        match era["ended_slot"].as_u64() {
            None => assert_eq!(row["Ended"], "not yet"),
            Some(slot) => assert!(row["Ended"].ends_with(&format!("slot {}", grouped(slot))), "{row:?}"),
        }
    }
}

/// An epoch as tables write it.
fn dated(epoch: u64) -> String {
    format!("{} epoch {}", day(epoch), grouped(epoch))
}

fn asks(stage: &Stage, said: &Said, page: &Page) {
    let (world, alice) = (&stage.world, &stage.world.agents[0]);
    let all = said.asks["asks"].as_array().unwrap();
    assert_eq!(all.len(), 3, "{}", said.asks);
    let states = world.asks.each_ref().map(|ask| all.iter().find(|one| one["ask"] == **ask).unwrap());
    assert_eq!(states.map(|ask| text(&ask["state"])), ["settled", "shown", "open"]);
    for place in
        ["#/asks".to_owned(), format!("#/asks?agent={}", alice.mint), format!("#/agents/{}", alice.mint)]
    {
        stage.go(page, &place);
        let part = if place.contains("/agents/") { "[aria-labelledby='asks']" } else { "#main" };
        let found = rows(page, part);
        assert_eq!(found.len(), all.len(), "{place}");
        for ask in all {
            let name = short(text(&ask["ask"]));
            let row = found.iter().find(|row| row["Ask"] == name).unwrap_or_else(|| panic!("{found:?}"));
            assert_eq!(row["State"], text(&ask["state"]));
            assert_eq!(row["Batch"], dated(number(&ask["epoch"])));
            assert_eq!(row["Leaf"], format!("{} leaf {}", text(&ask["tree"]), ask["index"]));
            assert_eq!(row["Asked by"], short(text(&ask["asker"])));
            let fine = if ask["state"] == "settled" { usdc(said.fine[0]) } else { "–".to_owned() };
            assert_eq!(row["Fine"], fine, "{row:?}");
        }
    }
    for ask in all {
        let address = text(&ask["ask"]);
        stage.go(page, &format!("#/asks/{address}"));
        let found = figures(page);
        let account = alice.zx1.json(["inspect", "account", address]);
        assert_eq!((&*found["State"].0, &*found["Of"].0), (text(&ask["state"]), "alice"));
        assert_eq!(found["Leaf"], (ask["index"].to_string(), format!("of the {}", text(&ask["tree"]))));
        let until = grouped(number(&ask["showable_through_slot"]));
        assert!(found["Show until"].0.ends_with(&format!("slot {until}")), "{found:?}");
        if ask["state"] == "settled" {
            assert_eq!(
                (&found["Fine"].0, &found["To the asker"].0),
                (&usdc(said.fine[0]), &usdc(said.fine[1]))
            );
        }
        for whole in
            [address, text(&ask["asker"]), &format!("slot {}", grouped(number(&account["created_slot"])))]
        {
            page.until_text(whole);
        }
        let pairs = details(page);
        for (name, field) in [("Era", "era"), ("Place in the era's asks", "rank")] {
            assert_eq!(pairs[name], account[field].to_string(), "{name}: {account}");
        }
    }
    // What the fine took is gone from the stake, and stands on the agent's own page.
    stage.go(page, &format!("#/agents/{}", alice.mint));
    assert_eq!(details(page)["Fined"], usdc(said.fine[0]));
    assert!(said.fine[0] > 0 && said.staked(0) < 95_000_000 - said.fine[0] + 1_000_000);
}

/// Pairs of names and values in the details of a page.
fn details(page: &Page) -> BTreeMap<String, String> {
    let found = page.eval(
        "[...document.querySelectorAll('#main dl.pairs > div')]\
         .map((one) => [...one.children].map((it) => it.innerText))",
    );
    found.as_array().unwrap().iter().map(|one| (line(&one[0]), line(&one[1]))).collect()
}

fn batches(stage: &Stage, said: &Said, page: &Page) {
    stage.go(page, "#/batches");
    let found = rows(page, "#main");
    let mut met = 0;
    for (at, agent, batch) in stage.world.agents.iter().enumerate().flat_map(|(at, agent)| {
        list(&said.batches[at]["batches"]).into_iter().map(move |batch| (at, agent, batch))
    }) {
        met += 1;
        let name = format!("{} {}", agent.name, short(&agent.mint));
        let (epoch, covers_from) = (number(&batch["epoch"]), number(&batch["covers_from"]));
        let mut cell = dated(epoch);
        let covers = if covers_from < epoch {
            let epochs = epoch - covers_from + 1;
            cell = format!("{cell} covers {epochs} epochs");
            format!("covers {} to {}, {epochs} epochs", day(covers_from), day(epoch))
        } else {
            format!("covers {}", day(epoch))
        };
        let row = found.iter().find(|row| row["Agent"] == name && row["Epoch"] == cell);
        let row = row.unwrap_or_else(|| panic!("{cell} of {name}: {found:?}"));
        let withheld = batch["withheld"] == true;
        assert_eq!(row["Data"], if withheld { "withheld" } else { "served" });
        assert_eq!(row["Log entries"], batch["log_len"].to_string());
        assert_eq!(row["Records"], batch["arrays_len"].to_string());
        let end = grouped(number(&batch["challengeable_through_slot"]));
        assert!(row["Window"].starts_with("open until") && row["Window"].ends_with(&end), "{row:?}");
        // The batch's own page.
        stage.go(page, &format!("#/agents/{}/batches/{epoch}", agent.mint));
        let own = figures(page);
        assert_eq!((&*own["Data"].0, &own["Submitted"].1), ("served", &covers));
        let tenure = number(&said.keys[at]["tenure"]["number"]);
        page.until_text(&format!("tenure {tenure}, era {}", batch["era"]));
        if withheld {
            page.until_text("This batch is withheld and counts for nothing");
        }
        for hash in ["batch_hash", "log_merkle_root", "arrays_root", "signer"] {
            page.until_text(text(&batch[hash]));
        }
        stage.go(page, "#/batches");
    }
    assert_eq!(found.len(), met);
}

fn challenges(stage: &Stage, said: &Said, page: &Page) {
    let all = said.challenges["challenges"].as_array().unwrap();
    stage.go(page, "#/challenges");
    let found = rows(page, "#main");
    assert_eq!((found.len(), all.len()), (2, 2), "a bid and a selection");
    assert!(all.iter().any(|one| one["challenge"] == *stage.world.challenge));
    for challenge in all {
        let address = text(&challenge["challenge"]);
        let row = found.iter().find(|row| row["Challenge"] == short(address)).unwrap();
        assert_eq!(
            (row["State"].as_str(), &*row["Ground"]),
            (text(&challenge["state"]), text(&challenge["ground"]))
        );
        assert_eq!(row["Rank"], format!("{} era {}", challenge["rank"], challenge["era"]));
        stage.go(page, &format!("#/challenges/{address}"));
        let found = figures(page);
        let until = grouped(number(&challenge["answerable_through_slot"]));
        assert!(found["Answer until"].0.ends_with(&format!("slot {until}")), "{found:?}");
        assert_eq!(found["Against"].0, "bob");
        page.until_text(text(&challenge["challenger"]));
        page.until_text(&format!("{} in the order of era {}", challenge["rank"], challenge["era"]));
    }
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
                // Alice is known on chain by the same key.
                Some(_) if party == "agent" => {
                    assert!(title.contains(&world.agents[0].mint), "{id}: {title}")
                }
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
    // The buyer of an agent pays once more.
    assert_eq!(
        (shown("Lease paid"), shown("Stake locked")),
        (paid + 1, said.stakes.iter().map(Vec::len).sum())
    );
    assert_eq!(shown("Agent registered"), said.leases.len());
    let batches = said.batches.iter().map(|one| count(&one["batches"])).sum();
    let challenges = count(&said.challenges["challenges"]);
    assert_eq!((shown("Batch submitted"), shown("Challenge submitted")), (batches, challenges));
    assert_eq!((shown("Tenure opened"), shown("Head opened")), (paid, paid));
    assert_eq!((shown("Taken over"), shown("Era ended")), (1, 1));
    let keys: Vec<Value> = said.keys.iter().flat_map(|one| list(&one["keys"])).collect();
    let ended = keys.iter().filter(|key| key["standing"] == "ended").count();
    assert_eq!((shown("Key added"), shown("Key ended")), (keys.len(), ended));
    assert_eq!((shown("Leaf asked"), shown("Leaf shown")), (count(&said.asks["asks"]), 1));
    assert_eq!((shown("Ask settled"), shown("Batch withheld")), (1, 1));
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
