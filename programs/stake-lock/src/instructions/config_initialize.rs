//! initialize_config (decisions B2 and P5).

use anchor_lang::prelude::*;
use zx1_interface::accounts::Config;
use zx1_interface::events::ConfigInitialized;
use zx1_interface::external::{is_legacy_mint, registry_group, upgrade_authority};
use zx1_interface::instruction as data;
use zx1_interface::{Error, ids, pda, seeds};
use zx1_protocol::amounts::Amounts;
use zx1_runtime::{bump, bytes, create, emit, ensure, find, is_at, is_owned_by, key, same, time};

/// Accounts of initialize_config.
#[event_cpi]
#[derive(Accounts)]
pub struct InitializeConfig {
    /// StakeLock's upgrade authority; pays the rent.
    #[account(mut)]
    pub authority: Signer,
    /// StakeLock's ProgramData, which names the upgrade authority; checked by address and owner.
    pub program_data: UncheckedAccount,
    /// The USDC mint, of the legacy token program.
    pub usdc_mint: UncheckedAccount,
    /// SATI's RegistryConfig, which names the group; checked by address, owner and discriminator.
    pub registry: UncheckedAccount,
    /// The configuration's account, to be created.
    #[account(mut)]
    pub config: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl InitializeConfig {
    fn validate(&self) -> Result<[u8; 32]> {
        // program_data: the loader's account for this very program.
        let loader = Address::new_from_array(ids::UPGRADEABLE_LOADER);
        find(&[crate::ID.as_array()], &loader, &self.program_data).map_err(|_| Error::WrongProgramData)?;
        ensure!(is_owned_by(&self.program_data, &ids::UPGRADEABLE_LOADER), Error::WrongProgramData);
        // authority: the one whom program_data names; nobody when it names none.
        let authority = upgrade_authority(bytes(&self.program_data)).ok_or(Error::WrongProgramData)?;
        let authority = authority.ok_or(Error::NoUpgradeAuthority)?;
        ensure!(is_at(&self.authority, &authority), Error::NotUpgradeAuthority);
        // config: not yet there; its address is checked where it is created.
        ensure!(self.config.is_data_empty(), Error::ConfigExists);
        // usdc_mint: an initialized mint of the legacy token program (decision B4).
        ensure!(is_owned_by(&self.usdc_mint, &ids::TOKEN), Error::NotLegacyToken);
        ensure!(is_legacy_mint(bytes(&self.usdc_mint)), Error::WrongUsdcMint);
        // registry: SATI's, at its derived address.
        ensure!(is_at(&self.registry, &pda::SATI_REGISTRY.address), Error::WrongRegistry);
        ensure!(is_owned_by(&self.registry, &ids::SATI), Error::WrongRegistry);
        Ok(registry_group(bytes(&self.registry)).ok_or(Error::WrongRegistry)?)
    }

    pub(crate) fn handle(&mut self, given: &data::InitializeConfig) -> Result<()> {
        let registry_group = self.validate()?;
        let now = time::now()?;
        let fill = |config: &mut Config, bump| {
            config.created_slot = now.slot.0;
            config.min_stake = given.min_stake;
            config.challenge_stake = given.challenge_stake;
            config.lost_to_stake = given.lost_to_stake;
            config.lost_to_answerer = given.lost_to_answerer;
            config.ask_price = given.ask_price;
            config.ask_to_shower = given.ask_to_shower;
            config.ask_to_stake = given.ask_to_stake;
            config.fine = given.fine;
            config.fine_to_asker = given.fine_to_asker;
            config.rank_deposit = given.rank_deposit;
            config.network = given.network;
            config.usdc_mint = *key(&self.usdc_mint);
            config.treasury = given.treasury;
            config.maintainer = given.maintainer;
            config.registry = *key(&self.registry);
            config.registry_group = registry_group;
            config.delegate_credential = given.delegate_credential;
            config.delegate_schema = given.delegate_schema;
            config.finders_percent = given.finders_percent;
            config.share_percent = given.share_percent;
            config.bump = bump;
        };
        let mut config =
            create(&self.authority, &self.config, &[seeds::CONFIG], 0, Error::ConfigExists, fill)?;
        invariant(&config)?;
        let event = ConfigInitialized {
            usdc_mint: config.usdc_mint,
            treasury: config.treasury,
            maintainer: config.maintainer,
            registry: config.registry,
            registry_group,
            delegate_credential: config.delegate_credential,
            delegate_schema: config.delegate_schema,
            network: config.network,
            sequence: bump(&mut config.event_sequence)?,
            account_created_slot: config.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}

/// Refuses unless everything is named, since an unset address would lose money or rights for ever, and the
/// amounts fit each other.
fn invariant(config: &Config) -> Result<()> {
    let named = [
        &config.treasury,
        &config.maintainer,
        &config.delegate_credential,
        &config.delegate_schema,
        &config.network,
    ];
    ensure!(!named.iter().any(|named| same(named, &[0; 32])), Error::InvalidConfig);
    Amounts::of(config).check().map_err(|_| Error::InvalidAmounts)?;
    Ok(())
}
