//! From what the runtime says to a sentence: the programs' own catalogue, Anchor's numbers, the token
//! programs, the system program, SATI and the runtime itself. What is unknown keeps its number and logs.

use serde::Serialize;
use solana_address::Address;
use solana_sdk_ids::{compute_budget, ed25519_program, system_program};
use solana_transaction_error::TransactionError;
use std::borrow::Cow;
use std::fmt;
use zx1_interface::{Error, ids};

/// Where a refusal came about; it decides the advice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// Who pays.
    pub payer: Option<Address>,
    /// Programs of the transaction's instructions, in order.
    pub programs: &'a [Address],
    /// Whether the cluster is a local one.
    pub local: bool,
}

/// A transaction that was refused: in simulation (nothing was sent) or after it landed (only the fee went).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The number: the five programs' own (6000 to 6999), Anchor's own (100 to 5999), else 7020 to 7059.
    pub code: u16,
    /// Its name.
    pub name: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The command to use next.
    pub next: Option<Cow<'static, str>>,
    /// The innermost program that refused.
    #[serde(serialize_with = "as_text")]
    pub program: Option<Address>,
    /// The program's own number.
    pub number: Option<u32>,
    /// Which instruction of the transaction failed, from 0.
    pub instruction: Option<u8>,
    /// The log, line by line.
    pub logs: Vec<String>,
}

fn as_text<S: serde::Serializer>(address: &Option<Address>, out: S) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => out.serialize_some(&address.to_string()),
        None => out.serialize_none(),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.name, self.code, self.message)
    }
}

