//! Anthropic's messages API.

use reqwest::header::HeaderName;
use serde_json::{Map, Value, json};

use super::http::{Read, Transport};
use super::openai::{check_name, name_of};
use super::{
    Answer, ApiKey, BoxFuture, ConfigError, Finish, HttpOptions, Model, ModelError, Price, Request, Spend,
    Usage,
};
use crate::defaults;

/// A model at Anthropic, or behind a server that speaks its API.
#[derive(Debug, Clone)]
pub struct AnthropicOptions {
    /// The URL before `/v1/messages`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// The key; the spec's variable is `FIX_API_KEY`.
    pub key: Option<ApiKey>,
    /// What the model costs.
    pub price: Price,
    /// Time, size, attempts, proxies.
    pub http: HttpOptions,
    /// Whether to send a temperature. Some newer models refuse it.
    pub temperature: bool,
    /// Further fields of the request's body, which win over ours.
    pub extra: Map<String, Value>,
}

impl AnthropicOptions {
    /// The usual options for a model, with its price.
    pub fn new(model: impl Into<String>, key: ApiKey, price: Price) -> AnthropicOptions {
        AnthropicOptions {
            base_url: defaults::ANTHROPIC_URL.into(),
            model: model.into(),
            key: Some(key),
            price,
            http: HttpOptions::default(),
            temperature: false,
            extra: Map::new(),
        }
    }
}

/// A model behind the messages API.
#[derive(Debug)]
pub struct Anthropic {
    transport: Transport,
    options: AnthropicOptions,
}

impl Anthropic {
    /// Set it up. Nothing is sent yet.
    pub fn new(mut options: AnthropicOptions) -> Result<Anthropic, ConfigError> {
        check_name(&options.model)?;
        let key = options.key.take();
        let auth = (HeaderName::from_static("x-api-key"), "");
        let transport = Transport::new(&options.base_url, "/v1/messages", auth, key, options.http.clone())?
            .with_header("anthropic-version", "2023-06-01");
        Ok(Anthropic { transport, options })
    }

    fn body(&self, request: &Request) -> Value {
        let messages: Vec<Value> =
            request.messages.iter().map(|m| json!({"role": m.role, "content": m.text})).collect();
        let mut body = Map::new();
        body.insert("model".into(), json!(self.options.model));
        body.insert("max_tokens".into(), json!(request.max_tokens));
        if !request.system.is_empty() {
            body.insert("system".into(), json!(request.system));
        }
        body.insert("messages".into(), Value::Array(messages));
        if let (true, Some(hundredths)) = (self.options.temperature, request.temperature) {
            // This API ends at 1.
            body.insert("temperature".into(), json!(f64::from(hundredths.min(100)) / 100.0));
        }
        if !request.stop.is_empty() {
            body.insert("stop_sequences".into(), json!(request.stop));
        }
        body.extend(self.options.extra.clone());
        Value::Object(body)
    }

    fn read(&self, request: &Request, value: &Value) -> Read<Answer> {
        let bad = |why: &str| ModelError::Malformed { why: why.to_owned() };
        let reason = value.get("stop_reason").and_then(Value::as_str).unwrap_or_default();
        if reason == "refusal" {
            return Err(ModelError::Refused { why: "its server stopped it".into() });
        }
        if reason == "model_context_window_exceeded" {
            return Err(ModelError::TooLong { why: "its context is full".into() });
        }
        let blocks =
            value.get("content").and_then(Value::as_array).ok_or_else(|| bad("there is no content"))?;
        // Thinking blocks are not part of the answer.
        let texts: Vec<&str> = blocks
            .iter()
            .filter(|b| b.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|b| b.get("text").and_then(Value::as_str))
            .collect();
        if texts.is_empty() && reason != "max_tokens" {
            return Err(bad("the content has no text"));
        }
        let count = |name: &str| value["usage"].get(name).and_then(Value::as_u64);
        let cached = [count("cache_creation_input_tokens"), count("cache_read_input_tokens")];
        let usage = Usage {
            input: count("input_tokens").map_or_else(
                || request.input_tokens_at_most(),
                |n| cached.into_iter().flatten().fold(n, u64::saturating_add),
            ),
            output: count("output_tokens").unwrap_or(u64::from(request.max_tokens)),
        };
        Ok(Answer {
            text: texts.concat(),
            usage,
            micro_usd: self.options.price.of(usage),
            model: name_of(value, &self.options.model),
            finish: match reason {
                "end_turn" | "stop_sequence" => Finish::Done,
                "max_tokens" => Finish::Length,
                _ => Finish::Other,
            },
        })
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn worst_case(&self, request: &Request) -> Spend {
        self.transport.worst_case(self.options.price, request)
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let body = self.body(request);
            self.transport.post(&body, |value| self.read(request, value)).await
        })
    }
}
