//! Calls into StakeLock, which obeys this program's authority alone.

use crate::Result;
use anchor_lang::prelude::AccountView;
use anchor_lang::prelude::Address;
use pinocchio::cpi::{Seed, Signer, invoke_signed};
use pinocchio::instruction::{InstructionAccount, InstructionView};
use zx1_interface::instruction::{Instruction, OpenChallenge, SettleChallenge, Slash};
use zx1_interface::{Error, ids, pda, seeds};
use zx1_runtime::{ensure, expect_address};

/// What every call needs.
pub struct StakeLock<'a> {
    /// The program.
    pub program: &'a AccountView,
    /// This program's authority.
    pub authority: &'a AccountView,
    /// The agent's stake.
    pub stake: &'a AccountView,
    /// The agent.
    pub agent: [u8; 32],
}

/// What a slash needs beside.
pub struct SlashAccounts<'a> {
    /// The stake's vault.
    pub vault: &'a AccountView,
    /// The legacy token program.
    pub token_program: &'a AccountView,
    /// StakeLock's event authority.
    pub event_authority: &'a AccountView,
}

impl StakeLock<'_> {
    /// Refuses unless program and authority are the real ones.
    pub fn validate(&self) -> Result<()> {
        ensure!(*self.program.address().as_array() == ids::STAKE_LOCK, Error::WrongAddress);
        expect_address(self.authority, &pda::CHALLENGE_AUTHORITY.address)
    }

    /// Counts a challenge as open.
    pub fn open_challenge(&self) -> Result<()> {
        self.count(&OpenChallenge { agent_mint: self.agent }.data())
    }

    /// Counts a challenge as settled.
    pub fn settle_challenge(&self) -> Result<()> {
        self.count(&SettleChallenge { agent_mint: self.agent }.data())
    }

    fn count(&self, data: &[u8]) -> Result<()> {
        let accounts = [
            InstructionAccount::readonly_signer(self.authority.address()),
            InstructionAccount::writable(self.stake.address()),
        ];
        let program_id: &Address = self.program.address();
        let bump = [pda::CHALLENGE_AUTHORITY.bump];
        invoke_signed(
            &InstructionView { program_id, accounts: &accounts, data },
            &[self.authority, self.stake],
            &[Signer::from(&[Seed::from(seeds::AUTHORITY), Seed::from(&bump)])],
        )
    }

    /// Takes from the stake; nothing to take is nothing to do.
    pub fn slash(&self, accounts: &SlashAccounts, amount: u64, recipient: &AccountView) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let metas = [
            InstructionAccount::readonly_signer(self.authority.address()),
            InstructionAccount::writable(self.stake.address()),
            InstructionAccount::writable(accounts.vault.address()),
            InstructionAccount::writable(recipient.address()),
            InstructionAccount::readonly(accounts.token_program.address()),
            InstructionAccount::readonly(accounts.event_authority.address()),
            InstructionAccount::readonly(self.program.address()),
        ];
        let views = [
            self.authority,
            self.stake,
            accounts.vault,
            recipient,
            accounts.token_program,
            accounts.event_authority,
            self.program,
        ];
        let data = Slash { agent_mint: self.agent, amount }.data();
        let bump = [pda::CHALLENGE_AUTHORITY.bump];
        invoke_signed(
            &InstructionView { program_id: self.program.address(), accounts: &metas, data: &data },
            &views,
            &[Signer::from(&[Seed::from(seeds::AUTHORITY), Seed::from(&bump)])],
        )
    }
}
