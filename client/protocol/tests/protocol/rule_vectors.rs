//! The vectors about rules: coverage, keys, amounts. Each function makes an item again from what it was given.

use crate::common::{array, list, small, uint, vectors, verdict};
use serde_json::{Value, json};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::batch::{
    BatchMessage, check_epoch, check_trees, covers_from, first_open, is_void, open_digest,
};
use zx1_protocol::challenge::{Clock, may_ask, may_show, rank_holds};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Sha3;
use zx1_protocol::keys::{self, Scopes};
use zx1_protocol::units::{Epoch, Slot};

fn epoch(value: &Value) -> Epoch {
    Epoch(uint(value))
}

fn flag(value: &Value) -> bool {
    value.as_bool().unwrap()
}

/// The given fields with those that follow from them.
fn with(given: &Value, more: Value) -> Value {
    let mut item = given.clone();
    let more = more.as_object().unwrap().clone();
    item.as_object_mut().unwrap().extend(more);
    item
}

pub(crate) fn coverage(item: &Value) -> Value {
    let [of, current, last, tenure] =
        ["epoch", "current", "last_epoch", "tenure_from"].map(|name| epoch(&item[name]));
    let result = check_epoch(of, current, last, tenure);
    if let Ok(covered) = result {
        assert_eq!((covered.from, covered.to), (covers_from(of, last, tenure), of));
    }
    with(item, json!({"verdict": verdict(result), "covers_from": result.ok().map(|covered| covered.from.0)}))
}

fn lengths(item: &Value) -> Value {
    let (log_len, arrays_len) = (small(&item["log_len"]), small(&item["arrays_len"]));
    let result = check_trees(log_len, &array(&item["log_root"]), arrays_len, &array(&item["arrays_root"]));
    with(item, json!({"verdict": verdict(result)}))
}

fn head(item: &Value) -> Value {
    let digest = open_digest::<Sha3>(&array(&item["network"]), &array(&item["agent"]));
    let last = first_open(epoch(&item["current"]));
    with(item, json!({"last_epoch": last.0, "digest": hex::encode(digest)}))
}

fn void(item: &Value) -> Value {
    let message = BatchMessage {
        network: [1; 32],
        agent: [2; 32],
        covers_from: Epoch(0),
        epoch: epoch(&item["epoch"]),
        previous_digest: array(&item["previous_digest"]),
        log_merkle_root: [3; 32],
        log_len: 1,
        batch_hash: [4; 32],
        arrays_root: [0; 32],
        arrays_len: 0,
    };
    let void = is_void(&message, &array(&item["head_digest"]), epoch(&item["current"]));
    with(item, json!({"void": void}))
}

fn key_life(item: &Value) -> Value {
    let (current, ended) = (epoch(&item["current"]), epoch(&item["ended_in"]));
    let from = keys::first_epoch(current, flag(&item["first_use"]), flag(&item["after_take_over"]));
    let until = keys::until(from, ended);
    let counts: Vec<_> =
        (current.0..ended.0 + 4).filter(|epoch| keys::counts(from, until, Epoch(*epoch))).collect();
    with(item, json!({"from": from.0, "until": until, "counts": counts}))
}

pub(crate) fn closing(item: &Value) -> Value {
    let may = keys::may_close(
        Scopes(small(&item["scopes"])),
        flag(&item["ended"]),
        uint(&item["until"]),
        epoch(&item["current"]),
        item["last_epoch"].as_u64().map(Epoch),
        Slot(uint(&item["last_slot"])),
        Slot(uint(&item["now"])),
    );
    with(item, json!({"may_close": may}))
}

fn scopes(item: &Value) -> Value {
    let scopes = Scopes(small(&item["scopes"]));
    let signs: Vec<_> =
        MsgType::ALL.into_iter().filter(|msg_type| scopes.sign(*msg_type)).map(MsgType::wire).collect();
    if scopes.check().is_ok() {
        assert_eq!(Scopes::parse(&scopes.names()), Ok(scopes));
    }
    with(item, json!({"valid": scopes.check().is_ok(), "names": scopes.names(), "signs": signs}))
}

