//! Feedback that a sponsor pays for: the sponsor builds and signs each transaction, we look at it, sign and
//! send it.

use super::Submitted;
use crate::error::{Error, Refusal, Result};
use crate::operator::{Event, Operator, Wallet};
use crate::send::{Sent, holds};
use serde::{Deserialize, Serialize};
use solana_address::Address;
use std::time::Duration;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{ChainError, Intent, PartialTransaction, Step, Summary, is_race};
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_interface::ids;
use zx1_net::{Endpoint, FetchError, Fetcher, Limit, Method, Options, Problem};
use zx1_protocol::hash::{Keccak as _, Sha3};

/// Where a sponsor takes requests.
pub const ROUTE: &str = "/v1/feedback";

/// Largest request in bytes: JSON writes a byte with at most six.
pub const MAX_REQUEST: usize = 6 * MAX_FEEDBACK_BYTES + 256;
/// A sponsor's answer is one transaction.
const MAX_ANSWER: usize = 16_384;
/// A text of 2 048 bytes takes five.
const MOST_STEPS: usize = 32;
/// How often somebody else may be faster.
const MOST_RACES: u32 = 10;

/// What a sponsor is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The sender's wallet in base58.
    pub sender: String,
    /// The text, 1 to 2 048 bytes.
    pub text: String,
}

/// The next transaction, signed by the sponsor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Answer {
    pub transaction: serde_json::Value,
    /// Whether the text stands once this one landed.
    pub last: bool,
}

/// Client of a sponsor, which pays for other people's feedback.
pub struct Sponsor {
    fetcher: Fetcher,
}

impl Sponsor {
    /// The sponsor at an address; nothing is asked yet.
    ///
    /// # Errors
    /// 7572 when the URL does not begin with http:// or https://.
    pub fn new(url: &str) -> Result<Self> {
        let bad = |why: String| Refusal::SponsorBroken { url: url.to_owned(), why };
        let endpoint = Endpoint::parse(url).map_err(|_| bad("expected http:// or https://".to_owned()))?;
        let fetcher = Fetcher::new(endpoint, Options::default()).map_err(|error| bad(error.to_string()))?;
        Ok(Self { fetcher })
    }

    fn url(&self) -> String {
        self.fetcher.endpoint().at(ROUTE).to_string()
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        Refusal::SponsorBroken { url: self.url(), why: why.into() }.into()
    }

    async fn ask(&self, request: &Request) -> Result<Answer> {
        let posted = self.fetcher.request(Method::POST, ROUTE).json(request);
        let answer = match self.fetcher.fetch(posted, Limit::Whole(MAX_ANSWER)).await {
            Ok(answer) => answer,
            Err(FetchError::TooLarge { .. }) => {
                return Err(self.broken("its answer is longer than a transaction"));
            }
            Err(error) => return Err(self.broken(error.to_string())),
        };
        if !answer.status.is_success() {
            let why = Problem::read(&answer.body).sentence_or(&format!("it answered {}", answer.status));
            return Err(Refusal::SponsorRefused { url: self.url(), why }.into());
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| self.broken(format!("its answer cannot be parsed: {error}")))
    }
}

/// Whether our signature on this transaction can do nothing but append this text. The sponsor pays for all of
/// it, or it is not signed.
fn check(partial: &PartialTransaction, sender: &Address) -> Result<Address, String> {
    let message = partial.message();
    let keys = message.static_account_keys();
    let payer = *keys.first().ok_or("it has no payer")?;
    if payer == *sender {
        return Err("it makes you pay".to_owned());
    }
    let allowed = [Address::new_from_array(ids::FEEDBACK_LOG), solana_compute_budget_interface::id()];
    for instruction in message.instructions() {
        let program = keys.get(usize::from(instruction.program_id_index));
        if !program.is_some_and(|program| allowed.contains(program)) {
            return Err("it calls another program than the feedback log".to_owned());
        }
    }
    let summary: Summary = partial.summary();
    if !summary.is_understood() {
        return Err("it holds something that zx1 does not understand".to_owned());
    }
    let ours = sender.to_string();
    if summary.moves.iter().any(|moved| moved.from.to_string() == ours) {
        return Err("it takes money from you".to_owned());
    }
    let missing = partial.missing();
    if missing != [*sender] {
        return Err("it lacks other signatures than yours".to_owned());
    }
    Ok(payer)
}

