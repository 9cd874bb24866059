//! Every refusal of this crate: one catalogue of numbers, classes and sentences.
//!
//! Numbers 9000 to 9149 are of this file. The whitelist and the scrubber have 9150 to 9199.

use std::fmt;

use zx1_coded::{Coded, Row};

use crate::head::Head;

/// What this crate's functions return.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// The kind of an error. A server turns it into an HTTP status (wire.md, "Market HTTP").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request or the entry is not well formed: 400.
    Invalid,
    /// Nobody has proven who asks, or the request was seen before: 401.
    Unauthenticated,
    /// The party may not do this: 403.
    Forbidden,
    /// The contract or resource does not exist: 404.
    NotFound,
    /// Not in this state, or the chain has moved on: 409.
    Conflict,
    /// Too late: 410.
    Gone,
    /// Too large: 413.
    TooLarge,
    /// Too often: 429.
    TooMany,
    /// The contract has no judge: 501.
    NoJudge,
}

impl Class {
    /// The HTTP status code that a server answers with.
    pub const fn status(self) -> u16 {
        match self {
            Class::Invalid => 400,
            Class::Unauthenticated => 401,
            Class::Forbidden => 403,
            Class::NotFound => 404,
            Class::Conflict => 409,
            Class::Gone => 410,
            Class::TooLarge => 413,
            Class::TooMany => 429,
            Class::NoJudge => 501,
        }
    }
}

macro_rules! reasons {
    ($($code:literal $name:ident $class:ident $text:literal;)*) => {
        /// Why something was refused. `{}` in a sentence stands for the detail of the [`Refusal`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Reason { $(#[doc = $text] $name,)* }

        impl Reason {
            /// Every reason, by number.
            pub const ALL: &'static [Reason] = &[$(Reason::$name),*];

            /// One row per reason for the catalogue of error codes.
            pub const ROWS: &'static [Row] = &[$(
                Row { code: $code, name: stringify!($name), message: $text, transient: Some(false) },
            )*];

            /// The error code, 9000 to 9149.
            pub const fn code(self) -> u32 {
                match self { $(Reason::$name => $code,)* }
            }

            /// The reason with this number.
            pub const fn from_code(code: u32) -> Option<Reason> {
                match code { $($code => Some(Reason::$name),)* _ => None }
            }

            /// The variant's name, as the catalogue of error codes prints it.
            pub const fn name(self) -> &'static str {
                match self { $(Reason::$name => stringify!($name),)* }
            }

            /// The class, which decides the HTTP status.
            pub const fn class(self) -> Class {
                match self { $(Reason::$name => Class::$class,)* }
            }

            /// The sentence with `{}` where the detail belongs. [`Refusal`] displays it filled in.
            pub const fn sentence(self) -> &'static str {
                match self { $(Reason::$name => $text,)* }
            }
        }
    };
}

