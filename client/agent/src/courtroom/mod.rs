//! A judge's process (decisions E5, E6): it polls what waits for a judge, runs again what can be run, signs
//! the result, lets a model rule, and signs the ruling over the head that it has read.
//!
//! It keeps nothing: what it has done stands in the chain. A judge that was killed finds its result there and
//! goes on with the ruling; the server takes each of both only once.

mod evidence;
mod file;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use zx1_coded::Coded;
use zx1_market::ContractId;
use zx1_market::chain::RulingData;
use zx1_market::contract::SignedTrial;
use zx1_market::wire::JudgeRequest;
use zx1_trial::Bench;

pub(crate) use evidence::reexecute;
pub use evidence::{chained, evidence, from_chain, result};
pub use file::case_file;

use crate::bridge::Bridge;
use crate::judge::{Consequence, Court, Flag, Judge, Outcome, consequence};
use zx1_market_client::{ClientError, Market, Task, View};
use zx1_model::Model;
use zx1_model::prompt::FenceToken;

/// How a judge works.
#[derive(Debug, Clone)]
pub struct CourtroomOptions {
    /// How often it asks for tasks.
    pub poll: Duration,
    /// How many contracts it judges at once.
    pub at_once: usize,
    /// Its limits for one ruling.
    pub judge: Judge,
    /// So much before the deadline it stops asking models: the ruling must still be chained.
    pub margin: Duration,
    /// Where the judge's 0x01 VERDICTs are logged, if it has an agent id (decision G1).
    pub bridge: Option<Arc<Bridge>>,
}

/// Timeout for making an envelope: a ruling does not wait for a cluster.
const ENVELOPES_WITHIN: Duration = Duration::from_secs(3);

impl Default for CourtroomOptions {
    fn default() -> CourtroomOptions {
        CourtroomOptions {
            poll: Duration::from_secs(1),
            at_once: zx1_market::defaults::COURT_SEATS,
            judge: Judge::default(),
            margin: Duration::from_secs(5),
            bridge: None,
        }
    }
}

/// The models of each court, the first that answers rules.
#[derive(Clone)]
pub struct CourtModels {
    /// Of the first court.
    pub district: Vec<Arc<dyn Model>>,
    /// Of the second.
    pub appeals: Vec<Arc<dyn Model>>,
    /// Of the last.
    pub supreme: Vec<Arc<dyn Model>>,
}

impl CourtModels {
    /// One model for all courts: for tests and demonstrations.
    pub fn all(model: Arc<dyn Model>) -> CourtModels {
        CourtModels { district: vec![model.clone()], appeals: vec![model.clone()], supreme: vec![model] }
    }

    fn of(&self, court: Court) -> &[Arc<dyn Model>] {
        match court {
            Court::District => &self.district,
            Court::Appeals => &self.appeals,
            Court::Supreme => &self.supreme,
        }
    }
}

/// What came of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sitting {
    /// The ruling is chained.
    Ruled(Outcome),
    /// Nothing is ruled; the clock ends it: the first court's case is void, a higher court's ruling stands.
    LeftToTheClock(Flag),
    /// Somebody else was faster, or the case has moved on.
    Gone,
}

/// A judge. Its market's key is one of the server's judges.
pub struct Courtroom {
    market: Market,
    models: CourtModels,
    bench: Arc<dyn Bench>,
    options: CourtroomOptions,
    sitting: Mutex<HashSet<ContractId>>,
}

impl Courtroom {
    /// A judge that has this key (the market's), these models, and this place to run things again in.
    pub fn new(
        market: Market,
        models: CourtModels,
        bench: Arc<dyn Bench>,
        options: CourtroomOptions,
    ) -> Arc<Courtroom> {
        Arc::new(Courtroom { market, models, bench, options, sitting: Mutex::default() })
    }

    /// Judge until `stop` ends. Failures of the network are waited out; a refusal of the key is an error.
    pub async fn run(self: &Arc<Self>, stop: impl Future<Output = ()> + Send) -> Result<(), ClientError> {
        let mut tasks = tokio::task::JoinSet::new();
        tokio::pin!(stop);
        loop {
            match self.market.judge_tasks().await {
                Ok(found) => {
                    for task in found {
                        if tasks.len() < self.options.at_once && self.enter(task.contract_id) {
                            let court = self.clone();
                            tasks.spawn(async move { court.attend(task).await });
                        }
                    }
                }
                Err(error) if error.transient() => tracing::warn!(code = error.code(), %error, "no tasks"),
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = sleep(self.options.poll) => {}
            }
            while tasks.try_join_next().is_some() {}
        }
    }

