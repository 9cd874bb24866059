//! Attestations: compressed ones (plain accounts here) and regular ones (accounts of SAS).

use alloc::vec::Vec;
use pinocchio::{AccountView, Address, ProgramResult, error::ProgramError};

use crate::{
    ID, SatiError, events, require, require_signer,
    runtime::{Reader, call, close, create, expect_derived, push_bytes, put, read, write},
    schema::{AGENT_OWNER, COMPRESSED, COUNTERPARTY, DUAL, REGULAR, SchemaConfig},
    signatures::{find, keccak},
    token,
};

const SAS: Address =
    Address::new_from_array(five8_const::decode_32_const("22zoJMtdu4tQc2PzL74ZUT7FrwgB1Udec8DdW4yw4BdG"));
const COMPRESSED_ATTESTATION: [u8; 8] = [0xb3, 0x88, 0x3a, 0xc5, 0xe4, 0x78, 0xdc, 0x32];
const ATTESTATION_CREATED: [u8; 8] = [0xd9, 0xaa, 0x13, 0xcb, 0x80, 0x33, 0x1d, 0xa3];
const ATTESTATION_CLOSED: [u8; 8] = [0x7e, 0x2d, 0x60, 0xab, 0x10, 0xc9, 0x0b, 0x4e];
const AUTHORITY: &[u8] = b"sati_attestation";
const SEED: &[u8] = b"attestation";
const BASE: usize = 131;
const MAX_CONTENT: usize = 512;
const MAX_DUAL_CONTENT: usize = 70;

/// An attestation's data in the universal layout.
struct Universal<'a> {
    task_ref: [u8; 32],
    agent: Address,
    counterparty: Address,
    outcome: u8,
    data_hash: [u8; 32],
    content: &'a [u8],
}

impl<'a> Universal<'a> {
    fn read(data: &'a [u8]) -> Result<Self, ProgramError> {
        require(data.len() >= BASE, SatiError::InvalidDataLayout)?;
        let mut r = Reader(data);
        require(r.u8()? == 1, SatiError::InvalidDataLayout)?;
        let (task_ref, agent, counterparty) = (r.array()?, r.address()?, r.address()?);
        let (outcome, data_hash, content_type) = (r.u8()?, r.array()?, r.u8()?);
        require(outcome <= 2, SatiError::InvalidOutcome)?;
        require(content_type <= 5, SatiError::InvalidContentType)?;
        require(r.0.len() <= MAX_CONTENT, SatiError::ContentTooLarge)?;
        require(agent != counterparty, SatiError::SelfAttestation)?;
        Ok(Self { task_ref, agent, counterparty, outcome, data_hash, content: r.0 })
    }

    fn nonce(&self, config: &SchemaConfig) -> [u8; 32] {
        let schema = config.sas_schema.as_array();
        let (agent, other) = (self.agent.as_array(), self.counterparty.as_array());
        // A delegation is one per delegate and agent; anything else is one per task too.
        match config.mode {
            AGENT_OWNER => keccak(&[schema, other, agent]),
            _ => keccak(&[&self.task_ref, schema, agent, other]),
        }
    }

    /// What the counterparty's wallet signed.
    fn words(&self, name: &str) -> Vec<u8> {
        let outcome: &[u8] = match self.outcome {
            0 => b"Negative",
            1 => b"Neutral",
            _ => b"Positive",
        };
        let details = if self.content.is_empty() { b"(none)" } else { self.content };
        let (agent, task) = (base58(self.agent.as_array()), base58(&self.task_ref));
        token::concat(&[
            b"SATI ",
            name.as_bytes(),
            b"\n\nAgent: ",
            &agent,
            b"\nTask: ",
            &task,
            b"\nOutcome: ",
            outcome,
            b"\nDetails: ",
            details,
            b"\n\nSign to create this attestation.",
        ])
    }