reasons! {
    // Ids and keys.
    9001 PartyIdPrefix Invalid
        "A party id begins with `fix_`; give `fix_` and the 64 hexadecimal digits of the public key.";
    9002 PartyIdHex Invalid "A party's key is 64 lower-case hexadecimal digits; check the text.";
    9003 PartyKeyPoint Invalid "These 32 bytes are not an Ed25519 public key; check the key.";
    9004 PartyKeyWeak Invalid
        "This key is a point of small order, under which signatures prove nothing; make a new key.";
    9005 ContractIdHex NotFound "A contract id is 16 lower-case hexadecimal digits; check the id.";
    // JSON.
    9010 JsonTooLong TooLarge "The JSON text has {} bytes, which is too long; send less.";
    9011 JsonUtf8 Invalid "The JSON text is not UTF-8 from byte {} on; send UTF-8.";
    9012 JsonSyntax Invalid "The text is not JSON at byte {}; correct it there.";
    9013 JsonTooDeep Invalid "The JSON is nested too deeply; send a flatter value.";
    9014 JsonNotFinite Invalid "JSON has no NaN and no infinity; send a number or leave the field out.";
    9015 JsonDuplicate Invalid "The name `{}` stands twice in one object; leave one of them out.";
    9016 JsonIntegerTooLong Invalid
        "An integer has {} digits, which is too long; send a shorter one, or text.";
    9017 JsonSurrogate Invalid "A string holds half of a surrogate pair; send whole characters.";
    // Fields.
    9020 FieldMissing Invalid "The field `{}` is missing; add it.";
    9021 FieldUnknown Invalid "The field `{}` is not known here; leave it out.";
    9022 FieldNotObject Invalid "`{}` must be an object; send one.";
    9023 FieldNotText Invalid "`{}` must be text; send a string.";
    9024 FieldNotAddress Invalid "`{}` must be a Nano address that somebody owns; check it.";
    9025 FieldNotFlag Invalid "`{}` must be true or false; send one of them.";
    9026 FieldNotNumber Invalid "`{}` must be a whole number in its range; send one.";
    9027 FieldNotList Invalid "`{}` must be a list; send one.";
    9028 FieldNotAmount Invalid
        "`{}` must be an amount in XNO as a decimal string such as \"0.50\"; correct it.";
    9029 FieldNotHex Invalid "`{}` must be lower-case hexadecimal digits of the right length; correct it.";
    9030 FieldTooLong Invalid "`{}` is longer than it may be; shorten it.";
    9031 FieldTooMany Invalid "`{}` has more items than it may have; send fewer.";
    9032 FieldEmpty Invalid "`{}` is empty; say something.";
    9033 FieldWord Invalid
        "`{}` holds a word that has no meaning there; see docs/fix.md for the words.";
    9034 FieldNotLine Invalid
        "`{}` must be one line without control characters; send a single line.";
    // Entries and chains.
    9040 EntryType Invalid "The entry type `{}` is not known; see docs/fix.md for the types.";
    9041 EntryTimestamp Invalid
        "An entry's timestamp must be a number of seconds since 1970; correct it and sign anew.";
    9042 EntryUnsigned Invalid "Entry {} has no signature; sign it.";
    9043 EntryAge Invalid
        "The entry was signed too long ago or ahead of time ({} s); set the clock and sign it anew.";
    9044 EntrySignature Invalid "The signature of entry {} does not hold; sign exactly what is sent.";
    9045 EntryBody Invalid "The entry and the body differ in `{}`; send the same in both.";
    9046 EntryAuthorKey Forbidden
        "The entry is signed by another key than the request; sign both with one key.";
    9047 EntryKind Invalid "This call takes an entry of another type than `{}`; send the right one.";
    9048 EntryFrom Invalid
        "`from` or `side` of the entry is not the author's side; correct it and sign anew.";
    9049 EntryNeeded Invalid "This server signs for nobody; add the party's own signed `chain_entry`.";
    9050 ChainConflict Conflict
        "The chain has moved on to seq {}; fetch the chain head and sign the entry anew.";
    9051 ChainBroken Invalid
        "Entry {} does not hang on the one before it; the transcript was changed or is incomplete.";
    9052 ChainFull Conflict "The chain has {} entries and takes no more of this type; end the contract.";
    9053 JudgeSignature Invalid
        "The judge's signature (`{}`) does not hold for this contract and chain head; read the \
         transcript again and sign anew.";
    // Contracts.
    9056 PayoutNeeded Invalid
        "A paid contract needs the address that the party's money goes to; add `payout_address`.";
    9057 TalkFull Conflict
        "The parties have said {} bytes in this contract, and no more is kept; end the contract.";
    9058 ContractWindows Invalid "The contract's windows are out of bounds: {}; correct execution.windows.";
    9059 ContractVersion Invalid "The contract's `{}` is one that this server does not know; send version 2 of fix.";
    9060 ContractCommand Invalid "The contract's command is empty; name the command that failed.";
    9061 ContractSpam Invalid "The contract looks like spam ({}); describe a real failure of a command.";
    9062 ContractBountyLow Invalid "The bounty is below the minimum of {} XNO; raise it.";
    9063 ContractBountyHigh Invalid "The bounty is above the maximum of {} XNO; lower it.";
    9064 ContractCurrency Invalid "The bounty's currency and chain must be XNO on nano; correct `{}`.";
    9065 ContractJudgeKey Invalid
        "The judge must be this server or nobody; set judge.pubkey to {} or leave it empty.";
    9066 ContractJudgeFee Invalid "The judge fee must be the server's, {} XNO; set it.";
    9067 ContractGrace Invalid "The grace period must be the server's, {} seconds; set it.";
    9068 ContractMode Invalid "The execution mode `{}` is not known; use supervised or autonomous.";
    9069 ContractAttempts Invalid "The number of attempts must be 1 to {}; correct execution.max_attempts.";
    9070 ContractRounds Invalid
        "The number of investigation rounds must be 0 to {}; correct execution.investigation_rounds.";
    9071 ContractRate Invalid
        "The investigation rate must be 0 to {} seconds; correct execution.investigation_rate.";
    9072 ContractTimeout Invalid "The time for an attempt must be {} seconds; correct execution.timeout.";
    9073 ContractReviewWindow Invalid
        "The review window must be {} seconds; correct execution.review_window.";
    9074 ContractVerification Invalid
        "The verification method `{}` is not known; use exit_code, output_match or \
         principal_verification.";
    9075 ContractPattern Invalid
        "The pattern of output_match cannot be used ({}); write a shorter or simpler regular \
         expression.";
    9076 ContractNoVerification Invalid "The contract has no verification; add at least one to `{}`.";
    9077 ContractInputPath Invalid
        "The input file `{}` does not lie inside the working folder; give a relative path without `..`.";
    9078 ContractInputTwice Invalid "The input file `{}` is attached twice; attach it once.";
    9079 ContractInputSize TooLarge
        "The input files have {} bytes in all, more than may be attached; attach fewer.";
    9080 ContractInputEncoding Invalid
        "The encoding of the input file `{}` is neither utf-8 nor hex, or does not fit its content; \
         correct it.";
    9081 ContractFreeBounty Invalid
        "A contract without a judge has no escrow; set the bounty to \"0\" or name the judge.";
    9082 ContractExitCode Invalid "The expected exit code must be 0 to 255; correct `{}`.";
    9083 ContractScope Invalid "The network scope `{}` is not known; use packages, or all.";
    9084 ContractMissing Invalid "`{}` is needed for a contract; set it before building.";
    // Requests.
    9085 BondUnpaid Conflict "A bond is chained when its deposit is confirmed; reserve the contract first.";
    9086 RulingFinality Invalid "`final` of this ruling must be {}; correct it.";
    9087 CorrectedCommand Invalid
        "This contract takes no corrected command (execution.corrected_command is no); propose a fix after \
         which the command itself works, or leave the contract.";
    9088 ContractCourt Invalid
        "The limits of the court must be the server's; leave `court` out, or copy them.";
    9089 PostMarket Invalid
        "The post is not for this market, {}; sign its `market` for this server and its network.";
    9090 RequestHeader Unauthenticated "The header {} is missing or malformed; sign the request.";
    9091 RequestTimestamp Unauthenticated
        "The request's timestamp must be Unix seconds; send whole or decimal seconds.";
    9092 RequestOld Unauthenticated "The request is {} seconds old; set the clock and sign it anew.";
    9093 RequestAhead Unauthenticated
        "The request is {} seconds ahead of the server; set the clock and sign it anew.";
    9094 RequestSignature Unauthenticated
        "The request's signature does not hold; sign the lines of version 2 exactly as sent (fix.md, \"Authentication\").";
    9095 RequestReplayed Unauthenticated "This request was taken already; sign a new one.";
    9096 RequestPath Invalid
        "The path holds a character that it may not hold, or is too long; percent-encode it.";
    9097 RequestBody TooLarge "The body has {} bytes, more than a request may have; send less.";
    // Money.
    9099 TermsCourt Invalid "The court's limits are out of bounds: {}; correct the terms.";
    9100 MoneyOverflow Invalid "The amounts are larger than all the money there is; correct them.";
    9101 MoneyShort Invalid
        "The fees are larger than what was deposited; raise the bounty or correct the terms.";
    9102 TermsFees Invalid
        "The fees do not fit together: no court may cost more than the insurance, no share more than \
         the bounty; correct the terms.";
    9103 DepositAmount Invalid
        "The deposit is not the inclusive bond of {} XNO; wait until it is complete.";
    9104 DepositUnexpected Conflict "No deposit is expected from the {} now; return it to its source.";
    9105 PayoutAddress Invalid
        "The payout address is one of the contract's own escrow accounts; give an address of your own.";
    // States.
    9106 ReexecutionFirst Conflict
        "The machine's result comes before the ruling; chain a reexecution first, with ran false if \
         nothing can be run.";
    9107 UnparsableRuling Invalid "An answer that nobody could read must repeat `{}`; correct the outcome.";
    9108 AttemptOver Gone "The time for this attempt ended at {}; wait for the next attempt.";
    9109 ResumesUsed Conflict "A halt can be taken back {} times at most; the judge decides.";
    9110 StateWord Invalid "The state `{}` is not known; see docs/fix.md for the states.";
    9111 WrongState Conflict "This cannot be done while the contract is {}; fetch it to see what can.";
    9112 Ended Conflict "The contract has ended ({}); nothing can be added to it.";
    9113 NotPrincipal Forbidden "Only the contract's principal may do this; sign with the principal's key.";
    9114 NotAgent Forbidden "Only the contract's agent may do this; sign with the agent's key.";
    9115 NotParty Forbidden "Only the contract's parties may do this; sign with a party's key.";
    9116 NotServer Forbidden "Only the server may write an entry of the type `{}`; send another one.";
    9117 SelfDealing Forbidden "The principal cannot be its own agent; use a contract of somebody else.";
    9118 AgentIsJudge Forbidden
        "The server and its judges cannot take a contract that they judge; use another key.";
    9119 FormerAgent Forbidden
        "This agent had the contract already and gave it up or lost it; take another one.";
    9120 Reserved Conflict "The contract is reserved for an agent until {}; try again then.";
    9121 BondNeeded Conflict "A contract with a judge needs a bond before it is accepted; bond first.";
    9122 DepositPending Conflict "The deposit is not confirmed yet; wait for it.";
    9123 TooManyRounds TooMany "All {} rounds of investigation are used; accept or decline.";
    9124 TooFast TooMany "The next investigation may be asked for at {}; wait until then.";
    9125 NoSuchInvestigation Conflict
        "Nobody asked for the output of this command; answer an open investigation.";
    9126 FixPending Conflict "A fix waits for its verification; wait for it.";
    9127 NoFixPending Conflict "No fix waits for a verification; wait for one.";
    9128 Closing Conflict "The contract is closing; only the agent may object, until {}.";
    9129 NoJudge NoJudge
        "The contract is in free mode and has no judge, so nobody can rule; the principal's word is \
         final.";
    9130 TooEarly Conflict
        "It is too early for the agent to dispute ({}); wait for a failed verification or for the end \
         of the window.";
    9131 NotYourTurn Conflict "The other side has the word; wait for its answer or for the deadline.";
    9132 ResponseLate Gone "The time to respond ended at {}; the judge rules without it.";
    9133 NotLoser Forbidden "Only the side that lost may appeal or waive; the ruling is in your favour.";
    9134 AbsenceInvalid Invalid "The absence in `resumed` does not hold: {}; check the transcript.";
    9135 AppealLate Gone "The time to appeal ended at {}; the ruling is final.";
    9136 NotBeforeCourt Conflict "No court is at work on this contract now; wait for a dispute.";
    9137 WrongCourt Conflict
        "The ruling is not of the court that the case is before ({}); read the transcript again.";
    9138 NotAJudge Forbidden "The ruling is not signed by a judge of this server; use a judge's key.";
    9139 AlreadyWaived Conflict "This side has waived already; wait for the other one.";
    9140 ResumeLate Gone "The time to resume ended at {}; the judge decides.";
    9141 NotDue Conflict "The window has not passed; it ends at {}.";
    9142 NotAutonomous Conflict "The contract is supervised; there is no review, verify the fix.";
    9143 PostFirst Invalid
        "A chain begins with one `post` entry and has no second one; check the transcript.";
    9144 OnBehalf Forbidden
        "The server may sign for a party only in compatibility mode, and only for a party of the contract; send \
         the party's own entry.";
    9145 FeedbackTwice Conflict "This side has left its feedback already; it can be left once.";
    9146 AccountsFrozen Conflict
        "Payout addresses cannot be changed while the contract is {}; it is too late.";
    9147 ReexecutionTwice Conflict "The re-execution's result is in the transcript already; rule on it.";
    9148 TermsDiffer Invalid
        "The opening entry has other terms than the server's ({}); chain the server's own terms.";
    9149 TranscriptServer Invalid
        "The transcript's server is not the one that opened the contract ({}); check where it came \
         from.";
}

