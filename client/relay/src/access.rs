//! Who may be here: bans, and the allowlist where an operator uses one.

use std::collections::{BTreeMap, HashMap};

use crate::id::AgentId;
use crate::proposal::Key;
use crate::{RelayError, Result};

/// Whom a ban or an entry of the allowlist is about. Agents with a key are banned by it, whatever their id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The 32 bytes of a key.
    Key(Key),
    /// An agent without a key; it ends with its connection.
    Id(AgentId),
}

impl Subject {
    /// As a store keeps it: 64 hex digits, or the id with its `@`.
    pub fn to_text(&self) -> String {
        match self {
            Subject::Key(key) => hex::encode(key),
            Subject::Id(id) => id.to_string(),
        }
    }

    /// Reads what [`Subject::to_text`] wrote.
    pub fn from_text(text: &str) -> Option<Subject> {
        if let Ok(id) = AgentId::parse(text, "subject") {
            return Some(Subject::Id(id));
        }
        let mut key = [0; 32];
        hex::decode_to_slice(text, &mut key).ok()?;
        Some(Subject::Key(key))
    }
}

/// Bans and the allowlist.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Whether keys have to be on the allowlist.
    pub enabled: bool,
    /// Whether agents without a key are refused as well.
    pub strict: bool,
    allowed: BTreeMap<Key, Option<String>>,
    banned: HashMap<Subject, String>,
}

impl Access {
    /// Nobody is banned, nobody allowed.
    pub fn new(enabled: bool, strict: bool) -> Access {
        Access { enabled: enabled || strict, strict, ..Access::default() }
    }

    /// Whether an agent with this key, or without one, may identify.
    ///
    /// # Errors
    ///
    /// [`RelayError::Banned`], [`RelayError::NotAllowed`]
    pub fn check(&self, key: Option<&Key>) -> Result<()> {
        match key {
            Some(key) if self.banned.contains_key(&Subject::Key(*key)) => Err(RelayError::Banned),
            Some(key) if self.enabled && !self.allowed.contains_key(key) => Err(RelayError::NotAllowed),
            None if self.strict => Err(RelayError::NotAllowed),
            _ => Ok(()),
        }
    }

    /// Keeps a subject out from its next identification on.
    pub fn ban(&mut self, subject: Subject, reason: String) {
        self.banned.insert(subject, reason);
    }

    /// Lifts a ban; says whether there was one.
    pub fn unban(&mut self, subject: &Subject) -> bool {
        self.banned.remove(subject).is_some()
    }

    /// Puts a key on the allowlist.
    pub fn allow(&mut self, key: Key, note: Option<String>) {
        self.allowed.insert(key, note);
    }

    /// Takes a key off it; says whether it was there.
    pub fn revoke(&mut self, key: &Key) -> bool {
        self.allowed.remove(key).is_some()
    }

    /// The allowlist, by key.
    pub fn allowed(&self) -> impl Iterator<Item = (&Key, Option<&str>)> {
        self.allowed.iter().map(|(key, note)| (key, note.as_deref()))
    }
}
