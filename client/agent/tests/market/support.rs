//! A real server with an embedded ledger, its parties, and a principal that really runs commands.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nano_devnet::Devnet;
use nano_escrow::escrow::{Options as EscrowOptions, Parts};
use nano_escrow::journal::Journal;
use nano_escrow::node::{HttpNode, HttpOptions};
use nano_escrow::wallet::Wallet;
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, PrivateKey, Raw, Seed};
use zx1_market::chain::Data;
use zx1_market::contract::{Contract, Corrected, Execution, InputFile};
use zx1_market::{ContractId, EntryType, Millis, PartyKey, State, Terms};
use zx1_market_client::{Clock, Market, Options, Pin, Transcripts, View, WalletPurse};
use zx1_market_server::clock::DrivenClock;
use zx1_market_server::http::Rate;
use zx1_market_server::{Config, Options as ServerOptions, Server};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const START: Millis = Millis(1_800_000_000_000);

pub(crate) fn key(n: u8) -> Arc<PartyKey> {
    Arc::new(PartyKey::from_seed(&[n; 32]))
}

pub(crate) fn address(name: &str) -> Address {
    PrivateKey::from_bytes(nano_escrow::blake2b_256(&[b"agent test", name.as_bytes()])).address()
}

pub(crate) fn xno(text: &str) -> Raw {
    Raw::from_xno(text).unwrap()
}

/// Wait for a condition, with a deadline.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut check: impl FnMut() -> F,
) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A server with everything around it.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) config: Config,
    pub(crate) server: Option<Server>,
    pub(crate) clock: DrivenClock,
    /// The principal, key 1.
    pub(crate) principal: Market,
}

