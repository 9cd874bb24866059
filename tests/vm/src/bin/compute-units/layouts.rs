//! Every account layout, and where its bumps stand.

use zx1_interface::accounts::*;
use zx1_interface::{Field, Layout};

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

    /// The bumps that an account of this layout keeps: its own and its vault's.
    fn bumps(&self, data: &[u8]) -> Vec<u8> {
        let mut at = 8;
        let mut found = Vec::new();
        for field in self.fields {
            if field.name == "bump" || field.name == "vault_bump" {
                found.push(data[at]);
            }
            at += width(field.idl_type);
        }
        assert_eq!(at, self.size, "{}: the fields fill the account", self.name);
        found
    }
}

/// Every layout of the five programs.
pub(crate) fn all() -> [Described; 12] {
    [
        Described::of::<Config>(),
        Described::of::<StakeLockAccount>(),
        Described::of::<LeaseAccount>(),
        Described::of::<HeadAccount>(),
        Described::of::<BatchAccount>(),
        Described::of::<ChallengeAccount>(),
        Described::of::<EvidenceDraft>(),
        Described::of::<RecordedEnvelope>(),
        Described::of::<FeedbackLogAccount>(),
        Described::of::<FeedbackEntry>(),
        Described::of::<FeedbackDraft>(),
        Described::of::<FeedbackResolution>(),
    ]
}

/// How many bumps were tried in vain for this new account and for its vault.
pub(crate) fn bump_steps(owner: &[u8; 32], data: &[u8]) -> u64 {
    let described =
        all().into_iter().find(|layout| layout.program == *owner && data.starts_with(&layout.discriminator));
    described.map_or(0, |layout| layout.bumps(data).iter().map(|bump| u64::from(255 - bump)).sum())
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
