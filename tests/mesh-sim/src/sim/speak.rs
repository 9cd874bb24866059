//! What agents and attackers send.

use super::upkeep::first_heartbeat;
use crate::agents::{BadMessage, Signed};
use crate::network::{CUT, UNPUBLISHED};
use crate::setup::Attack;
use crate::sim::{Event, SECOND, Sim};
use crate::spread::{Kind, NEVER, Spread};
use zx1_mesh::gate::Path;
use zx1_protocol::channel::channel_of;
use zx1_protocol::envelope::MsgType;

/// Seconds between two BEACONs of an agent, 10 % more or less.
const BEACON_SECONDS: u64 = 600;
/// What is said besides BEACONs, as often as it stands here.
const CHATTER: [MsgType; 8] = [
    MsgType::Advertise,
    MsgType::Advertise,
    MsgType::Advertise,
    MsgType::Discover,
    MsgType::Discover,
    MsgType::NotarizeBid,
    MsgType::NotarizeBid,
    MsgType::Feedback,
];
/// Made-up agents have numbers from here on.
const MADE_UP: u64 = 1 << 40;

/// Whom a message is sent to.
#[derive(Clone, Copy)]
enum Reach {
    /// All peers, which forward it.
    All,
    /// One peer, which may forward it.
    One(usize),
    /// All peers, none of which will forward it: nobody keeps when it reached whom.
    Neighbours,
    /// The same with one peer.
    Neighbour(usize),
}

impl Sim {
    /// Everything that begins by itself.
    pub(crate) fn first_events(&mut self) {
        let (setup, begin) = (self.setup, self.begin);
        let at = |seconds: u32| begin + u64::from(seconds) * SECOND;
        first_heartbeat(self);
        if !self.full.is_empty() {
            self.queue.push(begin, Event::Tick);
        }
        if setup.traffic.beacons {
            for agent in 0..setup.agents {
                let first = begin + self.random.below(BEACON_SECONDS * SECOND);
                self.until_end(first, Event::Beacon(agent));
            }
        }
        if setup.traffic.chatter > 0 {
            self.until_end(begin, Event::Chatter);
        }
        if let Some(burst) = setup.traffic.burst {
            self.until_end(at(burst.from), Event::Burst);
        }
        if !matches!(setup.attackers.attack, Attack::Silent | Attack::Replay(_)) {
            for attacker in setup.agents..setup.nodes() {
                // Not all in the same microsecond.
                let first = at(setup.attackers.from) + self.random.below(SECOND / 10);
                self.until_end(first, Event::Strike(attacker));
            }
        }
        if let Some(partition) = setup.partition {
            self.queue.push(at(partition.from), Event::Split(true));
            self.queue.push(at(partition.until), Event::Split(false));
        }
    }

    fn until_end(&mut self, at: u64, event: Event) {
        if at < self.end {
            self.queue.push(at, event);
        }
    }

    pub(crate) fn beacon(&mut self, agent: u32, now: u64) -> Result<(), BadMessage> {
        let signed = self.agents.sign(agent, MsgType::Beacon, now)?;
        self.launch(Kind::Honest, agent, MsgType::Beacon, signed, Reach::All, now)?;
        let spread = BEACON_SECONDS * SECOND / 10;
        let pause = self.random.between(BEACON_SECONDS * SECOND - spread, BEACON_SECONDS * SECOND + spread);
        self.until_end(now + pause, Event::Beacon(agent));
        Ok(())
    }

    pub(crate) fn chatter(&mut self, now: u64) -> Result<(), BadMessage> {
        let agent = self.random.below(u64::from(self.setup.agents)) as u32;
        let place = self.random.place(CHATTER.len()).unwrap_or_default();
        self.say(agent, CHATTER[place], now)?;
        let mean = 1_000 * SECOND / u64::from(self.setup.traffic.chatter);
        let pause = self.random.between(0, 2 * mean);
        self.until_end(now + pause, Event::Chatter);
        Ok(())
    }

    pub(crate) fn burst(&mut self, now: u64) -> Result<(), BadMessage> {
        // The last one, which is not among the watched.
        self.say(self.setup.agents - 1, MsgType::Advertise, now)?;
        if let Some(burst) = self.setup.traffic.burst {
            let until = self.begin + u64::from(burst.from + burst.seconds) * SECOND;
            let next = now + SECOND / u64::from(burst.per_second.max(1));
            if next < until {
                self.until_end(next, Event::Burst);
            }
        }
        Ok(())
    }

    fn say(&mut self, agent: u32, msg_type: MsgType, now: u64) -> Result<(), BadMessage> {
        let signed = self.agents.sign(agent, msg_type, now)?;
        self.launch(Kind::Honest, agent, msg_type, signed, Reach::All, now)
    }

