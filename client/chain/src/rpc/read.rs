//! Reading accounts: owner, discriminator, size and layout version are checked, and whatever is not as it
//! should be is an error, never a panic.

use super::client::Client;
use super::error::{ChainError, Result};
use super::wire::{Blockhash, EpochInfo, KeyedAccount, LargestAccount, WithContext};
use crate::pda;
use crate::token::TokenAccount;
use serde_json::{Value, json};
use solana_address::Address;
use solana_rpc_client_api::request::RpcRequest;
use solana_rpc_client_api::response::UiAccount;
use solana_sdk_ids::{system_program, sysvar};
use solana_signature::Signature;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem::offset_of;
use std::ops::Deref;
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, Config, EvidenceDraft, FeedbackDraft, FeedbackEntry,
    FeedbackLogAccount, FeedbackResolution, HeadAccount, KeyAccount, LeaseAccount, ShardAccount,
    StakeLockAccount, TenureAccount,
};
use zx1_interface::{Layout, external};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

/// Most accounts that one call may ask for.
const PAGE: usize = 100;

/// An account as the node gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAccount {
    /// Address of the account.
    pub address: Address,
    /// Balance of the account.
    pub lamports: u64,
    /// The program it belongs to.
    pub owner: Address,
    /// Data of the account.
    pub data: Vec<u8>,
    /// Whether it is a program.
    pub executable: bool,
}

/// An account of one of the five programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<T> {
    /// Address of the account.
    pub address: Address,
    /// Its balance: the rent that comes back when it is closed.
    pub lamports: u64,
    /// The decoded fixed part of the account.
    pub value: T,
    /// What follows the fixed part: a draft's bytes, an entry's text.
    pub tail: Vec<u8>,
}

impl<T> Deref for Stored<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Layout> Stored<T> {
    /// Reads an account of this layout.
    ///
    /// # Errors
    ///
    /// [`ChainError::WrongOwner`] and [`ChainError::MalformedAccount`].
    pub fn decode(account: &RawAccount) -> Result<Self> {
        let program = Address::new_from_array(T::PROGRAM);
        if account.owner != program {
            return Err(ChainError::WrongOwner {
                what: T::NAME.into(),
                address: account.address,
                owner: account.owner,
            });
        }
        // Also refuses a version that this client does not know.
        let value = T::read(&account.data).ok_or_else(|| malformed(T::NAME, account))?;
        let tail = account.data.get(T::SIZE..).unwrap_or_default().to_vec();
        Ok(Self { address: account.address, lamports: account.lamports, value, tail })
    }
}

fn malformed(what: impl Into<Cow<'static, str>>, account: &RawAccount) -> ChainError {
    ChainError::MalformedAccount { what: what.into(), address: account.address, size: account.data.len() }
}

/// Filter for a list of challenges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeFilter {
    /// Against this agent's batches.
    Agent(AgentId),
    /// Challenges of this challenger.
    Challenger(Address),
    /// Against this batch (its account).
    Batch(Address),
}

/// Filter for a list of evidence drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftFilter {
    /// Drafts of this wallet: rent and deposits that it can get back.
    Owner(Address),
    /// Drafts that hold a rank in an era of this agent.
    Agent(AgentId),
}

/// Filter for a list of asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskFilter {
    /// For leaves of this agent's batches.
    Agent(AgentId),
    /// Asks of this wallet.
    Asker(Address),
    /// For leaves of this batch (its account).
    Batch(Address),
}

/// The chain's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainTime {
    /// Slot of the clock.
    pub slot: u64,
    /// Unix time in seconds.
    pub unix: i64,
    /// zx1's epoch (decision B1), not Solana's.
    pub epoch: u64,
}

/// A USDC account of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsdcAccount {
    /// Address of the account.
    pub address: Address,
    /// What is in it.
    pub amount: MicroUsdc,
    /// Whether the mint's freeze authority has frozen it.
    pub frozen: bool,
}

