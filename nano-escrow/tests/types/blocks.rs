//! Building blocks, and what is refused because it would burn money.

use nano_escrow::block::EPOCH_2_LINK;
use nano_escrow::{
    Address, AmountError, BlockHash, Error, Head, PrivateKey, PublicKey, Raw, SignedBlock, StateBlock,
    Subtype, Work,
};

fn key() -> PrivateKey {
    PrivateKey::from_bytes([7; 32])
}

fn someone(n: u8) -> Address {
    PrivateKey::from_bytes([n; 32]).address()
}

fn head() -> Head {
    Head {
        account: key().public_key(),
        frontier: BlockHash([1; 32]),
        balance: Raw(1000),
        representative: someone(9).public_key(),
    }
}

fn unopened() -> Head {
    Head::unopened(key().address(), someone(9))
}

#[test]
fn an_account_lives_from_open_to_sweep_ok() {
    let keys = key().keypair();
    let open = unopened().open(BlockHash([3; 32]), Raw(500)).unwrap();
    assert_eq!(open.root(), BlockHash::from(key().public_key()));
    assert_eq!(unopened().root(), open.root());
    let head = unopened().after(&open).unwrap();
    assert_eq!(head.root(), open.hash());
    let receive = head.receive(BlockHash([4; 32]), Raw(25)).unwrap();
    let head = head.after(&receive).unwrap();
    let change = head.change(someone(8)).unwrap();
    assert_eq!(change.balance, Raw(525));
    let head = head.after(&change).unwrap();
    let send = head.send(someone(2), Raw(125)).unwrap();
    assert_eq!(send.link_address(), someone(2));
    let head = head.after(&send).unwrap();
    let sweep = head.sweep(someone(3)).unwrap();
    assert_eq!(sweep.balance, Raw::ZERO);
    let head = head.after(&sweep).unwrap();
    assert_eq!((head.balance, head.representative), (Raw::ZERO, someone(8).public_key()));
    let subtypes = [
        (open, Raw::ZERO, Subtype::Open),
        (receive, Raw(500), Subtype::Receive),
        (change, Raw(525), Subtype::Change),
        (send, Raw(525), Subtype::Send),
        (sweep, Raw(400), Subtype::Send),
    ];
    for (block, before, subtype) in subtypes {
        assert_eq!(block.subtype(before), subtype);
        block.sign(&keys).unwrap().verify_strict().unwrap();
    }
    assert_eq!(head.sweep(someone(3)), Err(Error::ZeroSend));
}

#[test]
fn what_burns_money_fails() {
    assert_eq!(head().send(Address::BURN, Raw(1)), Err(Error::Burn));
    assert_eq!(head().sweep(Address::BURN), Err(Error::Burn));
    assert_eq!(head().send(someone(2), Raw::ZERO), Err(Error::ZeroSend));
    assert_eq!(head().send(someone(2), Raw(1001)), Err(AmountError::NotEnough(Raw(1000), Raw(1001)).into()));
    assert_eq!(unopened().send(someone(2), Raw(1)), Err(Error::Unopened(key().address())));
    assert_eq!(unopened().change(someone(2)), Err(Error::Unopened(key().address())));
    assert_eq!(head().receive(BlockHash([3; 32]), Raw::ZERO), Err(Error::ZeroReceive));
    assert_eq!(head().receive(BlockHash::ZERO, Raw(1)), Err(Error::NoSource));
    assert_eq!(
        head().receive(BlockHash([3; 32]), Raw::MAX),
        Err(AmountError::SumTooLarge(Raw(1000), Raw::MAX).into())
    );
    assert_eq!(head().change(Address::BURN), Err(Error::NoRepresentative));
    assert_eq!(head().change(someone(9)), Err(Error::SameRepresentative));
    let without = head().with_representative(Address::BURN);
    assert_eq!(without.send(someone(2), Raw(1)), Err(Error::NoRepresentative));
    assert_eq!(without.receive(BlockHash([3; 32]), Raw(1)), Err(Error::NoRepresentative));
    let open = unopened().open(BlockHash([3; 32]), Raw(500)).unwrap();
    assert_eq!(head().open(BlockHash([3; 32]), Raw(1)).unwrap_err().code(), 8049);
    assert_eq!(head().after(&open).unwrap_err().code(), 8049);
}

