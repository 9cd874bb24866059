//! The next step after an error of a library or of the chain: a command of zx1, or what else helps.

use std::borrow::Cow;
use std::io::ErrorKind;
use zx1_chain::rpc::{ChainError, Foreign, Refusal};
use zx1_interface::Error;
use zx1_log::LogError;
use zx1_operator::qa::QaError;
use zx1_relay_client::ClientError;

/// The next step after an error of the cluster's client. Where the fields are more specific than the number,
/// they decide.
pub fn after_chain(error: &ChainError) -> Option<Cow<'static, str>> {
    match error {
        ChainError::Unreachable { url, .. } if url.contains("127.0.0.1") || url.contains("localhost") => {
            Some("start the local cluster with zx1-localnet, or name another one with --url".into())
        }
        ChainError::NoUsdc { wallet, local: true } => {
            Some(format!("zx1-localnet fund {wallet} --usdc 100").into())
        }
        ChainError::Refused(refusal) => after_refusal(refusal),
        other => after(other.code()).map(Cow::Borrowed),
    }
}

/// After a transaction that the cluster refused.
pub fn after_refusal(refusal: &Refusal) -> Option<Cow<'static, str>> {
    match refusal.foreign {
        Some(Foreign::NoSol(Some(payer))) if refusal.local => {
            Some(format!("zx1-localnet fund {payer} --sol 10").into())
        }
        _ => after(refusal.code).map(Cow::Borrowed),
    }
}

/// After an error of the agent's log.
pub fn after_log(error: &LogError) -> Option<&'static str> {
    match error {
        LogError::Io { source, .. } => Some(match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "free some disk space and try again; what was logged before is intact"
            }
            ErrorKind::FileTooLarge => "raise the limit on file sizes (ulimit -f) and try again",
            ErrorKind::PermissionDenied => "run as the user who owns the folder, or correct its owner",
            _ => "check the disk and the folder, and try again",
        }),
        other => after(other.code()),
    }
}

/// After a refusal of the relay, of another agent there, or of the relay's rules.
pub fn after_relay(error: &ClientError) -> &'static str {
    if let ClientError::Refused { code, .. } = error {
        return match code.as_str() {
            "AGENT_NOT_FOUND" => {
                "zx1 chat who '#general' lists who is there; agents that are away cannot be reached"
            }
            "CHANNEL_NOT_FOUND" => "zx1 chat who lists the channels; zx1 chat join --create makes one",
            "NOT_INVITED" => "ask a member of the channel for an invitation",
            "RATE_LIMITED" => "wait a little, then run it again",
            "NOT_ALLOWED" | "BANNED" => "ask whoever runs the relay",
            "INSUFFICIENT_REPUTATION" | "INVALID_STAKE" => "stake less with --elo-stake",
            "INVALID_PROPOSAL" | "PROPOSAL_NOT_FOUND" => "check the proposal's id and what has become of it",
            _ => "zx1 chat --help",
        };
    }
    match error.code() {
        7705 => "send it in several messages, or as a file with zx1 chat send",
        7706 => "choose another one with --name",
        7707 => "give a channel such as '#general'",
        7724 => "leave --ephemeral out: what is signed needs a key",
        7750..=7754 => "rename the files or leave some out, then send again",
        7755 => "send fewer files at a time",
        7756..=7761 => "have the files offered again",
        7780 => "zx1 config set relay ws://127.0.0.1:6667",
        7781 => "start a relay with zx1-relay, or choose another one with --relay",
        7783 | 7784 | 7787 => "check the network, then run it again",
        7785 => "one key is one session: use another key, or --ephemeral",
        7786 => "ask whoever runs the relay",
        7788 | 7789 => "check the file, its owner and its rights",
        7790 => "give the file itself, or another folder with --to",
        7791 => "choose another folder with --to",
        7792 => "pack them into one file first",
        7793 | 7794 => "ask the recipient, then send again",
        7795 => "ask the sender to run zx1 chat send now",
        _ => "zx1 chat --help says what the options take",
    }
}

