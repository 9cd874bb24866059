//! Registration, keys, stake, lease and a new holder.

use solana_address::Address;
use zx1_chain::rpc::registry::IdentityRegistry as _;

use crate::party::AMOUNTS;
use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{Owner, World, of_agent, words};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::MicroUsdc;

const SWEEP: Sweep<'_> = Sweep { name: "", expected: &[], tolerance: &[], kill: false };

/// Stake, lease and purse of an agent's owner.
fn standing(world: &World, wallet: &Address, mint: AgentId) -> Facts {
    let mut facts = world.purse(wallet);
    let (stake, lease) = world.wait(async {
        let client = &world.eye.client;
        (client.stake(mint, 0).await.unwrap(), client.lease(mint).await.unwrap())
    });
    let stake = stake.as_ref();
    facts.insert("stake", stake.map_or(0, |stake| i128::from(stake.stake_usdc)));
    facts.insert("unlocking", stake.map_or(0, |stake| i128::from(stake.in_unlock_queue)));
    facts.insert("paid through", lease.map_or(0, |lease| i128::from(lease.paid_through_epoch)));
    facts
}

fn staged(owner: Owner, mint: AgentId, line: &[&str]) -> Staged {
    let wallet = owner.address();
    Staged {
        line: of_agent(mint, line),
        measure: Box::new(move |world| standing(world, &wallet, mint)),
        zx1: owner.zx1,
    }
}

/// `count` agents, each with an owner of its own, after `prepare`.
fn agents(world: &World, count: usize, prepare: impl Fn(&Owner, AgentId) + Sync) -> Vec<(Owner, AgentId)> {
    world.times(count, |_| {
        let owner = world.owner();
        let mint = world.register(&owner);
        prepare(&owner, mint);
        (owner, mint)
    })
}

/// Makes the vault of the agent's shard, if no agent of the shard has one yet. Which of several agents is the first
/// of its shard is chance, and the first pays the vault's rent.
fn open_vault(world: &World, owner: &Owner, mint: AgentId) {
    world.act(owner, async |actions, party| {
        party.run(&actions.open_vault(mint, party.address()).await.unwrap()).await;
    });
}

fn lock(world: &World, owner: &Owner, mint: AgentId) {
    world.act(owner, async |actions, party| {
        party
            .run(&actions.lock_stake(mint, party.address(), MicroUsdc(AMOUNTS.min_stake)).await.unwrap())
            .await;
    });
}

fn queue(world: &World, owner: &Owner, mint: AgentId) {
    world.act(owner, async |actions, party| {
        party.run(&actions.queue_unlock(mint, party.address(), 0).await.unwrap()).await;
    });
}

#[test]
fn register() {
    let sweep = Sweep {
        name: "register",
        expected: &[("agents", 1), ("usdc", 0)],
        // Of several that register at once one gets the number; what the others sent may land and fail.
        tolerance: &[("lamports", 40_000)],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        world.times(count, |_| {
            let owner = world.owner();
            let wallet = owner.address();
            Staged {
                zx1: owner.zx1,
                line: words(&["register", "--name", "ann", "--uri", "https://example.org/a.json", "--yes"]),
                measure: Box::new(move |world| {
                    let mut facts = world.purse(&wallet);
                    let agents = world.wait(async {
                        let sati = world.eye.sati().await;
                        sati.agents_of_wallet(wallet).await.unwrap().len()
                    });
                    facts.insert("agents", agents.try_into().unwrap());
                    facts
                }),
            }
        })
    });
}

#[test]
fn stake_lock() {
    let expected = &[("usdc", -30_000_000), ("stake", 30_000_000)];
    Sweep { name: "stake lock", expected, kill: true, ..SWEEP }.run(&World::new(), |world, count| {
        let all = agents(world, count, |owner, mint| open_vault(world, owner, mint)).into_iter();
        all.map(|(owner, mint)| staged(owner, mint, &["stake", "lock", "30"])).collect()
    });
}

#[test]
fn stake_unlock() {
    let expected = &[("usdc", 0), ("stake", 0), ("unlocking", 1)];
    Sweep { name: "stake unlock", expected, ..SWEEP }.run(&World::new(), |world, count| {
        let all = agents(world, count, |owner, mint| lock(world, owner, mint)).into_iter();
        all.map(|(owner, mint)| staged(owner, mint, &["stake", "unlock"])).collect()
    });
}

#[test]
fn stake_cancel() {
    let expected = &[("usdc", 0), ("stake", 0), ("unlocking", -1)];
    Sweep { name: "stake cancel", expected, ..SWEEP }.run(&World::new(), |world, count| {
        let prepare = |owner: &Owner, mint| {
            lock(world, owner, mint);
            queue(world, owner, mint);
            world.act(owner, async |actions, party| {
                party.run(&actions.pay_lease(mint, party.address(), 1).await.unwrap()).await;
            });
        };
        let all = agents(world, count, prepare).into_iter();
        all.map(|(owner, mint)| staged(owner, mint, &["stake", "cancel"])).collect()
    });
}

