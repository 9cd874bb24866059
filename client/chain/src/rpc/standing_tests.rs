#![allow(clippy::unwrap_used)]
use super::*;
use crate::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use proptest::prelude::*;
use solana_keypair::Keypair;
use solana_sdk_ids::system_program;
use solana_signer::Signer;
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_protocol::keys::Scopes;
use zx1_protocol::signature::PublicKey;

const AGENT: AgentId = AgentId([7; 32]);
const OTHER: AgentId = AgentId([8; 32]);
const GROUP: [u8; 32] = [5; 32];
const NUMBER: u64 = 3;
const ERA: u32 = 2;

fn config() -> Config {
    let account = account::<Config>(&[(offset_of!(Config, registry_group), &GROUP)]).unwrap();
    Stored::<Config>::decode(&account).unwrap().value
}

fn wanted() -> Wanted {
    Wanted { agent: AGENT, keys: Vec::new(), all_keys: false }
}

/// An account of a program with these bytes in its fields, and zeros in all others.
fn account<T: Layout>(fields: &[(usize, &[u8])]) -> Option<RawAccount> {
    let mut data = vec![0; T::SIZE];
    data[..8].copy_from_slice(&T::DISCRIMINATOR);
    data[T::VERSION_AT] = LAYOUT_VERSION;
    for (at, bytes) in fields {
        data[8 + at..8 + at + bytes.len()].copy_from_slice(bytes);
    }
    raw(Address::new_from_array([1; 32]), Address::new_from_array(T::PROGRAM), data)
}

fn raw(address: Address, owner: Address, data: Vec<u8>) -> Option<RawAccount> {
    Some(RawAccount { address, lamports: 1, owner, data, executable: false })
}

/// A Token-2022 mint that is a member of a group.
fn mint(supply: u64, group: [u8; 32]) -> Option<RawAccount> {
    let mut data = vec![0; 166];
    data[36..44].copy_from_slice(&supply.to_le_bytes());
    // Initialized; a mint with extensions.
    (data[45], data[165]) = (1, 1);
    data.extend_from_slice(&[23, 0, 72, 0]);
    data.extend_from_slice(AGENT.as_bytes());
    data.extend_from_slice(&group);
    data.extend_from_slice(&NUMBER.to_le_bytes());
    raw(AGENT.into(), TOKEN_2022_PROGRAM, data)
}

/// SATI's index account of a mint.
fn index(of: AgentId) -> Option<RawAccount> {
    let discriminator = [0xf1, 0x9a, 0x23, 0x67, 0xb4, 0x8d, 0x31, 0xb3];
    let data = [&discriminator[..], of.as_bytes(), &[255]].concat();
    raw(sati::agent_index_address(NUMBER).0, sati::PROGRAM, data)
}

fn tenure() -> Option<RawAccount> {
    account::<TenureAccount>(&[(offset_of!(TenureAccount, era), &ERA.to_le_bytes())])
}

fn lease(paid_through: u64) -> Option<RawAccount> {
    account::<LeaseAccount>(&[(offset_of!(LeaseAccount, paid_through_epoch), &paid_through.to_le_bytes())])
}

fn stake(queued: u8, ended_slot: u64) -> Option<RawAccount> {
    account::<StakeLockAccount>(&[
        (offset_of!(StakeLockAccount, stake_usdc), &30_u64.to_le_bytes()),
        (offset_of!(StakeLockAccount, in_unlock_queue), &[queued]),
        (offset_of!(StakeLockAccount, ended_slot), &ended_slot.to_le_bytes()),
    ])
}

fn public(seed: u8) -> [u8; 32] {
    Keypair::new_from_array([seed; 32]).pubkey().to_bytes()
}