fn windows(item: &Value) -> Value {
    let (since, now) = (Slot(uint(&item["since"])), Slot(uint(&item["now"])));
    let challenge = Clock { submitted: since }.is_open(now);
    let (rank, ask, show) = (rank_holds(since, now), may_ask(since, now), may_show(since, now));
    with(item, json!({"challenge": challenge, "rank": rank, "ask": ask, "show": show}))
}

fn amounts_of(item: &Value) -> Amounts {
    Amounts {
        min_stake: uint(&item["min_stake"]),
        challenge_stake: uint(&item["challenge_stake"]),
        lost_to_stake: uint(&item["lost_to_stake"]),
        lost_to_answerer: uint(&item["lost_to_answerer"]),
        ask_price: uint(&item["ask_price"]),
        ask_to_shower: uint(&item["ask_to_shower"]),
        ask_to_stake: uint(&item["ask_to_stake"]),
        fine: uint(&item["fine"]),
        fine_to_asker: uint(&item["fine_to_asker"]),
        rank_deposit: uint(&item["rank_deposit"]),
        finders_percent: small(&item["finders_percent"]),
        share_percent: small(&item["share_percent"]),
    }
}

pub(crate) fn amounts_json(amounts: &Amounts) -> Value {
    json!({
        "min_stake": amounts.min_stake,
        "challenge_stake": amounts.challenge_stake,
        "lost_to_stake": amounts.lost_to_stake,
        "lost_to_answerer": amounts.lost_to_answerer,
        "ask_price": amounts.ask_price,
        "ask_to_shower": amounts.ask_to_shower,
        "ask_to_stake": amounts.ask_to_stake,
        "fine": amounts.fine,
        "fine_to_asker": amounts.fine_to_asker,
        "rank_deposit": amounts.rank_deposit,
        "finders_percent": amounts.finders_percent,
        "share_percent": amounts.share_percent,
    })
}

pub(crate) fn division(item: &Value) -> Value {
    let (amounts, whole) = (amounts_of(&item["amounts"]), uint(&item["whole"]));
    let (lost, shown) = (amounts.lost(whole), amounts.shown(whole));
    let (fine, slash) = (amounts.fine_of(whole), amounts.slash(whole));
    with(
        item,
        json!({
            "lost": {"stake": lost.stake, "answerer": lost.answerer, "treasury": lost.treasury},
            "shown": {"stake": shown.stake, "shower": shown.shower, "treasury": shown.treasury},
            "fine": {"asker": fine.asker, "treasury": fine.treasury},
            "slash": {"pot": slash.pot, "treasury": slash.treasury},
            "share": amounts.share(whole),
        }),
    )
}

#[test]
fn rules_ok() {
    type Rule = fn(&Value) -> Value;
    let all: [(&str, &str, Rule); 9] = [
        ("coverage.json", "coverage", coverage),
        ("coverage.json", "lengths", lengths),
        ("coverage.json", "heads", head),
        ("coverage.json", "voids", void),
        ("keys.json", "key_lives", key_life),
        ("keys.json", "closings", closing),
        ("keys.json", "scopes", scopes),
        ("amounts.json", "divisions", division),
        ("amounts.json", "windows", windows),
    ];
    for (file, section, rule) in all {
        for item in list(&vectors(file)[section]) {
            assert_eq!(rule(item), *item, "{section}");
        }
    }
}

#[test]
fn amounts_ok() {
    let file = vectors("amounts.json");
    let items = list(&file["amounts"]);
    assert_eq!(amounts_of(&items[0]), Amounts::DEFAULT);
    for item in items {
        assert_eq!(verdict(amounts_of(item).check()), item["verdict"], "{item}");
    }
}
