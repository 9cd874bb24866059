//! The keys that act and sign for an agent, and whose turn the agent is (decision P1).

use crate::done;
use crate::error::{Refusal, Result};
use crate::files;
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use std::path::PathBuf;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::{Delegate, IdentityRegistry as _, Sati};
use zx1_chain::rpc::{Client, Identity};
use zx1_interface::accounts::{KeyAccount, TenureAccount};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::{OPEN, Scopes, may_close};
use zx1_protocol::units::{Epoch, Slot};

/// Folder of the networks on which keys were listed from here.
const LISTED: &str = "listed-keys";
/// Longest genesis hash in base58, with room.
const MAX_GENESIS: u64 = 128;

/// How a key stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It acts, and what it signs counts.
    Live,
    /// Its notice has not passed.
    Notice,
    /// It was listed by a wallet that does not hold the agent any more, and waits for a take-over: it signs
    /// messages, and does nothing else.
    Former,
    /// It has ended.
    Ended,
}

impl Standing {
    /// Of this key, as of this epoch. Without a holder the NFT was burned.
    pub fn of(key: &KeyAccount, holder: Option<Address>, epoch: u64) -> Self {
        if key.ended_slot != 0 {
            Self::Ended
        } else if holder.is_none_or(|holder| holder.to_bytes() != key.owner) {
            Self::Former
        } else if key.from_epoch > epoch {
            Self::Notice
        } else {
            Self::Live
        }
    }
}

/// A key of an agent. Addresses are in base58.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct KeyReport {
    pub key: String,
    /// As `keys add` takes them: "pay,batch".
    pub scopes: String,
    pub from_epoch: u64,
    /// The last epoch in which its signatures count; none while it has not ended.
    pub until_epoch: Option<u64>,
    pub standing: Standing,
    /// The tenure that listed it.
    pub tenure: u32,
    pub owner: String,
    /// Whether its account can be closed now.
    pub closable: bool,
    pub account: String,
}

/// Whose turn an agent is.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TenureReport {
    pub number: u32,
    /// The era in which stakes are locked and batches land.
    pub era: u32,
    pub owner: String,
    pub from_epoch: u64,
    pub live_keys: u8,
    /// Whether the holder of the NFT is its owner. If not, the holder can only take over.
    pub is_holders: bool,
}

impl TenureReport {
    /// Of this account; `holder` holds the NFT.
    pub fn new(tenure: &TenureAccount, holder: Option<Address>) -> Self {
        let owner = Address::new_from_array(tenure.owner);
        Self {
            number: tenure.number,
            era: tenure.era,
            owner: owner.to_string(),
            from_epoch: tenure.from_epoch,
            live_keys: tenure.live_keys,
            is_holders: holder == Some(owner),
        }
    }
}

/// A DelegateV1 attestation at SATI: information, without authority.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Delegation {
    pub key: String,
    pub delegator: String,
    /// When it ends, in Unix seconds; 0 is never.
    pub expiry: i64,
    /// Whether SATI's readers take it as valid.
    pub valid: bool,
    pub account: String,
}

impl From<&Delegate> for Delegation {
    fn from(delegate: &Delegate) -> Self {
        Self {
            key: delegate.delegate.to_string(),
            delegator: delegate.delegator.to_string(),
            expiry: delegate.expiry,
            valid: delegate.live,
            account: delegate.account.to_string(),
        }
    }
}

/// The keys of an agent.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Keys {
    pub agent: AgentId,
    pub epoch: u64,
    /// Who holds the NFT; none when it was burned.
    pub holder: Option<String>,
    /// None before the first key or stake.
    pub tenure: Option<TenureReport>,
    pub keys: Vec<KeyReport>,
    /// Attestations at SATI, for information.
    pub delegations: Vec<Delegation>,
}

/// The keys of an agent after a change.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Changed {
    #[serde(flatten)]
    pub sent: Sent,
    /// The transaction at SATI, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sati: Option<Sent>,
    #[serde(flatten)]
    pub keys: Keys,
}

