//! Who is behind a party.
#![allow(clippy::unwrap_used)]

use super::{agents, key_of, of_agents, of_key};
use crate::store::Find;
use crate::testing::{Fake, Rig, mint};

async fn known(rig: &Rig, key: [u8; 32]) -> Option<u8> {
    let found = agents(&*rig.index.store, std::iter::once(key).collect()).await.unwrap();
    found.get(&key).map(|row| row.mint.0[0])
}

#[tokio::test]
async fn a_party_is_the_agent_that_lists_its_key_or_the_only_one_that_it_holds() {
    let chain = Fake::new();
    for (number, owner) in [(1, 101), (2, 102), (3, 103), (4, 103)] {
        chain.register(mint(number), [owner; 32]);
        chain.open_tenure(mint(number), [owner; 32], 19_990);
    }
    chain.add_key(mint(2), [61; 32], 4, 19_990);
    chain.add_key(mint(2), [62; 32], 2, 19_990);
    chain.add_key(mint(2), [63; 32], 4, 19_990);
    chain.end_key(mint(2), [63; 32], 19_995);
    chain.add_key(mint(3), [103; 32], 15, 19_990);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    assert_eq!(known(&rig, [101; 32]).await, Some(1), "its holder");
    assert_eq!(known(&rig, [61; 32]).await, Some(2), "a key for deals");
    assert_eq!(known(&rig, [62; 32]).await, None, "a key for batches signs no contract");
    assert_eq!(known(&rig, [63; 32]).await, None, "a key that has ended");
    assert_eq!(known(&rig, [103; 32]).await, Some(3), "of two of its agents the one that lists it");
    let rows = rig.index.store.agents(Find::all()).await.unwrap();
    let parties = of_agents(&*rig.index.store, &rows).await.unwrap();
    assert_eq!(parties[&mint(2)], [of_key(&[61; 32]), of_key(&[102; 32])]);
    assert_eq!(parties.get(&mint(4)), None);
}

#[tokio::test]
async fn a_sold_agents_former_holder_and_key_are_it_no_more() {
    let chain = Fake::new();
    chain.register(mint(1), [101; 32]);
    chain.open_tenure(mint(1), [101; 32], 19_990);
    chain.add_key(mint(1), [61; 32], 4, 19_990);
    chain.sell(mint(1), [111; 32]);
    chain.take_over(mint(1), [111; 32], 20_000);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    assert_eq!(known(&rig, [61; 32]).await, None);
    assert_eq!(known(&rig, [101; 32]).await, None);
    // Who holds it now is asked for from time to time.
    assert_eq!(known(&rig, [111; 32]).await, None);
    let registry = crate::ingest::Registry::new(rig.index.clone());
    registry.look().await.unwrap();
    registry.check().await.unwrap();
    assert_eq!(known(&rig, [111; 32]).await, Some(1));
}

#[test]
fn keys_are_read_as_they_are_written() {
    assert_eq!(key_of(&of_key(&[7; 32])), Some([7; 32]));
    for bad in ["", "fix_", "fix_00", &"0".repeat(64), &format!("fix_{}", "g".repeat(64))] {
        assert_eq!(key_of(bad), None, "{bad}");
    }
}
