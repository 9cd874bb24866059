//! Checking a transcript offline: the same rules, run over what was kept.

use serde::{Deserialize, Serialize};

use super::{Case, Settle};
use crate::canonical::Json;
use crate::chain::{Data, Entry, EntryType};
use crate::contract::Contract;
use crate::defaults::{MAX_AGE, MAX_AHEAD, MAX_ENTRIES};
use crate::fields::Builder;
use crate::machine::State;
use crate::{ContractId, Millis, PartyId, Reason, Refusal, Result, Terms};

/// A contract's entries with what is known about them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// The contract that it is said to be.
    pub contract_id: Option<ContractId>,
    /// The server that it is said to be of.
    pub server: Option<PartyId>,
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// When the server took each entry. Empty when nobody wrote it down: then windows are checked less
    /// closely, because an entry's own time may differ from the server's by a minute.
    pub received_at: Vec<Millis>,
}

impl Transcript {
    /// Read a saved transcript, or the answer of `GET /contracts/{id}`: `transcript` (or `entries`), and if
    /// they are there `received_at`, `server_pubkey`, `contract_id` (or `id`).
    pub fn parse(text: &[u8]) -> Result<Transcript> {
        let json = Json::parse(text)?;
        let missing = |name| Refusal::with(Reason::FieldMissing, name);
        let entries = json.get("transcript").or_else(|| json.get("entries")).and_then(Json::as_array);
        let entries = entries.ok_or_else(|| missing("transcript"))?;
        let bound = usize::try_from(MAX_ENTRIES).unwrap_or(usize::MAX).saturating_mul(2);
        if entries.len() > bound {
            return Err(Refusal::with(Reason::FieldTooMany, "transcript"));
        }
        let entries = entries.iter().map(Entry::from_json).collect::<Result<Vec<_>>>()?;
        let received_at = match json.get("received_at").and_then(Json::as_array) {
            None => Vec::new(),
            Some(times) => {
                let times: Option<Vec<_>> = times.iter().map(|t| t.as_u64().map(Millis)).collect();
                let times = times.ok_or_else(|| Refusal::with(Reason::FieldNotNumber, "received_at"))?;
                if times.len() != entries.len() {
                    return Err(Refusal::with(Reason::FieldTooMany, "received_at"));
                }
                times
            }
        };
        let text = |name: &str| json.get(name).and_then(Json::as_str);
        let server =
            text("server_pubkey").map(|key| PartyId::from_hex(key.strip_prefix("fix_").unwrap_or(key)));
        let contract_id = text("contract_id").or_else(|| text("id")).map(str::parse).transpose()?;
        Ok(Transcript { contract_id, server: server.transpose()?, entries, received_at })
    }

    /// The JSON form in which clients save a transcript.
    pub fn to_json(&self) -> Json {
        let times: Vec<Json> = self.received_at.iter().map(|t| t.0.into()).collect();
        Builder::new()
            .opt_text("contract_id", self.contract_id)
            .opt("server_pubkey", self.server.map(|server| server.hex()))
            .put("transcript", self.entries.iter().map(Entry::to_json).collect::<Vec<_>>())
            .opt("received_at", (!times.is_empty()).then_some(times))
            .build()
    }
}

/// The role in which an entry was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The principal, with the key that posted the contract.
    Principal,
    /// The agent that held the contract then.
    Agent,
    /// The server, for itself.
    Server,
    /// The server, for the principal (`--compat`).
    ServerForPrincipal,
    /// The server, for the agent (`--compat`).
    ServerForAgent,
}

/// The author of one entry, and the role in which it signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signer {
    /// Sequence number of the entry in the transcript.
    pub seq: u64,
    /// The entry's type as on the wire, such as `bond`.
    pub entry: String,
    /// The key that signed the entry.
    pub author: PartyId,
    /// The role that the rules gave this key at this entry.
    pub role: Role,
    /// The judge that signed inside it, for rulings and re-executions.
    pub judge: Option<PartyId>,
}

