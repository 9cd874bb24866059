#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;
use zx1_interface::constants::LAYOUT_VERSION;

fn account<T: Layout>(tail: &[u8]) -> RawAccount {
    let mut data = vec![0; T::SIZE];
    data[..8].copy_from_slice(&T::DISCRIMINATOR);
    data[T::VERSION_AT] = LAYOUT_VERSION;
    data.extend_from_slice(tail);
    RawAccount {
        address: Address::new_from_array([7; 32]),
        lamports: 5,
        owner: Address::new_from_array(T::PROGRAM),
        data,
        executable: false,
    }
}

/// Decoding is exact for one layout.
fn exact<T: Layout + PartialEq + std::fmt::Debug>() {
    let good = account::<T>(b"tail");
    let stored = Stored::<T>::decode(&good).unwrap();
    assert_eq!((stored.tail.as_slice(), stored.lamports), (&b"tail"[..], 5), "{}", T::NAME);
    let mut other = good.clone();
    other.owner = Address::default();
    assert_eq!(Stored::<T>::decode(&other).unwrap_err().code(), 7011, "{}", T::NAME);
    let mut other = good.clone();
    other.data[3] ^= 1;
    assert_eq!(Stored::<T>::decode(&other).unwrap_err().code(), 7012, "{}", T::NAME);
    for length in 0..T::SIZE {
        let mut short = good.clone();
        short.data.truncate(length);
        assert_eq!(Stored::<T>::decode(&short).unwrap_err().code(), 7012, "{} of {length}", T::NAME);
    }
    for version in [0, LAYOUT_VERSION - 1, LAYOUT_VERSION + 1] {
        let mut other = good.clone();
        other.data[T::VERSION_AT] = version;
        assert_eq!(Stored::<T>::decode(&other).unwrap_err().code(), 7012, "{} of {version}", T::NAME);
    }
}

#[test]
fn every_layout_decodes_only_with_its_owner_discriminator_size_and_version() {
    exact::<Config>();
    exact::<StakeLockAccount>();
    exact::<LeaseAccount>();
    exact::<HeadAccount>();
    exact::<BatchAccount>();
    exact::<ChallengeAccount>();
    exact::<EvidenceDraft>();
    exact::<AskAccount>();
    exact::<TenureAccount>();
    exact::<KeyAccount>();
    exact::<ShardAccount>();
    exact::<FeedbackLogAccount>();
    exact::<FeedbackEntry>();
    exact::<FeedbackDraft>();
    exact::<FeedbackResolution>();
}

#[test]
fn an_address_with_only_lamports_is_no_account() {
    let funded = RawAccount {
        address: Address::default(),
        lamports: 1,
        owner: system_program::ID,
        data: Vec::new(),
        executable: false,
    };
    assert_eq!(present::<LeaseAccount>(funded).unwrap(), None);
}

#[test]
fn the_clock_gives_the_epoch_of_its_unix_time() {
    let mut data = vec![0; 40];
    data[..8].copy_from_slice(&77_u64.to_le_bytes());
    data[32..].copy_from_slice(&(86_400_i64 * 20_000 + 5).to_le_bytes());
    let mut account =
        RawAccount { address: sysvar::clock::ID, lamports: 1, owner: sysvar::ID, data, executable: false };
    let time = decode_clock(&account).unwrap();
    assert_eq!((time.slot, time.epoch), (77, 20_000));
    account.data[32..].copy_from_slice(&(-1_i64).to_le_bytes());
    assert_eq!(decode_clock(&account).unwrap_err().code(), 7012);
    account.data.truncate(39);
    assert_eq!(decode_clock(&account).unwrap_err().code(), 7012);
}

#[test]
fn an_entry_whose_text_is_not_what_it_says_is_malformed() {
    let entry = |len: u32, text: &[u8]| {
        let mut raw = account::<FeedbackEntry>(text);
        let at = 8 + offset_of!(FeedbackEntry, text_len);
        raw.data[at..at + 4].copy_from_slice(&len.to_le_bytes());
        raw
    };
    assert_eq!(feedback_item(&entry(2, b"hi"), None).unwrap().text, "hi");
    assert_eq!(feedback_item(&entry(3, b"hi"), None).unwrap_err().code(), 7012);
    assert_eq!(feedback_item(&entry(u32::MAX, b"hi"), None).unwrap_err().code(), 7012);
    assert_eq!(feedback_item(&entry(2, &[0xff, 0xfe]), None).unwrap_err().code(), 7012);
}

proptest! {
    #[test]
    fn hostile_account_bytes_are_errors_and_never_panics(
        data in proptest::collection::vec(any::<u8>(), 0..600),
        tag in 0_usize..15,
        owner in 0_usize..7,
    ) {
        let tags = [
            Config::DISCRIMINATOR, StakeLockAccount::DISCRIMINATOR, LeaseAccount::DISCRIMINATOR,
            HeadAccount::DISCRIMINATOR, BatchAccount::DISCRIMINATOR, ChallengeAccount::DISCRIMINATOR,
            EvidenceDraft::DISCRIMINATOR, AskAccount::DISCRIMINATOR, FeedbackLogAccount::DISCRIMINATOR,
            TenureAccount::DISCRIMINATOR, KeyAccount::DISCRIMINATOR, ShardAccount::DISCRIMINATOR,
            FeedbackEntry::DISCRIMINATOR, FeedbackDraft::DISCRIMINATOR, FeedbackResolution::DISCRIMINATOR,
        ];
        let owners = [
            zx1_interface::ids::STAKE_LOCK, zx1_interface::ids::LEASE, zx1_interface::ids::BEHAVIOR_LOG,
            zx1_interface::ids::CHALLENGE, zx1_interface::ids::FEEDBACK_LOG, zx1_interface::ids::TOKEN,
            zx1_interface::ids::TOKEN_2022,
        ];
        let raw = RawAccount {
            address: Address::default(),
            lamports: 0,
            owner: Address::new_from_array(owners[owner]),
            data: [&tags[tag][..], &data].concat(),
            executable: false,
        };
        let _ = Stored::<Config>::decode(&raw);
        let _ = Stored::<StakeLockAccount>::decode(&raw);
        let _ = Stored::<LeaseAccount>::decode(&raw);
        let _ = Stored::<HeadAccount>::decode(&raw);
        let _ = Stored::<BatchAccount>::decode(&raw);
        let _ = Stored::<ChallengeAccount>::decode(&raw);
        let _ = Stored::<EvidenceDraft>::decode(&raw);
        let _ = Stored::<AskAccount>::decode(&raw);
        let _ = Stored::<TenureAccount>::decode(&raw);
        let _ = Stored::<KeyAccount>::decode(&raw);
        let _ = Stored::<ShardAccount>::decode(&raw);
        let _ = Stored::<FeedbackDraft>::decode(&raw);
        let _ = feedback_item(&raw, Some(raw.clone()));
        let _ = decode_token(&raw);
        let _ = decode_clock(&raw);
    }
}
