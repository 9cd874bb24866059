//! Batches and the keeper.

use solana_address::Address;

use crate::party::Day;
use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{World, files_in, of_agent, words};
use zx1_protocol::ids::AgentId;

/// What stands on chain of an agent's days, and what is served.
fn days(world: &World, wallet: &Address, mint: AgentId, served: &std::path::Path) -> Facts {
    let mut facts = world.purse(wallet);
    let (head, batches, lease) = world.wait(async {
        let client = &world.eye.client;
        let head = client.head(mint).await.unwrap();
        (head, client.batches(mint).await.unwrap().len(), client.lease(mint).await.unwrap())
    });
    facts.insert("heads", i128::from(head.is_some()));
    facts.insert("submitted", head.map_or(0, |head| i128::from(head.count)));
    facts.insert("batches", batches.try_into().unwrap());
    facts.insert("paid through", lease.map_or(0, |lease| i128::from(lease.paid_through_epoch)));
    facts.insert("served", files_in(&served.join(mint.to_string())));
    facts
}

#[test]
fn batch_open() {
    let served = tempfile::tempdir().unwrap();
    let sweep = Sweep {
        name: "batch open",
        expected: &[("heads", 1), ("submitted", 0), ("usdc", 0)],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&World::new(), |world, count| {
        world.times(count, |_| {
            let owner = world.owner();
            let mint = world.register(&owner);
            let (wallet, place) = (owner.address(), served.path().to_owned());
            Staged {
                zx1: owner.zx1,
                line: of_agent(mint, &["batch", "open"]),
                measure: Box::new(move |world| days(world, &wallet, mint, &place)),
            }
        })
    });
}

#[test]
fn batch_submit() {
    let served = tempfile::tempdir().unwrap();
    let sweep = Sweep {
        name: "batch submit",
        expected: &[("submitted", 1), ("batches", 1), ("served", 1), ("usdc", 0)],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let all = world.times(count, |_| {
            let owner = world.owner();
            let mint = world.living_agent(&owner);
            let (wallet, place) = (owner.address(), served.path().to_owned());
            let line = ["batch", "submit", "--data", place.to_str().unwrap()];
            Staged {
                zx1: owner.zx1,
                line: of_agent(mint, &line),
                measure: Box::new(move |world| days(world, &wallet, mint, &place)),
            }
        });
        world.net.travel_epochs(1);
        all
    });
}

#[test]
fn batch_close() {
    let served = tempfile::tempdir().unwrap();
    let sweep =
        Sweep { name: "batch close", expected: &[("batches", -1), ("usdc", 0)], tolerance: &[], kill: false };
    sweep.run(&World::new(), |world, count| {
        let agents = world.times(count, |_| {
            let owner = world.owner();
            let mint = world.living_agent(&owner);
            (owner, mint)
        });
        world.net.travel_epochs(1);
        let epoch = world.yesterday();
        let all = world.times(count, |number| {
            let (owner, mint) = (&agents[number].0, agents[number].1);
            let day = Day { epoch, entries: vec![vec![1; 70]], records: vec![crate::party::filler(1)] };
            world.wait(owner.party.submit(mint, &day));
            let (wallet, place) = (owner.address(), served.path().to_owned());
            Staged {
                zx1: owner.zx1.clone(),
                line: of_agent(mint, &["batch", "close", "--epoch", &epoch.to_string()]),
                measure: Box::new(move |world| days(world, &wallet, mint, &place)),
            }
        });
        world.net.travel_slots(432_001);
        all
    });
}

#[test]
fn keeper_run_once() {
    let served = tempfile::tempdir().unwrap();
    let sweep = Sweep {
        name: "keeper run --once",
        // Of the two epochs that are wanted the first was paid by the owner.
        expected: &[
            ("submitted", 1),
            ("batches", 1),
            ("served", 1),
            ("usdc", -2_000_000),
            ("paid through", 2),
        ],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let all = world.times(count, |_| {
            let owner = world.owner();
            let mint = world.living_agent(&owner);
            let (wallet, place) = (owner.address(), served.path().to_owned());
            owner.zx1.run(["config", "set", "upload", place.to_str().unwrap()]).ok();
            let peer = Address::new_from_array([5; 32]).to_string();
            let said = owner.zx1.run([
                "envelope",
                "make",
                "propose",
                "--to",
                &peer,
                "--value",
                "7",
                "--agent",
                &mint.to_string(),
                "--no-presign",
            ]);
            said.ok();
            let mut line = words(&["keeper", "run", "--once", "--cap", "3", "--yes"]);
            line.extend(["--agent".to_owned(), mint.to_string()]);
            Staged {
                zx1: owner.zx1,
                line,
                measure: Box::new(move |world| days(world, &wallet, mint, &place)),
            }
        });
        world.net.travel_epochs(1);
        all
    });
}