/// Number, name, sentence and advice.
type Known = (u16, Cow<'static, str>, Cow<'static, str>, Option<Cow<'static, str>>);

fn known(code: u16, name: &'static str, message: &'static str, next: &'static str) -> Known {
    (code, Cow::Borrowed(name), Cow::Borrowed(message), (!next.is_empty()).then_some(Cow::Borrowed(next)))
}

impl Refusal {
    /// Makes sense of a transaction's error and log.
    pub fn decode(error: &TransactionError, logs: &[String], at: &Circumstances<'_>) -> Self {
        let (instruction, number) = match error {
            TransactionError::InstructionError(index, inner) => {
                // By its wire form: the runtime's type is renamed between versions, its text is not.
                (Some(*index), custom_number(&format!("{inner:?}")))
            }
            _ => (None, None),
        };
        let program = instruction
            .and_then(|index| failed_program(logs).or_else(|| at.programs.get(usize::from(index)).copied()));
        let found = match (error, number) {
            (_, Some(number)) => of_program(program, number),
            (TransactionError::InstructionError(_, inner), None) => {
                of_instruction(&format!("{inner:?}"), &inner.to_string(), program)
            }
            (other, None) => of_transaction(other, at),
        };
        let (code, name, message, next) = found;
        Self {
            code,
            name: name.into_owned(),
            message: message.into_owned(),
            next,
            program,
            number,
            instruction,
            logs: logs.to_vec(),
        }
    }

    /// The refusal of one of the five programs, if it is one.
    pub fn of_zx1(&self) -> Option<Error> {
        is_ours(self.program?).then(|| Error::from_code(self.number?)).flatten()
    }
}

/// The number in `Custom(6012)`.
fn custom_number(text: &str) -> Option<u32> {
    text.strip_prefix("Custom(")?.strip_suffix(')')?.parse().ok()
}

/// The innermost program that failed: the first that the log names so.
fn failed_program(logs: &[String]) -> Option<Address> {
    logs.iter().find_map(|line| {
        let (program, _) = line.strip_prefix("Program ")?.split_once(" failed: ")?;
        program.parse().ok()
    })
}

fn is_ours(program: Address) -> bool {
    [ids::STAKE_LOCK, ids::LEASE, ids::BEHAVIOR_LOG, ids::CHALLENGE, ids::FEEDBACK_LOG]
        .contains(&program.to_bytes())
}

fn of_program(program: Option<Address>, number: u32) -> Known {
    let id = program.map(|program| program.to_bytes());
    match id {
        Some(ids::TOKEN | ids::TOKEN_2022) => return of_token(number),
        Some(ids::SATI) => return of_sati(number),
        Some(id) if id == system_program::ID.to_bytes() => return of_system(number),
        Some(id) if id == ed25519_program::ID.to_bytes() => {
            return known(
                7047,
                "SignatureCheckFailed",
                "A signature inside the transaction does not fit its message.",
                "sign the message again",
            );
        }
        _ => {}
    }
    if let Some(error) = Error::from_code(number).filter(|_| program.is_none_or(is_ours)) {
        // Every number of the catalogue is below 7000.
        let code = u16::try_from(number).unwrap_or(7049);
        return (code, error.name().into(), error.message().into(), next_command(error).map(Cow::Borrowed));
    }
    if let Some((name, message)) = anchor(number) {
        let code = u16::try_from(number).unwrap_or(7049);
        return (code, name.into(), message.into(), Some("zx1 doctor".into()));
    }
    let by = program.map_or_else(|| "a program".to_owned(), |program| format!("the program {program}"));
    let message = format!("{by} refused the transaction with its own error {number}.");
    (7049, "UnknownRefusal".into(), capitalize(message).into(), None)
}

fn capitalize(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The numbers that Anchor itself uses, below those of any program.
fn anchor(number: u32) -> Option<(&'static str, &'static str)> {
    Some(match number {
        100 => ("InstructionMissing", "The instruction's data is too short to name an instruction."),
        101 => {
            ("InstructionFallbackNotFound", "The program has no such instruction. Client and program differ.")
        }
        102 => ("InstructionDidNotDeserialize", "The program cannot read the instruction's arguments."),
        103 => ("InstructionDidNotSerialize", "The program could not write a call's arguments."),
        2000..=2039 => (
            "AnchorConstraint",
            "An account does not meet what the program demands of it. The order or an address is wrong.",
        ),
        2500..=2507 => ("AnchorRequire", "The program demands something that does not hold."),
        3000 => ("AccountDiscriminatorAlreadySet", "The account is in use already."),
        3001 => ("AccountDiscriminatorNotFound", "An account has no type."),
        3002 => ("AccountDiscriminatorMismatch", "An account is of another type than expected."),
        3003 => ("AccountDidNotDeserialize", "The program cannot read an account."),
        3005 => ("AccountNotEnoughKeys", "The instruction was given too few accounts."),
        3006 => ("AccountNotMutable", "An account that must be writable was passed as read-only."),
        3007 => ("AccountOwnedByWrongProgram", "An account belongs to another program than expected."),
        3008 => ("InvalidProgramId", "A program was passed that is not the expected one."),
        3010 => ("AccountNotSigner", "An account that must sign did not."),
        3012 => ("AccountNotInitialized", "A needed account does not exist."),
        3004 | 3009 | 3011 | 3013..=3019 => ("AnchorAccount", "An account is not what the program expects."),
        4100 => {
            ("DeclaredProgramIdMismatch", "The program was deployed at another address than it declares.")
        }
        4101..=5999 => ("AnchorError", "Anchor refused the instruction."),
        _ => return None,
    })
}

fn of_token(number: u32) -> Known {
    match number {
        0 => known(
            7040,
            "TokenNotRentExempt",
            "A token account has too few lamports for its rent.",
            "zx1 status",
        ),
        1 => known(
            7041,
            "InsufficientTokens",
            "The token account holds fewer tokens than the transaction moves.",
            "zx1 status shows the USDC balance; fund the wallet first",
        ),
        3 => known(
            7042,
            "TokenMintMismatch",
            "A token account is of another mint than expected.",
            "zx1 doctor",
        ),
        4 => known(
            7043,
            "TokenOwnerMismatch",
            "A token account belongs to another wallet than the one that signs.",
            "check the wallet (--keypair)",
        ),
        17 => known(7044, "TokenAccountFrozen", "The token account is frozen by the mint's authority.", ""),
        other => (
            7045,
            "TokenRefused".into(),
            format!("The token program refused the transaction with its error {other}.").into(),
            None,
        ),
    }
}

fn of_system(number: u32) -> Known {
    match number {
        0 => {
            known(7046, "AccountInUse", "The account to be created exists already.", "run the command again")
        }
        1 => known(
            7024,
            "InsufficientLamports",
            "The wallet has too little SOL for the rent of the new accounts.",
            "zx1 status shows the balance; fund the wallet with SOL",
        ),
        other => (
            7048,
            "SystemRefused".into(),
            format!("The system program refused the transaction with its error {other}.").into(),
            None,
        ),
    }
}

/// SATI numbers its errors from 6000 as well, so they get a number of ours. Only those whose meaning is
/// published are told apart (notes on SATI); the rest keeps its number.
fn of_sati(number: u32) -> Known {
    match number {
        2006 | 6029 => known(
            7051,
            "RegistryRace",
            "Somebody else registered an agent at the same moment and took the number.",
            "run the command again",
        ),
        6000..=6005 => known(
            7052,
            "RegistrationTooLong",
            "SATI refused a field of the registration as too long: name 32, symbol 10, address 200 bytes.",
            "shorten the name, the address of the metadata file or the entries",
        ),
        other => (
            7050,
            "RegistryRefused".into(),
            format!("SATI refused the transaction with its own error {other}.").into(),
            Some("zx1 doctor".into()),
        ),
    }
}

fn of_instruction(name: &str, text: &str, program: Option<Address>) -> Known {
    let by = program.map_or_else(|| "A program".to_owned(), |program| format!("The program {program}"));
    match name {
        // The index account follows from the member number, which somebody else took.
        "InvalidSeeds" if program.is_some_and(|program| program.to_bytes() == ids::SATI) => of_sati(2006),
        "ComputationalBudgetExceeded" | "ProgramFailedToComplete" => known(
            7025,
            "ComputeExceeded",
            "The transaction needs more compute units than it asked for.",
            "run the command again; --compute-units sets the limit by hand",
        ),
        "InsufficientFunds" => known(
            7024,
            "InsufficientLamports",
            "The wallet has too little SOL for what the transaction moves.",
            "zx1 status shows the balance; fund the wallet with SOL",
        ),
        "MissingRequiredSignature" => known(
            7026,
            "SignerMissing",
            "An account that must sign this transaction did not.",
            "check the wallet (--keypair)",
        ),
        "UnsupportedProgramId" | "IncorrectProgramId" => known(
            7027,
            "ProgramMissing",
            "A program that the transaction calls is not on this cluster.",
            "zx1 doctor",
        ),
        "InvalidAccountOwner" | "IllegalOwner" => known(
            7028,
            "AccountOwnerWrong",
            "An account belongs to another program than the instruction needs.",
            "zx1 doctor",
        ),
        "NotEnoughAccountKeys" => {
            known(7029, "AccountsMissing", "The instruction was given too few accounts.", "zx1 doctor")
        }
        _ => (
            7039,
            name.split(['(', ' ', '{']).next().unwrap_or("InstructionFailed").to_owned().into(),
            format!("{by} failed: {text}.").into(),
            None,
        ),
    }
}

fn of_transaction(error: &TransactionError, at: &Circumstances<'_>) -> Known {
    match error {
        TransactionError::AccountNotFound => {
            let who =
                at.payer.map_or_else(|| "This wallet".to_owned(), |payer| format!("The wallet {payer}"));
            let next = match at.payer {
                Some(payer) if at.local => format!("zx1-localnet fund {payer} --sol 10").into(),
                _ => "send it some SOL first".into(),
            };
            (7020, "NoSol".into(), format!("{who} has no SOL on this cluster.").into(), Some(next))
        }
        TransactionError::InsufficientFundsForFee => known(
            7021,
            "FeeTooHigh",
            "The wallet has too little SOL for the transaction's fee.",
            "fund the wallet with SOL",
        ),
        TransactionError::InsufficientFundsForRent { .. } => known(
            7024,
            "InsufficientLamports",
            "An account would be left with too little SOL for its rent.",
            "fund the wallet with SOL",
        ),
        TransactionError::BlockhashNotFound => known(
            7022,
            "BlockhashExpired",
            "The transaction's blockhash is too old, or of another cluster.",
            "run the command again",
        ),
        TransactionError::AlreadyProcessed => known(
            7023,
            "AlreadyProcessed",
            "The cluster has processed this very transaction before.",
            "run the command again; it finds the first one",
        ),
        TransactionError::SignatureFailure => known(
            7026,
            "SignerMissing",
            "A signature of the transaction is missing or does not fit.",
            "check the wallet (--keypair)",
        ),
        TransactionError::ProgramAccountNotFound | TransactionError::InvalidProgramForExecution => known(
            7027,
            "ProgramMissing",
            "A program that the transaction calls is not on this cluster.",
            "zx1 doctor",
        ),
        TransactionError::AddressLookupTableNotFound
        | TransactionError::InvalidAddressLookupTableIndex
        | TransactionError::InvalidAddressLookupTableData
        | TransactionError::InvalidAddressLookupTableOwner => known(
            7030,
            "LookupTableUnusable",
            "The address lookup table is not there, or not ready yet.",
            "wait a few seconds, or leave the table out",
        ),
        other => (
            7038,
            format!("{other:?}").split(['(', ' ', '{']).next().unwrap_or("Refused").to_owned().into(),
            format!("The cluster refused the transaction: {other}.").into(),
            None,
        ),
    }
}

/// The command that helps with a refusal of the five programs. None where no command does.
pub fn next_command(error: Error) -> Option<&'static str> {
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
        InvalidDelegation | DelegationExpired | FormerOwnersDelegation => "zx1 delegate list",
        InsufficientUsdc => "zx1 status",
        StakeBelowMinimum | StakeMissing => "zx1 stake lock 10",
        UnlockAlreadyQueued | UnlockDelayNotOver => "zx1 stake show",
        UnlockNotQueued => "zx1 stake unlock",
        OpenChallenges => "zx1 challenge list",
        BatchInWindow | WindowNotOver => "zx1 batch show",
        UnlockQueued => "zx1 stake cancel",
        NotChallengeProgram => "zx1 challenge submit",
        NotUpgradeAuthority | NoUpgradeAuthority | WrongProgramData | WrongRegistry | InvalidConfig => {
            "scripts/deploy config"
        }
        ConfigExists => "zx1 doctor",
        FutureEpoch | CurrentEpoch | EpochTooOld | EpochNotIncreasing => "zx1 batch show",
        LengthTooLarge => "zx1 log list",
        SignatureMissing | SignatureCount | SignatureOffsets | SignedOtherBytes | WrongSigner => {
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
        | GroundMismatch => "zx1 challenge find",
        WrongProofLength | IndexOutOfRange | ProofMismatch | WrongRecord => "zx1 batch verify",
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

/// Whether an instruction's program is one that cannot refuse with a number of its own.
pub(crate) fn is_plumbing(program: &Address) -> bool {
    *program == compute_budget::ID || *program == ed25519_program::ID
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use solana_transaction_status_client_types::UiTransactionError;

    fn error(json: &str) -> TransactionError {
        serde_json::from_str::<UiTransactionError>(json).unwrap().into()
    }

    fn decode(json: &str, program: [u8; 32]) -> Refusal {
        let program = Address::new_from_array(program);
        let logs = vec![format!("Program {program} failed: custom program error: 0x177c")];
        Refusal::decode(&error(json), &logs, &Circumstances::default())
    }

    #[test]
    fn a_refusal_of_ours_has_number_name_sentence_and_next_command() {
        let refusal = decode(r#"{"InstructionError":[2,{"Custom":6012}]}"#, ids::STAKE_LOCK);
        assert!(refusal.to_string().starts_with("LeaseNotDeactivated (6012): The lease is still paid"));
        assert_eq!(refusal.next.as_deref(), Some("zx1 lease show"));
        assert_eq!((refusal.instruction, refusal.of_zx1()), (Some(2), Some(Error::LeaseNotDeactivated)));
    }

    #[test]
    fn every_refusal_of_ours_decodes_to_its_own_number_and_name() {
        for known in Error::ALL {
            let json = format!(r#"{{"InstructionError":[0,{{"Custom":{}}}]}}"#, known.code());
            let refusal = decode(&json, ids::CHALLENGE);
            assert_eq!((u32::from(refusal.code), refusal.name.as_str()), (known.code(), known.name()));
        }
    }

    #[test]
    fn the_same_number_means_something_else_in_another_program() {
        let json = r#"{"InstructionError":[0,{"Custom":6012}]}"#;
        assert_eq!(decode(json, ids::SATI).code, 7050);
        assert_eq!(decode(json, [9; 32]).code, 7049);
        assert_eq!(decode(json, [9; 32]).number, Some(6012));
        assert_eq!(decode(r#"{"InstructionError":[0,{"Custom":1}]}"#, ids::TOKEN).name, "InsufficientTokens");
        assert_eq!(
            decode(r#"{"InstructionError":[0,{"Custom":1}]}"#, ids::SYSTEM).name,
            "InsufficientLamports"
        );
        assert_eq!(decode(r#"{"InstructionError":[0,{"Custom":3012}]}"#, ids::LEASE).code, 3012);
    }

    #[test]
    fn without_a_log_the_failed_instructions_program_decides() {
        let programs = [compute_budget::ID, Address::new_from_array(ids::LEASE)];
        let at = Circumstances { programs: &programs, ..Circumstances::default() };
        let refusal = Refusal::decode(&error(r#"{"InstructionError":[1,{"Custom":6014}]}"#), &[], &at);
        assert_eq!(refusal.of_zx1(), Some(Error::LeaseMissing));
    }

    #[test]
    fn the_runtimes_own_errors_are_sentences() {
        let local =
            Circumstances { local: true, payer: Some(Address::default()), ..Circumstances::default() };
        let empty = Refusal::decode(&error(r#""AccountNotFound""#), &[], &local);
        assert_eq!(empty.code, 7020);
        assert!(empty.message.contains("has no SOL"), "{empty}");
        assert!(empty.next.unwrap().contains("zx1-localnet fund"));
        assert_eq!(Refusal::decode(&error(r#""BlockhashNotFound""#), &[], &local).code, 7022);
        let compute = error(r#"{"InstructionError":[0,"ComputationalBudgetExceeded"]}"#);
        assert_eq!(Refusal::decode(&compute, &[], &local).code, 7025);
        let rent = error(r#"{"InsufficientFundsForRent":{"account_index":3}}"#);
        assert_eq!(Refusal::decode(&rent, &[], &local).code, 7024);
        let odd = Refusal::decode(&error(r#""TooManyAccountLocks""#), &[], &local);
        assert_eq!((odd.code, odd.name.as_str()), (7038, "TooManyAccountLocks"));
    }
}
