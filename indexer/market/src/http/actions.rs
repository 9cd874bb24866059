//! What parties and judges send.
//!
//! A party's own signed entry decides; the body beside it must not say otherwise (decision E2). Without an
//! entry only a server with `--compat` signs one, from the body (decision E13).

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use zx1_market::case::CourtStep;
use zx1_market::chain::Data;
use zx1_market::request::{Authenticated, ReplayKey};
use zx1_market::wire::{
    self, Action, BondAnswer, BondState, CourtAnswer, DepositAnswer, DisputeAnswer, DisputeStatus,
    HaltAnswer, JudgeAnswer, Method, PostAnswer, ReviewAnswer, RulingAnswer, StatusAnswer,
};
use zx1_market::{
    Case, Class, ContractId, Entry, EntryType, Json, Millis, PartyId, Reason, Refusal, State as Stand,
};
use zx1_server::body;
use zx1_server::limits::Client;

use super::App;
use super::answer::json;
use super::auth::{read_body, signed};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// A signed request with a JSON object in it.
struct Call {
    who: Authenticated,
    bytes: Bytes,
    body: Json,
    entry: Option<Entry>,
}

impl Call {
    async fn read(app: &App, parts: &Parts, body: Body) -> Result<Call> {
        // Older clients were never asked for it.
        if !app.engine.terms().compat {
            body::is_of(&parts.headers, "application/json")?;
        }
        let bytes = read_body(app, body).await?;
        let who = signed(app, parts, &bytes)?;
        let empty: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let body = Json::parse(empty).map_err(|refusal| match refusal.class() {
            Class::TooLarge => Error::from(refusal),
            _ => Error::Shape { kind: "json_invalid", message: refusal.to_string() },
        })?;
        if body.as_object().is_none() {
            let message = "The body must be a JSON object.".to_owned();
            return Err(Error::Shape { kind: "model_type", message });
        }
        let entry = match body.get("chain_entry") {
            None | Some(Json::Null) => None,
            Some(entry) => Some(Entry::from_json(entry)?),
        };
        Ok(Call { who, bytes, body, entry })
    }

    fn party(&self) -> PartyId {
        self.who.party
    }

    fn replay(&self) -> Option<ReplayKey> {
        Some(self.who.replay)
    }

    /// What the body says of itself, or 422.
    fn data(&self, action: Action) -> Result<Data> {
        let unreadable =
            |error: serde_json::Error| Error::Shape { kind: "value_error", message: error.to_string() };
        Ok(action.data(&self.bytes).map_err(unreadable)??)
    }

    /// What the party says: its entry, or with --compat the body.
    fn said(&self, action: Action) -> Result<Said> {
        match &self.entry {
            Some(entry) => {
                wire::check_entry(&self.body, entry, action.entries(), &self.party())?;
                Ok(Said::Entry(Box::new(entry.clone())))
            }
            None => {
                wire::check_sender(&self.body, &self.party())?;
                Ok(Said::Data(Box::new(self.data(action)?)))
            }
        }
    }
}

/// What a party says, signed by itself or to be signed for it.
enum Said {
    Entry(Box<Entry>),
    Data(Box<Data>),
}

impl Said {
    /// The same argument, to the next court.
    fn into_appeal(self) -> Said {
        match self {
            Said::Data(data) => Said::Data(Box::new(match *data {
                Data::DisputeFiled { argument, side } => Data::Appeal { argument, side },
                data => data,
            })),
            entry => entry,
        }
    }

    fn entry(&self, case: &Case, party: PartyId, now: Millis, key: &zx1_market::PartyKey) -> Result<Entry> {
        match self {
            Said::Entry(entry) => Ok((**entry).clone()),
            Said::Data(data) => Ok(case.sign_for(party, data, now, key)?),
        }
    }
}

/// What handles an action.
pub(super) fn handler(action: Action) -> MethodRouter<App> {
    let method = match action.method() {
        Method::Post => MethodFilter::POST,
        Method::Delete => MethodFilter::DELETE,
    };
    match action {
        Action::Post => on(method, post),
        Action::Bond => on(method, bond),
        Action::Void => on(method, void),
        Action::Ruling => on(method, ruling),
        _ => on(method, move |app, id, request| act(action, app, id, request)),
    }
}

/// A contract's id and a signed request about it.
async fn read(app: &App, id: &str, request: Request) -> Result<(ContractId, Call)> {
    let (parts, body) = request.into_parts();
    let call = Call::read(app, &parts, body).await?;
    Ok((id.parse::<ContractId>()?, call))
}

