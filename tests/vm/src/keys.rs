//! Tenures and keys (decision P1), by real transactions.

use crate::{Agent, Failure, Receipt, World};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock;
use zx1_chain::pda;
use zx1_interface::accounts::{KeyAccount, TenureAccount};
use zx1_protocol::keys::Scopes;

/// A key pair that can be cloned with its scene.
#[derive(Debug)]
pub struct Key(pub Keypair);

impl Clone for Key {
    fn clone(&self) -> Self {
        Self(self.0.insecure_clone())
    }
}

impl std::ops::Deref for Key {
    type Target = Keypair;
    fn deref(&self) -> &Keypair {
        &self.0
    }
}

impl Key {
    /// The Ed25519 public key as an address.
    pub fn at(&self) -> Address {
        self.0.pubkey()
    }
}

/// One key of each scope that a batch or evidence needs.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Pays the lease: scope pay.
    pub pay: Key,
    /// Signs batches: scope batch.
    pub batch: Key,
    /// Signs deals: scope deal.
    pub deal: Key,
}

impl World {
    /// open_tenure by the holder.
    pub fn open_tenure(&mut self, agent: &Agent, owner: &Keypair) -> Result<Receipt, Failure> {
        self.send(&[stake_lock::open_tenure(&agent.addresses(), owner.pubkey())], owner, &[])
    }

    /// The agent's tenure.
    #[track_caller]
    pub fn tenure(&self, agent: &Agent) -> TenureAccount {
        self.read(&pda::tenure(&agent.mint))
    }

    /// The era in which stakes are locked and batches land; 0 without a tenure, where the first is to be.
    pub fn era(&self, agent: &Agent) -> u32 {
        self.find::<TenureAccount>(&pda::tenure(&agent.mint)).map_or(0, |tenure| tenure.era)
    }

    /// take_over that names all live keys.
    pub fn taking_over(&self, agent: &Agent, owner: &Address) -> Instruction {
        let keys = self.live_keys(agent);
        stake_lock::take_over(&agent.addresses(), *owner, self.era(agent), &keys)
    }

    /// Sends the instruction of [`World::taking_over`], signed by the owner.
    pub fn take_over(&mut self, agent: &Agent, owner: &Keypair) -> Result<Receipt, Failure> {
        self.send(&[self.taking_over(agent, &owner.pubkey())], owner, &[])
    }

    /// Builds the instruction add_key.
    pub fn adding_key(&self, agent: &Agent, owner: &Address, key: &Address, scopes: Scopes) -> Instruction {
        stake_lock::add_key(&agent.addresses(), *owner, *key, scopes, self.era(agent))
    }

    /// add_key by the owner, with the key's signature.
    pub fn add_key(
        &mut self,
        agent: &Agent,
        owner: &Keypair,
        key: &Keypair,
        scopes: Scopes,
    ) -> Result<Receipt, Failure> {
        self.send(&[self.adding_key(agent, &owner.pubkey(), &key.pubkey(), scopes)], owner, &[key])
    }

    /// Lists a new key; its notice may still run (see [`World::wait_for_key`]).
    #[track_caller]
    pub fn new_key(&mut self, agent: &Agent, owner: &Keypair, scopes: Scopes) -> Key {
        let key = Key(self.new_keypair());
        self.add_key(agent, owner, &key, scopes).unwrap();
        key
    }

    /// Lists one new key of each scope.
    #[track_caller]
    pub fn new_keys(&mut self, agent: &Agent, owner: &Keypair) -> Keys {
        let mut key = |scopes| self.new_key(agent, owner, scopes);
        Keys { pay: key(Scopes::PAY), batch: key(Scopes::BATCH), deal: key(Scopes::DEAL) }
    }

    /// Goes to the first epoch in which the key acts; stays where that has come.
    pub fn wait_for_key(&mut self, agent: &Agent, key: &Address) {
        let from = self.key(agent, key).from_epoch;
        if self.epoch() < from {
            self.warp_to_epoch(from);
        }
    }

    /// end_key by the holder or the key itself.
    pub fn end_key(&mut self, agent: &Agent, authority: &Keypair, key: &Address) -> Result<Receipt, Failure> {
        let end = stake_lock::end_key(&agent.addresses(), authority.pubkey(), *key);
        let faucet = self.faucet.insecure_clone();
        self.send(&[end], &faucet, &[authority])
    }

    /// Builds the instruction close_key, for who paid.
    pub fn closing_key(&self, agent: &Agent, key: &Address) -> Instruction {
        let payer = Address::new_from_array(self.key(agent, key).payer);
        stake_lock::close_key(agent.mint, *key, payer)
    }

    /// Sends [`World::closing_key`]; the faucet calls.
    pub fn close_key(&mut self, agent: &Agent, key: &Address) -> Result<Receipt, Failure> {
        let faucet = self.faucet.insecure_clone();
        self.send(&[self.closing_key(agent, key)], &faucet, &[])
    }

    /// A key account.
    #[track_caller]
    pub fn key(&self, agent: &Agent, key: &Address) -> KeyAccount {
        self.read(&pda::key(&agent.mint, key))
    }

    /// The agent's live keys, by address.
    pub fn live_keys(&self, agent: &Agent) -> Vec<Address> {
        let mut keys: Vec<Address> = self
            .all::<KeyAccount>()
            .into_iter()
            .filter(|(_, key)| key.agent == agent.mint.0 && key.ended_slot == 0)
            .map(|(_, key)| Address::new_from_array(key.key))
            .collect();
        keys.sort_unstable();
        keys
    }
}
