//! What entries of the server say.

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::contract::{SignedTrial, Verdict};
use crate::court::{Court, Outcome};
use crate::defaults::{MAX_ENVELOPE, MAX_FLAGS, MAX_OUTPUT, MAX_TEXT, MAX_WORD};
use crate::digits::lower_hex;
use crate::fields::{Builder, Fields};
use crate::parties::Side;
use crate::{Address, ContractId, Millis, PartyId, PartyKey, Raw, Reason, Refusal, Result};

/// A deposit that the ledger has confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepositData {
    /// The escrow account of this contract, depositor and round (decision F1).
    pub account: Address,
    /// What it holds: the inclusive bond.
    pub amount: Raw,
    /// Who sent it. Nobody is paid by it: what the depositor signed says where its money goes (decision E19).
    pub source: Address,
}

impl DepositData {
    pub(super) fn to_json(self) -> Json {
        Builder::new()
            .text("account", self.account)
            .text("amount", self.amount.xno())
            .text("source", self.source)
            .build()
    }

    pub(super) fn read(mut fields: Fields<'_>) -> Result<DepositData> {
        let deposit = DepositData {
            account: fields.address("account")?,
            amount: fields.amount("amount")?,
            source: fields.address("source")?,
        };
        fields.done()?;
        Ok(deposit)
    }
}

/// A judge's signature over what it decided. The server chains it with the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JudgeSignature {
    /// The judge's key. The terms must list it, or it is the server's own.
    pub judge: PartyId,
    /// 128 lower-case hexadecimal digits.
    pub signature: String,
}

impl JudgeSignature {
    fn read(fields: &mut Fields<'_>) -> Result<Option<JudgeSignature>> {
        let judge = fields.opt_party("judge_pubkey")?;
        let signature = fields.opt_text("judge_signature", 128)?;
        match (judge, signature) {
            (None, None) => Ok(None),
            (Some(judge), Some(signature)) => {
                Ok(Some(JudgeSignature { judge, signature: signature.to_owned() }))
            }
            _ => fields.refuse("judge_signature", Reason::JudgeSignature),
        }
    }

    fn put(this: &Option<JudgeSignature>, builder: Builder) -> Builder {
        match this {
            Some(s) => builder.text("judge_pubkey", s.judge).text("judge_signature", &s.signature),
            None => builder,
        }
    }

    /// What a judge signs: a line that names the purpose, the contract, the head that its entry will hang on
    /// (so the judge has seen everything before it), and the data without the signature.
    fn message(domain: &str, contract: ContractId, head: &[u8; 32], data: &Json) -> Vec<u8> {
        format!("{domain}\n{contract}\n{}\n{}", hex::encode(head), data.canonical()).into_bytes()
    }

    fn sign(
        domain: &str,
        contract: ContractId,
        head: &[u8; 32],
        data: &Json,
        key: &PartyKey,
    ) -> JudgeSignature {
        let signature = key.sign(&JudgeSignature::message(domain, contract, head, data));
        JudgeSignature { judge: key.id(), signature: hex::encode(signature) }
    }

    fn verify(&self, domain: &str, contract: ContractId, head: &[u8; 32], data: &Json) -> Result<()> {
        let signature = lower_hex::<64>(&self.signature);
        let message = JudgeSignature::message(domain, contract, head, data);
        if signature.is_some_and(|signature| self.judge.verify(&message, &signature)) {
            Ok(())
        } else {
            Err(Refusal::with(Reason::JudgeSignature, "judge_signature"))
        }
    }
}

/// What the machine saw when it ran what could be run again (decision E6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReexecutionData {
    /// Whether anything could be run: inputs were chained before the fix, and the verification needs no
    /// person.
    pub ran: bool,
    /// Whether all verifications held; absent when nothing ran or it did not end.
    pub success: Option<bool>,
    /// The exit status, if the command ended.
    pub exit_code: Option<i64>,
    /// What it printed, scrubbed and clipped.
    pub output: String,
    /// Why nothing ran, or what is worth saying.
    pub note: String,
    /// The trial's result, which the judge has signed for itself.
    pub trial: Option<SignedTrial>,
    /// The judge's signature.
    pub signature: Option<JudgeSignature>,
}

