//! `zx1 challenge find`: what a message or an entry proves against a batch, before any money is put up.

use super::file::ChallengeFile;
use crate::agent_files::{self, Now, refused};
use crate::chain::Chain;
use crate::commands::batch::{commitment_of, fetch};
use crate::commands::envelope::{keys_of, type_name};
use crate::context::{self, Context};
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::input;
use crate::output::{Page, Report, Table};
use crate::words;
use serde::Serialize;
use solana_address::Address;
use std::path::PathBuf;
use zx1_chain::rpc::Stored;
use zx1_chain::rpc::registry::Sati;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _};
use zx1_protocol::batch::Covered;
use zx1_protocol::bundle::{Bundle, Checked};
use zx1_protocol::challenge::{Clock, Ground};
use zx1_protocol::derive::{self, Expected};
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::finder::{self, FinderError, Presence};
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::Feedback;
use zx1_protocol::record::Record;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The message or log entry: file, hex, base64, or - for standard input
    #[arg(value_name = "EVIDENCE", required_unless_present = "double_bids")]
    evidence: Option<String>,
    /// The agent whose batch is looked at; by default the message's sender
    #[arg(long, value_name = "AGENT")]
    against: Option<String>,
    /// Only this batch; by default every batch that can still be challenged
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// Where the batch's data is served: a folder or an http(s) address [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// Look for bids in the batch that contradict each other
    #[arg(long, conflicts_with = "evidence", requires = "against")]
    double_bids: bool,
    /// The payload of a log entry, to dispute the bid's value too: file, hex or base64
    #[arg(long, value_name = "BYTES", requires = "evidence")]
    payload: Option<String>,
    /// Prepare a challenge also against a batch whose data nobody serves: it may be answered
    #[arg(long)]
    blind: bool,
    /// Prepare a challenge also where the record is there: it will be answered, and your stake is lost
    #[arg(long)]
    even_if_answerable: bool,
    /// Prefer this ground
    #[arg(long, value_parser = ["bid", "selection", "verifier", "feedback", "double_bid"])]
    ground: Option<String>,
    /// File for the prepared challenge
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Found {
    agent: String,
    evidence: &'static str,
    claims: Vec<FoundClaim>,
    file: Option<String>,
}

#[derive(Clone, Serialize)]
struct FoundClaim {
    epoch: u64,
    ground: &'static str,
    record: String,
    presence: &'static str,
    in_log: Option<bool>,
    challengeable_through_slot: u64,
    #[serde(skip)]
    file: Option<ChallengeFile>,
}

impl FoundClaim {
    fn wins(&self) -> bool {
        self.presence == "absent"
    }
}

impl Report for Found {
    fn draw(&self, page: &mut Page) {
        page.field("against", &self.agent).field("evidence", self.evidence);
        let mut table =
            Table::new(["epoch", "ground", "the batch must hold", "and it", "until slot"]).prose(2);
        for claim in &self.claims {
            let verdict = match claim.presence {
                "absent" => "does not",
                "present" => "does",
                _ => "may (withheld)",
            };
            let through = claim.challengeable_through_slot;
            table.row([&claim.epoch, &claim.ground, &claim.record, &verdict, &through]);
        }
        page.blank().table(table, "There is nothing to look at.");
        match &self.file {
            Some(file) => {
                page.blank().field("prepared in", file).next(format!("zx1 challenge submit {file}"))
            }
            None if self.claims.iter().any(FoundClaim::wins) => {
                page.next("the same with --out challenge.json prepares the challenge")
            }
            None => page.line("Nothing here is worth 10 USDC."),
        };
    }
}

/// A message or an entry.
enum Evidence {
    Envelope(Vec<u8>),
    Entry(Vec<u8>, Option<Vec<u8>>),
}

