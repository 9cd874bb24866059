//! Registration, stake, lease and delegates.

use solana_address::Address;
use zx1_chain::rpc::registry::IdentityRegistry as _;
use zx1_interface::constants::MIN_STAKE;

use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{Owner, World, of_agent, words};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

const SWEEP: Sweep<'_> = Sweep { name: "", expected: &[], tolerance: &[], kill: false };

/// Stake, lease and purse of an agent's owner.
fn standing(world: &World, wallet: &Address, mint: AgentId) -> Facts {
    let mut facts = world.purse(wallet);
    let (stake, lease) = world.wait(async {
        let client = &world.eye.client;
        (client.stake(mint).await.unwrap(), client.lease(mint).await.unwrap())
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

fn lock(world: &World, owner: &Owner, mint: AgentId) {
    world.act(owner, async |actions, party| {
        party.run(&actions.lock_stake(mint, party.address(), MicroUsdc(MIN_STAKE)).await.unwrap()).await;
    });
}

fn queue(world: &World, owner: &Owner, mint: AgentId) {
    world.act(owner, async |actions, party| {
        party.run(&actions.queue_unlock(mint, party.address()).await.unwrap()).await;
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
    let expected = &[("usdc", -10_000_000), ("stake", 10_000_000)];
    Sweep { name: "stake lock", expected, kill: true, ..SWEEP }.run(&World::new(), |world, count| {
        let all = agents(world, count, |_, _| {}).into_iter();
        all.map(|(owner, mint)| staged(owner, mint, &["stake", "lock", "10"])).collect()
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
    let expected = &[("usdc", 10_000_000), ("stake", -10_000_000), ("unlocking", -1)];
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

/// How many delegates an agent has.
fn delegates(world: &World, wallet: &Address, mint: AgentId) -> Facts {
    let mut facts = world.purse(wallet);
    let count = world.wait(async {
        let sati = world.eye.sati().await;
        sati.delegates(mint).await.unwrap().len()
    });
    facts.insert("delegates", count.try_into().unwrap());
    facts
}

fn delegating(world: &World, count: usize, verb: &str, added: bool) -> Vec<Staged> {
    let hot = Address::new_from_array([7; 32]);
    let add = |owner: &Owner, mint| {
        if added {
            world.wait(async {
                let (party, sati) = (&owner.party, owner.party.sati().await);
                let signature = party.sign(&sati.delegation_message(party.address()));
                let add = sati.add_delegate(mint, party.address(), hot, 0, &signature).await.unwrap();
                party.run(&add).await;
            });
        }
    };
    let all = agents(world, count, add).into_iter();
    all.map(|(owner, mint)| {
        let wallet = owner.address();
        Staged {
            zx1: owner.zx1,
            line: of_agent(mint, &["delegate", verb, &hot.to_string()]),
            measure: Box::new(move |world| delegates(world, &wallet, mint)),
        }
    })
    .collect()
}

#[test]
fn delegate_add() {
    let sweep = Sweep { name: "delegate add", expected: &[("delegates", 1)], ..SWEEP };
    sweep.run(&World::new(), |world, count| delegating(world, count, "add", false));
}

#[test]
fn delegate_revoke() {
    let sweep = Sweep { name: "delegate revoke", expected: &[("delegates", -1)], ..SWEEP };
    sweep.run(&World::new(), |world, count| delegating(world, count, "revoke", true));
}
