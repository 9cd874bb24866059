//! What was heard on topics, the latest of it kept for readers. Pure: time is an argument, unix microseconds.

use crate::defaults::MAX_OBSERVED;
use crate::error::{Error, Result};
use crate::heard::Heard;
use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use zx1_mesh::payload::{Shown, show};
use zx1_operator::message::type_name;
use zx1_operator::node::wire::{Observed, ObservedPage};
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::WalletKey;

const SECOND: u64 = 1_000_000;
/// Seconds over which a rate is counted.
const MINUTE: usize = 60;

/// A place among what was observed. Those of another start of the node are told apart by its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    started: u64,
    number: u64,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.started, self.number)
    }
}

impl FromStr for Mark {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = || {
            let (started, number) = text.split_once('-')?;
            let mark = Self { started: started.parse().ok()?, number: number.parse().ok()? };
            (mark.to_string() == text).then_some(mark)
        };
        parsed().ok_or_else(|| {
            Error::BadRequest("an observed message's id has the form 1700000000000000-12".to_owned())
        })
    }
}

/// Messages of each second of the last minute.
#[derive(Debug)]
struct Rate {
    seconds: [u64; MINUTE],
    last: u64,
    total: u64,
}

impl Rate {
    const NONE: Self = Self { seconds: [0; MINUTE], last: 0, total: 0 };

    fn count(&mut self, now: u64) {
        self.pass(now);
        if let Some(second) = self.seconds.get_mut(place(now / SECOND)) {
            *second = second.saturating_add(1);
        }
        self.total = self.total.saturating_add(1);
    }

    fn per_minute(&mut self, now: u64) -> u64 {
        self.pass(now);
        self.seconds.iter().sum()
    }

    /// Forgets what is older than a minute.
    fn pass(&mut self, now: u64) {
        let now = now / SECOND;
        let gone = now.saturating_sub(self.last).min(MINUTE as u64);
        for second in (0..gone).map(|back| now.saturating_sub(back)) {
            if let Some(count) = self.seconds.get_mut(place(second)) {
                *count = 0;
            }
        }
        self.last = self.last.max(now);
    }
}

fn place(second: u64) -> usize {
    usize::try_from(second % MINUTE as u64).unwrap_or_default()
}

/// How a topic is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Messages of the last 60 seconds.
    pub per_minute: u64,
    /// Messages since the start.
    pub total: u64,
}

/// What was observed since the start.
#[derive(Debug)]
pub struct Seen {
    started: u64,
    /// Number of the next message; the first has 1.
    next: u64,
    kept: VecDeque<Observed>,
    rates: [Rate; Channel::ALL.len()],
    heard: Heard,
}

impl Seen {
    /// Nothing yet, of a node that was started at this time.
    pub fn new(started: u64) -> Self {
        let (kept, rates) = (VecDeque::new(), [const { Rate::NONE }; Channel::ALL.len()]);
        Self { started, next: 1, kept, rates, heard: Heard::new(BROADCAST) }
    }

    /// Takes a message that keeps all rules, and that this key published.
    pub fn take(&mut self, envelope: &Envelope<'_>, key: &WalletKey, now: u64) {
        self.heard.take(envelope, key, now);
        let header = &envelope.header;
        if let Some(rate) = self.rates.get_mut(usize::from(channel_of(header.msg_type).number())) {
            rate.count(now);
        }
        let id = Mark { started: self.started, number: self.next };
        self.next = self.next.saturating_add(1);
        let recipient = header.recipient();
        self.kept.push_back(Observed {
            id: id.to_string(),
            hash: hex::encode(header.message32::<Sha3>()),
            version: header.version,
            msg_type: type_name(header.msg_type),
            sender: header.sender().to_string(),
            recipient: (recipient != BROADCAST).then(|| recipient.to_string()),
            timestamp: header.timestamp,
            block_ref: header.block_ref.0,
            nonce: header.nonce,
            conversation: header.conversation().to_string(),
            payload_hash: hex::encode(header.payload_hash),
            payload_len: header.payload_len,
            summary: summary(header.msg_type, envelope.payload),
            envelope: (header.msg_type == MsgType::Feedback).then(|| hex::encode(envelope.to_cbor())),
            heard_micros: now,
        });
        while self.kept.len() > MAX_OBSERVED {
            self.kept.pop_front();
        }
    }