impl World {
    pub(crate) async fn start() -> World {
        World::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> World {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut config = Config {
            bind: "127.0.0.1:0".parse().unwrap(),
            data: folder.path().join("server"),
            ..Config::default()
        };
        config.judges = vec![key(9).id()];
        config.nano.deposit_poll_ms = 10;
        config.nano.work_threads = 1;
        config.nano.platform_address = address("platform").to_string();
        config.nano.charity_address = address("charity").to_string();
        let plenty = Rate { burst: 1_000_000, per_second: 1_000_000 };
        (config.limits.address, config.limits.key, config.limits.posts) = (plenty, plenty, plenty);
        change(&mut config);
        std::fs::create_dir_all(&config.data).unwrap();
        let clock = DrivenClock::new(START);
        let server = boot(&config, &clock).await;
        let principal = connect(server.url(), &clock, key(1), folder.path()).await;
        World { folder, config, server: Some(server), clock, principal }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn url(&self) -> &str {
        self.server().url()
    }

    pub(crate) fn devnet(&self) -> Arc<Devnet> {
        self.server().devnet().unwrap().clone()
    }

    /// A party with a transcript folder of its own.
    pub(crate) async fn party(&self, n: u8) -> Market {
        connect(self.url(), &self.clock, key(n), self.folder.path()).await
    }

    pub(crate) async fn terms(&self) -> Terms {
        self.principal.terms().await.unwrap()
    }

    /// What somebody got on the ledger.
    pub(crate) fn balance(&self, account: Address) -> Raw {
        let account = self.devnet().account(account);
        Raw::checked_sum(account.receivable.values().copied().chain([account.balance])).unwrap()
    }

    /// A wallet with this much money in it.
    pub(crate) async fn wallet(&self, name: &str, amount: &str) -> (Wallet, Address) {
        let wallet =
            wallet(&self.devnet().rpc_url(), &self.folder.path().join(format!("{name}.db")), name).await;
        let address = wallet.account(0).await.unwrap();
        self.devnet().faucet(address, xno(amount)).await.unwrap();
        eventually("the wallet has its money", || async {
            wallet.receive_all(0).await.ok()?;
            (wallet.balance(0).await.ok()?.confirmed >= xno(amount)).then_some(())
        })
        .await;
        (wallet, address)
    }

    pub(crate) async fn purse(&self, name: &str, amount: &str) -> (Arc<WalletPurse>, Address) {
        let (wallet, address) = self.wallet(name, amount).await;
        (Arc::new(WalletPurse::new(wallet, nano_escrow::Network::Dev, 0).confirm_within(PATIENCE)), address)
    }

    /// A contract; with a bounty it is paid for from the faucet. It has been opened then; an agent that is at
    /// work may have taken it already.
    pub(crate) async fn open(&self, contract: &Contract) -> ContractId {
        let posted = self.principal.post(contract, Some(address("principal"))).await.unwrap();
        if let Some(deposit) = &posted.deposit {
            self.devnet().faucet(deposit.address, deposit.amount).await.unwrap();
        }
        let view = self.principal.wait_open(&posted, PATIENCE).await.unwrap();
        assert!(view.entries().iter().any(|entry| entry.kind() == EntryType::Opened), "{:?}", view.state());
        posted.id
    }

    /// Look at a contract until it is in this state.
    pub(crate) async fn until(&self, id: ContractId, state: State) -> View {
        self.principal.wait(id, state.as_str(), PATIENCE, |view| view.state() == state).await.unwrap()
    }
}

pub(crate) async fn boot(config: &Config, clock: &DrivenClock) -> Server {
    let options = ServerOptions { test_clock: Some(clock.clone()), ..ServerOptions::default() };
    Server::start(config, options).await.unwrap()
}

pub(crate) fn options(clock: &DrivenClock) -> Options {
    let clock = clock.clone();
    Options {
        poll: Duration::from_millis(10),
        pause: Duration::from_millis(10),
        clock: Clock::Here(Arc::new(clock)),
        ..Options::default()
    }
}

pub(crate) async fn connect(url: &str, clock: &DrivenClock, key: Arc<PartyKey>, folder: &Path) -> Market {
    let transcripts = Transcripts::open(folder.join(format!("transcripts-{}", key.id().hex()))).unwrap();
    let options = Options { transcripts: Some(Arc::new(transcripts)), ..options(clock) };
    Market::connect(url, key, Pin::Any, options).await.unwrap()
}

/// A journalled wallet over the ledger's RPC, as an agent's program has it.
pub(crate) async fn wallet(rpc: &str, journal: &Path, name: &str) -> Wallet {
    let seed = Seed::from_bytes(nano_escrow::blake2b_256(&[b"agent wallet", name.as_bytes()]));
    let fingerprint = nano_escrow::escrow::Keys::fingerprint(&seed);
    let journal = Journal::open(journal, Network::Dev, &fingerprint).await.unwrap();
    let node = HttpNode::new(rpc, HttpOptions::default()).unwrap();
    let peers =
        WorkPeers::new(Vec::<(String, Arc<dyn nano_escrow::node::NodeApi>)>::new(), Duration::from_secs(30));
    let work = WorkService::new(journal.work_cache(), peers, Some(Solver::default()));
    let representative = Address::from(Network::DEV_GENESIS_ACCOUNT);
    let mut options = EscrowOptions::new(Network::Dev, representative);
    options.poll = Duration::from_millis(20);
    let wallet = Wallet::new(Parts::new(journal, Arc::new(node), work, Arc::new(seed), options));
    wallet.recover().await.unwrap();
    wallet
}

/// A folder with a failing command, on which a principal's client works.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) command: &'static str,
}

impl Bench {
    /// `script` makes the folder; `command` fails in it.
    pub(crate) fn new(script: &str, command: &'static str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench { folder, command };
        assert_eq!(bench.sh(script).0, 0);
        assert_ne!(bench.sh(command).0, 0);
        bench
    }