impl ReexecutionData {
    const DOMAIN: &str = "zx1/fix/reexecution/v1";

    fn bare(&self) -> Builder {
        Builder::new()
            .put("ran", self.ran)
            .opt("success", self.success)
            .opt("exit_code", self.exit_code)
            .put("output", self.output.as_str())
            .put("note", self.note.as_str())
            .opt("trial", self.trial.as_ref().map(SignedTrial::to_json))
    }

    /// Sign it as the judge. `head` is the chain's head now.
    pub fn sign(mut self, contract: ContractId, head: &[u8; 32], key: &PartyKey) -> ReexecutionData {
        let data = self.bare().build();
        self.signature = Some(JudgeSignature::sign(Self::DOMAIN, contract, head, &data, key));
        self
    }

    /// Checks the judge's signature, if there is one, and returns the judge's key. 9053 when the signature
    /// does not hold.
    pub fn verify(&self, contract: ContractId, head: &[u8; 32]) -> Result<Option<PartyId>> {
        let Some(signature) = &self.signature else { return Ok(None) };
        signature.verify(Self::DOMAIN, contract, head, &self.bare().build())?;
        Ok(Some(signature.judge))
    }

    /// Whether it says that the fix works, unqualified, and who of the judges has signed that. Anything else proves
    /// nothing for the agent.
    pub fn proves(&self) -> Option<PartyId> {
        let trial = self.trial.as_ref().filter(|trial| trial.result.verdict == Verdict::Passed)?;
        (self.ran && self.success == Some(true)).then_some(trial.judge)
    }

