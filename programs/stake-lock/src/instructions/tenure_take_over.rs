//! take_over (decision P1).

use crate::state::{Key, Stake, Turn};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{KeyAccount, StakeLockAccount, TenureAccount};
use zx1_interface::events::TakenOver;
use zx1_interface::{Error, Event, pda, seeds};
use zx1_runtime::{Now, Stored, agent, bump, emit, ensure, existing, key, load, load_optional, same, time};

/// Accounts of take_over.
#[event_cpi]
#[derive(Accounts)]
pub struct TakeOver {
    /// Holds the agent's NFT, in the tenure of another wallet.
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner.
    pub agent_token: UncheckedAccount,
    /// The agent's tenure; checked by type and agent.
    #[account(mut)]
    pub tenure: UncheckedAccount,
    /// The stake of the tenure's era, or its empty address.
    #[account(mut)]
    pub stake: UncheckedAccount,
    /// A live key of the agent; all of them must be named, in any order.
    #[account(mut)]
    pub key_0: Option<UncheckedAccount>,
    /// A second one.
    #[account(mut)]
    pub key_1: Option<UncheckedAccount>,
    /// A third one.
    #[account(mut)]
    pub key_2: Option<UncheckedAccount>,
    /// A fourth one.
    #[account(mut)]
    pub key_3: Option<UncheckedAccount>,
    /// A fifth one.
    #[account(mut)]
    pub key_4: Option<UncheckedAccount>,
    /// A sixth one.
    #[account(mut)]
    pub key_5: Option<UncheckedAccount>,
    /// A seventh one.
    #[account(mut)]
    pub key_6: Option<UncheckedAccount>,
    /// An eighth one.
    #[account(mut)]
    pub key_7: Option<UncheckedAccount>,
}

impl TakeOver {
    fn keys(&self) -> [Option<&AccountView>; 8] {
        let keys = [
            &self.key_0,
            &self.key_1,
            &self.key_2,
            &self.key_3,
            &self.key_4,
            &self.key_5,
            &self.key_6,
            &self.key_7,
        ];
        keys.map(|key| key.as_deref())
    }

    fn validate(&self, agent: &[u8; 32]) -> Result<Stored<TenureAccount>> {
        // agent_mint, agent_index, agent_token, owner: the signer holds the named agent's NFT.
        let config = agent::config(&self.config)?;
        let (mint, index, token) = (&self.agent_mint, &self.agent_index, &self.agent_token);
        agent::expect_holder(config, agent, mint, index, token, key(&self.owner))?;
        // tenure: another wallet's.
        let tenure = agent::tenure(&self.tenure, agent)?;
        ensure!(!same(&tenure.owner, key(&self.owner)), Error::TenureIsYours);
        // keys: every live one of the agent. None is given twice: Anchor refuses that.
        let mut count = 0_u8;
        for view in self.keys().into_iter().flatten() {
            let key: &KeyAccount = load(view)?;
            ensure!(same(&key.agent, agent) && key.ended_slot == 0, Error::LiveKeysMissing);
            count = count.saturating_add(1);
        }
        ensure!(count == tenure.live_keys, Error::LiveKeysMissing);
        Ok(tenure)
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address) -> Result<()> {
        let agent = agent_mint.as_array();
        let mut tenure = self.validate(agent)?;

        let now = time::now()?;
        for view in self.keys().into_iter().flatten() {
            let event = existing::<KeyAccount>(view)?.end(&now)?;
            self.emit(&event)?;
        }
        self.end_era(agent, tenure.era, &now)?;
        let former_owner = tenure.owner;
        tenure.begin(key(&self.owner), &now)?;
        let event = TakenOver {
            agent_mint: *agent,
            owner: tenure.owner,
            former_owner,
            number: tenure.number,
            from_epoch: tenure.from_epoch,
            era: tenure.era,
            sequence: bump(&mut tenure.event_sequence)?,
            account_created_slot: tenure.created_slot,
        };
        self.emit(&event)
    }

    /// Ends the former tenure's era where anything is locked in it.
    fn end_era(&self, agent: &[u8; 32], era: u32, now: &Now) -> Result<()> {
        let era_seeds: &[&[u8]] = &[seeds::STAKE, agent, &era.to_le_bytes()];
        let Some(stake) = load_optional::<StakeLockAccount>(&self.stake, era_seeds)? else { return Ok(()) };
        ensure!(same(&stake.agent_mint, agent), Error::WrongAgent);
        ensure!(stake.era == era, Error::WrongEra);
        match existing::<StakeLockAccount>(&self.stake)?.end(now)? {
            Some(event) => self.emit(&event),
            None => Ok(()),
        }
    }

    fn emit<E: Event>(&self, event: &E) -> Result<()> {
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, event)
    }
}
