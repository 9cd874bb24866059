//! Setting an agent up, from a wallet to the first batch: what is missing, what that costs, and what an
//! interrupted run has already sent.

use crate::error::Result;
use crate::facts::AgentStatus;
use crate::files;
use crate::operator::{Agent, Operator};
use crate::send::Sent;
use crate::steps::{Step, every, missing};
use serde::Serialize;
use solana_address::Address;
use std::path::{Path, PathBuf};
use zx1_chain::rpc::registry::{AgentRecord, IdentityRegistry as _, Sati};
use zx1_chain::token;
use zx1_interface::Layout as _;
use zx1_interface::accounts::{
    HeadAccount, KeyAccount, LeaseAccount, ShardAccount, StakeLockAccount, TenureAccount,
};
use zx1_log::{AnyStore, BatchStore as _};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, MicroUsdc};

/// Bytes of SATI's accounts of an agent together: the mint with its metadata, a token account, the index. An
/// estimate, with room for a name and an address.
const REGISTERED_BYTES: [usize; 3] = [700, 170, 80];
/// Lamports for the fees of a transaction with two signatures and a priority fee.
const FEES: u64 = 15_000;

/// What an agent costs until its first batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Stake and lease, exactly.
    pub micro_usdc: MicroUsdc,
    /// Rent and fees, rather too much than too little.
    pub lamports: u64,
}

/// A wallet's way to an agent whose batches count.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Setup {
    pub wallet: Option<String>,
    pub lamports: u64,
    pub micro_usdc: MicroUsdc,
    pub minimum_stake_micro_usdc: MicroUsdc,
    /// `None` before it is registered.
    pub agent: Option<AgentStatus>,
    /// What is missing, in order.
    pub missing: Vec<Step>,
    /// What that costs.
    pub cost: Estimate,
}

impl Setup {
    /// Whether the wallet can pay what is missing.
    pub fn is_affordable(&self) -> bool {
        self.micro_usdc >= self.cost.micro_usdc && self.lamports >= self.cost.lamports
    }
}

impl Operator {
    /// What is missing of an agent, and what it costs. Without an agent everything.
    pub async fn setup(
        &self,
        wallet: Option<Address>,
        agent: Option<&Agent>,
        has_place: bool,
    ) -> Result<Setup> {
        let client = self.client();
        let config = client.config().await?;
        let minimum = MicroUsdc(config.min_stake);
        let usdc = Address::new_from_array(config.usdc_mint);
        let (lamports, micro_usdc) = match wallet {
            Some(wallet) => tokio::try_join!(client.lamports(wallet), client.usdc_balance(wallet, usdc))?,
            None => (0, MicroUsdc(0)),
        };
        let agent = match agent {
            Some(agent) => Some(self.agent_status(agent).await?),
            None => None,
        };
        let missing = match &agent {
            Some(agent) => missing(agent, minimum, has_place),
            None => every(minimum, has_place),
        };
        let mut cost = Estimate::default();
        for step in &missing {
            let (bytes, micro) = self.needs(step, agent.as_ref()).await?;
            cost.micro_usdc = cost.micro_usdc.saturating_add(micro);
            for size in &bytes {
                cost.lamports = cost.lamports.saturating_add(client.rent(*size).await?);
            }
            if !bytes.is_empty() {
                cost.lamports = cost.lamports.saturating_add(FEES);
            }
        }
        Ok(Setup {
            wallet: wallet.map(|wallet| wallet.to_string()),
            lamports,
            micro_usdc,
            minimum_stake_micro_usdc: minimum,
            agent,
            missing,
            cost,
        })
    }

