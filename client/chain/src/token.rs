//! The token instructions that clients and tests need, and reading token accounts. Thin: the encoding is
//! the token programs' own crates'.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_program_error::ProgramError;
use solana_program_pack::Pack;
use solana_system_interface::instruction as system;
use spl_associated_token_account_interface::{address, instruction as associated};
use spl_token_2022_interface::{
    extension::{ExtensionType, group_pointer},
    instruction as token,
    state::{Account, AccountState, Mint},
};
use zx1_interface::ids;

/// The legacy token program.
pub const TOKEN_PROGRAM: Address = Address::new_from_array(ids::TOKEN);
/// Program id of Token-2022.
pub const TOKEN_2022_PROGRAM: Address = Address::new_from_array(ids::TOKEN_2022);
/// The associated token account program.
pub const ASSOCIATED_TOKEN_PROGRAM: Address = spl_associated_token_account_interface::program::ID;

/// The associated token account of an owner.
pub fn associated_address(owner: &Address, mint: &Address, token_program: &Address) -> Address {
    address::get_associated_token_address_with_program_id(owner, mint, token_program)
}

/// Creates the associated token account, or does nothing where it is there.
pub fn create_associated(
    payer: &Address,
    owner: &Address,
    mint: &Address,
    token_program: &Address,
) -> Instruction {
    associated::create_associated_token_account_idempotent(payer, owner, mint, token_program)
}

/// Creates a token account of `owner` at an address that only the payer can take: its `number`th one for this
/// owner. `rent` is the balance that [`ACCOUNT_LEN`] bytes need.
pub fn create_numbered(
    payer: &Address,
    owner: &Address,
    mint: &Address,
    rent: u64,
    number: u8,
) -> Result<[Instruction; 2], ProgramError> {
    let (account, seed) = numbered(payer, owner, number)?;
    let program = &TOKEN_PROGRAM;
    Ok([
        system::create_account_with_seed(payer, &account, payer, &seed, rent, ACCOUNT_LEN as u64, program),
        token::initialize_account3(program, &account, mint, owner)?,
    ])
}

/// The address of [`create_numbered`].
pub fn numbered_address(payer: &Address, owner: &Address, number: u8) -> Result<Address, ProgramError> {
    numbered(payer, owner, number).map(|(account, _)| account)
}

fn numbered(payer: &Address, owner: &Address, number: u8) -> Result<(Address, String), ProgramError> {
    // A seed has at most 32 bytes: 15 bytes of the owner, and the number.
    let front = owner.as_ref().iter().take(15).chain([&number]);
    let seed: String = front.map(|byte| format!("{byte:02x}")).collect();
    let account = Address::create_with_seed(payer, &seed, &TOKEN_PROGRAM);
    Ok((account.map_err(|_| ProgramError::InvalidSeeds)?, seed))
}

/// Bytes of a legacy token account.
pub const ACCOUNT_LEN: usize = Account::LEN;
/// Bytes of a mint without extensions.
pub const MINT_LEN: usize = Mint::LEN;

/// Creates a mint without extensions; `rent` is the balance that [`MINT_LEN`] bytes need.
pub fn create_mint(
    payer: &Address,
    mint: &Address,
    rent: u64,
    authority: &Address,
    decimals: u8,
    token_program: &Address,
) -> Result<[Instruction; 2], ProgramError> {
    Ok([
        system::create_account(payer, mint, rent, MINT_LEN as u64, token_program),
        token::initialize_mint2(token_program, mint, authority, None, decimals)?,
    ])
}

/// Bytes that a group mint has in the end, for its rent: pointer and group.
pub fn group_mint_len() -> Result<usize, ProgramError> {
    ExtensionType::try_calculate_account_len::<Mint>(&[
        ExtensionType::GroupPointer,
        ExtensionType::TokenGroup,
    ])
}

