//! The adapter of SATI: agents are Token-2022 mints that are members of its group; delegations are
//! attestations at SAS that SATI writes.

use super::super::client::Client;
use super::super::draft::{Asked, Draft, Flow, Intent, Step, ed25519};
use super::super::error::{ChainError, Result};
use super::super::intents;
use super::super::read::RawAccount;
use super::super::refusal::{Foreign, Refusal};
use super::{AgentRecord, Delegate, IdentityRegistry, Metadata, Registration, metadata};
use crate::sati::{self, Actors, DelegateV1, RegisterAgent, RegistryConfig, SchemaConfig};
use crate::token::{self, TOKEN_2022_PROGRAM};
use serde_json::json;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::accounts::Config;
use zx1_interface::external::{self, AgentMint};
use zx1_interface::ids;
use zx1_protocol::ids::AgentId;

/// Which of SATI's account lists the deployed program takes. January's and February's differ (notes on
/// SATI); February's is the present one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// The account lists of January 2026.
    January,
    /// The account lists since February 2026.
    #[default]
    February,
}

impl Edition {
    /// The instruction with this edition's accounts; the builders give February's.
    pub fn accounts(self, mut instruction: Instruction) -> Instruction {
        if self == Self::February {
            return instruction;
        }
        use sati::instruction_discriminator::{CLOSE_REGULAR, CREATE_COMPRESSED};
        match instruction.data.first_chunk::<8>() {
            // The agent's mint was not passed beside its token account.
            Some(&CREATE_COMPRESSED) if instruction.accounts.len() > 5 => {
                instruction.accounts.remove(5);
            }
            // The system program was not passed.
            Some(&CLOSE_REGULAR) if instruction.accounts.len() > 9 => {
                instruction.accounts.remove(9);
            }
            _ => {}
        }
        instruction
    }
}

/// The registry SATI.
#[derive(Clone, Debug)]
pub struct Sati {
    pub(super) client: Client,
    pub(super) config: Config,
    pub(super) edition: Edition,
}

impl Sati {
    /// SATI as the protocol's configuration names it.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotConfigured`].
    pub async fn connect(client: &Client) -> Result<Self> {
        let config = client.config().await?.value;
        Ok(Self { client: client.clone(), config, edition: Edition::default() })
    }

    /// The same with another edition's account lists.
    #[must_use]
    pub fn with_edition(mut self, edition: Edition) -> Self {
        self.edition = edition;
        self
    }

    /// The registry's account.
    pub async fn registry(&self) -> Result<RegistryConfig> {
        registry_config(&self.client).await
    }

    /// The rules of a schema.
    pub async fn schema(&self, sas_schema: Address) -> Result<SchemaConfig> {
        let (what, address) = ("schema of SATI", sati::schema_config_address(&sas_schema).0);
        let account = self.client.account(address).await?;
        let account = account.ok_or(ChainError::AccountMissing { what: what.into(), address })?;
        let size = account.data.len();
        SchemaConfig::decode(&account.data)
            .filter(|_| account.owner == sati::PROGRAM)
            .ok_or(ChainError::MalformedAccount { what: what.into(), address, size })
    }

    pub(super) fn credential(&self) -> Address {
        Address::new_from_array(self.config.delegate_credential)
    }

    pub(super) fn delegate_schema(&self) -> Address {
        Address::new_from_array(self.config.delegate_schema)
    }

    pub(super) fn actors(&self, payer: Address, schema: Address, token: Address) -> Actors {
        Actors { payer, sas_schema: schema, agent_token_account: token, credential: self.credential() }
    }

    /// What the owner signs so that SATI names another key as an agent's delegate: 32 bytes. It gives no
    /// authority in zx1, where key accounts do (decision P1).
    ///
    /// SATI hashes neither agent nor delegate here, so these are the same bytes for every delegate of every
    /// agent of this owner, and whoever has seen one such signature on chain can file it again for a key of
    /// its own. [`IdentityRegistry::delegates`] shows what is there; revoke what you did not give.
    pub fn delegation_message(&self, owner: Address) -> [u8; 32] {
        sati::interaction_hash(&self.delegate_schema(), &[0; 32], &owner.to_bytes())
    }

