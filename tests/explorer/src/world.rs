//! What the explorer shows: a cluster, a market and an indexer as processes, and people who work with them.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::processes::{get, post, put, ready, start_indexer, text, until_answers};
use serde_json::{Value, json};
use zx1_chain::rpc::registry::first_token_account;
use zx1_chain::rpc::{Client, ClientOptions, Cluster, Draft, Intent, Key, Outbox, Sender, SenderOptions};
use zx1_chain::token::{self, TOKEN_2022_PROGRAM};
use zx1_e2e::{Localnet, Output, Running, Zx1, binary, wait_until};

/// A program that does not link without `-lm`, which the agent's rules know.
const NEEDS_LM: &str = "#include <math.h>\n#include <stdio.h>\n\
    int main(int argc, char **argv) { (void)argv; printf(\"%.3f\\n\", sqrt(argc + 1.0)); return 0; }\n";

/// A name and a command that would do something if they were taken for markup.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)>";

/// An agent on chain, with its owner's command line.
pub struct Party {
    /// The owner's command line.
    pub zx1: Zx1,
    /// The agent's mint.
    pub mint: String,
    /// The name it was registered with.
    pub name: String,
}

impl Party {
    /// Registers an agent. With a stake of so many USDC it lives: its wallet is its key of every scope, one
    /// epoch of lease is paid, and batches can begin.
    #[track_caller]
    pub fn register(net: &Localnet, wallet: usize, name: &str, stake: Option<&str>) -> Self {
        let file = net.wallet_file(wallet);
        let zx1 = Zx1::new(net).keypair(&file);
        let made = zx1.json(["register", "--name", name, "--uri", "https://example.org/a.json", "--yes"]);
        if let Some(stake) = stake {
            zx1.json(["keys", "add", file.to_str().unwrap(), "--scopes", "pay,batch,deal,peer", "--yes"]);
            zx1.json(["stake", "lock", stake, "--yes"]);
            zx1.json(["lease", "pay", "--yes"]);
            zx1.json(["batch", "open", "--yes"]);
        }
        Self { zx1, mint: text(&made["agent"]), name: name.to_owned() }
    }

    /// Sells the agent: its NFT goes from one wallet to another, whose holder takes over with a key, a
    /// stake of this amount in USDC and one more epoch of lease.
    #[track_caller]
    fn sell(&self, net: &Localnet, from: usize, to: usize, stake: &str) {
        give(net, &self.mint, from, to);
        let file = net.wallet_file(to);
        let buyer = Zx1::new(net).keypair(&file).env("ZX1_AGENT", &self.mint);
        buyer.json(["take-over", "--yes"]);
        buyer.json(["keys", "add", file.to_str().unwrap(), "--scopes", "batch,deal,peer", "--yes"]);
        buyer.json(["stake", "lock", stake, "--yes"]);
        buyer.json(["lease", "pay", "--yes"]);
    }

    /// Submits the batch that is due: its epoch.
    #[track_caller]
    fn submits(&self, zx1: &Zx1, place: &str) -> u64 {
        let told = zx1.json(["--agent", &self.mint, "batch", "submit", "--data", place, "--yes"]);
        assert_eq!(told["upload"]["state"], "served", "{told}");
        told["epoch"].as_u64().unwrap_or_else(|| panic!("{told}"))
    }

    /// Pays to see a leaf of this agent's batch: the ask.
    #[track_caller]
    fn is_asked(&self, asker: &Zx1, epoch: u64, tree: &str, index: &str) -> String {
        let epoch = epoch.to_string();
        let line = ["--agent", &self.mint, "ask", "leaf", index, "--epoch", &epoch, "--tree", tree, "--yes"];
        text(&asker.json(line)["ask"])
    }

    /// Makes a message for another agent: its file and conversation.
    #[track_caller]
    fn say(&self, words: &[&str], name: &str) -> (PathBuf, String) {
        let file = self.zx1.home().join(name);
        let mut line = vec!["envelope", "make"];
        line.extend_from_slice(words);
        line.extend(["--out", file.to_str().unwrap()]);
        let made = self.zx1.json(line);
        (file, text(&made["conversation"]))
    }

    #[track_caller]
    fn hears(&self, message: &Path) {
        self.zx1.json(["log", "append", message.to_str().unwrap()]);
    }
}

