//! The terms that a server advertises and that hold for a contract: fees, windows, addresses, judges.
//!
//! A server chains them with the contract's opening (`opened`), so that a transcript can be checked offline
//! years later, whatever the server charges by then.

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::defaults as d;
pub use crate::fees::Fees;
use crate::fees::{cancel_share, half_of, platform_fee};
use crate::fields::{Builder, Fields};
use crate::{Address, MarketId, Millis, NetworkId, PartyId, Raw, Reason, Refusal, Result};

/// How long everything takes (decision E12). The contract's own windows stand in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Windows {
    /// Time after which an open contract that nobody takes is canceled.
    pub open: Millis,
    /// Time after which a reservation lapses unless its deposit is confirmed.
    pub reservation: Millis,
    /// Time after which an unpaid contract expires.
    pub unfunded: Millis,
    /// Time after which an agent that has not accepted counts as declining.
    pub investigation: Millis,
    /// Time after the acceptance in which either side may leave for free.
    pub grace: Millis,
    /// Time after which the agent may dispute a missing `verify`.
    pub verify: Millis,
    /// Time for the other side to answer a dispute or an appeal.
    pub response: Millis,
    /// Time for the judge to rule, from the re-execution's result on.
    pub judge: Millis,
    /// Time for the judge to submit the re-execution.
    pub reexecution: Millis,
    /// Time for the loser to appeal against a ruling.
    pub appeal: Millis,
    /// Time for the agent to object to exhausted attempts or to a rejected review.
    pub objection: Millis,
    /// Time to resume after a halt.
    pub halt: Millis,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows {
            open: d::OPEN_WINDOW,
            reservation: d::RESERVATION_WINDOW,
            unfunded: d::UNFUNDED_WINDOW,
            investigation: d::INVESTIGATION_WINDOW,
            grace: d::GRACE_WINDOW,
            verify: d::VERIFY_WINDOW,
            response: d::RESPONSE_WINDOW,
            judge: d::JUDGE_WINDOW,
            reexecution: d::REEXECUTION_WINDOW,
            appeal: d::APPEAL_WINDOW,
            objection: d::OBJECTION_WINDOW,
            halt: d::HALT_WINDOW,
        }
    }
}

macro_rules! windows {
    ($($name:ident),*) => {
        impl Windows {
            fn to_json(self) -> Json {
                Json::object([$((stringify!($name), self.$name.0)),*])
            }

            fn read(mut fields: Fields<'_>) -> Result<Windows> {
                let windows = Windows { $($name: Millis(fields.number(stringify!($name))?)),* };
                fields.done()?;
                Ok(windows)
            }
        }
    };
}
windows!(
    open,
    reservation,
    unfunded,
    investigation,
    grace,
    verify,
    response,
    judge,
    reexecution,
    appeal,
    objection,
    halt
);

/// What a court's machine gives a re-execution. Chained with the opening, so that both sides know before they
/// bond what a fix can use there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CourtLimits {
    /// Seconds for all its commands together.
    pub reexecution: u32,
    /// Mebibytes of memory for all processes of a command.
    pub memory_mib: u32,
    /// Processes of a command at the same time.
    pub processes: u32,
    /// Bytes kept of standard output and of standard error, each; beginning and end are kept.
    pub output_bytes: u32,
    /// Consecutive passes that a fix needs.
    pub runs: u32,
}

impl Default for CourtLimits {
    fn default() -> CourtLimits {
        CourtLimits {
            reexecution: d::COURT_TIME,
            memory_mib: d::COURT_MEMORY_MIB,
            processes: d::COURT_PROCESSES,
            output_bytes: d::COURT_OUTPUT,
            runs: d::COURT_RUNS,
        }
    }
}

impl CourtLimits {
    pub(crate) fn to_json(self) -> Json {
        Builder::new()
            .put("reexecution", self.reexecution)
            .put("memory_mib", self.memory_mib)
            .put("processes", self.processes)
            .put("output_bytes", self.output_bytes)
            .put("runs", self.runs)
            .build()
    }

    pub(crate) fn read(mut fields: Fields<'_>) -> Result<CourtLimits> {
        let limits = CourtLimits {
            reexecution: fields.small("reexecution")?,
            memory_mib: fields.small("memory_mib")?,
            processes: fields.small("processes")?,
            output_bytes: fields.small("output_bytes")?,
            runs: fields.small("runs")?,
        };
        fields.done()?;
        Ok(limits)
    }

    /// Refuse what no machine can give, and what would let a server's terms use up a judge's machine.
    fn check(&self) -> Result<()> {
        let bounds = [
            ("reexecution", self.reexecution, 1..=3_600),
            ("memory_mib", self.memory_mib, 64..=65_536),
            ("processes", self.processes, 8..=4_096),
            ("output_bytes", self.output_bytes, 1_024..=1 << 20),
            ("runs", self.runs, 1..=10),
        ];
        match bounds.into_iter().find(|(_, value, bound)| !bound.contains(value)) {
            Some((name, value, bound)) => {
                let (least, most) = bound.into_inner();
                Err(Refusal::with(Reason::TermsCourt, format!("{name} {value} is not in {least} to {most}")))
            }
            None => Ok(()),
        }
    }
}