impl Changed {
    /// Lets the outbox forget the transactions, as [`Sent::acknowledge`].
    pub async fn acknowledge(&self) -> Result<()> {
        self.sent.acknowledge().await?;
        match &self.sati {
            Some(sati) => sati.acknowledge().await,
            None => Ok(()),
        }
    }
}

/// An agent that was taken over.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TakenOver {
    #[serde(flatten)]
    pub sent: Sent,
    /// The keys that ended with it.
    pub ended: Vec<String>,
    #[serde(flatten)]
    pub keys: Keys,
}

/// Reads an agent's keys and whose turn it is.
pub(crate) async fn read(client: &Client, agent: AgentId) -> Result<Keys> {
    let registry = Sati::connect(client).await?;
    let (record, delegates) = tokio::try_join!(registry.look_up(agent), registry.delegates(agent))?;
    let holder = record.and_then(|record| record.owner);
    let (time, tenure, keys, head) =
        tokio::try_join!(client.time(), client.tenure(agent), client.keys(agent), client.head(agent))?;
    let head = head.filter(|head| head.count > 0);
    let last_epoch = head.as_ref().map(|head| Epoch(head.last_epoch));
    let last_slot = Slot(head.as_ref().map_or(0, |head| head.last_slot));
    let report = |key: &KeyAccount, account: Address| KeyReport {
        key: Address::new_from_array(key.key).to_string(),
        scopes: Scopes(key.scopes).names(),
        from_epoch: key.from_epoch,
        until_epoch: (key.until_epoch != OPEN).then_some(key.until_epoch),
        standing: Standing::of(key, holder, time.epoch),
        tenure: key.tenure,
        owner: Address::new_from_array(key.owner).to_string(),
        closable: may_close(
            Scopes(key.scopes),
            key.ended_slot != 0,
            key.until_epoch,
            Epoch(time.epoch),
            last_epoch,
            last_slot,
            Slot(time.slot),
        ),
        account: account.to_string(),
    };
    Ok(Keys {
        agent,
        epoch: time.epoch,
        holder: holder.map(|holder| holder.to_string()),
        tenure: tenure.map(|tenure| TenureReport::new(&tenure, holder)),
        keys: keys.iter().map(|key| report(key, key.address)).collect(),
        delegations: delegates.iter().map(Delegation::from).collect(),
    })
}

fn in_words(key: &KeyAccount) -> String {
    let scopes = Scopes(key.scopes).names();
    if key.ended_slot == 0 {
        format!("live, with {scopes}")
    } else {
        format!("ended, with {scopes}; its account is not closed")
    }
}

impl Operator {
    /// The agent's keys.
    pub async fn keys(&self, agent: &Agent) -> Result<Keys> {
        read(self.client(), agent.mint).await
    }

    /// Lists a key, which signs with the holder. The agent's tenure is opened first where there is none. With
    /// `sati` SATI's DelegateV1 is filed as well, which gives no authority.
    ///
    /// # Errors
    /// 7510 when it is listed, 7512 when it is one of another network.
    pub async fn add_key(
        &self,
        agent: &Agent,
        owner: &Wallet,
        key: &Wallet,
        scopes: Scopes,
        sati: bool,
    ) -> Result<Attempt<Changed>> {
        let (mint, address) = (agent.mint, key.address());
        let registry = Sati::connect(self.client()).await?;
        self.check_network_of(address)?;
        let sent = match self.earlier(&intents::add_key(&mint, &address)).await? {
            Some(sent) => sent,
            None => match self.client().key(mint, address).await? {
                Some(known) if known.ended_slot == 0 && known.scopes == scopes.0 && sati => {
                    self.nothing_to_do(format!("{address} is listed with {}", scopes.names()))?
                }
                Some(known) => {
                    let (key, agent, standing) = (address.to_string(), agent.shown(), in_words(&known));
                    return Err(Refusal::KeyListed { key, agent, standing }.into());
                }
                None => {
                    let actions = self.actions(&registry).await?;
                    let draft = actions.add_key(mint, owner.address(), address, scopes).await?;
                    self.remember_network_of(address)?;
                    // A wallet may list itself.
                    let signers = if address == owner.address() { vec![owner] } else { vec![owner, key] };
                    done!(self.send_signed(&draft, &signers).await?)
                }
            },
        };
        let filed = if sati { Some(done!(self.file(&registry, agent, owner, address).await?)) } else { None };
        Ok(Attempt::Done(Changed { sent, sati: filed, keys: self.keys(agent).await? }))
    }

