//! The server as a process of its own, killed at every crash point: before and after each commit of the
//! market and of the escrow's journal, and each call of the ledger. Nothing that was answered is lost, timers
//! fire after the restart, and every deposit is paid out once. (`rows` kills it from outside, at every step
//! and state.)

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use zx1_market::case::{Transcript, replay};
use zx1_market::chain::{Data, EntryType, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{ContractId, Entry, Millis, PartyKey};
use zx1_market_server::clock::{Clock, DrivenClock};

use crate::support;
use crate::support::live::{Live, agent, client, contract, folder, judge, principal};
use crate::support::process::{Process, command};
use crate::support::{Client, PATIENCE, START, address, body_with, row, xno};

/// Makes a body over a seq, the hash before it, and a time.
type Body<'a> = &'a dyn Fn(u64, [u8; 32], Millis) -> Vec<u8>;

/// A server that dies by itself, and clients that try again until what they want is in the chain.
struct Dying {
    folder: tempfile::TempDir,
    process: Option<Process>,
    client: Client,
    clock: DrivenClock,
    random: u64,
    /// Where it has died.
    points: BTreeSet<String>,
    deaths: u32,
    seen: Vec<Value>,
    id: Option<ContractId>,
}

impl Dying {
    async fn start(seed: u64) -> Dying {
        let folder = folder(|_| {});
        let clock = DrivenClock::new(START);
        let healthy = Process::start(folder.path(), clock.now(), &[]);
        let client = client(healthy.url(), clock.clone()).await;
        drop(healthy);
        let (points, seen) = (BTreeSet::new(), Vec::new());
        Dying { folder, process: None, client, clock, random: seed, points, deaths: 0, seen, id: None }
    }

    /// After how many crash points the next server dies: splitmix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        1 + ((z ^ (z >> 27)) >> 33) % 24
    }

    /// Note where it died, and start another one that will die as well.
    fn again(&mut self) {
        loop {
            if let Some(mut dead) = self.process.take() {
                self.note(&dead.died());
            }
            let points = self.next().to_string();
            let mut command = command(self.folder.path());
            let clock = self.clock.now().0.to_string();
            command.args(["--auto-fund", "--test-clock", &clock, "--test-die-after", &points]);
            match Process::spawn_with(command, Stdio::piped()) {
                Ok(process) => {
                    self.client.url = process.url();
                    self.process = Some(process);
                    return;
                }
                Err(said) => self.note(&said),
            }
        }
    }

    fn note(&mut self, said: &str) {
        let point = said.lines().find_map(|line| line.split("crash point: ").nth(1));
        let point = point.unwrap_or_else(|| panic!("it died otherwise: {said}"));
        self.points.insert(point.to_owned());
        self.deaths += 1;
        assert!(self.deaths < 2_000, "no progress: {:?}", self.points);
    }

    /// What the transcript holds now, over as many deaths as it takes; it only ever grows.
    async fn transcript(&mut self) -> Value {
        let id = self.id.unwrap();
        loop {
            match self.client.try_send("GET", &format!("/contracts/{id}"), vec![], Some(&principal())).await {
                Ok(got) if got.status == 404 && self.seen.is_empty() => return json!({"transcript": []}),
                Ok(got) => {
                    let view = got.ok();
                    let now = view["transcript"].as_array().unwrap();
                    assert!(
                        now.len() >= self.seen.len() && now[..self.seen.len()] == self.seen,
                        "lost: {view}"
                    );
                    self.seen = now.clone();
                    return view;
                }
                Err(_) => self.again(),
            }
        }
    }

    /// Until an entry of this type is there for the n-th time, do something about it.
    async fn until(&mut self, kind: EntryType, count: usize, what: Option<(&str, Body<'_>, &PartyKey)>) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let view = self.transcript().await;
            let entries = view["transcript"].as_array().unwrap();
            if entries.iter().filter(|entry| entry["type"] == kind.as_str()).count() >= count {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "no {kind} in time: {view}");
            let Some((path, body, who)) = what else {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                continue;
            };
            let mut hash = [0; 32];
            if let Some(head) = view["chain_head"].as_str() {
                hex::decode_to_slice(head, &mut hash).unwrap();
            }
            let body = body(entries.len() as u64, hash, self.clock.now());
            match self.client.try_send("POST", path, body, Some(who)).await {
                Ok(got) => assert!([200, 401, 403, 409].contains(&got.status), "{} {}", got.status, got.text),
                Err(_) => self.again(),
            }
            if kind == EntryType::Bond {
                // Reserved: its deposit is on the way.
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    }

    async fn say(&mut self, kind: EntryType, count: usize, action: &str, data: &Data, who: &PartyKey) {
        let path = format!("/contracts/{}/{action}", self.id.unwrap());
        let body = |seq, hash, at| {
            body_with(&Entry::sign(data, zx1_market::chain::Head { seq, hash }, at, who), &[])
        };
        self.until(kind, count, Some((&path, &body, who))).await;
    }

    async fn post(&mut self, autonomous: bool) {
        let contract = contract(&self.client.terms, "0.5", autonomous);
        let entry = self.client.post_entry(&contract, &principal(), Some(address("principal 0.5")));
        self.id = entry.contract_id();
        self.again();
        let body = |_, _, _| body_with(&entry, &[]);
        self.until(EntryType::Opened, 1, Some(("/contracts", &body, &principal()))).await;
    }

    async fn working(&mut self, autonomous: bool) {
        self.post(autonomous).await;
        let agent = agent();
        let bond = Data::Bond { agent: agent.id(), payout: Some(address("agent 0.5")) };
        self.say(EntryType::Bond, 1, "bond", &bond, &agent).await;
        self.say(EntryType::Accept, 1, "accept", &Data::Accept { agent: agent.id() }, &agent).await;
        let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
        self.say(EntryType::Fix, 1, "fix", &fix, &agent).await;
    }

    /// Let the payouts finish, however often it dies, and look at the ledger with a server that lives.
    async fn ends_as(mut self, scenario: &str, court: Option<&str>, state: &str) -> BTreeSet<String> {
        // Dying goes on until a whole life has passed with nothing left to do.
        for _ in 0..6 {
            let deadline = tokio::time::Instant::now() + std::time::Duration::from_millis(300);
            while tokio::time::Instant::now() < deadline {
                self.transcript().await;
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            self.process.take().unwrap();
            self.again();
        }
        drop(self.process.take());
        let process = Process::start(self.folder.path(), self.clock.now(), &["--auto-fund"]);
        self.client.url = process.url();
        let id = self.id.unwrap();
        let view = self.client.view(id, &principal()).await;
        assert_eq!(view["status"], state);
        let report = replay(&Transcript::parse(view.to_string().as_bytes()).unwrap());
        assert!(report.valid, "{report:?}");
        let row = row(scenario, court, "0.5");
        for name in ["principal", "agent", "platform", "charity"] {
            let payee =
                if ["principal", "agent"].contains(&name) { format!("{name} 0.5") } else { name.into() };
            let amount = xno(row[name].as_str().unwrap());
            support::eventually(&format!("{name} has {amount}"), || async {
                (support::live::balance(&process, &self.client.http, address(&payee)).await == amount)
                    .then_some(())
            })
            .await;
        }
        let escrow = self.client.get(&format!("/contracts/{id}/escrow"), None).await.ok();
        let payments = escrow["payments"].as_array().unwrap();
        assert!(payments.iter().all(|p| p["kind"] != "refund" && p["confirmed"] == true), "{escrow}");
        eprintln!("{} deaths at {} points", self.deaths, self.points.len());
        self.points
    }
}

fn verify(success: bool) -> Data {
    Data::Verify {
        success,
        explanation: String::new(),
        exit_code: None,
        output: String::new(),
        failure: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fix_is_paid_once_wherever_the_server_dies() {
    let mut all = BTreeSet::new();
    let soak = std::env::var_os("ZX1_SOAK").is_some_and(|it| it == "1");
    if !soak {
        eprintln!("8 lives; 60 with ZX1_SOAK=1");
    }
    for seed in 0..if soak { 60 } else { 8 } {
        let mut m = Dying::start(seed).await;
        m.working(false).await;
        m.say(EntryType::Verify, 1, "verify", &verify(true), &principal()).await;
        all.extend(m.ends_as("fulfilled", None, "fulfilled").await);
    }
    for point in ["before commit:market", "after commit:market", "before rpc:process", "after rpc:process"] {
        assert!(all.contains(point), "it never died {point}: {all:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ruling_is_paid_once_wherever_the_server_dies() {
    let mut m = Dying::start(100).await;
    m.working(true).await;
    let dispute = Data::DisputeFiled { argument: "no".into(), side: Side::Principal };
    m.say(EntryType::DisputeFiled, 1, "dispute", &dispute, &principal()).await;
    let answer = Data::DisputeResponse { argument: "yes".into(), side: Side::Agent };
    m.say(EntryType::DisputeResponse, 1, "respond", &answer, &agent()).await;
    let id = m.id.unwrap();
    let path = format!("/contracts/{id}/ruling");
    let rerun = |_, hash: [u8; 32], _| {
        let data = support::nothing_to_run().sign(id, &hash, &judge());
        json!({"reexecution": data}).to_string().into_bytes()
    };
    m.until(EntryType::Reexecution, 1, Some((&path, &rerun, &judge()))).await;
    let rule = |_, hash: [u8; 32], _| {
        let data = zx1_market::chain::RulingData::new(Outcome::EvilPrincipal, Court::District, "because");
        json!({"ruling": data.sign(id, &hash, &judge())}).to_string().into_bytes()
    };
    m.until(EntryType::Ruling, 1, Some((&path, &rule, &judge()))).await;
    // The appeal window ends while it is dead.
    drop(m.process.take());
    m.clock.advance(Millis::secs(60));
    m.again();
    m.until(EntryType::Closed, 1, None).await;
    m.ends_as("ruling_evil_principal", Some("district"), "resolved").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_windows_that_end_while_the_server_is_dead_end_after_its_restart() {
    let mut live = Live::start(false).await;
    live.post(&["0.5"], true).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("review").await;
    live.process.kill();
    live.clock.advance(Millis::secs(100_000));
    live.process = Process::start(live.folder.path(), live.clock.now(), &["--auto-fund"]);
    live.client.url = live.process.url();
    live.reach("fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    live.sound("fulfilled").await;
}

#[test]
fn a_test_clock_is_refused_off_loopback() {
    let folder = tempfile::tempdir().unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_fix-server"))
        .args(["--bind", "0.0.0.0", "--port", "0", "--nano", "none", "--test-clock", "1", "--data"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("error 9423"), "{out:?}");
    assert!(out.stdout.is_empty());
}

#[test]
fn a_second_server_on_the_same_data_fails() {
    let folder = folder(|_| {});
    let _first = Process::start(folder.path(), START, &[]);
    let second = command(folder.path()).output().unwrap();
    assert_eq!(second.status.code(), Some(1), "{second:?}");
}

#[test]
fn what_can_be_printed_is_printed_and_ends() {
    let run = |arg: &str| {
        let out = Command::new(env!("CARGO_BIN_EXE_fix-server")).arg(arg).output().unwrap();
        assert!(out.status.success());
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(run("--print-openapi"), zx1_market_server::http::openapi::text());
    let config: zx1_market_server::Config = toml::from_str(&run("--print-config")).unwrap();
    assert_eq!(config, zx1_market_server::Config::default());
    let wrong = Command::new(env!("CARGO_BIN_EXE_fix-server")).arg("--nonsense").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}
