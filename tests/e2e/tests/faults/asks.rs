//! Asks for leaves, and what follows.

use solana_address::Address;
use zx1_chain::pda;
use zx1_chain::rpc::AskFilter;
use zx1_interface::constants::SHOW_SLOTS;
use zx1_protocol::ids::AgentId;

use crate::challenges::{honest, tell};
use crate::party::{AMOUNTS, Day};
use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{Owner, World, of_agent, words};

/// Index of a leaf of the arrays.
fn leaf(number: usize) -> u32 {
    number.try_into().unwrap()
}

/// Asks for a leaf of the arrays.
fn ask(world: &World, asker: &Owner, mint: AgentId, day: &Day, index: u32) -> Address {
    world.act(asker, async |actions, party| {
        party.run(&actions.ask_leaf(party.address(), mint, day.epoch, 1, index).await.unwrap()).await;
    });
    pda::ask(&pda::batch(&mint, day.epoch), 1, index)
}

/// An ask and its standing, with the purses of both sides.
fn standing(world: &World, ask: Address, wallet: &Address, asker: &Address) -> Facts {
    let mut facts = world.purse(wallet);
    let found = world.wait(async { world.eye.client.leaf_ask(ask).await.unwrap() });
    facts.insert("there", i128::from(found.is_some()));
    facts.insert("state", found.map_or(0, |ask| i128::from(ask.state)));
    facts.insert("asker's usdc", i128::from(world.net.usdc(asker)));
    facts
}

#[test]
fn ask_leaf() {
    let served = tempfile::tempdir().unwrap();
    let sweep = Sweep {
        name: "ask leaf",
        expected: &[("usdc", -(AMOUNTS.ask_price as i128)), ("asks", 1)],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let (mint, day) = honest(world, count, served.path());
        world.times(count, |number| {
            let owner = world.owner();
            let wallet = owner.address();
            let (index, epoch) = (number.to_string(), day.epoch.to_string());
            Staged {
                zx1: owner.zx1,
                line: of_agent(mint, &["ask", "leaf", &index, "--epoch", &epoch, "--tree", "arrays"]),
                measure: Box::new(move |world| {
                    let mut facts = world.purse(&wallet);
                    let asks = world.wait(world.eye.client.asks(AskFilter::Asker(wallet))).unwrap();
                    facts.insert("asks", asks.len().try_into().unwrap());
                    facts
                }),
            }
        })
    });
}

#[test]
fn ask_show() {
    let served = tempfile::tempdir().unwrap();
    let sweep = Sweep {
        name: "ask show",
        expected: &[("usdc", AMOUNTS.ask_to_shower as i128), ("state", 1), ("asker's usdc", 0)],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let (mint, day) = honest(world, count, served.path());
        world.times(count, |number| {
            let (asker, passer_by) = (world.owner(), world.owner());
            let ask = ask(world, &asker, mint, &day, leaf(number));
            let (wallet, asker) = (passer_by.address(), asker.address());
            let data = served.path().to_str().unwrap();
            Staged {
                zx1: passer_by.zx1,
                line: words(&["ask", "show", &ask.to_string(), "--data", data, "--yes"]),
                measure: Box::new(move |world| standing(world, ask, &wallet, &asker)),
            }
        })
    });
}

#[test]
fn ask_settle() {
    let served = tempfile::tempdir().unwrap();
    let sweep = Sweep {
        name: "ask settle",
        // The price, and the asker's part of the fine: each is the first of its batch.
        expected: &[
            ("usdc", 0),
            ("state", 3),
            ("asker's usdc", (AMOUNTS.ask_price + AMOUNTS.fine_to_asker) as i128),
        ],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let agents = world.times(count, |_| {
            let owner = world.owner();
            let mint = world.living_agent(&owner);
            (owner, mint)
        });
        world.net.travel_epochs(1);
        let all = world.times(count, |number| {
            let (owner, mint) = (&agents[number].0, agents[number].1);
            let day = tell(world, owner, mint, 1, served.path());
            let (asker, passer_by) = (world.owner(), world.owner());
            let ask = ask(world, &asker, mint, &day, 0);
            let (wallet, asker) = (passer_by.address(), asker.address());
            Staged {
                zx1: passer_by.zx1,
                line: words(&["ask", "settle", &ask.to_string(), "--yes"]),
                measure: Box::new(move |world| standing(world, ask, &wallet, &asker)),
            }
        });
        world.net.travel_slots(SHOW_SLOTS + 1);
        all
    });
}