/// After an error of the QA loop.
pub fn after_qa(error: &QaError) -> Option<&'static str> {
    Some(match error.code() {
        7800..=7804 => "give a line qa_tool(JSON), as zx1 feedback submit --help explains",
        7810..=7819 => "shorten the finding",
        7820 => "zx1 qa dial observe",
        7821 => "zx1 qa dial shows the rung; zx1 qa dial exercise raises it",
        7822..=7827 => "zx1 qa dial observe, or a line that the maintainer signed",
        7830 | 7831 => "raise the limits of [budget] in the loop's qa.toml",
        7835 => "run it in a repository, or name one with --repository",
        7836 => "git status",
        7837 => "check the folder's rights and free space",
        7838 => "correct the file, or remove it for the defaults",
        7839 => "wait for the other process, or zx1 qa stop",
        7840..=7859 => "make the patch with git diff: the fix, and a new test beside the old ones",
        7860..=7871 | 7874 => "correct the patch and run zx1 qa propose again",
        7872 | 7873 => "zx1 qa review",
        7880 => "zx1 qa probe --help lists suites that run here",
        7881 => "ask its sender for a line that reproduces it",
        7882 => "correct [gate] in the loop's qa.toml: how the tree is built, tested and asked",
        7883 => "make the patch from the commit that --base names",
        7884 => "zx1 qa review",
        7885 => "git branch -D the branch, if nobody needs it",
        7886 => "raise the limits of [gate] in the loop's qa.toml",
        9200..=9299 => "fix doctor says what the sandbox needs",
        _ => return None,
    })
}

/// After the error with this number.
pub fn after(code: u32) -> Option<&'static str> {
    if let Some(error) = Error::from_code(code) {
        return after_program(error);
    }
    Some(match code {
        // Anchor's own: client and program do not agree about the accounts.
        100..=5999 => "zx1 doctor",

        // The cluster's client.
        7000 => "check the network and the address (--url), then run the command again",
        7001 => "wait a minute, or use a node of your own with --url",
        7002 => "check the address: it must be a Solana RPC (--url)",
        7003 => "choose the cluster that you mean with --url",
        7008 => "do not use this cluster: its configuration names another one; choose it with --url",
        7004 | 7005 => "try another node with --url",
        7006 => "wait until it has caught up, or try another node with --url",
        7007 => "use localhost, devnet, testnet, mainnet-beta or a URL",
        7010..=7012 => "check the address and the cluster (zx1 doctor)",
        7013 => "check the cluster with zx1 doctor; a local one: zx1-localnet",
        7014 => "register an agent with zx1 register, or check the address",
        7015 => "who locked its stake can still claim it: zx1 stake claim",
        7016 => "check the signature and the cluster (--url)",
        7017 => "use the owner's wallet (--keypair), or a key that is listed for it: zx1 keys list",
        7018 => "send it some USDC first",
        7060 => "run the same command again: it looks for this transaction first and never pays twice",
        7061 => "run the same command again",
        7062 => "ask a node with the whole history (--url) and run the command again",
        7063 => "shorten it",
        7064 => "sign with that key too (--keypair, or --sign-only and combine)",
        7065 => "sign this transaction again",
        7066 => "give it as base64, as --sign-only printed it",
        7067 => "sign the same file with each key",
        7080 => "check the folder's rights and free space",
        7081 => "look the transaction up by hand before you delete the file",
        7082 => "wait for the other process",
        7090 => "correct it and run the command again",

        // Refusals of the runtime and of programs that are not ours.
        7020 => "send it some SOL first",
        7021 => "fund the wallet with SOL",
        7022 | 7046 | 7051 => "run the command again",
        7023 => "run the command again; it finds the first one",
        7024 => "zx1 status shows the balance; fund the wallet with SOL",
        7025 => "run the command again; --compute-units sets the limit by hand",
        7026 | 7043 => "check the wallet (--keypair)",
        7027..=7029 | 7042 | 7050 => "zx1 doctor",
        7030 => "wait a few seconds, or leave the table out",
        7040 => "zx1 status",
        7041 => "zx1 status shows the USDC balance; fund the wallet first",
        7047 => "sign the message again",
        7052 => "shorten the name, the address of the metadata file or the entries",

        // The agent's log.
        7201 => "wait until the other process (perhaps `zx1 keeper`) has ended, or stop it",
        7204 => "run the command again; zx1 log list shows what the log has",
        7205 => "look at the process that has the log; it may be busy or stopped",
        7206 => "update all programs of this agent to the same version",
        7202 => "move the file back to the folder of its own agent and epoch",
        7203 => "update zx1, or restore the file from a backup",
        7211 => "check the disk, then start again: the log is checked when it opens",
        7212 => "restore the folder from a backup, or save what is readable with `zx1 log repair --epoch N`",
        7220 => "check this machine's clock; new messages belong to the current epoch",
        7207 => "start with an empty folder; the log of an earlier version serves no agent of this one",
        7208 => "one agent has one log: go on in the folder that signed it",
        7221 => "drop the message, or take it after the next batch has landed",
        7222 => "choose the agent that sent or received the message, and the right direction",
        7223 => "send the bulk in a DELIVER message, or refer to it by its hash",
        7224 => "split the content, or refer to it by its hash",
        7225 => "ask the sender for the message again",
        7226 => "build and sign the batch of the epochs that are over",
        7227 => "drop the message; it was seen before",
        7228 => "restore the payloads folder from a backup, or add the payload again",
        7229 => "remove the file and restore it from a backup, or add the payload again",
        7230 => "submit the saved batch; two signed batches of one epoch contradict",
        7231 => "build the batch again and sign that one",
        7232 => "look at the entry with `zx1 log list`, and at the epochs that the batch covers",
        7233 => "fetch the data from elsewhere, or build the batch again from the log",
        7234 => "check the agent and the epoch that you asked for",
        7235 => "choose fewer epochs",
        7236 => "zx1 batch submit",
        7237 | 7244 | 7246 => "zx1 batch build",
        7238 => "wait a minute and run the command again, or name another node with --url",
        7239 => "go on where the other log is; if there is none any more: zx1 batch adopt",
        7243 => "zx1 doctor",
        7245 => "drop the message; nobody could show its entry when it is asked for",
        7240 => "choose a new folder",
        7241 => "choose a folder that an export has finished writing, and its own agent",
        7242 => "use another copy of the backup",
        7260 => "submit the batch first, then upload its data again",
        7261 => "upload the data of the batch that was submitted: `zx1 batch show`",
        7262 | 7264 => "try again later, or upload to another server or to a folder",
        7263 => "check the address and the network, then try again",
        7265 => "do not use this source; it does not serve batch data",
        7267 => "give a path, or an address that begins with http:// or https://",

        // The record that binds a Nano key.
        8300 | 8301 => "do not pay this address for that key; ask its owner for a new record",
        8302 => "check the key: 32 bytes in base58 or in hexadecimal digits",
        8303 | 8304 => "ask its owner for the whole record",
        _ => return None,
    })
}

