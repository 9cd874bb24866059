//! A real server on a loopback port, parties with keys and payout addresses, and what they say over real
//! HTTP.

#![allow(dead_code)]

pub mod database;
pub mod live;
pub mod process;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nano_devnet::Devnet;
use nano_escrow::{Address, PrivateKey, Raw};
use serde_json::{Value, json};
use zx1_market::case::{Transcript, replay};
use zx1_market::chain::{Data, Head, ReexecutionData, RulingData, Side};
use zx1_market::contract::{Contract, Execution};
use zx1_market::money::{Court, Outcome};
use zx1_market::{ContractId, Entry, Json, Millis, PartyKey, Terms, request};
use zx1_market_server::clock::{Clock, DrivenClock};
use zx1_market_server::http::Rate;
use zx1_market_server::{Config, Options, Server};
use zx1_server::testing::schema::Description;

pub const PATIENCE: Duration = Duration::from_secs(60);
pub static DESCRIPTION: LazyLock<Description> =
    LazyLock::new(|| Description::new(include_str!("../../../openapi.json")));
pub const START: Millis = Millis(1_800_000_000_000);

pub fn key(n: u8) -> PartyKey {
    PartyKey::from_seed(&[n; 32])
}

pub fn address(name: &str) -> Address {
    PrivateKey::from_bytes(nano_escrow::blake2b_256(&[b"market test", name.as_bytes()])).address()
}

pub fn xno(text: &str) -> Raw {
    Raw::from_xno(text).unwrap()
}

/// Wait for a condition, with a deadline.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut check: impl FnMut() -> F) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Answer of the server: status and JSON body.
#[derive(Debug, Clone)]
pub struct Got {
    pub status: u16,
    pub body: Value,
    pub text: String,
    pub retry_after: Option<String>,
}

impl Got {
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }

    #[track_caller]
    pub fn refused(self, status: u16, code: u32) -> Value {
        assert_eq!((self.status, self.body["code"].as_u64()), (status, Some(code.into())), "{}", self.body);
        self.body
    }

    #[track_caller]
    pub fn says(self, word: &str) -> Value {
        let body = self.ok();
        assert_eq!(body["status"], word, "{body}");
        body
    }
}

/// The headers of a signed request.
#[derive(Debug, Clone)]
pub struct Headers {
    /// Older clients send none.
    pub auth: Option<&'static str>,
    pub pubkey: String,
    pub signature: String,
    pub timestamp: String,
}

impl From<request::SignedHeaders> for Headers {
    fn from(h: request::SignedHeaders) -> Headers {
        Headers { auth: Some(h.auth), pubkey: h.pubkey, signature: h.signature, timestamp: h.timestamp }
    }
}

impl Headers {
    /// As older clients sign.
    pub fn older(key: &PartyKey, signature: String, timestamp: String) -> Headers {
        Headers { auth: None, pubkey: key.id().hex(), signature, timestamp }
    }
}

/// Whoever talks to a server.
#[derive(Clone)]
pub struct Client {
    pub url: String,
    pub http: reqwest::Client,
    pub clock: DrivenClock,
    pub terms: Terms,
}

impl Client {
    pub async fn send(&self, method: &str, path: &str, body: Vec<u8>, key: Option<&PartyKey>) -> Got {
        let headers =
            key.map(|key| request::sign(&self.terms.server, method, path, &body, self.clock.now(), key));
        let headers = headers.map(Headers::from);
        self.send_with(method, path, body, headers).await
    }

    pub async fn send_with(&self, method: &str, path: &str, body: Vec<u8>, headers: Option<Headers>) -> Got {
        self.try_send_with(method, path, body, headers).await.unwrap()
    }

