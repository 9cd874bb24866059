//! Chat completions as OpenAI defined them and as most servers speak them.

use reqwest::header::AUTHORIZATION;
use serde_json::{Map, Value, json};

use super::http::{Read, Transport};
use super::{
    Answer, ApiKey, BoxFuture, ConfigError, Finish, HttpOptions, Model, ModelError, Price, Request, Spend,
    Usage, micro_usd_of_decimal,
};
use zx1_scrub::neutral::one_line;

/// How the bound of an answer is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenField {
    /// `max_tokens`: OpenRouter, llama.cpp, ollama, vLLM.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's own newer models.
    MaxCompletionTokens,
}

/// A server and a model of it.
#[derive(Debug, Clone)]
pub struct OpenAiOptions {
    /// The URL before `/chat/completions`, for example [`crate::defaults::OPENROUTER_URL`].
    pub base_url: String,
    /// The model's name at this server.
    pub model: String,
    /// The key; local servers mostly need none.
    pub key: Option<ApiKey>,
    /// What the model costs. A budget of money can only hold what the price says; leave it at zero for free
    /// and local models only.
    pub price: Price,
    /// Time, size, attempts, proxies.
    pub http: HttpOptions,
    /// Whether to ask for `response_format: json_object` when a request wants JSON. Some servers refuse it.
    pub json_mode: bool,
    /// How the bound of an answer is called.
    pub token_field: TokenField,
    /// Whether to send a temperature. Some models refuse it.
    pub temperature: bool,
    /// Further fields of the request's body, which win over ours: a server's own options.
    pub extra: Map<String, Value>,
}

impl OpenAiOptions {
    /// The usual options for a server and a model: JSON mode, temperature, free of charge.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, key: Option<ApiKey>) -> OpenAiOptions {
        OpenAiOptions {
            base_url: base_url.into(),
            model: model.into(),
            key,
            price: Price::default(),
            http: HttpOptions::default(),
            json_mode: true,
            token_field: TokenField::default(),
            temperature: true,
            extra: Map::new(),
        }
    }
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug)]
pub struct OpenAi {
    transport: Transport,
    options: OpenAiOptions,
}

impl OpenAi {
    /// Set it up. Nothing is sent yet.
    pub fn new(mut options: OpenAiOptions) -> Result<OpenAi, ConfigError> {
        check_name(&options.model)?;
        let key = options.key.take();
        let transport = Transport::new(
            &options.base_url,
            "/chat/completions",
            (AUTHORIZATION, "Bearer "),
            key,
            options.http.clone(),
        )?;
        Ok(OpenAi { transport, options })
    }

    fn body(&self, request: &Request) -> Value {
        let mut messages = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            messages.push(json!({"role": "system", "content": request.system}));
        }
        messages.extend(request.messages.iter().map(|m| json!({"role": m.role, "content": m.text})));
        let mut body = Map::new();
        body.insert("model".into(), json!(self.options.model));
        body.insert("messages".into(), Value::Array(messages));
        body.insert("stream".into(), json!(false));
        let field = match self.options.token_field {
            TokenField::MaxTokens => "max_tokens",
            TokenField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), json!(request.max_tokens));
        if let (true, Some(hundredths)) = (self.options.temperature, request.temperature) {
            body.insert("temperature".into(), json!(f64::from(hundredths) / 100.0));
        }
        if !request.stop.is_empty() {
            body.insert("stop".into(), json!(request.stop));
        }
        if request.json && self.options.json_mode {
            body.insert("response_format".into(), json!({"type": "json_object"}));
        }
        body.extend(self.options.extra.clone());
        Value::Object(body)
    }

    fn read(&self, request: &Request, value: &Value) -> Read<Answer> {
        let bad = |why: &str| ModelError::Malformed { why: why.to_owned() };
        let choice = value.get("choices").and_then(|c| c.get(0)).ok_or_else(|| bad("there is no choice"))?;
        let message = choice.get("message").ok_or_else(|| bad("the choice has no message"))?;
        let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
        if let Some(why) = message.get("refusal").and_then(Value::as_str).filter(|why| !why.is_empty()) {
            return Err(ModelError::Refused { why: one_line(why, 300) });
        }
        if reason == "content_filter" {
            return Err(ModelError::Refused { why: "its server's content filter stopped it".into() });
        }
        let text = content(message.get("content")).ok_or_else(|| bad("the message has no text"))?;
        let text = without_thinking(&text);
        let usage = &value["usage"];
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let usage_read = Usage {
            input: count("prompt_tokens").unwrap_or_else(|| request.input_tokens_at_most()),
            output: count("completion_tokens").unwrap_or(u64::from(request.max_tokens)),
        };
        let reported = usage.get("cost").filter(|c| c.is_number()).map(Value::to_string);
        let micro_usd = reported
            .and_then(|text| micro_usd_of_decimal(&text))
            .unwrap_or_else(|| self.options.price.of(usage_read));
        Ok(Answer {
            text: text.to_owned(),
            usage: usage_read,
            micro_usd,
            model: name_of(value, &self.options.model),
            finish: match reason {
                "stop" | "eos" | "end_turn" => Finish::Done,
                "length" => Finish::Length,
                _ => Finish::Other,
            },
        })
    }
}

impl Model for OpenAi {
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

/// The text of a message: a string, or a list of parts of which some are text.
fn content(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        _ => None,
    }
}

/// The text behind one block of thinking at its very beginning, which some servers leave in. What follows the
/// first closing tag is the answer; more tags there are its own fault.
pub(super) fn without_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.split_once("</think>").map_or("", |(_, answer)| answer.trim_start()),
        None => text,
    }
}

/// The model's name as the server gave it.
pub(super) fn name_of(value: &Value, configured: &str) -> String {
    let given = value.get("model").and_then(Value::as_str).filter(|name| !name.is_empty());
    one_line(given.unwrap_or(configured), 200)
}

/// A model's name that can be logged and sent.
pub(super) fn check_name(name: &str) -> Result<(), ConfigError> {
    let good = !name.is_empty() && name.len() <= 200 && name.bytes().all(|b| b.is_ascii_graphic());
    if good { Ok(()) } else { Err(ConfigError::ModelName) }
}
