//! The agent's mesh node, and what commands about its messages share.

use crate::agent_files;
use crate::context::{Agent, Context, find_agent};
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::input;
use crate::output::{self, Page};
use crate::words;
use std::path::PathBuf;
use std::time::Duration;
use zx1_operator::node::wire::{self, Draft};
use zx1_operator::node::{MAX_NAME, MAX_TTL, NodeClient};
use zx1_operator::{Error as Operation, Refusal};
use zx1_protocol::mesh_payload::MAX_CAP_LEN;

/// Interval of questions about a message that is on its way.
const POLL: Duration = Duration::from_millis(500);
/// First and longest pause before a node that went away is asked again.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// Characters of a payload's text that a page shows; JSON has all.
const MAX_SHOWN: usize = 600;

/// The agent that a command names, or that of this run.
///
/// # Errors
/// 7434 to 7436; 7400 when --agent names one too.
pub fn agent(context: &Context, named: Option<&str>) -> Result<Agent> {
    match named {
        Some(_) if context.flags().agent.is_some() => {
            let message = "Give the agent once: as an argument or with --agent.".to_owned();
            Err(Error::Usage { message }.into())
        }
        Some(named) => find_agent(&context.config()?, named),
        None => context.agent(),
    }
}

/// The client of the agent's node on this machine; nothing is asked yet.
///
/// # Errors
/// 7592 when it does not run, 7593 for files that it did not write.
pub fn client(context: &Context, agent: &Agent) -> Result<NodeClient> {
    Ok(NodeClient::of(&agent_files::folder(context, agent)?, agent.mint)?)
}

/// The node's client for a command that outlives the node: after a restart its place and its token are others.
#[derive(Debug)]
pub struct Lasting<'a> {
    context: &'a Context,
    agent: &'a Agent,
    client: NodeClient,
    /// The pause after the next failure; `None` until the node has answered for the first time.
    pause: Option<Duration>,
    is_away: bool,
}

impl<'a> Lasting<'a> {
    /// Nothing is asked yet.
    ///
    /// # Errors
    /// As of [`client`].
    pub fn new(context: &'a Context, agent: &'a Agent) -> Result<Self> {
        Ok(Self { context, agent, client: client(context, agent)?, pause: None, is_away: false })
    }

    /// The client as it is now.
    pub fn client(&self) -> &NodeClient {
        &self.client
    }

    /// To be called with each answer's result. `None` after a pause, when it is to be asked again.
    ///
    /// # Errors
    /// The first failure, and any that a restart does not explain.
    pub async fn outlast<T>(&mut self, answer: zx1_operator::Result<T>) -> Result<Option<T>> {
        let error = match answer {
            Ok(answer) => {
                if std::mem::take(&mut self.is_away) {
                    output::warn("The node answers again.");
                }
                self.pause = Some(PAUSE.0);
                return Ok(Some(answer));
            }
            Err(error) => error,
        };
        let Some(pause) = self.pause.filter(|_| is_restart(&error)) else { return Err(error.into()) };
        if !std::mem::replace(&mut self.is_away, true) {
            output::warn(&format!("{} Trying again until it answers.", Failure::from(&error).message));
        }
        self.pause = Some(pause.saturating_mul(2).min(PAUSE.1));
        tokio::time::sleep(pause).await;
        if let Ok(client) = client(self.context, self.agent) {
            self.client = client;
        }
        Ok(None)
    }
}

/// Whether a node that ends or starts gives such an error.
fn is_restart(error: &Operation) -> bool {
    matches!(error, Operation::Refused(Refusal::NodeNotRunning { .. } | Refusal::NodeBroken { .. }))
}

/// Content of a message.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Content {
    /// Content as text
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["hex", "file"])]
    text: Option<String>,
    /// Content as hex
    #[arg(long, value_name = "HEX", conflicts_with = "file")]
    hex: Option<String>,
    /// Read the content from a file, byte for byte
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
}

impl Content {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.text.is_none() && self.hex.is_none() && self.file.is_none()
    }

    /// Puts it into a message.
    ///
    /// # Errors
    /// 7406 or 7452 for the file, 7450 for the hex, 7453 when no message has room for it.
    pub fn put(&self, message: &mut wire::Send) -> Result<()> {
        let bytes = match (&self.hex, &self.file) {
            (Some(hex), _) => Some(input::hex_bytes(hex, "The content")?),
            (None, Some(path)) => Some(files::read_needed(path, defaults::MAX_MESSAGE as u64)?.to_vec()),
            (None, None) => None,
        };
        let size = self.text.as_ref().map(String::len).or(bytes.as_ref().map(Vec::len)).unwrap_or_default();
        if size > defaults::MAX_MESSAGE {
            let (what, limit) = ("The content".to_owned(), defaults::MAX_MESSAGE);
            return Err(Error::MessageTooLarge { what, size, limit }.into());
        }
        message.text.clone_from(&self.text);
        message.hex = bytes.map(hex::encode);
        Ok(())
    }
}

