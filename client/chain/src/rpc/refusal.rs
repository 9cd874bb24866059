//! From what the runtime says to a sentence: the programs' own catalogue, Anchor's numbers, the token
//! programs, the system program, SATI and the runtime itself. What is unknown keeps its number and logs.

use serde::Serialize;
use solana_address::Address;
use solana_sdk_ids::{compute_budget, ed25519_program, system_program};
use solana_transaction_error::TransactionError;
use std::borrow::Cow;
use zx1_coded::Coded;
use zx1_interface::{Error, ids};

/// The circumstances of a refused transaction, which some errors depend on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// Wallet that pays.
    pub payer: Option<Address>,
    /// Programs of the transaction's instructions, in order.
    pub programs: &'a [Address],
    /// Whether the cluster is a local one.
    pub local: bool,
}

/// A transaction that was refused: in simulation (nothing was sent) or after it landed (only the fee went).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{name} ({code}): {message}")]
pub struct Refusal {
    /// The number: the five programs' own (6000 to 6999), Anchor's own (100 to 5999), else 7020 to 7059.
    pub code: u32,
    /// Name of the error.
    pub name: Cow<'static, str>,
    /// The error as a sentence.
    pub message: String,
    /// The innermost program that refused.
    #[serde(serialize_with = "as_text")]
    pub program: Option<Address>,
    /// The program's own number.
    pub number: Option<u32>,
    /// Which instruction of the transaction failed, from 0.
    pub instruction: Option<u8>,
    /// The log, line by line.
    pub logs: Vec<String>,
    /// The refusal, where it is neither Anchor's nor one of the five programs'.
    #[serde(skip)]
    pub foreign: Option<Foreign>,
    /// Whether the cluster is a local one.
    #[serde(skip)]
    pub local: bool,
}

impl Coded for Refusal {
    fn code(&self) -> u32 {
        self.code
    }

    fn name(&self) -> &'static str {
        match &self.name {
            Cow::Borrowed(name) => name,
            // The runtime's own name, which is in no list of ours.
            Cow::Owned(_) => "TransactionFailed",
        }
    }
}

fn as_text<S: serde::Serializer>(address: &Option<Address>, out: S) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => out.serialize_some(&address.to_string()),
        None => out.serialize_none(),
    }
}

