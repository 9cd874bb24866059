//! What was heard on topics: adverts, names, peers, ratings. All of it is a stranger's word, bounded, and shown as such;
//! nothing of it is authority (decision D2). Pure: time is an argument, unix microseconds.

use crate::defaults::{MAX_ADVERT_LIFE, MAX_ADVERTS, MAX_HEARD, MAX_PEERS, MAX_RATED};
use std::collections::VecDeque;
use zx1_mesh::lru::Lru;
use zx1_mesh::wire::peer_of_key;
use zx1_operator::node::wire;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::mesh_payload::{Advertise, Discover};
use zx1_protocol::payload::Feedback;
use zx1_protocol::reputation::{Rating, State};

/// A second in microseconds, as all times here.
const SECOND: u64 = 1_000_000;

#[derive(Clone, Debug)]
struct Advert {
    shown: wire::Advert,
    ends: u64,
}

/// An advert of this agent.
#[derive(Clone, Debug)]
struct Own {
    caps: Vec<String>,
    payload: Vec<u8>,
    ends: u64,
}

#[derive(Clone, Debug, Default)]
struct Agent {
    name: String,
    peers: Vec<String>,
    last: u64,
    adverts: VecDeque<Advert>,
}

/// Agents by what was heard of them.
#[derive(Debug)]
pub struct Heard {
    me: AgentId,
    agents: Lru<AgentId, Agent>,
    ratings: Lru<AgentId, State>,
    /// What this agent advertises, as it was last sent, by contract and schema.
    own: VecDeque<Own>,
    /// A search that this agent should answer.
    wanted: bool,
}

impl Heard {
    /// Nothing yet, for this agent.
    pub fn new(me: AgentId) -> Self {
        Self {
            me,
            agents: Lru::new(MAX_HEARD),
            ratings: Lru::new(MAX_RATED),
            own: VecDeque::new(),
            wanted: false,
        }
    }

    /// Takes a message that was accepted, and that this key published. Whether it says anything that is kept here.
    pub fn take(&mut self, envelope: &Envelope<'_>, key: &WalletKey, now: u64) -> bool {
        let header = &envelope.header;
        if header.sender() == self.me {
            return false;
        }
        let peer = peer_of_key(key).map(|peer| peer.to_string());
        self.agents.update(&header.sender(), Agent::default, |agent| {
            agent.last = agent.last.max(now);
            if let Some(peer) = peer {
                agent.peers.retain(|known| *known != peer);
                agent.peers.insert(0, peer);
                agent.peers.truncate(MAX_PEERS);
            }
        });
        match header.msg_type {
            MsgType::Beacon => Beacon::parse(envelope.payload).is_ok_and(|beacon| {
                let name = beacon.name.to_owned();
                self.agents.update(&header.sender(), Agent::default, |agent| agent.name = name);
                true
            }),
            MsgType::Advertise => Advertise::decode(envelope.payload)
                .is_ok_and(|advert| self.advertised(header.sender(), &advert, header.timestamp, now)),
            MsgType::Feedback => Feedback::decode(envelope.payload).is_ok_and(|rating| {
                let rate = |state: &mut State| state.rate(&Rating::from(&rating)).is_ok();
                self.ratings.update(&rating.target_agent, State::default, rate)
            }),
            MsgType::Discover => Discover::decode(envelope.payload).is_ok_and(|search| {
                let own = self.own.iter().any(|own| own.ends > now && has_all(&own.caps, &search.want));
                self.wanted |= own;
                true
            }),
            _ => false,
        }
    }

    /// The agent left: its adverts, name and peers go. What others rated stays, as that was theirs to say.
    pub fn forget(&mut self, agent: &AgentId) {
        self.agents.remove(agent);
    }

    fn advertised(&mut self, sender: AgentId, advert: &Advertise<'_>, said: u64, now: u64) -> bool {
        // From the sender's clock where that is earlier: a copy lives no longer than the original.
        let ends = said.min(now).saturating_add(life(advert.ttl));
        let shown = wire::Advert {
            agent: sender.to_string(),
            caps: advert.caps.iter().map(|cap| (*cap).to_owned()).collect(),
            schema: advert.schema.to_owned(),
            unit: advert.unit.to_owned(),
            price: advert.price.to_string(),
            contract: advert.contract.map(str::to_owned),
            heard_micros: now,
            ends_micros: ends,
        };
        self.agents.update(&sender, Agent::default, |agent| {
            agent.adverts.retain(|known| known.ends > now && !is_same(&known.shown, &shown));
            if ends > now {
                agent.adverts.push_back(Advert { shown, ends });
            }
            while agent.adverts.len() > MAX_ADVERTS {
                agent.adverts.pop_front();
            }
        });
        true
    }

