//! What is changed in a valid call.

use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, Config, EvidenceDraft, FeedbackDraft, FeedbackEntry,
    FeedbackLogAccount, FeedbackResolution, HeadAccount, KeyAccount, LeaseAccount, ShardAccount,
    StakeLockAccount, TenureAccount,
};
use zx1_interface::{EVENT_TAG, Field, Layout, ids};

/// A small generator whose every value follows from the seed (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: &str) -> Self {
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

/// One change of a valid call.
#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    /// Other bytes after the discriminator.
    Arguments(Vec<u8>),
    /// Other bytes altogether.
    Data(Vec<u8>),
    /// Another account at a position.
    Swap(usize, Address),
    /// A forged account at a position: the address, and how it was forged.
    Forged(usize, Address, &'static str),
    /// An account less, from this position on the others move up.
    Drop(usize),
    /// Only so many accounts.
    Truncate(usize),
    /// The signature of the account at this position is missing.
    Unsigned(usize),
    /// The account at this position may not be written.
    ReadOnly(usize),
    /// Without the instructions that go before it.
    Alone,
}

impl Mutation {
    /// The changed instruction.
    pub(crate) fn apply(&self, valid: &Instruction) -> Instruction {
        let mut changed = valid.clone();
        match self {
            Self::Arguments(arguments) => {
                changed.data.truncate(8);
                changed.data.extend(arguments);
            }
            Self::Data(data) => changed.data.clone_from(data),
            Self::Swap(at, replacement) => changed.accounts[*at].pubkey = *replacement,
            Self::Forged(at, forgery, _) => changed.accounts[*at].pubkey = *forgery,
            Self::Drop(at) => drop(changed.accounts.remove(*at)),
            Self::Truncate(count) => changed.accounts.truncate(*count),
            Self::Unsigned(at) => {
                let who = changed.accounts[*at].pubkey;
                let same = changed.accounts.iter_mut().filter(|meta| meta.pubkey == who);
                same.for_each(|meta| meta.is_signer = false);
            }
            Self::ReadOnly(at) => {
                let which = changed.accounts[*at].pubkey;
                let same = changed.accounts.iter_mut().filter(|meta| meta.pubkey == which);
                same.for_each(|meta| meta.is_writable = false);
            }
            Self::Alone => {}
        }
        changed
    }
}

/// The arguments of an instruction, one slice each; what follows them is left over. None when the bytes
/// end too early.
pub(crate) fn arguments<'a>(fields: &[Field], mut bytes: &'a [u8]) -> Option<Vec<(&'static str, &'a [u8])>> {
    let mut found = Vec::new();
    for field in fields {
        let length = match field.idl_type {
            "\"u8\"" => 1,
            "\"u32\"" => 4,
            "\"u64\"" => 8,
            "\"i128\"" => 16,
            "\"pubkey\"" | "{\"array\":[\"u8\",32]}" => 32,
            "\"bytes\"" | "{\"vec\":\"u8\"}" => 4 + prefix(bytes)?,
            "{\"vec\":{\"array\":[\"u8\",32]}}" => 4 + prefix(bytes)?.checked_mul(32)?,
            other => panic!("the argument type {other}"),
        };
        let (argument, rest) = bytes.split_at_checked(length)?;
        found.push((field.name, argument));
        bytes = rest;
    }
    Some(found)
}

fn prefix(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok()
}

/// Changes of the arguments.
pub(crate) fn of_arguments(random: &mut Random, fields: &[Field], valid: &[u8]) -> Vec<Mutation> {
    let mut all = Vec::new();
    for _ in 0..6 {
        all.push(random.bytes(valid.len()));
        let longer = 1 + random.below(30);
        all.push([valid, &random.bytes(longer)].concat());
        all.push(random.bytes(longer));
    }
    if valid.is_empty() {
        return all.into_iter().map(Mutation::Arguments).collect();
    }
    for _ in 0..6 {
        all.push(valid[..random.below(valid.len())].to_vec());
    }
    for _ in 0..12 {
        let mut flipped = valid.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(valid.len());
            flipped[at] ^= 1 << random.below(8);
        }
        all.push(flipped);
    }
    // The edges of every argument, and lengths that no transaction has room for.
    let mut at = 0;
    for (_, argument) in arguments(fields, valid).expect("the valid call parses") {
        for filling in [vec![0; argument.len()], vec![0xff; argument.len()], random.bytes(argument.len())] {
            let mut edged = valid.to_vec();
            edged[at..at + argument.len()].copy_from_slice(&filling);
            all.push(edged);
        }
        if argument.len() >= 4 {
            for length in [0, 1, 0xffff, 0x7fff_ffff, u32::MAX] {
                let mut edged = valid.to_vec();
                edged[at..at + 4].copy_from_slice(&u32::to_le_bytes(length));
                all.push(edged);
            }
        }
        at += argument.len();
    }
    all.into_iter().map(Mutation::Arguments).collect()
}

/// What tells the accounts of a layout from others.
struct Kind {
    program: [u8; 32],
    discriminator: [u8; 8],
    size: usize,
    version_at: usize,
}

impl Kind {
    fn of<T: Layout>() -> Self {
        let (program, discriminator) = (T::PROGRAM, T::DISCRIMINATOR);
        Self { program, discriminator, size: T::SIZE, version_at: T::VERSION_AT }
    }

    fn is(&self, account: &Account) -> bool {
        account.owner.to_bytes() == self.program && account.data.starts_with(&self.discriminator)
    }