    /// As [`send`](Self::send), of a server that may die meanwhile.
    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        body: Vec<u8>,
        key: Option<&PartyKey>,
    ) -> reqwest::Result<Got> {
        let headers =
            key.map(|key| request::sign(&self.terms.server, method, path, &body, self.clock.now(), key));
        let headers = headers.map(Headers::from);
        self.try_send_with(method, path, body, headers).await
    }

    pub async fn try_send_with(
        &self,
        method: &str,
        path: &str,
        body: Vec<u8>,
        headers: Option<Headers>,
    ) -> reqwest::Result<Got> {
        let url = format!("{}{path}", self.url);
        let mut request = self.http.request(method.parse().unwrap(), url).body(body);
        if let Some(headers) = headers {
            request = request
                .header("X-Fix-Pubkey", headers.pubkey)
                .header("X-Fix-Signature", headers.signature)
                .header("X-Fix-Timestamp", headers.timestamp);
            if let Some(auth) = headers.auth {
                request = request.header("X-Fix-Auth", auth);
            }
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get("retry-after").map(|v| v.to_str().unwrap().to_owned());
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        // Every answer is as the committed document says, but for what only older clients are answered.
        let is_older = self.terms.compat && matches!(status, 409 | 422);
        if let Err(what) = DESCRIPTION.check(method, path, status, &body)
            && !is_older
        {
            panic!("{what}");
        }
        Ok(Got { status, body, text, retry_after })
    }

    pub async fn get(&self, path: &str, key: Option<&PartyKey>) -> Got {
        self.send("GET", path, Vec::new(), key).await
    }

    pub async fn post(&self, path: &str, body: &Value, key: &PartyKey) -> Got {
        self.send("POST", path, body.to_string().into_bytes(), Some(key)).await
    }

    /// A contract, posted.
    pub fn post_entry(&self, contract: &Contract, key: &PartyKey, payout: Option<Address>) -> Entry {
        let market = Some(self.terms.market());
        let data = Data::Post { contract: contract.json().clone(), principal: key.id(), payout, market };
        Entry::sign(&data, Head::GENESIS, self.clock.now(), key)
    }

    pub async fn head(&self, id: ContractId, key: &PartyKey) -> Head {
        let got = self.get(&format!("/contracts/{id}/chain_head"), Some(key)).await.ok();
        let mut hash = [0; 32];
        hex::decode_to_slice(got["chain_head"].as_str().unwrap(), &mut hash).unwrap();
        Head { seq: got["seq"].as_u64().unwrap(), hash }
    }

    /// A party's entry on the present head, sent.
    pub async fn act(&self, id: ContractId, action: &str, data: Data, key: &PartyKey) -> Got {
        let entry = Entry::sign(&data, self.head(id, key).await, self.clock.now(), key);
        self.send_entry(id, action, &entry, key).await
    }

    pub async fn send_entry(&self, id: ContractId, action: &str, entry: &Entry, key: &PartyKey) -> Got {
        let body = format!("{{\"chain_entry\":{}}}", entry.canonical());
        let (method, path) = match action {
            "" => ("DELETE", format!("/contracts/{id}")),
            action => ("POST", format!("/contracts/{id}/{action}")),
        };
        self.send(method, &path, body.into_bytes(), Some(key)).await
    }

    pub async fn view(&self, id: ContractId, key: &PartyKey) -> Value {
        self.get(&format!("/contracts/{id}"), Some(key)).await.ok()
    }

    pub async fn until(&self, id: ContractId, key: &PartyKey, state: &str) -> Value {
        eventually(&format!("{id} is {state}"), || async {
            let view = self.view(id, key).await;
            (view["status"] == state).then_some(view)
        })
        .await
    }

    /// What a judge does: the machine's result, then the ruling.
    pub async fn rule(&self, id: ContractId, judge: &PartyKey, outcome: Outcome, court: Court) -> Got {
        self.reexecute(id, judge).await;
        self.ruling(id, judge, outcome, court).await
    }

    /// The first court's judge gives an answer that cannot be read.
    pub async fn rule_unreadably(&self, id: ContractId, judge: &PartyKey) -> Got {
        self.reexecute(id, judge).await;
        let mut data = RulingData::new(Outcome::Impossible, Court::District, "?");
        data.flags.push(RulingData::UNPARSABLE.into());
        self.say(id, judge, data).await
    }

    async fn reexecute(&self, id: ContractId, judge: &PartyKey) {
        let head = self.head(id, judge).await;
        let body = json!({"reexecution": nothing_to_run().sign(id, &head.hash, judge)});
        self.post(&format!("/contracts/{id}/ruling"), &body, judge).await.ok();
    }

    pub async fn ruling(&self, id: ContractId, judge: &PartyKey, outcome: Outcome, court: Court) -> Got {
        self.say(id, judge, RulingData::new(outcome, court, "because")).await
    }

    async fn say(&self, id: ContractId, judge: &PartyKey, data: RulingData) -> Got {
        let head = self.head(id, judge).await;
        let data = data.sign(id, &head.hash, judge);
        self.post(&format!("/contracts/{id}/ruling"), &json!({"ruling": data}), judge).await
    }
}