#[test]
fn stake_claim() {
    let expected = &[("usdc", 30_000_000), ("stake", -30_000_000), ("unlocking", -1)];
    Sweep { name: "stake claim", expected, ..SWEEP }.run(&World::new(), |world, count| {
        let prepare = |owner: &Owner, mint| {
            lock(world, owner, mint);
            queue(world, owner, mint);
        };
        let all = agents(world, count, prepare).into_iter();
        let all = all.map(|(owner, mint)| staged(owner, mint, &["stake", "claim"])).collect();
        world.net.travel_slots(432_001);
        all
    });
}

#[test]
fn lease_pay() {
    let world = World::new();
    let before = world.treasury();
    let paying = std::sync::atomic::AtomicU64::new(0);
    let sweep = Sweep { name: "lease pay", expected: &[("usdc", -2_000_000)], kill: true, ..SWEEP };
    sweep.run(&world, |world, count| {
        paying.fetch_add(count.try_into().unwrap(), std::sync::atomic::Ordering::Relaxed);
        let all = agents(world, count, |_, _| {}).into_iter();
        all.map(|(owner, mint)| staged(owner, mint, &["lease", "pay", "--epochs", "2"])).collect()
    });
    assert_eq!(world.treasury() - before, 2_000_000 * paying.into_inner(), "what all of them paid");
}

/// The agent's keys by their standing, its attestations at SATI, and its tenure.
fn keys(world: &World, wallet: &Address, mint: AgentId) -> Facts {
    let mut facts = world.purse(wallet);
    let (keys, delegates, tenure) = world.wait(async {
        let (client, sati) = (&world.eye.client, world.eye.sati().await);
        let tenure = client.tenure(mint).await.unwrap();
        (client.keys(mint).await.unwrap(), sati.delegates(mint).await.unwrap().len(), tenure)
    });
    let live = keys.iter().filter(|key| key.ended_slot == 0).count();
    facts.insert("live", live.try_into().unwrap());
    facts.insert("ended", (keys.len() - live).try_into().unwrap());
    facts.insert("delegates", delegates.try_into().unwrap());
    facts.insert("tenure", tenure.map_or(0, |tenure| i128::from(tenure.number)));
    facts
}

/// Which of its states the key is in beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Unknown,
    Live,
    Ended,
}

/// `keys VERB` of a key that has nothing to do with the wallet; `{key}` stands for its file or address.
fn keyed(world: &World, count: usize, before: Before, line: &[&str]) -> Vec<Staged> {
    world.times(count, |_| {
        let owner = world.owner();
        let mint = world.register(&owner);
        let (key, file) = world.net.new_wallet(0, 0);
        if before != Before::Unknown {
            world.wait(owner.party.add_key(mint, &key, Scopes::PAY));
        }
        let address = solana_signer::Signer::pubkey(&key);
        if before == Before::Ended {
            world.act(&owner, async |actions, party| {
                party.run(&actions.end_key(mint, party.address(), address).await.unwrap()).await;
            });
        }
        let file = file.to_str().unwrap();
        let line: Vec<&str> = line.iter().map(|word| if *word == "{key}" { file } else { word }).collect();
        let wallet = owner.address();
        Staged {
            zx1: owner.zx1,
            line: of_agent(mint, &line),
            measure: Box::new(move |world| keys(world, &wallet, mint)),
        }
    })
}

#[test]
fn keys_add() {
    let expected = &[("live", 1), ("tenure", 1), ("delegates", 1), ("usdc", 0)];
    let line = ["keys", "add", "{key}", "--scopes", "pay,batch", "--sati"];
    let sweep = Sweep { name: "keys add", expected, kill: true, ..SWEEP };
    sweep.run(&World::new(), |world, count| keyed(world, count, Before::Unknown, &line));
}

#[test]
fn keys_end() {
    let expected = &[("live", -1), ("ended", 1), ("usdc", 0)];
    let sweep = Sweep { name: "keys end", expected, kill: true, ..SWEEP };
    sweep.run(&World::new(), |world, count| keyed(world, count, Before::Live, &["keys", "end", "{key}"]));
}

#[test]
fn keys_close() {
    let expected = &[("live", 0), ("ended", -1), ("usdc", 0)];
    let sweep = Sweep { name: "keys close", expected, ..SWEEP };
    sweep.run(&World::new(), |world, count| keyed(world, count, Before::Ended, &["keys", "close", "{key}"]));
}

#[test]
fn take_over() {
    let expected = &[("tenure", 1), ("live", -1), ("ended", 1), ("usdc", 0)];
    let sweep = Sweep { name: "take-over", expected, kill: true, ..SWEEP };
    sweep.run(&World::new(), |world, count| {
        world.times(count, |_| {
            let (seller, buyer) = (world.owner(), world.owner());
            let mint = world.living_agent(&seller);
            let wallet = buyer.address();
            world.wait(seller.party.give(mint, wallet));
            Staged {
                zx1: buyer.zx1,
                line: of_agent(mint, &["take-over"]),
                measure: Box::new(move |world| keys(world, &wallet, mint)),
            }
        })
    });
}
