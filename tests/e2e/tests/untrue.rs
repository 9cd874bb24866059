//! A batch whose counters are not those of its own log: it was committed to, so it can be challenged, and
//! counts for nothing.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "chain_client/party.rs"]
#[allow(dead_code)]
mod party;

use party::{AMOUNTS, Party};
use serde_json::Value;
use solana_signer::Signer as _;
use zx1_e2e::{Localnet, Zx1};
use zx1_log::Folder;
use zx1_protocol::behavior_batch::Built;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::record::KIND_BID;
use zx1_protocol::units::Epoch;

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// The same batch without its bids, with one message more than its log has.
fn lie_of(bundle: &[u8]) -> Built {
    let bundle = Bundle::decode(bundle).unwrap();
    let mut front = bundle.decode_batch().unwrap();
    front.bid_values.clear();
    let kept = bundle.packed_records().filter(|packed| packed[0] != KIND_BID).flatten().copied().collect();
    let mut lie = Built::new(front, kept, bundle.leaves().to_vec()).unwrap();
    lie.batch.message_count += 1;
    lie.batch_bytes = lie.batch.to_cbor();
    lie.batch_hash = lie.batch.hash();
    lie
}

#[test]
fn a_batch_with_false_counters_is_found_and_challenged_and_counts_for_nothing() {
    let net = Localnet::builder().start();
    let served = tempfile::tempdir().unwrap();
    let data = served.path().to_str().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (liar, other) = (Zx1::new(&net), Zx1::new(&net).keypair(net.wallet_file(1)));
    let parties = [0, 1].map(|number| Party::new(net.wallet(number), net.rpc_url()));
    let mints = [&parties[0], &parties[1]].map(|party| runtime.block_on(party.living_agent("Ann")));
    let [mint, peer] = mints.map(|mint| mint.to_string());
    let offer = liar.home().join("offer");
    let line = ["envelope", "make", "propose", "--agent", &mint, "--to", &peer, "--value", "5", "--out"];
    liar.run(line.iter().map(|word| (*word).to_owned()).chain([offer.to_str().unwrap().to_owned()])).ok();
    net.travel_epochs(1);

    // The liar signs and submits what its own tools would refuse, and serves it.
    let built = liar.json(["--agent", &mint, "batch", "build"]);
    let truth = std::fs::read(text(&built["file"])).unwrap();
    let lie = lie_of(&truth);
    let commitment = lie.commitment();
    runtime.block_on(async {
        let party = &parties[0];
        let message = party.message(commitment.agent, &commitment).await;
        party.try_land(&message, &party.key).await.unwrap();
    });
    let epoch = commitment.epoch;
    let path = Folder::new(served.path()).path(&commitment.agent, Epoch(epoch.0));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, lie.bundle().unwrap().to_vec()).unwrap();

    // It is served, it is the one that was signed, and it is not true.
    let shown = other.json(["--agent", &mint, "batch", "show", "--all", "--data", data]);
    assert_eq!(shown["batches"][0]["data"], "served", "{shown}");
    let fetched = other.home().join("theirs.zx1batch");
    let (fetched, number) = (fetched.to_str().unwrap(), epoch.0.to_string());
    other.json(["--agent", &mint, "batch", "fetch", "--epoch", &number, "--data", data, "--out", fetched]);
    other.run(["batch", "verify", fetched]).fails_with(7364);

    // Reputation does not count it, nor calls it withheld.
    let seen = other.json(["--agent", &mint, "reputation", "show", "--data", data]);
    let none = Value::Array(Vec::new());
    assert_eq!((&seen["epochs"], &seen["withheld"]), (&none, &none), "{seen}");
    assert_eq!(seen["untrue"], Value::from(vec![epoch.0]), "{seen}");

    // The hidden bid is found in it and challenged; nothing answers for the liar.
    let file = other.home().join("challenge.json");
    let (offer, file) = (offer.to_str().unwrap(), file.to_str().unwrap());
    let found = other.json(["challenge", "find", offer, "--data", data, "--out", file]);
    let claim = &found["claims"][0];
    assert_eq!((&claim["presence"], &claim["in_log"]), (&"absent".into(), &true.into()), "{found}");
    let before = net.usdc(&net.wallet(1).pubkey());
    let challenge = other.json(["challenge", "submit", file, "--yes"]);
    let challenge = text(&challenge["challenges"][0]["challenge"]);
    liar.run(["challenge", "answer", challenge, "--data", data, "--yes"]).fails_with(7544);
    net.travel_slots(432_001);
    let resolved = other.json(["challenge", "resolve", challenge, "--yes"]);
    assert_eq!(resolved["succeeded"], true, "{resolved}");
    let share = AMOUNTS.share(AMOUNTS.slash(AMOUNTS.min_stake).pot);
    assert_eq!(net.usdc(&net.wallet(1).pubkey()), before + share, "its part of the stake");
}
