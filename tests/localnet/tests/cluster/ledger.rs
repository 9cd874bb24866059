//! What the state folder keeps.

use crate::common::*;
use serde_json::json;
use solana_address::Address;
use solana_signer::Signer;
use std::{fs, io::Write, path::Path};
use zx1_chain::pda;
use zx1_interface::{
    Layout,
    accounts::{LeaseAccount, StakeLockAccount},
};
use zx1_localnet::{Localnet, LocalnetError, Restored};

fn on(folder: &Path) -> Localnet {
    builder().state(folder).start().unwrap()
}

#[test]
fn a_restart_goes_on_where_it_stopped_ok() {
    let folder = tempfile::tempdir().unwrap();
    let net = on(folder.path());
    assert_eq!(net.restored(), Restored::New);
    let owner = wallet(&net, "wallet-1");
    let agent = register(&net, &owner);
    lock_stake(&net, &owner, &agent, 35);
    pay_lease(&net, &owner, &agent, 1);
    let stranger = Address::new_unique();
    net.fund(&stranger, 5_000_000_000, 7).unwrap();
    let ahead = net.travel_epochs(2).unwrap();
    let signature = send(
        &net,
        &[solana_system_interface::instruction::transfer(&owner.pubkey(), &stranger, 1_000_000)],
        &owner,
        &[],
    );
    let genesis = rpc(&net, "getGenesisHash", json!([])).unwrap();
    let last = net.status();
    net.stop().unwrap();

    let net = on(folder.path());
    assert_eq!(net.restored(), Restored::Saved { cut_bytes: 0 });
    let now = net.status();
    assert!(now.slot >= last.slot && now.unix >= last.unix && now.unix < last.unix + 60, "{last:?} {now:?}");
    assert!(now.unix >= ahead.unix, "the jump is not lost");
    assert!(now.block_height >= last.block_height);
    assert_eq!(rpc(&net, "getGenesisHash", json!([])).unwrap(), genesis);
    assert_eq!(wallet(&net, "wallet-1").pubkey(), owner.pubkey());
    let stake = StakeLockAccount::read(&data(&net, &pda::stake(&agent.mint, 0)).unwrap()).unwrap();
    assert_eq!(stake.stake_usdc, 35_000_000);
    let lease = LeaseAccount::read(&data(&net, &pda::lease(&agent.mint)).unwrap()).unwrap();
    assert_eq!(lease.paid_through_epoch + 2, now.epoch);
    assert_eq!(usdc(&net, &owner.pubkey()), (1_000 - 35 - 1) * 1_000_000);
    let balance = net.balance(&stranger);
    assert_eq!((balance.lamports, balance.usdc_micro), (5_001_000_000, 7));
    // History: the transaction, its block and its place among the owner's.
    let options = json!({"encoding": "json", "maxSupportedTransactionVersion": 1, "commitment": "confirmed"});
    let found = rpc(&net, "getTransaction", json!([signature, options])).unwrap();
    assert_eq!(found["transaction"]["signatures"][0], signature);
    let listed = rpc(&net, "getSignaturesForAddress", json!([stranger.to_string()])).unwrap();
    assert_eq!(listed[0]["signature"], signature);
    // The index of accounts by owner, and the programs themselves.
    let accounts = rpc(
        &net,
        "getTokenAccountsByOwner",
        json!([
        owner.pubkey().to_string(), {"mint": net.env().usdc_mint}, {"encoding": "jsonParsed"}]),
    )
    .unwrap();
    assert_eq!(accounts["value"].as_array().unwrap().len(), 1);
    pay_lease(&net, &owner, &agent, 2);
    let lease = LeaseAccount::read(&data(&net, &pda::lease(&agent.mint)).unwrap()).unwrap();
    assert_eq!(lease.paid_through_epoch, now.epoch);
}

#[test]
fn what_was_done_once_is_not_done_again_after_a_restart_ok() {
    let folder = tempfile::tempdir().unwrap();
    let net = on(folder.path());
    let owner = wallet(&net, "wallet-1");
    let stranger = Address::new_unique();
    let transfer = solana_system_interface::instruction::transfer(&owner.pubkey(), &stranger, 1_000_000);
    let wire = signed(&net, &[transfer], &owner, &[]);
    rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap();
    wait_until("it arrived", || (net.balance(&stranger).lamports == 1_000_000).then_some(()));
    net.stop().unwrap();
    let net = on(folder.path());
    // The blockhash is still good; only the history can say no.
    let again = rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap_err();
    assert!(is_already_processed(&again), "{again}");
    assert_eq!(net.balance(&stranger).lamports, 1_000_000);
}

