//! The programs' reader of token accounts and mints says what SPL's own says, whatever the bytes.

use proptest::prelude::*;
use solana_address::Address;
use solana_program_pack::Pack as _;
use spl_token_2022_interface::extension::{BaseStateWithExtensions, StateWithExtensions};
use spl_token_2022_interface::state::{Account, AccountState, Mint, Multisig};
use spl_token_group_interface::state::TokenGroupMember;
use zx1_interface::external::{agent_mint, is_legacy_mint, token_account};

const TYPE_AT: usize = 165;
const MINT: Address = Address::new_from_array([7; 32]);

/// What SPL reads, where the account is initialized.
fn spl_account(data: &[u8]) -> Option<Account> {
    let account = StateWithExtensions::<Account>::unpack(data).ok()?.base;
    (account.state != AccountState::Uninitialized).then_some(account)
}

fn spl_mint(data: &[u8]) -> Option<StateWithExtensions<'_, Mint>> {
    StateWithExtensions::<Mint>::unpack(data).ok()
}

#[track_caller]
fn assert_same(data: &[u8]) {
    let ours = token_account(data).map(|account| (account.mint, account.owner, account.amount));
    let theirs = spl_account(data).map(|it| (it.mint.to_bytes(), it.owner.to_bytes(), it.amount));
    assert_eq!(ours, theirs, "as a token account: {} bytes", data.len());
    assert_eq!(is_legacy_mint(data), data.len() == 82 && spl_mint(data).is_some(), "as a legacy mint");
    let theirs = spl_mint(data).and_then(|mint| {
        let member = mint.get_extension::<TokenGroupMember>().ok()?;
        let own = member.mint.to_bytes() == MINT.to_bytes();
        own.then(|| (mint.base.supply, member.group.to_bytes(), u64::from(member.member_number)))
    });
    let ours = agent_mint(MINT.as_array(), data).map(|mint| (mint.supply, mint.group, mint.member_number));
    // An extension that this version of SPL's crate does not know is skipped; SPL's reader gives up.
    if theirs.is_some() {
        assert_eq!(ours, theirs, "as an agent's mint");
    }
    assert!(ours.is_none() || spl_mint(data).is_some(), "read as an agent's mint, but not by SPL: {data:?}");
}

/// Mostly small values, so that flags and lengths are often valid.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![6 => 0_u8..=2, 1 => any::<u8>()]
}

/// Lengths at which something begins or ends.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        prop::sample::select(vec![
            0, 45, 81, 82, 83, 108, 109, 133, 164, 165, 166, 167, 170, 234, 242, 354, 355, 356
        ]),
        0_usize..420,
    ]
}

/// Nearly a token account or a mint: fields that decide are often right.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    (length(), prop::collection::vec(byte(), 420), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(length, mut data, options, padded, member)| {
            if options {
                for at in [0, 46, 72, 109, 129] {
                    data[at + 1..at + 4].fill(0);
                }
            }
            if padded {
                data[82..TYPE_AT].fill(0);
            }
            if member {
                data[166..170].copy_from_slice(&[23, 0, 72, 0]);
                data[170..202].copy_from_slice(MINT.as_array());
            }
            data.truncate(length);
            data
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn nearly_valid_bytes_are_read_as_spl_reads_them(data in nearly()) {
        assert_same(&data);
    }

    #[test]
    fn random_bytes_are_read_as_spl_reads_them(data in prop::collection::vec(any::<u8>(), 0..420)) {
        assert_same(&data);
    }
}

#[test]
fn a_multisig_is_neither_account_nor_mint_whatever_its_signers_are() {
    let mut poses = [0; Multisig::LEN];
    poses[..3].copy_from_slice(&[7, 7, 1]);
    (poses[64], poses[108], poses[TYPE_AT]) = (1, 1, 2);
    assert!(Multisig::unpack(&poses).is_ok(), "it is one");
    assert_eq!(token_account(&poses), None);
    poses[45] = 1;
    poses[82..TYPE_AT].fill(0);
    poses[TYPE_AT] = 1;
    poses[166..170].copy_from_slice(&[23, 0, 72, 0]);
    poses[170..202].copy_from_slice(MINT.as_array());
    assert!(Multisig::unpack(&poses).is_ok(), "it is one");
    assert_eq!(agent_mint(MINT.as_array(), &poses), None);
}
