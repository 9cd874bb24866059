//! What the mesh's gate must know of agents, of many at once.

use crate::party::*;
use std::sync::Arc;
use std::time::Duration;

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::first_token_account;
use zx1_chain::rpc::{Draft, Intent, PresentStake, Standing, Wanted};
use zx1_chain::token::{self, TOKEN_2022_PROGRAM};
use zx1_e2e::{Fault, FaultProxy, Localnet};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::{OPEN, Scopes};
use zx1_protocol::units::{Epoch, MicroUsdc};

fn with_keys(agent: AgentId, keys: &[Address]) -> Wanted {
    Wanted { agent, keys: keys.to_vec(), all_keys: false }
}

fn with_all_keys(agent: AgentId) -> Wanted {
    Wanted { agent, keys: Vec::new(), all_keys: true }
}

async fn read(party: &Party, wanted: Wanted) -> Option<Standing> {
    let agent = wanted.agent;
    let mut found = party.client.standings(&[wanted]).await.unwrap();
    assert_eq!((found.len(), found[0].0), (1, agent));
    found.remove(0).1
}

/// The same of an agent that is registered, and the addresses of its keys.
async fn of_agent(party: &Party, wanted: Wanted) -> (Standing, Vec<Address>) {
    let standing = read(party, wanted).await.unwrap();
    let keys = standing.keys.iter().map(|key| Address::new_from_array(key.key.to_bytes())).collect();
    (standing, keys)
}

