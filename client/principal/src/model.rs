//! The user's own language model: its settings, what it may cost in a day, and what was agreed to.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use zx1_home::{SystemClock, files};
use zx1_model::budget::{Budget, BudgetError, Caps, FileStore, Limits, Shared};
use zx1_model::{ApiKey, Model, Named, Price, Spend};

/// What a day's questions may cost where nothing else is set: 1 USD, 2 million tokens, an hour of waiting.
const DAY: Caps = Caps { micro_usd: 1_000_000, tokens: 2_000_000, millis: 3_600_000 };
/// Largest list of destinations in bytes.
const MAX_AGREED: u64 = 1 << 20;

/// What the settings say about the model.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What the model costs; nothing where it is not known.
    pub price: Price,
    /// Micro-USD that a day may cost.
    pub micro_usd: Option<u64>,
    /// Tokens that a day may cost.
    pub tokens: Option<u64>,
    /// File with the model's key, in place of the environment's variable.
    pub key: Option<PathBuf>,
}

/// A model of the user's own, within its budget.
pub struct Own {
    named: Named,
    model: Arc<dyn Model>,
    limits: Limits,
    home: PathBuf,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Own").field("named", &self.named).finish_non_exhaustive()
    }
}

/// Models that were agreed to, by name and place.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Agreed {
    destinations: Vec<String>,
}

impl Own {
    /// Sets the model up. Nothing is sent, and nothing is written.
    ///
    /// # Errors
    /// 9563: its key is missing or cannot be read.
    pub fn open(named: Named, settings: &Settings, home: &Path) -> Result<Self> {
        let key = settings.key.as_deref().map(ApiKey::from_file).transpose();
        let key = key.map_err(|error| zx1_model::NameError::BadModel {
            text: named.model.clone(),
            why: zx1_net::clause(&error.to_string()),
        })?;
        let model = named.open(settings.price, key)?;
        let per_day = Caps {
            micro_usd: settings.micro_usd.unwrap_or(DAY.micro_usd),
            tokens: settings.tokens.unwrap_or(DAY.tokens),
            ..DAY
        };
        let limits = Limits { per_day, ..Limits::default() };
        Ok(Self { named, model, limits, home: home.to_owned() })
    }

    /// The model's name at its server.
    pub fn name(&self) -> &str {
        &self.named.model
    }

    /// Where its server is.
    pub fn url(&self) -> &str {
        &self.named.url
    }

    /// What a day may cost.
    pub fn per_day(&self) -> Caps {
        self.limits.per_day
    }

    /// What the day has cost so far.
    ///
    /// # Errors
    /// 9342.
    pub fn today(&self) -> Result<Spend, BudgetError> {
        Budget::today_in(&FileStore::new(self.books()), &SystemClock)
    }

    fn books(&self) -> PathBuf {
        self.home.join("model-budget.json")
    }

    /// Whether the user has agreed to send to it, in this session or an earlier one.
    pub fn is_agreed(&self) -> bool {
        self.agreed().destinations.contains(&self.destination())
    }

    fn destination(&self) -> String {
        format!("{}@{}", self.name(), self.url())
    }

    fn consents(&self) -> PathBuf {
        self.home.join("model-consents.json")
    }

    /// A list that cannot be read agrees to nothing.
    fn agreed(&self) -> Agreed {
        let bytes = files::read(&self.consents(), MAX_AGREED).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn remember(&self) -> Result<()> {
        let (path, mut agreed) = (self.consents(), self.agreed());
        agreed.destinations.push(self.destination());
        let text = serde_json::to_vec(&agreed).map_err(std::io::Error::other);
        let done = text.and_then(|text| {
            files::make_folder(&self.home)?;
            files::replace(&path, &text)
        });
        done.map_err(Error::write(&path))
    }

    /// The model as one session asks it.
    pub(crate) fn budgeted(&self) -> Shared {
        let now = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let session = format!("own-{}-{}", now.as_millis(), std::process::id());
        Shared::new(self.model.clone(), self.limits, self.books(), session, Arc::new(SystemClock))
    }
}