    /// An attacker sends what it sends at a time.
    pub(crate) fn strike(&mut self, attacker: u32, now: u64) -> Result<(), BadMessage> {
        let links = self.network.links_of(attacker);
        let per_second = match self.setup.attackers.attack {
            Attack::Spam(per_second) => {
                let signed = self.agents.sign(attacker, MsgType::Advertise, now)?;
                self.launch(Kind::Spam, attacker, MsgType::Advertise, signed, Reach::All, now)?;
                per_second
            }
            Attack::SplitSpam(per_second) => {
                for link in links {
                    let signed = self.agents.sign(attacker, MsgType::Advertise, now)?;
                    self.launch(Kind::Spam, attacker, MsgType::Advertise, signed, Reach::One(link), now)?;
                }
                per_second
            }
            Attack::Forge(per_second) => {
                let mut signed = self.agents.sign(attacker, MsgType::Advertise, now)?;
                if let Some(last) = signed.bytes.last_mut() {
                    *last ^= 1;
                }
                let reach = Reach::Neighbours;
                self.launch(Kind::Forged, attacker, MsgType::Advertise, signed, reach, now)?;
                per_second
            }
            Attack::Unregistered(per_second) => {
                for link in links {
                    let sender = self.agents.id(MADE_UP + self.made_up);
                    self.made_up += 1;
                    let signed = self.agents.sign_as(sender, attacker, MsgType::Advertise, now)?;
                    let reach = Reach::Neighbour(link);
                    self.launch(Kind::Unregistered, attacker, MsgType::Advertise, signed, reach, now)?;
                }
                per_second
            }
            Attack::Silent | Attack::Replay(_) => return Ok(()),
        };
        let next = now + SECOND / u64::from(per_second.max(1));
        if next < self.begin + u64::from(self.setup.attackers.until) * SECOND {
            self.until_end(next, Event::Strike(attacker));
        }
        Ok(())
    }

    /// An attacker hears a message.
    pub(crate) fn overhear(&mut self, attacker: u32, spread: u32, now: u64) {
        let Attack::Replay(seconds) = self.setup.attackers.attack else { return };
        // They share the work.
        let is_its_turn = spread % self.setup.attackers.number == attacker - self.setup.agents;
        let is_honest = self.spreads.get(spread).is_some_and(|it| it.kind == Kind::Honest);
        if is_its_turn && is_honest {
            self.queue.push(now + u64::from(seconds) * SECOND, Event::Replay { attacker, spread });
        }
    }

    pub(crate) fn replay(&mut self, attacker: u32, original: u32, now: u64) {
        let Some(spread) = self.spreads.get(original) else { return };
        let replay = Spread {
            kind: Kind::Replay,
            original: Some(original),
            published: now,
            signed: spread.signed,
            arrives: vec![NEVER; self.network.nodes() as usize],
            accepted: vec![NEVER; self.network.nodes() as usize],
            bytes: spread.bytes.clone(),
            path: spread.path,
            author: spread.author,
            msg_type: spread.msg_type,
            nonce: spread.nonce,
            phase: 0,
            expected: [0; 2],
            delivered: [0; 2],
            verdicts: Default::default(),
        };
        self.tally.sums.attack_messages += 1;
        let number = self.add(replay);
        for link in self.network.links_of(attacker) {
            self.send(number, link, now);
        }
    }

    fn launch(
        &mut self,
        kind: Kind,
        node: u32,
        msg_type: MsgType,
        signed: Signed,
        reach: Reach,
        now: u64,
    ) -> Result<(), BadMessage> {
        if kind == Kind::Honest || (kind == Kind::Spam && self.setup.attackers.registered) {
            let facts = self.agents.facts(node)?;
            self.full.register(self.agents.id(u64::from(node)), || facts.clone());
            self.judge.know(node, || facts);
        }
        let nodes = match reach {
            Reach::All | Reach::One(_) => self.network.nodes() as usize,
            Reach::Neighbours | Reach::Neighbour(_) => 0,
        };
        let mut times = [vec![NEVER; nodes], vec![NEVER; nodes]];
        for own in times.iter_mut().filter_map(|times| times.get_mut(node as usize)) {
            *own = 0;
        }
        let [arrives, accepted] = times;
        let is_honest = kind == Kind::Honest;
        let spread = Spread {
            kind,
            // Made-up agents have no facts and no rates.
            author: if kind == Kind::Unregistered { u32::MAX } else { node },
            msg_type,
            nonce: signed.nonce,
            bytes: signed.bytes.into(),
            path: Path { channel: channel_of(msg_type), source: Some(signed.signer) },
            signed: now,
            published: now,
            arrives,
            accepted,
            original: None,
            phase: self.phase(now),
            expected: if is_honest { self.recipients(node) } else { [0; 2] },
            delivered: [0; 2],
            verdicts: Default::default(),
        };
        self.tally.sums.attack_messages += u64::from(!is_honest);
        let number = self.add(spread);
        match reach {
            Reach::One(link) | Reach::Neighbour(link) => self.send(number, link, now),
            Reach::All | Reach::Neighbours => {
                for link in self.network.links_of(node) {
                    if !self.network.links[link].is(UNPUBLISHED | CUT) {
                        self.send(number, link, now);
                    }
                }
            }
        }
        Ok(())
    }

    /// Nodes that a message of this one should reach: ordinary ones, and watched ones.
    fn recipients(&self, author: u32) -> [u32; 2] {
        let watched = self.setup.watched.number.min(self.setup.agents);
        let mut recipients = [self.setup.agents - watched, watched];
        recipients[usize::from(self.setup.is_watched(author))] -= 1;
        recipients
    }

    /// Before, while and after the network is split, or attacked.
    fn phase(&self, now: u64) -> usize {
        let attackers = self.setup.attackers;
        let (from, until) = match self.setup.partition {
            Some(partition) => (partition.from, partition.until),
            None if attackers.number > 0 => (attackers.from, attackers.until),
            None => return 0,
        };
        let after = |now: u64, seconds: u32| usize::from(now >= self.begin + u64::from(seconds) * SECOND);
        // What is still on its way when it begins is of that time.
        after(now + SECOND, from) + after(now, until)
    }
}
