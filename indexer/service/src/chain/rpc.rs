//! The ledger behind a Solana RPC. Reading and decoding are `zx1_chain`'s.

use super::{Asked, Finality, Kind, Ledger, Listed};
use crate::error::{Error, Result};
use crate::parse;
use serde::Deserialize;
use serde_json::{Value, json};
use solana_address::Address;
use solana_commitment_config::CommitmentConfig;
use solana_rpc_client_api::request::RpcRequest;
use solana_signature::Signature;
use std::time::Duration;
use tokio::sync::OnceCell;
use zx1_chain::rpc::registry::{AgentRecord, Delegate, IdentityRegistry, Sati, indexed_mint};
use zx1_chain::rpc::{ChainError, ChainTime, Client, ClientOptions, Cluster, READS_VERSION, RawAccount};
use zx1_chain::sati;
use zx1_interface::Layout;
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, HeadAccount, KeyAccount, LeaseAccount, StakeLockAccount,
    TenureAccount,
};
use zx1_protocol::ids::AgentId;

/// A cluster's RPC, asked at both finalities.
#[derive(Debug, Clone)]
pub struct RpcLedger {
    confirmed: Client,
    finalized: Client,
    /// The registry as the configuration account names it; written once, so read once.
    sati: std::sync::Arc<OnceCell<(Sati, [u8; 32])>>,
}

/// JSON-RPC's number for a node that has not reached `minContextSlot`.
const MIN_CONTEXT_SLOT: i64 = -32_016;

#[derive(Deserialize)]
struct Line {
    signature: String,
    slot: u64,
    err: Option<Value>,
}

#[derive(Deserialize)]
struct Block {
    signatures: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Keyed {
    pubkey: String,
    account: Account,
}

#[derive(Deserialize)]
struct Account {
    lamports: u64,
    owner: String,
    data: (String, String),
    executable: bool,
}

fn signature(text: &str) -> Result<[u8; 64]> {
    let parsed: Result<Signature, _> = text.parse();
    let bad =
        |_| Error::Malformed { what: "a list of transactions", detail: "a signature is none".to_owned() };
    parsed.map(Into::into).map_err(bad)
}

impl RpcLedger {
    /// The cluster at this URL or of this moniker. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// When the text is neither.
    pub fn new(url: &str, timeout: Duration, attempts: usize) -> Result<Self> {
        let cluster = Cluster::parse(url)?;
        let client = |commitment| {
            let options = ClientOptions { commitment, timeout, attempts, ..ClientOptions::default() };
            Client::new(cluster.clone(), options)
        };
        Ok(Self {
            confirmed: client(CommitmentConfig::confirmed()),
            finalized: client(CommitmentConfig::finalized()),
            sati: std::sync::Arc::default(),
        })
    }

    /// URL of the cluster's RPC.
    pub fn url(&self) -> &str {
        self.confirmed.cluster().url()
    }

    fn client(&self, finality: Finality) -> &Client {
        match finality {
            Finality::Confirmed => &self.confirmed,
            Finality::Finalized => &self.finalized,
        }
    }

    async fn registry(&self) -> Result<&(Sati, [u8; 32])> {
        let connect = || async {
            let config = self.confirmed.config().await?;
            let group = config.registry_group;
            Ok::<_, ChainError>((Sati::connect(&self.confirmed).await?, group))
        };
        Ok(self.sati.get_or_try_init(connect).await?)
    }

    async fn scan_of<T: Layout>(&self) -> Result<Vec<RawAccount>> {
        use zx1_chain::rpc::ChainError::Malformed;
        let program = Address::new_from_array(T::PROGRAM);
        let request = RpcRequest::GetProgramAccounts;
        let params = json!([program.to_string(), {
            "encoding": "base64",
            "commitment": self.confirmed.commitment().commitment,
            "filters": [{ "memcmp": {
                "offset": 0, "bytes": bs58::encode(T::DISCRIMINATOR).into_string(), "encoding": "base58",
            } }],
        }]);
        let found: Vec<Keyed> = self.confirmed.ask(request, params).await?;
        let bad = |detail: &str| Malformed {
            url: self.url().to_owned(),
            method: request.as_str().to_owned(),
            detail: detail.to_owned(),
        };
        let read = |keyed: Keyed| {
            use base64::Engine as _;
            let data = base64::engine::general_purpose::STANDARD.decode(&keyed.account.data.0);
            Ok(RawAccount {
                address: keyed.pubkey.parse().map_err(|_| bad("an address"))?,
                lamports: keyed.account.lamports,
                owner: keyed.account.owner.parse().map_err(|_| bad("an owner"))?,
                data: data.map_err(|_| bad("an account's data"))?,
                executable: keyed.account.executable,
            })
        };
        found.into_iter().map(read).collect()
    }
}

impl Ledger for RpcLedger {
    fn genesis(&self) -> Asked<'_, String> {
        Box::pin(async move { Ok(self.confirmed.identity().await?.genesis) })
    }

