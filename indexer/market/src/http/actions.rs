//! What parties and judges send.
//!
//! A party's own signed entry decides; the body beside it must not say otherwise (decision E2). Without an
//! entry only a server with `--compat` signs one, from the body (decision E13).

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use zx1_market::case::CourtStep;
use zx1_market::chain::{Common, Data, Head};
use zx1_market::request::{Authenticated, ReplayKey};
use zx1_market::wire::{
    self, BondAnswer, BondState, DepositAnswer, DisputeAnswer, RulingAnswer, StatusAnswer,
};
use zx1_market::{
    Case, Class, ContractId, Entry, EntryType, Json, Millis, PartyId, Reason, Refusal, State as Stand,
};
use zx1_server::limits::Client;

use super::App;
use super::answer::{json, unprocessable};
use super::auth::{read_body, signed};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// A refusal, or a 422 that is an answer already.
pub(super) enum Fault {
    Error(Error),
    Answer(Box<Response>),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Error(error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        Fault::Error(refusal.into())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        match self {
            Fault::Error(error) => error.into_response(),
            Fault::Answer(response) => *response,
        }
    }
}

type Answer = std::result::Result<Response, Fault>;

/// A signed request with a JSON object in it.
struct Call {
    who: Authenticated,
    bytes: Bytes,
    body: Json,
    entry: Option<Entry>,
}