/// An entry of the feedback log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackItem {
    /// The entry's account.
    pub entry: Stored<FeedbackEntry>,
    /// Text of the entry.
    pub text: String,
    /// The maintainer's resolution, if there is one.
    pub resolution: Option<FeedbackResolution>,
}

/// A recent blockhash and how long it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentBlockhash {
    /// The blockhash itself.
    pub hash: [u8; 32],
    /// Last block height at which a transaction with it can land.
    pub last_valid_block_height: u64,
    /// The slot at which the node said so.
    pub slot: u64,
}

impl Client {
    fn config_json(&self) -> Value {
        json!({ "encoding": "base64", "commitment": self.commitment().commitment })
    }

    fn raw(&self, request: RpcRequest, address: Address, account: &UiAccount) -> Result<RawAccount> {
        let bad = |what: &str| self.malformed(request, format!("{what} of the account {address}"));
        Ok(RawAccount {
            address,
            lamports: account.lamports,
            owner: account.owner.parse().map_err(|_| bad("the owner"))?,
            data: account.data.decode().ok_or_else(|| bad("the data"))?,
            executable: account.executable,
        })
    }

    /// An account, if there is one.
    pub async fn account(&self, address: Address) -> Result<Option<RawAccount>> {
        let request = RpcRequest::GetAccountInfo;
        let params = json!([address.to_string(), self.config_json()]);
        let answer: WithContext<Option<UiAccount>> = self.ask(request, params).await?;
        answer.value.map(|account| self.raw(request, address, &account)).transpose()
    }

    /// Accounts in the order in which they are asked for, 100 a call.
    pub async fn accounts(&self, addresses: &[Address]) -> Result<Vec<Option<RawAccount>>> {
        let request = RpcRequest::GetMultipleAccounts;
        let mut found = Vec::with_capacity(addresses.len());
        for page in addresses.chunks(PAGE) {
            let names: Vec<String> = page.iter().map(Address::to_string).collect();
            let params = json!([names, self.config_json()]);
            let answer: WithContext<Vec<Option<UiAccount>>> = self.ask(request, params).await?;
            if answer.value.len() != page.len() {
                return Err(self.malformed(request, "another number of accounts than were asked for"));
            }
            for (address, account) in page.iter().zip(answer.value) {
                found.push(account.map(|account| self.raw(request, *address, &account)).transpose()?);
            }
        }
        Ok(found)
    }

    /// An account of one of the five programs. None when nothing is there, or only lamports that somebody
    /// sent to the address in advance.
    ///
    /// # Errors
    ///
    /// Also when another account is there, or one of another form.
    pub async fn stored<T: Layout>(&self, address: Address) -> Result<Option<Stored<T>>> {
        match self.account(address).await? {
            Some(account) => present(account),
            None => Ok(None),
        }
    }

    /// The same where it must be there.
    ///
    /// # Errors
    ///
    /// Also [`ChainError::AccountMissing`].
    pub async fn need<T: Layout>(&self, address: Address) -> Result<Stored<T>> {
        let missing = || ChainError::AccountMissing { what: T::NAME.into(), address };
        self.stored(address).await?.ok_or_else(missing)
    }

    /// The protocol's configuration (decisions B2 and P5). Its network is compared with the node's genesis
    /// hash, which is asked for once: what is signed for one cluster must not be signed on another.
    ///
    /// # Errors
    ///
    /// Also [`ChainError::NotConfigured`] and [`ChainError::WrongNetwork`].
    pub async fn config(&self) -> Result<Stored<Config>> {
        let missing = || ChainError::NotConfigured { cluster: self.cluster().to_string() };
        let config: Stored<Config> = self.stored(pda::config()).await?.ok_or_else(missing)?;
        let identity = self.identity().await?;
        let configured = Address::new_from_array(config.network);
        // A genesis hash is written like an address.
        if configured.to_string() == identity.genesis {
            return Ok(config);
        }
        let (url, found) = (self.cluster().url().to_owned(), identity.to_string());
        Err(ChainError::WrongNetwork { url, configured, found })
    }

