//! Calls into StakeLock, which obeys this program's authority alone. The data is put together on the stack:
//! the interface's own `data()` serves clients and grows a heap for it.

use anchor_lang::prelude::*;
use zx1_interface::instruction::{Instruction, OpenChallenge, SettleChallenge, Slash};
use zx1_interface::{ids, pda, seeds};
use zx1_runtime::cpi::{Passed, call, readonly, signer, writable};
use zx1_runtime::expect_address;

/// Accounts of every call of StakeLock.
pub struct StakeLock<'a> {
    /// The StakeLock program.
    pub program: &'a AccountView,
    /// This program's authority.
    pub authority: &'a AccountView,
    /// The agent's stake.
    pub stake: &'a AccountView,
    /// Mint of the agent's NFT: the agent id.
    pub agent: &'a [u8; 32],
}

/// Further accounts of a slash.
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
        expect_address(self.program, &ids::STAKE_LOCK)?;
        expect_address(self.authority, &pda::CHALLENGE_AUTHORITY.address)
    }

    /// Counts a challenge as open.
    pub fn open_challenge(&self) -> Result<()> {
        self.count(&OpenChallenge::DISCRIMINATOR)
    }

    /// Counts a challenge as settled.
    pub fn settle_challenge(&self) -> Result<()> {
        self.count(&SettleChallenge::DISCRIMINATOR)
    }

    #[inline(never)]
    fn count(&self, discriminator: &[u8; 8]) -> Result<()> {
        let mut data = [0; 40];
        data[..8].copy_from_slice(discriminator);
        data[8..].copy_from_slice(self.agent);
        self.call(&[signer(self.authority), writable(self.stake)], &data)
    }

    /// Takes from the stake; nothing to take is nothing to do.
    #[inline(never)]
    pub fn slash(&self, accounts: &SlashAccounts, amount: u64, recipient: &AccountView) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let passed = [
            signer(self.authority),
            writable(self.stake),
            writable(accounts.vault),
            writable(recipient),
            readonly(accounts.token_program),
            readonly(accounts.event_authority),
            readonly(self.program),
        ];
        let mut data = [0; 48];
        data[..8].copy_from_slice(&Slash::DISCRIMINATOR);
        data[8..40].copy_from_slice(self.agent);
        data[40..].copy_from_slice(&amount.to_le_bytes());
        self.call(&passed, &data)
    }

    fn call(&self, accounts: &[Passed], data: &[u8]) -> Result<()> {
        call(self.program.address(), accounts, data, &[seeds::AUTHORITY, &[pda::CHALLENGE_AUTHORITY.bump]])
    }
}