    /// Up to `limit` messages after a place; from the oldest that is kept without one, and after one of another start.
    pub fn page(&self, after: Option<Mark>, limit: usize) -> ObservedPage {
        let oldest = self.next.saturating_sub(u64::try_from(self.kept.len()).unwrap_or(u64::MAX));
        let known = after.filter(|after| after.started == self.started && after.number < self.next);
        let from = known.map_or(oldest, |after| after.number.saturating_add(1));
        let skip = usize::try_from(from.saturating_sub(oldest)).unwrap_or(usize::MAX);
        let messages: Vec<_> = self.kept.iter().skip(skip).take(limit).cloned().collect();
        let has_gap = from < oldest || (after.is_some() && known.is_none());
        let next = messages.last().map(|message| message.id.clone());
        // A reader of another start learns of its gap once, also before anything was heard.
        let here = Mark { started: self.started, number: self.next.saturating_sub(1) };
        let next = next.or_else(|| after.map(|_| known.unwrap_or(here).to_string()));
        ObservedPage { messages, next, has_gap }
    }

    /// How a topic is used.
    pub fn traffic(&mut self, channel: Channel, now: u64) -> Traffic {
        let rate = self.rates.get_mut(usize::from(channel.number()));
        rate.map_or(Traffic { per_minute: 0, total: 0 }, |rate| {
            let per_minute = rate.per_minute(now);
            Traffic { per_minute, total: rate.total }
        })
    }

    /// Who was heard.
    pub fn heard(&self) -> &Heard {
        &self.heard
    }
}

