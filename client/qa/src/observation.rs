//! What a tool answers: one JSON object, whatever the tool.

use crate::defaults::MAX_OBSERVED_ERROR;
use zx1_market::Json;

/// The answer of a tool to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Everything is as it should be.
    pub ok: bool,
    /// Wall time of the call in milliseconds.
    pub latency_ms: u64,
    /// What is wrong; a clause without the input.
    pub error: Option<String>,
    /// Seed of what the tool chose itself.
    pub seed: Option<u64>,
    /// Version of the program that was asked.
    pub version: String,
    /// A call that shows the same with less, where the tool found one.
    pub smaller: Option<String>,
    /// What else the tool has to say, by names of its own.
    pub details: Json,
}

impl Observation {
    /// An answer that finds nothing wrong.
    pub fn fine(version: &str) -> Self {
        Self {
            ok: true,
            latency_ms: 0,
            error: None,
            seed: None,
            version: version.to_owned(),
            smaller: None,
            details: Json::object::<&str, Json>([]),
        }
    }

    /// An answer that finds something wrong. The text is shortened, and its control characters become spaces.
    pub fn wrong(version: &str, error: &str) -> Self {
        let error: String = error.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let error: String = error.trim().chars().take(MAX_OBSERVED_ERROR).collect();
        Self { ok: false, error: Some(error), ..Self::fine(version) }
    }

    /// The object that the tool prints.
    pub fn json(&self) -> Json {
        Json::object([
            ("details", self.details.clone()),
            ("error", self.error.clone().into()),
            ("latency_ms", self.latency_ms.into()),
            ("ok", self.ok.into()),
            ("seed", self.seed.into()),
            ("smaller", self.smaller.clone().into()),
            ("version", Json::from(self.version.as_str())),
        ])
    }

    /// Reads the object; `None` where it is not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let json = Json::parse(bytes).ok()?;
        let text = |name: &str| match json.get(name) {
            None | Some(Json::Null) => Some(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())),
        };
        let error = text("error")?;
        let ok = json.get("ok")?.as_bool()?;
        let seed = match json.get("seed") {
            None | Some(Json::Null) => None,
            Some(seed) => Some(seed.as_u64()?),
        };
        let read = Self {
            ok,
            latency_ms: json.get("latency_ms")?.as_u64()?,
            error,
            seed,
            version: text("version")??,
            smaller: text("smaller")?,
            details: json.get("details").cloned().unwrap_or(Json::Null),
        };
        (read.ok == read.error.is_none()).then_some(read)
    }
}