/// Everything that holds for a contract and that its parties did not choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The ledger that the money lies on.
    pub network: NetworkId,
    /// The server: author of server entries, and `judge.pubkey` of every contract with a judge (decision E2).
    pub server: PartyId,
    /// The keys whose rulings the server chains (decision E6). The server's own always counts.
    pub judges: Vec<PartyId>,
    /// Bounds of the bounty, and the fees of the platform and the courts.
    pub fees: Fees,
    /// Deadlines of everything the parties and the courts do.
    pub windows: Windows,
    /// What a court's machine gives a re-execution.
    pub court: CourtLimits,
    /// Nano address that receives the platform's fees.
    pub platform: Address,
    /// Nano address that receives forfeited bounties.
    pub charity: Address,
    /// Whether the server signs for older clients (decision E13).
    pub compat: bool,
}

impl Terms {
    /// The defaults, for this server without a ledger. 9024 only if the built-in charity address did not parse.
    pub fn new(server: PartyId, platform: Address) -> Result<Terms> {
        let charity = d::CHARITY.parse().map_err(|_| Refusal::with(Reason::FieldNotAddress, "charity"))?;
        Ok(Terms {
            network: NetworkId::NONE,
            server,
            judges: Vec::new(),
            fees: Fees::default(),
            windows: Windows::default(),
            court: CourtLimits::default(),
            platform,
            charity,
            compat: false,
        })
    }

    /// The market that a `post` names.
    pub fn market(&self) -> MarketId {
        MarketId { network: self.network, server: self.server }
    }

    /// Whether rulings of this key are chained.
    pub fn is_judge(&self, party: &PartyId) -> bool {
        *party == self.server || self.judges.contains(party)
    }

    /// Refuse fees that could not be paid (courts dearer than the insurance, shares above the bounty) and limits
    /// that no court can keep. A server checks its configuration with it on start, and a replay the terms of a transcript.
    pub fn check(&self) -> Result<()> {
        let fees = &self.fees;
        let share = u64::from(fees.platform_fee_bp) + u64::from(fees.cancel_fee_bp);
        let least = platform_fee(fees, fees.min_bounty);
        // What leaving late takes at most, with a raw for each rounding.
        let half = cancel_share(fees, fees.min_bounty).0;
        let twice = Raw(half.saturating_mul(2).saturating_add(2));
        let good = fees.courts.iter().all(|fee| *fee <= fees.judge_fee)
            && share <= 10_000
            && fees.min_bounty <= fees.max_bounty
            && fees.max_bounty <= Raw(d::MAX_BOUNTY.0 * 1_000)
            && fees.judge_fee <= d::MAX_BOUNTY
            && least.is_ok_and(|least| {
                least <= fees.min_bounty.saturating_sub(twice)
                    // The row late_cancel_after_fix: half to the agent, the fee to the platform.
                    && least <= half_of(fees.min_bounty)
            })
            && fees.platform_fee_bp <= 5_000
            && self.judges.len() <= 64;
        if !good {
            return Err(Reason::TermsFees.into());
        }
        self.court.check()
    }

    /// The JSON form in which `opened` carries the terms.
    pub fn to_json(&self) -> Json {
        let fees = &self.fees;
        let courts: Vec<Json> = fees.courts.iter().map(|fee| fee.xno().into()).collect();
        let judges: Vec<Json> = self.judges.iter().map(|judge| judge.to_string().into()).collect();
        Builder::new()
            .text("network", self.network)
            .text("server", self.server)
            .put("judges", judges)
            .text("min_bounty", fees.min_bounty.xno())
            .text("max_bounty", fees.max_bounty.xno())
            .text("judge_fee", fees.judge_fee.xno())
            .put("platform_fee_bp", fees.platform_fee_bp)
            .text("platform_fee_min", fees.platform_fee_min.xno())
            .put("cancel_fee_bp", fees.cancel_fee_bp)
            .put("court_fees", courts)
            .put("windows_ms", self.windows.to_json())
            .put("court", self.court.to_json())
            .text("platform", self.platform)
            .text("charity", self.charity)
            .put("compat", self.compat)
            .build()
    }

    /// Read what [`Terms::to_json`] wrote, strictly, and [`Terms::check`] it.
    pub fn from_json(value: &Json) -> Result<Terms> {
        let mut fields = Fields::of(value, "terms")?;
        let judges = fields.texts("judges", 64, 128)?;
        let courts = fields.texts("court_fees", 3, 80)?;
        let court = |i: usize| {
            let text = courts.get(i).map_or("", String::as_str);
            Raw::from_xno(text).map_err(|_| Refusal::with(Reason::FieldNotAmount, "terms.court_fees"))
        };
        let terms = Terms {
            network: fields.network("network")?,
            server: fields.party("server")?,
            judges: judges.iter().map(|j| j.parse()).collect::<Result<_>>()?,
            fees: Fees {
                min_bounty: fields.amount("min_bounty")?,
                max_bounty: fields.amount("max_bounty")?,
                judge_fee: fields.amount("judge_fee")?,
                platform_fee_bp: fields.small("platform_fee_bp")?,
                platform_fee_min: fields.amount("platform_fee_min")?,
                cancel_fee_bp: fields.small("cancel_fee_bp")?,
                courts: [court(0)?, court(1)?, court(2)?],
            },
            windows: Windows::read(fields.object("windows_ms")?)?,
            court: CourtLimits::read(fields.object("court")?)?,
            platform: fields.address("platform")?,
            charity: fields.address("charity")?,
            compat: fields.flag("compat")?,
        };
        fields.done()?;
        terms.check()?;
        Ok(terms)
    }
}