    /// Whose turn an agent is; None before its first tenure.
    pub async fn tenure(&self, agent: AgentId) -> Result<Option<Stored<TenureAccount>>> {
        self.stored(pda::tenure(&agent)).await
    }

    /// A key of an agent, ended ones too.
    pub async fn key(&self, agent: AgentId, key: Address) -> Result<Option<Stored<KeyAccount>>> {
        self.stored(pda::key(&agent, &key)).await
    }

    /// All keys of an agent that are not closed, ended ones too, the oldest first.
    pub async fn keys(&self, agent: AgentId) -> Result<Vec<Stored<KeyAccount>>> {
        let at = 8 + offset_of!(KeyAccount, agent);
        let mut found = self.all::<KeyAccount>(&[(at, agent.as_bytes())]).await?;
        found.sort_by_key(|key| (key.created_slot, key.key));
        Ok(found)
    }

    /// An agent's stake of an era.
    pub async fn stake(&self, agent: AgentId, era: u32) -> Result<Option<Stored<StakeLockAccount>>> {
        self.stored(pda::stake(&agent, era)).await
    }

    /// An agent's stake of the era in which batches land now; None also before the first tenure.
    pub async fn present_stake(&self, agent: AgentId) -> Result<Option<Stored<StakeLockAccount>>> {
        match self.tenure(agent).await? {
            Some(tenure) => self.stake(agent, tenure.era).await,
            None => Ok(None),
        }
    }

    /// An agent's stakes of all eras that are not claimed, by era.
    pub async fn stakes(&self, agent: AgentId) -> Result<Vec<Stored<StakeLockAccount>>> {
        let at = 8 + offset_of!(StakeLockAccount, agent_mint);
        let mut found = self.all::<StakeLockAccount>(&[(at, agent.as_bytes())]).await?;
        found.sort_by_key(|stake| stake.era);
        Ok(found)
    }

    /// Wallets with a stake that is neither slashed nor of an era that has ended.
    pub async fn staked_wallets(&self) -> Result<BTreeSet<[u8; 32]>> {
        let stakes = self.all::<StakeLockAccount>(&[]).await?;
        let counts =
            |it: &Stored<StakeLockAccount>| it.stake_usdc > 0 && it.slashed_slot == 0 && it.ended_slot == 0;
        Ok(stakes.into_iter().filter(counts).map(|stake| stake.owner).collect())
    }

    /// The total of an agent's pooled vault; None before the vault is opened.
    pub async fn shard(&self, agent: AgentId) -> Result<Option<Stored<ShardAccount>>> {
        self.stored(pda::shard(pda::shard_of(&agent))).await
    }

    /// An agent's lease. Its state follows from the clock, not from the flags (decision B5).
    pub async fn lease(&self, agent: AgentId) -> Result<Option<Stored<LeaseAccount>>> {
        self.stored(pda::lease(&agent)).await
    }

    /// The head of an agent's batches.
    pub async fn head(&self, agent: AgentId) -> Result<Option<Stored<HeadAccount>>> {
        self.stored(pda::head(&agent)).await
    }

    /// An agent's batch of an epoch.
    pub async fn batch(&self, agent: AgentId, epoch: u64) -> Result<Option<Stored<BatchAccount>>> {
        self.stored(pda::batch(&agent, epoch)).await
    }

    /// Reads a challenge; `None` when it does not exist.
    pub async fn challenge(&self, address: Address) -> Result<Option<Stored<ChallengeAccount>>> {
        self.stored(address).await
    }

    /// An evidence draft.
    pub async fn evidence_draft(&self, owner: Address, nonce: u64) -> Result<Option<Stored<EvidenceDraft>>> {
        self.stored(pda::evidence_draft(&owner, nonce)).await
    }

