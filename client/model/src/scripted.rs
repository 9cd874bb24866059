//! A model that says what it is told: for tests and demonstrations, where no server may be needed.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Answer, ConfigError, Finish, Model, ModelError, Request, Spend, Usage};
use futures_util::future::BoxFuture;

/// What a scripted model does at one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// It answers this text.
    Say(String),
    /// It fails.
    Fail(ModelError),
    /// It never answers.
    Hang,
}

impl From<&str> for Line {
    fn from(text: &str) -> Line {
        Line::Say(text.to_owned())
    }
}

impl From<String> for Line {
    fn from(text: String) -> Line {
        Line::Say(text)
    }
}

type Speak = Box<dyn Fn(&Request) -> Line + Send + Sync>;

enum Source {
    Lines(Mutex<VecDeque<Line>>),
    Function(Speak),
}

/// A model that says what it is told, and remembers what it was asked. A token of it is four bytes; its price
/// is zero unless it is given one.
pub struct Scripted {
    name: String,
    source: Source,
    asked: Mutex<Vec<Request>>,
    price: super::Price,
    time: Duration,
}

impl Scripted {
    /// One line for each call. Fails with 9323 when they are used up.
    pub fn lines<L: Into<Line>>(lines: impl IntoIterator<Item = L>) -> Scripted {
        Scripted::with(Source::Lines(Mutex::new(lines.into_iter().map(Into::into).collect())))
    }

    /// An answer made from the question.
    pub fn function(speak: impl Fn(&Request) -> Line + Send + Sync + 'static) -> Scripted {
        Scripted::with(Source::Function(Box::new(speak)))
    }

    /// Lines from a file with a JSON list of texts. For demonstrations (`fix agent --script FILE`).
    pub fn file(path: &Path) -> Result<Scripted, ConfigError> {
        let bad = |why: String| ConfigError::Script { why };
        let bytes = std::fs::read(path).map_err(|e| bad(e.to_string()))?;
        let lines: Vec<String> = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
        Ok(Scripted::lines(lines))
    }

    fn with(source: Source) -> Scripted {
        Scripted {
            name: "scripted".into(),
            source,
            asked: Mutex::new(Vec::new()),
            price: super::Price::default(),
            time: crate::defaults::MODEL_TIMEOUT,
        }
    }

    /// Another name, to tell several apart.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Scripted {
        self.name = name.into();
        self
    }

    /// A price, to try budgets.
    #[must_use]
    pub fn priced(mut self, price: super::Price) -> Scripted {
        self.price = price;
        self
    }

    /// For sharing: `Arc<dyn Model>` and the script's own record at once.
    pub fn shared(self) -> Arc<Scripted> {
        Arc::new(self)
    }

    /// Every question so far.
    pub fn asked(&self) -> Vec<Request> {
        lock(&self.asked).clone()
    }

    /// How many questions there were.
    pub fn calls(&self) -> usize {
        lock(&self.asked).len()
    }

    fn next(&self, request: &Request) -> Line {
        lock(&self.asked).push(request.clone());
        match &self.source {
            Source::Function(speak) => speak(request),
            Source::Lines(lines) => lock(lines).pop_front().unwrap_or(Line::Fail(ModelError::ScriptEnded)),
        }
    }
}

/// The lock; what a panicking test left behind is still a list.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn worst_case(&self, request: &Request) -> Spend {
        self.price.worst_case(request, self.time)
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let text = match self.next(request) {
                Line::Say(text) => text,
                Line::Fail(error) => return Err(error),
                Line::Hang => std::future::pending().await,
            };
            let input: usize =
                request.system.len() + request.messages.iter().map(|m| m.text.len()).sum::<usize>();
            let output = (text.len().div_ceil(4) as u64).min(u64::from(request.max_tokens));
            let usage = Usage { input: input.div_ceil(4) as u64, output };
            let micro_usd = self.price.of(usage);
            Ok(Answer { text, usage, micro_usd, model: self.name.clone(), finish: Finish::Done })
        })
    }
}