    /// A draft that files a delegation until a Unix time (0: without end). `signature` is the
    /// owner's over [`Sati::delegation_message`].
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`], [`ChainError::NotAuthorized`] when `owner` does not own it,
    /// [`ChainError::BadSignature`].
    pub async fn add_delegate(
        &self,
        mint: AgentId,
        owner: Address,
        delegate: Address,
        expiry: i64,
        signature: &[u8; 64],
    ) -> Result<Draft> {
        let agent = super::need(self, mint).await?;
        if agent.owner != Some(owner) {
            return Err(ChainError::NotAuthorized { mint, wallet: owner });
        }
        let message = self.delegation_message(owner);
        if !solana_signature::Signature::from(*signature).verify(owner.as_ref(), &message) {
            return Err(ChainError::BadSignature { address: owner });
        }
        let subject = DelegateV1 { agent: mint.into(), delegate, delegator: owner }.attestation();
        let schema = self.delegate_schema();
        let nonce = sati::delegation_nonce(&schema, &delegate, &mint.into());
        let actors = self.actors(owner, schema, agent.addresses()?.token);
        let create = sati::create_regular_attestation(&actors, &subject, &nonce, expiry);
        let check = ed25519(&owner, signature, &message)?;
        Ok(Draft::new(
            Intent::new("add-delegate", &[&mint, &owner, &delegate, &expiry]),
            format!("Name {delegate} as a delegate of the agent {mint} with SATI"),
            owner,
            vec![check, self.edition.accounts(create)],
        ))
    }

    /// A draft that takes a delegation back; its rent goes to `signer`, who is the agent's owner or the
    /// delegate itself.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`] when there is no such delegation.
    pub async fn revoke_delegate(&self, mint: AgentId, signer: Address, delegate: Address) -> Result<Draft> {
        let agent = super::need(self, mint).await?;
        let found = self.delegates(mint).await?.into_iter().find(|known| known.delegate == delegate);
        let schema = self.delegate_schema();
        let nonce = sati::delegation_nonce(&schema, &delegate, &mint.into());
        let address = sati::sas_attestation_address(&self.credential(), &schema, &nonce).0;
        let missing = ChainError::AccountMissing { what: "delegation".into(), address };
        let account = found.ok_or(missing)?.account;
        let actors = self.actors(signer, schema, agent.addresses()?.token);
        let close = sati::close_regular_attestation(&actors, &signer, &mint.into(), &account);
        Ok(Draft::new(
            intents::revoke_delegate(&mint, &delegate),
            format!("Take back the delegation of {delegate} for the agent {mint} with SATI"),
            signer,
            vec![self.edition.accounts(close)],
        ))
    }

    async fn find(&self, mint: AgentId) -> Result<Option<AgentRecord>> {
        let Some(account) = self.client.account(mint.into()).await? else { return Ok(None) };
        let Some(member) = member(&self.config, &account) else { return Ok(None) };
        let index = sati::agent_index_address(member.member_number).0;
        let indexed = self.client.account(index).await?;
        if indexed.as_ref().and_then(indexed_mint) != Some(mint) {
            return Ok(None);
        }
        self.with_holder(mint, index, &member, &account.data).await.map(Some)
    }

    async fn with_holder(
        &self,
        mint: AgentId,
        index: Address,
        member: &AgentMint,
        data: &[u8],
    ) -> Result<AgentRecord> {
        let malformed =
            || ChainError::MalformedAccount { what: "agent".into(), address: mint.into(), size: data.len() };
        let (metadata, soulbound) = metadata::read(data).ok_or_else(malformed)?;
        let token = if member.supply == 0 { None } else { self.client.sole_holder(mint).await? };
        let mut owner = None;
        if let Some(token) = token {
            let held = self.client.token_account(token).await?;
            owner = held.filter(|held| held.mint == mint.into() && held.amount == 1).map(|held| held.owner);
        }
        let token = token.filter(|_| owner.is_some());
        let member_number = member.member_number;
        Ok(AgentRecord { mint, member_number, index, owner, token, metadata, soulbound })
    }

    async fn find_delegates(&self, mint: AgentId) -> Result<Vec<Delegate>> {
        // Kind, credential, schema, and the agent inside the attested data, by SAS's layout.
        let filters: [(usize, &[u8]); 4] = [
            (0, &[sati::SasAttestation::DISCRIMINATOR]),
            (33, &self.config.delegate_credential),
            (65, &self.config.delegate_schema),
            (134, mint.as_bytes()),
        ];
        let sas = Address::new_from_array(ids::SAS);
        let addresses = self.client.program_addresses(sas, &filters).await?;
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let owner = self.find(mint).await?.and_then(|agent| agent.owner);
        let now = self.client.time().await?.unix;
        let mut found = Vec::new();
        for account in self.client.accounts(&addresses).await?.into_iter().flatten() {
            let Some(read) = external::delegation(&account.data).filter(|_| account.owner == sas) else {
                continue;
            };
            let fits = read.agent == mint.0
                && read.credential == self.config.delegate_credential
                && read.schema == self.config.delegate_schema;
            if !fits {
                continue;
            }
            let delegator = Address::new_from_array(read.delegator);
            found.push(Delegate {
                account: account.address,
                delegate: Address::new_from_array(read.delegate),
                delegator,
                expiry: read.expiry,
                live: owner == Some(delegator) && !read.is_expired(now),
            });
        }
        found.sort_by_key(|delegate| (!delegate.live, delegate.delegate));
        Ok(found)
    }

    async fn find_agents(&self, wallet: Address) -> Result<Vec<AgentRecord>> {
        let by = json!({ "programId": TOKEN_2022_PROGRAM.to_string() });
        let held = self.client.token_accounts(wallet, &by).await?;
        let mut agents: Vec<AgentRecord> = Vec::new();
        for (_, account) in held.into_iter().filter(|(_, account)| account.amount == 1) {
            if let Some(agent) = self.find(account.mint.into()).await?
                && agent.owner == Some(wallet)
            {
                agents.push(agent);
            }
        }
        agents.sort_by_key(|agent| agent.member_number);
        Ok(agents)
    }
}

