//! The cluster of one sweep, and what is set up on it without the command line.

use std::future::Future;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use solana_address::Address;
use solana_keypair::Keypair;
use zx1_chain::rpc::actions::Actions;
use zx1_e2e::{Localnet, Zx1};

use crate::party::Party;
use crate::sweep::Facts;
use zx1_protocol::ids::AgentId;

/// A cluster, and a runtime for the chain client.
pub(crate) struct World {
    pub(crate) net: Localnet,
    runtime: tokio::runtime::Runtime,
    /// Reads; has no money.
    pub(crate) eye: Party,
    /// Of agents that register at once all but one have to begin anew.
    registering: Mutex<()>,
}

/// A wallet with its command line and its chain client.
pub(crate) struct Owner {
    pub(crate) party: Party,
    pub(crate) zx1: Zx1,
}

impl Owner {
    pub(crate) fn address(&self) -> Address {
        self.party.address()
    }
}

/// For a machine that does many other things.
fn unhurried(key: Keypair, url: &str) -> Party {
    Party::with_limits(key, url, Duration::from_secs(90), Duration::from_secs(60))
}

impl World {
    pub(crate) fn new() -> Self {
        let mut net = Localnet::builder();
        // With 20 a transaction that is not taken is dead before the command is run again.
        if let Some(ms) = std::env::var("ZX1_SLOT_MS").ok().and_then(|text| text.parse().ok()) {
            net = net.slot_time(ms);
        }
        let net = net.start();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let eye = unhurried(net.new_wallet(0, 0).0, net.rpc_url());
        Self { net, runtime, eye, registering: Mutex::new(()) }
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// A new wallet of 1 SOL and 100 USDC.
    pub(crate) fn owner(&self) -> Owner {
        self.owner_of(1, 100)
    }

    pub(crate) fn owner_of(&self, sol: u64, usdc: u64) -> Owner {
        let (key, file) = self.net.new_wallet(sol, usdc);
        let zx1 = Zx1::new(&self.net).keypair(file);
        Owner { party: unhurried(key, self.net.rpc_url()), zx1 }
    }

    /// Makes the owner an agent.
    pub(crate) fn register(&self, owner: &Owner) -> AgentId {
        let _one_at_a_time = self.registering.lock().unwrap();
        self.wait(owner.party.register("Ann"))
    }

    /// Makes the owner a living agent, whose wallet is its key of every scope.
    pub(crate) fn living_agent(&self, owner: &Owner) -> AgentId {
        let mint = self.register(owner);
        self.wait(owner.party.bring_to_life(mint));
        mint
    }

    /// The one ready-made wallet of this name, as an owner.
    pub(crate) fn named(&self, name: &str) -> Zx1 {
        Zx1::new(&self.net).keypair(self.net.key_file(name))
    }

    /// Does the same so many times, several at once.
    pub(crate) fn times<T: Send>(&self, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        let one = make(number);
                        made.lock().unwrap().push(one);
                    }
                });
            }
        });
        made.into_inner().unwrap()
    }

    /// Does something with the actions of a wallet.
    pub(crate) fn act(&self, owner: &Owner, act: impl AsyncFnOnce(&Actions<'_>, &Party)) {
        self.wait(async {
            let sati = owner.party.sati().await;
            let actions = Actions::new(&owner.party.client, &sati).await.unwrap();
            act(&actions, &owner.party).await;
        });
    }

    /// What a wallet holds.
    pub(crate) fn purse(&self, wallet: &Address) -> Facts {
        Facts::from([
            ("usdc", i128::from(self.net.usdc(wallet))),
            ("lamports", i128::from(self.net.lamports(wallet))),
        ])
    }

    pub(crate) fn treasury(&self) -> u64 {
        self.net.usdc(&self.net.env().treasury.parse().unwrap())
    }

    /// The last epoch that is over.
    pub(crate) fn yesterday(&self) -> u64 {
        self.net.status().epoch - 1
    }
}

/// Files below a folder.
pub(crate) fn files_in(folder: &Path) -> i128 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { files_in(&path) } else { 1 })
        .sum()
}

/// Words as a command line.
pub(crate) fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

/// The same, of an agent and without a question.
pub(crate) fn of_agent(mint: AgentId, line: &[&str]) -> Vec<String> {
    let mut all = words(line);
    all.extend(["--agent".to_owned(), mint.to_string(), "--yes".to_owned()]);
    all
}
