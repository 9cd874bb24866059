//! Reputation recomputed from batches (decision D2): what is on chain, from data that anyone can check.

use super::gossip::heard;
use super::{Found, Note};
use crate::batch::{fetch, is_true};
use crate::error::{Error, Origin, Refusal, Result, Silent};
use crate::operator::{Agent, Operator};
use std::collections::{BTreeMap, BTreeSet};
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, LogReader};
use zx1_protocol::batch::Covered;
use zx1_protocol::bundle::{Bundle, BundleError};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::record::{self, Record};
use zx1_protocol::reputation::{BatchFacts, Binding, Event, Ledger, Rating, uncovered};
use zx1_protocol::units::Epoch;

/// Most other agents whose batches are read for their selections.
const MOST_RATERS: usize = 200;

/// Where batches' data is looked for: saved here, then at the place.
struct Source<'a> {
    operator: &'a Operator,
    store: Option<&'a AnyStore>,
}

/// The data of a batch, as far as it can be had.
enum Data {
    /// Of the very batch on chain, and true in all that can be recomputed. Only this counts.
    True(Vec<u8>),
    /// Records and log are those on chain, but what the batch says of them is not so, or is not what was
    /// signed. It can be challenged (zx1 challenge find), but counts for nothing.
    Untrue,
    /// Nobody serves it.
    Withheld,
}

impl Source<'_> {
    async fn data(&self, account: &BatchAccount) -> Result<Data> {
        // A leaf of it was asked for and not shown: it counts for nothing, whatever is served now.
        if account.withheld != 0 {
            return Ok(Data::Withheld);
        }
        let agent = AgentId(account.agent_id);
        let folder = zx1_log::agent_dir(&self.operator.home, &agent);
        let saved = LogReader::new(folder, agent).batches().bundle_bytes(Epoch(account.epoch_number));
        if let Ok(Some(bytes)) = saved
            && is_true(&bytes, account)
        {
            return Ok(Data::True(bytes));
        }
        let Some(store) = self.store else { return Ok(Data::Withheld) };
        match fetch(store, account).await {
            Ok(bytes) if is_true(&bytes, account) => Ok(Data::True(bytes)),
            Ok(_) => Ok(Data::Untrue),
            // A place that does not answer says nothing about the batch.
            Err(error) if error.is_unavailable() => Err(error),
            Err(_) => Ok(Data::Withheld),
        }
    }
}

/// Tasks that a batch confirms.
#[derive(Default)]
struct Tasks(BTreeMap<ConversationId, Binding>);

impl Tasks {
    fn add(&mut self, bundle: &Bundle<'_>) {
        for packed in bundle.packed_records() {
            match Record::parse(packed) {
                Ok(Record::Selection(it)) => self.0.insert(it.conversation, Binding::Selection),
                Ok(Record::Verifier(it)) => self.0.insert(it.conversation, Binding::Verifier),
                _ => None,
            };
        }
    }
}