    /// Files SATI's DelegateV1 for a key, without an end.
    async fn file(
        &self,
        registry: &Sati,
        agent: &Agent,
        owner: &Wallet,
        key: Address,
    ) -> Result<Attempt<Sent>> {
        let signature = owner.sign(&registry.delegation_message(owner.address()));
        let draft = registry.add_delegate(agent.mint, owner.address(), key, 0, &signature).await?;
        self.send(&draft, owner).await
    }

    /// Ends a key: it acts no more, and what it signs from the next epoch on does not count. By the holder, or by
    /// the key itself. With `sati` its DelegateV1 is revoked as well.
    ///
    /// # Errors
    /// 7511 when it is not listed.
    pub async fn end_key(
        &self,
        agent: &Agent,
        authority: &Wallet,
        key: Address,
        sati: bool,
    ) -> Result<Attempt<Changed>> {
        let mint = agent.mint;
        let registry = Sati::connect(self.client()).await?;
        let sent = match self.earlier(&intents::end_key(&mint, &key)).await? {
            Some(sent) => sent,
            None => {
                let known = self.key_of(agent, key).await?;
                if known.ended_slot != 0 {
                    self.nothing_to_do(format!("{key} has ended"))?
                } else {
                    let actions = self.actions(&registry).await?;
                    let draft = actions.end_key(mint, authority.address(), key).await?;
                    done!(self.send(&draft, authority).await?)
                }
            }
        };
        let revoked = if sati {
            let earlier = self.earlier(&intents::revoke_delegate(&mint, &key)).await?;
            Some(match earlier {
                Some(sent) => sent,
                None => {
                    let draft = registry.revoke_delegate(mint, authority.address(), key).await?;
                    done!(self.send(&draft, authority).await?)
                }
            })
        } else {
            None
        };
        Ok(Attempt::Done(Changed { sent, sati: revoked, keys: self.keys(agent).await? }))
    }

    /// Closes an ended key's account; its rent goes to who paid it. Anyone may.
    ///
    /// # Errors
    /// 7511 when it is not listed.
    pub async fn close_key(&self, agent: &Agent, payer: &Wallet, key: Address) -> Result<Attempt<Changed>> {
        let sent = match self.earlier(&intents::close_key(&agent.mint, &key)).await? {
            Some(sent) => sent,
            None => {
                self.key_of(agent, key).await?;
                let registry = Sati::connect(self.client()).await?;
                let actions = self.actions(&registry).await?;
                let draft = actions.close_key(agent.mint, key, payer.address()).await?;
                done!(self.send(&draft, payer).await?)
            }
        };
        Ok(Attempt::Done(Changed { sent, sati: None, keys: self.keys(agent).await? }))
    }

    async fn key_of(&self, agent: &Agent, key: Address) -> Result<KeyAccount> {
        let found = self.client().key(agent.mint, key).await?;
        let unknown = || Refusal::KeyUnknown { key: key.to_string(), agent: agent.shown() };
        Ok(found.ok_or_else(unknown)?.value)
    }

