//! Layouts of the accounts. Decoding gives none for anything that is not exactly the layout.

use solana_address::Address;

use super::account_discriminator;

/// Walks over bytes; every read can end it.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
    pub(super) fn u8(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }
    pub(super) fn address(&mut self) -> Option<Address> {
        self.array().map(Address::new_from_array)
    }
    pub(super) fn bool(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
    pub(super) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// The registry's one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryConfig {
    /// The Token-2022 group mint whose members are agents.
    pub group_mint: Address,
    /// Who may register schemas.
    pub authority: Address,
    /// How many agents there are; the newest one's member number.
    pub total_agents: u64,
    /// The address's bump.
    pub bump: u8,
}

impl RegistryConfig {
    /// Size of the account in bytes.
    pub const LEN: usize = 81;

    /// Reads the account's data.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let mut r = Reader(data);
        (r.array()? == account_discriminator::REGISTRY).then_some(())?;
        let value =
            Self { group_mint: r.address()?, authority: r.address()?, total_agents: r.u64()?, bump: r.u8()? };
        r.end()?;
        Some(value)
    }
}

/// From an agent's number to its mint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentIndex {
    /// The agent's mint.
    pub mint: Address,
    /// The address's bump.
    pub bump: u8,
}

impl AgentIndex {
    /// Size of the account in bytes.
    pub const LEN: usize = 41;

    /// Reads the account's data.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let mut r = Reader(data);
        (r.array()? == account_discriminator::AGENT_INDEX).then_some(())?;
        let value = Self { mint: r.address()?, bump: r.u8()? };
        r.end()?;
        Some(value)
    }
}

/// Who has to sign an attestation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SignatureMode {
    /// The agent's owner and the counterparty.
    Dual = 0,
    /// The counterparty alone.
    Counterparty = 1,
    /// The agent's owner alone.
    AgentOwner = 2,
}

/// Where an attestation is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Storage {
    /// A compressed account (the stand-in: a plain one).
    Compressed = 0,
    /// An account of SAS.
    Regular = 1,
}

/// The rules of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaConfig {
    /// The schema at SAS.
    pub sas_schema: Address,
    /// Who has to sign.
    pub signature_mode: SignatureMode,
    /// Where attestations are kept.
    pub storage: Storage,
    /// The schema of delegations that count for this one.
    pub delegation_schema: Option<Address>,
    /// Whether attestations can be closed.
    pub closeable: bool,
    /// Its name, 32 bytes at most; part of what a counterparty signs.
    pub name: String,
    /// The address's bump.
    pub bump: u8,
}

impl SchemaConfig {
    /// Longest name in bytes.
    pub const MAX_NAME: usize = 32;

    /// Reads the account's data; unused space after the fields is allowed, as the account has room for
    /// the longest name.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let mut r = Reader(data);
        (r.array()? == account_discriminator::SCHEMA_CONFIG).then_some(())?;
        let sas_schema = r.address()?;
        let signature_mode = match r.u8()? {
            0 => SignatureMode::Dual,
            1 => SignatureMode::Counterparty,
            2 => SignatureMode::AgentOwner,
            _ => return None,
        };
        let storage = match r.u8()? {
            0 => Storage::Compressed,
            1 => Storage::Regular,
            _ => return None,
        };
        let delegation_schema = if r.bool()? { Some(r.address()?) } else { None };
        let closeable = r.bool()?;
        let length = usize::try_from(r.u32()?).ok()?;
        (length <= Self::MAX_NAME).then_some(())?;
        let name = str::from_utf8(r.take(length)?).ok()?.to_owned();
        Some(Self { sas_schema, signature_mode, storage, delegation_schema, closeable, name, bump: r.u8()? })
    }
}

/// An attestation account of SAS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SasAttestation {
    /// Makes the address unique.
    pub nonce: [u8; 32],
    /// SAS credential that issued it.
    pub credential: Address,
    /// SAS schema of its data.
    pub schema: Address,
    /// What is attested, in the schema's form.
    pub data: Vec<u8>,
    /// Who signed for the credential.
    pub signer: Address,
    /// Unix time after which it counts no more; 0 is never.
    pub expiry: i64,
    /// A token account for tokenized attestations, else zeros.
    pub token_account: Address,
}

impl SasAttestation {
    /// The first byte of an attestation account.
    pub const DISCRIMINATOR: u8 = 2;

    /// Reads the account's data.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let mut r = Reader(data);
        (r.u8()? == Self::DISCRIMINATOR).then_some(())?;
        let (nonce, credential, schema) = (r.array()?, r.address()?, r.address()?);
        let length = usize::try_from(r.u32()?).ok()?;
        let value = Self {
            nonce,
            credential,
            schema,
            data: r.take(length)?.to_vec(),
            signer: r.address()?,
            expiry: r.i64()?,
            token_account: r.address()?,
        };
        r.end()?;
        Some(value)
    }

    /// Writes the account's data.
    pub fn encode(&self) -> Vec<u8> {
        let length = u32::try_from(self.data.len()).unwrap_or(u32::MAX);
        let parts: [&[u8]; 9] = [
            &[Self::DISCRIMINATOR],
            &self.nonce,
            self.credential.as_array(),
            self.schema.as_array(),
            &length.to_le_bytes(),
            &self.data,
            self.signer.as_array(),
            &self.expiry.to_le_bytes(),
            self.token_account.as_array(),
        ];
        parts.concat()
    }
}