/// What a mint says that is a member of the registry's group: one of Token-2022, with one token at most, as more could
/// have several owners (decision B3). It is an agent's when the registry's index of its number names it,
/// [`indexed_mint`]. None for every other account.
pub(in crate::rpc) fn member(config: &Config, mint: &RawAccount) -> Option<AgentMint> {
    let read = external::agent_mint(mint.address.as_array(), &mint.data);
    let is_token_2022 = mint.owner == TOKEN_2022_PROGRAM;
    read.filter(|read| is_token_2022 && read.group == config.registry_group && read.supply <= 1)
}

/// The mint that an AgentIndex of SATI names. None for every other account.
pub fn indexed_mint(index: &RawAccount) -> Option<AgentId> {
    let read = external::agent_index(&index.data).filter(|_| index.owner == sati::PROGRAM);
    read.map(|(mint, _)| AgentId(mint))
}

pub(super) async fn registry_config(client: &Client) -> Result<RegistryConfig> {
    let (what, address) = ("registry of SATI", sati::registry_address().0);
    let account = client.account(address).await?;
    let account = account.ok_or(ChainError::AccountMissing { what: what.into(), address })?;
    let size = account.data.len();
    RegistryConfig::decode(&account.data)
        .filter(|_| account.owner == sati::PROGRAM)
        .ok_or(ChainError::MalformedAccount { what: what.into(), address, size })
}

