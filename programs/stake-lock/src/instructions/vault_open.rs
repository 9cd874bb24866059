//! open_vault (decision P5).

use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_runtime::{agent, ensure, is_at, time, usdc};

/// Accounts of open_vault. Anyone may call it; where the vault is there it changes nothing.
#[derive(Accounts)]
pub struct OpenVault {
    /// Anyone; pays the rents, which never come back.
    #[account(mut)]
    pub payer: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// Where the shard's account goes; checked by address.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// Where its vault goes; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The configured USDC mint.
    pub usdc_mint: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the accounts; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl OpenVault {
    fn validate(&self) -> Result<()> {
        let config = agent::config(&self.config)?;
        // usdc_mint, token_program: the configured ones.
        ensure!(is_at(&self.usdc_mint, &config.usdc_mint), Error::WrongUsdcMint);
        usdc::token_program(&self.token_program)
    }

    pub(crate) fn handle(&mut self, number: u8) -> Result<()> {
        self.validate()?;
        let now = time::now()?.slot;
        usdc::open_vault(&self.payer, number, &self.shard, &self.vault, &self.usdc_mint, now)
    }
}
