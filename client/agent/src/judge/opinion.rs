//! What a judge's model says, read strictly.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use zx1_model::answer::{self, AnswerError};

pub use zx1_market::money::Outcome;

/// Longest reasoning in bytes.
pub const MAX_REASONING: usize = 8 << 10;

/// What a reader of a ruling should know. A closed list; `flags` on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// The judge's answer could not be read.
    ParseError,
    /// The judge did not answer in time.
    Timeout,
    /// The judge's model could not be asked.
    ModelError,
    /// The ruling is against what the re-execution clearly decided.
    ReexecutionContradicts,
    /// A party's text looks as if it were meant to instruct the judge. Set by the machine or by the model.
    InjectionSuspected,
    /// The transcript was too long for the prompt; parts were left out.
    TranscriptCut,
    /// A side gave no argument.
    InAbsentia,
    /// The model says that the evidence is thin.
    InsufficientEvidence,
}

impl Flag {
    /// The flags that a model may set. The others are the machine's own findings.
    pub const OF_MODELS: [Flag; 2] = [Flag::InjectionSuspected, Flag::InsufficientEvidence];

    /// Its name, as it stands on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Flag::ParseError => "parse_error",
            Flag::Timeout => "timeout",
            Flag::ModelError => "model_error",
            Flag::ReexecutionContradicts => "reexecution_contradicts",
            Flag::InjectionSuspected => "injection_suspected",
            Flag::TranscriptCut => "transcript_cut",
            Flag::InAbsentia => "in_absentia",
            Flag::InsufficientEvidence => "insufficient_evidence",
        }
    }
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// The outcome.
    pub outcome: Outcome,
    /// Why. At most [`MAX_REASONING`] bytes, and not yet neutral.
    pub reasoning: String,
    /// Flags that models may set.
    pub flags: BTreeSet<Flag>,
}

/// Read a judge's answer. Exactly this, and nothing else:
///
/// ```text
/// {"outcome": one of the six names, "reasoning": "...", "flags": [...]}
/// ```
///
/// `flags` may be missing. The object may stand in one Markdown code fence. No other text, no other field, no
/// other spelling: a reader that guesses can be steered by whoever wrote what the model read.
pub fn read_opinion(text: &str) -> Result<Opinion, AnswerError> {
    let mut fields = answer::read(text)?;
    let name = fields.text("outcome", 32)?;
    let outcome = Outcome::from_word(&name)
        .ok_or_else(|| AnswerError::shape("the field outcome has none of the six values"))?;
    let reasoning = fields.text("reasoning", MAX_REASONING)?;
    let mut flags = BTreeSet::new();
    for name in fields.texts("flags", 8)? {
        let flag = Flag::OF_MODELS
            .into_iter()
            .find(|f| f.name() == name)
            .ok_or_else(|| AnswerError::shape("the field flags has a value that is not offered"))?;
        flags.insert(flag);
    }
    fields.end()?;
    Ok(Opinion { outcome, reasoning, flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_wire() {
        for outcome in Outcome::ALL {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
        for flag in [
            Flag::ParseError,
            Flag::Timeout,
            Flag::ModelError,
            Flag::ReexecutionContradicts,
            Flag::InjectionSuspected,
            Flag::TranscriptCut,
            Flag::InAbsentia,
            Flag::InsufficientEvidence,
        ] {
            assert_eq!(serde_json::to_value(flag).unwrap(), flag.name());
        }
    }
}