    fn enter(&self, id: ContractId) -> bool {
        self.sitting.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    async fn attend(self: Arc<Self>, task: Task) {
        let id = task.contract_id;
        match self.sit(&task).await {
            Ok(sitting) => tracing::info!(contract = %id, court = %task.court, ?sitting, "judged"),
            Err(error) => tracing::warn!(contract = %id, code = error.code(), %error, "not judged"),
        }
        self.sitting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Do one task: the re-execution if it is not chained yet, then the ruling.
    pub async fn sit(&self, task: &Task) -> Result<Sitting, ClientError> {
        let id = task.contract_id;
        let court = task.court;
        let mut view = self.market.view(id).await?;
        if !task.reexecuted {
            let (found, result) = reexecute(self.bench.clone(), &view).await;
            let trial = result.map(|(result, seq)| SignedTrial::sign(result, id, seq, self.market.key()));
            let data = chained(&found, trial).sign(id, &view.head().hash, self.market.key());
            let request = JudgeRequest { reexecution: Some(data), ruling: None };
            if let Some(gone) = self.say(id, &request).await? {
                return Ok(gone);
            }
            view = self.market.view(id).await?;
        }
        let Some(found) = file::last_reexecution(view.entries()) else { return Ok(Sitting::Gone) };
        let case = case_file(&view, from_chain(&found));
        let deadline = self.deadline(task, &view).await?;
        let end = self.think(court, &case, deadline).await;
        let mut ruling = match end {
            Consequence::Ruled(verdict) => {
                let mut ruling = RulingData::new(verdict.outcome, task.court, verdict.reasoning.clone());
                ruling.flags = verdict.flags.iter().map(|flag| flag.name().to_owned()).collect();
                if verdict.flags.contains(&Flag::ParseError) {
                    ruling.flags.push(RulingData::UNPARSABLE.to_owned());
                }
                ruling
            }
            // Nobody could read the higher court's answer: the ruling before it stands, for good.
            Consequence::PreviousStands(Flag::ParseError) => {
                let Some(previous) = &case.previous else {
                    return Ok(Sitting::LeftToTheClock(Flag::ParseError));
                };
                let words =
                    "The answer of this court's judge could not be read, so the ruling before it stands.";
                let mut ruling = RulingData::new(previous.outcome, task.court, words);
                ruling.is_final = true;
                ruling.flags = vec![RulingData::UNPARSABLE.to_owned(), Flag::ParseError.name().to_owned()];
                ruling
            }
            Consequence::PreviousStands(flag) => return Ok(Sitting::LeftToTheClock(flag)),
            Consequence::Void => return Ok(Sitting::LeftToTheClock(Flag::Timeout)),
        };
        let outcome = ruling.outcome;
        ruling.envelopes = self.envelopes(&view, &ruling).await;
        let signed = ruling.sign(id, &view.head().hash, self.market.key());
        let request = JudgeRequest { reexecution: None, ruling: Some(signed) };
        match self.say(id, &request).await? {
            Some(gone) => Ok(gone),
            None => Ok(Sitting::Ruled(outcome)),
        }
    }

    /// The VERDICTs of a ruling. Without them, for whatever reason, it is a ruling all the same.
    async fn envelopes(&self, view: &View, ruling: &RulingData) -> Vec<String> {
        let Some(bridge) = &self.options.bridge else { return Vec::new() };
        // On a task of its own: what has begun when the time is over is still finished, and logged whole.
        let (bridge, market) = (bridge.clone(), self.market.clone());
        let (of, words) = (view.clone(), ruling.clone());
        let made = tokio::spawn(async move { bridge.verdicts(&market, &of, &words).await });
        match timeout(ENVELOPES_WITHIN, made).await {
            Ok(Ok(Ok(envelopes))) => envelopes,
            Ok(Ok(Err(error))) => {
                tracing::warn!(contract = %view.id(), code = error.code(), %error, "no verdict is logged");
                Vec::new()
            }
            Ok(Err(_)) | Err(_) => {
                tracing::warn!(contract = %view.id(), "no verdict is sent: cluster or log were too slow");
                Vec::new()
            }
        }
    }

    /// Send what was signed. When no answer comes, the chain says whether it was taken.
    async fn say(&self, id: ContractId, request: &JudgeRequest) -> Result<Option<Sitting>, ClientError> {
        let mut tries = 3;
        loop {
            let error = match self.market.judge(id, request).await {
                Ok(_) => return Ok(None),
                Err(error) => error,
            };
            if let Ok(view) = self.market.view(id).await
                && file::is_said(view.entries(), request)
            {
                return Ok(None);
            }
            // It moved on: another judge, the clock, or a party.
            if let Some(400 | 403 | 404 | 409 | 410) = error.status() {
                tracing::info!(contract = %id, code = error.server_code(), %error, "not taken");
                return Ok(Some(Sitting::Gone));
            }
            tries -= 1;
            if tries == 0 || !error.transient() {
                return Err(error);
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// When the ruling must be ready: the court's window begins when the re-execution is chained.
    async fn deadline(&self, task: &Task, view: &View) -> Result<Instant, ClientError> {
        let now = self.market.now().await?;
        let chained = view.entries().iter().rev().find(|e| e.kind() == zx1_market::EntryType::Reexecution);
        let by = match chained {
            Some(entry) => entry.at().plus(view.case().terms().windows.judge),
            None => task.deadline.0,
        };
        let left = Duration::from_millis(by.minus(now).0);
        Ok(Instant::now() + left.saturating_sub(self.options.margin).max(Duration::from_millis(500)))
    }

    /// Ask the court's models, one after the other, until one rules or the time is over.
    async fn think(&self, court: Court, case: &crate::judge::Case, deadline: Instant) -> Consequence {
        let none = || match court {
            Court::District => Consequence::Void,
            _ => Consequence::PreviousStands(Flag::ModelError),
        };
        let mut last = none();
        for model in self.models.of(court) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(token) = FenceToken::random() else { return none() };
            let judge = Judge { time: left.min(self.options.judge.time), ..self.options.judge };
            let end = judge.rule(&**model, court, case, token).await;
            if let Err(error) = &end {
                tracing::warn!(code = error.code(), %error, model = model.name(), "no verdict");
            }
            if let Some(end) = consequence(court, end.clone(), false) {
                return end;
            }
            if let Some(end) = consequence(court, end, true) {
                last = end;
            }
        }
        last
    }
}