    /// Begins the holder's tenure: every live key and the era end. Nothing where the tenure is the holder's
    /// already.
    ///
    /// # Errors
    /// 7509 when nobody had it before.
    pub async fn take_over(&self, agent: &Agent, holder: &Wallet) -> Result<Attempt<TakenOver>> {
        let before = self.keys(agent).await?;
        let is_live = |key: &&KeyReport| key.standing != Standing::Ended;
        let ended: Vec<String> = before.keys.iter().filter(is_live).map(|key| key.key.clone()).collect();
        let number = before.tenure.as_ref().map(|tenure| tenure.number);
        let number = number.ok_or_else(|| Refusal::NoTenure { agent: agent.shown() })?;
        let yours = before.tenure.as_ref().is_some_and(|it| it.owner == holder.address().to_string());
        if yours {
            // An interrupted run of this may have done it, and waits to be shown.
            let intent = intents::take_over(&agent.mint, number.saturating_sub(1));
            let sent = match self.earlier(&intent).await? {
                Some(sent) => sent,
                None => self.nothing_to_do("the agent is in your tenure".to_owned())?,
            };
            return Ok(Attempt::Done(TakenOver { sent, ended: Vec::new(), keys: before }));
        }
        let registry = Sati::connect(self.client()).await?;
        let draft = self.actions(&registry).await?.take_over(agent.mint, holder.address()).await?;
        let sent = done!(self.send(&draft, holder).await?);
        Ok(Attempt::Done(TakenOver { sent, ended, keys: self.keys(agent).await? }))
    }

    fn network_file(&self, key: Address) -> PathBuf {
        self.home.join(LISTED).join(key.to_string())
    }

    /// Refuses a key that was listed from here on another network. Local clusters come and go.
    fn check_network_of(&self, key: Address) -> Result<()> {
        let Some(bytes) = files::read(&self.network_file(key), MAX_GENESIS)? else { return Ok(()) };
        let network = String::from_utf8_lossy(&bytes).trim().to_owned();
        if may_serve_both(&network, &self.chain.identity.genesis) {
            return Ok(());
        }
        Err(Refusal::KeyOfOtherNetwork { key: key.to_string(), network }.into())
    }

    fn remember_network_of(&self, key: Address) -> Result<()> {
        if self.sends_nothing() {
            return Ok(());
        }
        files::replace(&self.network_file(key), self.chain.identity.genesis.as_bytes())
    }
}

/// Whether one key may be listed on both of these networks, by their genesis hashes.
fn may_serve_both(one: &str, other: &str) -> bool {
    let is_public = |genesis: &str| Identity::of(genesis).public.is_some();
    one == other || !(is_public(one) || is_public(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_chain::rpc::Public;

    #[test]
    fn a_key_of_a_public_network_is_listed_on_no_other() {
        let [main, dev] = [Public::MainnetBeta, Public::Devnet].map(Public::genesis);
        assert!(may_serve_both(dev, dev) && may_serve_both("local", "another local"));
        for (one, other) in [(main, dev), (dev, main), (dev, "local"), ("local", dev)] {
            assert!(!may_serve_both(one, other), "{one} {other}");
        }
    }

    fn key(owner: u8, from_epoch: u64, ended_slot: u64) -> KeyAccount {
        KeyAccount {
            created_slot: 1,
            event_sequence: 1,
            from_epoch,
            until_epoch: OPEN,
            ended_slot,
            tenure: 1,
            scopes: Scopes::ALL.0,
            version: 2,
            bump: 255,
            reserved: 0,
            agent: [9; 32],
            key: [8; 32],
            owner: [owner; 32],
            payer: [owner; 32],
        }
    }

    #[test]
    fn a_key_stands_by_its_notice_its_holder_and_its_end() {
        let holder = Some(Address::new_from_array([1; 32]));
        assert_eq!(Standing::of(&key(1, 7, 0), holder, 7), Standing::Live);
        assert_eq!(Standing::of(&key(1, 8, 0), holder, 7), Standing::Notice);
        assert_eq!(Standing::of(&key(2, 7, 0), holder, 7), Standing::Former);
        assert_eq!(Standing::of(&key(1, 7, 0), None, 7), Standing::Former);
        assert_eq!(Standing::of(&key(2, 7, 5), holder, 7), Standing::Ended);
    }
}
