//! The clock: jumps, epochs, slots.

use crate::common::*;
use serde_json::json;
use solana_signer::Signer;
use zx1_chain::{instructions, pda};
use zx1_interface::{Layout, accounts::LeaseAccount};
use zx1_localnet::Jump;

#[test]
fn an_epoch_is_a_day_and_its_slots_ok() {
    let net = start();
    let before = net.status();
    let after = net.travel_epochs(3).unwrap();
    assert_eq!(after.epoch, before.epoch + 3);
    let days = 3 * 86_400;
    assert!((days..days + 60).contains(&(after.unix - before.unix)), "{before:?} {after:?}");
    let slots = 3 * 216_000;
    assert!((slots..slots + 200).contains(&(after.slot - before.slot)), "{before:?} {after:?}");
}

#[test]
fn programs_see_the_same_clock_as_the_rpc_ok() {
    let net = start();
    net.travel_slots(1_000_000).unwrap();
    let clock = data(&net, &"SysvarC1ock11111111111111111111111111111111".parse().unwrap()).unwrap();
    let field = |at: usize| u64::from_le_bytes(clock[at..at + 8].try_into().unwrap());
    let status = net.status();
    let (slot, epoch, unix) = (field(0), field(16), field(32));
    assert!(status.slot - slot < 200 && slot > 401_000_000);
    assert_eq!(epoch, slot / 432_000);
    assert!((0..60).contains(&(status.unix - i64::try_from(unix).unwrap())));
    let answer = rpc(&net, "getEpochInfo", json!([])).unwrap();
    let absolute = answer["absoluteSlot"].as_u64().unwrap();
    assert_eq!(answer["epoch"].as_u64().unwrap(), absolute / 432_000);
    assert_eq!(answer["slotIndex"].as_u64().unwrap(), absolute % 432_000);
    let time = rpc(&net, "getBlockTime", json!([absolute - 5])).unwrap().as_i64().unwrap();
    assert!((status.unix - time).abs() < 60, "also the time of a block that was empty");
}

#[test]
fn slots_and_time_only_ever_rise_ok() {
    let net = builder().slot_time(std::time::Duration::from_millis(5)).start().unwrap();
    let mut last = net.status();
    for step in 0..60 {
        if step % 10 == 9 {
            net.travel_slots(step).unwrap();
        }
        if step % 15 == 14 {
            net.fund(&solana_address::Address::new_unique(), 1_000_000, 0).unwrap();
        }
        let wanted = last.slot + 1;
        let now = wait_until("a slot passes", || Some(net.status()).filter(|now| now.slot >= wanted));
        assert!(now.unix >= last.unix && now.block_height > last.block_height, "{last:?} {now:?}");
        last = now;
    }
}

#[test]
fn time_runs_on_after_a_jump_ok() {
    let net = start();
    let landed = net.travel_epochs(10).unwrap();
    let later =
        wait_until("two seconds pass", || Some(net.status()).filter(|now| now.unix >= landed.unix + 2));
    assert!(later.slot > landed.slot);
    assert!(later.unix < landed.unix + 30, "with the wall clock, not faster");
}

#[test]
fn a_lease_lives_in_grace_and_dies_by_the_clock_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let agent = register(&net, &owner);
    pay_lease(&net, &owner, &agent, 1);
    let lease = || LeaseAccount::read(&data(&net, &pda::lease(&agent.mint)).unwrap()).unwrap();
    let tick = || {
        send(&net, &[instructions::lease::tick_lease(agent.mint)], &owner, &[]);
    };
    net.travel_epochs(1).unwrap();
    tick();
    assert_eq!((lease().in_grace_period, lease().deactivated), (1, 0));
    net.travel_epochs(2).unwrap();
    tick();
    assert_eq!((lease().in_grace_period, lease().deactivated), (1, 0), "the third day of grace");
    net.travel_epochs(1).unwrap();
    tick();
    assert_eq!(lease().deactivated, 1);
}

#[test]
fn a_window_of_432_000_slots_ends_in_time_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let agent = register(&net, &owner);
    lock_stake(&net, &owner, &agent, 30);
    send(&net, &[instructions::stake_lock::queue_unlock(&agent, owner.pubkey(), 0)], &owner, &[]);
    let into = usdc_account(&net, &owner.pubkey());
    let claim = instructions::stake_lock::claim_stake(&agent, owner.pubkey(), into, 0);
    let wire = signed(&net, std::slice::from_ref(&claim), &owner, &[]);
    let refused = rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap_err();
    assert!(refused["data"]["err"]["InstructionError"][1]["Custom"].is_u64(), "{refused}");
    net.travel_slots(432_000).unwrap();
    send(&net, &[claim], &owner, &[]);
    assert_eq!(usdc(&net, &owner.pubkey()), 1_000_000_000);
}

#[test]
fn a_blockhash_does_not_outlive_a_jump_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let transfer = solana_system_interface::instruction::transfer(&owner.pubkey(), &owner.pubkey(), 1);
    let old = signed(&net, std::slice::from_ref(&transfer), &owner, &[]);
    net.travel_slots(100).unwrap();
    let answer = rpc(&net, "sendTransaction", json!([old, {"encoding": "base64"}]));
    assert!(answer.is_ok(), "100 blocks are not 150: {answer:?}");
    let old = signed(&net, &[transfer], &owner, &[]);
    net.travel_slots(151).unwrap();
    let refused = rpc(&net, "sendTransaction", json!([old, {"encoding": "base64"}])).unwrap_err();
    assert_eq!(refused["data"]["err"], "BlockhashNotFound", "{refused}");
}

#[test]
fn a_jump_back_or_beyond_fails_and_changes_nothing() {
    let net = start();
    let before = net.status();
    let back = net.jump(Jump { unix: Some(before.unix - 1), ..Jump::default() }).unwrap_err();
    assert_eq!(back.code(), 9811);
    assert_eq!(net.travel_epochs(u64::MAX).unwrap_err().code(), 9812);
    assert_eq!(net.jump(Jump::default()).unwrap_err().code(), 9815);
    let after = net.status();
    assert!(after.slot - before.slot < 200 && after.unix - before.unix < 60);
}
