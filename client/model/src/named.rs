//! Language models by name, as settings and options write them.

use std::path::Path;
use std::sync::Arc;

use zx1_coded::Coded;

use crate::defaults::{FREE_MODELS, OPENROUTER_URL};
use crate::{
    Anthropic, AnthropicOptions, ApiKey, ConfigError, Model, OpenAi, OpenAiOptions, Pool, Price, Retry,
    Scripted,
};

/// A name that names no model that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
pub enum NameError {
    /// The name is malformed, or the model behind it is not configured.
    #[code(9563)]
    #[error("invalid model '{text}': {why}.")]
    BadModel {
        /// The name as it was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

/// The model of a name; `None` for `rules`, the built-in rules alone.
///
/// | name | model | key |
/// |---|---|---|
/// | `openai:MODEL@URL` | any OpenAI-compatible server | `OPENAI_API_KEY`, if it needs one |
/// | `openrouter:MODEL` | one of OpenRouter's; `openrouter:free` is a pool of free ones | `OPENROUTER_API_KEY` |
/// | `anthropic:MODEL` | one of Anthropic's | `FIX_API_KEY` |
/// | `script:FILE` | a JSON list of answers, for tests | none |
///
/// # Errors
/// 9563.
pub fn named(text: &str, price: Price) -> Result<Option<Arc<dyn Model>>, NameError> {
    let refused = |why: &str| NameError::BadModel { text: text.to_owned(), why: zx1_net::clause(why) };
    let wrong = |error: ConfigError| refused(&error.to_string());
    if text == "rules" {
        return Ok(None);
    }
    let (kind, rest) = text.split_once(':').ok_or_else(|| refused("it has no kind before a colon"))?;
    let openrouter = |model: &str| -> Result<OpenAiOptions, ConfigError> {
        Ok(OpenAiOptions::new(OPENROUTER_URL, model, Some(ApiKey::from_env("OPENROUTER_API_KEY")?)))
    };
    Ok(Some(match kind {
        "openai" => {
            let (model, url) = rest.rsplit_once('@').ok_or_else(|| refused("it has no @URL"))?;
            let key = std::env::var("OPENAI_API_KEY").ok().map(ApiKey::new).transpose().map_err(wrong)?;
            Arc::new(
                OpenAi::new(OpenAiOptions { price, ..OpenAiOptions::new(url, model, key) }).map_err(wrong)?,
            )
        }
        "openrouter" if rest == "free" => {
            let mut members: Vec<Arc<dyn Model>> = Vec::new();
            for model in FREE_MODELS {
                let mut options = openrouter(model).map_err(wrong)?;
                // The pool itself goes on to the next one.
                options.http.retry = Retry::NEVER;
                members.push(Arc::new(OpenAi::new(options).map_err(wrong)?));
            }
            Arc::new(Pool::new(members).map_err(wrong)?)
        }
        "openrouter" => {
            let options = OpenAiOptions { price, ..openrouter(rest).map_err(wrong)? };
            Arc::new(OpenAi::new(options).map_err(wrong)?)
        }
        "anthropic" => {
            let key = ApiKey::from_env("FIX_API_KEY").map_err(wrong)?;
            Arc::new(Anthropic::new(AnthropicOptions::new(rest, key, price)).map_err(wrong)?)
        }
        "script" => Scripted::file(Path::new(rest)).map_err(wrong)?.shared(),
        _ => return Err(refused(&format!("there is no kind '{kind}'"))),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_read_or_refused() {
        assert!(named("rules", Price::default()).unwrap().is_none());
        assert!(named("openai:qwen@http://127.0.0.1:8080/v1", Price::default()).unwrap().is_some());
        for wrong in ["", "gpt", "openai:model", "magic:x", "script:/no/such/file"] {
            assert!(matches!(named(wrong, Price::default()), Err(error) if error.code() == 9563), "{wrong}");
        }
    }

    #[test]
    fn a_price_has_two_sides() {
        let three = Price::parse("3/15").unwrap();
        assert_eq!((three.input_per_million, three.output_per_million), (3_000_000, 15_000_000));
        for wrong in ["3", "a/b", "", "-1/2"] {
            assert!(Price::parse(wrong).is_none(), "{wrong}");
        }
    }
}
