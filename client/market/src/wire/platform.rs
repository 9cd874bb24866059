//! What a server advertises: GET /platform_info and GET /stats.

use serde::{Deserialize, Serialize};

use super::Xno;
use crate::defaults::COURT_MODELS;
use crate::money::Court;
use crate::terms::{CourtLimits, Fees, Terms, Windows};
use crate::{Address, NetworkId, PartyId, Raw, Reason, Refusal, Result};

/// A court and its fee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CourtTier {
    /// The name of the court.
    pub court: Court,
    /// 0, 1 or 2.
    pub level: u32,
    /// What it costs the loser.
    pub fee: Xno,
    /// The model that rules there.
    pub model: String,
}

/// GET /stats, and part of [`PlatformInfo`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stats {
    /// All contracts that were ever open.
    pub total: u64,
    /// Waiting for an agent.
    pub open: u64,
    /// With an agent, not ended.
    pub active: u64,
    /// Ended with a fix that works.
    pub fulfilled: u64,
    /// Ended without a fix.
    pub canceled: u64,
    /// Ended by a ruling.
    pub resolved: u64,
    /// Ended by a judge's silence.
    pub voided: u64,
}

/// GET /platform_info. Rates are decimal strings: `"0.10"` is ten percent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlatformInfo {
    /// The kind of deposit: always `inclusive_bond`.
    pub model: String,
    /// The smallest bounty.
    pub min_bounty: Xno,
    /// The largest bounty.
    #[serde(default = "max_bounty")]
    pub max_bounty: Xno,
    /// Each side's insurance.
    pub judge_fee: Xno,
    /// The least that a side deposits.
    pub min_inclusive_bond: Xno,
    /// The platform's share.
    pub platform_fee_rate: String,
    /// The least that it takes.
    pub platform_fee_min: Xno,
    /// What leaving late costs.
    pub cancel_fee_rate: String,
    /// The courts, lowest first.
    pub court_tiers: Vec<CourtTier>,
    /// The currency: always `XNO`.
    pub currency: String,
    /// What has happened here.
    #[serde(default)]
    pub stats: Stats,
    /// The ledger that the money lies on: the hash of its genesis block, all zeros where contracts are free.
    #[serde(default)]
    pub network: NetworkId,
    /// The server's key, 64 hexadecimal digits, as a `post` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The same; older clients read this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_pubkey: Option<String>,
    /// Whose rulings are chained.
    #[serde(default)]
    pub judges: Vec<PartyId>,
    /// Where fees go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub platform_address: Option<Address>,
    /// Where forfeited bounties go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub charity_address: Option<Address>,
    /// The windows in milliseconds.
    #[serde(default)]
    pub windows_ms: Windows,
    /// What a court's machine gives a re-execution.
    #[serde(default)]
    pub court: CourtLimits,
    /// Whether the server signs for older clients.
    #[serde(default)]
    pub compat: bool,
}

fn max_bounty() -> Xno {
    crate::defaults::MAX_BOUNTY.into()
}

/// Hundredths of a percent as a decimal string.
fn rate(basis_points: u32) -> String {
    // One percent is 10^28 of the 10^30 raw of an XNO: the same decimals.
    Raw(u128::from(basis_points) * (Raw::XNO.0 / 10_000)).xno()
}

fn basis_points(text: &str) -> Result<u32> {
    let wrong = || Refusal::with(Reason::FieldNotAmount, "platform_info");
    let raw = Raw::from_xno(text).map_err(|_| wrong())?;
    let unit = Raw::XNO.0 / 10_000;
    if raw.0 % unit != 0 {
        return Err(wrong());
    }
    u32::try_from(raw.0 / unit).map_err(|_| wrong())
}

impl PlatformInfo {
    /// Of a server's terms. The courts' models are the defaults; a server names its own.
    pub fn new(terms: &Terms, stats: Stats) -> PlatformInfo {
        let fees = &terms.fees;
        let tier = |(court, model): (Court, &str)| CourtTier {
            court,
            level: court.level(),
            fee: court.fee(fees).into(),
            model: model.to_owned(),
        };
        PlatformInfo {
            model: "inclusive_bond".to_owned(),
            min_bounty: fees.min_bounty.into(),
            max_bounty: fees.max_bounty.into(),
            judge_fee: fees.judge_fee.into(),
            min_inclusive_bond: fees.min_bounty.checked_add(fees.judge_fee).unwrap_or(Raw::MAX).into(),
            platform_fee_rate: rate(fees.platform_fee_bp),
            platform_fee_min: fees.platform_fee_min.into(),
            cancel_fee_rate: rate(fees.cancel_fee_bp),
            court_tiers: Court::ALL.into_iter().zip(COURT_MODELS).map(tier).collect(),
            currency: "XNO".to_owned(),
            stats,
            network: terms.network,
            server: Some(terms.server.hex()),
            server_pubkey: Some(terms.server.hex()),
            judges: terms.judges.clone(),
            platform_address: Some(terms.platform),
            charity_address: Some(terms.charity),
            windows_ms: terms.windows,
            court: terms.court,
            compat: terms.compat,
        }
    }

    /// The terms that it advertises, checked. A server that does not say its key and address is too old for
    /// it.
    pub fn terms(&self) -> Result<Terms> {
        let missing = |name| Refusal::with(Reason::FieldMissing, name);
        let server = self.server_pubkey.as_deref().ok_or_else(|| missing("platform_info.server_pubkey"))?;
        let mut courts = [Raw::ZERO; 3];
        for (court, fee) in Court::ALL.into_iter().zip(&mut courts) {
            let tier = self.court_tiers.iter().find(|tier| tier.court == court);
            *fee = tier.ok_or_else(|| missing("platform_info.court_tiers"))?.fee.0;
        }
        let terms = Terms {
            network: self.network,
            server: PartyId::from_hex(server)?,
            judges: self.judges.clone(),
            fees: Fees {
                min_bounty: self.min_bounty.0,
                max_bounty: self.max_bounty.0,
                judge_fee: self.judge_fee.0,
                platform_fee_bp: basis_points(&self.platform_fee_rate)?,
                platform_fee_min: self.platform_fee_min.0,
                cancel_fee_bp: basis_points(&self.cancel_fee_rate)?,
                courts,
            },
            windows: self.windows_ms,
            court: self.court,
            platform: self.platform_address.ok_or_else(|| missing("platform_info.platform_address"))?,
            charity: self.charity_address.ok_or_else(|| missing("platform_info.charity_address"))?,
            compat: self.compat,
        };
        terms.check()?;
        Ok(terms)
    }
}