    /// Adverts that stand now and name all of these capabilities, the newest first.
    pub fn adverts(&self, want: &[String], now: u64) -> Vec<wire::Advert> {
        let all = self.agents.iter().flat_map(|(_, agent)| &agent.adverts);
        let standing = all.filter(|advert| advert.ends > now);
        let mut adverts: Vec<_> =
            standing.map(|advert| &advert.shown).filter(|it| has_all(&it.caps, want)).cloned().collect();
        adverts.sort_by_key(|advert| std::cmp::Reverse(advert.heard_micros));
        adverts
    }

    /// Agents that were heard, the latest first.
    pub fn agents(&self) -> Vec<wire::Heard> {
        let shown = |(id, agent): (&AgentId, &Agent)| wire::Heard {
            agent: id.to_string(),
            name: agent.name.clone(),
            peers: agent.peers.clone(),
            last_micros: agent.last,
            reputation: self.reputation(id),
        };
        let mut agents: Vec<_> = self.agents.iter().map(shown).collect();
        agents.sort_by_key(|agent| std::cmp::Reverse(agent.last_micros));
        agents
    }

    /// Number of agents that were heard.
    pub fn count(&self) -> usize {
        self.agents.len()
    }

    /// The agent whose messages a peer signed, and what it calls itself.
    pub fn named(&self, peer: &str) -> Option<(AgentId, &str)> {
        let mut having =
            self.agents.iter().filter(|(_, agent)| agent.peers.iter().any(|known| known == peer));
        having.next().map(|(id, agent)| (*id, agent.name.as_str()))
    }

    /// Peers that signed for an agent, the latest first.
    pub fn peers_of(&self, agent: &AgentId) -> Vec<String> {
        self.agents.peek(agent).map(|agent| agent.peers.clone()).unwrap_or_default()
    }

    /// The agent whose messages a peer signed.
    pub fn agent_of(&self, peer: &str) -> Option<String> {
        self.named(peer).map(|(id, _)| id.to_string())
    }

    /// Ratings of an agent that were heard; `None` without any.
    pub fn reputation(&self, agent: &AgentId) -> Option<wire::Reputation> {
        let vector = self.ratings.peek(agent)?.vector();
        let score = |score: i64| i32::try_from(score).unwrap_or_default();
        Some(wire::Reputation {
            agent: agent.to_string(),
            source: "heard".to_owned(),
            reliability: score(vector.reliability_score),
            cooperation: score(vector.cooperation_index),
            notary: score(vector.notary_accuracy),
            tasks: vector.total_tasks,
            disputes: vector.total_disputes,
        })
    }

    /// This agent advertised; a search for it is answered with the same again, for as long as that stands.
    pub fn advertise_own(&mut self, payload: &[u8], now: u64) {
        let Ok(advert) = Advertise::decode(payload) else { return };
        let key = |payload: &[u8]| {
            Advertise::decode(payload).ok().map(|it| (it.schema.to_owned(), it.contract.map(str::to_owned)))
        };
        self.own.retain(|known| known.ends > now && key(&known.payload) != key(payload));
        let ends = now.saturating_add(life(advert.ttl));
        if ends > now {
            let caps = advert.caps.iter().map(|cap| (*cap).to_owned()).collect();
            self.own.push_back(Own { caps, payload: payload.to_vec(), ends });
        }
        while self.own.len() > MAX_ADVERTS {
            self.own.pop_front();
        }
    }

    /// Whether a search since the last answers is for what this agent advertises.
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// The adverts that answer searches since the last call, each for the time that it has left: repeated, it stands
    /// no longer than it was said to.
    pub fn answers(&mut self, now: u64) -> Vec<Vec<u8>> {
        if !std::mem::take(&mut self.wanted) {
            return Vec::new();
        }
        self.own.retain(|own| own.ends > now);
        let again = |own: &Own| {
            let mut advert = Advertise::decode(&own.payload).ok()?;
            advert.ttl = u32::try_from(own.ends.saturating_sub(now).div_ceil(SECOND)).unwrap_or(u32::MAX);
            advert.to_payload().ok()
        };
        self.own.iter().filter_map(again).collect()
    }
}

