//! Figures for Prometheus, served at /metrics.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::http::HeaderMap;
use axum::response::Response;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use zx1_market::chain::AbsenceCause;
use zx1_market::{Case, State};
use zx1_server::figures::{self, Figures, Format, Labels};

use crate::announce::Outcome;

/// The counters that `/metrics` serves. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    contracts: Family<Labels, Gauge>,
    transitions: Family<Labels, Counter>,
    entries: Counter,
    /// Requests, streams, connections.
    pub(crate) http: Figures,
    /// Payouts that the escrow has received.
    pub(crate) settlements: Counter,
    /// Settlements that the escrow did not accept at once.
    pub(crate) escrow_errors: Counter,
    /// Settlements that wait for an operator.
    pub(crate) dead_letters: Gauge,
    /// Decisions that the escrow has not received yet.
    pub(crate) outbox: Gauge,
    /// When the oldest of them was made, in Unix seconds; 0 without any.
    pub(crate) oldest_decision: Gauge,
    /// Whether the ledger answers and keeps up.
    pub(crate) ledger_live: Gauge,
    /// Confirmed blocks that the node's peers have and it lacks.
    pub(crate) ledger_lacks: Gauge,
    /// Bytes of long answers that were read and not sent.
    pub(crate) unsent_bytes: Gauge,
    absences: Family<Labels, Counter>,
    /// What is announced on the mesh.
    pub(crate) mesh: Mesh,
    /// What the escrow holds and owes.
    pub(crate) money: Money,
}

/// Amounts in XNO, as the journal has them.
type Amount = Gauge<f64, AtomicU64>;

/// The escrow's figures. Each alarm reaches `escrow_open_alarms`.
#[derive(Debug, Clone)]
pub(crate) struct Money {
    held: Amount,
    owed: Amount,
    nobodys: Amount,
    oldest: Gauge,
    stopped: Gauge,
    alarms: Gauge,
    refunds: Gauge,
    live: Gauge,
    pub(crate) stopped_contracts: Gauge,
    pub(crate) orphans: Gauge,
}

impl Money {
    fn new(registry: &mut Registry) -> Money {
        let mut amount = |name: &str, help: &str| {
            let gauge = Amount::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let held = amount("held_xno", "What the escrow's accounts hold");
        let owed = amount("owed_xno", "What of it contracts, payees and sources are owed");
        let nobodys = amount("nobodys_xno", "What closed accounts hold and nobody is owed: fix-server sweep");
        let mut count = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        Money {
            held,
            owed,
            nobodys,
            oldest: count(
                "escrow_oldest_plan_timestamp_seconds",
                "When the oldest payment was decided that is not confirmed, Unix seconds; 0 without any",
            ),
            stopped: count(
                "escrow_stopped_accounts",
                "Accounts that an error has stopped: fix-server resume",
            ),
            alarms: count("escrow_open_alarms", "Alarms of the escrow that no operator has cleared"),
            refunds: count("escrow_refunds_last_hour", "Refunds that were decided within the last hour"),
            live: count(
                "nano_websocket_live",
                "1 while the node's websocket is connected; else the node is polled",
            ),
            stopped_contracts: count(
                "stopped_contracts",
                "Contracts that contradict the escrow's journal: fix-server release",
            ),
            orphans: count(
                "orphaned_accounts",
                "Accounts with money for contracts that the database has lost: fix-server dead-letters",
            ),
        }
    }

    pub(crate) fn set(&self, figures: &nano_escrow::escrow::Figures, live: bool) {
        let xno = |raw: nano_escrow::Raw| raw.get() as f64 / nano_escrow::Raw::XNO.get() as f64;
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.held.set(xno(figures.held));
        self.owed.set(xno(figures.owed));
        self.nobodys.set(xno(figures.nobodys));
        self.oldest.set(figures.oldest_decision.unwrap_or(0) / 1_000);
        self.stopped.set(count(figures.stopped));
        self.alarms.set(count(figures.alarms));
        self.refunds.set(count(figures.refunds));
        self.live.set(i64::from(live));
    }
}

/// Figures of the announcements.
#[derive(Debug, Clone)]
pub(crate) struct Mesh {
    announcements: Family<Labels, Counter>,
    waiting: Gauge,
    live: Gauge,
}

impl Mesh {
    fn new(registry: &mut Registry) -> Mesh {
        let announcements = Family::<Labels, Counter>::default();
        registry.register(
            "announcements",
            "Contracts that were announced on the mesh, by outcome",
            announcements.clone(),
        );
        for outcome in Outcome::ALL {
            drop(announcements.get_or_create(&vec![("outcome", outcome.as_str().to_owned())]));
        }
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let waiting = gauge("announcements_waiting", "Contracts whose announcement waits");
        let live = gauge("mesh_node_live", "1 while the mesh node answers, or where there is none");
        live.set(1);
        Mesh { announcements, waiting, live }
    }