    /// The signed result must be of this contract and of its last fix, and say what stands beside it. 9053, 9033.
    pub fn check_trial(&self, contract: ContractId, last_fix: Option<u64>) -> Result<()> {
        let Some(trial) = &self.trial else { return Ok(()) };
        trial.verify(contract)?;
        let verdict = trial.result.verdict;
        let says = self.success == Some(true);
        let ran = !matches!(verdict, Verdict::NotRun);
        if Some(trial.seq) != last_fix || says != (verdict == Verdict::Passed) || (says && !ran) {
            return Err(Refusal::with(Reason::FieldWord, "reexecution.trial"));
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Builder {
        JudgeSignature::put(&self.signature, self.bare())
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<ReexecutionData> {
        Ok(ReexecutionData {
            ran: fields.flag("ran")?,
            success: fields.raw("success").is_some().then(|| fields.flag("success")).transpose()?,
            exit_code: fields.opt_status("exit_code")?,
            output: fields.text_or_empty("output", MAX_OUTPUT)?,
            note: fields.text_or_empty("note", MAX_TEXT)?,
            trial: fields.opt_object("trial")?.map(SignedTrial::read).transpose()?,
            signature: JudgeSignature::read(fields)?,
        })
    }
}

/// Who gets a VERDICT.
const PARTIES: usize = 2;

/// Whole bytes in lower-case hexadecimal digits.
pub(super) fn is_lower_hex(text: &str) -> bool {
    text.len().is_multiple_of(2) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// A ruling (fix.md, "Rulings").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RulingData {
    /// The judge's decision.
    pub outcome: Outcome,
    /// The judge's explanation of the outcome, as text for the parties.
    pub reasoning: String,
    /// The court that ruled.
    pub court: Court,
    /// Whether nobody can appeal: the supreme court, or a higher court that failed.
    pub is_final: bool,
    /// Remarks of the judge. [`RulingData::UNPARSABLE`] has a meaning.
    pub flags: Vec<String>,
    /// The 0x01 VERDICT envelopes of a judge with an agent id, one to each party that has one too, in
    /// lower-case hexadecimal digits (decision G1). Not read here, but signed with the rest, so that none is
    /// lost on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub envelopes: Vec<String>,
    /// The judge's signature.
    pub signature: Option<JudgeSignature>,
}

impl RulingData {
    /// The flag of an answer that nobody could read. The first court's ruling is then `impossible`; a higher
    /// court's leaves the previous ruling standing, and repeats its outcome (decision E6).
    pub const UNPARSABLE: &str = "unparsable";
    const DOMAIN: &str = "zx1/fix/ruling/v1";

    /// A ruling of `court`, unsigned. It is final when nobody is above the court.
    pub fn new(outcome: Outcome, court: Court, reasoning: impl Into<String>) -> RulingData {
        let is_final = court.next().is_none();
        RulingData {
            outcome,
            reasoning: reasoning.into(),
            court,
            is_final,
            flags: Vec::new(),
            envelopes: Vec::new(),
            signature: None,
        }
    }

    /// The ruling alone, which its envelopes speak of: without them and without the signature.
    pub fn words(&self) -> Json {
        RulingData { envelopes: Vec::new(), ..self.clone() }.bare().build()
    }

    /// Whether the judge's answer could not be read.
    pub fn is_unparsable(&self) -> bool {
        self.flags.iter().any(|flag| flag == Self::UNPARSABLE)
    }

    fn bare(&self) -> Builder {
        let flags: Vec<Json> = self.flags.iter().map(|flag| flag.as_str().into()).collect();
        Builder::new()
            .text("outcome", self.outcome)
            .put("reasoning", self.reasoning.as_str())
            .text("court", self.court)
            .put("level", self.court.level())
            .put("final", self.is_final)
            .put("flags", flags)
            .opt(
                "envelopes",
                (!self.envelopes.is_empty()).then(|| {
                    let texts = self.envelopes.iter().map(|text| text.as_str().into());
                    texts.collect::<Vec<Json>>()
                }),
            )
    }

    /// Sign it as the judge. `head` is the chain's head now: a ruling counts only for the transcript that the
    /// judge has read.
    pub fn sign(mut self, contract: ContractId, head: &[u8; 32], key: &PartyKey) -> RulingData {
        let data = self.bare().build();
        self.signature = Some(JudgeSignature::sign(Self::DOMAIN, contract, head, &data, key));
        self
    }

    /// Checks the judge's signature, if there is one, and returns the judge's key. 9053 when the signature
    /// does not hold.
    pub fn verify(&self, contract: ContractId, head: &[u8; 32]) -> Result<Option<PartyId>> {
        let Some(signature) = &self.signature else { return Ok(None) };
        signature.verify(Self::DOMAIN, contract, head, &self.bare().build())?;
        Ok(Some(signature.judge))
    }

    pub(super) fn to_json(&self) -> Builder {
        JudgeSignature::put(&self.signature, self.bare())
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<RulingData> {
        let outcome = fields.text("outcome", MAX_WORD)?;
        let Some(outcome) = Outcome::from_word(outcome) else {
            return fields.refuse("outcome", Reason::FieldWord);
        };
        let court = fields.text("court", MAX_WORD)?;
        let Some(court) = Court::from_word(court) else { return fields.refuse("court", Reason::FieldWord) };
        if fields.number("level")? != u64::from(court.level()) {
            return fields.refuse("level", Reason::FieldWord);
        }
        Ok(RulingData {
            outcome,
            reasoning: fields.text_or_empty("reasoning", MAX_TEXT)?,
            court,
            is_final: fields.flag("final")?,
            flags: fields.texts("flags", MAX_FLAGS, MAX_WORD)?,
            envelopes: {
                let texts = fields.texts("envelopes", PARTIES, MAX_ENVELOPE)?;
                if !texts.iter().all(|text| is_lower_hex(text)) {
                    return fields.refuse("envelopes", Reason::FieldNotHex);
                }
                texts
            },
            signature: JudgeSignature::read(fields)?,
        })
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $enum:ident { $($(#[$d:meta])* $name:ident $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $enum { $($(#[$d])* $name,)* }

        impl $enum {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [$enum] = &[$($enum::$name),*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($enum::$name => $text,)* }
            }

            /// From the word on the wire.
            pub fn from_word(word: &str) -> Option<$enum> {
                match word { $($text => Some($enum::$name),)* _ => None }
            }
        }
    };
}

words! {
    /// Which window has passed, or why else the server ended a contract.
    CloseReason {
        /// The principal did not pay.
        Unfunded "unfunded";
        /// No agent took it.
        NoAgent "no_agent";
        /// No attempt worked, and the agent did not object.
        AttemptsExhausted "attempts_exhausted";
        /// The principal rejected the fix, and the agent did not object.
        ReviewRejected "review_rejected";
        /// The principal left in the grace period.
        BackedOutInGrace "backed_out_in_grace";
        /// The principal left later.
        BackedOutLate "backed_out_late";
        /// The principal left with a fix that it had read, and the agent did not object.
        BackedOutAfterFix "backed_out_after_fix";
        /// A halt in free mode, not taken back.
        Halted "halted";
        /// No party appealed within the appeal window.
        NoAppeal "no_appeal";
        /// A higher court did not rule in time: the ruling before stands.
        CourtFailed "court_failed";
    }
}

words! {
    /// What was away.
    AbsenceCause {
        /// The server did not run.
        Down "down";
        /// The server's clock jumped ahead.
        Clock "clock";
        /// The server could not read its ledger.
        Ledger "ledger";
        /// All seats before a judge were taken.
        Court "court";
    }
}

/// An absence, as `resumed` carries it: the windows that ran have moved by it (decision E21). The gap in the entry is
/// the difference of both moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// What was away.
    pub cause: AbsenceCause,
    /// The last moment before.
    pub from: Millis,
    /// The first moment after: the entry's own time.
    pub until: Millis,
}

impl Absence {
    /// How long it lasted.
    pub const fn gap(self) -> Millis {
        self.until.minus(self.from)
    }

    pub(super) fn to_json(self) -> Builder {
        let seconds = |at: Millis| Json::Float(at.as_secs_f64());
        Builder::new()
            .put("cause", self.cause.as_str())
            .put("from", seconds(self.from))
            .put("gap", seconds(self.gap()))
            .put("until", seconds(self.until))
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Absence> {
        let cause = AbsenceCause::from_word(fields.text("cause", MAX_WORD)?);
        let Some(cause) = cause else { return fields.refuse("cause", Reason::FieldWord) };
        let absence = Absence { cause, from: fields.seconds("from")?, until: fields.seconds("until")? };
        if fields.seconds("gap")? != absence.gap() || absence.until < absence.from {
            return Err(Refusal::with(
                Reason::AbsenceInvalid,
                "the gap is not the time between both moments",
            ));
        }
        Ok(absence)
    }
}

/// The court, its fee and the deadline of a dispute, as `dispute_metadata` carries them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisputeMetadata {
    /// The side that filed the dispute or the appeal.
    pub filer: Side,
    /// The court that hears the dispute.
    pub court: Court,
    /// The court's fee, which the loser pays, or who called the court when nobody has won.
    pub fee: Raw,
    /// Until when the other side may answer, in milliseconds.
    pub response_deadline: u64,
}

impl DisputeMetadata {
    pub(super) fn to_json(self) -> Builder {
        Builder::new()
            .text("filer", self.filer)
            .text("court", self.court)
            .text("fee", self.fee.xno())
            .put("response_deadline", self.response_deadline)
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<DisputeMetadata> {
        let filer = Side::from_word(fields.text("filer", MAX_WORD)?);
        let Some(filer) = filer else { return fields.refuse("filer", Reason::FieldWord) };
        let court = Court::from_word(fields.text("court", MAX_WORD)?);
        let Some(court) = court else { return fields.refuse("court", Reason::FieldWord) };
        Ok(DisputeMetadata {
            filer,
            court,
            fee: fields.amount("fee")?,
            response_deadline: fields.number("response_deadline")?,
        })
    }
}
