//! Vectors made by independent programs (`tests/vectors`).

use nano_escrow::block::{EPOCH_1_LINK, EPOCH_2_LINK};
use nano_escrow::{
    Address, AddressError, AmountError, BlockHash, Network, PrivateKey, PublicKey, Raw, Seed, Signature,
    SignedBlock, StateBlock, Subtype, Thresholds, Work,
};
use serde_json::Value;

fn load(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn rows<'a>(file: &'a Value, name: &str) -> &'a Vec<Value> {
    let rows = file[name].as_array().unwrap();
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_else(|| panic!("{name} in {row}"))
}

#[test]
fn addresses_encode_and_decode_ok() {
    let file = load(include_str!("../vectors/addresses.json"));
    for row in rows(&file, "valid") {
        let (address, key) = (text(row, "address"), text(row, "public_key"));
        let parsed: Address = address.parse().unwrap();
        assert_eq!(parsed.public_key().to_string(), key);
        assert_eq!(key.parse::<PublicKey>().unwrap().address().to_string(), address);
        let old = address.replace("nano_", "xrb_");
        assert_eq!(old.parse::<Address>().unwrap(), parsed, "the old prefix is read");
        assert_eq!(serde_json::to_value(parsed).unwrap(), address);
    }
}

#[test]
fn wrong_addresses_fails_each_with_its_reason() {
    let file = load(include_str!("../vectors/addresses.json"));
    for row in rows(&file, "invalid") {
        let (address, why) = (text(row, "address"), text(row, "why"));
        let error = address.parse::<Address>().unwrap_err();
        let expected = match why {
            w if w.contains("checksum") || w.contains("swapped") => AddressError::Checksum,
            w if w.contains("overflow") => AddressError::Overflow,
            w if w.contains("prefix") && !w.contains("only") => AddressError::Prefix,
            w if w.contains("upper case") || w.contains("hyphen") => AddressError::Prefix,
            w if w.contains("long") || w.contains("trailing") => AddressError::Length(61),
            "prefix only" => AddressError::Length(0),
            w if w.contains("char 2") || w.contains("char v") => AddressError::Character(21),
            w if w.contains("NUL") || w.contains("fullwidth") => AddressError::Character(31),
            other => panic!("a new reason: {other}"),
        };
        assert_eq!(error, expected, "{why}");
        assert!((8020..=8024).contains(&error.code()));
    }
    for other in ["nano-", "xrb-", "node_", "", "NANO_", "nano"] {
        let body = "3e3j5tkog48pnny9dmfzj1r16pg8t1e76dz5tmac6iq689wyjfpiij4txtdo";
        assert_eq!(format!("{other}{body}").parse::<Address>(), Err(AddressError::Prefix), "{other}");
    }
}

#[test]
fn keys_derive_ok() {
    let file = load(include_str!("../vectors/keys.json"));
    for row in rows(&file, "vectors") {
        let seed = Seed::from_hex(text(row, "master_seed")).unwrap();
        let nonce = hex::decode(text(row, "nonce")).unwrap();
        let key = seed.nonce_key(&nonce);
        assert_eq!(hex::encode(key.expose()), text(row, "private_key"));
        assert_eq!(key.public_key().to_string(), text(row, "public_key"));
        assert_eq!(key.address().to_string(), text(row, "address"));
        if let Some(index) = row["nano_wallet_index"].as_u64() {
            let wallet = seed.wallet_key(u32::try_from(index).unwrap());
            assert_eq!(wallet.expose(), key.expose());
        }
        let same = PrivateKey::from_hex(text(row, "private_key")).unwrap();
        assert_eq!(same.keypair().public_key(), key.public_key());
        assert!(key.public_key().is_point());
    }
}

#[test]
fn signatures_are_judged_as_by_a_strict_verifier_and_as_by_the_network_ok() {
    let file = load(include_str!("../vectors/signatures.json"));
    for row in rows(&file, "vectors") {
        let key: PublicKey = text(row, "public_key").parse().unwrap();
        let message = hex::decode(text(row, "message")).unwrap();
        let signature: Signature = text(row, "signature").parse().unwrap();
        let note = text(row, "note");
        assert_eq!(key.verify_strict(&message, &signature).is_ok(), row["valid"] == true, "strict: {note}");
        assert_eq!(
            key.verify_network(&message, &signature).is_ok(),
            row["valid_network"] == true,
            "network: {note}"
        );
        if row["valid_network"] == true && row["valid"] == false {
            assert_eq!(key.verify_strict(&message, &signature).unwrap_err().code(), 8033, "{note}");
        }
        assert_eq!(signature.to_string().to_lowercase(), text(row, "signature"));
    }
}