    /// Reads an ask; `None` when it does not exist.
    pub async fn leaf_ask(&self, address: Address) -> Result<Option<Stored<AskAccount>>> {
        self.stored(address).await
    }

    /// A feedback draft.
    pub async fn feedback_draft(&self, sender: Address, nonce: u64) -> Result<Option<Stored<FeedbackDraft>>> {
        self.stored(pda::feedback_draft(&sender, nonce)).await
    }

    /// All batches of an agent whose accounts are still open, by epoch.
    pub async fn batches(&self, agent: AgentId) -> Result<Vec<Stored<BatchAccount>>> {
        let at = 8 + offset_of!(BatchAccount, agent_id);
        let mut found = self.all::<BatchAccount>(&[(at, agent.as_bytes())]).await?;
        found.sort_by_key(|batch| batch.epoch_number);
        Ok(found)
    }

    /// Open challenge accounts, by slot of submission.
    pub async fn challenges(&self, by: ChallengeFilter) -> Result<Vec<Stored<ChallengeAccount>>> {
        let (at, bytes) = match &by {
            ChallengeFilter::Agent(agent) => (offset_of!(ChallengeAccount, agent_id), agent.as_bytes()),
            ChallengeFilter::Challenger(wallet) => {
                (offset_of!(ChallengeAccount, challenger), wallet.as_array())
            }
            ChallengeFilter::Batch(account) => (offset_of!(ChallengeAccount, batch), account.as_array()),
        };
        let mut found = self.all::<ChallengeAccount>(&[(8 + at, bytes)]).await?;
        found.sort_by_key(|challenge| (challenge.submitted_slot, challenge.address));
        Ok(found)
    }

    /// Evidence drafts, the oldest first.
    pub async fn drafts(&self, by: DraftFilter) -> Result<Vec<Stored<EvidenceDraft>>> {
        let (at, bytes) = match &by {
            DraftFilter::Owner(wallet) => (offset_of!(EvidenceDraft, owner), wallet.as_array()),
            DraftFilter::Agent(agent) => (offset_of!(EvidenceDraft, agent), agent.as_bytes()),
        };
        let mut found = self.all::<EvidenceDraft>(&[(8 + at, bytes)]).await?;
        found.sort_by_key(|draft| (draft.created_slot, draft.address));
        Ok(found)
    }

    /// Asks that are not closed, the oldest first.
    pub async fn asks(&self, by: AskFilter) -> Result<Vec<Stored<AskAccount>>> {
        let (at, bytes) = match &by {
            AskFilter::Agent(agent) => (offset_of!(AskAccount, agent_id), agent.as_bytes()),
            AskFilter::Asker(wallet) => (offset_of!(AskAccount, asker), wallet.as_array()),
            AskFilter::Batch(account) => (offset_of!(AskAccount, batch), account.as_array()),
        };
        let mut found = self.all::<AskAccount>(&[(8 + at, bytes)]).await?;
        found.sort_by_key(|ask| (ask.created_slot, ask.address));
        Ok(found)
    }

    /// All accounts of a layout with these bytes at these places. Addresses come first and without data, the
    /// accounts then 100 a call, so that no answer grows with the number of accounts' bytes.
    pub(crate) async fn all<T: Layout>(&self, matches: &[(usize, &[u8])]) -> Result<Vec<Stored<T>>> {
        let mut filters: Vec<(usize, &[u8])> = vec![(0, &T::DISCRIMINATOR)];
        filters.extend_from_slice(matches);
        let program = Address::new_from_array(T::PROGRAM);
        let addresses = self.program_addresses(program, &filters).await?;
        let accounts = self.accounts(&addresses).await?;
        // What was closed between the two calls is left out.
        let mut found = Vec::with_capacity(accounts.len());
        for account in accounts.into_iter().flatten() {
            found.extend(present(account)?);
        }
        Ok(found)
    }