/// An NFT of Token-2022 that no registry knows.
async fn other_nft(party: &Party) -> AgentId {
    let (key, payer, program) = (Arc::new(Keypair::new()), party.address(), TOKEN_2022_PROGRAM);
    let mint = key.pubkey();
    let rent = party.client.rent(token::MINT_LEN).await.unwrap();
    let [create, begin] = token::create_mint(&payer, &mint, rent, &payer, 0, &program).unwrap();
    let open = token::create_associated(&payer, &payer, &mint, &program);
    let account = token::associated_address(&payer, &mint, &program);
    let one = token::mint_to(&mint, &account, &payer, 1, &program).unwrap();
    let intent = Intent::new("other-nft", &[&mint]);
    let mut draft = Draft::new(intent, "Make an NFT", payer, vec![create, begin, open, one]);
    draft.keys = vec![key];
    party.run_unread(&draft).await;
    mint.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standings_follow_what_agents_do() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let buyer = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let sati = owner.sati().await;
    let actions = Actions::new(&owner.client, &sati).await.unwrap();
    let stake = MicroUsdc(AMOUNTS.min_stake);
    let (slot, min_stake) = owner.client.slot_and_min_stake().await.unwrap();
    assert!(slot.0 > 0 && min_stake == stake);

    // Registered, and nothing more.
    let ann = owner.register("Ann").await;
    let bare = Standing { has_all_keys: true, ..Standing::default() };
    assert_eq!(read(&owner, with_all_keys(ann)).await, Some(bare));

    // By its number in the registry, where no other number is one.
    assert_eq!(owner.client.members_count().await.unwrap(), 1);
    let members = owner.client.members(&[u64::MAX, 1, 0, 2]).await.unwrap();
    assert_eq!(members.iter().map(|it| (it.agent, it.number)).collect::<Vec<_>>(), [(ann, 1)]);
    let metadata = owner.client.agent_metadata(ann).await.unwrap().unwrap();
    assert_eq!((metadata.name.as_str(), &metadata.uri), ("Ann", &members[0].uri));
    let nft = other_nft(&owner).await;
    assert_eq!(owner.client.agent_metadata(nft).await.unwrap(), None);

    // A key, a stake and a lease.
    owner.add_key(ann, &owner.key, Scopes::ALL).await;
    let now = owner.client.time().await.unwrap().epoch;
    owner.run(&actions.pay_lease(ann, owner.address(), 2).await.unwrap()).await;
    let (found, keys) = of_agent(&owner, with_all_keys(ann)).await;
    assert_eq!((found.stake, keys), (None, vec![owner.address()]));
    owner.run(&actions.lock_stake(ann, owner.address(), stake).await.unwrap()).await;
    let (found, keys) = of_agent(&owner, with_keys(ann, &[buyer.address(), owner.address()])).await;
    assert_eq!(found.stake, Some(PresentStake { amount: stake, is_queued: false }));
    assert_eq!(found.lease.map(|lease| lease.paid_through), Some(Epoch(now + 1)));
    assert_eq!((keys, found.has_all_keys), (vec![owner.address()], false));
    let own = found.keys[0];
    assert_eq!((own.scopes, own.from, own.until), (Scopes::ALL, Epoch(now), OPEN));

    // A second key, which ends.
    let hot = Keypair::new();
    owner.add_key(ann, &hot, Scopes::PEER).await;
    assert_eq!(of_agent(&owner, with_all_keys(ann)).await.1.len(), 2);
    let (found, keys) = of_agent(&owner, with_keys(ann, &[hot.pubkey()])).await;
    assert_eq!((keys, found.keys[0].from), (vec![hot.pubkey()], Epoch(now + 2)));
    owner.run(&actions.end_key(ann, owner.address(), hot.pubkey()).await.unwrap()).await;
    assert_eq!(of_agent(&owner, with_all_keys(ann)).await.1, [owner.address()]);
    assert_eq!(of_agent(&owner, with_keys(ann, &[hot.pubkey()])).await.1, []);
    let receiving = owner.client.receiving_keys(ann).await.unwrap();
    assert_eq!((receiving, owner.client.agent_keys(ann).await.unwrap().len()), (vec![own], 2));

    // A stake without a lease, on its way out.
    let bob = owner.register("Bob").await;
    owner.add_key(bob, &owner.key, Scopes::ALL).await;
    owner.run(&actions.lock_stake(bob, owner.address(), stake).await.unwrap()).await;
    owner.run(&actions.queue_unlock(bob, owner.address(), 0).await.unwrap()).await;
    let (found, _) = of_agent(&owner, with_keys(bob, &[])).await;
    assert_eq!(found.stake, Some(PresentStake { amount: stake, is_queued: true }));
    assert_eq!(found.lease, None);

    // The lease runs out by the clock alone.
    net.travel_epochs(5);
    let (found, _) = of_agent(&owner, with_keys(ann, &[])).await;
    let lease = found.lease.unwrap();
    assert!(lease.is_live(Epoch(now + 4)) && !lease.is_live(Epoch(now + 5)));

    // Sold: until the buyer takes over, the seller's keys and stake are the agent's.
    owner.give(ann, buyer.address()).await;
    let sold = of_agent(&owner, with_all_keys(ann)).await;
    assert_eq!((sold.0.stake.is_some(), sold.1), (true, vec![owner.address()]));
    let theirs = buyer.sati().await;
    let theirs = Actions::new(&buyer.client, &theirs).await.unwrap();
    buyer.run(&theirs.take_over(ann, buyer.address()).await.unwrap()).await;
    let (found, keys) = of_agent(&buyer, with_all_keys(ann)).await;
    assert_eq!((found.stake, found.lease, keys), (None, Some(lease), vec![]));
    assert_eq!(of_agent(&buyer, with_keys(ann, &[owner.address()])).await.1, []);
    buyer.add_key(ann, &buyer.key, Scopes::PEER).await;
    assert_eq!(of_agent(&buyer, with_all_keys(ann)).await.1, [buyer.address()]);

    // Burned; never registered.
    let token = first_token_account(&owner.address(), bob);
    let burn = token::burn(&token, &bob.into(), &owner.address(), 1, &TOKEN_2022_PROGRAM).unwrap();
    let draft = Draft::new(Intent::new("burn", &[&bob]), "Burn the agent", owner.address(), vec![burn]);
    owner.run_unread(&draft).await;
    let nft = other_nft(&owner).await;
    for stranger in [bob, nft, net.usdc_mint().into(), owner.address().into(), AgentId([9; 32])] {
        assert_eq!(read(&owner, with_all_keys(stranger)).await, None, "{stranger}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_agents_are_read_in_two_calls() {
    const AGENTS: usize = 30;
    let net = Localnet::builder().start();
    let proxy = FaultProxy::start(net.rpc_url());
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let through = Party::with_patience(net.wallet(0), &proxy.url(), Duration::from_secs(20));
    let living = owner.living_agent("Ann").await;
    let mut wanted = vec![with_keys(living, &[owner.address()])];
    while wanted.len() < AGENTS - 1 {
        let name = format!("Agent {}", wanted.len());
        wanted.push(with_keys(owner.register(&name).await, &[]));
    }
    wanted.push(with_keys(AgentId([9; 32]), &[owner.address()]));

    // The configuration is read once.
    through.client.slot_and_min_stake().await.unwrap();
    let before = (proxy.calls("*"), proxy.calls("getMultipleAccounts"));
    let found = through.client.standings(&wanted).await.unwrap();
    assert_eq!((proxy.calls("*"), proxy.calls("getMultipleAccounts")), (before.0 + 2, before.1 + 2));
    let order: Vec<AgentId> = found.iter().map(|(agent, _)| *agent).collect();
    assert_eq!(order, wanted.iter().map(|wanted| wanted.agent).collect::<Vec<_>>());
    let ann = found[0].1.as_ref().unwrap();
    assert!(ann.keys.len() == 1 && ann.stake.is_some() && ann.lease.is_some());
    assert!(found[1..AGENTS - 1].iter().all(|(_, standing)| *standing == Some(Standing::default())));
    assert_eq!(found[AGENTS - 1].1, None, "a stranger hides nobody");

    // All keys of an agent are one call more.
    wanted[0] = with_all_keys(living);
    let before = proxy.calls("*");
    let listed = through.client.standings(&wanted).await.unwrap();
    assert_eq!(proxy.calls("*"), before + 3);
    assert_eq!(listed[0].1, Some(Standing { has_all_keys: true, ..ann.clone() }));
    let before = proxy.calls("*");
    through.client.slot_and_min_stake().await.unwrap();
    assert_eq!(proxy.calls("*"), before + 1);

    // A node that does not answer fails the whole batch, with its number.
    proxy.fail("getMultipleAccounts", 1, Fault::HalfAnswer);
    assert_eq!(through.client.standings(&wanted).await.unwrap(), listed, "asked again");
    proxy.fail("getMultipleAccounts", 100, Fault::NodeBehind);
    assert_eq!(through.client.standings(&wanted).await.unwrap_err().code(), 7006);
}