    /// Accounts of the same program that are not of this layout and edition.
    fn forgeries(&self, account: &Account) -> Vec<(&'static str, Account)> {
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut forged = account.clone();
            change(&mut forged.data);
            forged
        };
        let mut all = vec![
            ("of the first edition", with(&|data| data[self.version_at] = 1)),
            ("of a later edition", with(&|data| data[self.version_at] = 3)),
            ("of no layout", with(&|data| data[0] ^= 1)),
            ("shorter than its layout", with(&|data| data.truncate(self.size - 1))),
        ];
        // The same bytes, as another layout of the same program.
        let others = layouts().filter(|other| other.program == self.program);
        let others = others.filter(|other| other.discriminator != self.discriminator);
        all.extend(others.zip(OTHER_LAYOUTS).map(|(other, how)| {
            let relabel = |data: &mut Vec<u8>| {
                data.resize(data.len().max(other.size), 0);
                data[..8].copy_from_slice(&other.discriminator);
                data[other.version_at] = 2;
            };
            (how, with(&relabel))
        }));
        all
    }
}

/// Names for the other layouts of a program.
const OTHER_LAYOUTS: [&str; 4] =
    ["of a second layout", "of a third layout", "of a fourth layout", "of a fifth layout"];

/// Every layout of the five programs.
fn layouts() -> impl Iterator<Item = Kind> {
    [
        Kind::of::<Config>(),
        Kind::of::<TenureAccount>(),
        Kind::of::<KeyAccount>(),
        Kind::of::<StakeLockAccount>(),
        Kind::of::<ShardAccount>(),
        Kind::of::<LeaseAccount>(),
        Kind::of::<HeadAccount>(),
        Kind::of::<BatchAccount>(),
        Kind::of::<ChallengeAccount>(),
        Kind::of::<EvidenceDraft>(),
        Kind::of::<AskAccount>(),
        Kind::of::<FeedbackLogAccount>(),
        Kind::of::<FeedbackEntry>(),
        Kind::of::<FeedbackDraft>(),
        Kind::of::<FeedbackResolution>(),
    ]
    .into_iter()
}

/// How the one forgery that may stand in an account's place was made.
pub(crate) const FROZEN: &str = "frozen";

/// What an account is not, though it reads like it: forged past every program.
pub(crate) fn forgeries(account: &Account) -> Vec<(&'static str, Account)> {
    const TYPE_AT: usize = 165;
    let with = |change: &dyn Fn(&mut Account)| {
        let mut forged = account.clone();
        change(&mut forged);
        forged
    };
    let mut all = vec![("of another program", with(&|it| it.owner = Address::new_from_array([66; 32])))];
    all.extend(layouts().filter(|layout| layout.is(account)).flat_map(|layout| layout.forgeries(account)));
    let token_programs = [ids::TOKEN, ids::TOKEN_2022];
    if !token_programs.contains(&account.owner.to_bytes()) || account.data.is_empty() {
        return all;
    }
    let is_mint = account.data.len() == 82 || account.data.get(TYPE_AT) == Some(&1);
    let (own_type, state_at, plain) = if is_mint { (1, 45, 82) } else { (2, 108, TYPE_AT) };
    let sized = |length: usize, account_type: u8| {
        with(&|it| {
            it.data.resize(length, 0);
            if let Some(at) = it.data.get_mut(TYPE_AT) {
                *at = account_type;
            }
        })
    };
    let other = token_programs.into_iter().find(|id| *id != account.owner.to_bytes()).unwrap();
    let frozen = with(&|it| {
        if !is_mint && it.owner.to_bytes() == ids::TOKEN {
            it.data[state_at] = 2;
        }
    });
    all.extend([
        ("a multisig", sized(355, own_type)),
        ("a multisig of no type", sized(355, 0)),
        ("of the other type", sized(account.data.len().max(170), 3 - own_type)),
        ("of no type", sized(account.data.len().max(170), 0)),
        ("cut short", sized(plain - 1, 0)),
        ("uninitialized", with(&|it| it.data[state_at] = 0)),
        ("of the other token program", with(&|it| it.owner = Address::new_from_array(other))),
        (FROZEN, frozen),
        ("without data", with(&|it| it.data.clear())),
    ]);
    all.retain(|(_, forged)| forged != account);
    all
}

/// Bytes that do not decode as an instruction, or barely do.
pub(crate) fn of_data(random: &mut Random, valid: &[u8]) -> Vec<Mutation> {
    let mut all = vec![Vec::new(), valid[..8].to_vec(), EVENT_TAG.to_vec()];
    for _ in 0..5 {
        let length = random.below(80);
        all.push(random.bytes(length));
        all.push([&random.bytes(8), &valid[8..]].concat());
        all.push([&EVENT_TAG[..], &random.bytes(length)].concat());
    }
    all.into_iter().map(Mutation::Data).collect()
}

/// Every account swapped for all of the pool, for some of its neighbours and for the program itself.
pub(crate) fn of_accounts(random: &mut Random, valid: &Instruction, pool: &[Address]) -> Vec<Mutation> {
    let mut all = Vec::new();
    let count = valid.accounts.len();
    for at in 0..count {
        let own = valid.accounts[at].pubkey;
        // The compute-budget program does nothing and succeeds, whatever it is called with.
        let mut replacements =
            vec![valid.program_id, solana_sdk_ids::system_program::ID, solana_sdk_ids::compute_budget::ID];
        for _ in 0..3 {
            replacements.push(valid.accounts[random.below(count)].pubkey);
        }
        replacements.extend(pool);
        replacements.sort_unstable();
        replacements.dedup();
        replacements.retain(|replacement| *replacement != own);
        all.extend(replacements.into_iter().map(|replacement| Mutation::Swap(at, replacement)));
        all.push(Mutation::Drop(at));
        all.push(Mutation::Truncate(at));
        if valid.accounts[at].is_signer {
            all.push(Mutation::Unsigned(at));
        }
        if valid.accounts[at].is_writable {
            all.push(Mutation::ReadOnly(at));
        }
    }
    all
}