    /// Addresses of a program's accounts with these bytes at these places.
    pub(crate) async fn program_addresses(
        &self,
        program: Address,
        matches: &[(usize, &[u8])],
    ) -> Result<Vec<Address>> {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let filters: Vec<Value> = matches
            .iter()
            .map(|(offset, bytes)| {
                let bytes = STANDARD.encode(bytes);
                json!({ "memcmp": { "offset": offset, "bytes": bytes, "encoding": "base64" } })
            })
            .collect();
        let params = json!([program.to_string(), {
            "encoding": "base64",
            "commitment": self.commitment().commitment,
            "filters": filters,
            "dataSlice": { "offset": 0, "length": 0 },
        }]);
        let request = RpcRequest::GetProgramAccounts;
        let found: Vec<KeyedAccount> = self.ask(request, params).await?;
        let read = |text: &str| text.parse().map_err(|_| self.malformed(request, "an address"));
        let mut addresses: Vec<Address> =
            found.iter().map(|account| read(&account.pubkey)).collect::<Result<_>>()?;
        addresses.sort_unstable();
        addresses.dedup();
        Ok(addresses)
    }

    /// The head of the feedback log; None before the first entry.
    pub async fn feedback_log(&self) -> Result<Option<Stored<FeedbackLogAccount>>> {
        self.stored(pda::feedback_log()).await
    }

    /// Entries of the feedback log, newest first, at most `limit`, from the index `newest` downward (None:
    /// from the last one).
    ///
    /// # Errors
    ///
    /// Also when an entry below the log's count is missing, which no honest node can answer.
    pub async fn feedback(&self, newest: Option<u64>, limit: usize) -> Result<Vec<FeedbackItem>> {
        let count = self.feedback_log().await?.map_or(0, |log| log.count);
        let end = newest.map_or(count, |newest| newest.saturating_add(1).min(count));
        let start = end.saturating_sub(u64::try_from(limit).unwrap_or(u64::MAX));
        let indexes: Vec<u64> = (start..end).rev().collect();
        let mut items = Vec::with_capacity(indexes.len());
        for page in indexes.chunks(PAGE) {
            let entries: Vec<Address> = page.iter().map(|index| pda::feedback_entry(*index)).collect();
            let resolutions: Vec<Address> =
                page.iter().map(|index| pda::feedback_resolution(*index)).collect();
            let entries = self.accounts(&entries).await?;
            let resolutions = self.accounts(&resolutions).await?;
            for ((index, entry), resolution) in page.iter().zip(entries).zip(resolutions) {
                let missing = || ChainError::AccountMissing {
                    what: format!("feedback entry {index}").into(),
                    address: pda::feedback_entry(*index),
                };
                items.push(feedback_item(&entry.ok_or_else(missing)?, resolution)?);
            }
        }
        Ok(items)
    }

    /// One entry of the feedback log; None when the log is shorter.
    pub async fn feedback_entry(&self, index: u64) -> Result<Option<FeedbackItem>> {
        let both = [pda::feedback_entry(index), pda::feedback_resolution(index)];
        let mut found = self.accounts(&both).await?.into_iter();
        match found.next().flatten() {
            Some(entry) => feedback_item(&entry, found.next().flatten()).map(Some),
            None => Ok(None),
        }
    }

    /// The chain's clock.
    pub async fn time(&self) -> Result<ChainTime> {
        let address = sysvar::clock::ID;
        let missing = || ChainError::AccountMissing { what: "clock".into(), address };
        let account = self.account(address).await?.ok_or_else(missing)?;
        decode_clock(&account)
    }

    /// A wallet's balance in lamports.
    pub async fn lamports(&self, address: Address) -> Result<u64> {
        let params = json!([address.to_string(), { "commitment": self.commitment().commitment }]);
        let answer: WithContext<u64> = self.ask(RpcRequest::GetBalance, params).await?;
        Ok(answer.value)
    }