/// The command that helps with a refusal of the five programs. None where no command does.
fn after_program(error: Error) -> Option<&'static str> {
    use Error::*;
    Some(match error {
        ArithmeticOverflow | InvalidInstruction | SlashExceedsStake => "zx1 --help",
        WrongAccountOwner
        | WrongAccountType
        | WrongAddress
        | AccountMissing
        | WrongAgent
        | WrongUsdcMint
        | NotLegacyToken
        | WrongTokenAccountOwner
        | NotTreasury => "zx1 doctor",
        AccountExists => "zx1 status",
        InvariantBroken | NoOpenChallenge => "zx1 inspect tx",
        NoEpochs | LeaseTooFarAhead => "zx1 lease pay --epochs 1",
        LeaseNotDeactivated | LeasePaidSinceQueueing => "zx1 lease show",
        LeaseDeactivated | LeaseMissing | LeaseNotPaid => "zx1 lease pay",
        MintNotToken2022 | MintNotInRegistry | WrongAgentIndex => "zx1 register",
        AgentNotHeld | NotAgentOwner => "zx1 status",
        WrongKey | KeyEnded | KeyNotYetValid | ScopeMissing | KeyNotEnded | KeyStillNeeded | TooManyKeys
        | LiveKeysMissing => "zx1 keys list",
        InvalidScopes => "zx1 keys add FILE --scopes pay,batch,deal,peer",
        FormerHoldersKey | NotTenureOwner => "zx1 take-over",
        TenureMissing => "zx1 keys add FILE --scopes pay,batch,deal,peer",
        TenureIsYours => "zx1 status",
        WrongEra | NotStakeOwner | RanksOutstanding => "zx1 stake show",
        EraEnded | EraNotEnded => "zx1 stake lock 30",
        EraChallenged => "zx1 challenge list",
        VaultMissing => "zx1 stake lock 30",
        VaultShort | DepositsUnbalanced => "zx1 inspect tx",
        InsufficientUsdc => "zx1 status",
        StakeBelowMinimum | StakeMissing => "zx1 stake lock 30",
        UnlockAlreadyQueued | UnlockDelayNotOver => "zx1 stake show",
        UnlockNotQueued => "zx1 stake unlock",
        OpenChallenges => "zx1 challenge list",
        BatchInWindow | WindowNotOver | BatchWithheld => "zx1 batch show",
        UnlockQueued => "zx1 stake cancel",
        NotChallengeProgram => "zx1 challenge submit",
        NotUpgradeAuthority | NoUpgradeAuthority | WrongProgramData | WrongRegistry | InvalidConfig
        | InvalidAmounts => "scripts/deploy config",
        ConfigExists => "zx1 doctor",
        FutureEpoch | CurrentEpoch | EpochTooOld | EpochNotIncreasing | BeforeTenure => "zx1 batch show",
        LengthTooLarge => "zx1 log list",
        HeadMissing => "zx1 batch open",
        WrongPreviousDigest | WrongCoverage | LengthRootMismatch => "zx1 batch build",
        WrongNetwork | WrongVersion => "zx1 doctor",
        SignatureMissing | SignatureCount | SignatureOffsets | NotBatchMessage | WrongSigner => {
            "zx1 batch sign"
        }
        WrongPayer => "zx1 inspect account",
        UnknownGround
        | MalformedEvidence
        | EvidenceMissing
        | NoGround
        | NotAgentsEntry
        | FeedbackBySelf
        | FeedbackAboutAnother
        | MalformedFeedback
        | PayloadHashMismatch
        | PayloadNotAllowed
        | PayloadTooLong
        | MalformedEntry
        | MalformedRecord
        | NotDoubleBid
        | EmptyTree
        | EnvelopeOutsideEpochs
        | WrongEnvelopeSigner
        | CommitMismatch
        | WrongEraOfBatch => "zx1 challenge find",
        WrongProofLength | IndexOutOfRange | ProofMismatch | WrongRecord | WrongLeaf => "zx1 batch verify",
        EraEmpty => "zx1 batch show",
        LowerRankOpen | RankNotPassable | StrongerClaimOpen => "zx1 challenge list",
        RankNotPassed => "zx1 challenge resolve",
        NotSealed | AlreadySealed | AlreadyUsed => "zx1 challenge cancel",
        UnknownTree => "zx1 ask leaf --help",
        AskTooLate | AskExists | ShowNotOver | AskNotSettled | LowerAskOpen => "zx1 ask list",
        ShowTooLate | AskSettled => "zx1 ask settle",
        ChallengeWindowOver => "zx1 batch show",
        ChallengeExists | WrongBatch | AlreadyAnswered => "zx1 challenge list",
        AnswerTooLate | NotResolved => "zx1 challenge resolve",
        NoAnswer => "zx1 challenge list",
        AlreadyResolved => "zx1 challenge close",
        InvalidDraftLength | DraftIncomplete | DraftOverrun | WrongDraftOffset | NotDraftOwner
        | DraftHashMismatch => return None,
        EmptyText | TextTooLong | TextNotUtf8 => "zx1 feedback submit",
        IndexTaken => "zx1 feedback submit",
        NotMaintainer => return None,
        ResolutionExists | EntryMissing => "zx1 feedback show",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_every_refusal_of_the_programs_names_a_command() {
        let silent: Vec<_> = Error::ALL.iter().filter(|error| after(error.code()).is_none()).collect();
        assert!(silent.len() < 10 && Error::ALL.len() > 60, "{silent:?}");
    }

    #[test]
    fn every_number_of_the_log_and_of_the_cluster_leads_on_but_those_that_cannot() {
        let rows = [ChainError::ROWS, LogError::ROWS].concat();
        let silent: Vec<u32> =
            rows.iter().map(|row| row.code).filter(|code| after(*code).is_none()).collect();
        // After a no there is nothing to do; after a failure of the disk its kind decides.
        assert_eq!(silent, [7068, 7200]);
    }
}