#[test]
fn blocks_hash_sign_and_pack_ok() {
    let file = load(include_str!("../vectors/blocks.json"));
    let mut signed_rows = 0;
    for row in rows(&file, "vectors") {
        let json = row["block"].to_string();
        let block = SignedBlock::from_json(&json).unwrap();
        let note = text(row, "note");
        assert_eq!(block.hash().to_string(), text(row, "hash"), "{note}");
        assert_eq!(block.root().to_string(), text(row, "work_root"), "{note}");
        block.verify_strict().unwrap();
        block.verify_network().unwrap();
        if let Some(key) = row["private_key"].as_str() {
            signed_rows += 1;
            let pair = PrivateKey::from_hex(key).unwrap().keypair();
            assert_eq!(block.block.sign(&pair).unwrap().signature, block.signature, "{note}: deterministic");
            let mut packed = block.with_work(Work(0x0123_4567_89ab_cdef)).to_bytes().unwrap().to_vec();
            assert_eq!(packed.split_off(208), 0x0123_4567_89ab_cdef_u64.to_be_bytes());
            assert_eq!(hex::encode_upper(&packed), text(row, "serialized_without_work"), "{note}");
            let preimage = format!("{:064X}{}", 6, hex::encode_upper(block.block.to_bytes()));
            assert_eq!(preimage, text(row, "hash_preimage"), "{note}");
        }
        // The way back: our JSON has every field of theirs, and the same texts.
        let ours = serde_json::to_value(block).unwrap();
        for (name, value) in row["block"].as_object().unwrap() {
            let (ours, theirs) = (ours[name].as_str().unwrap(), value.as_str().unwrap());
            // Published examples have the old prefix, and another case.
            let theirs = theirs.replace("xrb_", "nano_");
            assert!(ours.eq_ignore_ascii_case(&theirs), "{note}: {name}: {ours} {theirs}");
        }
        assert_eq!(serde_json::from_value::<SignedBlock>(ours).unwrap(), block);
        assert_eq!(StateBlock::from_json(&json).unwrap(), block.block);
    }
    assert!(signed_rows > 10);
}

#[test]
fn amounts_print_and_parse_ok() {
    let file = load(include_str!("../vectors/units.json"));
    for row in rows(&file, "vectors") {
        let raw: Raw = text(row, "raw").parse().unwrap();
        assert_eq!(raw.to_string(), text(row, "raw"));
        assert_eq!(raw.xno(), text(row, "xno"));
        assert_eq!(raw.xno_fixed(), text(row, "xno_fixed30"));
        assert_eq!(hex::encode_upper(raw.to_be_bytes()), text(row, "hex32"));
        assert_eq!(Raw::from_xno(text(row, "xno")), Ok(raw));
        assert_eq!(Raw::from_xno(text(row, "xno_fixed30")), Ok(raw));
    }
}

#[test]
fn wrong_amounts_fails_each_with_its_reason() {
    let file = load(include_str!("../vectors/units.json"));
    for row in rows(&file, "reject_parse") {
        let error = Raw::from_xno(text(row, "xno")).unwrap_err();
        let expected = match text(row, "why") {
            w if w.starts_with("31 decimals") => AmountError::Decimals,
            "empty" => AmountError::Empty,
            "two points" => AmountError::Points,
            "hex" => AmountError::Base,
            "comma" => AmountError::Comma,
            "not a number" | "non-ASCII digit" => AmountError::Character,
            other => panic!("a new reason: {other}"),
        };
        assert_eq!(error, expected);
    }
    let more = [
        ("-1", AmountError::Negative),
        ("-0", AmountError::Negative),
        ("\u{2212}1", AmountError::Negative),
        ("+1", AmountError::Plus),
        ("1e3", AmountError::Exponent),
        ("1E-3", AmountError::Exponent),
        (" 1", AmountError::Blank),
        ("1 ", AmountError::Blank),
        ("1 000", AmountError::Blank),
        ("1\n", AmountError::Blank),
        ("1.", AmountError::BarePoint),
        (".5", AmountError::BarePoint),
        (".", AmountError::BarePoint),
        ("01", AmountError::LeadingZero),
        ("00.5", AmountError::LeadingZero),
        ("1_000", AmountError::Character),
        ("inf", AmountError::Character),
        ("0.-1", AmountError::Character),
        ("340282366.920938463463374607431768211456", AmountError::TooLarge),
        ("340282367", AmountError::TooLarge),
        ("99999999999999999999999999999999999999999999999999", AmountError::TooLarge),
    ];
    for (xno, expected) in more {
        assert_eq!(Raw::from_xno(xno), Err(expected), "{xno:?}");
    }
    assert_eq!("1.5".parse::<Raw>(), Err(AmountError::Fraction));
    assert_eq!("340282366920938463463374607431768211456".parse::<Raw>(), Err(AmountError::TooLarge));
    assert_eq!(Raw::ZERO.nonzero(), Err(AmountError::Zero));
}