    /// A token account of either token program, if there is one.
    pub async fn token_account(&self, address: Address) -> Result<Option<TokenAccount>> {
        let Some(account) = self.account(address).await? else { return Ok(None) };
        decode_token(&account).map(Some)
    }

    /// A wallet's accounts of a mint, the richest first.
    pub async fn usdc_accounts(&self, wallet: Address, mint: Address) -> Result<Vec<UsdcAccount>> {
        let found = self.token_accounts(wallet, &json!({ "mint": mint.to_string() })).await?;
        let mut accounts: Vec<UsdcAccount> = found
            .into_iter()
            .filter(|(_, account)| account.mint == mint && account.owner == wallet)
            .map(|(address, account)| UsdcAccount {
                address,
                amount: MicroUsdc(account.amount),
                frozen: account.frozen,
            })
            .collect();
        accounts.sort_by_key(|account| (std::cmp::Reverse(account.amount), account.address));
        Ok(accounts)
    }

    /// USDC of a wallet in its associated account, with which all of zx1's commands pay; 0 where there is
    /// none.
    pub async fn usdc_balance(&self, wallet: Address, mint: Address) -> Result<MicroUsdc> {
        let account = crate::token::associated_address(&wallet, &mint, &crate::token::TOKEN_PROGRAM);
        let held = self.token_account(account).await?.map_or(0, |account| account.amount);
        Ok(MicroUsdc(held))
    }

    /// A wallet's token accounts, by mint or by token program.
    pub(crate) async fn token_accounts(
        &self,
        wallet: Address,
        by: &Value,
    ) -> Result<Vec<(Address, TokenAccount)>> {
        let request = RpcRequest::GetTokenAccountsByOwner;
        let params = json!([wallet.to_string(), by, self.config_json()]);
        let answer: WithContext<Vec<KeyedAccount>> = self.ask(request, params).await?;
        let mut found = Vec::with_capacity(answer.value.len());
        for account in answer.value {
            let address = account.pubkey.parse().map_err(|_| self.malformed(request, "an address"))?;
            let account = self.raw(request, address, &account.account)?;
            found.push((address, decode_token(&account)?));
        }
        Ok(found)
    }

    /// The account that holds a mint's one token. None when nobody does.
    pub(crate) async fn sole_holder(&self, mint: AgentId) -> Result<Option<Address>> {
        let request = RpcRequest::GetTokenLargestAccounts;
        let params = json!([mint.to_string(), { "commitment": self.commitment().commitment }]);
        match self.ask::<WithContext<Vec<LargestAccount>>>(request, params).await {
            Ok(answer) => {
                let holder = answer.value.into_iter().find(|account| account.amount == "1");
                let read = |account: LargestAccount| {
                    account.address.parse().map_err(|_| self.malformed(request, "an address"))
                };
                holder.map(read).transpose()
            }
            // Some nodes leave this method out; the token program's accounts tell the same.
            Err(ChainError::NodeRefused { .. } | ChainError::WrongNode { .. }) => {
                let program = crate::token::TOKEN_2022_PROGRAM;
                let filters: [(usize, &[u8]); 2] = [(0, mint.as_bytes()), (64, &1_u64.to_le_bytes())];
                Ok(self.program_addresses(program, &filters).await?.first().copied())
            }
            Err(error) => Err(error),
        }
    }

    /// A recent blockhash.
    pub async fn blockhash(&self) -> Result<RecentBlockhash> {
        let request = RpcRequest::GetLatestBlockhash;
        let params = json!([{ "commitment": self.commitment().commitment }]);
        let answer: WithContext<Blockhash> = self.ask(request, params).await?;
        let hash: Address =
            answer.value.blockhash.parse().map_err(|_| self.malformed(request, "the blockhash"))?;
        Ok(RecentBlockhash {
            hash: hash.to_bytes(),
            last_valid_block_height: answer.value.last_valid_block_height,
            slot: answer.context.slot,
        })
    }