fn read_evidence(args: &Args) -> Result<Option<Evidence>> {
    let Some(argument) = &args.evidence else { return Ok(None) };
    let input = input::read(argument, defaults::MAX_INPUT)?;
    if input.bytes.len() > defaults::MAX_MESSAGE {
        let (size, limit) = (input.bytes.len(), defaults::MAX_MESSAGE);
        return Err(Error::MessageTooLarge { what: input.name, size, limit }.into());
    }
    let payload =
        args.payload.as_deref().map(|payload| input::read(payload, defaults::MAX_INPUT)).transpose()?;
    let as_envelope = Envelope::decode(&input.bytes);
    // An entry of FEEDBACK has the shape of an envelope but for the order of its last two fields, so only
    // one of the two decodes.
    match (as_envelope, LogEntry::decode::<Sha3>(&input.bytes)) {
        (Ok(_), _) => Ok(Some(Evidence::Envelope(input.bytes))),
        (_, Ok(_)) => Ok(Some(Evidence::Entry(input.bytes, payload.map(|payload| payload.bytes)))),
        (Err(error), Err(_)) => {
            let why = words::clause(&error.to_string());
            Err(Error::NotEvidence { what: input.name, why }.into())
        }
    }
}

/// Whose batch a message speaks about: the sender's; a rating's about whom it is.
fn accused(evidence: &Evidence) -> Option<Address> {
    let agent = match evidence {
        Evidence::Envelope(bytes) => *Envelope::decode(bytes).ok()?.header.sender,
        Evidence::Entry(bytes, _) => {
            let entry = LogEntry::decode::<Sha3>(bytes).ok()?;
            match entry.header.msg_type {
                MsgType::Feedback => Feedback::decode(entry.payload).ok()?.target_agent,
                _ => *entry.header.sender,
            }
        }
    };
    Some(Address::new_from_array(agent))
}

fn shown_record(expected: &Expected) -> String {
    let other = |agent: &[u8; 32]| words::short(&Address::new_from_array(*agent).to_string());
    match &expected.record {
        Record::Bid(bid) if expected.value_known => {
            format!("bid of {} to {}, slot {}", bid.value, other(&bid.counterparty), bid.slot.0)
        }
        Record::Bid(bid) => format!("bid to {}, slot {}", other(&bid.counterparty), bid.slot.0),
        Record::Selection(it) => format!("selection of {}, slot {}", other(&it.counterparty), it.slot.0),
        Record::Verifier(it) => format!("notary {}, slot {}", other(&it.verifier), it.slot.0),
        Record::Feedback(it) => format!("rating {} from {}, slot {}", it.score, other(&it.from), it.slot.0),
    }
}

/// Looks at one batch.
struct Look<'a> {
    account: &'a Stored<BatchAccount>,
    agent: Address,
    keys: &'a [PublicKey],
    blind: bool,
}