/// How a message is sent.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Sending {
    /// Name of the message: the same message under the same name is sent once
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Time after which it is not sent any more, such as 90s, 30m or 1h, at most 24h [default: 24h]
    #[arg(long, value_name = "TIME", value_parser = ttl)]
    ttl: Option<u32>,
    /// Wait until the recipient has it or will not get it; exit code 1 if it has not
    #[arg(long)]
    wait: bool,
}

impl Sending {
    /// Gives the message to the node, and prints what the outbox then says of it.
    ///
    /// # Errors
    /// The node's; 7596 when --wait was given and the message was not delivered.
    pub async fn send(&self, context: &Context, client: &NodeClient, mut message: wire::Send) -> Result<()> {
        message.name.clone_from(&self.name);
        message.ttl_seconds = self.ttl;
        let draft = client.send(&message).await?;
        if !self.wait {
            return context.show(&draft, draw_draft);
        }
        if !context.format()?.is_json() {
            output::write_err(&format!("Message {} is in the outbox. Waiting for its end.\n", draft.draft));
        }
        let (draft, failed) = ended(context, client, draft).await;
        context.show(&draft, draw_draft)?;
        match failed {
            Some(error) => Err(error.into()),
            None if is_delivered(&draft) => Ok(()),
            None => Err(not_delivered(&draft)),
        }
    }
}

/// The message once it is known whether it was delivered, or as it was last known and why nothing more is.
async fn ended(context: &Context, client: &NodeClient, mut draft: Draft) -> (Draft, Option<Operation>) {
    let progress = context.spinner("Waiting for the recipient");
    let is_json = context.error_format().is_json();
    let mut said = None;
    while !draft.is_over && matches!(draft.state.as_str(), "queued" | "sent") {
        if draft.why != said && !is_json {
            said.clone_from(&draft.why);
            let why = words::one_line(said.as_deref().unwrap_or("on its way"), MAX_SHOWN);
            progress
                .suspend(|| output::write_err(&format!("Message {}: {}\n", draft.draft, words::plain(&why))));
        }
        tokio::time::sleep(POLL).await;
        match client.draft(draft.draft).await {
            Ok(now) => draft = now,
            Err(error) => return (draft, Some(error)),
        }
    }
    (draft, None)
}

/// On a topic nobody acknowledges: there a published message stays `sent`, and is over.
fn is_delivered(draft: &Draft) -> bool {
    draft.state == "acknowledged" || (draft.state == "sent" && draft.is_over)
}

fn not_delivered(draft: &Draft) -> Failure {
    let why = draft.why.as_deref().map(|why| format!(": {}", words::clause(why))).unwrap_or_default();
    Error::NotDelivered { draft: draft.draft, state: draft.state.clone(), why }.into()
}

fn name(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("expected a name of 1 byte or more".to_owned()),
        found if found > MAX_NAME => Err(format!("{found} bytes, and a name has at most {MAX_NAME}")),
        _ if text.contains(char::is_control) => Err("expected a name without control characters".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Seconds from a time such as 90s, 30m or 1h, of at least a second and at most a day.
pub fn ttl(text: &str) -> Result<u32, String> {
    let seconds = seconds(text).filter(|seconds| (1..=MAX_TTL).contains(seconds));
    seconds.ok_or_else(|| "expected 1s to 24h, such as 90s, 30m or 1h".to_owned())
}

/// Seconds from a number with one of the units s, m and h. Without a unit they are seconds.
pub fn seconds(text: &str) -> Option<u32> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, text.strip_prefix(number)?),
        None => (text, "s"),
    };
    // The standard library takes a plus sign, too.
    let number: u32 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    number.checked_mul(match unit {
        "h" => 3_600,
        "m" => 60,
        _ => 1,
    })
}

/// A number that is not negative.
pub fn not_negative(text: &str) -> Result<i128, String> {
    let number: i128 = text.parse().map_err(|error: std::num::ParseIntError| error.to_string())?;
    if number < 0 { Err("negative numbers are not allowed".to_owned()) } else { Ok(number) }
}

/// A text of some bytes, which a payload has room for.
pub fn sized(text: &str, least: usize, most: usize) -> Result<String, String> {
    match text.len() {
        length if (least..=most).contains(&length) => Ok(text.to_owned()),
        length => Err(format!("expected {least} to {most} bytes, not {length}")),
    }
}

/// A capability. The local API separates them with commas.
pub fn capability(text: &str) -> Result<String, String> {
    if text.contains(',') {
        return Err("expected one without a comma; give several as words of their own".to_owned());
    }
    sized(text, 1, MAX_CAP_LEN)
}

/// A moment in microseconds, in words.
pub fn moment(micros: u64) -> String {
    words::moment(i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX))
}