/// Somebody with the command `fix`: a home, and a folder with a program that does not build.
pub struct Fix {
    home: tempfile::TempDir,
    server: String,
}

impl Fix {
    /// A new home, for this market.
    pub fn new(server: &str) -> Self {
        let home = tempfile::Builder::new().prefix("zx1-fix-").tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        std::fs::write(home.path().join("work/m.c"), NEEDS_LM).unwrap();
        Self { home, server: server.to_owned() }
    }

    /// The command, as JSON; of the environment it sees its home and the PATH.
    pub fn command<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(binary("fix"));
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("NO_COLOR", "1")
            .current_dir(self.home.path().join("work"))
            .stdin(Stdio::null())
            .args(["--json", "--server", &self.server])
            .args(arguments);
        command
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            line: format!("fix {}", arguments.join(" ")),
        }
    }

    /// What a contract is, as `fix show --json` says.
    #[track_caller]
    pub fn show(&self, id: &str) -> Value {
        self.run(&["show", id]).ok().json()
    }

    /// Posts a contract and leaves it to the market: its id.
    #[track_caller]
    fn post(&self, arguments: &[&str]) -> String {
        let mut posting = Running::start(self.command(arguments));
        let said = posting.wait_for("\"entry\":\"opened\"");
        posting.kill9();
        let event = said.lines().find_map(|line| {
            let event: Value = serde_json::from_str(line).ok()?;
            event["contract"].is_string().then_some(event)
        });
        text(&event.unwrap_or_else(|| panic!("no contract is named: {said}"))["contract"])
    }
}

/// The market's contracts.
#[derive(Clone, Debug)]
pub struct Deals {
    /// The id of a paid contract that was fulfilled.
    pub fulfilled: String,
    /// The file in which its principal keeps the transcript.
    pub transcript: PathBuf,
    /// The id of a paid contract that waits for its principal's review.
    pub review: String,
    /// The id of a free contract that nobody has taken, with a hostile command.
    pub open: String,
}

/// Everything together. The processes end when it is dropped.
pub struct World {
    /// The explorer's address.
    pub url: String,
    /// `alice` works and is paid, `bob` hides a message, the third has a hostile name and was sold, `dora` has
    /// neither key nor lease.
    pub agents: Vec<Party>,
    /// Who posts the contracts.
    pub principal: Fix,
    /// Contracts in all their states.
    pub deals: Deals,
    /// The first challenge against Bob's batch.
    pub challenge: String,
    /// The asks for leaves of Alice's batches: one that nobody showed, one that was shown, one that waits.
    pub asks: [String; 3],
    /// The transaction that settled the first of them.
    pub settled: String,
    /// Micro-USDC of leases that the treasury has received.
    pub leases: u64,
    /// The epoch of Bob's batch and of Alice's second one. Her first one, of the epoch before, is withheld.
    pub epoch: u64,
    /// The Solana cluster.
    pub net: Localnet,
    /// The market's line when it was ready.
    pub market: Value,
    indexer: Running,
    market_process: Running,
    folder: tempfile::TempDir,
}