impl Call {
    async fn read(app: &App, parts: &Parts, body: Body) -> std::result::Result<Call, Fault> {
        let bytes = read_body(app, body).await?;
        let who = signed(app, parts, &bytes)?;
        let empty: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let body = Json::parse(empty).map_err(|refusal| match refusal.class() {
            Class::TooLarge => Fault::from(refusal),
            _ => Fault::Answer(Box::new(unprocessable("json_invalid", &refusal.to_string()))),
        })?;
        if body.as_object().is_none() {
            return Err(Fault::Answer(Box::new(unprocessable(
                "model_type",
                "The body must be a JSON object.",
            ))));
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

    /// The body as one of the types, or 422.
    fn typed<T: DeserializeOwned>(&self) -> std::result::Result<T, Fault> {
        serde_json::from_slice(&self.bytes)
            .map_err(|error| Fault::Answer(Box::new(unprocessable("value_error", &error.to_string()))))
    }

    /// What the party says: its entry, or with --compat the body.
    fn said(
        &self,
        kinds: &[EntryType],
        data: impl FnOnce(&Call) -> DataOr,
    ) -> std::result::Result<Said, Fault> {
        match &self.entry {
            Some(entry) => {
                wire::check_entry(&self.body, entry, kinds, &self.party())?;
                Ok(Said::Entry(Box::new(entry.clone())))
            }
            None => {
                wire::check_sender(&self.body, &self.party())?;
                Ok(Said::Data(Box::new(data(self)?)))
            }
        }
    }
}

type DataOr = std::result::Result<Data, Fault>;

/// What a party says, signed by itself or to be signed for it.
enum Said {
    Entry(Box<Entry>),
    Data(Box<Data>),
}

impl Said {
    fn entry(&self, case: &Case, party: PartyId, now: Millis, key: &zx1_market::PartyKey) -> Result<Entry> {
        match self {
            Said::Entry(entry) => Ok((**entry).clone()),
            Said::Data(data) => Ok(case.sign_for(party, data, now, key)?),
        }
    }
}

/// POST /contracts
pub(super) async fn post_contract(State(app): State<App>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let call = Call::read(&app, &parts, body).await?;
    let engine = &app.engine;
    if let Some(client) = parts.extensions.get::<Client>() {
        app.rates.post(*client)?;
    }
    let said = call.said(&[EntryType::Post], |call| {
        let body: wire::PostRequest = call.typed()?;
        let Some(contract) = body.contract else {
            return Err(Refusal::with(Reason::FieldMissing, "contract").into());
        };
        Ok(Data::Post { contract, principal: body.principal_pubkey, payout: body.payout_address })
    })?;
    let post = match said {
        Said::Entry(entry) => *entry,
        Said::Data(_) if !engine.terms().compat => return Err(Refusal::of(Reason::EntryNeeded).into()),
        Said::Data(data) => {
            let common = Common { on_behalf_of: Some(call.party()), ..Common::default() };
            Entry::sign_json(
                EntryType::Post,
                data.to_json(&common),
                Head::GENESIS,
                engine.now(),
                engine.key(),
            )
        }
    };
    let case = engine.post(post, call.replay()).await?;
    let deposit = deposit(engine, &case).await?;
    let case = if deposit.is_some() { settled_in(engine, case, Stand::Unfunded).await? } else { case };
    let answer = wire::PostAnswer {
        contract_id: case.id(),
        status: case.state(),
        server_pubkey: engine.terms().server.hex(),
        deposit,
    };
    Ok(json(&answer)?)
}

/// The deposit that a case waits for, with its address.
async fn deposit(engine: &Engine, case: &Case) -> Result<Option<DepositAnswer>> {
    let Some(wanted) = case.deposit_wanted() else { return Ok(None) };
    let party = wanted.party.to_string();
    let rows = engine.store().deposits(&case.id().to_string()).await?;
    let row = rows.iter().find(|row| row.party == party && row.round == i64::from(wanted.round));
    Ok(row.and_then(|row| row.address.parse().ok()).map(|address| DepositAnswer::new(&wanted, address)))
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

/// DELETE /contracts/{id}
pub(super) async fn cancel(State(app): State<App>, Path(id): Path<String>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let call = Call::read(&app, &parts, body).await?;
    let id: ContractId = id.parse()?;
    let said = call.said(&[EntryType::Cancel], |call| Ok(call.typed::<wire::CancelRequest>()?.data()))?;
    let case = handle(&app, id, &call, said).await?;
    Ok(json(&StatusAnswer::of(case.state()))?)
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

/// POST /contracts/{id}/{action}
pub(super) async fn action(
    State(app): State<App>,
    Path((id, action)): Path<(String, String)>,
    request: Request,
) -> Answer {
    use EntryType as T;
    let (parts, body) = request.into_parts();
    let call = Call::read(&app, &parts, body).await?;
    let id: ContractId = id.parse()?;
    macro_rules! said {
        ($body:ident, $($kind:ident),+) => {
            call.said(&[$(T::$kind),+], |call| Ok(call.typed::<wire::$body>()?.data()))?
        };
    }
    let said = match action.as_str() {
        "bond" => return bond(&app, id, &call).await,
        "void" => return void(&app, id, &call).await,
        "dispute" => {
            if let Some(answer) = dispute_again(&app, id, &call).await? {
                return Ok(answer);
            }
            said!(DisputeRequest, DisputeFiled)
        }
        "accept" => said!(AcceptRequest, Accept),
        "decline" => said!(DeclineRequest, Decline),
        "investigate" => said!(InvestigateRequest, Investigate),
        "result" => said!(ResultRequest, Result),
        "fix" => said!(FixRequest, Fix),
        "verify" => said!(VerifyRequest, Verify),
        "review" => said!(ReviewRequest, ReviewAccept, ReviewReject, DisputeFiled),
        "respond" => said!(RespondRequest, DisputeResponse),
        "appeal" => said!(AppealRequest, Appeal),
        "waive" => said!(WaiveRequest, Waive),
        "chat" => said!(ChatRequest, Chat, Ask, Answer, Message),
        "halt" => said!(HaltRequest, Halt),
        "resume" => said!(ResumeRequest, Resume),
        "back_out" => said!(BackOutRequest, BackOut),
        "cancel" => said!(CancelRequest, Cancel),
        "accounts" => said!(AccountsRequest, Accounts),
        "feedback" => call.said(&[T::Feedback], |_| Err(Refusal::of(Reason::EntryNeeded).into()))?,
        _ => return Err(Error::NoPage.into()),
    };
    let disputes = match &said {
        Said::Entry(entry) => entry.kind() == T::DisputeFiled,
        Said::Data(data) => data.kind() == T::DisputeFiled,
    };
    let command = match &said {
        Said::Entry(entry) => entry.data().get("command").and_then(Json::as_str).map(str::to_owned),
        Said::Data(data) => match &**data {
            Data::Investigate { command } => Some(command.clone()),
            _ => None,
        },
    };
    let case = handle(&app, id, &call, said).await?;
    let now = app.engine.now();
    Ok(match action.as_str() {
        "investigate" => json(&StatusAnswer { command, ..StatusAnswer::of("pending_result") }),
        "result" | "accounts" | "feedback" => json(&StatusAnswer::of("ok")),
        "chat" => json(&StatusAnswer::of("sent")),
        "fix" => json(&StatusAnswer::fix(&case)),
        _ if disputes || action == "appeal" => match DisputeAnswer::of(&case, now) {
            Some(answer) => json(&answer),
            None => json(&wire::DisputeStatus::of(&case, now)),
        },
        "verify" | "review" => json(&StatusAnswer::verify(&case)),
        "respond" => match ruled_in(&app, &case).await? {
            Some(ruling) => json(&ruling),
            None => json(&wire::DisputeStatus::of(&case, now)),
        },
        "halt" => json(&wire::HaltAnswer {
            status: case.state(),
            ruling: None,
            resume_until: case.resume_until().map(wire::Seconds),
        }),
        _ => json(&StatusAnswer::of(case.state())),
    }?)
}

/// POST bond: free contracts are taken at once, others are reserved until the deposit is confirmed (decision
/// E8).
async fn bond(app: &App, id: ContractId, call: &Call) -> Answer {
    let said = call.said(&[EntryType::Bond], |call| Ok(call.typed::<wire::BondRequest>()?.data()))?;
    let party = call.party();
    let act = |case: &mut Case, now, key: &zx1_market::PartyKey| {
        let entry = said.entry(case, party, now, key)?;
        if case.contract().is_free() {
            return Ok((case.handle(entry, now, key)?, None));
        }
        let (wanted, effects) = case.reserve(entry, now)?;
        Ok((zx1_market::case::Step { entries: Vec::new(), effects }, Some(wanted)))
    };
    let (case, wanted) = app.engine.act(id, call.replay(), act).await?;
    let Some(wanted) = wanted else {
        let bond = BondState { status: "no_escrow".to_owned(), inclusive_bond: None, judge_fee: None };
        let answer = BondAnswer { status: case.state().to_string(), bond, deposit: None };
        return Ok(json(&answer)?);
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
    Ok(json(&answer)?)
}

/// POST void: the clock has done it already when the judge was late; otherwise it says why not.
async fn void(app: &App, id: ContractId, call: &Call) -> Answer {
    let case = app.engine.run(id).await?;
    if case.side_of(&call.party()).is_none() && !case.terms().is_judge(&call.party()) {
        return Err(Refusal::of(Reason::NotParty).into());
    }
    if case.state() != Stand::Voided {
        case.voidable(app.engine.now())?;
    }
    Ok(json(&StatusAnswer::of("voided"))?)
}

/// Older clients send a dispute again to hear the ruling. It is answered from what is there, and chains
/// nothing.
async fn dispute_again(app: &App, id: ContractId, call: &Call) -> Result<Option<Response>> {
    if !app.engine.terms().compat || call.entry.is_some() {
        return Ok(None);
    }
    let case = app.engine.fresh(id).await?;
    if case.side_of(&call.party()).is_none() {
        return Ok(None);
    }
    if let Some(ruling) = ruled_in(app, &case).await? {
        return Ok(Some(json(&ruling)?));
    }
    if let Some(ruling) = super::reads::last_ruling(app, &case).await? {
        return Ok(Some(json(&ruling)?));
    }
    Ok(if is_judging(&case) { Some(json(&wire::DisputeStatus::of(&case, app.engine.now()))?) } else { None })
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
pub(super) async fn ruling(State(app): State<App>, Path(id): Path<String>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let call = Call::read(&app, &parts, body).await?;
    let id: ContractId = id.parse()?;
    let data = call.typed::<wire::JudgeRequest>()?.data()?;
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
    Ok(match super::reads::last_ruling(&app, &case).await? {
        Some(ruling) => json(&ruling),
        None => json(&StatusAnswer::of("ok")),
    }?)
}
