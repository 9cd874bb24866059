//! Language models by name: what `--model` and the courts' options mean.

use crate::errors::{Error, Failure, Result};
use std::path::Path;
use std::sync::Arc;
use zx1_model::defaults::{FREE_MODELS, OPENROUTER_URL};
use zx1_model::{
    Anthropic, AnthropicOptions, ApiKey, ConfigError, Model, OpenAi, OpenAiOptions, Pool, Price, Retry,
    Scripted, micro_usd_of_decimal,
};

/// What the option takes, for help texts.
pub const FORMS: &str = "\
Models:
  rules                        no model: the built-in rules only
  openai:MODEL@URL             any OpenAI-compatible server, also llama.cpp and ollama;
                               its key, if it needs one, in OPENAI_API_KEY
  openrouter:MODEL             the key in OPENROUTER_API_KEY
  openrouter:free              a pool of free models that rotates
  anthropic:MODEL              the key in FIX_API_KEY
  script:FILE                  a JSON list of answers, for tests";

fn refused(text: &str, why: impl std::fmt::Display) -> Failure {
    let why = zx1_cli_common::words::clause(&why.to_string());
    Error::BadModel { text: text.to_owned(), why }.into()
}

/// `IN/OUT`: US dollars for a million tokens read and written.
///
/// # Errors
/// 9500.
pub fn price(text: &str) -> Result<Price> {
    let read = || {
        let (input, output) = text.split_once('/')?;
        let micro = |text: &str| micro_usd_of_decimal(text.trim());
        Some(Price { input_per_million: micro(input)?, output_per_million: micro(output)?, per_call: 0 })
    };
    read().ok_or_else(|| {
        let message =
            format!("--price cannot be '{text}': it is dollars for a million tokens, such as 3/15.");
        Error::Usage { message }.into()
    })
}

/// The model of a name; `None` for rules.
///
/// # Errors
/// 9563; the model's own 9330 to 9337.
pub fn named(text: &str, price: Price) -> Result<Option<Arc<dyn Model>>> {
    let wrong = |error: ConfigError| refused(text, error);
    if text == "rules" {
        return Ok(None);
    }
    let (kind, rest) = text.split_once(':').ok_or_else(|| refused(text, "it has no kind before a colon"))?;
    Ok(Some(match kind {
        "openai" => {
            let (model, url) = rest.rsplit_once('@').ok_or_else(|| refused(text, "it has no @URL"))?;
            let key = std::env::var("OPENAI_API_KEY").ok().map(ApiKey::new).transpose().map_err(wrong)?;
            let mut options = OpenAiOptions::new(url, model, key);
            options.price = price;
            Arc::new(OpenAi::new(options).map_err(wrong)?)
        }
        "openrouter" if rest == "free" => {
            let mut members: Vec<Arc<dyn Model>> = Vec::new();
            for model in FREE_MODELS {
                let key = ApiKey::from_env("OPENROUTER_API_KEY").map_err(wrong)?;
                let mut options = OpenAiOptions::new(OPENROUTER_URL, model, Some(key));
                // The pool itself goes on to the next one.
                options.http.retry = Retry::NEVER;
                members.push(Arc::new(OpenAi::new(options).map_err(wrong)?));
            }
            Arc::new(Pool::new(members).map_err(wrong)?)
        }
        "openrouter" => {
            let key = ApiKey::from_env("OPENROUTER_API_KEY").map_err(wrong)?;
            let mut options = OpenAiOptions::new(OPENROUTER_URL, rest, Some(key));
            options.price = price;
            Arc::new(OpenAi::new(options).map_err(wrong)?)
        }
        "anthropic" => {
            let key = ApiKey::from_env("FIX_API_KEY").map_err(wrong)?;
            Arc::new(Anthropic::new(AnthropicOptions::new(rest, key, price)).map_err(wrong)?)
        }
        "script" => Scripted::file(Path::new(rest)).map_err(wrong)?.shared(),
        _ => return Err(refused(text, format!("there is no kind '{kind}'"))),
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
            let Err(failure) = named(wrong, Price::default()) else { panic!("{wrong} is taken") };
            assert_eq!(failure.code, 9563, "{wrong}");
        }
    }

    #[test]
    fn a_price_has_two_sides() {
        let three = price("3/15").unwrap();
        assert_eq!((three.input_per_million, three.output_per_million), (3_000_000, 15_000_000));
        for wrong in ["3", "a/b", "", "-1/2"] {
            assert_eq!(price(wrong).unwrap_err().code, 9500, "{wrong}");
        }
    }
}