#[test]
fn work_is_valued_and_judged_ok() {
    let file = load(include_str!("../vectors/work.json"));
    for row in rows(&file, "vectors") {
        let root: BlockHash = text(row, "root").parse().unwrap();
        let work: Work = text(row, "work").parse().unwrap();
        assert_eq!(format!("{:016x}", work.value(&root)), text(row, "value"));
        assert_eq!(work.to_string(), text(row, "work").to_lowercase());
        for (threshold, valid) in row["valid"].as_object().unwrap() {
            let threshold = u64::from_str_radix(threshold, 16).unwrap();
            assert_eq!(work.is_valid(&root, threshold), valid == true);
            assert_eq!(work.check(&root, threshold).is_ok(), valid == true);
        }
    }
    let of = |name: &str| u64::from_str_radix(text(&file["thresholds"], name), 16).unwrap();
    assert_eq!(Thresholds::LIVE.send_or_change, of("live_send_change"));
    assert_eq!(Thresholds::LIVE.receive_or_open, of("live_receive_open_epoch"));
    assert_eq!(Thresholds::LIVE.old_account, of("live_epoch1_all"));
    assert_eq!(Thresholds::BETA.send_or_change, of("beta_send"));
    assert_eq!(Thresholds::BETA.receive_or_open, of("beta_receive"));
    assert_eq!(Thresholds::DEV.send_or_change, of("dev_send"));
    assert_eq!(Thresholds::DEV.receive_or_open, of("dev_receive"));
    assert_eq!(Thresholds::DEV.old_account, of("dev_epoch1"));
    assert_eq!(Thresholds::LIVE.entry(), Thresholds::LIVE.receive_or_open);
}

#[test]
fn networks_are_named_by_their_genesis_ok() {
    for network in Network::ALL {
        assert_eq!(Network::from_genesis(network.genesis()), Some(network));
        assert_eq!(network.name().parse::<Network>().unwrap(), network);
    }
    assert_eq!("main".parse::<Network>().unwrap_err().code(), 8070);
    let key = PrivateKey::from_bytes(Network::DEV_GENESIS_PRIVATE_KEY);
    assert_eq!(key.public_key(), Network::DEV_GENESIS_ACCOUNT);
    assert_eq!(
        Network::DEV_GENESIS_ACCOUNT.address().to_string(),
        "nano_3e3j5tkog48pnny9dmfzj1r16pg8t1e76dz5tmac6iq689wyjfpiij4txtdo"
    );
    assert_eq!(
        Network::Live.epoch_2_signer().unwrap().address().to_string(),
        "nano_3qb6o6i1tkzr6jwr5s7eehfxwg9x6eemitdinbpi7u8bjjwsgqfj4wzser3x"
    );
    assert!(EPOCH_1_LINK.starts_with(b"epoch v1 block\0") && EPOCH_2_LINK.starts_with(b"epoch v2 block\0"));
}

#[test]
fn subtypes_follow_from_the_balance_ok() {
    let file = load(include_str!("../vectors/blocks.json"));
    for row in rows(&file, "vectors") {
        let block = StateBlock::from_json(&row["block"].to_string()).unwrap();
        let expected: Subtype = text(row, "subtype").parse().unwrap();
        let before = match expected {
            Subtype::Open | Subtype::Receive => Raw::ZERO,
            Subtype::Send => Raw::MAX,
            Subtype::Change | Subtype::Epoch => block.balance,
        };
        if block.balance != before || expected == Subtype::Change {
            assert_eq!(block.subtype(before), expected, "{}", text(row, "note"));
        }
    }
}
