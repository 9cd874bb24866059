//! Language models by name, as settings and options write them.

use std::path::Path;
use std::sync::Arc;

use zx1_coded::Coded;
use zx1_net::Endpoint;

use crate::defaults::{ANTHROPIC_URL, FREE_MODELS, OPENROUTER_URL};
use crate::openai::check_name;
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

/// A name that was read, before anything is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    text: String,
    kind: Kind,
    /// The model's name at its server.
    pub model: String,
    /// Where its requests go: a base URL, or the file of a script.
    pub url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    OpenAi,
    OpenRouter,
    Anthropic,
    Script,
}

impl Named {
    /// Reads a name; `None` for `rules`, the built-in rules alone. The files and keys behind it are not looked at.
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
    pub fn parse(text: &str) -> Result<Option<Named>, NameError> {
        let refused = |why: &str| NameError::BadModel { text: text.to_owned(), why: zx1_net::clause(why) };
        if text == "rules" {
            return Ok(None);
        }
        let (kind, rest) = text.split_once(':').ok_or_else(|| refused("it has no kind before a colon"))?;
        let (kind, model, url) = match kind {
            "openai" => {
                let (model, url) = rest.rsplit_once('@').ok_or_else(|| refused("it has no @URL"))?;
                (Kind::OpenAi, model, url)
            }
            "openrouter" => (Kind::OpenRouter, rest, OPENROUTER_URL),
            "anthropic" => (Kind::Anthropic, rest, ANTHROPIC_URL),
            "script" => (Kind::Script, "script", rest),
            _ => return Err(refused(&format!("there is no kind '{kind}'"))),
        };
        if kind != Kind::Script {
            Endpoint::parse(url).map_err(|error| refused(&error.to_string()))?;
            check_name(model).map_err(|error| refused(&error.to_string()))?;
        }
        Ok(Some(Named { text: text.to_owned(), kind, model: model.to_owned(), url: url.to_owned() }))
    }

    /// Whether its requests leave this machine.
    pub fn is_elsewhere(&self) -> bool {
        !self.is_file() && !Endpoint::parse(&self.url).is_ok_and(|url| url.is_this_machine())
    }

    /// Whether it is a script in a file, so that nothing is sent anywhere.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::Script
    }

    /// The environment variable that holds its key where none is given.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self.kind {
            Kind::OpenAi => Some("OPENAI_API_KEY"),
            Kind::OpenRouter => Some("OPENROUTER_API_KEY"),
            Kind::Anthropic => Some("FIX_API_KEY"),
            Kind::Script => None,
        }
    }

    /// Sets it up; `key` counts in place of the environment's. Nothing is sent yet.
    ///
    /// # Errors
    /// 9563: a key is missing, or a script cannot be read.
    pub fn open(&self, price: Price, key: Option<ApiKey>) -> Result<Arc<dyn Model>, NameError> {
        self.set_up(price, key).map_err(|error| NameError::BadModel {
            text: self.text.clone(),
            why: zx1_net::clause(&error.to_string()),
        })
    }

    fn set_up(&self, price: Price, key: Option<ApiKey>) -> Result<Arc<dyn Model>, ConfigError> {
        let from_environment = |name| key.clone().map_or_else(|| ApiKey::from_env(name), Ok);
        Ok(match (self.kind, self.key_variable()) {
            (Kind::OpenAi, Some(name)) => {
                let key = match from_environment(name) {
                    Err(ConfigError::NoKey { .. }) => None,
                    found => Some(found?),
                };
                Arc::new(OpenAi::new(OpenAiOptions {
                    price,
                    ..OpenAiOptions::new(&self.url, &self.model, key)
                })?)
            }
            (Kind::OpenRouter, Some(name)) if self.model == "free" => {
                let mut members: Vec<Arc<dyn Model>> = Vec::new();
                for model in FREE_MODELS {
                    let mut options = OpenAiOptions::new(&self.url, model, Some(from_environment(name)?));
                    // The pool itself goes on to the next one.
                    options.http.retry = Retry::NEVER;
                    members.push(Arc::new(OpenAi::new(options)?));
                }
                Arc::new(Pool::new(members)?)
            }
            (Kind::OpenRouter, Some(name)) => {
                let key = Some(from_environment(name)?);
                Arc::new(OpenAi::new(OpenAiOptions {
                    price,
                    ..OpenAiOptions::new(&self.url, &self.model, key)
                })?)
            }
            (Kind::Anthropic, Some(name)) => {
                Arc::new(Anthropic::new(AnthropicOptions::new(&self.model, from_environment(name)?, price))?)
            }
            _ => Scripted::file(Path::new(&self.url))?.shared(),
        })
    }
}

/// The model of a name with its key from the environment; `None` for `rules`.
///
/// # Errors
/// 9563.
pub fn named(text: &str, price: Price) -> Result<Option<Arc<dyn Model>>, NameError> {
    Named::parse(text)?.map(|named| named.open(price, None)).transpose()
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
    fn a_name_says_where_its_requests_go() {
        let of = |text: &str| {
            let named = Named::parse(text).unwrap().unwrap();
            (named.model.clone(), named.url.clone(), named.is_elsewhere())
        };
        let here = ("qwen".to_owned(), "http://127.0.0.1:8080/v1".to_owned(), false);
        assert_eq!(of("openai:qwen@http://127.0.0.1:8080/v1"), here);
        assert_eq!(of("openrouter:a/b").1, OPENROUTER_URL);
        assert!(of("anthropic:m").2 && of("openai:m@https://127.0.0.1.example.org").2);
        for wrong in [
            "openai:m@ftp://x",
            "openai:@http://x",
            "openai:m@http://u:p@x",
            "anthropic:",
            "openai:a b@http://x",
        ] {
            assert_eq!(Named::parse(wrong).unwrap_err().code(), 9563, "{wrong}");
        }
    }

    #[test]
    fn a_given_key_counts_in_place_of_the_environment() {
        let named = Named::parse("anthropic:m").unwrap().unwrap();
        assert!(named.open(Price::default(), Some(ApiKey::new("k").unwrap())).is_ok());
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
