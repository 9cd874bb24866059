//! kill -9 of an agent's process at every step that it keeps: it neither bonds nor pays twice, and forgets no
//! contract.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use nano_escrow::{Address, Raw};
use zx1_agent::worker::{Folder, Hooks, Record, Store, WorkError, Worker};
use zx1_market::{ContractId, EntryType, Millis, State};
use zx1_market_client::{Clock, Market, Options, Pin, Purse, Transcripts, WalletPurse};

use crate::support::*;

/// Where the child dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    Never,
    /// Before and behind the n-th save of a record.
    Save(u32, bool),
    /// Before and behind the payment of the deposit.
    Pay(bool),
    /// Before and behind the removal of the record.
    Remove(bool),
}

impl Death {
    fn text(self) -> String {
        match self {
            Death::Never => "never".to_owned(),
            Death::Save(n, behind) => format!("save {n} {behind}"),
            Death::Pay(behind) => format!("pay 0 {behind}"),
            Death::Remove(behind) => format!("remove 0 {behind}"),
        }
    }

    fn parse(text: &str) -> Death {
        let words: Vec<&str> = text.split(' ').collect();
        match words[0] {
            "save" => Death::Save(words[1].parse().unwrap(), words[2] == "true"),
            "pay" => Death::Pay(words[2] == "true"),
            "remove" => Death::Remove(words[2] == "true"),
            _ => Death::Never,
        }
    }
}

/// SIGKILL to oneself.
fn die() -> ! {
    Command::new("kill").args(["-9", &std::process::id().to_string()]).status().unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

struct Mortal<T> {
    inner: T,
    death: Death,
    saves: AtomicU32,
}

impl Store for Mortal<Folder> {
    fn load(&self) -> Result<Vec<Record>, WorkError> {
        self.inner.load()
    }

    fn save(&self, record: &Record) -> Result<(), WorkError> {
        let n = self.saves.fetch_add(1, Ordering::SeqCst) + 1;
        if self.death == Death::Save(n, false) {
            die();
        }
        self.inner.save(record)?;
        if self.death == Death::Save(n, true) {
            die();
        }
        Ok(())
    }

    fn remove(&self, contract: ContractId) -> Result<(), WorkError> {
        if self.death == Death::Remove(false) {
            die();
        }
        self.inner.remove(contract)?;
        if self.death == Death::Remove(true) {
            die();
        }
        Ok(())
    }
}

impl Purse for Mortal<WalletPurse> {
    fn network(&self) -> Option<zx1_market::NetworkId> {
        self.inner.network()
    }

    fn address(&self) -> BoxFuture<'_, zx1_market_client::Result<Address>> {
        self.inner.address()
    }

    fn balance(&self) -> BoxFuture<'_, zx1_market_client::Result<Raw>> {
        self.inner.balance()
    }

    fn pay<'a>(
        &'a self,
        id: &'a str,
        to: Address,
        amount: Raw,
    ) -> BoxFuture<'a, zx1_market_client::Result<()>> {
        Box::pin(async move {
            if self.death == Death::Pay(false) {
                die();
            }
            self.inner.pay(id, to, amount).await?;
            if self.death == Death::Pay(true) {
                die();
            }
            Ok(())
        })
    }
}

/// What goes wrong in a child stands in its folder.
struct Told;

impl Hooks for Told {
    fn on_error(&self, contract: Option<ContractId>, error: &WorkError) {
        eprintln!("{contract:?}: {error}");
    }
}

