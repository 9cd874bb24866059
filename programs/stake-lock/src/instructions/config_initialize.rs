//! initialize_config (decision B2).

use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, VERSION};
use zx1_interface::events::ConfigInitialized;
use zx1_interface::external::{is_legacy_mint, registry_group, upgrade_authority};
use zx1_interface::{Error, ids, pda, seeds};
use zx1_runtime::{bytes, create, emit, ensure, find, key, time};

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
    fn validate(&self, addresses: [&Address; 4]) -> Result<[u8; 32]> {
        // program_data: the loader's account for this very program.
        let loader = Address::new_from_array(ids::UPGRADEABLE_LOADER);
        find(&[crate::ID.as_array()], &loader, &self.program_data).map_err(|_| Error::WrongProgramData)?;
        ensure!(self.program_data.owned_by(&loader), Error::WrongProgramData);
        // authority: the one whom program_data names; nobody when it names none.
        let authority = upgrade_authority(bytes(&self.program_data)).ok_or(Error::WrongProgramData)?;
        let authority = authority.ok_or(Error::NoUpgradeAuthority)?;
        ensure!(authority == *key(&self.authority), Error::NotUpgradeAuthority);
        // config: not yet there; its address is checked where it is created.
        ensure!(self.config.is_data_empty(), Error::ConfigExists);
        // usdc_mint: an initialized mint of the legacy token program (decision B4).
        ensure!(self.usdc_mint.owned_by(&Address::new_from_array(ids::TOKEN)), Error::NotLegacyToken);
        ensure!(is_legacy_mint(bytes(&self.usdc_mint)), Error::WrongUsdcMint);
        // The addresses in the arguments: an unset one would lose money or rights for ever.
        ensure!(addresses.iter().all(|address| *address.as_array() != [0; 32]), Error::InvalidConfig);
        // registry: SATI's, at its derived address.
        ensure!(*key(&self.registry) == pda::SATI_REGISTRY.address, Error::WrongRegistry);
        ensure!(self.registry.owned_by(&Address::new_from_array(ids::SATI)), Error::WrongRegistry);
        Ok(registry_group(bytes(&self.registry)).ok_or(Error::WrongRegistry)?)
    }

    pub(crate) fn handle(
        &mut self,
        treasury: Address,
        maintainer: Address,
        delegate_credential: Address,
        delegate_schema: Address,
    ) -> Result<()> {
        let registry_group =
            self.validate([&treasury, &maintainer, &delegate_credential, &delegate_schema])?;
        let now = time::now()?;
        let event = ConfigInitialized {
            usdc_mint: *key(&self.usdc_mint),
            treasury: *treasury.as_array(),
            maintainer: *maintainer.as_array(),
            registry: *key(&self.registry),
            registry_group,
            delegate_credential: *delegate_credential.as_array(),
            delegate_schema: *delegate_schema.as_array(),
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        create(
            &self.authority,
            &self.config,
            &[seeds::CONFIG],
            0,
            Error::ConfigExists,
            |account: &mut Config, bump| {
                account.created_slot = now.slot.0;
                account.event_sequence = 1;
                account.usdc_mint = event.usdc_mint;
                account.treasury = event.treasury;
                account.maintainer = event.maintainer;
                account.registry = event.registry;
                account.registry_group = registry_group;
                account.delegate_credential = *delegate_credential.as_array();
                account.delegate_schema = *delegate_schema.as_array();
                account.version = VERSION;
                account.bump = bump;
            },
        )?;
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