/// Creates a Token-2022 mint that is its own group, whose members `group_authority` admits, and which
/// nobody can mint but that authority. `rent` is the balance that [`group_mint_len`] bytes need.
pub fn create_group_mint(
    payer: &Address,
    mint: &Address,
    rent: u64,
    group_authority: &Address,
    max_size: u64,
) -> Result<[Instruction; 5], ProgramError> {
    let program = &TOKEN_2022_PROGRAM;
    let length = ExtensionType::try_calculate_account_len::<Mint>(&[ExtensionType::GroupPointer])?;
    Ok([
        system::create_account(payer, mint, rent, length as u64, program),
        group_pointer::instruction::initialize(program, mint, Some(*group_authority), Some(*mint))?,
        // The payer is the mint authority for a moment, as making the group takes its signature.
        token::initialize_mint2(program, mint, payer, None, 0)?,
        spl_token_group_interface::instruction::initialize_group(
            program,
            mint,
            mint,
            payer,
            Some(*group_authority),
            max_size,
        ),
        token::set_authority(
            program,
            mint,
            Some(group_authority),
            token::AuthorityType::MintTokens,
            payer,
            &[],
        )?,
    ])
}

/// Mints `amount` tokens into an account.
pub fn mint_to(
    mint: &Address,
    account: &Address,
    authority: &Address,
    amount: u64,
    token_program: &Address,
) -> Result<Instruction, ProgramError> {
    token::mint_to(token_program, mint, account, authority, &[], amount)
}

/// Transfers tokens; the mint's decimals are checked.
pub fn transfer(
    from: &Address,
    mint: &Address,
    to: &Address,
    owner: &Address,
    amount_and_decimals: (u64, u8),
    token_program: &Address,
) -> Result<Instruction, ProgramError> {
    let (amount, decimals) = amount_and_decimals;
    token::transfer_checked(token_program, from, mint, to, owner, &[], amount, decimals)
}

/// Burns `amount` tokens of an account.
pub fn burn(
    account: &Address,
    mint: &Address,
    owner: &Address,
    amount: u64,
    token_program: &Address,
) -> Result<Instruction, ProgramError> {
    token::burn(token_program, account, mint, owner, &[], amount)
}

/// Closes an empty token account.
pub fn close_account(
    account: &Address,
    rent_to: &Address,
    owner: &Address,
    token_program: &Address,
) -> Result<Instruction, ProgramError> {
    token::close_account(token_program, account, rent_to, owner, &[])
}

/// What the front of a token account says, of either program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenAccount {
    /// Mint of the tokens.
    pub mint: Address,
    /// Wallet that may spend them.
    pub owner: Address,
    /// How many, in the smallest unit.
    pub amount: u64,
    /// Whether the mint's freeze authority has frozen it: nothing goes in or out.
    pub frozen: bool,
}

impl TokenAccount {
    /// Reads an initialized account's data; extensions are passed over.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let account = Account::unpack(data.get(..Account::LEN)?).ok()?;
        let (mint, owner, amount) = (account.mint, account.owner, account.amount);
        Some(Self { mint, owner, amount, frozen: account.is_frozen() })
    }
}

/// Whether a token account's data says that it is frozen.
pub fn is_frozen(data: &[u8]) -> bool {
    data.get(108) == Some(&(AccountState::Frozen as u8))
}

/// The extensions of a Token-2022 mint: type and value of each, in their order. None if `data` is not a
/// mint with extensions.
pub fn mint_extensions(data: &[u8]) -> Option<Vec<(u16, &[u8])>> {
    const ACCOUNT_TYPE: usize = Account::LEN;
    (*data.get(ACCOUNT_TYPE)? == 1).then_some(())?;
    let mut rest = data.get(ACCOUNT_TYPE + 1..)?;
    let mut found = Vec::new();
    while rest.len() >= 4 {
        let (kind, after) = rest.split_first_chunk::<2>()?;
        let (length, after) = after.split_first_chunk::<2>()?;
        let kind = u16::from_le_bytes(*kind);
        if kind == 0 {
            break;
        }
        let (value, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        found.push((kind, value));
        rest = after;
    }
    Some(found)
}