async fn post(State(app): State<App>, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let call = Call::read(&app, &parts, body).await?;
    let engine = &app.engine;
    if let Some(client) = parts.extensions.get::<Client>() {
        let worked = || {
            let work = parts.headers.get("x-fix-work").and_then(|work| work.to_str().ok());
            work.is_some_and(|work| zx1_market::work::is_enough(&engine.terms().server, &call.bytes, work))
        };
        app.rates.post(*client, engine.now(), worked)?;
    }
    let said = call.said(Action::Post)?;
    let post = match said {
        Said::Entry(entry) => *entry,
        Said::Data(_) if !engine.terms().compat => return Err(Refusal::of(Reason::EntryNeeded).into()),
        Said::Data(mut data) => {
            if let Data::Post { market, .. } = &mut *data {
                *market = Some(engine.terms().market());
            }
            Case::sign_post_for(call.party(), &data, engine.now(), engine.key())
        }
    };
    let case = engine.post(post, call.replay()).await?;
    let deposit = deposit(engine, &case).await?;
    let case = if deposit.is_some() { settled_in(engine, case, Stand::Unfunded).await? } else { case };
    let answer = PostAnswer {
        contract_id: case.id(),
        status: case.state(),
        server_pubkey: engine.terms().server.hex(),
        deposit,
    };
    json(&answer)
}

/// The deposit that a case waits for, with its address.
async fn deposit(engine: &Engine, case: &Case) -> Result<Option<DepositAnswer>> {
    let Some(wanted) = case.deposit_wanted() else { return Ok(None) };
    let party = wanted.party.to_string();
    let rows = engine.store().deposits(&case.id().to_string()).await?;
    let row = rows.iter().find(|row| row.party == party && row.round == i64::from(wanted.round));
    let network = case.terms().network;
    let address = row.and_then(|row| row.address.parse().ok());
    Ok(address.map(|address| DepositAnswer::new(&wanted, address, network)))
}

