//! Who holds an agent (decision B3), proven on every call and never remembered; whose turn it is, and which
//! key may act for it (decision P1).

use crate::usdc::token_account;
use crate::{
    AccountView, Address, Result, Stored, bytes, ensure, existing, is_at, is_owned_by, key, load, same,
};
use zx1_interface::accounts::{Config, KeyAccount, TenureAccount};
use zx1_interface::external::{self, AgentMint};
use zx1_interface::{Error, ids, pda, seeds};
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::Epoch;

/// The configuration, read by every program.
#[inline(never)]
pub fn config(view: &AccountView) -> Result<&Config> {
    crate::expect_address(view, &pda::CONFIG.address)?;
    ensure!(is_owned_by(view, &ids::STAKE_LOCK), Error::AccountMissing);
    crate::load(view)
}

/// Refuses unless the mint is a registered agent: owned by Token-2022, a member of the registry's group,
/// and the one that SATI's AgentIndex of that member number names.
#[inline(never)]
pub fn registered(config: &Config, mint: &AccountView, index: &AccountView) -> Result<AgentMint> {
    ensure!(is_owned_by(mint, &ids::TOKEN_2022), Error::MintNotToken2022);
    let agent = external::agent_mint(key(mint), bytes(mint)).ok_or(Error::MintNotInRegistry)?;
    ensure!(same(&agent.group, &config.registry_group), Error::MintNotInRegistry);
    // SATI mints one and gives the mint authority up; a mint with more could have several owners.
    ensure!(agent.supply <= 1, Error::MintNotInRegistry);
    ensure!(is_owned_by(index, &ids::SATI), Error::WrongAgentIndex);
    let (indexed, bump) = external::agent_index(bytes(index)).ok_or(Error::WrongAgentIndex)?;
    ensure!(same(&indexed, key(mint)), Error::WrongAgentIndex);
    // A hash that SATI owns is not a key's address: whether it lies on the curve need not be asked.
    let number = agent.member_number.to_le_bytes();
    let sati = Address::new_from_array(ids::SATI);
    let derived = Address::derive_address(&[seeds::SATI_AGENT_INDEX, &number], Some(bump), &sati);
    ensure!(is_at(index, derived.as_array()), Error::WrongAgentIndex);
    Ok(agent)
}

/// The wallet that holds the agent's NFT in this token account. Any token account serves, not only the
/// associated one.
pub fn holder(agent: &[u8; 32], token: &AccountView) -> Result<[u8; 32]> {
    ensure!(is_owned_by(token, &ids::TOKEN_2022), Error::AgentNotHeld);
    let account = token_account(token);
    let account = account.as_ref().ok_or(Error::AgentNotHeld)?;
    ensure!(same(&account.mint, agent) && account.amount == 1, Error::AgentNotHeld);
    Ok(account.owner)
}

/// Refuses unless this wallet holds the NFT of the named agent, which must be registered.
#[inline(never)]
pub fn expect_holder(
    config: &Config,
    agent: &[u8; 32],
    mint: &AccountView,
    index: &AccountView,
    token: &AccountView,
    wallet: &[u8; 32],
) -> Result<()> {
    ensure!(same(agent, key(mint)), Error::WrongAgent);
    registered(config, mint, index)?;
    ensure!(same(&holder(agent, token)?, wallet), Error::NotAgentOwner);
    Ok(())
}

/// Whether this wallet holds the NFT of the named agent. That it does not is proven by the account of who
/// does, or by an NFT that was burned or whose mint was closed, for which any account serves.
///
/// Only for an agent that has a stake: it was registered when that was locked, and no mint becomes another one. So
/// the registry is not asked again, and what it closes freezes no stake.
#[inline(never)]
pub fn is_held_by(
    agent: &[u8; 32],
    mint: &AccountView,
    token: &AccountView,
    wallet: &[u8; 32],
) -> Result<bool> {
    ensure!(same(agent, key(mint)), Error::WrongAgent);
    if mint.is_data_empty() {
        return Ok(false);
    }
    ensure!(is_owned_by(mint, &ids::TOKEN_2022), Error::MintNotToken2022);
    let minted = external::agent_mint(agent, bytes(mint)).ok_or(Error::MintNotInRegistry)?;
    Ok(minted.supply != 0 && same(&holder(agent, token)?, wallet))
}

/// The agent's tenure.
#[inline(never)]
pub fn tenure(view: &AccountView, agent: &[u8; 32]) -> Result<Stored<TenureAccount>> {
    ensure!(is_owned_by(view, &ids::STAKE_LOCK), Error::TenureMissing);
    let tenure: Stored<TenureAccount> = existing(view)?;
    ensure!(same(&tenure.agent, agent), Error::WrongAgent);
    Ok(tenure)
}

/// The agent's tenure, which must be this wallet's.
pub fn tenure_of(view: &AccountView, agent: &[u8; 32], owner: &[u8; 32]) -> Result<Stored<TenureAccount>> {
    let tenure = tenure(view, agent)?;
    ensure!(same(&tenure.owner, owner), Error::NotTenureOwner);
    Ok(tenure)
}

/// The account of the key that acts for an agent now, in an epoch: it must be the signer's, listed by the
/// present holder, live, and of this scope. What a key signed counts by other rules
/// ([`zx1_protocol::keys::counts`]).
#[inline(never)]
pub fn acting_key<'a>(
    view: &'a AccountView,
    agent: &[u8; 32],
    signer: &[u8; 32],
    holder: &[u8; 32],
    scope: Scopes,
    epoch: Epoch,
) -> Result<&'a KeyAccount> {
    let key: &KeyAccount = load(view)?;
    ensure!(same(&key.agent, agent), Error::WrongKey);
    ensure!(same(&key.key, signer), Error::WrongSigner);
    ensure!(same(&key.owner, holder), Error::FormerHoldersKey);
    ensure!(key.ended_slot == 0, Error::KeyEnded);
    ensure!(Scopes(key.scopes).has(scope), Error::ScopeMissing);
    ensure!(key.from_epoch <= epoch.0, Error::KeyNotYetValid);
    Ok(key)
}
