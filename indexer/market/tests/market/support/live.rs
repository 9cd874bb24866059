//! A market whose server is a process of its own, with contracts that take the same way side by side: one for
//! each bounty of the money table.

use std::collections::BTreeMap;

use nano_escrow::{Address, Raw};
use serde_json::{Value, json};
use zx1_market::case::{Transcript, replay};
use zx1_market::chain::{Data, Side};
use zx1_market::contract::Contract;
use zx1_market::money::{Court, Outcome};
use zx1_market::{ContractId, Millis, PartyKey, State, Terms};
use zx1_market_server::Config;
use zx1_market_server::clock::{Clock, DrivenClock};

use super::database::Database;
use super::process::Process;
use super::{Client, START, address, body_with, eventually, key, row, xno};

/// The market, and its contracts.
pub struct Live {
    pub folder: tempfile::TempDir,
    pub process: Process,
    pub client: Client,
    pub clock: DrivenClock,
    /// Whether the server is killed after every step, before and after its effects.
    mortal: bool,
    /// Each contract and its bounty.
    pub ids: Vec<(ContractId, String)>,
    seen: Vec<Vec<Value>>,
    pub deaths: u32,
    pub database: Database,
}

/// The agent that has the contract in the end.
pub fn agent() -> PartyKey {
    key(2)
}

pub fn principal() -> PartyKey {
    key(1)
}

pub fn judge() -> PartyKey {
    key(9)
}

const OPTIONS: &[&str] = &["--auto-fund"];

/// A folder with the `config.toml` of a market.
pub fn folder(change: impl FnOnce(&mut Config)) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut config = super::config(&folder.path().join("data"));
    change(&mut config);
    std::fs::write(folder.path().join("config.toml"), config.print().unwrap()).unwrap();
    folder
}

/// Somebody who talks to a server of another process.
pub async fn client(url: String, clock: DrivenClock) -> Client {
    // No connection outlives its server.
    let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let info = http.get(format!("{url}/platform_info")).send().await.unwrap().text().await.unwrap();
    let info: zx1_market::wire::PlatformInfo = serde_json::from_str(&info).unwrap();
    Client { url, http, clock, terms: info.terms().unwrap() }
}

/// A contract of the tests: two attempts, no pause between investigations.
pub fn contract(terms: &Terms, bounty: &str, autonomous: bool) -> Contract {
    let builder = || Contract::builder("gcc foo.c", "undefined reference to `bar'");
    let mut execution = builder().build(terms).unwrap().execution;
    (execution.investigation_rate, execution.max_attempts, execution.review_window) = (0, 2, 60);
    let mut builder = builder().execution(execution);
    if !bounty.is_empty() {
        builder = builder.bounty(xno(bounty));
    }
    if autonomous {
        builder = builder.autonomous();
    }
    builder.build(terms).unwrap()
}

impl Live {
    /// A server; if mortal, it is killed at every step.
    pub async fn start(mortal: bool) -> Live {
        Live::with(mortal, |_| {}).await
    }

    /// The same with another configuration.
    pub async fn with(mortal: bool, change: impl FnOnce(&mut Config)) -> Live {
        let mut database = None;
        let folder = folder(|config| {
            change(config);
            database = Some(Database::chosen(config));
        });
        let database = database.unwrap();
        let clock = DrivenClock::new(START);
        let process = Process::start(folder.path(), clock.now(), OPTIONS);
        let client = client(process.url(), clock.clone()).await;
        let (ids, seen) = (Vec::new(), Vec::new());
        Live { folder, process, client, clock, mortal, ids, seen, deaths: 0, database }
    }

