//! What an operation's error says here, and the command that helps.

use crate::errors::{Error, Exit, Failure, reason, sentence};
use crate::files::shown;
use crate::words::{clause, count, slots};
use std::io::ErrorKind;
use zx1_chain::rpc::ChainError;
use zx1_operator::{Coded as _, Error as Operation, Origin, Refusal, Silent};

impl From<&Operation> for Failure {
    fn from(error: &Operation) -> Self {
        match error {
            Operation::Refused(refusal) => refusal.into(),
            Operation::Chain(ChainError::Declined) => Error::Declined.into(),
            Operation::Chain(error) => error.into(),
            Operation::Log(error) => error.into(),
            Operation::Bundle { origin, source } => Self::of(source, Some(after_bundle(*origin))),
            Operation::Evidence { agent, source } => {
                Self::of(source, Some(format!("zx1 batch show --agent {agent} --all")))
            }
            Operation::Draft(error) => Self::of(error, Some("send less, or the bulk by its hash")),
            Operation::Rating(error) => Self::of(error, Some("zx1 batch verify")),
            Operation::WriteFailed { path, source } if source.kind() == ErrorKind::AlreadyExists => {
                Error::Exists { path: shown(path) }.into()
            }
            Operation::WriteFailed { path, source } => {
                Error::WriteFailed { path: shown(path), why: reason(source) }.into()
            }
            Operation::ReadFailed { path, source } => {
                Error::ReadFailed { path: shown(path), why: reason(source) }.into()
            }
        }
    }
}

impl From<Operation> for Failure {
    fn from(error: Operation) -> Self {
        (&error).into()
    }
}

impl From<&Refusal> for Failure {
    fn from(refusal: &Refusal) -> Self {
        Self {
            code: refusal.code(),
            name: refusal.name().to_owned(),
            message: message(refusal),
            next: Some(next(refusal)),
            exit: exit(refusal),
            own: None,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        (&refusal).into()
    }
}

/// What was typed wrongly is the command line's fault.
fn exit(refusal: &Refusal) -> Exit {
    match refusal {
        Refusal::BadMultiaddr { .. }
        | Refusal::TooLong { .. }
        | Refusal::TooManyAddresses { .. }
        | Refusal::TooManyMetadata { .. } => Exit::Usage,
        _ => Exit::Failure,
    }
}

fn after_bundle(origin: Origin) -> &'static str {
    match origin {
        Origin::Log => "zx1 log list",
        Origin::Unsigned => "zx1 batch build",
        Origin::Saved => "zx1 batch show",
        Origin::Served => "try another place with --data",
        Origin::ServedOther => "try another place with --data: this data does not match the chain",
        Origin::File => "get the file again, from another source if necessary",
    }
}

/// The refusal, with slots as time.
fn message(refusal: &Refusal) -> String {
    let from_now = |left: u64| format!("{} from now, {}", count(left, "slot", "slots"), slots(left));
    match refusal {
        Refusal::NothingToBatch { epoch, why } => {
            format!("There is no batch of epoch {epoch} to make: {}.", clause(&why.to_string()))
        }
        Refusal::CannotClose { epoch, deadline, left } => format!(
            "The batch of epoch {epoch} cannot be closed yet: it can be challenged through slot {deadline}, {}.",
            from_now(*left)
        ),
        Refusal::WindowOpen { address, slot, left } => format!(
            "{address} cannot be resolved yet: its window ends after slot {slot}, {}.",
            from_now(*left)
        ),
        Refusal::LowerRank { address, lower, slot, left } => format!(
            "{address} has to wait: {lower} has a lower rank and is open through slot {slot}, {}.",
            from_now(*left)
        ),
        Refusal::ShowOpen { address, slot, left } => format!(
            "{address} cannot be settled yet: the leaf can be shown through slot {slot}, {}.",
            from_now(*left)
        ),
        Refusal::EraOpen { agent, era, open } => format!(
            "Era {era} of {agent} cannot be settled yet: {} open.",
            count(*open, "challenge is", "challenges are")
        ),
        Refusal::FineWaits { address, open } => format!(
            "{address} has to wait for its money: {} open against the era.",
            count(*open, "challenge is", "challenges are")
        ),
        Refusal::NoFeedback { index, count: entries } => {
            format!("No entry {index}: the log has {}.", count(*entries, "entry", "entries"))
        }
        Refusal::NodeRefused { number: 0, why } => format!("The node refused: {}", sentence(why)),
        Refusal::NodeRefused { number, why } => format!("The node refused ({number}): {}", sentence(why)),
        Refusal::NodeNotRunning { agent, why } => {
            // Without the number of the system's error.
            let why = clause(why.split(" (os error").next().unwrap_or_default());
            format!("The node of {agent} does not run: {why}.")
        }
        Refusal::NodeBroken { why } => {
            format!("The node's local API cannot be used: {}.", why.trim_end_matches('.'))
        }
        other => other.to_string(),
    }
}