    pub(crate) fn add(&self, outcome: Outcome, count: u64) {
        self.announcements.get_or_create(&vec![("outcome", outcome.as_str().to_owned())]).inc_by(count);
    }

    pub(crate) fn waiting(&self, count: usize) {
        self.waiting.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn live(&self, is_live: bool) {
        self.live.set(i64::from(is_live));
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut root = Registry::default();
        let registry = figures::of_server(&mut root, "fix_market", env!("CARGO_PKG_VERSION"));
        let contracts = Family::<Labels, Gauge>::default();
        registry.register("contracts", "Contracts by the state that they are in", contracts.clone());
        let transitions = Family::<Labels, Counter>::default();
        registry.register("contract_transitions", "Contracts that came into a state", transitions.clone());
        let entries = Counter::default();
        registry.register("entries", "Entries chained", entries.clone());
        let http = Figures::new(registry);
        let settlements = Counter::default();
        registry.register("settlements", "Payouts handed to the escrow", settlements.clone());
        let escrow_errors = Counter::default();
        registry.register(
            "escrow_errors",
            "Decisions that the escrow refused, for now or for good",
            escrow_errors.clone(),
        );
        let dead_letters = Gauge::default();
        registry.register(
            "dead_letters",
            "Decisions that the escrow refuses for good: fix-server dead-letters",
            dead_letters.clone(),
        );
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let outbox = gauge("outbox", "Decisions that the escrow has not received yet");
        let oldest_decision = gauge(
            "oldest_decision_timestamp_seconds",
            "When the oldest of them was made, in Unix seconds; 0 without any",
        );
        let ledger_live =
            gauge("ledger_live", "1 while the ledger answers and keeps up, or where there is none");
        ledger_live.set(1);
        let ledger_lacks =
            gauge("ledger_lacks_blocks", "Confirmed blocks that the node's peers have and it lacks");
        let unsent_bytes =
            gauge("unsent_bytes", "Bytes of long answers that were read and that nobody has taken");
        let absences = Family::<Labels, Counter>::default();
        registry.register("absences", "Absences that moved windows, by cause", absences.clone());
        // From 0 on, so that the first one is a rise.
        for state in State::ALL {
            drop(transitions.get_or_create(&vec![("state", state.to_string())]));
        }
        for cause in AbsenceCause::ALL {
            drop(absences.get_or_create(&vec![("cause", cause.as_str().to_owned())]));
        }
        let mesh = Mesh::new(registry);
        let money = Money::new(registry);
        let registry = Arc::new(root);
        Metrics {
            registry,
            contracts,
            transitions,
            entries,
            http,
            settlements,
            escrow_errors,
            dead_letters,
            outbox,
            oldest_decision,
            money,
            ledger_live,
            ledger_lacks,
            unsent_bytes,
            absences,
            mesh,
        }
    }
}

impl Metrics {
    pub(crate) fn committed(&self, entries: usize, after: &Case, before: Option<&Case>) {
        self.entries.inc_by(entries as u64);
        if before.is_none_or(|before| before.state() != after.state()) {
            self.transitions.get_or_create(&vec![("state", after.state().to_string())]).inc();
        }
    }

    pub(crate) fn absence(&self, cause: AbsenceCause) {
        self.absences.get_or_create(&vec![("cause", cause.as_str().to_owned())]).inc();
    }

    /// In the text format of Prometheus.
    pub fn text(&self) -> String {
        figures::text(&self.registry, Format::Prometheus)
    }

    /// In the format that a request's headers ask for.
    pub(crate) fn served(&self, contracts: &BTreeMap<State, u64>, request: &HeaderMap) -> Response {
        for state in State::ALL {
            let count = contracts.get(state).copied().unwrap_or_default();
            let gauge = self.contracts.get_or_create(&vec![("state", state.to_string())]);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        figures::served(&self.registry, request)
    }
}