fn key(of: AgentId, public: [u8; 32], until: u64) -> Option<RawAccount> {
    account::<KeyAccount>(&[
        (offset_of!(KeyAccount, from_epoch), &4_u64.to_le_bytes()),
        (offset_of!(KeyAccount, until_epoch), &until.to_le_bytes()),
        (offset_of!(KeyAccount, scopes), &[Scopes::PEER.0]),
        (offset_of!(KeyAccount, agent), of.as_bytes()),
        (offset_of!(KeyAccount, key), &public),
    ])
}

/// Both rounds at once.
fn standing(first: &[Option<RawAccount>], second: &[Option<RawAccount>]) -> Option<Standing> {
    Member::read(&config(), &wanted(), first)?.standing(second)
}

fn owned_by(owner: Address, account: Option<RawAccount>) -> Option<RawAccount> {
    account.map(|account| RawAccount { owner, ..account })
}

#[test]
fn a_registered_agent_is_read_with_keys_stake_and_lease() {
    let first = [mint(1, GROUP), tenure(), lease(9), key(AGENT, public(3), OPEN)];
    let member = Member::read(&config(), &wanted(), &first).unwrap();
    assert_eq!(member.addresses(), [sati::agent_index_address(NUMBER).0, pda::stake(&AGENT, ERA)]);
    let found = member.standing(&[index(AGENT), stake(0, 0)]).unwrap();
    let own = AgentKey {
        key: PublicKey::from_bytes(&public(3)).unwrap(),
        scopes: Scopes::PEER,
        from: Epoch(4),
        until: OPEN,
    };
    assert_eq!(found.keys, [own], "also before its first epoch: the gate knows what time it is");
    assert!(!found.has_all_keys);
    assert_eq!(found.stake, Some(PresentStake { amount: MicroUsdc(30), is_queued: false }));
    assert_eq!(found.lease, Some(Lease { paid_through: Epoch(9) }));

    let all = Wanted { all_keys: true, ..wanted() };
    let found =
        Member::read(&config(), &all, &first).unwrap().standing(&[index(AGENT), stake(1, 0)]).unwrap();
    assert!(found.has_all_keys && found.stake.unwrap().is_queued);
}

#[test]
fn a_new_agent_has_no_keys_stake_or_lease() {
    let first = [mint(1, GROUP), None, None];
    let member = Member::read(&config(), &wanted(), &first).unwrap();
    assert_eq!(member.addresses(), [sati::agent_index_address(NUMBER).0], "an era only with a tenure");
    assert_eq!(member.standing(&[index(AGENT)]), Some(Standing::default()));
}

#[test]
fn what_is_not_an_agent_of_the_registry_is_none() {
    let mut no_member = mint(1, GROUP);
    no_member.as_mut().unwrap().data.truncate(166);
    let elsewhere = mint(1, GROUP).map(|mint| RawAccount { address: OTHER.into(), ..mint });
    let refused = [
        ("no mint", None),
        ("a mint of the legacy program", owned_by(TOKEN_PROGRAM, mint(1, GROUP))),
        ("another group", mint(1, [6; 32])),
        ("burned", mint(0, GROUP)),
        ("two tokens", mint(2, GROUP)),
        ("a member of nothing", no_member),
        ("the extension of another mint", elsewhere),
        ("lamports", raw(AGENT.into(), system_program::ID, Vec::new())),
        ("an account of a program", lease(9)),
    ];
    for (what, mint) in refused {
        assert!(Member::read(&config(), &wanted(), &[mint, tenure(), lease(9)]).is_none(), "{what}");
    }
    let first = [mint(1, GROUP), tenure(), lease(9)];
    let refused = [
        ("no index", None),
        ("the index of another", index(OTHER)),
        ("an index that SATI does not own", owned_by(TOKEN_PROGRAM, index(AGENT))),
    ];
    for (what, index) in refused {
        assert_eq!(standing(&first, &[index, stake(0, 0)]), None, "{what}");
    }
}

