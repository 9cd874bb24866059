//! The refusals. The real program's numbers begin at 6000 as well, but only those named here as known
//! are the same: the registry's published notes do not list the others.

use pinocchio::error::ProgramError;

macro_rules! errors {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)*) => {
        /// Why the stand-in refuses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum SatiError { $($(#[doc = $doc])+ $name = $code,)* }
    };
}

errors! {
    /// The name is longer than 32 bytes.
    NameTooLong = 6000,
    /// The symbol is longer than 10 bytes.
    SymbolTooLong = 6001,
    /// The URI is longer than 200 bytes.
    UriTooLong = 6002,
    /// There are more than 10 metadata entries.
    TooManyMetadataEntries = 6003,
    /// A metadata key is longer than 32 bytes.
    MetadataKeyTooLong = 6004,
    /// A metadata value is longer than 200 bytes.
    MetadataValueTooLong = 6005,
    /// The group mint is not the registry's.
    InvalidGroupMint = 6006,
    /// The signer is not the registry's authority.
    InvalidAuthority = 6007,
    /// The registry's authority was given up.
    ImmutableRegistry = 6008,
    /// A number would overflow.
    Overflow = 6009,
    /// The owner has to sign when metadata entries are given.
    OwnerMustSign = 6010,
    /// The signature mode or the storage is not one that exists.
    InvalidSchemaConfig = 6011,
    /// The schema's name is longer than 32 bytes.
    SchemaNameTooLong = 6012,
    /// The schema keeps its attestations elsewhere.
    StorageTypeMismatch = 6013,
    /// The attestation's data are too short, too long or of another version.
    InvalidDataLayout = 6014,
    /// The outcome is not 0, 1 or 2.
    InvalidOutcome = 6015,
    /// The content's type is unknown.
    InvalidContentType = 6016,
    /// The content is too long for this schema.
    ContentTooLarge = 6017,
    /// The agent and the counterparty are the same.
    SelfAttestation = 6018,
    /// The token account does not hold the agent.
    AgentAtaMissing = 6019,
    /// No Ed25519 instruction shows the agent owner's signature.
    AgentSignatureMissing = 6020,
    /// No Ed25519 instruction shows the counterparty's signature.
    CounterpartySignatureMissing = 6021,
    /// Both signatures are the same key's.
    DuplicateSigners = 6022,
    /// There is an attestation for this task, agent and counterparty already.
    AttestationExists = 6023,
    /// The schema's attestations cannot be closed.
    AttestationNotCloseable = 6024,
    /// The signer may not close this attestation.
    UnauthorizedClose = 6025,
    /// The account is not an attestation of this schema.
    InvalidAttestation = 6026,
    /// The EVM signature is not the address's.
    InvalidEvmSignature = 6027,
    /// The chain's name is empty or longer than 64 bytes.
    InvalidChainId = 6028,
    /// An account is not the one that belongs here.
    InvalidAccount = 6029,
    /// The agent mint is not the one in the data. Known: the real program's number since February.
    AgentMintAccountMismatch = 6038,
}

impl From<SatiError> for ProgramError {
    fn from(error: SatiError) -> Self {
        Self::Custom(error as u32)
    }
}
