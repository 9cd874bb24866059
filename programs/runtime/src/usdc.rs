//! USDC: the configured mint of the legacy token program, and nothing else (decision B4), in pooled vaults
//! (decision P5).

use crate::cpi::{call, readonly, signer, writable};
use crate::create::allocate;
use crate::{
    AccountView, Address, Result, Stored, bytes, create, ensure, existing, expect_address, find, is_at,
    is_owned_by, key, same,
};
use zx1_interface::accounts::{Config, ShardAccount};
use zx1_interface::external::{self, TokenAccount};
use zx1_interface::{Error, ids, seeds};
use zx1_protocol::units::Slot;

/// Bytes of a legacy token account.
const TOKEN_ACCOUNT_BYTES: usize = 165;

const TOKEN: Address = Address::new_from_array(ids::TOKEN);
const STAKE_LOCK: Address = Address::new_from_array(ids::STAKE_LOCK);

// Instructions of the token program.
const TRANSFER: u8 = 3;
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

/// Refuses unless the USDC account belongs to this wallet and holds enough.
pub fn expect_funds(config: &Config, from: &AccountView, wallet: &AccountView, amount: u64) -> Result<()> {
    ensure!(account_of(config, from, key(wallet))? >= amount, Error::InsufficientUsdc);
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
    expect_funds(config, from, wallet, amount)?;
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

/// The pooled vault of a shard: the token account, and the shard's account, which keeps the total that is owed
/// out of it and signs for it. Whatever moves, the vault must hold that total afterwards.
pub struct Vault<'a> {
    account: &'a AccountView,
    shard: Stored<ShardAccount>,
}

/// The shard of an agent: the first byte of its id.
pub fn shard_of(agent: &[u8; 32]) -> u8 {
    let [first, ..] = agent;
    *first
}

/// Makes a shard's account and its vault, or does nothing where they are there. A stranger who funded an address first
/// has only paid rent, and nobody but StakeLock can create anything there (decision B4).
pub fn open_vault(
    payer: &AccountView,
    number: u8,
    shard: &AccountView,
    vault: &AccountView,
    mint: &AccountView,
    now: Slot,
) -> Result<()> {
    // Two agents of a shard can make it at once; for the second nothing is left to do.
    if is_owned_by(shard, &ids::STAKE_LOCK) {
        let there: Stored<ShardAccount> = existing(shard)?;
        ensure!(there.shard == number, Error::WrongAddress);
        return expect_address(vault, &there.vault);
    }
    let fill = |account: &mut ShardAccount, bump| {
        account.created_slot = now.0;
        account.shard = number;
        account.bump = bump;
    };
    let mut account = create(payer, shard, &[seeds::SHARD, &[number]], 0, Error::AccountExists, fill)?;
    account.vault = *key(vault);
    let vault_seeds: &[&[u8]] = &[seeds::VAULT, &[number]];
    let bump = find(vault_seeds, &STAKE_LOCK, vault)?;
    allocate(payer, vault, TOKEN_ACCOUNT_BYTES, &TOKEN, vault_seeds, bump)?;
    let mut data = [INITIALIZE_ACCOUNT_3; 33];
    if let Some(owner) = data.last_chunk_mut() {
        *owner = *key(shard);
    }
    call(&TOKEN, &[writable(vault), readonly(mint)], &data, &[])
}

impl<'a> Vault<'a> {
    /// The vault of an agent's shard.
    #[inline(never)]
    pub fn of(agent: &[u8; 32], shard: &AccountView, account: &'a AccountView) -> Result<Self> {
        ensure!(is_owned_by(shard, &ids::STAKE_LOCK), Error::VaultMissing);
        let shard: Stored<ShardAccount> = existing(shard)?;
        ensure!(shard.shard == shard_of(agent), Error::WrongAddress);
        expect_address(account, &shard.vault)?;
        Ok(Self { account, shard })
    }

    /// Takes USDC in out of a wallet's account.
    #[inline(never)]
    pub fn take(&mut self, from: &AccountView, wallet: &AccountView, amount: u64) -> Result<()> {
        let total = self.shard.total_usdc.checked_add(amount).ok_or(Error::ArithmeticOverflow)?;
        transfer(from, self.account, wallet, amount, &[])?;
        self.shard.total_usdc = total;
        self.invariant()
    }

    /// Pays USDC out to a token account; nothing when it is 0.
    #[inline(never)]
    pub fn pay(&mut self, to: &AccountView, amount: u64) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        self.shard.total_usdc = self.shard.total_usdc.checked_sub(amount).ok_or(Error::VaultShort)?;
        let shard = self.shard.view();
        let seeds: &[&[u8]] = &[seeds::SHARD, &[self.shard.shard], &[self.shard.bump]];
        transfer(self.account, to, &shard, amount, seeds)?;
        self.invariant()
    }

    /// Refuses unless the vault holds what is owed out of it.
    fn invariant(&self) -> Result<()> {
        let account = token_account(self.account);
        let account = account.as_ref().ok_or(Error::NotLegacyToken)?;
        ensure!(self.shard.total_usdc <= account.amount, Error::VaultShort);
        Ok(())
    }
}