    /// The present slot at the client's commitment.
    pub async fn slot(&self) -> Result<Slot> {
        let commitment = self.commitment().commitment;
        Ok(Slot(self.ask(RpcRequest::GetSlot, json!([{ "commitment": commitment }])).await?))
    }

    /// Slot and block height at a commitment.
    pub(crate) async fn heights(&self, commitment: &str) -> Result<(u64, u64)> {
        let params = json!([{ "commitment": commitment }]);
        let info: EpochInfo = self.ask(RpcRequest::GetEpochInfo, params.clone()).await?;
        // Some nodes ignore the commitment here; the height by its own method is then the lower one.
        let height: u64 = self.ask(RpcRequest::GetBlockHeight, params).await?;
        Ok((info.absolute_slot, info.block_height.min(height)))
    }

    /// Lamports that make an account of this size rent-exempt.
    pub async fn rent(&self, bytes: usize) -> Result<u64> {
        self.ask(RpcRequest::GetMinimumBalanceForRentExemption, json!([bytes])).await
    }

    /// Asks a test cluster for lamports.
    pub async fn airdrop(&self, address: Address, lamports: u64) -> Result<Signature> {
        let request = RpcRequest::RequestAirdrop;
        let answer: String = self.ask_once(request, json!([address.to_string(), lamports])).await?;
        answer.parse().map_err(|_| self.malformed(request, "the signature"))
    }
}

/// None for an address that holds only lamports.
fn present<T: Layout>(account: RawAccount) -> Result<Option<Stored<T>>> {
    if account.owner == system_program::ID && account.data.is_empty() {
        return Ok(None);
    }
    Stored::decode(&account).map(Some)
}

fn feedback_item(entry: &RawAccount, resolution: Option<RawAccount>) -> Result<FeedbackItem> {
    let entry: Stored<FeedbackEntry> = Stored::decode(entry)?;
    let bad = || ChainError::MalformedAccount {
        what: FeedbackEntry::NAME.into(),
        address: entry.address,
        size: FeedbackEntry::SIZE.saturating_add(entry.tail.len()),
    };
    let length = usize::try_from(entry.text_len).map_err(|_| bad())?;
    let text = entry.tail.get(..length).ok_or_else(bad)?;
    let text = str::from_utf8(text).map_err(|_| bad())?.to_owned();
    let resolution = match resolution {
        Some(account) => present::<FeedbackResolution>(account)?.map(|stored| stored.value),
        None => None,
    };
    Ok(FeedbackItem { entry, text, resolution })
}

fn decode_token(account: &RawAccount) -> Result<TokenAccount> {
    let is_token =
        account.owner == crate::token::TOKEN_PROGRAM || account.owner == crate::token::TOKEN_2022_PROGRAM;
    if !is_token {
        return Err(ChainError::WrongOwner {
            what: "token account".into(),
            address: account.address,
            owner: account.owner,
        });
    }
    let found = external::token_account(&account.data).ok_or_else(|| malformed("token account", account))?;
    Ok(TokenAccount {
        mint: Address::new_from_array(found.mint),
        owner: Address::new_from_array(found.owner),
        amount: found.amount,
        frozen: crate::token::is_frozen(&account.data),
    })
}

fn decode_clock(account: &RawAccount) -> Result<ChainTime> {
    let number = |at: usize| account.data.get(at..)?.first_chunk::<8>().copied();
    let read = || {
        let slot = u64::from_le_bytes(number(0)?);
        let unix = i64::from_le_bytes(number(32)?);
        Some(ChainTime { slot, unix, epoch: Epoch::from_unix_seconds(unix)?.0 })
    };
    read().ok_or_else(|| malformed("clock", account))
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