impl World {
    /// Starts it all and lets it happen.
    #[track_caller]
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("zx1-explorer-").tempdir().unwrap();
        let net = Localnet::builder().wallets(7).start();
        let (process, market) = start_market(folder.path());
        let (indexer, url) = start_indexer(&net, Some(&market), folder.path(), "0", &[]);
        let principal = Fix::new(market["url"].as_str().unwrap());
        let alice = Party::register(&net, 0, "alice", Some("95"));
        let (deals, others) = std::thread::scope(|scope| {
            let deals = scope.spawn(|| Deals::make(&principal, &market, &net));
            let others = [
                Party::register(&net, 1, "bob", Some("30")),
                Party::register(&net, 2, HOSTILE, Some("37.5")),
                Party::register(&net, 3, "dora", None),
            ];
            (deals.join(), others)
        });
        let deals = deals.unwrap_or_else(|why| std::panic::resume_unwind(why));
        let agents: Vec<Party> = std::iter::once(alice).chain(others).collect();
        let mut world = Self {
            url,
            agents,
            principal,
            deals,
            challenge: String::new(),
            asks: [const { String::new() }; 3],
            settled: String::new(),
            leases: 0,
            epoch: 0,
            net,
            market,
            indexer,
            market_process: process,
            folder,
        };
        world.list_keys();
        world.leases = world.treasury();
        world.say_and_hide();
        world.write_feedback();
        let before = world.treasury();
        world.agents[2].sell(&world.net, 2, 6, "31");
        world.leases += world.treasury() - before;
        world.caught_up();
        world
    }

    /// Alice lists a key that pays, and one that she ends again.
    #[track_caller]
    fn list_keys(&self) {
        let alice = &self.agents[0];
        for (scopes, ends) in [("pay", false), ("batch,peer", true)] {
            let (_, file) = self.net.new_wallet(0, 0);
            let file = file.to_str().unwrap();
            let listed = alice.zx1.json(["keys", "add", file, "--scopes", scopes, "--yes"]);
            if ends {
                let keys = listed["keys"].as_array().unwrap();
                let key = text(&keys.iter().find(|key| key["scopes"] == scopes).unwrap()["key"]);
                alice.zx1.json(["keys", "end", &key, "--yes"]);
            }
        }
    }

    /// A day on which Alice says something and does not show it later. On the next one she offers Bob a job and he
    /// accepts; a day later both submit batches, and his leaves it out.
    #[track_caller]
    fn say_and_hide(&mut self) {
        let [alice, bob] = [&self.agents[0], &self.agents[1]];
        let place = self.url.clone();
        alice.say(&["propose", "--to", &self.agents[3].mint, "--value", "3"], "unheard");
        self.net.travel_epochs(1);
        let first = alice.submits(&alice.zx1, &place);
        let unshown = alice.is_asked(&bob.zx1, first, "log", "0");

        let offer = ["propose", "--to", &bob.mint, "--value", "250", "--content", "a job"];
        let (offer, talk) = alice.say(&offer, "offer");
        bob.hears(&offer);
        let accept = ["accept", "--to", &alice.mint, "--conversation", &talk, "--value", "250"];
        let (accepted, _) = bob.say(&accept, "accepted");
        alice.hears(&accepted);
        let rating = ["feedback", "--about", &alice.mint, "--conversation", &talk, "--score", "80"];
        let (rating, _) = bob.say(&rating, "rating");
        alice.hears(&rating);
        self.net.travel_epochs(1);
        self.epoch = alice.submits(&alice.zx1, &place);
        // Another home with Bob's key: its log knows nothing of the deal.
        let forgetful = Zx1::new(&self.net).keypair(self.net.wallet_file(1));
        assert_eq!(bob.submits(&forgetful, &place), self.epoch);

        let settled = bob.zx1.json(["ask", "settle", &unshown, "--yes"]);
        assert_eq!(settled["done"], "settled", "{settled}");
        self.settled = text(&settled["signature"]);
        let shown = alice.is_asked(&bob.zx1, self.epoch, "log", "1");
        alice.zx1.json(["ask", "show", &shown, "--data", &place, "--yes"]);
        let waits = alice.is_asked(&bob.zx1, self.epoch, "arrays", "0");
        self.asks = [unshown, shown, waits];

        let file = alice.zx1.home().join("challenge.json");
        let file = file.to_str().unwrap();
        let found = ["challenge", "find", accepted.to_str().unwrap(), "--data", &place, "--out", file];
        alice.zx1.json(found);
        let submitted = alice.zx1.json(["challenge", "submit", file, "--yes"]);
        self.challenge = text(&submitted["challenges"][0]["challenge"]);
    }

    fn treasury(&self) -> u64 {
        self.net.usdc(&self.net.env().treasury.parse().unwrap())
    }

    #[track_caller]
    fn write_feedback(&self) {
        let [alice, bob] = [&self.agents[0], &self.agents[1]];
        alice.zx1.json(["feedback", "submit", "The explorer is slow on my old phone.", "--yes"]);
        bob.zx1.json(["feedback", "submit", HOSTILE, "--yes"]);
        let maintainer = Zx1::new(&self.net).keypair(self.net.key_file("maintainer"));
        let commit = "7e141df0c1".repeat(4);
        maintainer.json(["feedback", "resolve", "0", "--commit", &commit, "--yes"]);
    }

    /// Waits until the indexer has all that the chain and the market have now.
    #[track_caller]
    pub fn caught_up(&self) {
        let slot = self.net.status().slot;
        self.until_indexed("/v1/status", |it| it["slot"].as_u64() >= Some(slot) && it["state"] == "live");
        // Where NFTs lie is looked at from time to time.
        self.until_indexed(&format!("/v1/agents/{}", self.agents[2].mint), |it| {
            it["agent"]["owner"].is_string() && it["agent"]["owner"] == it["agent"]["tenure"]["owner"]
        });
        let deals = &self.deals;
        for (id, state) in [(&deals.fulfilled, "fulfilled"), (&deals.review, "review"), (&deals.open, "open")]
        {
            self.until_indexed("/v1/contracts", |it| {
                it["items"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|one| one["id"] == **id && one["state"] == state)
            });
        }
    }

    /// Waits until the indexer's answer is as it must be.
    #[track_caller]
    pub fn until_indexed(&self, path: &str, is_so: impl Fn(&Value) -> bool) {
        until_answers(&self.url, path, is_so);
    }

    /// What an account of the market's Nano ledger has, in raw: balance and what it may still receive.
    #[track_caller]
    pub fn nano(&self, address: &str) -> (u128, u128) {
        let body = json!({"action": "account_balance", "account": address});
        let answer = post(self.market["nano_rpc"].as_str().unwrap(), &body);
        let number =
            |name: &str| answer[name].as_str().unwrap_or_else(|| panic!("{answer}")).parse().unwrap();
        (number("balance"), number("receivable"))
    }

    /// What the market itself says of a contract to everybody: its line of the list.
    #[track_caller]
    pub fn market_says(&self, id: &str) -> Value {
        let mut list = get(&format!("{}/contracts?limit=200", self.market["url"].as_str().unwrap()));
        let all = list["contracts"].as_array_mut().unwrap();
        let found = all.iter_mut().find(|one| one["id"] == id);
        found.unwrap_or_else(|| panic!("the market has no contract {id}")).take()
    }

    /// When an open contract was opened, and for how long it is open; both in milliseconds, from the market's
    /// own transcript.
    #[track_caller]
    pub fn opened(&self, id: &str) -> (u64, u64) {
        let view = get(&format!("{}/contracts/{id}", self.market["url"].as_str().unwrap()));
        let window = &view["transcript"][1]["data"]["terms"]["windows_ms"]["open"];
        (view["received_at"][1].as_u64().unwrap(), window.as_u64().unwrap())
    }

    /// Stops the indexer's process where it is: whoever asks it waits.
    #[track_caller]
    pub fn stall_indexer(&self) {
        self.signal("-STOP");
        // The signal is only noted when `kill` returns; on a busy machine threads run on for a while.
        let tasks = format!("/proc/{}/task", self.indexer.pid());
        wait_until("every thread of the indexer stands still", || {
            let stopped = |task: std::io::Result<std::fs::DirEntry>| {
                let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
                // The name in parentheses may hold anything; the state is the letter after it.
                stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
            };
            std::fs::read_dir(&tasks).unwrap().all(stopped).then_some(())
        });
    }

    /// Lets it go on.
    #[track_caller]
    pub fn wake_indexer(&self) {
        self.signal("-CONT");
    }

    #[track_caller]
    fn signal(&self, signal: &str) {
        send(&self.indexer, signal);
    }

    /// Stops the market and its Nano ledger from running, until [`World::wake_market`].
    #[track_caller]
    pub fn stall_market(&self) {
        send(&self.market_process, "-STOP");
    }

    /// Lets them go on.
    #[track_caller]
    pub fn wake_market(&self) {
        send(&self.market_process, "-CONT");
    }

    /// What the indexer answers.
    #[track_caller]
    pub fn indexed(&self, path: &str) -> Value {
        get(&format!("{}{path}", self.url))
    }

    /// Kills the indexer as a power cut would, and starts it again on the same port.
    #[track_caller]
    pub fn kill_indexer(&mut self) {
        self.indexer.kill9();
    }

    /// Starts it again, on the same port and data.
    #[track_caller]
    pub fn restart_indexer(&mut self) {
        let port = self.url.rsplit(':').next().unwrap();
        let (indexer, url) = start_indexer(&self.net, Some(&self.market), self.folder.path(), port, &[]);
        assert_eq!(url, self.url);
        self.indexer = indexer;
    }

    /// Publishes a party's binding record, so that the indexer knows its Nano account: that address.
    #[track_caller]
    pub fn bind(&self, party: &Party) -> String {
        let record = party.zx1.home().join("binding.json");
        party.zx1.run(["bind", "--file", record.to_str().unwrap()]).ok();
        let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        put(&format!("{}/v1/bindings", self.url), &record);
        text(&record["nano"])
    }

    /// Where a file of a test may lie.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Deals {
    #[track_caller]
    fn make(principal: &Fix, market: &Value, net: &Localnet) -> Self {
        let build = ["gcc", "m.c", "-o", "m"];
        let options = ["--market", "--yes", "--accept-corrected", "--bounty", "0.5"];
        // Another command: the same one would go on with this contract.
        let alone = [&options[..], &["--autonomous", "gcc", "m.c", "-o", "later"]].concat();
        let review = principal.post(&alone);
        // The agent is Alice: one key (decision A1).
        let agent = Fix::new(market["url"].as_str().unwrap());
        let key = net.wallet_file(0);
        let working = Running::start(agent.command(["--key", key.to_str().unwrap(), "agent"]));
        wait_until("the fix waits for review", || {
            (principal.show(&review)["state"] == "review").then_some(())
        });
        let said = principal.run(&[&options[..], &build].concat()).ok();
        let end = said.stdout.lines().find_map(|line| {
            let event: Value = serde_json::from_str(line).ok()?;
            (event["event"] == "ended").then_some(event)
        });
        let end = end.unwrap_or_else(|| panic!("{said}"));
        assert_eq!(end["state"], "fulfilled", "{said}");
        drop(working);
        let open = principal.post(&["--yes", "sh", "-c", "exit 7", HOSTILE]);
        Self {
            fulfilled: text(&end["contract"]),
            transcript: PathBuf::from(text(&end["transcript"])),
            review,
            open,
        }
    }
}

