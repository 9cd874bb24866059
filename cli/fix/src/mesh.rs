//! What the agent's own node heard on the mesh, for the agent.

use crate::screen::{Screen, Tone};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;
use zx1_agent::worker::Announced;
use zx1_market::wire::advert::{CAP, Offer};
use zx1_operator::node::NodeClient;
use zx1_operator::node::wire::Advert;
use zx1_protocol::ids::AgentId;

/// How often the node is asked.
const EVERY: Duration = Duration::from_millis(500);
/// The pause before a node that is away is asked again.
const AWAY: Duration = Duration::from_secs(5);
/// Announcements that wait for the agent.
const ROOM: usize = 64;
/// Adverts of one answer that are read, the newest ones.
const MAX_READ: usize = 4_096;

/// Asks the node of this agent, as long as somebody listens. A node that is away is said once, and asked again.
pub fn listen(screen: Screen, folder: PathBuf, agent: AgentId) -> mpsc::Receiver<Announced> {
    let (sender, receiver) = mpsc::channel(ROOM);
    tokio::spawn(async move {
        let mut news = News::default();
        let mut is_away = false;
        while !sender.is_closed() {
            // Its address is read anew each time: a node that was started again has another port.
            let heard = match NodeClient::of(&folder, agent) {
                Ok(node) => node.adverts(&[CAP.to_owned()]).await,
                Err(error) => Err(error),
            };
            match heard {
                Ok(adverts) => {
                    if std::mem::take(&mut is_away) {
                        screen.step("node", json!({ "is_away": false }), "The node of the mesh is back.");
                    }
                    for announced in news.of(&adverts) {
                        if sender.send(announced).await.is_err() {
                            return;
                        }
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_away, true) {
                        let data = json!({ "is_away": true, "error": error.to_string() });
                        let text = format!("{error} Contracts are found in the market's list meanwhile.");
                        screen.tell(Tone::Warn, "node", data, &text);
                    }
                }
            }
            tokio::time::sleep(if is_away { AWAY } else { EVERY }).await;
        }
    });
    receiver
}

/// Tells what was not in the last answer.
#[derive(Debug, Default)]
struct News {
    last: BTreeSet<(String, String, u64)>,
}

impl News {
    /// The contracts that were announced since the last answer, the oldest first.
    fn of(&mut self, adverts: &[Advert]) -> Vec<Announced> {
        let mut now = BTreeSet::new();
        let mut new = Vec::new();
        for advert in adverts.iter().take(MAX_READ) {
            let Advert { agent, schema, unit, price, contract, heard_micros, .. } = advert;
            let Some(offer) = Offer::read(schema, unit, price, contract.as_deref()) else { continue };
            let key = (agent.clone(), offer.contract.to_string(), *heard_micros);
            if !self.last.contains(&key) {
                new.push(Announced { by: agent.clone(), offer });
            }
            now.insert(key);
        }
        self.last = now;
        new.reverse();
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_market::wire::advert::{SCHEMA, UNIT};

    fn advert(contract: &str, heard_micros: u64) -> Advert {
        Advert {
            agent: "m".to_owned(),
            caps: vec![CAP.to_owned()],
            schema: SCHEMA.to_owned(),
            unit: UNIT.to_owned(),
            price: "5".to_owned(),
            contract: Some(contract.to_owned()),
            heard_micros,
            ends_micros: heard_micros + 1,
        }
    }

    #[test]
    fn each_announcement_is_told_once_and_what_is_none_not_at_all() {
        let (first, second) = ("https://m#0000000000000001", "https://m#0000000000000002");
        let mut news = News::default();
        let told = |news: &mut News, adverts: &[Advert]| {
            news.of(adverts).iter().map(|it| it.offer.contract.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(told(&mut news, &[advert(second, 2), advert(first, 1)]), [first, second]);
        assert!(told(&mut news, &[advert(second, 2), advert(first, 1)]).is_empty());
        assert_eq!(told(&mut news, &[advert(first, 3)]), [first]);
        for strange in ["m#0000000000000001", "https://m#1", "https://m", "ftp://m#0000000000000001", ""] {
            assert!(told(&mut news, &[advert(strange, 4)]).is_empty(), "{strange}");
        }
        let other = Advert { schema: "other".to_owned(), ..advert(first, 5) };
        let dear = Advert { price: "-1".to_owned(), ..advert(first, 5) };
        assert!(told(&mut news, &[other, dear]).is_empty());
    }
}