/// What others than the five programs and Anchor refuse with: numbers 7020 to 7059.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
pub enum Foreign {
    /// The fee payer's account does not exist.
    #[code(7020)]
    #[error("{} has no SOL on this cluster.", wallet(.0))]
    NoSol(Option<Address>),
    /// The fee payer cannot pay the fee.
    #[code(7021)]
    #[error("The wallet has too little SOL for the transaction's fee.")]
    FeeTooHigh,
    /// The blockhash is not among the last ones.
    #[code(7022)]
    #[error("The transaction's blockhash is too old, or of another cluster.")]
    BlockhashExpired,
    /// The signature landed before.
    #[code(7023)]
    #[error("The cluster has processed this very transaction before.")]
    AlreadyProcessed,
    /// Too little SOL for a transfer or for rent.
    #[code(7024)]
    #[error("The wallet has too little SOL for {0}.")]
    InsufficientLamports(&'static str),
    /// The limit of compute units was reached.
    #[code(7025)]
    #[error("The transaction needs more compute units than it asked for.")]
    ComputeExceeded,
    /// A signature is missing or wrong.
    #[code(7026)]
    #[error("An account that must sign this transaction did not, or its signature does not fit.")]
    SignerMissing,
    /// No such program on this cluster.
    #[code(7027)]
    #[error("A program that the transaction calls is not on this cluster.")]
    ProgramMissing,
    /// An account of the wrong owner.
    #[code(7028)]
    #[error("An account belongs to another program than the instruction needs.")]
    AccountOwnerWrong,
    /// Too few accounts.
    #[code(7029)]
    #[error("The instruction was given too few accounts.")]
    AccountsMissing,
    /// The address lookup table cannot be used.
    #[code(7030)]
    #[error("The address lookup table is not there, or not ready yet.")]
    LookupTableUnusable,
    /// Another error of the transaction; it keeps the runtime's name.
    #[code(7038)]
    #[error("The cluster refused the transaction: {0}.")]
    TransactionFailed(String),
    /// Another error of an instruction; it keeps the runtime's name.
    #[code(7039)]
    #[error("{} failed: {text}.", program(.by))]
    InstructionFailed {
        /// The innermost program that failed.
        by: Option<Address>,
        /// The runtime's message.
        text: String,
    },
    /// The token program's 0.
    #[code(7040)]
    #[error("A token account has too few lamports for its rent.")]
    TokenNotRentExempt,
    /// The token program's 1.
    #[code(7041)]
    #[error("The token account holds fewer tokens than the transaction moves.")]
    InsufficientTokens,
    /// The token program's 3.
    #[code(7042)]
    #[error("A token account is of another mint than expected.")]
    TokenMintMismatch,
    /// The token program's 4.
    #[code(7043)]
    #[error("A token account belongs to another wallet than the one that signs.")]
    TokenOwnerMismatch,
    /// The token program's 17.
    #[code(7044)]
    #[error("The token account is frozen by the mint's authority.")]
    TokenAccountFrozen,
    /// Another number of the token program.
    #[code(7045)]
    #[error("The token program refused the transaction with its error {0}.")]
    TokenRefused(u32),
    /// The system program's 0.
    #[code(7046)]
    #[error("The account to be created exists already.")]
    AccountInUse,
    /// A signature that an Ed25519 instruction checks.
    #[code(7047)]
    #[error("A signature inside the transaction does not fit its message.")]
    SignatureCheckFailed,
    /// Another number of the system program.
    #[code(7048)]
    #[error("The system program refused the transaction with its error {0}.")]
    SystemRefused(u32),
    /// A number of a program that is not known here.
    #[code(7049)]
    #[error("{} refused the transaction with its own error {number}.", program(.by))]
    UnknownRefusal {
        /// Program that refused.
        by: Option<Address>,
        /// Error number of that program.
        number: u32,
    },
    /// Another number of SATI.
    #[code(7050)]
    #[error("SATI refused the transaction with its own error {0}.")]
    RegistryRefused(u32),
    /// The member number is taken.
    #[code(7051)]
    #[error("Somebody else registered an agent at the same moment and took the number.")]
    RegistryRace,
    /// A field of a registration is too long.
    #[code(7052)]
    #[error("SATI refused a field of the registration as too long: name 32, symbol 10, address 200 bytes.")]
    RegistrationTooLong,
}

fn wallet(payer: &Option<Address>) -> String {
    payer.map_or_else(|| "This wallet".to_owned(), |payer| format!("The wallet {payer}"))
}

fn program(by: &Option<Address>) -> String {
    by.map_or_else(|| "A program".to_owned(), |by| format!("The program {by}"))
}

/// Number, name and sentence.
struct Known(u32, Cow<'static, str>, String, Option<Foreign>);

impl From<Foreign> for Known {
    fn from(error: Foreign) -> Self {
        Self(error.code(), error.name().into(), error.to_string(), Some(error))
    }
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
                of_instruction(&format!("{inner:?}"), inner.to_string(), program)
            }
            (other, None) => of_transaction(other, at),
        };
        let Known(code, name, message, foreign) = found;
        Self {
            code,
            name,
            message,
            program,
            number,
            instruction,
            logs: logs.to_vec(),
            foreign,
            local: at.local,
        }
    }

    /// A refusal that one of the five programs would give, known before anything was sent.
    pub fn foreseen(error: Error) -> Self {
        Self {
            code: error.code(),
            name: error.name().into(),
            message: error.message().to_owned(),
            program: Some(Address::new_from_array(ids::CHALLENGE)),
            number: Some(error.code()),
            instruction: None,
            logs: Vec::new(),
            foreign: None,
            local: false,
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
        Some(ids::TOKEN | ids::TOKEN_2022) => return of_token(number).into(),
        Some(ids::SATI) => return of_sati(number).into(),
        Some(id) if id == system_program::ID.to_bytes() => return of_system(number).into(),
        Some(id) if id == ed25519_program::ID.to_bytes() => return Foreign::SignatureCheckFailed.into(),
        _ => {}
    }
    if let Some(error) = Error::from_code(number).filter(|_| program.is_none_or(is_ours)) {
        return Known(number, error.name().into(), error.message().to_owned(), None);
    }
    if let Some((name, message)) = anchor(number) {
        return Known(number, name.into(), message.to_owned(), None);
    }
    Foreign::UnknownRefusal { by: program, number }.into()
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

fn of_token(number: u32) -> Foreign {
    match number {
        0 => Foreign::TokenNotRentExempt,
        1 => Foreign::InsufficientTokens,
        3 => Foreign::TokenMintMismatch,
        4 => Foreign::TokenOwnerMismatch,
        17 => Foreign::TokenAccountFrozen,
        other => Foreign::TokenRefused(other),
    }
}

fn of_system(number: u32) -> Foreign {
    match number {
        0 => Foreign::AccountInUse,
        1 => Foreign::InsufficientLamports("the rent of the new accounts"),
        other => Foreign::SystemRefused(other),
    }
}

/// SATI numbers its errors from 6000 as well, so they get a number of ours. Only those whose meaning is
/// published are told apart (notes on SATI); the rest keeps its number.
fn of_sati(number: u32) -> Foreign {
    match number {
        2006 | 6029 => Foreign::RegistryRace,
        6000..=6005 => Foreign::RegistrationTooLong,
        other => Foreign::RegistryRefused(other),
    }
}

fn of_instruction(name: &str, text: String, program: Option<Address>) -> Known {
    let error = match name {
        // The index account follows from the member number, which somebody else took.
        "InvalidSeeds" if program.is_some_and(|program| program.to_bytes() == ids::SATI) => of_sati(2006),
        "ComputationalBudgetExceeded" | "ProgramFailedToComplete" => Foreign::ComputeExceeded,
        "InsufficientFunds" => Foreign::InsufficientLamports("what the transaction moves"),
        "MissingRequiredSignature" => Foreign::SignerMissing,
        "UnsupportedProgramId" | "IncorrectProgramId" => Foreign::ProgramMissing,
        "InvalidAccountOwner" | "IllegalOwner" => Foreign::AccountOwnerWrong,
        "NotEnoughAccountKeys" => Foreign::AccountsMissing,
        _ => return under_its_own_name(Foreign::InstructionFailed { by: program, text }, name),
    };
    error.into()
}

fn of_transaction(error: &TransactionError, at: &Circumstances<'_>) -> Known {
    let error = match error {
        TransactionError::AccountNotFound => Foreign::NoSol(at.payer),
        TransactionError::InsufficientFundsForFee => Foreign::FeeTooHigh,
        TransactionError::InsufficientFundsForRent { .. } => {
            Foreign::InsufficientLamports("the rent of one of its accounts")
        }
        TransactionError::BlockhashNotFound => Foreign::BlockhashExpired,
        TransactionError::AlreadyProcessed => Foreign::AlreadyProcessed,
        TransactionError::SignatureFailure => Foreign::SignerMissing,
        TransactionError::ProgramAccountNotFound | TransactionError::InvalidProgramForExecution => {
            Foreign::ProgramMissing
        }
        TransactionError::AddressLookupTableNotFound
        | TransactionError::InvalidAddressLookupTableIndex
        | TransactionError::InvalidAddressLookupTableData
        | TransactionError::InvalidAddressLookupTableOwner => Foreign::LookupTableUnusable,
        other => {
            let failed = Foreign::TransactionFailed(other.to_string());
            return under_its_own_name(failed, &format!("{other:?}"));
        }
    };
    error.into()
}

/// `debug` is the runtime's error as Rust writes it, with or without fields.
fn under_its_own_name(error: Foreign, debug: &str) -> Known {
    let own = debug.split(['(', ' ', '{']).next().filter(|name| !name.is_empty());
    let mut known = Known::from(error);
    if let Some(own) = own {
        known.1 = own.to_owned().into();
    }
    known
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
    fn a_refusal_of_ours_has_number_name_and_sentence() {
        let refusal = decode(r#"{"InstructionError":[2,{"Custom":6012}]}"#, ids::STAKE_LOCK);
        assert!(refusal.to_string().starts_with("LeaseNotDeactivated (6012): The lease is still paid"));
        assert_eq!((refusal.instruction, refusal.of_zx1()), (Some(2), Some(Error::LeaseNotDeactivated)));
    }

    #[test]
    fn every_refusal_of_ours_decodes_to_its_own_number_and_name() {
        for known in Error::ALL {
            let json = format!(r#"{{"InstructionError":[0,{{"Custom":{}}}]}}"#, known.code());
            let refusal = decode(&json, ids::CHALLENGE);
            assert_eq!((refusal.code, refusal.name.as_ref()), (known.code(), known.name()));
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
        assert_eq!((&empty.foreign, empty.local), (&Some(Foreign::NoSol(local.payer)), true));
        assert_eq!(Refusal::decode(&error(r#""BlockhashNotFound""#), &[], &local).code, 7022);
        let compute = error(r#"{"InstructionError":[0,"ComputationalBudgetExceeded"]}"#);
        assert_eq!(Refusal::decode(&compute, &[], &local).code, 7025);
        let rent = error(r#"{"InsufficientFundsForRent":{"account_index":3}}"#);
        assert_eq!(Refusal::decode(&rent, &[], &local).code, 7024);
        let odd = Refusal::decode(&error(r#""TooManyAccountLocks""#), &[], &local);
        assert_eq!((odd.code, odd.name.as_ref()), (7038, "TooManyAccountLocks"));
    }
}