/// After a refusal of the agent's node, by the number that the node gave.
fn after_node(number: u32) -> &'static str {
    match number {
        7620 => "zx1 message inbox shows the conversations",
        7621 => "leave --conversation out: a new deal has a conversation of its own",
        7622..=7629 => "zx1 negotiate show CONVERSATION",
        7630 => "zx1 notary offers lists searches, zx1 notary desk lists tasks",
        7631..=7638 => "zx1 notary offers CONVERSATION",
        7639..=7649 => "zx1 notary desk CONVERSATION",
        7650 | 7651 | 7655 => "zx1 message list",
        7652 => "wait until some of zx1 message list are over, or take them back",
        7653 | 7654 => "zx1 message send --help",
        7656 => "choose another --name; zx1 message list shows those that are taken",
        7688 => "zx1 message send --help",
        7695 => "try again in a moment",
        7696 | 7697 => "zx1 node signer, with limits that allow it",
        7698 => "zx1 doctor",
        _ => "zx1 node status",
    }
}

fn next(refusal: &Refusal) -> String {
    let text = match refusal {
        Refusal::BackupUnreadable { .. } => "give a file written by zx1 key backup",
        Refusal::WrongPassphrase { .. } => "try again with the right passphrase",
        Refusal::RestoreBlocked { .. } => {
            "restore into an empty folder: ZX1_HOME=/a/new/folder zx1 key restore …"
        }
        Refusal::NoStake { .. } => "zx1 stake lock 30",
        Refusal::NoTenure { .. } => "zx1 keys add FILE --scopes pay,batch,deal,peer",
        Refusal::KeyListed { key, .. } => {
            return format!("zx1 keys list; to list it anew: zx1 keys end {key}, then zx1 keys close {key}");
        }
        Refusal::KeyUnknown { .. } => "zx1 keys list",
        Refusal::KeyOfOtherNetwork { .. } => "make another key: zx1 key new FILE",
        Refusal::NoSuchEra { .. } => "zx1 stake show",
        Refusal::EraNotNamed { .. } => "choose one with --era",
        Refusal::BadMultiaddr { .. } => {
            "give one like /ip4/203.0.113.7/tcp/4001, with /p2p/ and a peer id or without"
        }
        Refusal::TooManyAddresses { .. } => "omit some; others try one after the other",
        Refusal::MintUnknown { .. } => "run the same command again, or look it up with zx1 doctor",
        Refusal::TooLong { .. } => "shorten it",
        Refusal::TooManyMetadata { .. } => "omit some; the registration file has no such limit",
        Refusal::NothingToBatch { .. } => "zx1 batch show",
        Refusal::NoStore => "zx1 config set upload FOLDER_OR_URL, or give --data",
        Refusal::BatchMissing { epoch } => return format!("zx1 batch build --epoch {epoch}"),
        Refusal::NotOfChain { .. } => {
            "try another place with --data, or get the file that the agent submitted"
        }
        Refusal::Withheld { .. } => "try another place with --data; a withheld batch counts for nothing",
        Refusal::NoBatchOnChain { agent, .. } => return format!("zx1 batch show --agent {agent} --all"),
        Refusal::BadBatchSignature { .. } => "get the file that the agent submitted",
        Refusal::NotASigner { scope, .. } => {
            let scope = scope.split(' ').next().unwrap_or_default();
            return format!("zx1 keys list; another key: zx1 keys add FILE --scopes {scope}");
        }
        Refusal::NoHead { .. } => "zx1 batch open",
        Refusal::OtherMessage { .. } => "give the message that zx1 batch build printed for this file",
        Refusal::BatchVoid { .. } => "zx1 batch submit, without --epoch",
        Refusal::CannotClose { epoch, .. } => return format!("zx1 batch show --epoch {epoch}"),
        Refusal::NotAFolder { .. } => "give a folder or an http(s) URL",
        Refusal::NothingFound { .. } => "keep the evidence; a later batch may still be wrong",
        Refusal::NoAnswer { .. } => "find the data that was submitted; zx1 batch verify checks a file",
        Refusal::AlreadySettled { address, .. } => return format!("zx1 challenge close {address}"),
        Refusal::LowerRank { .. } => "zx1 challenge list",
        Refusal::RankUnknown { .. } => "run the command again, or name another node with --url",
        Refusal::NotSettled { address } => return format!("zx1 challenge resolve {address}"),
        Refusal::EraEmpty { .. } => "look for a batch of another era: zx1 batch show",
        Refusal::EraOpen { .. } => "zx1 challenge list",
        Refusal::NoDraft { .. } => "zx1 challenge cancel lists them",
        Refusal::NoAsk { .. } => "zx1 ask list",
        Refusal::NoSuchLeaf { .. } => "choose a smaller number, or the other --tree",
        Refusal::AskWindowOver { .. } | Refusal::BatchWithheld { .. } => "zx1 batch show",
        Refusal::AskSettled { address, .. } | Refusal::ShowOver { address, .. } => {
            return format!("zx1 ask settle {address}");
        }
        Refusal::LeafUnknown { .. } => "run it where the agent's log is, or give --data",
        Refusal::ShowOpen { .. } | Refusal::FineWaits { .. } => "zx1 ask list",
        Refusal::NoChallenge { .. } | Refusal::WindowOpen { .. } | Refusal::WindowOver { .. } => {
            "zx1 challenge list"
        }
        Refusal::KeeperState { .. } => "check it; move it away only if you know what was spent today",
        Refusal::FeedbackLength { limit, .. } => return format!("give a text of 1 to {limit} bytes"),
        Refusal::NoFeedback { .. } => "zx1 feedback list",
        Refusal::SponsorBroken { .. } => "use another sponsor, or pay yourself: omit --sponsor",
        Refusal::SponsorRefused { .. } => "try tomorrow, use another sponsor, or omit --sponsor",
        Refusal::NotAccepted { .. } => {
            "zx1 log list shows the conversations; give --slot and --presignature when the log lacks them"
        }
        Refusal::NoPresignature { .. } => {
            "ask for the message that carries it: the ACCEPT, or the first one after it"
        }
        Refusal::NotOwner { .. } => "sign with the owner's key: --keypair",
        Refusal::NotFiled { about, .. } => {
            return format!("zx1 reputation show --source sati --agent {about}");
        }
        Refusal::NoSuchSource { silent: Silent::Batch } => "zx1 reputation show --source sati",
        Refusal::NoSuchSource { silent: Silent::Gossip } => "zx1 reputation show --source batch",
        Refusal::NodeNotRunning { agent, .. } => return format!("zx1 node run --agent {agent}"),
        Refusal::NodeBroken { .. } => "end the node's process and start it again with zx1 node run",
        Refusal::NodeRefused { number, .. } => after_node(*number),
        Refusal::NotAnIndexer { .. } => "check --indexer and -u",
        Refusal::NotRegistered { .. } => "check the address and the cluster (-u)",
    };
    text.to_owned()
}