    fn slot(&self, finality: Finality) -> Asked<'_, u64> {
        Box::pin(async move {
            let client = self.client(finality);
            let params = json!([{ "commitment": client.commitment().commitment }]);
            Ok(client.ask(RpcRequest::GetSlot, params).await?)
        })
    }

    fn time(&self) -> Asked<'_, ChainTime> {
        Box::pin(async move { Ok(self.confirmed.time().await?) })
    }

    fn list(
        &self,
        address: Address,
        before: Option<[u8; 64]>,
        limit: usize,
        finality: Finality,
        reached: u64,
    ) -> Asked<'_, Vec<Listed>> {
        Box::pin(async move {
            let client = self.client(finality);
            let mut config = json!({
                "limit": limit,
                "before": before.map(|before| Signature::from(before).to_string()),
                "commitment": client.commitment().commitment,
            });
            // On this machine there is one node, and Surfpool (1.6) leaves out what is older than this slot.
            if !client.cluster().is_local() {
                config["minContextSlot"] = reached.into();
            }
            let params = json!([address.to_string(), config]);
            let asked = client.ask(RpcRequest::GetSignaturesForAddress, params).await;
            let lines: Vec<Line> = asked.map_err(|error| match error {
                ChainError::NodeRefused { number: MIN_CONTEXT_SLOT, .. } => Error::Behind(reached),
                error => error.into(),
            })?;
            let read = |line: Line| {
                let signature = signature(&line.signature)?;
                Ok(Listed { slot: line.slot, signature, failed: line.err.is_some() })
            };
            lines.into_iter().map(read).collect()
        })
    }

    fn transaction(&self, signature: [u8; 64], finality: Finality) -> Asked<'_, Option<parse::Parsed>> {
        Box::pin(async move {
            let (_, group) = self.registry().await?;
            let found = self.client(finality).find_transaction(&signature.into()).await?;
            Ok(found.map(|landed| parse::transaction(&landed, group)))
        })
    }

    fn order(&self, slot: u64) -> Asked<'_, Option<Vec<[u8; 64]>>> {
        Box::pin(async move {
            let params = json!([slot, {
                "encoding": "base64",
                "transactionDetails": "signatures",
                "rewards": false,
                "maxSupportedTransactionVersion": READS_VERSION,
                "commitment": self.confirmed.commitment().commitment,
            }]);
            match self.confirmed.ask::<Option<Block>>(RpcRequest::GetBlock, params).await {
                Ok(block) => {
                    let signatures = block.and_then(|block| block.signatures);
                    let read = |all: Vec<String>| all.iter().map(|text| signature(text)).collect();
                    signatures.map(read).transpose()
                }
                // A node that serves no blocks; then the order of the lists must do.
                Err(ChainError::NodeRefused { .. } | ChainError::WrongNode { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn accounts<'a>(&'a self, addresses: &'a [Address]) -> Asked<'a, Vec<Option<RawAccount>>> {
        Box::pin(async move { Ok(self.confirmed.accounts(addresses).await?) })
    }

    fn scan(&self, kind: Kind) -> Asked<'_, Vec<RawAccount>> {
        Box::pin(async move {
            match kind {
                Kind::Tenure => self.scan_of::<TenureAccount>().await,
                Kind::Key => self.scan_of::<KeyAccount>().await,
                Kind::Stake => self.scan_of::<StakeLockAccount>().await,
                Kind::Lease => self.scan_of::<LeaseAccount>().await,
                Kind::Head => self.scan_of::<HeadAccount>().await,
                Kind::Batch => self.scan_of::<BatchAccount>().await,
                Kind::Challenge => self.scan_of::<ChallengeAccount>().await,
                Kind::Ask => self.scan_of::<AskAccount>().await,
            }
        })
    }

    fn members(&self, from: u64) -> Asked<'_, Vec<(u64, AgentId, Address)>> {
        Box::pin(async move {
            let (sati, _) = self.registry().await?;
            let total = sati.registry().await?.total_agents;
            let numbers: Vec<u64> = (from.saturating_add(1)..=total).collect();
            let mut found = Vec::with_capacity(numbers.len());
            for page in numbers.chunks(1_000) {
                let addresses: Vec<Address> =
                    page.iter().map(|number| sati::agent_index_address(*number).0).collect();
                let accounts = self.confirmed.accounts(&addresses).await?;
                for ((number, address), account) in page.iter().zip(&addresses).zip(accounts) {
                    if let Some(mint) = account.as_ref().and_then(indexed_mint) {
                        found.push((*number, mint, *address));
                    }
                }
            }
            Ok(found)
        })
    }

    fn agent(&self, mint: AgentId) -> Asked<'_, Option<AgentRecord>> {
        Box::pin(async move { Ok(self.registry().await?.0.look_up(mint).await?) })
    }

    fn delegates(&self, mint: AgentId) -> Asked<'_, Vec<Delegate>> {
        Box::pin(async move { Ok(self.registry().await?.0.delegates(mint).await?) })
    }
}