pub(super) async fn read(
    operator: &Operator,
    agent: &Agent,
    own: &[AgentId],
    store: Option<&AnyStore>,
) -> Result<Found> {
    let client = operator.client();
    let source = Source { operator, store };
    let (accounts, head, tenure) =
        tokio::try_join!(client.batches(agent.mint), client.head(agent.mint), client.tenure(agent.mint))?;
    let submitted = head.map_or(0, |head| head.count);
    if accounts.is_empty() {
        return Err(Refusal::NoSuchSource { silent: Silent::Batch }.into());
    }
    let (tenure, tenure_from) =
        tenure.map_or((0, Epoch(0)), |tenure| (tenure.number, Epoch(tenure.from_epoch)));
    let mut found = Found { tenure: Some(tenure), ..Found::default() };
    // Who buys an agent buys no reputation; but a rating counts once, in whichever tenure.
    let former = accounts.iter().filter(|account| account.tenure != tenure).count();
    if former > 0 {
        found.notes.push(Note::FormerTenures(former));
    }
    let covered = |account: &Stored<BatchAccount>| Covered {
        from: Epoch(account.covers_from_epoch),
        to: Epoch(account.epoch_number),
    };
    let counting = accounts.iter().filter(|account| account.withheld == 0).map(covered);
    let first = accounts.first().map_or(Epoch(0), |account| Epoch(account.covers_from_epoch));
    found.uncovered = uncovered(first, counting);
    let mut data: Vec<(&Stored<BatchAccount>, Vec<u8>)> = Vec::new();
    for account in &accounts {
        match source.data(account).await? {
            Data::True(bytes) => data.push((account, bytes)),
            Data::Untrue => found.untrue.push(account.epoch_number),
            Data::Withheld => found.withheld.push(account.epoch_number),
        }
    }
    let mut tasks = Tasks::default();
    let mut raters = BTreeSet::new();
    let mut batches = Vec::new();
    for (account, bytes) in &data {
        let bundle = Bundle::decode(bytes).map_err(Origin::File.error())?;
        tasks.add(&bundle);
        let batch = bundle.decode_batch().map_err(BundleError::Batch).map_err(Origin::File.error())?;
        let events: Vec<record::Feedback> = bundle
            .packed_records()
            .filter_map(|packed| match Record::parse(packed) {
                Ok(Record::Feedback(event)) => Some(event),
                _ => None,
            })
            .collect();
        raters.extend(events.iter().map(|event| event.from));
        if let Some(facts) = BatchFacts::of(&batch, account) {
            batches.push((account.epoch_number, facts, events));
        }
    }
    let messages = heard(operator, agent, own).await?;
    raters.extend(messages.iter().map(|message| message.from));
    // Either party's selections bind a task, so the raters' batches are read too.
    for rater in raters.iter().take(MOST_RATERS) {
        for account in client.batches(*rater).await? {
            let Data::True(bytes) = source.data(&account).await? else { continue };
            if let Ok(bundle) = Bundle::decode(&bytes) {
                tasks.add(&bundle);
            }
        }
    }
    let mut ledger = Ledger::default();
    let mut used = vec![false; messages.len()];
    let last = batches.len().saturating_sub(1);
    for (at, (epoch, facts, events)) in batches.iter().enumerate() {
        let mut rated: Vec<Event> = Vec::new();
        for event in events {
            let matching = messages.iter().position(|message| message.message == event.message);
            if let Some(place) = matching.and_then(|place| used.get_mut(place)) {
                *place = true;
            }
            rated.push(Event {
                rating: Rating::from(event),
                from: event.from,
                conversation: event.conversation,
                slot: event.slot,
                in_batch: true,
                envelope_at_hand: matching.is_some(),
                binding: tasks.0.get(&event.conversation).copied(),
            });
        }
        // What no batch holds is counted with the last one, when all of them have been seen.
        if at == last {
            let open = messages.iter().zip(&used).filter(|(_, used)| !**used);
            let ours = open.filter(|(message, _)| message.epoch >= tenure_from);
            let left_out = ours.map(|(message, _)| Event {
                rating: Rating::from(&message.feedback),
                from: message.from,
                conversation: message.feedback.conversation_id,
                slot: message.slot,
                in_batch: false,
                envelope_at_hand: true,
                binding: tasks.0.get(&message.feedback.conversation_id).copied(),
            });
            rated.extend(left_out);
        }
        let applied = ledger.apply_batch(facts, &rated);
        applied.map_err(Error::Rating)?;
        found.epochs.push(*epoch);
    }
    let turn = ledger.turn(tenure);
    found.counted = turn.counted;
    found.apart = Some(turn.apart);
    found.tally = Some(turn.tally);
    let on_chain = u64::try_from(accounts.len()).unwrap_or(u64::MAX);
    let closed = submitted.saturating_sub(on_chain);
    if closed > 0 {
        found.notes.push(Note::Closed(closed));
    }
    if messages.is_empty() {
        found.notes.push(Note::NoMessages);
    }
    if raters.len() > MOST_RATERS {
        found.notes.push(Note::MostRaters { read: MOST_RATERS, of: raters.len() });
    }
    Ok(found)
}