impl Look<'_> {
    fn covered(&self) -> Covered {
        Covered { from: Epoch(self.account.covers_from_epoch), to: Epoch(self.account.epoch_number) }
    }

    fn through(&self) -> u64 {
        Clock { submitted: Slot(self.account.submitted_slot) }.deadline().0
    }

    fn claim(&self, ground: Ground, expected: &Expected, presence: Option<&Presence>) -> FoundClaim {
        FoundClaim {
            epoch: self.account.epoch_number,
            ground: super::ground_name(ground as u8),
            record: shown_record(expected),
            presence: match presence {
                Some(Presence::Absent) => "absent",
                Some(Presence::Present { .. }) => "present",
                None => "unknown",
            },
            in_log: None,
            challengeable_through_slot: self.through(),
            file: None,
        }
    }

    fn envelope(&self, data: Option<&Checked<'_>>, bytes: &[u8]) -> Result<Vec<FoundClaim>, FinderError> {
        let envelope = Envelope::decode(bytes).map_err(FinderError::Entry)?;
        let epoch = self.account.epoch_number;
        let file = |ground, signer: &[u8; 32]| {
            ChallengeFile::with_envelope(&self.agent, epoch, ground, bytes, signer)
        };
        if let Some(data) = data {
            let found =
                finder::find_envelope(data, self.covered(), self.agent.as_array(), &envelope, self.keys)?;
            let claims = found.claims.iter().map(|claim| FoundClaim {
                in_log: Some(found.in_log.is_some()),
                file: Some(file(claim.ground, &found.signer)),
                ..self.claim(claim.ground, &claim.expected, Some(&claim.presence))
            });
            return Ok(claims.collect());
        }
        // Without the data only the message speaks: what the batch must hold, not whether it does.
        let fields = envelope.signed_fields();
        let message_epoch = envelope.header.epoch();
        if !self.covered().contains(message_epoch) {
            return Err(FinderError::NotCovered { epoch: message_epoch });
        }
        let signed = envelope.signing_bytes();
        let signer = self.keys.iter().find(|key| key.verify(&signed, envelope.signature));
        let signer = signer.ok_or(FinderError::Signature)?.to_bytes();
        let mut claims = Vec::new();
        let mut why = derive::DeriveError::NoGround;
        for ground in [Ground::Bid, Ground::Selection, Ground::Verifier] {
            match derive::from_envelope(&fields, self.agent.as_array(), ground) {
                Ok(expected) => claims.push(FoundClaim {
                    file: self.blind.then(|| file(ground, &signer)),
                    ..self.claim(ground, &expected, None)
                }),
                Err(derive::DeriveError::NoGround) => {}
                Err(error) => why = error,
            }
        }
        if claims.is_empty() { Err(FinderError::NoClaim(why)) } else { Ok(claims) }
    }

    fn entry(
        &self,
        data: &Checked<'_>,
        entry: &[u8],
        payload: Option<&[u8]>,
    ) -> Result<Vec<FoundClaim>, FinderError> {
        let found = finder::find_log_entry(data, self.agent.as_array(), entry, payload)?;
        let claims = found.claims.iter().map(|claim| {
            let evidence = found.evidence(claim, entry, payload);
            let file = evidence.map(|bytes| {
                ChallengeFile::with_bytes(&self.agent, self.account.epoch_number, claim.ground, &bytes)
            });
            let shown = self.claim(claim.ground, &claim.expected, Some(&claim.presence));
            FoundClaim { in_log: Some(true), file, ..shown }
        });
        Ok(claims.collect())
    }

    fn double_bid(&self, data: &Checked<'_>) -> Option<FoundClaim> {
        let pair = finder::double_bids(data).next()?;
        let evidence = pair.evidence()?;
        let expected = Expected { record: Record::Bid(pair.a.bid), value_known: true };
        let record =
            format!("one value: {} and {} stand for the same bid", pair.a.bid.value, pair.b.bid.value);
        let epoch = self.account.epoch_number;
        Some(FoundClaim {
            record,
            file: Some(ChallengeFile::with_bytes(&self.agent, epoch, Ground::DoubleBid, &evidence)),
            ..self.claim(Ground::DoubleBid, &expected, Some(&Presence::Absent))
        })
    }
}

/// The agent's batches that can still be challenged, or the one that was named.
async fn batches(chain: &Chain, agent: Address, epoch: Option<u64>) -> Result<Vec<Stored<BatchAccount>>> {
    let now = Now::ask(chain).await?.slot;
    let mut batches = chain.client.batches(agent).await?;
    batches.retain(|batch| epoch.is_none_or(|epoch| epoch == batch.epoch_number));
    if let (Some(epoch), true) = (epoch, batches.is_empty()) {
        return Err(Error::NoBatchOnChain { agent: agent.to_string(), epoch }.into());
    }
    batches.retain(|batch| Clock { submitted: Slot(batch.submitted_slot) }.is_open(now));
    if batches.is_empty() {
        let why = "the agent has no batch whose window is open".to_owned();
        return Err(Error::NothingFound { why }.into());
    }
    Ok(batches)
}

/// The data of a batch; `None` when it is withheld and that is no hindrance.
async fn data_of(store: Option<&AnyStore>, account: &BatchAccount, needed: bool) -> Result<Option<Vec<u8>>> {
    let Some(store) = store else {
        return if needed { Err(Error::NoStore.into()) } else { Ok(None) };
    };
    match fetch(store, account).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(failure) if needed || is_unavailable(&failure) => Err(failure),
        Err(_) => Ok(None),
    }
}