impl IdentityRegistry for Sati {
    fn name(&self) -> &'static str {
        "SATI"
    }

    fn register(&self, wish: &Registration) -> Result<Box<dyn Flow>> {
        check(&wish.agent)?;
        Ok(Box::new(Registering::new(wish.clone())))
    }

    fn look_up(&self, mint: AgentId) -> Asked<'_, Option<AgentRecord>> {
        Box::pin(self.find(mint))
    }

    fn verify_ownership(&self, mint: AgentId, wallet: Address) -> Asked<'_, bool> {
        Box::pin(async move { Ok(self.find(mint).await?.is_some_and(|agent| agent.owner == Some(wallet))) })
    }

    fn delegates(&self, mint: AgentId) -> Asked<'_, Vec<Delegate>> {
        Box::pin(self.find_delegates(mint))
    }

    fn agents_of_wallet(&self, wallet: Address) -> Asked<'_, Vec<AgentRecord>> {
        Box::pin(self.find_agents(wallet))
    }

    fn metadata(&self, mint: AgentId) -> Asked<'_, Metadata> {
        Box::pin(async move { Ok(super::need(self, mint).await?.metadata) })
    }
}

/// SATI's own limits, so that the refusal is a sentence.
fn check(agent: &sati::NewAgent) -> Result<()> {
    let limits = [
        ("name", agent.name.len(), 32),
        ("symbol", agent.symbol.len(), 10),
        ("address of the metadata file", agent.uri.len(), 200),
        ("number of metadata entries", agent.metadata.len(), 10),
    ];
    let too_long = |what: &str, size: usize, most: usize| {
        Err(ChainError::Invalid(format!("The {what} is {size}, SATI allows at most {most}. Shorten it.")))
    };
    for (what, size, most) in limits {
        if size > most {
            return too_long(&format!("{what} (bytes)"), size, most);
        }
    }
    for (key, value) in &agent.metadata {
        if key.len() > 32 {
            return too_long("length of a metadata key in bytes", key.len(), 32);
        }
        if value.len() > 200 {
            return too_long("length of a metadata value in bytes", value.len(), 200);
        }
    }
    if agent.name.trim().is_empty() {
        return Err(ChainError::Invalid("The agent needs a name.".to_owned()));
    }
    Ok(())
}

/// Registers an agent. The member number is the registry's next one: who is slower gets the one after it.
struct Registering {
    wish: Registration,
    intent: Intent,
}

impl Registering {
    fn new(wish: Registration) -> Self {
        // Not the mint: a rerun makes another key, and must still find the first transaction.
        let entries: String =
            wish.agent.metadata.iter().map(|(key, value)| format!("{key}={value};")).collect();
        let agent = &wish.agent;
        let intent = Intent::new(
            "register",
            &[&wish.owner, &agent.name, &agent.symbol, &agent.uri, &agent.non_transferable, &entries],
        );
        Self { wish, intent }
    }
}

impl Flow for Registering {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    fn title(&self) -> String {
        format!("Register the agent '{}'", self.wish.agent.name)
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(async move {
            use solana_signer::Signer;
            let registry = registry_config(client).await?;
            let overflow = || ChainError::Invalid("The registry is full.".to_owned());
            let accounts = RegisterAgent {
                payer: self.wish.payer,
                owner: self.wish.owner,
                group_mint: registry.group_mint,
                agent_mint: self.wish.mint.pubkey(),
                member_number: registry.total_agents.checked_add(1).ok_or_else(overflow)?,
            };
            let register = sati::register_agent(&accounts, &self.wish.agent);
            let mut draft = Draft::new(self.intent.clone(), self.title(), self.wish.payer, vec![register]);
            draft.keys = vec![self.wish.mint.clone()];
            Ok(Step::Send { draft, last: true })
        })
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        // The index account follows from the number: Anchor's seeds constraint, or the stand-in's own, or the
        // system program that finds it in use.
        matches!(refusal.foreign, Some(Foreign::RegistryRace | Foreign::AccountInUse))
    }
}