#[track_caller]
fn send(process: &Running, signal: &str) {
    let sent = Command::new("kill").args([signal, &process.pid().to_string()]).status().unwrap();
    assert!(sent.success(), "the process is not there");
}

/// Moves an agent's NFT from one wallet to another.
#[track_caller]
fn give(net: &Localnet, mint: &str, from: usize, to: usize) {
    let address = |index: usize| {
        let wallet = net.env().wallet(&format!("wallet-{}", index + 1)).unwrap();
        wallet.address.parse().unwrap()
    };
    let (seller, buyer, agent) = (address(from), address(to), mint.parse().unwrap());
    let accounts = [first_token_account(&seller, agent), first_token_account(&buyer, agent)];
    let nft = agent.into();
    let create = token::create_associated(&seller, &buyer, &nft, &TOKEN_2022_PROGRAM);
    let moved =
        token::transfer(&accounts[0], &nft, &accounts[1], &seller, (1, 0), &TOKEN_2022_PROGRAM).unwrap();
    let intent = Intent::new("give", &[&agent, &buyer]);
    let draft = Draft::new(intent, "Give the agent away", seller, vec![create, moved]);
    let folder = tempfile::tempdir().unwrap();
    let client = Client::new(Cluster::parse(net.rpc_url()).unwrap(), ClientOptions::default());
    let sender = Sender::new(client, Outbox::open(folder.path()).unwrap(), SenderOptions::default());
    let key = net.wallet(from);
    let keys: [Key<'_>; 1] = [&key];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(sender.run(&draft, &keys, &mut |_| Ok(()))).unwrap();
}

/// `fix-server` with its embedded ledger, and its line when it is ready.
#[track_caller]
fn start_market(folder: &Path) -> (Running, Value) {
    let config = folder.join("market.toml");
    // Nobody takes the open contract while the tests look at it.
    std::fs::write(&config, "[windows_ms]\nopen = 3600000\n").unwrap();
    let mut command = Command::new(binary("fix-server"));
    command
        .args(["--auto-fund", "--port", "0", "--config"])
        .arg(config)
        .arg("--data")
        .arg(folder.join("market"))
        .env_remove("FIX_NANO_SEED")
        .env("FIX_LOG", "error");
    ready(command, "\"url\"")
}
