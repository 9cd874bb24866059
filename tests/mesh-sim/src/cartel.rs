//! Notaries, some of which conspire. Searches, offers and their ranking, desks, rates and reputations are the real types;
//! messages arrive at once, and a party always takes the first offer of the ranking.

use crate::agents::{Agents, START};
use crate::random::Random;
use serde::Serialize;
use std::fmt;
use zx1_mesh::defaults::OFFERS_TIME;
use zx1_mesh::limits::AuthorRates;
use zx1_mesh::notary::{Bid, Desk, NotaryError, Search, Stage};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::{MeshPayloadError, Offer, Verdict};
use zx1_protocol::reputation::{Rating, ReputationError, State};

const SECOND: u64 = 1_000_000;
/// Time between two tasks.
const PAUSE: u64 = 4_000 * SECOND;
const UNIT: &str = "raw";
const HONEST_SECONDS: u32 = 600;

/// By what offers are ranked before their fees are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Ranking {
    /// By nothing: the cheapest comes first.
    Fee,
    /// By every FEEDBACK that was heard, whoever sent it.
    Heard,
    /// By the ratings of the tasks' own parties alone.
    Bound,
}

/// What the cartel's notaries do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Conduct {
    /// They take tasks and do not judge.
    Silent,
    /// They judge for the friend that is a party of each fifth task, and rightly otherwise.
    Crooked,
}

/// A market of notaries.
#[derive(Clone, Copy, Debug)]
pub struct Cartel {
    /// Notaries that judge rightly.
    pub honest: u32,
    /// Notaries of the cartel. They ask for less than all others.
    pub conspirators: u32,
    /// Tasks, one after the other.
    pub tasks: u32,
    /// From which everything random follows.
    pub seed: u64,
    /// How offers are ranked.
    pub ranking: Ranking,
    /// What the cartel does.
    pub conduct: Conduct,
}

/// How tasks ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Tasks that were judged rightly.
    pub right: u32,
    /// Tasks judged for the cartel's friend.
    pub wrong: u32,
    /// Tasks that nobody judged.
    pub none: u32,
    /// Judged by a notary of the cartel, rightly or not.
    pub by_cartel: u32,
    /// Assigned to a notary that was silent, whoever judged later.
    pub delayed: u32,
}