    /// Kill it, start it again, and see that all that was seen before is there.
    pub async fn die(&mut self) {
        self.process.kill();
        self.deaths += 1;
        self.process = Process::start(self.folder.path(), self.clock.now(), OPTIONS);
        self.client.url = self.process.url();
        for ((id, _), seen) in self.ids.iter().zip(&self.seen) {
            let view = self.client.view(*id, &principal()).await;
            let now = view["transcript"].as_array().unwrap();
            assert!(now.len() >= seen.len(), "entries are lost: {view}");
            assert_eq!(&now[..seen.len()], seen, "entries were changed");
        }
    }

    async fn until(&self, state: &str) {
        for (id, _) in &self.ids {
            self.client.until(*id, &principal(), state).await;
        }
    }

    /// What was done holds, and leads here.
    pub async fn reach(&mut self, state: &str) {
        if self.mortal {
            self.die().await;
        }
        self.until(state).await;
        if self.mortal {
            self.seen.clear();
            for (id, _) in &self.ids {
                let view = self.client.view(*id, &principal()).await;
                self.seen.push(view["transcript"].as_array().unwrap().clone());
            }
            self.die().await;
            self.until(state).await;
        }
    }

    /// Let time pass; if mortal, while no server runs.
    pub async fn pass(&mut self, span: Millis) {
        let now = self.clock.advance(span);
        if self.mortal {
            self.die().await;
        } else {
            let body = json!({"now_ms": now.0}).to_string().into_bytes();
            self.client.send("POST", "/test/clock", body, None).await.ok();
        }
    }

    /// Post one contract a bounty. "" is a free one.
    pub async fn post(&mut self, bounties: &[&str], autonomous: bool) {
        for bounty in bounties {
            let contract = contract(&self.client.terms, bounty, autonomous);
            let payout = address(&format!("principal {bounty}"));
            let entry = self.client.post_entry(&contract, &principal(), Some(payout));
            let body = body_with(&entry, &[]);
            self.client.send("POST", "/contracts", body, Some(&principal())).await.ok();
            self.ids.push((entry.contract_id().unwrap(), (*bounty).to_owned()));
        }
        self.reach("open").await;
    }

    /// An agent bonds for all of them.
    pub async fn bond(&mut self, agent: &PartyKey, name: &str) {
        for (id, bounty) in &self.ids {
            let bond = Data::Bond { agent: agent.id(), payout: Some(address(&format!("{name} {bounty}"))) };
            self.client.act(*id, "bond", bond, agent).await.ok();
        }
        self.reach("investigating").await;
    }

    /// Say the same in all of them.
    pub async fn act(&mut self, action: &str, data: Data, who: &PartyKey, state: &str) {
        for (id, _) in &self.ids {
            self.client.act(*id, action, data.clone(), who).await.ok();
        }
        self.reach(state).await;
    }

    pub async fn accept(&mut self) {
        self.act("accept", Data::Accept { agent: agent().id() }, &agent(), "in_progress").await;
    }

    pub async fn fix(&mut self, state: &str) {
        let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
        self.act("fix", fix, &agent(), state).await;
    }

    pub async fn verify(&mut self, success: bool, state: &str) {
        let (explanation, output) = (String::new(), String::new());
        let data = Data::Verify { success, explanation, exit_code: None, output, failure: None };
        self.act("verify", data, &principal(), state).await;
    }

    pub async fn dispute(&mut self, side: Side) {
        let data = Data::DisputeFiled { argument: "it is not so".into(), side };
        self.act("dispute", data, &of(side), "disputed").await;
    }

    pub async fn respond(&mut self, side: Side) {
        let data = Data::DisputeResponse { argument: "it is so".into(), side };
        self.act("respond", data, &of(side), "disputed").await;
    }

    pub async fn appeal(&mut self, side: Side) {
        let data = Data::Appeal { argument: "look again".into(), side };
        self.act("appeal", data, &of(side), "disputed").await;
    }

    pub async fn rule(&mut self, outcome: Outcome, court: Court, state: &str) {
        for (id, _) in &self.ids {
            self.client.rule(*id, &judge(), outcome, court).await.ok();
        }
        self.reach(state).await;
    }

