//! The call into BehaviorLog, which obeys this program's authority alone.

use crate::stake_lock::call_with_authority;
use anchor_lang::prelude::*;
use zx1_interface::accounts::BatchAccount;
use zx1_interface::instruction::{Instruction, MarkWithheld};
use zx1_interface::{Scalar, ids};
use zx1_runtime::Stored;
use zx1_runtime::cpi::{readonly, signer, writable};

/// Marks a batch that withholds a leaf. BehaviorLog checks head and event authority.
pub fn mark_withheld(
    program: &AccountView,
    authority: &AccountView,
    batch: &Stored<BatchAccount>,
    head: &AccountView,
    events: &AccountView,
) -> Result<()> {
    let mut data = [0; 8 + 32 + 8];
    let rest = MarkWithheld::DISCRIMINATOR.put(&mut data);
    let rest = batch.agent_id.put(rest);
    batch.epoch_number.put(rest);
    let view = batch.view();
    let passed = [signer(authority), writable(&view), writable(head), readonly(events), readonly(program)];
    call_with_authority(program, &ids::BEHAVIOR_LOG, authority, &passed, &data)
}
