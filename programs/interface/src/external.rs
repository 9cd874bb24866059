//! Byte layouts of what others own: token accounts, agents' mints, SATI, SAS, the Ed25519 precompile and
//! the loader. Each reader takes bytes and says None to anything unexpected; who owns the bytes is for
//! the caller to check. The facts come from those programs' published layouts.

use crate::ids::Address;

#[inline(always)]
fn field<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    let end = at.checked_add(N)?;
    data.get(at..end)?.try_into().ok()
}

/// What a token account holds; the first 165 bytes are the same in both token programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenAccount {
    /// Mint of the token.
    pub mint: Address,
    /// The wallet that may spend.
    pub owner: Address,
    /// Amount, in the mint's smallest unit.
    pub amount: u64,
}

const TOKEN_ACCOUNT_BYTES: usize = 165;
const MINT_BYTES: usize = 82;
/// Length of a multisig, the third kind of account of a token program. Its bytes are free to choose, so that
/// only its length tells it apart.
const MULTISIG_BYTES: usize = 355;
/// Where Token-2022 says what an account with extensions is.
const ACCOUNT_TYPE_AT: usize = TOKEN_ACCOUNT_BYTES;
const TYPE_MINT: u8 = 1;
const TYPE_TOKEN_ACCOUNT: u8 = 2;

/// SPL's rule of what an account of a token program is: one without extensions by its exact length; one with
/// extensions by its type, but never one of a multisig's length.
fn is_of_type(data: &[u8], plain_len: usize, account_type: u8) -> bool {
    data.len() == plain_len
        || (data.get(ACCOUNT_TYPE_AT) == Some(&account_type) && data.len() != MULTISIG_BYTES)
}

/// Whether these optional fields are all marked as absent (0) or present (1).
fn are_options(tags: &[[u8; 4]]) -> bool {
    tags.iter().fold(0, |all, tag| all | u32::from_le_bytes(*tag)) <= 1
}

/// Reads an initialized token account of either token program.
pub fn token_account(data: &[u8]) -> Option<TokenAccount> {
    is_of_type(data, TOKEN_ACCOUNT_BYTES, TYPE_TOKEN_ACCOUNT).then_some(())?;
    // Of a known length, so that nothing is checked at each field.
    let base: &[u8; TOKEN_ACCOUNT_BYTES] = data.first_chunk()?;
    let (delegate, native, closer) = (field(base, 72)?, field(base, 109)?, field(base, 129)?);
    // 1 initialized, 2 frozen: a frozen account still says who holds what.
    let [state] = field(base, 108)?;
    (are_options(&[delegate, native, closer]) && (state == 1 || state == 2)).then_some(())?;
    Some(TokenAccount {
        mint: field(base, 0)?,
        owner: field(base, 32)?,
        amount: u64::from_le_bytes(field(base, 64)?),
    })
}

/// Whether these bytes are an initialized mint of either token program. Mint and freeze authority are optional.
fn is_mint(data: &[u8]) -> bool {
    let Some(base) = data.first_chunk::<MINT_BYTES>() else { return false };
    let (Some([1]), Some(minter), Some(freezer)) = (field(base, 45), field(base, 0), field(base, 46)) else {
        return false;
    };
    // A mint with extensions is padded to the length of a token account.
    let padding = data.get(MINT_BYTES..ACCOUNT_TYPE_AT);
    is_of_type(data, MINT_BYTES, TYPE_MINT)
        && are_options(&[minter, freezer])
        && padding.is_none_or(|padding| *padding == [0; ACCOUNT_TYPE_AT - MINT_BYTES])
}

/// Whether these bytes are an initialized mint of the legacy token program.
pub fn is_legacy_mint(data: &[u8]) -> bool {
    data.len() == MINT_BYTES && is_mint(data)
}

/// What an agent's Token-2022 mint says (decision B3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentMint {
    /// Tokens in existence: 1, or 0 when the NFT was burned.
    pub supply: u64,
    /// The group of which the mint is a member.
    pub group: Address,
    /// Its number in the group, from 1.
    pub member_number: u64,
}

const TLV_START: usize = 166;
const TLV_TOKEN_GROUP_MEMBER: u16 = 23;

/// Reads a Token-2022 mint that is a group member. `mint` is its own address, which the extension must
/// repeat. None for anything else, also for a mint without that extension.
pub fn agent_mint(mint: &Address, data: &[u8]) -> Option<AgentMint> {
    is_mint(data).then_some(())?;
    let supply = u64::from_le_bytes(field(data, 36)?);
    let mut at = TLV_START;
    loop {
        let kind = u16::from_le_bytes(field(data, at)?);
        let len = usize::from(u16::from_le_bytes(field(data, at.checked_add(2)?)?));
        let value = at.checked_add(4)?;
        match kind {
            // The end of the extensions.
            0 => return None,
            TLV_TOKEN_GROUP_MEMBER => {
                (len == 72 && field::<32>(data, value)? == *mint).then_some(())?;
                return Some(AgentMint {
                    supply,
                    group: field(data, value.checked_add(32)?)?,
                    member_number: u64::from_le_bytes(field(data, value.checked_add(64)?)?),
                });
            }
            _ => at = value.checked_add(len)?,
        }
    }
}

const AGENT_INDEX: [u8; 8] = [0xf1, 0x9a, 0x23, 0x67, 0xb4, 0x8d, 0x31, 0xb3];
const REGISTRY_CONFIG: [u8; 8] = [0x17, 0x76, 0x0a, 0xf6, 0xad, 0xe7, 0xf3, 0x9c];