    /// Finds the signatures that the schema asks for, in the order in which they are kept.
    fn signatures(
        &self,
        config: &SchemaConfig,
        sysvar: &AccountView,
        owner: &Address,
    ) -> Result<Vec<[u8; 64]>, ProgramError> {
        let mut found = Vec::new();
        if config.mode != COUNTERPARTY {
            let schema = config.sas_schema.as_array();
            let message = keccak(&[b"SATI:interaction:v1", schema, &self.task_ref, &self.data_hash]);
            found.push(find(sysvar, owner, &message)?.ok_or(SatiError::AgentSignatureMissing)?);
        }
        if config.mode != AGENT_OWNER {
            let message = self.words(&config.name);
            let signature = find(sysvar, &self.counterparty, &message)?;
            found.push(signature.ok_or(SatiError::CounterpartySignatureMissing)?);
        }
        require(config.mode != DUAL || *owner != self.counterparty, SatiError::DuplicateSigners)?;
        Ok(found)
    }
}

fn base58(bytes: &[u8; 32]) -> Vec<u8> {
    let mut text = [0; 44];
    let length = five8::encode_32(bytes, &mut text);
    text.get(..usize::from(length)).unwrap_or(&text).to_vec()
}

/// The first accounts, the same for both kinds.
struct Common<'a> {
    payer: &'a AccountView,
    config: SchemaConfig,
    universal: Universal<'a>,
    signatures: Vec<[u8; 64]>,
}