    /// The sizes of the accounts that a step makes, and the USDC that it takes.
    async fn needs(&self, step: &Step, agent: Option<&AgentStatus>) -> Result<(Vec<usize>, MicroUsdc)> {
        let tenure = agent.is_none_or(|agent| agent.tenure.is_none());
        Ok(match step {
            Step::Register => (REGISTERED_BYTES.to_vec(), MicroUsdc(0)),
            Step::ListKeys => {
                let tenure = tenure.then_some(TenureAccount::SIZE);
                (tenure.into_iter().chain([KeyAccount::SIZE]).collect(), MicroUsdc(0))
            }
            Step::LockStake { micro_usdc } => {
                let mint = agent.and_then(|agent| agent.mint.parse::<AgentId>().ok());
                let has_vault = match mint {
                    Some(mint) => self.client().shard(mint).await?.is_some(),
                    None => false,
                };
                let vault = if has_vault { Vec::new() } else { vec![ShardAccount::SIZE, token::ACCOUNT_LEN] };
                (vault.into_iter().chain([StakeLockAccount::SIZE]).collect(), *micro_usdc)
            }
            // The treasury's account is made by the first who pays into it.
            Step::PayLease { cost_micro_usdc, .. } => {
                (vec![LeaseAccount::SIZE, token::ACCOUNT_LEN], *cost_micro_usdc)
            }
            Step::OpenBatches => (vec![HeadAccount::SIZE], MicroUsdc(0)),
            _ => (Vec::new(), MicroUsdc(0)),
        })
    }

    /// The agents that a wallet owns, with the names that the registry has.
    pub async fn owned(&self, wallet: Address) -> Result<Vec<(AgentId, String)>> {
        let found = Sati::connect(self.client()).await?.agents_of_wallet(wallet).await?;
        let named = |record: AgentRecord| (record.mint, record.metadata.name);
        Ok(found.into_iter().map(named).collect())
    }

    /// What interrupted runs sent to register an agent of this wallet, followed to its end. To be shown, then
    /// acknowledged.
    pub async fn settle_registrations(&self, wallet: Address) -> Result<Vec<Sent>> {
        self.settle(&[format!("register {wallet} ")]).await
    }

    /// What interrupted runs sent to set this agent up. To be shown, then acknowledged.
    pub async fn settle_setup(&self, agent: AgentId) -> Result<Vec<Sent>> {
        let verbs = ["open-tenure", "add-key", "lock-stake", "pay-lease", "open-head"];
        self.settle(&verbs.map(|verb| format!("{verb} {agent}"))).await
    }

    async fn settle(&self, beginnings: &[String]) -> Result<Vec<Sent>> {
        let mut settled = Vec::new();
        if self.sends_nothing() {
            return Ok(settled);
        }
        for beginning in beginnings {
            for intent in self.unfinished(beginning)? {
                settled.extend(self.earlier(&intent).await?);
            }
        }
        Ok(settled)
    }
}

/// Finds out whether a place can serve batch data: a folder that can be written, or a server that knows the
/// protocol. Nothing is made and nothing stays.
///
/// # Errors
/// 7405 for a folder that cannot be written, the log's errors for a server.
pub async fn check_place(store: &AnyStore) -> Result<()> {
    let nobody = AgentId([0; 32]);
    match store {
        AnyStore::Folder(folder) => {
            let file = folder.path(&nobody, Epoch(0));
            let there = nearest_folder(&file);
            files::probe(&there)
        }
        server @ AnyStore::Http(_) => Ok(server.get(&nobody, Epoch(0)).await.map(drop)?),
    }
}

/// The last folder on the way to a file that exists.
fn nearest_folder(file: &Path) -> PathBuf {
    let mut above = file.ancestors().skip(1);
    let there = above.find(|path| path.exists()).filter(|path| !path.as_os_str().is_empty());
    there.unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn a_folder_that_can_be_made_is_a_place_and_stays_unmade() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new/served");
        check_place(&crate::place(folder.to_str().unwrap()).unwrap()).await.unwrap();
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn below_a_file_there_is_no_place_fails() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let below = crate::place(file.join("served").to_str().unwrap()).unwrap();
        let refused = check_place(&below).await.unwrap_err();
        assert!(matches!(refused, Error::WriteFailed { .. }), "{refused:?}");
    }
}