#[test]
fn a_foreign_block_that_burns_money_fails() {
    let good = head().send(someone(2), Raw(10)).unwrap();
    assert_eq!(head().check(&good), Ok(Subtype::Send));
    // A change with a lower balance is a send to the burn account.
    let change = StateBlock { balance: Raw(900), link: [0; 32], ..good };
    assert_eq!(head().check(&change), Err(Error::Burn));
    assert_eq!(head().check_change(&change).unwrap_err().code(), 8046);
    let raised = StateBlock { balance: Raw(1100), link: [0; 32], ..good };
    assert_eq!(head().check(&raised), Err(Error::NoSource));
    let linked = StateBlock { balance: Raw(1000), link: [5; 32], ..good };
    assert_eq!(head().check(&linked), Err(Error::LinkOnChange));
    let epoch = StateBlock { balance: Raw(1000), link: EPOCH_2_LINK, ..good };
    assert_eq!(epoch.subtype(Raw(1000)), Subtype::Epoch);
    assert_eq!(head().check(&epoch), Err(Error::LinkOnChange));
    let receive = StateBlock { balance: Raw(1100), link: [5; 32], ..good };
    assert_eq!(head().check_receive(&receive, Raw(100)), Ok(()));
    assert_eq!(head().check_receive(&receive, Raw(101)).unwrap_err().code(), 8048);
    let other = StateBlock { account: PublicKey([4; 32]), ..good };
    assert_eq!(head().check(&other).unwrap_err().code(), 8050);
    let skipping = StateBlock { previous: BlockHash([2; 32]), ..good };
    assert_eq!(head().check(&skipping).unwrap_err().code(), 8049);
    let unrepresented = StateBlock { representative: PublicKey::BURN, ..good };
    assert_eq!(head().check(&unrepresented), Err(Error::NoRepresentative));
}

#[test]
fn another_accounts_key_fails() {
    let block = head().send(someone(2), Raw(10)).unwrap();
    let error = block.sign(&PrivateKey::from_bytes([8; 32]).keypair()).unwrap_err();
    assert_eq!(error.code(), 8034);
}

#[test]
fn a_block_without_work_has_no_wire_form_fails() {
    let block = head().send(someone(2), Raw(10)).unwrap().sign(&key().keypair()).unwrap();
    assert_eq!(block.to_bytes(), Err(Error::NoWork(block.hash())));
    let bytes = block.with_work(Work(1)).to_bytes().unwrap();
    assert_eq!(SignedBlock::from_bytes(&bytes).unwrap(), block.with_work(Work(1)));
    assert_eq!(SignedBlock::from_bytes(&bytes[1..]), Err(Error::BlockLength(215)));
    assert_eq!(SignedBlock::from_bytes(&[&bytes[..], &[0]].concat()), Err(Error::BlockLength(217)));
}

fn json(change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) -> String {
    let block = head().send(someone(2), Raw(10)).unwrap().sign(&key().keypair()).unwrap();
    let mut value = serde_json::to_value(block).unwrap();
    change(value.as_object_mut().unwrap());
    value.to_string()
}

#[test]
fn json_of_every_dialect_is_read_ok() {
    let expected = SignedBlock::from_json(&json(|_| {})).unwrap();
    type Change = fn(&mut serde_json::Map<String, serde_json::Value>);
    let changes: [Change; 7] = [
        |b| {
            b.remove("link_as_account");
        },
        |b| {
            b.remove("link");
        },
        |b| {
            let account = b["link_as_account"].clone();
            b.insert("link".into(), account);
        },
        |b| {
            for name in ["previous", "link", "signature"] {
                let lower = b[name].as_str().unwrap().to_lowercase();
                b.insert(name.into(), lower.into());
            }
        },
        |b| {
            for name in ["account", "representative", "link_as_account"] {
                let old = b[name].as_str().unwrap().replace("nano_", "xrb_");
                b.insert(name.into(), old.into());
            }
        },
        |b| {
            b.insert("work".into(), "".into());
        },
        |b| {
            b.insert("subtype".into(), "send".into());
        },
    ];
    for change in changes {
        assert_eq!(SignedBlock::from_json(&json(change)).unwrap(), expected);
    }
}

#[test]
fn wrong_json_fails_with_a_number() {
    let set = |name: &'static str, value: &'static str| json(|b| drop(b.insert(name.into(), value.into())));
    let burn = Address::BURN.to_string();
    let cases = [
        (String::new(), 8060),
        ("[]".into(), 8060),
        ("{}".into(), 8060),
        (set("type", "send"), 8060),
        (json(|b| drop(b.insert("link_as_account".into(), burn.into()))), 8061),
        (json(|b| drop(b.insert("balance".into(), 5.into()))), 8060),
        (set("balance", "1e3"), 8003),
        (set("balance", "-1"), 8001),
        (set("account", "nano_1"), 8021),
        (set("previous", "12"), 8030),
        (set("signature", ""), 8060),
        (set("signature", "00"), 8030),
        (set("work", "00"), 8030),
    ];
    for (text, code) in cases {
        assert_eq!(SignedBlock::from_json(&text).unwrap_err().code(), code, "{text}");
    }
}