/// A re-execution that could not be done.
pub fn nothing_to_run() -> ReexecutionData {
    ReexecutionData {
        ran: false,
        success: None,
        exit_code: None,
        output: String::new(),
        note: "nothing can be run again".into(),
        trial: None,
        signature: None,
    }
}

/// A server with everything around it.
pub struct Market {
    pub folder: tempfile::TempDir,
    pub config: Config,
    pub server: Option<Server>,
    pub clock: DrivenClock,
    pub client: Client,
    pub principal: PartyKey,
    pub agent: PartyKey,
    pub judge: PartyKey,
    database: database::Database,
}

pub fn config(folder: &std::path::Path) -> Config {
    let mut config =
        Config { bind: "127.0.0.1:0".parse().unwrap(), data: folder.to_owned(), ..Config::default() };
    config.judges = vec![key(9).id()];
    config.nano.deposit_poll_ms = 10;
    config.nano.work_threads = 1;
    config.nano.platform_address = address("platform").to_string();
    config.nano.charity_address = address("charity").to_string();
    config.limits.address = Rate { burst: 1_000_000, per_second: 1_000_000 };
    config.limits.key = Rate { burst: 1_000_000, per_second: 1_000_000 };
    config.limits.posts = Rate { burst: 1_000_000, per_second: 1_000_000 };
    config.limits.streams_per_address = 20_000;
    config.limits.connections_per_address = 20_000;
    config
}

