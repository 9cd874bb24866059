//! USDC: the configured mint of the legacy token program, and nothing else (decision B4).

use crate::cpi::{Passed, call, readonly, signer, writable};
use crate::create::allocate;
use crate::{AccountView, Address, Result, bytes, ensure, find, is_at, is_owned_by, key, same};
use zx1_interface::accounts::Config;
use zx1_interface::external::{self, TokenAccount};
use zx1_interface::{Error, ids};

/// Bytes of a legacy token account.
const TOKEN_ACCOUNT_BYTES: usize = 165;

const TOKEN: Address = Address::new_from_array(ids::TOKEN);

// Instructions of the token program.
const TRANSFER: u8 = 3;
const CLOSE_ACCOUNT: u8 = 9;
const INITIALIZE_ACCOUNT_3: u8 = 18;

/// Reads a token account of either token program; who owns it is for the caller to check.
#[inline(never)]
pub(crate) fn token_account(view: &AccountView) -> Option<TokenAccount> {
    external::token_account(bytes(view))
}

/// Refuses with `otherwise` unless this is a USDC account of this wallet; returns what it holds.
#[inline(never)]
fn balance_of(config: &Config, view: &AccountView, owner: &[u8; 32], otherwise: Error) -> Result<u64> {
    ensure!(is_owned_by(view, &ids::TOKEN), Error::NotLegacyToken);
    let account = token_account(view);
    let account = account.as_ref().ok_or(Error::WrongUsdcMint)?;
    ensure!(same(&account.mint, &config.usdc_mint), Error::WrongUsdcMint);
    ensure!(same(&account.owner, owner), otherwise);
    Ok(account.amount)
}

/// Refuses unless the USDC account belongs to this wallet; returns what it holds.
pub fn account_of(config: &Config, view: &AccountView, owner: &[u8; 32]) -> Result<u64> {
    balance_of(config, view, owner, Error::WrongTokenAccountOwner)
}

/// Refuses unless the USDC account belongs to the treasury's wallet. Any account of that wallet serves, so
/// that a closed or frozen one stops nobody. Returns what it holds.
pub fn treasury(config: &Config, view: &AccountView) -> Result<u64> {
    balance_of(config, view, &config.treasury, Error::NotTreasury)
}

/// Refuses unless the program is the legacy token program.
pub fn token_program(view: &AccountView) -> Result<()> {
    ensure!(is_at(view, &ids::TOKEN), Error::NotLegacyToken);
    Ok(())
}

/// Moves USDC out of a wallet's account, which must hold enough.
pub fn pay(
    config: &Config,
    from: &AccountView,
    to: &AccountView,
    wallet: &AccountView,
    amount: u64,
) -> Result<()> {
    ensure!(account_of(config, from, key(wallet))? >= amount, Error::InsufficientUsdc);
    transfer(from, to, wallet, amount, &[])
}

#[inline(never)]
fn transfer(
    from: &AccountView,
    to: &AccountView,
    authority: &AccountView,
    amount: u64,
    seeds: &[&[u8]],
) -> Result<()> {
    let [a, b, c, d, e, f, g, h] = amount.to_le_bytes();
    let data = [TRANSFER, a, b, c, d, e, f, g, h];
    call(&TOKEN, &[writable(from), writable(to), signer(authority)], &data, seeds)
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
pub fn open_vault(
    payer: &AccountView,
    vault: &AccountView,
    mint: &AccountView,
    authority: &AccountView,
    seeds: &[&[u8]],
    program: &Address,
) -> Result<u8> {
    let bump = find(seeds, program, vault)?;
    allocate(payer, vault, TOKEN_ACCOUNT_BYTES, &TOKEN, seeds, bump)?;
    let mut data = [INITIALIZE_ACCOUNT_3; 33];
    if let Some(owner) = data.last_chunk_mut() {
        *owner = *key(authority);
    }
    call(&TOKEN, &[writable(vault), readonly(mint)], &data, &[])?;
    Ok(bump)
}

impl Vault<'_> {
    /// What the vault holds, gifts of strangers included.
    pub fn balance(&self) -> Result<u64> {
        Ok(token_account(self.account).ok_or(Error::NotLegacyToken)?.amount)
    }

    /// Transfers `amount` micro-USDC to a token account; nothing when it is 0.
    pub fn send(&self, to: &AccountView, amount: u64) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        transfer(self.account, to, self.authority, amount, self.seeds)
    }

    /// Closes the empty vault and gives its rent back.
    pub fn close(&self, recipient: &AccountView) -> Result<()> {
        let accounts: [Passed; 3] = [writable(self.account), writable(recipient), signer(self.authority)];
        call(&TOKEN, &accounts, &[CLOSE_ACCOUNT], self.seeds)
    }
}
