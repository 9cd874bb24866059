//! Who owns an agent (decision B3): proven on every call, never remembered.

use crate::usdc::token_account;
use crate::{AccountView, Address, Result, bytes, ensure, is_owned_by, key, same};
use zx1_interface::accounts::Config;
use zx1_interface::external::{self, AgentMint};
use zx1_interface::{Error, ids, pda, seeds};

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
    let number = agent.member_number.to_le_bytes();
    let sati = Address::new_from_array(ids::SATI);
    anchor_lang::verify_program_address(&[seeds::SATI_AGENT_INDEX, &number, &[bump]], &sati, index.address())
        .map_err(|_| Error::WrongAgentIndex)?;
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

/// Refuses unless `who` is the present owner, or a delegate whom the present owner named and whose
/// delegation has not expired.
#[inline(never)]
pub fn owner_or_delegate(
    config: &Config,
    agent: &[u8; 32],
    owner: &[u8; 32],
    who: &[u8; 32],
    delegation: Option<&AccountView>,
    unix: i64,
    otherwise: Error,
) -> Result<()> {
    if same(who, owner) {
        return Ok(());
    }
    let Some(view) = delegation else { return Err(otherwise.into()) };
    ensure!(is_owned_by(view, &ids::SAS), Error::InvalidDelegation);
    // Looked at where it was read: moving it out would copy 160 bytes.
    let delegation = external::delegation(bytes(view));
    let delegation = delegation.as_ref().ok_or(Error::InvalidDelegation)?;
    let fits = same(&delegation.credential, &config.delegate_credential)
        && same(&delegation.schema, &config.delegate_schema)
        && same(&delegation.agent, agent)
        && same(&delegation.delegate, who);
    ensure!(fits, Error::InvalidDelegation);
    ensure!(same(&delegation.delegator, owner), Error::FormerOwnersDelegation);
    ensure!(!delegation.is_expired(unix), Error::DelegationExpired);
    Ok(())
}
