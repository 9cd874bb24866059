//! What a run is made of.

use crate::judge::Order;

/// Who pays for a message beyond a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blame {
    /// Whoever brings it.
    Bringer,
    /// Its author, which the node's process charges; here only where it brings the message itself.
    #[default]
    Author,
}

/// Rules that can be changed to see what they are good for.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Scores are kept: peers are pruned, graylisted, and kept out of the mesh by them.
    pub scoring: bool,
    /// Nonces on topics.
    pub order: Order,
    /// Who pays for an excess.
    pub blame: Blame,
    /// Messages that a node missed are asked for when a peer outside its mesh names them.
    pub repair: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { scoring: true, order: Order::Window, blame: Blame::Author, repair: true }
    }
}

/// Many messages of one agent.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Seconds after the start.
    pub from: u32,
    /// How long it lasts, in seconds.
    pub seconds: u32,
    /// Messages a second.
    pub per_second: u32,
}

/// What honest agents say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Each sends a BEACON each 600 s, 10 % more or less.
    pub beacons: bool,
    /// All of them together send this many other messages in 1 000 seconds.
    pub chatter: u32,
    /// One of them is loud for a while.
    pub burst: Option<Burst>,
}

/// What attackers do. They never forward anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attack {
    /// There are none, or they do nothing but take places.
    #[default]
    Silent,
    /// Each sends this many valid messages a second, the same to all its peers.
    Spam(u32),
    /// Each sends this many valid messages a second to each of its peers, different ones to each.
    SplitSpam(u32),
    /// Each sends this many messages a second whose signature does not hold to each of its peers.
    Forge(u32),
    /// Each sends this many messages a second of made-up agents to each of its peers, different ones to each.
    Unregistered(u32),
    /// Each publishes everything it hears once more after this many seconds.
    Replay(u32),
}

/// Who attacks, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attackers {
    /// Their number, which comes on top of the honest agents'.
    pub number: u32,
    /// Connections that each of them opens with honest nodes.
    pub dials: u32,
    /// They only dial watched nodes.
    pub aim_at_watched: bool,
    /// Number of them that share a network.
    pub subnet_size: u32,
    /// Their agents have stake and lease.
    pub registered: bool,
    /// What they do.
    pub attack: Attack,
    /// From when on they do it, in seconds.
    pub from: u32,
    /// Until when, in seconds.
    pub until: u32,
}

/// Watched nodes, whose deliveries are counted apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watched {
    /// Number of honest nodes, from the first one on.
    pub number: u32,
    /// Microseconds that each message costs them; zero as everybody else.
    pub work: u32,
    /// Nobody honest dials them: they have the connections that they opened themselves.
    pub full: bool,
}

/// A time in which the nodes with odd numbers and those with even ones do not reach each other, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Partition {
    /// When it begins.
    pub from: u32,
    /// When it ends.
    pub until: u32,
}

/// Everything that a run depends on.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Number of honest agents, each with a node.
    pub agents: u32,
    /// How long messages are sent, in seconds.
    pub seconds: u32,
    /// From which everything random follows.
    pub seed: u64,
    /// Average number of connections of an honest node with others.
    pub degree: u32,
    /// Shortest and longest time of a link, in microseconds.
    pub latency: (u32, u32),
    /// Parts of a million of all copies that are lost.
    pub loss: u32,
    /// Microseconds that judging a message costs a node: one at 24 000 a second.
    pub work: u32,
    /// Microseconds until the cluster answers a node that lacks the facts about an author; zero if nobody lacks them.
    pub lookup: u32,
    /// Number of honest nodes, from the first one on, that keep a whole intake.
    pub full: u32,
    /// Rules that can be changed.
    pub rules: Rules,
    /// What honest agents say.
    pub traffic: Traffic,
    /// Who attacks, and how.
    pub attackers: Attackers,
    /// Whose deliveries are counted apart.
    pub watched: Watched,
    /// A time in which the network is split.
    pub partition: Option<Partition>,
    /// Scores begin as after an hour in the mesh, with all that time and deliveries can earn.
    pub aged: bool,
}

impl Setup {
    /// A quiet network.
    pub fn new(agents: u32, seconds: u32, seed: u64) -> Self {
        Self {
            agents,
            seconds,
            seed,
            degree: 8,
            latency: (5_000, 85_000),
            loss: 0,
            work: 42,
            lookup: 0,
            full: 0,
            rules: Rules::default(),
            traffic: Traffic::default(),
            attackers: Attackers::default(),
            watched: Watched::default(),
            partition: None,
            aged: false,
        }
    }

    /// All nodes: honest ones first.
    pub fn nodes(&self) -> u32 {
        self.agents + self.attackers.number
    }

    /// Whether the node is an attacker's.
    pub fn is_attacker(&self, node: u32) -> bool {
        node >= self.agents
    }

    /// Whether deliveries to the node are counted apart.
    pub fn is_watched(&self, node: u32) -> bool {
        node < self.watched.number
    }
}