/// The mint that a registration's transaction created, read from the landed transaction: after a rerun the
/// key in hand is not the one that was registered.
pub fn registered_mint(transaction: &super::super::history::LandedTransaction) -> Option<AgentId> {
    let call = transaction.calls.iter().find(|called| {
        !called.inner
            && called.call.program == sati::PROGRAM
            && called.call.data.starts_with(&sati::instruction_discriminator::REGISTER_AGENT)
    })?;
    call.call.accounts.get(4).map(|mint| AgentId::from(*mint))
}

/// The associated token account in which SATI puts a new agent.
pub fn first_token_account(owner: &Address, mint: AgentId) -> Address {
    token::associated_address(owner, &mint.into(), &TOKEN_2022_PROGRAM)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sati::{Attestation, ContentType, NewAgent, Outcome};
    use solana_keypair::Keypair;
    use std::sync::Arc;

    fn at(byte: u8) -> Address {
        Address::new_from_array([byte; 32])
    }

    fn actors() -> Actors {
        Actors { payer: at(1), sas_schema: at(2), agent_token_account: at(3), credential: at(4) }
    }

    #[test]
    fn january_passes_no_mint_beside_the_token_account() {
        let subject = Attestation {
            task_ref: [0; 32],
            agent: at(5),
            counterparty: at(6),
            outcome: Outcome::Neutral,
            data_hash: [0; 32],
            content_type: ContentType::None,
            content: Vec::new(),
        };
        let february = sati::create_compressed_attestation(&actors(), &subject, &[0; 32]);
        assert_eq!(february.accounts[5].pubkey, at(5));
        let january = Edition::January.accounts(february.clone());
        assert_eq!(january.accounts.len() + 1, february.accounts.len());
        assert!(january.accounts.iter().all(|meta| meta.pubkey != at(5)));
        assert_eq!(january.data, february.data);
        assert_eq!(Edition::February.accounts(february.clone()), february);
        let close = sati::close_regular_attestation(&actors(), &at(1), &at(5), &at(7));
        let january = Edition::January.accounts(close.clone());
        assert!(january.accounts.iter().all(|meta| meta.pubkey != solana_sdk_ids::system_program::ID));
        let register = sati::update_registry_authority(&at(1), None);
        assert_eq!(Edition::January.accounts(register.clone()), register, "the same in both");
    }

    fn wish(agent: NewAgent) -> Registration {
        Registration { payer: at(1), owner: at(2), agent, mint: Arc::new(Keypair::new()) }
    }

    #[test]
    fn a_registration_that_sati_would_refuse_fails_before_it_is_sent() {
        let named = NewAgent { name: "n".repeat(32), uri: "u".repeat(200), ..NewAgent::default() };
        assert!(check(&named).is_ok());
        for bad in [
            NewAgent { name: "n".repeat(33), ..named.clone() },
            NewAgent { name: " ".into(), ..named.clone() },
            NewAgent { symbol: "s".repeat(11), ..named.clone() },
            NewAgent { uri: "u".repeat(201), ..named.clone() },
            NewAgent { metadata: vec![(String::new(), String::new()); 11], ..named.clone() },
            NewAgent { metadata: vec![("k".repeat(33), String::new())], ..named.clone() },
            NewAgent { metadata: vec![(String::new(), "v".repeat(201))], ..named.clone() },
        ] {
            assert_eq!(check(&bad).unwrap_err().code(), 7090, "{bad:?}");
        }
    }

    #[test]
    fn a_rerun_with_another_mint_is_the_same_wish_and_another_name_is_not() {
        let named = NewAgent { name: "Ann".into(), ..NewAgent::default() };
        let [first, second] = [named.clone(), named.clone()].map(|agent| Registering::new(wish(agent)));
        assert_eq!(first.intent, second.intent);
        let other = Registering::new(wish(NewAgent { non_transferable: true, ..named.clone() }));
        assert_ne!(first.intent, other.intent);
        let split = |name: &str, symbol: &str| {
            let agent = NewAgent { name: name.into(), symbol: symbol.into(), ..NewAgent::default() };
            Registering::new(wish(agent)).intent
        };
        assert_ne!(split("a b", "c"), split("a", "b c"), "words are kept apart");
    }
}