/// Result of checking a transcript.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Whether every entry holds: signature, link, author, shape, and the rules at its moment.
    pub valid: bool,
    /// The error as a sentence; absent when the transcript is valid.
    pub error: Option<String>,
    /// The number of the error, 9000 to 9149.
    pub code: Option<u32>,
    /// Number of entries that hold.
    pub entries: usize,
    /// Number of entries in the transcript.
    pub total: usize,
    /// The contract's id, computed from the `post` entry rather than taken from the file.
    pub contract_id: Option<ContractId>,
    /// The server that opened it.
    pub server: Option<PartyId>,
    /// The party that posted the contract.
    pub principal: Option<PartyId>,
    /// The agent that last held the contract, if any did.
    pub agent: Option<PartyId>,
    /// The state after the last entry that holds.
    pub state: Option<State>,
    /// The states it passed, each with the entry that led there.
    pub states: Vec<(u64, State)>,
    /// The settlements that the rules ordered, in order.
    pub settlements: Vec<Settle>,
    /// The author of each entry that holds.
    pub signers: Vec<Signer>,
    /// The chain hash of the last entry that holds.
    pub chain_head: String,
    /// Whether the moments of arrival were known, so that every window was checked to the millisecond.
    pub exact_times: bool,
}

/// The terms that hold for a contract: they stand in its `opened` entry. A transcript that ends before it is
/// checked against the defaults, and against what its contract says of them: the server has signed nothing
/// yet, and every market may have fees and a grace period of its own.
fn terms_of(transcript: &Transcript) -> Result<Terms> {
    let opened = transcript.entries.iter().find(|entry| entry.kind() == EntryType::Opened);
    let said = transcript.server;
    let wrong = |server: PartyId| Err(Refusal::with(Reason::TranscriptServer, server));
    match opened {
        Some(entry) => {
            let (Data::Opened { terms, .. }, _) = entry.read()? else { return Err(Reason::PostFirst.into()) };
            if terms.server != entry.author() || said.is_some_and(|server| server != terms.server) {
                return wrong(terms.server);
            }
            Ok(*terms)
        }
        None => {
            let judge = transcript.entries.first().and_then(|post| {
                post.data().get("contract")?.get("judge")?.get("pubkey")?.as_str()?.parse().ok()
            });
            let post = transcript.entries.first().ok_or_else(|| Refusal::of(Reason::PostFirst))?;
            let server = said.or(judge).unwrap_or(post.author());
            if judge.is_some_and(|judge| judge != server) {
                return wrong(server);
            }
            let charity = crate::defaults::CHARITY.parse();
            let charity = charity.map_err(|_| Refusal::with(Reason::FieldNotAddress, "charity"))?;
            let mut terms = Terms::new(server, charity)?;
            if let Ok((Data::Post { market: Some(market), .. }, _)) = post.read() {
                terms.network = market.network;
            }
            if let Some(Ok(contract)) = post.data().get("contract").map(Contract::read) {
                as_written(&mut terms, &contract);
            }
            Ok(terms)
        }
    }
}

/// The terms for which a contract was written, as far as it tells them.
fn as_written(terms: &mut Terms, contract: &Contract) {
    if let Some(seconds) = contract.grace_period {
        terms.windows.grace = Millis(seconds.saturating_mul(1_000));
    }
    let Some(judge) = &contract.judge else { return };
    terms.fees.judge_fee = judge.fee;
    terms.fees.min_bounty = terms.fees.min_bounty.min(contract.bounty);
    terms.fees.max_bounty = terms.fees.max_bounty.max(contract.bounty);
}

/// The moment at which an entry was taken: known, or estimated from the entries' own times.
fn moment(transcript: &Transcript, terms: &Terms, index: usize, entry: &Entry, last: Millis) -> Millis {
    match transcript.received_at.get(index) {
        Some(at) => *at,
        // The server's own entries carry its clock.
        None if entry.author() == terms.server => entry.at(),
        None => entry.at().max(last),
    }
}