#[test]
fn reset_forgets_the_ledger_and_keeps_keys_and_other_files_ok() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let net = on(folder.path());
    let owner = wallet(&net, "wallet-1").pubkey();
    net.fund(&owner, 0, 5_000_000).unwrap();
    net.travel_epochs(30).unwrap();
    let genesis = rpc(&net, "getGenesisHash", json!([])).unwrap();
    let ahead = net.status();
    net.stop().unwrap();
    let net = builder().state(folder.path()).reset(true).start().unwrap();
    assert_eq!(net.restored(), Restored::New);
    assert_eq!(wallet(&net, "wallet-1").pubkey(), owner);
    assert_eq!(usdc(&net, &owner), 1_000_000_000);
    assert!(net.status().unix < ahead.unix && net.status().slot < 400_001_000);
    assert_ne!(rpc(&net, "getGenesisHash", json!([])).unwrap(), genesis);
    assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
}

#[test]
fn an_unfinished_block_is_cut_off_ok() {
    let folder = tempfile::tempdir().unwrap();
    let net = on(folder.path());
    let owner = wallet(&net, "wallet-1").pubkey();
    net.fund(&owner, 0, 1_000_000).unwrap();
    net.stop().unwrap();
    let ledger = folder.path().join("ledger");
    let whole = fs::read(&ledger).unwrap();
    // Whatever a kill leaves of the last block, from its first byte to all but its end of line.
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for kept in [last + 1, last + 10, (last + whole.len()) / 2, whole.len() - 1] {
        fs::write(&ledger, &whole[..kept]).unwrap();
        let net = on(folder.path());
        let cut_bytes = u64::try_from(kept - last).unwrap();
        assert_eq!(net.restored(), Restored::Saved { cut_bytes });
        drop(net);
    }
    // A clock file that was never written whole changes nothing either.
    fs::write(&ledger, &whole).unwrap();
    for junk in [&b""[..], b"short", &[0xff; 128], &[0; 300]] {
        fs::write(folder.path().join("clock"), junk).unwrap();
        let net = on(folder.path());
        assert_eq!(usdc(&net, &owner), 1_001_000_000);
        net.stop().unwrap();
        fs::write(&ledger, &whole).unwrap();
    }
}

#[test]
fn damage_before_the_end_is_refused_by_its_line_fails() {
    let folder = tempfile::tempdir().unwrap();
    let net = on(folder.path());
    net.fund(&wallet(&net, "wallet-1").pubkey(), 0, 1_000_000).unwrap();
    net.stop().unwrap();
    let ledger = folder.path().join("ledger");
    let mut text = fs::read(&ledger).unwrap();
    let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 30;
    text[second] ^= 1;
    fs::write(&ledger, &text).unwrap();
    let error = builder().state(folder.path()).start().err().unwrap();
    assert!(matches!(&error, LocalnetError::LedgerDamaged { line: 2, .. }), "{error}");
    assert_eq!(error.code(), 9806);
    assert!(error.next().contains("--reset"));
    assert_eq!(fs::read(&ledger).unwrap(), text, "it is left as it is");
    builder().state(folder.path()).reset(true).start().unwrap().stop().unwrap();
}

#[test]
fn another_format_is_refused_fails() {
    use sha3::{Digest, Keccak256};
    let folder = tempfile::tempdir().unwrap();
    let body = format!("{{\"format\":2,\"genesis\":\"{}\"}}", "00".repeat(32));
    let sum = hex::encode(&Keccak256::digest(body.as_bytes())[..8]);
    let mut file = fs::File::create(folder.path().join("ledger")).unwrap();
    writeln!(file, "{sum} {body}").unwrap();
    let error = builder().state(folder.path()).start().err().unwrap();
    assert_eq!(error.code(), 9807, "{error}");
}

#[test]
fn more_wallets_later_are_funded_ok() {
    let folder = tempfile::tempdir().unwrap();
    builder().state(folder.path()).wallets(1).start().unwrap().stop().unwrap();
    let net = builder().state(folder.path()).wallets(3).start().unwrap();
    let third = wallet(&net, "wallet-3").pubkey();
    assert_eq!(usdc(&net, &third), 1_000_000_000);
    net.stop().unwrap();
    let net = builder().state(folder.path()).wallets(3).start().unwrap();
    assert_eq!(usdc(&net, &third), 1_000_000_000, "once");
}

#[test]
fn a_program_that_was_built_anew_is_upgraded_at_the_next_start_ok() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let built = zx1_fixtures::deploy_folder(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in zx1_fixtures::PROGRAMS.iter().chain(&zx1_fixtures::STAND_INS) {
        let file = format!("{name}.so");
        fs::copy(built.join(&file), programs.join(&file)).unwrap();
    }
    let start = || builder().state(folder.path().join("state")).programs(&programs).start().unwrap();
    let net = start();
    let lease = pda::program_data(zx1_interface::ids::LEASE);
    let before = data(&net, &lease).unwrap();
    net.stop().unwrap();
    // Another program is as good as another build of this one.
    fs::copy(programs.join("zx1_stake_lock.so"), programs.join("zx1_lease.so")).unwrap();
    let net = start();
    let after = data(&net, &lease).unwrap();
    assert_ne!(before, after);
    assert_eq!(after[45..], fs::read(programs.join("zx1_stake_lock.so")).unwrap());
    net.stop().unwrap();
    assert_eq!(data(&start(), &lease).unwrap(), after);
}