impl Operator {
    /// Appends a text at a sponsor's cost. Every transaction is checked: our signature on it can do nothing but
    /// append this text.
    ///
    /// # Errors
    /// 7572 when the sponsor is none, 7573 when it refuses.
    pub async fn submit_sponsored(&self, sponsor: &Sponsor, text: &str, key: &Wallet) -> Result<Submitted> {
        let _stage = self.stage(Event::Preparing);
        let client = self.client();
        let sati = Sati::connect(client).await?;
        let actions = Actions::new(client, &sati).await?;
        let request = Request { sender: key.address().to_string(), text: text.to_owned() };
        let sender = self.sender()?;
        // Whoever pays: a text that was sent is not sent again by another sponsor.
        let hash = Address::new_from_array(Sha3::hashv(&[text.as_bytes()]));
        let intent = Intent::new("sponsored-feedback", &[&key.address(), &hash]);
        if let Some(outcome) = sender.earlier(&intent).await? {
            return self.sponsored(Sent::new(sender, outcome), key.address(), text).await;
        }
        sender.settle_steps(&intent).await?;
        let mut races = 0_u32;
        for _ in 0..MOST_STEPS {
            if races > 0 {
                tokio::time::sleep(Duration::from_millis(100 << races.min(5))).await;
            }
            let answer = sponsor.ask(&request).await?;
            let mut partial = PartialTransaction::from_text(&answer.transaction.to_string())?;
            let payer = check(&partial, &key.address()).map_err(|why| sponsor.broken(why))?;
            // What the transaction must hold is what we would build ourselves for this payer.
            let flow = actions.feedback(key.address(), payer, text)?;
            let Step::Send { draft, last } = flow.next(client).await? else {
                return Err(sponsor.broken("it sends a transaction that has landed already"));
            };
            if !holds(&partial, &draft) {
                // The number of the entry is in it, and somebody may have taken that one meanwhile.
                if races < MOST_RACES {
                    races = races.saturating_add(1);
                    continue;
                }
                return Err(sponsor.broken("its transaction is not the one that appends your text"));
            }
            partial.intent = if last { intent.clone() } else { intent.step(draft.intent.as_str()) };
            partial.title = draft.title.clone();
            partial.sign(&[key.keypair()])?;
            let outcome = match sender.submit(&partial).await {
                Err(ChainError::Refused(refusal))
                    if races < MOST_RACES && is_race(flow.as_ref(), &refusal) =>
                {
                    races = races.saturating_add(1);
                    continue;
                }
                outcome => outcome?,
            };
            if last {
                return self.sponsored(Sent::new(sender, outcome), key.address(), text).await;
            }
            sender.acknowledge(&outcome).await?;
        }
        Err(sponsor.broken("it does not finish"))
    }

    /// What landed, with the payer that the transaction names.
    async fn sponsored(&self, sent: Sent, sender: Address, text: &str) -> Result<Submitted> {
        let index = self.index_of(sender, text).await?;
        let signature = sent.signature.as_deref().and_then(|text| text.parse().ok());
        let landed = match signature {
            Some(signature) => self.client().find_transaction(&signature).await?,
            None => None,
        };
        let payer = landed.and_then(|landed| landed.keys.first().map(Address::to_string));
        let payer = payer.unwrap_or_else(|| "a sponsor".to_owned());
        Ok(Submitted { sent, index, sender: sender.to_string(), payer, bytes: text.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    /// What fits into the buffers of two sockets after the client has stopped reading.
    const IN_FLIGHT: usize = 16 << 20;

    /// A sponsor that answers one request with chunks and stops only after 256 MB. How many bytes it got rid
    /// of can be asked when it has ended.
    fn endless() -> (String, std::thread::JoinHandle<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            assert_ne!(socket.read(&mut [0; 4096]).unwrap(), 0);
            socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
            let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
            let mut sent = 0;
            while sent < 16 * IN_FLIGHT && socket.write_all(chunk.as_bytes()).is_ok() {
                sent += chunk.len();
            }
            sent
        });
        (url, server)
    }

    #[tokio::test]
    async fn an_answer_without_end_does_not_fill_memory() {
        let (url, server) = endless();
        let request = Request { sender: "s".to_owned(), text: "t".to_owned() };
        let refused = Sponsor::new(&url).unwrap().ask(&request).await.unwrap_err();
        assert_eq!(refused.code(), 7572);
        assert!(refused.to_string().contains("longer than"), "{refused}");
        // On another thread: the connection is closed by a task of this one.
        let sent = tokio::task::spawn_blocking(|| server.join().unwrap()).await.unwrap();
        assert!(sent < IN_FLIGHT, "{sent} bytes were read");
    }
}