/// Older clients never pay and expect the next state in the answer: with --compat and --auto-fund it is
/// waited for.
async fn settled_in(engine: &Engine, case: Case, not: Stand) -> Result<Case> {
    if !engine.terms().compat || !engine.desk().is_some_and(crate::escrow::Desk::auto_fund) {
        return Ok(case);
    }
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let case = engine.read(case.id()).await?;
        if case.state() != not || tokio::time::Instant::now() >= deadline {
            return Ok(case);
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Chain what a party says.
async fn handle(app: &App, id: ContractId, call: &Call, said: Said) -> Result<Case> {
    let party = call.party();
    let act = |case: &mut Case, now, key: &zx1_market::PartyKey| {
        let entry = said.entry(case, party, now, key)?;
        Ok((case.handle(entry, now, key)?, ()))
    };
    Ok(app.engine.act(id, call.replay(), act).await?.0)
}

/// An action that is one entry of a party.
async fn act(
    action: Action,
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response> {
    let (id, call) = read(&app, &id, request).await?;
    let mut said = call.said(action)?;
    if action == Action::Dispute {
        match dispute_again(&app, id, &call).await? {
            Again::Answer(answer) => return json(&answer),
            Again::Appeal => said = said.into_appeal(),
            Again::No => {}
        }
    }
    let (kind, command) = match &said {
        Said::Entry(entry) => {
            (entry.kind(), entry.data().get("command").and_then(Json::as_str).map(str::to_owned))
        }
        Said::Data(data) => match &**data {
            Data::Investigate { command } => (data.kind(), Some(command.clone())),
            data => (data.kind(), None),
        },
    };
    let case = handle(&app, id, &call, said).await?;
    let now = app.engine.now();
    match action {
        Action::Investigate => json(&StatusAnswer { command, ..StatusAnswer::of("pending_result") }),
        Action::Result | Action::Accounts | Action::Feedback => json(&StatusAnswer::of("ok")),
        Action::Chat => json(&StatusAnswer::of("sent")),
        Action::Fix => json(&StatusAnswer::fix(&case)),
        Action::Verify => json(&StatusAnswer::verify(&case)),
        Action::Review => json(&match (kind, DisputeAnswer::of(&case, now)) {
            (EntryType::DisputeFiled, Some(filed)) => ReviewAnswer::from(filed),
            (EntryType::DisputeFiled, None) => DisputeStatus::of(&case, now).into(),
            _ => StatusAnswer::verify(&case).into(),
        }),
        Action::Dispute | Action::Appeal => json(&match DisputeAnswer::of(&case, now) {
            Some(filed) => CourtAnswer::from(filed),
            None => DisputeStatus::of(&case, now).into(),
        }),
        Action::Respond => json(&match ruled_in(&app, &case).await? {
            Some(ruling) => CourtAnswer::from(ruling),
            None => DisputeStatus::of(&case, now).into(),
        }),
        Action::Halt => json(&HaltAnswer {
            status: case.state(),
            ruling: None,
            resume_until: case.resume_until().map(wire::Seconds),
        }),
        _ => json(&StatusAnswer::of(case.state())),
    }
}

/// POST bond: free contracts are taken at once, others are reserved until the deposit is confirmed (decision
/// E8).
async fn bond(State(app): State<App>, Path(id): Path<String>, request: Request) -> Result<Response> {
    let (id, call) = read(&app, &id, request).await?;
    let said = call.said(Action::Bond)?;
    let party = call.party();
    let act = |case: &mut Case, now, key: &zx1_market::PartyKey| {
        let entry = said.entry(case, party, now, key)?;
        if !case.contract().is_free() {
            app.engine.need_ledger()?;
        } else {
            return Ok((case.handle(entry, now, key)?, None));
        }
        let (wanted, effects) = case.reserve(entry, now)?;
        Ok((zx1_market::case::Step { entries: Vec::new(), effects }, Some(wanted)))
    };
    let (case, wanted) = app.engine.act(id, call.replay(), act).await?;
    let Some(wanted) = wanted else {
        let bond = BondState { status: "no_escrow".to_owned(), inclusive_bond: None, judge_fee: None };
        let answer = BondAnswer { status: case.state().to_string(), bond, deposit: None };
        return json(&answer);
    };
    let deposit = deposit(&app.engine, &case).await?;
    let case = settled_in(&app.engine, case, Stand::Open).await?;
    let locked = case.state() == Stand::Investigating;
    let answer = BondAnswer {
        status: if locked { "investigating" } else { "reserved" }.to_owned(),
        bond: BondState {
            status: if locked { "agent_locked" } else { "awaiting_deposit" }.to_owned(),
            inclusive_bond: Some(wanted.amount.into()),
            judge_fee: Some(case.terms().fees.judge_fee.into()),
        },
        deposit,
    };
    json(&answer)
}

/// POST void: the clock has done it already when the judge was late; otherwise it says why not.
async fn void(State(app): State<App>, Path(id): Path<String>, request: Request) -> Result<Response> {
    let (id, call) = read(&app, &id, request).await?;
    let case = app.engine.run(id).await?;
    if case.side_of(&call.party()).is_none() && !case.terms().is_judge(&call.party()) {
        return Err(Refusal::of(Reason::NotParty).into());
    }
    if case.state() != Stand::Voided {
        case.voidable(app.engine.now())?;
    }
    json(&StatusAnswer::of("voided"))
}

/// What a dispute of an older client means on a contract that is before a court already.
enum Again {
    /// It is the first one.
    No,
    /// The judge is at work: it waits, and hears.
    Answer(CourtAnswer),
    /// It has lost, and calls the next court: older clients know no other word for it.
    Appeal,
}

async fn dispute_again(app: &App, id: ContractId, call: &Call) -> Result<Again> {
    if !app.engine.terms().compat || call.entry.is_some() {
        return Ok(Again::No);
    }
    let case = app.engine.fresh(id).await?;
    let (Some(side), Some(proceedings)) = (case.side_of(&call.party()), case.proceedings()) else {
        return Ok(Again::No);
    };
    match (proceedings.step, proceedings.last) {
        (CourtStep::Appealable { .. }, Some((outcome, _))) if outcome.is_lost_by(side) => Ok(Again::Appeal),
        // The winner has nothing to dispute: 409, as for any dispute out of its time.
        (CourtStep::Appealable { .. }, _) => Err(Refusal::of(Reason::NotYourTurn).into()),
        (CourtStep::Judging { .. }, _) => Ok(Again::Answer(match ruled_in(app, &case).await? {
            Some(ruling) => ruling.into(),
            None => DisputeStatus::of(&case, app.engine.now()).into(),
        })),
        (CourtStep::Responding { .. }, _) => Ok(Again::No),
    }
}

fn is_judging(case: &Case) -> bool {
    case.proceedings().is_some_and(|p| matches!(p.step, CourtStep::Judging { .. }))
}

/// How long an older client waits for a ruling: the judge's own time.
const RULING: std::time::Duration = std::time::Duration::from_secs(60);

/// Older clients expect the ruling in the answer: with --compat it is waited for while a judge is at work.
async fn ruled_in(app: &App, case: &Case) -> Result<Option<RulingAnswer>> {
    if !app.engine.terms().compat || !is_judging(case) {
        return Ok(None);
    }
    let deadline = tokio::time::Instant::now() + RULING;
    loop {
        let now = app.engine.read(case.id()).await?;
        if !is_judging(&now) {
            return super::reads::last_ruling(app, &now).await;
        }
        if tokio::time::Instant::now() >= deadline {
            return Ok(None);
        }
        tokio::select! {
            () = app.stopping.cancelled() => return Ok(None),
            () = tokio::time::sleep(std::time::Duration::from_millis(50)) => {}
        }
    }
}

/// POST ruling: a judge's re-execution or ruling (decision E6).
async fn ruling(State(app): State<App>, Path(id): Path<String>, request: Request) -> Result<Response> {
    let (id, call) = read(&app, &id, request).await?;
    let data = call.data(Action::Ruling)?;
    let party = call.party();
    let (case, ()) = app
        .engine
        .act(id, call.replay(), |case, now, key| {
            if !case.terms().is_judge(&party) {
                return Err(Refusal::of(Reason::NotAJudge).into());
            }
            Ok((case.chain_by_server(data, now, key)?, ()))
        })
        .await?;
    json(&match super::reads::last_ruling(&app, &case).await? {
        Some(ruling) => JudgeAnswer::from(ruling),
        None => StatusAnswer::of("ok").into(),
    })
}
