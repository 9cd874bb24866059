//! What a market announces of a contract, and what others read of that.

use zx1_market::contract::ContractBuilder;
use zx1_market::wire::advert::{Announcement, MAX_MARKET, Offer, Reference, SCHEMA, UNIT};
use zx1_market::*;

use crate::support::*;

const MARKET: &str = "https://fix.example.org";

/// A free contract, which is open at once.
fn open(change: impl FnOnce(ContractBuilder) -> ContractBuilder) -> Case {
    let contract = change(builder()).build(&terms()).unwrap();
    Case::start(post(&contract, &principal(), START), &terms(), START, &server()).unwrap().0
}

fn announced(case: &Case, now: Millis) -> Option<Announcement> {
    Announcement::of(case, MARKET, now)
}

#[test]
fn an_open_contract_is_announced_for_the_time_that_it_has_left() {
    let case = open(|contract| contract);
    let announcement = announced(&case, START).unwrap();
    assert_eq!((announcement.price, announcement.ttl), (Raw::ZERO, 30));
    assert_eq!(announcement.contract.to_string(), format!("{MARKET}#{}", case.id()));
    assert_eq!(announcement.caps, ["fix", "free"]);
    assert_eq!(announced(&case, START.plus(Millis(20_500))).unwrap().ttl, 9);
    assert_eq!(announced(&case, START.plus(Millis(29_001))), None);
    assert_eq!(announced(&case, START.plus(Millis::secs(99))), None);
    assert_eq!(announcement.withdrawn().ttl, 0);
}

#[test]
fn what_is_private_or_not_open_is_not_announced() {
    assert_eq!(announced(&open(ContractBuilder::private), START), None);
    let paid = post(&paid(), &principal(), START);
    let unfunded = Case::start(paid, &terms(), START, &server()).unwrap().0;
    assert_eq!((unfunded.state(), announced(&unfunded, START)), (State::Unfunded, None));
}

#[test]
fn only_a_plain_word_says_what_kind_of_failure_it_is() {
    let caps = |kind: &str| announced(&open(|contract| contract.kind(kind)), START).unwrap().caps;
    assert_eq!(caps("compile_error"), ["fix", "free", "compile_error"]);
    for other in ["hunter2", "Secret", "a b", &"a".repeat(33)] {
        assert_eq!(caps(other), ["fix", "free"], "{other}");
    }
}

#[test]
fn what_is_announced_is_read_back_and_what_is_none_is_not() {
    let announcement = announced(&open(|contract| contract), START).unwrap();
    let reference = announcement.contract.to_string();
    let read = |contract: &str| Offer::read(SCHEMA, UNIT, "5", Some(contract));
    assert_eq!(read(&reference).unwrap(), Offer { contract: announcement.contract, price: Raw(5) });
    assert_eq!(read(&format!("{MARKET}/#0123456789abcdef")).unwrap().contract.market, MARKET);
    let id = "#0123456789abcdef";
    let long = format!("https://{}{id}", "a".repeat(MAX_MARKET));
    for wrong in [
        "",
        id,
        "https://m",
        "https://#0123456789abcdef",
        "https://m#0123456789ABCDEF",
        "https://m#0123",
        "ftp://m#0123456789abcdef",
        "https://m m#0123456789abcdef",
        "https://m#x#0123456789abcdef",
        &long,
        "https://m\n#0123456789abcdef",
        "https://ü#0123456789abcdef",
    ] {
        assert_eq!(read(wrong), None, "{wrong:?}");
        assert!(wrong.parse::<Reference>().is_err(), "{wrong:?}");
    }
    assert_eq!(Offer::read("other", UNIT, "5", Some(&reference)), None);
    assert_eq!(Offer::read(SCHEMA, "XNO", "5", Some(&reference)), None);
    assert_eq!(Offer::read(SCHEMA, UNIT, "0.5", Some(&reference)), None);
    assert_eq!(Offer::read(SCHEMA, UNIT, "5", None), None);
}