/// Draws a message of the outbox.
pub fn draw_draft(draft: &Draft, page: &mut Page) {
    page.field("message", draft.draft)
        .field("type", &draft.r#type)
        .field("to", draft.recipient.as_deref().unwrap_or("everybody"))
        .field("conversation", &draft.conversation)
        .field("state", &draft.state);
    let error = draft.error.filter(|number| *number > 0);
    page.maybe("error", error)
        .maybe("why", draft.why.as_deref())
        .field("name", &draft.name)
        .field("taken", moment(draft.created_micros));
    if draft.state == "queued" {
        page.field("expires", moment(draft.expires_micros));
    }
    if draft.tries > 0 {
        page.field("failed tries", draft.tries);
    }
    page.maybe("hash", draft.message.as_deref());
    let number = draft.draft;
    match draft.state.as_str() {
        "queued" => page.next(format!("zx1 message show {number}, or zx1 message take-back {number}")),
        "sent" if !draft.is_over => page.next(format!("zx1 message show {number}")),
        "unanswered" if !draft.is_over => {
            page.next(format!("zx1 message settle {number} lets the messages behind it go"))
        }
        _ => page,
    };
}

/// Draws what is known of a payload: fields of a known format, text where bytes are one.
pub fn draw_payload(payload: Option<&serde_json::Value>, length: u32, page: &mut Page) {
    let Some(fields) = payload.and_then(serde_json::Value::as_object) else {
        page.field("payload", format!("{}, not kept here", words::count(length, "byte", "bytes")));
        return;
    };
    for (name, value) in fields.iter().filter(|(name, _)| *name != "kind") {
        let is_hex = matches!(name.as_str(), "content" | "hex" | "terms");
        let label = if is_hex { "content".to_owned() } else { name.replace('_', " ") };
        let text = match value {
            serde_json::Value::String(text) if is_hex => readable(text),
            serde_json::Value::String(text) => words::one_line(text, MAX_SHOWN),
            serde_json::Value::Array(items) => listed(items),
            other => other.to_string(),
        };
        if !text.is_empty() {
            page.field(label, text);
        }
    }
}

fn listed(items: &[serde_json::Value]) -> String {
    let texts = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
    words::one_line(&texts.collect::<Vec<_>>().join(", "), MAX_SHOWN)
}

/// The text that hex stands for, or how many bytes it is.
fn readable(text: &str) -> String {
    let Ok(bytes) = hex::decode(text) else { return words::one_line(text, MAX_SHOWN) };
    match std::str::from_utf8(&bytes) {
        Ok(said) if !said.contains('\0') => words::one_line(said, MAX_SHOWN),
        _ => format!("{}: {}", words::count(bytes.len(), "byte", "bytes"), words::short(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_a_bound() {
        assert_eq!((ttl("90s"), ttl("30m"), ttl("24h"), ttl("45")), (Ok(90), Ok(1_800), Ok(MAX_TTL), Ok(45)));
        for text in
            ["", "0", "0s", "86401", "25h", "1d", "-1s", "+1s", "1.5h", "h", "1hh", "4294967296s", "2000000h"]
        {
            assert!(ttl(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0"), Some(0));
    }

    #[test]
    fn a_number_that_is_not_negative() {
        assert_eq!((not_negative("0"), not_negative("500")), (Ok(0), Ok(500)));
        assert_eq!(not_negative(&i128::MAX.to_string()), Ok(i128::MAX));
        for text in ["", "-1", "much", "1.5", "170141183460469231731687303715884105728"] {
            assert!(not_negative(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_capability_is_a_word_without_commas() {
        assert!(capability("translate").is_ok() && capability(&"c".repeat(MAX_CAP_LEN)).is_ok());
        for text in [String::new(), "a,b".to_owned(), "c".repeat(MAX_CAP_LEN + 1)] {
            assert!(capability(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        assert!(name(&"n".repeat(MAX_NAME)).is_ok());
        for text in [String::new(), "n".repeat(MAX_NAME + 1), "a\u{1b}[2J".to_owned()] {
            assert!(name(&text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn bytes_are_shown_as_the_text_that_they_are() {
        assert_eq!(readable(&hex::encode("three pages\u{1b}[2J")), "three pages [2J");
        assert_eq!(readable("ff00"), "2 bytes: ff00");
        assert_eq!(readable("not hex"), "not hex");
        assert_eq!(readable(""), "");
    }

    #[test]
    fn only_what_a_restart_explains_is_waited_out() {
        let of = |refusal: Refusal| is_restart(&Operation::from(refusal));
        assert!(of(Refusal::NodeNotRunning { agent: String::new(), why: String::new() }));
        assert!(of(Refusal::NodeBroken { why: String::new() }));
        assert!(!of(Refusal::NodeRefused { number: 1, why: String::new() }));
    }
}