/// Whether the place did not answer, which says nothing about the batch.
fn is_unavailable(failure: &Failure) -> bool {
    (7262..=7265).contains(&failure.code)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    if let Some(path) = &args.out {
        files::check_writable(path, Error::Exists { path: files::shown(path) })?;
    }
    let evidence = read_evidence(args)?;
    let config = context.config()?;
    let against = args.against.as_ref().map(|named| context::find_agent(&config, named)).transpose()?;
    let accused = evidence.as_ref().and_then(accused);
    let Some(agent) = against.map(|agent| agent.mint).or(accused) else {
        let why = "it says nothing about any agent".to_owned();
        return Err(Error::NotEvidence { what: "The argument".to_owned(), why }.into());
    };
    let store = agent_files::store(context, args.data.as_deref())?;
    let mut found = context.wait(look(context, args, agent, evidence.as_ref(), store.as_ref()))?;
    let wanted = |claim: &&FoundClaim| args.ground.as_ref().is_none_or(|ground| ground == claim.ground);
    let candidates = || found.claims.iter().filter(wanted).filter(|claim| claim.file.is_some());
    let best = candidates()
        .find(|claim| claim.wins())
        .or_else(|| candidates().find(|claim| args.blind && claim.presence == "unknown"))
        .or_else(|| candidates().find(|_| args.even_if_answerable));
    if let Some(path) = &args.out {
        let Some(file) = best.and_then(|claim| claim.file.as_ref()) else {
            return Err(Error::NothingFound { why: why_nothing(&found) }.into());
        };
        file.write(path)?;
        found.file = Some(files::shown(path));
    }
    context.print(&found)
}

fn why_nothing(found: &Found) -> String {
    if found.claims.iter().any(|claim| claim.presence == "unknown") {
        return "the batch's data is withheld, so it is unknown whether it holds the record (--blind)"
            .to_owned();
    }
    "the batch holds every record that this evidence asks for".to_owned()
}

async fn look(
    context: &Context,
    args: &Args,
    agent: Address,
    evidence: Option<&Evidence>,
    store: Option<&AnyStore>,
) -> Result<Found> {
    let chain = context.connect().await?;
    let accounts = batches(&chain, agent, args.epoch).await?;
    let sati = Sati::connect(&chain.client).await?;
    let keys = keys_of(&sati, agent).await?;
    let mut claims = Vec::new();
    let mut last_reason = None;
    for account in &accounts {
        let needed = !matches!(evidence, Some(Evidence::Envelope(_)));
        let bytes = data_of(store, account, needed).await?;
        let bundle = bytes.as_deref().map(Bundle::decode).transpose();
        let bundle = bundle.map_err(|error| refused(error.code(), &error, "ask elsewhere with --data"))?;
        let commitment = commitment_of(account);
        let data = bundle.as_ref().map(|bundle| bundle.check_against(&commitment)).transpose();
        let data = data.map_err(|error| refused(error.code(), &error, "ask elsewhere with --data"))?;
        let mut keys = keys.clone();
        keys.extend(PublicKey::from_bytes(&account.signer));
        let look = Look { account, agent, keys: &keys, blind: args.blind };
        let result = match (evidence, &data) {
            (Some(Evidence::Envelope(bytes)), data) => look.envelope(data.as_ref(), bytes),
            (Some(Evidence::Entry(bytes, payload)), Some(data)) => {
                look.entry(data, bytes, payload.as_deref())
            }
            (None, Some(data)) => Ok(look.double_bid(data).into_iter().collect()),
            (_, None) => Ok(Vec::new()),
        };
        match result {
            Ok(more) => claims.extend(more),
            Err(reason) => last_reason = Some(reason),
        }
    }
    // The reason of the one batch that was looked at last says more than "nothing".
    if let (true, Some(reason)) = (claims.is_empty(), last_reason) {
        return Err(refused(reason.code(), &reason, &format!("zx1 batch show --agent {agent} --all")));
    }
    let evidence = match evidence {
        Some(Evidence::Envelope(bytes)) => envelope_name(bytes),
        Some(Evidence::Entry(..)) => "a log entry",
        None => "two bids of the batch itself",
    };
    if claims.is_empty() && args.double_bids {
        let place = store.map(AnyStore::describe).unwrap_or_default();
        let why = format!("no two bids in the data at {place} contradict each other");
        return Err(Error::NothingFound { why }.into());
    }
    Ok(Found { agent: agent.to_string(), evidence, claims, file: None })
}

fn envelope_name(bytes: &[u8]) -> &'static str {
    match Envelope::decode(bytes).map(|envelope| type_name(envelope.header.msg_type)).as_deref() {
        Ok("propose") => "an envelope: propose",
        Ok("counter") => "an envelope: counter",
        Ok("accept") => "an envelope: accept",
        Ok("notarize-assign") => "an envelope: notarize-assign",
        _ => "an envelope",
    }
}