/// How long an advert of this many seconds is shown, in microseconds.
fn life(ttl: u32) -> u64 {
    u64::from(ttl).saturating_mul(SECOND).min(MAX_ADVERT_LIFE)
}

fn has_all<T: AsRef<str>>(caps: &[String], want: &[T]) -> bool {
    want.iter().all(|want| caps.iter().any(|cap| cap == want.as_ref()))
}

/// Whether one advert replaces the other.
fn is_same(one: &wire::Advert, other: &wire::Advert) -> bool {
    one.schema == other.schema && one.contract == other.contract
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::draft::Draft;
    use zx1_protocol::envelope::BROADCAST;
    use zx1_protocol::ids::ConversationId;
    use zx1_protocol::units::Slot;

    const ME: AgentId = AgentId([1; 32]);
    const NOW: u64 = 1_700_000_000_000_000;

    fn key() -> WalletKey {
        WalletKey::from(ed25519_dalek::SigningKey::from_bytes(&[5; 32]).verifying_key().to_bytes())
    }

    /// What an agent says to all at a time.
    fn hear(heard: &mut Heard, sender: AgentId, msg_type: MsgType, payload: &[u8], at: u64) -> bool {
        let draft = Draft {
            msg_type,
            sender,
            recipient: BROADCAST,
            timestamp: at,
            block_ref: Slot(1),
            nonce: at,
            conversation_id: ConversationId([0; 16]),
            payload,
        };
        let bytes = draft.sign(|_| [0; 64]).unwrap();
        heard.take(&Envelope::decode(&bytes).unwrap(), &key(), at)
    }

    fn advert(caps: &[&'static str], schema: &'static str, ttl: u32) -> Vec<u8> {
        let advert = Advertise { caps: caps.to_vec(), schema, unit: "XNO", price: 5, contract: None, ttl };
        advert.to_payload().unwrap()
    }

    fn search(want: &[&'static str]) -> Vec<u8> {
        Discover { want: want.to_vec(), max: 5 }.to_payload().unwrap()
    }

    #[test]
    fn an_advert_stands_for_its_time_and_is_found_by_all_that_it_names() {
        let mut heard = Heard::new(ME);
        assert!(hear(&mut heard, AgentId([2; 32]), MsgType::Advertise, &advert(&["a", "b"], "", 10), NOW));
        let wanted = |heard: &Heard, want: &[&str], at: u64| {
            heard.adverts(&want.iter().map(ToString::to_string).collect::<Vec<_>>(), at).len()
        };
        assert_eq!([wanted(&heard, &[], NOW), wanted(&heard, &["b", "a"], NOW)], [1, 1]);
        assert_eq!(wanted(&heard, &["a", "c"], NOW), 0);
        assert_eq!([9, 10].map(|after| wanted(&heard, &["a"], NOW + after * SECOND)), [1, 0]);
        // The same schema again replaces it, another one stands beside it, and what has ended takes it away.
        hear(&mut heard, AgentId([2; 32]), MsgType::Advertise, &advert(&["z"], "", 10), NOW + 1);
        assert_eq!([wanted(&heard, &["a"], NOW + 1), wanted(&heard, &["z"], NOW + 1)], [0, 1]);
        hear(&mut heard, AgentId([2; 32]), MsgType::Advertise, &advert(&["z"], "other", 10), NOW + 2);
        assert_eq!(wanted(&heard, &["z"], NOW + 2), 2);
        hear(&mut heard, AgentId([2; 32]), MsgType::Advertise, &advert(&["z"], "", 0), NOW + 3);
        assert_eq!(wanted(&heard, &["z"], NOW + 3), 1);
    }

    #[test]
    fn with_an_agent_its_adverts_and_peers_go_until_it_is_heard_again() {
        let mut heard = Heard::new(ME);
        let other = AgentId([2; 32]);
        hear(&mut heard, other, MsgType::Advertise, &advert(&["a"], "", 3_600), NOW);
        hear(&mut heard, AgentId([3; 32]), MsgType::Advertise, &advert(&["a"], "", 3_600), NOW);
        heard.forget(&other);
        assert_eq!(heard.adverts(&[], NOW).len(), 1);
        assert!(heard.peers_of(&other).is_empty() && heard.agents().len() == 1);
        hear(&mut heard, other, MsgType::Advertise, &advert(&["b"], "", 3_600), NOW + 1);
        assert_eq!(heard.adverts(&["b".to_owned()], NOW + 1).len(), 1);
    }

    #[test]
    fn one_agent_has_at_most_32_adverts_and_none_stands_longer_than_a_day() {
        let mut heard = Heard::new(ME);
        for count in 0..40u64 {
            let schema: &'static str = Box::leak(count.to_string().into_boxed_str());
            hear(
                &mut heard,
                AgentId([2; 32]),
                MsgType::Advertise,
                &advert(&["a"], schema, u32::MAX),
                NOW + count,
            );
        }
        assert_eq!(heard.adverts(&[], NOW + 40).len(), MAX_ADVERTS);
        assert_eq!(heard.adverts(&[], NOW + MAX_ADVERT_LIFE + 40).len(), 0);
    }

    #[test]
    fn a_search_for_what_this_agent_advertises_is_answered_once() {
        let mut heard = Heard::new(ME);
        let own = advert(&["a", "b"], "", 60);
        hear(&mut heard, AgentId([2; 32]), MsgType::Discover, &search(&["a"]), NOW);
        assert!(heard.answers(NOW).is_empty(), "it advertises nothing");
        heard.advertise_own(&own, NOW);
        hear(&mut heard, AgentId([2; 32]), MsgType::Discover, &search(&["c"]), NOW + 1);
        assert!(!heard.is_wanted());
        hear(&mut heard, AgentId([2; 32]), MsgType::Discover, &search(&["b"]), NOW + 2);
        assert_eq!(heard.answers(NOW + 2), [own]);
        assert!(heard.answers(NOW + 2).is_empty());
    }

    #[test]
    fn an_answer_repeats_an_advert_for_the_time_that_it_has_left_and_not_once_it_was_taken_back() {
        let mut heard = Heard::new(ME);
        let asked = |heard: &mut Heard, at: u64| {
            hear(heard, AgentId([2; 32]), MsgType::Discover, &search(&["a"]), at);
            heard.answers(at)
        };
        heard.advertise_own(&advert(&["a"], "", 60), NOW);
        assert_eq!(asked(&mut heard, NOW + 45 * SECOND), [advert(&["a"], "", 15)]);
        assert_eq!(asked(&mut heard, NOW + 60 * SECOND), [[0u8; 0]; 0]);
        heard.advertise_own(&advert(&["a"], "", 60), NOW);
        heard.advertise_own(&advert(&["a"], "", 0), NOW + SECOND);
        assert_eq!(asked(&mut heard, NOW + 2 * SECOND), [[0u8; 0]; 0]);
    }

    #[test]
    fn names_peers_and_ratings_are_what_others_said() {
        let mut heard = Heard::new(ME);
        let other = AgentId([2; 32]);
        let beacon = Beacon { agent_id: other, verifying_key: key(), name: "bob" }.to_bytes();
        assert!(hear(&mut heard, other, MsgType::Beacon, &beacon, NOW));
        let rating = Feedback {
            conversation_id: ConversationId([3; 16]),
            target_agent: other,
            score: 50,
            outcome: 2,
            is_dispute: false,
            role: 0,
        };
        assert!(hear(&mut heard, AgentId([4; 32]), MsgType::Feedback, &rating.to_cbor().unwrap(), NOW + 1));
        let agents = heard.agents();
        assert_eq!(agents.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["", "bob"]);
        let peer = peer_of_key(&key()).unwrap().to_string();
        assert_eq!(agents[1].peers, std::slice::from_ref(&peer));
        assert_eq!(heard.peers_of(&other), std::slice::from_ref(&peer));
        assert!(heard.agent_of(&peer).is_some() && heard.agent_of("x").is_none());
        let reputation = heard.reputation(&other).unwrap();
        assert_eq!(
            (reputation.reliability, reputation.tasks, reputation.source.as_str()),
            (50_000, 1, "heard")
        );
        assert_eq!(heard.reputation(&ME), None);
        let own = Beacon { agent_id: ME, verifying_key: key(), name: "me" }.to_bytes();
        assert!(!hear(&mut heard, ME, MsgType::Beacon, &own, NOW + 2), "its own copy says nothing new");
    }
}