impl Market {
    pub async fn start() -> Market {
        Market::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut Config)) -> Market {
        Market::on(DrivenClock::new(START), change).await
    }

    /// One that counts restarts and jumps of its clock.
    pub async fn with_absences(change: impl FnOnce(&mut Config)) -> Market {
        Market::on(DrivenClock::new(START).with_absences(), change).await
    }

    async fn on(clock: DrivenClock, change: impl FnOnce(&mut Config)) -> Market {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut config = config(folder.path());
        change(&mut config);
        let database = database::Database::chosen(&mut config);
        let server = boot(&config, &clock).await;
        let client = Client {
            url: server.url().to_owned(),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            clock: clock.clone(),
            terms: server.engine().terms().clone(),
        };
        let [principal, agent, judge] = [key(1), key(2), key(9)];
        Market { folder, config, server: Some(server), clock, client, principal, agent, judge, database }
    }

    /// Stop it and start it again on the same folder.
    pub async fn restart(&mut self) {
        self.server.take().unwrap().stop().await.unwrap();
        self.restart_stopped().await;
    }

    /// Start it again after it was stopped.
    pub async fn restart_stopped(&mut self) {
        let server = boot(&self.config, &self.clock).await;
        self.client.url = server.url().to_owned();
        self.server = Some(server);
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub fn devnet(&self) -> Arc<Devnet> {
        self.server().devnet().unwrap().clone()
    }

    pub fn contract(&self, bounty: &str) -> Contract {
        self.contract_with(bounty, |execution| execution.max_attempts = 2, false)
    }

    pub fn contract_with(
        &self,
        bounty: &str,
        change: impl FnOnce(&mut Execution),
        autonomous: bool,
    ) -> Contract {
        let plain = Contract::builder("gcc foo.c", "undefined reference to `bar'").build(&self.client.terms);
        let mut execution = plain.unwrap().execution;
        execution.investigation_rate = 0;
        change(&mut execution);
        let mut builder = Contract::builder("gcc foo.c", "undefined reference to `bar'").execution(execution);
        if !bounty.is_empty() {
            builder = builder.bounty(xno(bounty));
        }
        if autonomous {
            builder = builder.autonomous();
        }
        builder.build(&self.client.terms).unwrap()
    }

    pub async fn pay(&self, deposit: &Value) {
        let address: Address = deposit["address"].as_str().unwrap().parse().unwrap();
        let amount = xno(deposit["amount"].as_str().unwrap());
        self.devnet().faucet(address, amount).await.unwrap();
    }

    /// Post a contract and, if it is not free, pay for it; it is open then.
    pub async fn open(&self, contract: &Contract) -> ContractId {
        let entry = self.client.post_entry(contract, &self.principal, Some(address("principal")));
        let body = format!("{{\"chain_entry\":{}}}", entry.canonical());
        let got = self.client.send("POST", "/contracts", body.into_bytes(), Some(&self.principal)).await.ok();
        let id: ContractId = got["contract_id"].as_str().unwrap().parse().unwrap();
        assert_eq!(Some(id), entry.contract_id());
        if contract.is_free() {
            assert_eq!(got["status"], "open");
        } else {
            assert_eq!(got["status"], "unfunded");
            self.pay(&got["deposit"]).await;
            self.client.until(id, &self.principal, "open").await;
        }
        id
    }

    /// The agent bonds and, if it is not free, pays.
    pub async fn bond(&self, id: ContractId, agent: &PartyKey, payout: &str) {
        let data = Data::Bond { agent: agent.id(), payout: Some(address(payout)) };
        let got = self.client.act(id, "bond", data, agent).await.ok();
        if got["status"] == "reserved" {
            self.pay(&got["deposit"]).await;
        }
        self.client.until(id, agent, "investigating").await;
    }

    pub async fn accept(&self, id: ContractId, agent: &PartyKey) {
        self.client.act(id, "accept", Data::Accept { agent: agent.id() }, agent).await.says("in_progress");
    }

    /// Posted, paid, bonded, accepted.
    pub async fn working(&self, contract: &Contract) -> ContractId {
        let id = self.open(contract).await;
        self.bond(id, &self.agent, "agent").await;
        self.accept(id, &self.agent).await;
        id
    }

    pub async fn fix(&self, id: ContractId) -> Got {
        let data = Data::Fix {
            fix: "gcc foo.c -lbar".into(),
            explanation: "it links bar".into(),
            corrected_command: None,
        };
        self.client.act(id, "fix", data, &self.agent).await
    }

    pub async fn verify(&self, id: ContractId, success: bool) -> Got {
        let data = Data::Verify {
            success,
            explanation: String::new(),
            exit_code: Some(0),
            output: String::new(),
            failure: None,
        };
        self.client.act(id, "verify", data, &self.principal).await
    }

    pub async fn dispute(&self, id: ContractId, side: Side) -> Got {
        let data = Data::DisputeFiled { argument: "it is not so".into(), side };
        self.client.act(id, "dispute", data, self.key_of(side)).await
    }

    pub async fn respond(&self, id: ContractId, side: Side) -> Got {
        let data = Data::DisputeResponse { argument: "it is so".into(), side };
        self.client.act(id, "respond", data, self.key_of(side)).await
    }

    pub fn key_of(&self, side: Side) -> &PartyKey {
        match side {
            Side::Principal => &self.principal,
            Side::Agent => &self.agent,
        }
    }

    /// Let time pass, and everything that it brings.
    pub async fn pass(&self, span: Millis) {
        self.clock.advance(span);
    }

    /// What somebody got on the ledger.
    pub fn balance(&self, name: &str) -> Raw {
        let account = self.devnet().account(address(name));
        Raw::checked_sum(account.receivable.values().copied().chain([account.balance])).unwrap()
    }

    /// Every deposit was paid out, to the raw, to whom it is due.
    pub async fn paid(&self, principal: &str, agent: &str, platform: &str, charity: &str) {
        let want = [("principal", principal), ("agent", agent), ("platform", platform), ("charity", charity)];
        let want = want.map(|(name, amount)| (name, xno(amount)));
        eventually(&format!("balances are {want:?}"), || async {
            want.iter().all(|(name, amount)| self.balance(name) == *amount).then_some(())
        })
        .await;
        self.devnet().audit().unwrap();
        // The ledger is ahead of the journal for a moment.
        let escrow = self.server().engine().desk().unwrap().escrow().clone();
        eventually("the journal agrees with the ledger", || async {
            escrow.audit(true).await.ok().filter(|audit| audit.check().is_ok())
        })
        .await;
    }

    /// The row of the money table.
    pub async fn paid_as(&self, scenario: &str, court: Option<&str>, bounty: &str) {
        let row = row(scenario, court, bounty);
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        self.paid(&text("principal"), &text("agent"), &text("platform"), &text("charity")).await;
    }

    /// What there is of a transcript verifies offline.
    pub async fn sound_so_far(&self, id: ContractId) {
        let got = self.client.get(&format!("/contracts/{id}"), Some(&self.principal)).await;
        let report = replay(&Transcript::parse(got.text.as_bytes()).unwrap());
        assert!(report.valid, "{report:?}");
    }

    /// The transcript verifies offline, with exact times, and ends in this state.
    pub async fn sound(&self, id: ContractId, state: &str) -> Transcript {
        let got = self.client.get(&format!("/contracts/{id}"), Some(&self.principal)).await;
        let transcript = Transcript::parse(got.text.as_bytes()).unwrap();
        let report = replay(&transcript);
        assert!(report.valid, "{report:?}");
        assert!(report.exact_times);
        assert_eq!(report.state.map(|s| s.as_str()), Some(state));
        let checked =
            self.client.get(&format!("/contracts/{id}/verify_chain"), Some(&self.principal)).await.ok();
        assert_eq!((&checked["valid"], &checked["total_transcript"]), (&json!(true), &json!(report.total)));
        transcript
    }
}

/// A row of the money table. Of a ruling for nobody the court says who called it: `district/agent`.
pub fn row(scenario: &str, court: Option<&str>, bounty: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/escrow_routing.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = table["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| {
        row["scenario"] == scenario && court_of(row).as_deref() == court && row["bounty"] == bounty
    });
    found.unwrap_or_else(|| panic!("no row {scenario} {court:?} {bounty}")).clone()
}

/// The court of a row, with who called it where that matters.
pub fn court_of(row: &Value) -> Option<String> {
    let court = row["court"].as_str()?;
    Some(row["filer"].as_str().map_or_else(|| court.to_owned(), |filer| format!("{court}/{filer}")))
}

pub async fn boot(config: &Config, clock: &DrivenClock) -> Server {
    let options = Options { key: Some(key(7)), test_clock: Some(clock.clone()), ..Options::default() };
    Server::start(config, options).await.unwrap()
}

/// A body that carries an entry and other fields.
pub fn body_with(entry: &Entry, fields: &[(&str, Json)]) -> Vec<u8> {
    let mut all = vec![("chain_entry".to_owned(), entry.to_json())];
    all.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Json::object(all).canonical().into_bytes()
}