fn run(transcript: &Transcript, report: &mut Report) -> Result<Case> {
    let terms = terms_of(transcript)?;
    report.server = Some(terms.server);
    let exact = !transcript.received_at.is_empty();
    let skew = if exact { Millis(0) } else { MAX_AGE.plus(MAX_AHEAD) };
    let mut case: Option<Case> = None;
    let mut last = Millis(0);
    for (index, entry) in transcript.entries.iter().enumerate() {
        let now = moment(transcript, &terms, index, entry, last);
        if now < last && exact {
            return Err(Refusal::with(Reason::ChainBroken, index));
        }
        last = last.max(now);
        let before = case.as_ref().map(Case::state);
        let signer;
        match &mut case {
            None => {
                let opened = Case::open_with(entry, &terms, now, skew)?;
                report.contract_id = Some(opened.id());
                report.principal = Some(opened.principal());
                signer = sign_of(&opened, None, entry)?;
                case = Some(opened);
            }
            Some(case) => {
                let agent = case.agent();
                let relink = |refusal: Refusal| match refusal.reason() {
                    Reason::ChainConflict => Refusal::with(Reason::ChainBroken, index),
                    _ => refusal,
                };
                case.apply(entry, now).map_err(relink)?;
                signer = sign_of(case, agent, entry)?;
            }
        }
        report.signers.push(signer);
        report.entries = index + 1;
        if let Some(case) = &case {
            if before != Some(case.state()) {
                report.states.push((entry.seq(), case.state()));
            }
            report.agent = case.agent().or(report.agent);
            report.state = Some(case.state());
            report.settlements = case.settlements().to_vec();
            report.chain_head = case.head().hex();
        }
    }
    let case = case.ok_or_else(|| Refusal::of(Reason::PostFirst))?;
    if transcript.contract_id.is_some_and(|id| id != case.id()) {
        return Err(Reason::ContractIdHex.into());
    }
    Ok(case)
}

fn sign_of(case: &Case, agent: Option<PartyId>, entry: &Entry) -> Result<Signer> {
    let author = entry.author();
    let (data, common) = entry.read()?;
    let role = if entry.kind().is_server_only() {
        Role::Server
    } else {
        let principal = |party: PartyId| party == case.principal();
        match common.on_behalf_of {
            Some(party) if principal(party) => Role::ServerForPrincipal,
            Some(_) => Role::ServerForAgent,
            None if principal(author) => Role::Principal,
            None => Role::Agent,
        }
    };
    debug_assert!(role != Role::Agent || agent.is_none_or(|a| a == author) || case.agent() == Some(author));
    let judge = match data {
        Data::Ruling(ruling) => ruling.signature.map(|s| s.judge),
        Data::Reexecution(reexecution) => reexecution.signature.map(|s| s.judge),
        _ => None,
    };
    Ok(Signer { seq: entry.seq(), entry: entry.kind().to_string(), author, role, judge })
}

/// Check a transcript from the first entry to the last. It always answers; [`Report::error`] says what is
/// wrong.
pub fn replay(transcript: &Transcript) -> Report {
    let mut report = Report {
        valid: false,
        error: None,
        code: None,
        entries: 0,
        total: transcript.entries.len(),
        contract_id: None,
        server: None,
        principal: None,
        agent: None,
        state: None,
        states: Vec::new(),
        settlements: Vec::new(),
        signers: Vec::new(),
        chain_head: crate::chain::Head::GENESIS.hex(),
        exact_times: !transcript.received_at.is_empty(),
    };
    match run(transcript, &mut report) {
        Ok(_) => report.valid = true,
        Err(refusal) => {
            report.code = Some(refusal.code());
            report.error = Some(refusal.to_string());
        }
    }
    report
}

/// Rebuild a case from its transcript, for `fix serve --import`. Needs the moments of arrival for exact
/// deadlines; without them they are estimated. A reservation is not in a transcript: its agent bonds anew.
pub fn rebuild(transcript: &Transcript) -> Result<Case> {
    let mut report = replay(&Transcript::default());
    let mut case = run(transcript, &mut report)?;
    case.skew = Millis(0);
    Ok(case)
}