impl Verdicts {
    /// Tasks that the cartel spoiled or delayed.
    pub fn harmed(&self) -> u32 {
        self.wrong + self.none.max(self.delayed)
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The first half of the tasks.
    pub first_half: Verdicts,
    /// The second half, when reputations are known.
    pub second_half: Verdicts,
    /// FEEDBACK of the cartel's members for each other that the rates let through.
    pub mutual_praise: u64,
}

/// The tables refused what they should take, which is a mistake of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// By a search or a desk.
    Notary(NotaryError),
    /// A payload that is too long or not well formed.
    Payload(MeshPayloadError),
    /// A rating out of its range.
    Rating(ReputationError),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Notary(error) => error.fmt(f),
            Self::Payload(error) => error.fmt(f),
            Self::Rating(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl From<NotaryError> for Refused {
    fn from(error: NotaryError) -> Self {
        Self::Notary(error)
    }
}

impl From<MeshPayloadError> for Refused {
    fn from(error: MeshPayloadError) -> Self {
        Self::Payload(error)
    }
}

impl From<ReputationError> for Refused {
    fn from(error: ReputationError) -> Self {
        Self::Rating(error)
    }
}

struct Notary {
    id: AgentId,
    fee: i128,
    is_honest: bool,
    reputation: State,
    rates: AuthorRates,
}

struct Market {
    cartel: Cartel,
    notaries: Vec<Notary>,
    random: Random,
    judged: Judged,
}

fn rating(score: i8) -> Rating {
    Rating { score, outcome: if score > 0 { 2 } else { 0 }, role: 1, is_dispute: false }
}

impl Cartel {
    /// Lets all tasks be judged.
    ///
    /// # Errors
    /// The real tables refused something, which is a mistake of the simulation.
    pub fn run(self) -> Result<Judged, Refused> {
        let agents = Agents::new(self.seed, 0);
        let mut random = Random::new(self.seed, "cartel");
        let notaries = (0..self.honest + self.conspirators).map(|number| {
            let is_honest = number < self.honest;
            Notary {
                id: agents.id(u64::from(number)),
                fee: i128::from(if is_honest { random.between(10, 100) } else { random.between(1, 9) }),
                is_honest,
                reputation: State::default(),
                rates: AuthorRates::default(),
            }
        });
        let notaries = notaries.collect();
        let mut market = Market { cartel: self, notaries, random, judged: Judged::default() };
        for task in 0..self.tasks {
            market.task(task, &agents)?;
        }
        Ok(market.judged)
    }
}

impl Market {
    fn task(&mut self, number: u32, agents: &Agents) -> Result<(), Refused> {
        let now = START + u64::from(number) * PAUSE;
        let party = |side: u64| agents.id((1 << 32) + 2 * u64::from(number) + side);
        let (asker, other) = (party(0), party(1));
        let conversation = ConversationId(u128::from(number).to_be_bytes());
        let mut search = Search::ask(conversation, asker, other, UNIT, now);
        let mut desks = Vec::new();
        for notary in &self.notaries {
            let terms = Offer { fee: notary.fee, unit: UNIT, seconds: HONEST_SECONDS };
            desks.push(Desk::offer(conversation, notary.id, asker, terms, now + SECOND)?);
            let score = match self.cartel.ranking {
                Ranking::Fee => 0,
                Ranking::Heard | Ranking::Bound => notary.reputation.vector().notary_accuracy,
            };
            search.offer(Bid::of(notary.id, &terms.to_payload()?, score, b"")?, now + SECOND)?;
        }
        let choice = now + OFFERS_TIME;
        search.advance(choice);
        let Some(first) = search.offers().first().map(|bid| bid.notary) else { return Ok(()) };
        search.choose(first, choice)?;
        let has_friend = number % 5 == 4;
        let (mut ended, mut at) = (Verdicts::default(), choice);
        // The second notary follows the first one by the table itself.
        while let (Stage::Assigned, Some(place)) = (search.stage(), self.place_of(search.notary())) {
            desks[place].assign(asker, at)?;
            let notary = &self.notaries[place];
            if !notary.is_honest && self.cartel.conduct == Conduct::Silent {
                ended.delayed = 1;
                self.rate(place, [-100, -100])?;
                at = search.until().unwrap_or(at);
                search.advance(at);
                continue;
            }
            let is_right = notary.is_honest || !has_friend;
            let outcome = if is_right { 2 } else { 0 };
            let verdict = Verdict { outcome, deliver: [1; 32], reason: "" }.to_payload()?;
            search.judge(notary.id, &verdict, [number as u8; 32], at + SECOND)?;
            (ended.right, ended.wrong) = (u32::from(is_right), u32::from(!is_right));
            ended.by_cartel = u32::from(!notary.is_honest);
            // Whoever was wronged says so; the friend praises.
            self.rate(place, if is_right { [100, 100] } else { [-100, 100] })?;
        }
        ended.none = u32::from(search.stage() == Stage::Unjudged);
        let half = if number < self.cartel.tasks / 2 {
            &mut self.judged.first_half
        } else {
            &mut self.judged.second_half
        };
        half.right += ended.right;
        half.wrong += ended.wrong;
        half.none += ended.none;
        half.by_cartel += ended.by_cartel;
        half.delayed += ended.delayed;
        self.praise(now)
    }

    fn place_of(&self, notary: Option<AgentId>) -> Option<usize> {
        self.notaries.iter().position(|it| Some(it.id) == notary)
    }

    fn rate(&mut self, place: usize, scores: [i8; 2]) -> Result<(), Refused> {
        for score in scores {
            self.notaries[place].reputation.rate(&rating(score))?;
        }
        Ok(())
    }

    /// Members of the cartel rate each other as often as rates allow at once.
    fn praise(&mut self, now: u64) -> Result<(), Refused> {
        let honest = self.cartel.honest as usize;
        for member in honest..self.notaries.len() {
            while self.notaries[member].rates.take(MsgType::Feedback, now).is_ok() {
                let place = self.random.place(self.notaries.len() - honest).unwrap_or_default();
                self.judged.mutual_praise += 1;
                // Only who counts whatever is heard believes it.
                if self.cartel.ranking == Ranking::Heard {
                    self.notaries[honest + place].reputation.rate(&rating(100))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ranking: Ranking, conduct: Conduct) -> Judged {
        let cartel = Cartel { honest: 20, conspirators: 10, tasks: 200, seed: 5, ranking, conduct };
        assert_eq!(cartel.run(), cartel.run(), "the same seed gives the same result");
        cartel.run().unwrap()
    }

    #[test]
    fn silent_notaries_delay_every_task_when_fees_alone_decide_and_few_when_parties_rate_them() {
        let by_fee = run(Ranking::Fee, Conduct::Silent);
        assert_eq!(by_fee.second_half.delayed, 100);
        let bound = run(Ranking::Bound, Conduct::Silent);
        assert!(bound.first_half.delayed <= 10, "each of them once at most");
        assert_eq!((bound.second_half.delayed, bound.second_half.right), (0, 100));
    }

    #[test]
    fn mutual_praise_keeps_silent_notaries_in_business_where_everything_heard_counts() {
        let heard = run(Ranking::Heard, Conduct::Silent);
        assert!(heard.mutual_praise > 1_000);
        assert_eq!(heard.second_half.delayed, 100);
    }

    #[test]
    fn a_crooked_notary_is_dropped_only_by_ratings_of_the_parties() {
        let by_fee = run(Ranking::Fee, Conduct::Crooked);
        assert_eq!(by_fee.second_half.wrong, 20);
        assert!(run(Ranking::Bound, Conduct::Crooked).second_half.wrong <= 20);
    }
}