    /// What a judge's machine found, and then an answer that nobody can read.
    pub async fn rule_unreadably(&mut self, state: &str) {
        for (id, _) in &self.ids {
            self.client.rule_unreadably(*id, &judge()).await.ok();
        }
        self.reach(state).await;
    }

    pub async fn balance(&self, account: Address) -> Raw {
        balance(&self.process, &self.client.http, account).await
    }

    /// Each name's balance becomes this amount, and stays so over a death.
    pub async fn paid(&mut self, want: &BTreeMap<String, Raw>) {
        for _ in 0..=u8::from(self.mortal) {
            for (name, amount) in want {
                eventually(&format!("{name} has {amount}"), || async {
                    (self.balance(address(name)).await == *amount).then_some(())
                })
                .await;
            }
            if self.mortal {
                self.die().await;
            }
        }
    }

    /// The rows of the money table, one for each contract, to the raw. `more` is what others have got.
    pub async fn paid_as(&mut self, scenario: &str, court: Option<&str>, more: &[(&str, &str)]) {
        let mut want: BTreeMap<String, Raw> = BTreeMap::new();
        let mut add = |name: String, amount: &str| {
            let sum = want.entry(name).or_insert(Raw::ZERO);
            *sum = Raw::checked_sum([*sum, xno(amount)]).unwrap();
        };
        for (_, bounty) in &self.ids {
            let row = row(scenario, court, bounty);
            let amount = |name: &str| row[name].as_str().unwrap().to_owned();
            add(format!("principal {bounty}"), &amount("principal"));
            add(format!("agent {bounty}"), &amount("agent"));
            add("platform".into(), &amount("platform"));
            add("charity".into(), &amount("charity"));
        }
        for (name, amount) in more {
            add((*name).to_owned(), amount);
        }
        self.paid(&want).await;
        for (id, _) in &self.ids {
            let escrow = self.client.get(&format!("/contracts/{id}/escrow"), None).await.ok();
            let refunds = escrow["payments"].as_array().unwrap().iter().filter(|p| p["kind"] == "refund");
            assert_eq!(refunds.count(), 0, "{escrow}");
        }
    }

    /// Every transcript verifies offline, passes only states of the table, and ends here.
    pub async fn sound(&self, end: &str) {
        for (id, _) in &self.ids {
            let got = self.client.get(&format!("/contracts/{id}"), None).await;
            let report = replay(&Transcript::parse(got.text.as_bytes()).unwrap());
            assert!(report.valid && report.exact_times, "{report:?}");
            assert_eq!(report.contract_id, Some(*id));
            assert_eq!(report.state.map(State::as_str), Some(end));
            for pair in report.states.windows(2) {
                assert!(pair[0].1 == pair[1].1 || pair[0].1.leads_to(pair[1].1), "{pair:?}");
            }
            let checked = self.client.get(&format!("/contracts/{id}/verify_chain"), None).await.ok();
            assert_eq!((&checked["valid"], &checked["entries"]), (&json!(true), &json!(report.total)));
        }
    }
}

/// What an account has on the ledger of a server, asked over its RPC.
pub async fn balance(process: &Process, http: &reqwest::Client, account: Address) -> Raw {
    let body = json!({"action": "account_balance", "account": account, "include_only_confirmed": "false"});
    let url = process.ready["nano_rpc"].as_str().unwrap();
    let text = http.post(url).body(body.to_string()).send().await.unwrap().text().await.unwrap();
    let got: Value = serde_json::from_str(&text).unwrap();
    let parts = ["balance", "receivable"].map(|f| Raw(got[f].as_str().unwrap().parse().unwrap()));
    Raw::checked_sum(parts).unwrap()
}

/// The key of a side.
pub fn of(side: Side) -> PartyKey {
    match side {
        Side::Principal => principal(),
        Side::Agent => agent(),
    }
}
