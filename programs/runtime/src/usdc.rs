//! USDC: the configured mint of the legacy token program, and nothing else (decision B4).

use crate::create::allocate;
use crate::{AccountView, Address, Result, bytes, ensure, find, key};
use pinocchio::cpi::{Seed, Signer};
use pinocchio_token::instructions::{CloseAccount, InitializeAccount3, Transfer};
use zx1_interface::accounts::Config;
use zx1_interface::external::{self, TokenAccount};
use zx1_interface::{Error, ids};

/// Bytes of a legacy token account.
const TOKEN_ACCOUNT_BYTES: usize = 165;

/// Reads a USDC token account.
#[inline(never)]
pub fn account(config: &Config, view: &AccountView) -> Result<TokenAccount> {
    ensure!(view.owned_by(&Address::new_from_array(ids::TOKEN)), Error::NotLegacyToken);
    let account = external::token_account(bytes(view)).ok_or(Error::WrongUsdcMint)?;
    ensure!(account.mint == config.usdc_mint, Error::WrongUsdcMint);
    Ok(account)
}

/// Refuses unless the USDC account belongs to this wallet.
pub fn account_of(config: &Config, view: &AccountView, owner: &[u8; 32]) -> Result<TokenAccount> {
    let account = account(config, view)?;
    ensure!(account.owner == *owner, Error::WrongTokenAccountOwner);
    Ok(account)
}

/// Refuses unless the USDC account belongs to the treasury's wallet. Any account of that wallet serves, so
/// that a closed or frozen one stops nobody.
pub fn treasury(config: &Config, view: &AccountView) -> Result<()> {
    ensure!(account(config, view)?.owner == config.treasury, Error::NotTreasury);
    Ok(())
}

/// Refuses unless the program is the legacy token program.
pub fn token_program(view: &AccountView) -> Result<()> {
    ensure!(*key(view) == ids::TOKEN, Error::NotLegacyToken);
    Ok(())
}

/// Moves USDC out of a wallet's account, which must hold enough.
#[inline(never)]
pub fn pay(
    config: &Config,
    from: &AccountView,
    to: &AccountView,
    wallet: &AccountView,
    amount: u64,
) -> Result<()> {
    let source = account_of(config, from, key(wallet))?;
    ensure!(source.amount >= amount, Error::InsufficientUsdc);
    Transfer::new(from, to, wallet, amount).invoke()
}

/// A vault: a token account at a derived address whose authority is a derived account.
pub struct Vault<'a> {
    /// The token account.
    pub account: &'a AccountView,
    /// The derived account that may spend.
    pub authority: &'a AccountView,
    /// The authority's seeds with its bump.
    pub seeds: &'a [&'a [u8]],
}

/// Creates a vault and returns its bump. A stranger who funded the address first has only paid rent, and
/// nobody but this program can create anything there (decision B4).
#[inline(never)]
pub fn open_vault(
    payer: &AccountView,
    vault: &AccountView,
    mint: &AccountView,
    authority: &AccountView,
    seeds: &[&[u8]],
    program: &Address,
) -> Result<u8> {
    let bump = find(seeds, program, vault)?;
    allocate(payer, vault, TOKEN_ACCOUNT_BYTES, &Address::new_from_array(ids::TOKEN), seeds, bump)?;
    InitializeAccount3::new(vault, mint, authority.address()).invoke()?;
    Ok(bump)
}

impl Vault<'_> {
    /// What the vault holds, gifts of strangers included.
    #[inline(never)]
    pub fn balance(&self) -> Result<u64> {
        let account = external::token_account(bytes(self.account)).ok_or(Error::NotLegacyToken)?;
        Ok(account.amount)
    }

    /// Pays out.
    #[inline(never)]
    pub fn send(&self, to: &AccountView, amount: u64) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        self.signed(|signer| Transfer::new(self.account, to, self.authority, amount).invoke_signed(signer))
    }

    /// Closes the empty vault and gives its rent back.
    #[inline(never)]
    pub fn close(&self, recipient: &AccountView) -> Result<()> {
        self.signed(|signer| CloseAccount::new(self.account, recipient, self.authority).invoke_signed(signer))
    }

    fn signed(&self, call: impl FnOnce(&[Signer]) -> Result<()>) -> Result<()> {
        let seeds: [Seed; 5] =
            core::array::from_fn(|at| Seed::from(self.seeds.get(at).copied().unwrap_or_default()));
        let seeds = seeds.get(..self.seeds.len()).ok_or(Error::WrongAddress)?;
        call(&[Signer::from(seeds)])
    }
}