/// The child: an agent with a journalled wallet, until it dies or is killed. As a test of its own it has
/// nothing to do.
#[tokio::test]
async fn an_agent_process() {
    let Ok(url) = std::env::var("ZX1_AGENT_CHILD_URL") else { return };
    let text = |name: &str| std::env::var(name).unwrap();
    let folder = PathBuf::from(text("ZX1_AGENT_CHILD_FOLDER"));
    let n: u8 = text("ZX1_AGENT_CHILD_KEY").parse().unwrap();
    let death = Death::parse(&text("ZX1_AGENT_CHILD_DEATH"));
    let transcripts = Transcripts::open(folder.join("transcripts")).unwrap();
    let options = Options {
        transcripts: Some(Arc::new(transcripts)),
        poll: Duration::from_millis(10),
        clock: Clock::Server,
        ..Options::default()
    };
    let market =
        Market::connect(&url, key(n), Pin::File(folder.join("servers.json")), options).await.unwrap();
    let wallet = wallet(&text("ZX1_AGENT_CHILD_RPC"), &folder.join("wallet.db"), &format!("child {n}")).await;
    let purse = WalletPurse::new(wallet, nano_escrow::Network::Dev, 0).confirm_within(PATIENCE);
    let purse = Mortal { inner: purse, death, saves: AtomicU32::new(0) };
    let store = Mortal { inner: Folder::open(folder.join("work")).unwrap(), death, saves: AtomicU32::new(0) };
    let worker = Worker::new(market, crate::worker::quick(), Box::new(store))
        .with_purse(Arc::new(purse))
        .with_hooks(Arc::new(Told));
    worker.run(std::future::pending()).await.unwrap();
}

/// A child that never outlives its test.
struct Kin(Child);

impl Drop for Kin {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn child(world: &World, folder: &Path, n: u8, death: Death) -> Kin {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::an_agent_process", "--nocapture"])
        .env("ZX1_AGENT_CHILD_URL", world.url())
        .env("ZX1_AGENT_CHILD_RPC", world.devnet().rpc_url())
        .env("ZX1_AGENT_CHILD_FOLDER", folder)
        .env("ZX1_AGENT_CHILD_KEY", n.to_string())
        .env("ZX1_AGENT_CHILD_DEATH", death.text())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::options().create(true).append(true).open(folder.join("stderr")).unwrap())
        .spawn()
        .unwrap();
    Kin(child)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_killed_at_any_step_bonds_once_pays_once_and_finishes() {
    let world = World::start().await;
    let terms = world.terms().await;
    // The saves: the bond, the deposit, the contract is ours, the acceptance, the fix.
    let mut deaths = vec![Death::Pay(false), Death::Pay(true), Death::Remove(false), Death::Remove(true)];
    deaths.extend((1..=5).flat_map(|n| [Death::Save(n, false), Death::Save(n, true)]));
    for (at, death) in deaths.into_iter().enumerate() {
        let n = u8::try_from(20 + at).unwrap();
        // Otherwise this post would be the one before, sent again.
        world.clock.advance(Millis(1_000));
        let folder = world.folder.path().join(format!("child-{n}"));
        std::fs::create_dir_all(&folder).unwrap();
        // Money for two deposits: a second one would be paid if it could.
        let first = wallet(&world.devnet().rpc_url(), &folder.join("wallet.db"), &format!("child {n}")).await;
        let address = first.account(0).await.unwrap();
        drop(first);
        world.devnet().faucet(address, xno("2")).await.unwrap();
        let bench = Bench::lacks_folder();
        let id = world.open(&bench.contract(&terms, "0.5", &[], |_| {})).await;

        let mut mortal = child(&world, &folder, n, death);
        eprintln!("{death:?} in {}", folder.display());
        let served = async {
            let status = tokio::task::spawn_blocking(move || mortal.0.wait().unwrap()).await.unwrap();
            assert_eq!(status.signal(), Some(9), "{death:?} did not come");
            let second = child(&world, &folder, n, Death::Never);
            eventually(&format!("it finishes after {death:?}"), || async {
                let view = world.principal.view(id).await.unwrap();
                let done = view.state() == State::Fulfilled;
                let kept = std::fs::read_dir(folder.join("work")).is_ok_and(|mut dir| {
                    dir.any(|f| f.is_ok_and(|f| f.path().extension().is_some_and(|e| e == "json")))
                });
                (done && !kept).then_some(())
            })
            .await;
            drop(second);
        };
        let (end, ()) = tokio::join!(bench.serve(&world.principal, id, true), served);
        assert_eq!(end.state(), State::Fulfilled, "{death:?}");
        let count = |kind| end.entries().iter().filter(|e| e.kind() == kind).count();
        assert_eq!(
            (count(EntryType::Bond), count(EntryType::Accept), count(EntryType::Fix)),
            (1, 1, 1),
            "{death:?}"
        );
        // 2 of its own, the bounty less a tenth; the deposit came back, and nothing else left.
        eventually(&format!("the money is right after {death:?}"), || async {
            (world.balance(address) == xno("2.45")).then_some(())
        })
        .await;
    }
}
