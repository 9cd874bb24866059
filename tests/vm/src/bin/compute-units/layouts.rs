//! Every account layout, and where its bump stands.

use solana_address::Address;
use zx1_interface::accounts::*;
use zx1_interface::{Field, Layout, ids, seeds};

/// A layout as a value.
pub(crate) struct Described {
    pub(crate) name: &'static str,
    pub(crate) program: [u8; 32],
    pub(crate) size: usize,
    discriminator: [u8; 8],
    fields: &'static [Field],
}

impl Described {
    fn of<T: Layout>() -> Self {
        Self {
            name: T::NAME,
            program: T::PROGRAM,
            size: T::SIZE,
            discriminator: T::DISCRIMINATOR,
            fields: T::FIELDS,
        }
    }

    /// The bump that an account of this layout keeps.
    fn bump(&self, data: &[u8]) -> u8 {
        let (mut at, mut found) = (8, None);
        for field in self.fields {
            if field.name == "bump" {
                found = Some(data[at]);
            }
            at += width(field.idl_type);
        }
        assert_eq!(at, self.size, "{}: the fields fill the account", self.name);
        found.unwrap_or_else(|| panic!("{} has a bump", self.name))
    }
}

/// Every layout of the five programs.
pub(crate) fn all() -> [Described; 15] {
    [
        Described::of::<Config>(),
        Described::of::<TenureAccount>(),
        Described::of::<KeyAccount>(),
        Described::of::<StakeLockAccount>(),
        Described::of::<ShardAccount>(),
        Described::of::<LeaseAccount>(),
        Described::of::<HeadAccount>(),
        Described::of::<BatchAccount>(),
        Described::of::<ChallengeAccount>(),
        Described::of::<EvidenceDraft>(),
        Described::of::<AskAccount>(),
        Described::of::<FeedbackLogAccount>(),
        Described::of::<FeedbackEntry>(),
        Described::of::<FeedbackDraft>(),
        Described::of::<FeedbackResolution>(),
    ]
}

/// How many bumps were tried in vain for this new account, and for the vault that is made with a shard.
pub(crate) fn bump_steps(owner: &[u8; 32], data: &[u8]) -> u64 {
    let described =
        all().into_iter().find(|layout| layout.program == *owner && data.starts_with(&layout.discriminator));
    let vault = ShardAccount::read(data).map_or(0, |shard| {
        let seeds: &[&[u8]] = &[seeds::VAULT, &[shard.shard]];
        255 - Address::find_program_address(seeds, &Address::new_from_array(ids::STAKE_LOCK)).1
    });
    u64::from(vault) + described.map_or(0, |layout| u64::from(255 - layout.bump(data)))
}

fn width(idl_type: &str) -> usize {
    match idl_type {
        "\"u8\"" => 1,
        "\"u32\"" => 4,
        "\"u64\"" | "\"i64\"" => 8,
        "\"pubkey\"" => 32,
        array => {
            let length = array.strip_prefix("{\"array\":[\"u8\",").and_then(|rest| rest.strip_suffix("]}"));
            length.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("the type {array}"))
        }
    }
}