/// Reads SATI's AgentIndex: the mint and the bump of the account's own address.
pub fn agent_index(data: &[u8]) -> Option<(Address, u8)> {
    (field::<8>(data, 0)? == AGENT_INDEX).then_some(())?;
    Some((field(data, 8)?, *data.get(40)?))
}

/// Reads the group mint from SATI's RegistryConfig.
pub fn registry_group(data: &[u8]) -> Option<Address> {
    (field::<8>(data, 0)? == REGISTRY_CONFIG).then_some(())?;
    field(data, 8)
}

/// A DelegateV1 attestation as SAS keeps it (decision B3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// SAS credential that issued it.
    pub credential: Address,
    /// SAS schema of its data.
    pub schema: Address,
    /// Mint of the agent's NFT: the agent id.
    pub agent: Address,
    /// Key that may act for the agent.
    pub delegate: Address,
    /// Owner of the NFT who delegated.
    pub delegator: Address,
    /// Unix seconds; 0 means never.
    pub expiry: i64,
}

/// The account kind with which SAS begins an attestation.
const SAS_ATTESTATION: u8 = 2;
/// Bytes of SATI's universal layout before its content.
const UNIVERSAL_BYTES: usize = 131;

/// Reads a DelegateV1 attestation.
pub fn delegation(data: &[u8]) -> Option<Delegation> {
    let start = 101_usize;
    let len = usize::try_from(u32::from_le_bytes(field(data, 97)?)).ok()?;
    let end = start.checked_add(len)?;
    let universal = data.get(start..end)?;
    (*data.first()? == SAS_ATTESTATION && len >= UNIVERSAL_BYTES && *universal.first()? == 1).then_some(())?;
    Some(Delegation {
        credential: field(data, 33)?,
        schema: field(data, 65)?,
        agent: field(universal, 33)?,
        delegate: field(universal, 65)?,
        delegator: field(universal, 98)?,
        // Behind the data: the attestation's signer, then the expiry.
        expiry: i64::from_le_bytes(field(data, end.checked_add(32)?)?),
    })
}

impl Delegation {
    /// Whether it has run out at this unix time in seconds.
    pub fn is_expired(&self, now: i64) -> bool {
        self.expiry != 0 && self.expiry <= now
    }
}

/// Why an Ed25519 instruction does not count as the check of one signature (decision B7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// There is no Ed25519 instruction right before the current one.
    Missing,
    /// It checks no signature or several.
    Count,
    /// It points into other instructions or out of its own bytes.
    Offsets,
}

/// One verified signature: who signed what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// Ed25519 public key.
    pub signer: Address,
    /// Bytes that the key signed.
    pub message: &'a [u8],
}

/// Reads the signature that the instruction right before the current one has verified. `sysvar` is the
/// data of the instructions sysvar.
pub fn preceding_signature(sysvar: &[u8]) -> Result<Signed<'_>, SignatureFault> {
    let (program, data) = preceding_instruction(sysvar).ok_or(SignatureFault::Missing)?;
    if program != crate::ids::ED25519 {
        return Err(SignatureFault::Missing);
    }
    ed25519_signature(data)
}

/// Program and data of the instruction right before the current one.
fn preceding_instruction(sysvar: &[u8]) -> Option<(Address, &[u8])> {
    let current = u16::from_le_bytes(*sysvar.last_chunk()?);
    let index = usize::from(current.checked_sub(1)?);
    let offset_at = index.checked_mul(2)?.checked_add(2)?;
    let start = usize::from(u16::from_le_bytes(field(sysvar, offset_at)?));
    let accounts = usize::from(u16::from_le_bytes(field(sysvar, start)?));
    // Every account takes a byte of flags and its address.
    let program_at = accounts.checked_mul(33)?.checked_add(2)?.checked_add(start)?;
    let program = field(sysvar, program_at)?;
    let len_at = program_at.checked_add(32)?;
    let len = usize::from(u16::from_le_bytes(field(sysvar, len_at)?));
    let data_at = len_at.checked_add(2)?;
    Some((program, sysvar.get(data_at..data_at.checked_add(len)?)?))
}

/// Reads the data of an Ed25519 instruction that checks exactly one signature held in its own bytes.
pub fn ed25519_signature(data: &[u8]) -> Result<Signed<'_>, SignatureFault> {
    if data.first() != Some(&1) {
        return Err(SignatureFault::Count);
    }
    ed25519_single(data).ok_or(SignatureFault::Offsets)
}

fn ed25519_single(data: &[u8]) -> Option<Signed<'_>> {
    let number = |at| field(data, at).map(u16::from_le_bytes);
    // signature offset and index, key offset and index, message offset, size and index.
    let (signature, signature_in) = (number(2)?, number(4)?);
    let (key, key_in) = (number(6)?, number(8)?);
    let (message, size, message_in) = (number(10)?, number(12)?, number(14)?);
    ([signature_in, key_in, message_in] == [u16::MAX; 3]).then_some(())?;
    field::<64>(data, usize::from(signature))?;
    let start = usize::from(message);
    Some(Signed {
        signer: field(data, usize::from(key))?,
        message: data.get(start..start.checked_add(usize::from(size))?)?,
    })
}

/// The upgrade authority in a ProgramData account: `Some(None)` for an immutable program, None when the
/// bytes are not ProgramData.
pub fn upgrade_authority(data: &[u8]) -> Option<Option<Address>> {
    (u32::from_le_bytes(field(data, 0)?) == 3).then_some(())?;
    match data.get(12)? {
        0 => Some(None),
        1 => Some(Some(field(data, 13)?)),
        _ => None,
    }
}