/// A refusal: the reason, what it is about, and for chain conflicts the present head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: Reason,
    detail: String,
    head: Option<Head>,
}

impl Refusal {
    /// A refusal whose sentence has no detail.
    pub fn of(reason: Reason) -> Refusal {
        Refusal { reason, detail: String::new(), head: None }
    }

    /// A refusal about `detail`.
    pub fn with(reason: Reason, detail: impl ToString) -> Refusal {
        Refusal { reason, detail: detail.to_string(), head: None }
    }

    /// The chain has moved on to `head`.
    pub fn conflict(head: Head) -> Refusal {
        Refusal { reason: Reason::ChainConflict, detail: head.seq.to_string(), head: Some(head) }
    }

    /// The catalogue entry that this error belongs to.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The error code, 9000 to 9149.
    pub fn code(&self) -> u32 {
        self.reason.code()
    }

    /// The class, which decides the HTTP status.
    pub fn class(&self) -> Class {
        self.reason.class()
    }

    /// What it is about: a field's path, a bound, a time.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Where the chain stands, for [`Reason::ChainConflict`].
    pub fn head(&self) -> Option<Head> {
        self.head
    }
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Refusal {
        Refusal::of(reason)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason.sentence().split_once("{}") {
            Some((before, after)) => write!(f, "{before}{}{after}", self.detail),
            None => f.write_str(self.reason.sentence()),
        }
    }
}

impl std::error::Error for Refusal {}

impl Coded for Refusal {
    fn code(&self) -> u32 {
        self.reason.code()
    }

    fn name(&self) -> &'static str {
        self.reason.name()
    }
}