fn common<'a>(
    accounts: &'a [AccountView],
    data: &'a [u8],
    storage: u8,
) -> Result<(Common<'a>, &'a [AccountView]), ProgramError> {
    let [payer, config, sysvar, account, _token_program, mint, rest @ ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    require_signer(payer)?;
    let config = SchemaConfig::load(config)?;
    require(config.storage == storage, SatiError::StorageTypeMismatch)?;
    let universal = Universal::read(data)?;
    let fits = config.mode != DUAL || universal.content.len() <= MAX_DUAL_CONTENT;
    require(fits, SatiError::ContentTooLarge)?;
    require(*mint.address() == universal.agent, SatiError::AgentMintAccountMismatch)?;
    let owner = token::agent_owner(account, &universal.agent)?;
    let signatures = universal.signatures(&config, sysvar, &owner)?;
    Ok((Common { payer, config, universal, signatures }, rest))
}

fn created(common: &Common, storage: u8, at: &Address) -> Vec<u8> {
    token::concat(&[
        &ATTESTATION_CREATED,
        common.config.sas_schema.as_array(),
        common.universal.agent.as_array(),
        common.universal.counterparty.as_array(),
        &[storage],
        at.as_array(),
    ])
}

pub(crate) fn create_compressed(accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let data = input.bytes()?;
    // Tree number, proof and tree info mean nothing here.
    let (common, rest) = common(accounts, data, COMPRESSED)?;
    let [_delegation, _credential, _clock, event_authority, program, attestation, _system, ..] = rest else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    let nonce = common.universal.nonce(&common.config);
    let (schema, agent) = (common.config.sas_schema.as_array(), common.universal.agent.as_array());
    let bump = expect_derived(attestation, &[SEED, schema, agent, &nonce], &ID)?;
    require(attestation.is_data_empty(), SatiError::AttestationExists)?;
    let mut bytes = token::concat(&[&COMPRESSED_ATTESTATION, schema, agent]);
    push_bytes(&mut bytes, data);
    let count = u8::try_from(common.signatures.len()).map_err(|_| SatiError::Overflow)?;
    bytes.push(count);
    for number in 0..2 {
        bytes.extend_from_slice(common.signatures.get(number).unwrap_or(&[0; 64]));
    }
    let seeds: &[&[u8]] = &[SEED, schema, agent, &nonce, &[bump]];
    create(common.payer, attestation, &ID, (bytes.len(), bytes.len()), seeds)?;
    put(attestation, 0, &bytes)?;
    events::emit(event_authority, program, &created(&common, COMPRESSED, attestation.address()))
}

pub(crate) fn close_compressed(accounts: &[AccountView]) -> ProgramResult {
    let [signer, config, event_authority, program, attestation, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    require_signer(signer)?;
    let config = SchemaConfig::load(config)?;
    require(config.closeable, SatiError::AttestationNotCloseable)?;
    require(attestation.owned_by(&ID), SatiError::InvalidAttestation)?;
    let event = {
        let data = attestation.try_borrow()?;
        let mut r = Reader(&data);
        let ours = r.array()? == COMPRESSED_ATTESTATION && r.address()? == config.sas_schema;
        require(ours, SatiError::InvalidAttestation)?;
        r.address()?;
        let universal = Universal::read(r.bytes()?)?;
        require(universal.counterparty == *signer.address(), SatiError::UnauthorizedClose)?;
        closed(&config, &universal.agent, attestation.address())
    };
    close(attestation, signer)?;
    events::emit(event_authority, program, &event)
}

fn closed(config: &SchemaConfig, agent: &Address, at: &Address) -> Vec<u8> {
    token::concat(&[&ATTESTATION_CLOSED, config.sas_schema.as_array(), agent.as_array(), at.as_array()])
}

/// SAS keeps the content with its length before it, as its schemas say "bytes".
fn sas_form(data: &[u8]) -> Vec<u8> {
    let (base, content) = data.split_at_checked(BASE).unwrap_or((data, &[]));
    let mut out = base.to_vec();
    push_bytes(&mut out, content);
    out
}

pub(crate) fn create_regular(accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let data = input.bytes()?;
    let expiry: [u8; 8] = input.array()?;
    let (common, rest) = common(accounts, data, REGULAR)?;
    let [authority, credential, schema, attestation, sas, system, event_authority, program, ..] = rest else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    require(*sas.address() == SAS, SatiError::InvalidAccount)?;
    require(*schema.address() == common.config.sas_schema, SatiError::InvalidAccount)?;
    require(attestation.is_data_empty(), SatiError::AttestationExists)?;
    let bump = expect_derived(authority, &[AUTHORITY], &ID)?;
    let mut create = Vec::from([6u8]);
    create.extend_from_slice(&common.universal.nonce(&common.config));
    push_bytes(&mut create, &sas_form(data));
    create.extend_from_slice(&expiry);
    let metas = [
        write(common.payer).signs(),
        read(authority).signs(),
        read(credential),
        read(schema),
        write(attestation),
        read(system),
    ];
    call(&SAS, &metas, &create, &[AUTHORITY, &[bump]])?;
    events::emit(event_authority, program, &created(&common, REGULAR, attestation.address()))
}

pub(crate) fn close_regular(accounts: &[AccountView]) -> ProgramResult {
    let [payer, signer, config, account, mint, authority, credential, attestation, sas, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    let Some([_system, event_authority, program, ..]) = accounts.get(9..) else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    require_signer(payer)?;
    require_signer(signer)?;
    require(*sas.address() == SAS, SatiError::InvalidAccount)?;
    let config = SchemaConfig::load(config)?;
    require(config.closeable, SatiError::AttestationNotCloseable)?;
    require(attestation.owned_by(&SAS), SatiError::InvalidAttestation)?;
    let agent = {
        let data = attestation.try_borrow()?;
        let mut r = Reader(&data);
        // Kind, nonce, credential.
        r.take(65)?;
        require(r.address()? == config.sas_schema, SatiError::InvalidAttestation)?;
        let universal = Universal::read(r.bytes()?)?;
        require(universal.agent == *mint.address(), SatiError::AgentMintAccountMismatch)?;
        if universal.counterparty != *signer.address() {
            let owner = token::agent_owner(account, &universal.agent)?;
            require(owner == *signer.address(), SatiError::UnauthorizedClose)?;
        }
        universal.agent
    };
    let bump = expect_derived(authority, &[AUTHORITY], &ID)?;
    let metas = [write(payer).signs(), read(authority).signs(), read(credential), write(attestation)];
    call(&SAS, &metas, &[7], &[AUTHORITY, &[bump]])?;
    events::emit(event_authority, program, &closed(&config, &agent, attestation.address()))
}