#[test]
fn keys_that_do_not_count_are_left_out() {
    let off_curve =
        (0..=u8::MAX).map(|byte| [byte; 32]).find(|key| PublicKey::from_bytes(key).is_err()).unwrap();
    let first = [
        mint(1, GROUP),
        tenure(),
        lease(9),
        key(AGENT, public(1), 9),
        key(OTHER, public(2), OPEN),
        None,
        key(AGENT, off_curve, OPEN),
        owned_by(sati::PROGRAM, key(AGENT, public(4), OPEN)),
        lease(1),
        key(AGENT, public(3), OPEN),
    ];
    let found = standing(&first, &[index(AGENT), None]).unwrap();
    let keys: Vec<[u8; 32]> = found.keys.iter().map(|key| key.key.to_bytes()).collect();
    assert_eq!(keys, [public(3)], "neither ended, another agent's, closed, no point, nor another program's");
}

#[test]
fn accounts_of_another_form_hide_no_agent() {
    let full = standing(
        &[mint(1, GROUP), tenure(), lease(9), key(AGENT, public(3), OPEN)],
        &[index(AGENT), stake(0, 0)],
    );
    let full = full.unwrap();
    let short = |account: Option<RawAccount>| {
        account.map(|account| RawAccount { data: account.data[..20].to_vec(), ..account })
    };
    let version = |mut account: Option<RawAccount>| {
        account.as_mut().unwrap().data[LeaseAccount::VERSION_AT] = LAYOUT_VERSION + 1;
        account
    };
    for lease in [owned_by(TOKEN_PROGRAM, lease(9)), short(lease(9)), version(lease(9)), tenure()] {
        let first = [mint(1, GROUP), tenure(), lease, key(AGENT, public(3), OPEN)];
        let found = standing(&first, &[index(AGENT), stake(0, 0)]);
        assert_eq!(found, Some(Standing { lease: None, ..full.clone() }));
    }
    let first = [mint(1, GROUP), tenure(), lease(9), key(AGENT, public(3), OPEN)];
    for stake in [None, owned_by(TOKEN_PROGRAM, stake(0, 0)), short(stake(0, 0)), lease(9), stake(0, 5)] {
        let found = standing(&first, &[index(AGENT), stake]);
        assert_eq!(found, Some(Standing { stake: None, ..full.clone() }), "absent, malformed or ended");
    }
    for tenure in [None, short(tenure()), lease(9)] {
        let first = [mint(1, GROUP), tenure, lease(9), key(AGENT, public(3), OPEN)];
        let member = Member::read(&config(), &wanted(), &first).unwrap();
        assert_eq!(member.addresses().len(), 1, "an unknown era has no stake");
    }
}

#[test]
fn rows_of_another_length_are_none() {
    assert!(Member::read(&config(), &wanted(), &[]).is_none());
    assert!(Member::read(&config(), &wanted(), &[mint(1, GROUP), tenure()]).is_none());
    let member = Member::read(&config(), &wanted(), &[mint(1, GROUP), tenure(), None]).unwrap();
    assert_eq!(member.standing(&[]), None);
}

proptest! {
    #[test]
    fn hostile_accounts_are_absent_and_never_panic(
        cut in 0_usize..400,
        flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..20),
        owner in 0_usize..4,
    ) {
        let owners = [
            None,
            Some(TOKEN_PROGRAM),
            Some(TOKEN_2022_PROGRAM),
            Some(Address::new_from_array(KeyAccount::PROGRAM)),
        ];
        let bend = |account: Option<RawAccount>| {
            let mut account = account?;
            account.data.truncate(cut);
            for (at, bits) in &flips {
                let at = at % account.data.len().max(1);
                account.data.get_mut(at).into_iter().for_each(|byte| *byte ^= bits);
            }
            account.owner = owners[owner].unwrap_or(account.owner);
            Some(account)
        };
        let first = [mint(1, GROUP), tenure(), lease(9), key(AGENT, public(3), OPEN)];
        let second = [index(AGENT), stake(0, 0)];
        let _ = standing(&first.clone().map(bend), &second.clone().map(bend));
        let _ = standing(&first, &second.map(bend));
    }
}