/// What may be said of a payload (protocol.md, 5.3): the fields of the two types that every node reads.
fn summary(msg_type: MsgType, payload: &[u8]) -> Option<serde_json::Value> {
    if !matches!(msg_type, MsgType::Feedback | MsgType::NotarizeBid) {
        return None;
    }
    let mut shown = show(msg_type, payload);
    if let Shown::Request { terms, .. } | Shown::OpaqueOffer { terms, .. } = &mut shown {
        terms.clear();
    }
    serde_json::to_value(shown).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::draft::Draft;
    use zx1_protocol::ids::{AgentId, ConversationId};
    use zx1_protocol::payload::{BidType, Feedback, NotarizeBid};
    use zx1_protocol::units::Slot;

    const NOW: u64 = 1_700_000_000_000_000;

    fn key() -> WalletKey {
        WalletKey::from(ed25519_dalek::SigningKey::from_bytes(&[5; 32]).verifying_key().to_bytes())
    }

    fn hear(seen: &mut Seen, msg_type: MsgType, payload: &[u8], nonce: u64, at: u64) {
        let draft = Draft {
            msg_type,
            sender: AgentId([2; 32]),
            recipient: BROADCAST,
            timestamp: at,
            block_ref: Slot(7),
            nonce,
            conversation_id: ConversationId([9; 16]),
            payload,
        };
        let bytes = draft.sign(|_| [1; 64]).unwrap();
        seen.take(&Envelope::decode(&bytes).unwrap(), &key(), at);
    }

    fn numbers(page: &ObservedPage) -> Vec<u64> {
        page.messages.iter().map(|message| message.id.split_once('-').unwrap().1.parse().unwrap()).collect()
    }

    #[test]
    fn a_reader_goes_on_where_it_stopped_and_learns_of_gaps() {
        let mut seen = Seen::new(NOW);
        assert_eq!(seen.page(None, 10), ObservedPage::default());
        for nonce in 1..=5 {
            hear(&mut seen, MsgType::Discover, b"x", nonce, NOW);
        }
        let first = seen.page(None, 3);
        assert_eq!((numbers(&first), first.has_gap), (vec![1, 2, 3], false));
        let mark: Mark = first.next.unwrap().parse().unwrap();
        let rest = seen.page(Some(mark), 3);
        assert_eq!((numbers(&rest), rest.has_gap), (vec![4, 5], false));
        let mark: Mark = rest.next.unwrap().parse().unwrap();
        let none = seen.page(Some(mark), 3);
        assert_eq!((numbers(&none), none.next, none.has_gap), (vec![], Some(mark.to_string()), false));
        // Of another start, or of a future that this start has not had.
        for other in [Mark { started: 1, number: 4 }, Mark { started: NOW, number: 6 }] {
            let page = seen.page(Some(other), 10);
            assert_eq!((numbers(&page).len(), page.has_gap), (5, true), "{other}");
        }
        let fresh = Seen::new(NOW + 1);
        let page = fresh.page(Some(Mark { started: NOW, number: 4 }), 10);
        assert!(page.has_gap && page.messages.is_empty());
        let again = fresh.page(Some(page.next.unwrap().parse().unwrap()), 10);
        assert!(!again.has_gap, "it is said once");
        // What is not kept any more is a gap.
        for nonce in 0..MAX_OBSERVED as u64 {
            hear(&mut seen, MsgType::Discover, b"x", 100 + nonce, NOW);
        }
        let page = seen.page(Some(Mark { started: NOW, number: 4 }), 1);
        assert_eq!((numbers(&page), page.has_gap), (vec![6], true));
        let page = seen.page(Some(Mark { started: NOW, number: 5 }), 1);
        assert_eq!((numbers(&page), page.has_gap), (vec![6], false));
    }

    #[test]
    fn payloads_are_never_shown_only_the_fields_of_ratings_and_bids() {
        let mut seen = Seen::new(NOW);
        hear(&mut seen, MsgType::Advertise, b"CBOR secret words", 1, NOW);
        let rating = Feedback {
            conversation_id: ConversationId([9; 16]),
            target_agent: AgentId([3; 32]),
            score: -40,
            outcome: 0,
            is_dispute: true,
            role: 1,
        };
        hear(&mut seen, MsgType::Feedback, &rating.to_cbor().unwrap(), 2, NOW);
        let bid = NotarizeBid {
            bid_type: BidType::Offer,
            conversation_id: ConversationId([9; 16]),
            terms: b"secret words",
        };
        hear(&mut seen, MsgType::NotarizeBid, &bid.to_bytes(), 3, NOW);
        let page = seen.page(None, 10);
        let [advert, rated, offered] = page.messages.as_slice() else { panic!() };
        assert_eq!((advert.summary.as_ref(), advert.payload_len), (None, 17));
        assert_eq!(
            (advert.msg_type.as_str(), advert.recipient.as_ref(), advert.block_ref),
            ("advertise", None, 7)
        );
        let summary = rated.summary.as_ref().unwrap();
        assert_eq!(
            (&summary["score"], &summary["is_dispute"], &summary["role"]),
            (&(-40).into(), &true.into(), &1.into())
        );
        assert_eq!(summary["target"], AgentId([3; 32]).to_string());
        assert!(advert.envelope.is_none() && offered.envelope.is_none() && rated.envelope.is_some());
        assert_eq!(offered.summary.as_ref().unwrap()["kind"], "opaque_offer");
        let said = serde_json::to_string(&page).unwrap();
        assert!(!said.contains(&hex::encode("secret")) && !said.contains("secret"), "{said}");
        assert_eq!(seen.heard().reputation(&AgentId([3; 32])).unwrap().disputes, 1);
    }

    #[test]
    fn a_rate_is_that_of_the_last_minute() {
        let mut seen = Seen::new(NOW);
        for nonce in 0..30 {
            hear(&mut seen, MsgType::Discover, b"x", nonce + 1, NOW + nonce * SECOND);
        }
        let at =
            |seen: &mut Seen, second: u64| seen.traffic(Channel::Broadcast, NOW + second * SECOND).per_minute;
        assert_eq!(
            [29, 59, 60, 74, 88, 89, 10_000].map(|second| at(&mut seen, second)),
            [30, 30, 29, 15, 1, 0, 0]
        );
        let traffic = seen.traffic(Channel::Broadcast, NOW);
        assert_eq!(traffic.total, 30);
        assert_eq!(seen.traffic(Channel::Notary, NOW).total, 0);
    }

    #[test]
    fn an_id_is_start_and_number_and_nothing_else() {
        for text in
            ["", "-", "1", "1-", "-1", "01-1", "1-01", "+1-1", "1-1 ", "a-b", "1-18446744073709551616"]
        {
            assert!(text.parse::<Mark>().is_err(), "{text}");
        }
    }
}
