//! Prompts in which every party's text is data (decision E6: a party's text can never become an instruction).
//!
//! Three walls stand between a stranger's text and the model's instructions:
//!
//! 1. **A fence** with a random token, new for every prompt. Every line inside begins with `| `, so no line
//!    of a stranger can be a fence, or begin with `Human:` or `### Instruction`, whatever it says.
//! 2. **Neutral text.** Non-printing characters are written out (`⟦U+200B⟧`). A middle dot is put into what
//!    chat templates and our fences use as marks (`<·|im_start|>`), because servers that render a template
//!    before they cut it into tokens would take them for the real ones.
//! 3. **A strict reader** of the answer, [`crate::answer`]: what the model can say is a small closed shape.
//!
//! None of them makes a model immune: it can still believe a lie. So judges look at the machine's
//! re-execution first (`zx1_agent::judge`), and what a model proposes is proven in a sandbox.
//!
//! Every text is bounded; of a longer one head and tail are kept.

mod fence;

pub use fence::{Block, FenceToken, Label, Prompt, PromptBuilder, parse_back};

/// Why a prompt cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The system has no randomness.
    #[error("The system gives no random numbers, so no fence can be made. Check /dev/urandom.")]
    Random,
}

impl PromptError {
    /// The number of this error.
    pub fn code(&self) -> u16 {
        match self {
            Self::Random => 9350,
        }
    }
}