    /// A program that lacks a library flag: the command is wrong.
    pub(crate) fn lacks_lm() -> Bench {
        Bench::new(
            "printf '#include <math.h>\\n#include <stdio.h>\\nint main(int argc, char **argv) { (void)argv; \
             printf(\"%%.0f\\\\n\", sqrt(argc * 4.0) + pow(argc, 3.0)); return 0; }\\n' > app.c",
            "gcc app.c -o app",
        )
    }

    /// A folder that is missing: the world is wrong.
    pub(crate) fn lacks_folder() -> Bench {
        Bench::new("echo 'int main(void) { return 0; }' > a.c", "gcc a.c -o build/bin/app")
    }

    /// Something that no rule knows.
    pub(crate) fn unknown() -> Bench {
        Bench::new("true", "echo 'the frobnicator is out of whack' >&2; exit 3")
    }

    pub(crate) fn sh(&self, line: &str) -> (i64, String) {
        let output = Command::new("/bin/sh")
            .args(["-c", &format!("exec 2>&1\n{line}")])
            .current_dir(self.folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let code = output.status.code().unwrap_or(128);
        (i64::from(code), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A contract for it. With `inputs` its files are attached.
    pub(crate) fn contract(
        &self,
        terms: &Terms,
        bounty: &str,
        inputs: &[&str],
        change: impl FnOnce(&mut Execution),
    ) -> Contract {
        let (_, error) = self.sh(self.command);
        let plain = Contract::builder(self.command, error.clone()).build(terms).unwrap();
        let mut execution = plain.execution;
        execution.investigation_rate = 0;
        execution.max_attempts = 2;
        execution.corrected_command = Some(Corrected::Asks);
        change(&mut execution);
        let mut builder = Contract::builder(self.command, error).execution(execution);
        if !bounty.is_empty() {
            builder = builder.bounty(xno(bounty));
        }
        for path in inputs {
            let content = std::fs::read(self.folder.path().join(path)).unwrap();
            builder = builder.input(InputFile { path: (*path).to_owned(), content, executable: false });
        }
        builder.build(terms).unwrap()
    }

    /// What a principal's client does until the contract has ended or `judge` refuses a fix: answers
    /// investigations, runs fixes, posts the verification.
    pub(crate) async fn serve(&self, market: &Market, id: ContractId, honest: bool) -> View {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            assert!(tokio::time::Instant::now() < deadline, "the contract did not end");
            let view = market.view(id).await.unwrap();
            let case = view.case();
            if view.state().is_terminal() || (!honest && case.closing_at().is_some()) {
                return view;
            }
            if let Some(command) = case.pending_investigations().first() {
                let command = command.clone();
                let (exit, output) = self.investigate(&command);
                market.result(id, &command, output, Some(exit), false).await.unwrap();
            } else if case.is_verifying() {
                let fix = view.entries().iter().rev().find(|e| e.kind() == EntryType::Fix).unwrap();
                let (Data::Fix { fix, corrected_command, .. }, _) = fix.read().unwrap() else {
                    unreachable!()
                };
                let (_, said) = self.sh(&fix);
                let (exit, output) = self.sh(corrected_command.as_deref().unwrap_or(self.command));
                let success = honest && exit == 0;
                market.verify(id, success, said, Some(exit), output).await.unwrap();
            } else {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    /// Answers investigations until a fix is there.
    pub(crate) async fn until_fix(&self, market: &Market, id: ContractId) {
        eventually("a fix is there", || async {
            let view = market.view(id).await.unwrap();
            if let Some(command) = view.case().pending_investigations().first() {
                let (exit, output) = self.investigate(command);
                market.result(id, command, output, Some(exit), false).await.unwrap();
            }
            view.case().is_verifying().then_some(())
        })
        .await;
    }

    /// An investigation as the whitelist reads it: no shell.
    fn investigate(&self, line: &str) -> (i64, String) {
        let command = zx1_whitelist::Command::parse(line).unwrap();
        let output = Command::new(&command.program)
            .args(&command.argv[1..])
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (i64::from(output.status.code().unwrap_or(128)), String::from_utf8_lossy(&text).into_owned())
    }
}
