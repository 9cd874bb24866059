//! Refusals: a number, a full sentence, and what to do next. Numbers 7400 to 7599 are this command line's;
//! others come through from the libraries and the chain under their own numbers.

pub use zx1_cli_common::errors::{Exit, json_fault, reason, sentence};

const PROGRAM: &str = "zx1";
const KEY_FILE: &str = "keypair file";
const KEY_OPTION: &str = "--keypair";
const KEY_NAME: &str = "id.json";
const OTHER_KEY: &str = "give another file with --keypair, or restore this one with zx1 key restore";

zx1_cli_common::catalogue! {
    Usage 7400, NeedsYes 7401, ClosedPipe 7404, WriteFailed 7405, ReadFailed 7406, Exists 7407,
    NeedsTerminal 7409, KeyMissing 7410, KeyIsFolder 7411, KeyNotJson 7412, KeyWrongLength 7413,
    KeyHalvesDiffer 7414, KeyUnknownForm 7415, RandomFailed 7422, InputTooLarge 7452,
    ConfigMalformed 7431, CannotExecute 7424;

    // The command line itself.
    7402 Failure Declined "Cancelled: nothing was sent." => "run it again and answer y, or add --yes";
    7403 Interrupted Interrupted "Interrupted by Ctrl+C." =>
        "run the same command again: a transaction that was sent is found in the outbox and not sent twice";
    7408 Failure NoHome "No home folder: neither ZX1_HOME nor HOME is set." => "export ZX1_HOME=/a/folder";

    // Keys (decision A1).
    7416 Failure KeyExists { path: String } "{path} already holds a key, and keys are never overwritten." =>
        "use it as it is (zx1 key show), or make another one with --keypair another.json";
    7417 Failure KeyNotAFile { path: String }
        "{path} names a hardware wallet or a prompt; zx1 signs with keypair files only." =>
        "zx1 config set keypair /path/to/keypair.json";
    7418 Failure PassphraseMissing "A passphrase is required, and there is no terminal to type it in." =>
        "set ZX1_PASSPHRASE, or pass --passphrase-fd N";
    7419 Failure PassphraseShort { minimum: usize }
        "The passphrase is too short: it must have at least {minimum} characters." => "use several words";

    // Settings, configuration and agents.
    7430 Usage UnknownKey { key: String, known: String }
        "Unknown setting: {key}. Settings are {known}." =>
        "zx1 config list";
    7432 Usage BadSetting { key: String, value: String, source: String, allowed: String }
        "Invalid value '{value}' for {key} ({source}): expected {allowed}." => "zx1 config list";
    7433 Failure SolanaConfigMalformed { path: String, why: String }
        "The Solana CLI configuration {path} cannot be parsed: {why}." =>
        "correct it with solana config set, or give -u and -k";
    7434 Failure NoAgent "No agent is given, and the configuration lists none." =>
        "zx1 register --name NAME, or give one with --agent MINT";
    7435 Failure SeveralAgents { names: String }
        "The configuration lists several agents and no default: {names}." =>
        "choose one with --agent, or zx1 config set agent NAME";
    7436 Failure UnknownAgent { name: String }
        "{name} is neither an agent in the configuration nor a mint address." =>
        "zx1 status lists the agents";
    7437 Failure AgentNameTaken { name: String } "The configuration already has an agent named {name}." =>
        "choose another local name with --as NAME";

    7438 Failure AgentElsewhere { agent: String, url: String }
        "{agent} is registered on a different cluster than {url}." =>
        "choose the cluster with -u, or the agent with --agent";
    7439 Failure MainnetUnasked { url: String }
        "{url} is the main network, and only the Solana CLI configuration names it; zx1 spends there only \
         when asked to explicitly." =>
        "zx1 -u mainnet-beta …, or zx1 config set url mainnet-beta";

    // Transactions.
    7444 Failure NotMissing { address: String }
        "{address} is not a missing signer of this transaction." =>
        "sign with another key (-k), or send it with zx1 tx send";
    7445 Failure NothingToSign { why: String } "There is nothing to sign. {why}" => "zx1 status";

    // Bytes from outside.
    7450 Failure BadHex { what: String, why: String } "{what} is not valid hexadecimal: {why}." =>
        "give an even number of the digits 0-9 and a-f";
    7451 Usage BadAddress { what: String, text: String } "{what} is not a valid Solana address: '{text}'." =>
        "give 32 bytes in base58, as solana address prints them";
    7453 Failure MessageTooLarge { what: String, size: usize, limit: usize }
        "{what} is too large: {size} bytes, maximum {limit} for a message." =>
        "send bulk data by its hash instead";
    7454 Failure InputEmpty { what: String }
        "{what} is empty." => "give hex, base64 or a file, or - for standard input";
    7455 Failure NotUnderstood { what: String } "'{what}' is neither a file nor valid hexadecimal or base64." =>
        "check the path, or give the bytes as hex or base64";
    7456 Usage BadAmount { text: String, unit: &'static str, why: String }
        "'{text}' is not a valid amount of {unit}: {why}." =>
        "give a decimal like 10 or 10.50";
    7457 Failure UnknownBytes { what: String } "These bytes are not a known kind of {what}." =>
        "zx1 inspect --help lists the kinds";
    7459 Failure NotEnvelope { what: String, why: String } "Invalid {what}. {why}" =>
        "give the exact bytes; zx1 inspect --help shows the forms";
    7460 Failure NoAccount { address: String } "No account at {address} on this cluster." =>
        "check the address and the cluster (-u)";
    7461 Failure WrongLength { what: String, found: String, wanted: String }
        "{what} has {found} instead of {wanted}." =>
        "give exactly {wanted} bytes, two hexadecimal digits each";

    // Merkle.
    7470 Failure BadEntry { line: usize, why: String }
        "Line {line} is not valid hexadecimal: {why}." =>
        "write one entry a line, in hex";
    7471 Failure BadLeaf { line: usize, found: usize }
        "Line {line} has {found} bytes; a leaf hash has 32." =>
        "leave --leaves out for entries themselves";
    7472 Failure NoSuchEntry { index: u64, entries: String }
        "No entry {index}: the tree has {entries}." =>
        "count from 0: the first entry is 0";
    7473 Failure TooManyEntries { limit: u64 }
        "Too many entries: the maximum is {limit}." =>
        "split them";
    7474 Failure ProofFails { why: String } "The proof is invalid: {why}." =>
        "check root, length, index and entry";
    7475 Failure ProofMalformed { path: String, why: String } "{path} is not a proof: {why}." =>
        "make one with zx1 merkle prove --output json";

    7476 Failure NoEntries { epoch: u64 } "The log has no entries for epoch {epoch}." => "zx1 log list";

    // Agents: registration, stake, keys.
    7501 Usage DelegateIsOwner { delegate: String }
        "{delegate} owns the agent, and SATI takes no delegation to the owner." =>
        "leave --sati out";
    7502 Usage BadLocalName { name: String, why: &'static str }
        "Invalid local name '{name}': {why}." => "give another one with --as";
    7504 Usage BadMetadata { entry: String }
        "Invalid metadata '{entry}': expected KEY=VALUE." =>
        "give --metadata key=value";
    7506 Failure Unhealthy { failed: usize } "Checks failed: {failed}." =>
        "follow the steps above";
    7515 Usage BadScopes { text: String, why: String } "Invalid scopes '{text}': {why}." =>
        "give one or more of pay, batch, deal and peer, for example --scopes pay,batch";

    // Challenges.
    7541 Failure NotEvidence { what: String, why: String } "{what} is not evidence: {why}." =>
        "give an envelope, or a log entry, as file, hex or base64";
    7542 Failure ChallengeFile { path: String, why: String }
        "{path} is not a prepared challenge: {why}." =>
        "zx1 challenge find EVIDENCE --out {path}";

    // The keeper.
    7560 Usage KeeperBadCap { why: String } "Invalid spending cap: {why}." =>
        "give amounts per day, for example --cap 2 (USDC) and --fee-cap 0.02 (SOL)";
    7562 Failure KeeperFailing { failures: u32, last: String }
        "The keeper failed {failures} times in a row: {last}" => "zx1 doctor";

    // The agent's mesh node.
    7596 Failure NotDelivered { draft: u64, state: String, why: String } "Message {draft} is {state}{why}." =>
        "zx1 message show {draft}";
    7597 Failure NotParty { agent: String, conversation: String }
        "{agent} is not a party of the conversation {conversation}." =>
        "choose the agent with --agent";

    // Setting up.
    7480 Failure Underfunded { wallet: String, has: String, needs: String }
        "The wallet {wallet} has {has}, and what is missing costs {needs}." =>
        "send it the rest, then run zx1 up again";
    7481 Failure OverBudget { cost: String, most: String }
        "This would cost {cost} together with what this run has spent, and the most that it may spend is {most}." =>
        "raise --max-usdc or --max-sol, if you mean it";
    7482 Failure Leaving { agent: String }
        "The unlock of the stake of {agent} is queued: its owner is leaving, and zx1 up does not take that back." =>
        "zx1 stake cancel, once the lease is paid";
    7483 Failure HeldByAnother { agent: String }
        "{agent} is in the tenure of a wallet that does not hold it any more." => "zx1 take-over, then zx1 up";

    // Indexers.
    7590 Usage NoIndexerUrl { text: String } "'{text}' is not an indexer's URL." =>
        "give one that begins with http:// or https://";
    7591 Failure IndexerDiffers { found: usize }
        "The indexer differs from the chain (differences: {found})." =>
        "use another indexer, or run your own; if it is yours, its log and /v1/gaps show what it missed";
}

impl Failure {
    /// Says which of several inputs it is about.
    #[must_use]
    pub fn in_input(mut self, name: &str) -> Self {
        if !self.message.starts_with(name) {
            self.message = format!("{name}: {}", self.message);
        }
        self
    }
}

impl From<zx1_log::LogError> for Failure {
    fn from(error: zx1_log::LogError) -> Self {
        (&error).into()
    }
}

impl From<&zx1_log::LogError> for Failure {
    fn from(error: &zx1_log::LogError) -> Self {
        Self::of(error, crate::next::after_log(error))
    }
}

impl From<zx1_relay_client::ClientError> for Failure {
    fn from(error: zx1_relay_client::ClientError) -> Self {
        Self::of(&error, Some(crate::next::after_relay(&error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_messages_are_sentences_that_lead_on() {
        let faults = zx1_cli_common::errors::catalogue_faults(Error::ALL, Error::TEXTS, 7400..7600);
        assert_eq!(faults, Vec::<String>::new());
    }

    #[test]
    fn an_error_of_a_library_becomes_a_sentence_with_its_name() {
        let failure = Failure::of(&nano_escrow::binding::BindingError::Length(3), None::<String>);
        assert_eq!(
            (failure.name.as_str(), failure.message.as_str()),
            ("Length", "A packed record is 200 bytes, not 3.")
        );
    }
}
