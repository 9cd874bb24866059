//! record_envelope (decision B11).

use crate::claim::{ground, of_derive, of_envelope, pack};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{RecordedEnvelope, VERSION};
use zx1_interface::events::EnvelopeRecorded;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::derive::from_envelope;
use zx1_protocol::envelope::parse_signing_bytes;
use zx1_protocol::hash::Keccak;
use zx1_runtime::{Syscall, create, emit, key, signature, time};

/// Accounts of record_envelope.
#[event_cpi]
#[derive(Accounts)]
pub struct RecordEnvelope {
    /// Who holds the envelope; pays the rent and gets it back.
    #[account(mut)]
    pub owner: Signer,
    /// Where the record goes; checked by address.
    #[account(mut)]
    pub record: UncheckedAccount,
    /// The instructions sysvar; checked by address.
    pub instructions: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl RecordEnvelope {
    pub(crate) fn handle(&mut self, number: u8, nonce: u64) -> Result<()> {
        let ground = ground(number)?;
        let signed = signature::preceding(&self.instructions);
        let signed = signed.as_ref().map_err(Clone::clone)?;
        let fields = parse_signing_bytes(signed.message);
        let fields = fields.as_ref().map_err(|error| of_envelope(*error))?;
        fields.check_payload::<Syscall>().map_err(of_envelope)?;
        let agent_id = fields.header.sender;
        let expected = from_envelope(fields, agent_id, ground);
        let expected = expected.as_ref().map_err(|error| of_derive(*error))?;
        let entry_hash = Syscall::hashv(&[signed.message]);
        let now = time::now()?;
        let owner = key(&self.owner);
        let record_seeds: &[&[u8]] = &[seeds::EVIDENCE, owner, &nonce.to_le_bytes()];
        let mut record = create(
            &self.owner,
            &self.record,
            record_seeds,
            0,
            Error::AccountExists,
            |account: &mut RecordedEnvelope, bump| {
                account.nonce = nonce;
                account.created_slot = now.slot.0;
                account.event_sequence = 1;
                account.epoch = fields.header.epoch().0;
                account.owner = *owner;
                account.agent_id = *agent_id;
                account.signer = signed.signer;
                account.entry_hash = entry_hash;
                account.ground = number;
                account.version = VERSION;
                account.bump = bump;
            },
        )?;
        record.expected_len = pack(expected, &mut record.expected_record);
        let event = EnvelopeRecorded {
            agent_id: *agent_id,
            owner: *owner,
            record: *key(&self.record),
            entry_hash,
            ground: number,
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
