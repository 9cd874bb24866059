//! The line that reproduces a finding: `qa_<tool>(<JSON>)` (decision H).
//!
//! It is the only thing of an entry that is ever executed, and no shell is part of it: a call is a tool of the table and
//! arguments that its schema takes. What is not such a line is prose.

use crate::defaults::MAX_REPRO;
use crate::tool::{Place, Tool, named};
use std::fmt;
use zx1_coded::Coded;
use zx1_market::Json;

/// Why a line is prose. Numbers 7800 to 7809.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum ReproError {
    /// Longer than a line may be.
    #[code(7800)]
    #[error("The line has {found} bytes, more than {limit}; name longer input by its hash, as evidence.")]
    Long {
        /// Bytes of the line.
        found: usize,
        /// Most bytes that it may have.
        limit: usize,
    },
    /// Not a name, one pair of brackets and nothing around them.
    #[code(7801)]
    #[error("The line is not of the form qa_tool(JSON).")]
    Form,
    /// A name that the table does not have, or that no reproduction may call.
    #[code(7802)]
    #[error("There is no tool `{0}` for reproductions.")]
    Tool(String),
    /// What stands in the brackets is not JSON.
    #[code(7803)]
    #[error("The arguments are not JSON.")]
    Json,
    /// An argument that the tool does not take, or a missing one.
    #[code(7804)]
    #[error("The tool {tool} does not take these arguments; `{argument}` is wrong, missing or not known.")]
    Argument {
        /// Name of the tool.
        tool: &'static str,
        /// Name of the argument; empty when the arguments are not an object.
        argument: String,
    },
}

/// A call that may run.
#[derive(Clone, Debug, PartialEq)]
pub struct Repro {
    tool: &'static Tool,
    arguments: Json,
}

impl Repro {
    /// Reads a line without its `repro: `. An alias is read as the tool that it names, and a bare JSON string as
    /// `{"text": …}`.
    pub fn parse(line: &str) -> Result<Self, ReproError> {
        if line.len() > MAX_REPRO {
            return Err(ReproError::Long { found: line.len(), limit: MAX_REPRO });
        }
        if line.contains(|c: char| c.is_control()) {
            return Err(ReproError::Form);
        }
        let (name, rest) = line.split_once('(').ok_or(ReproError::Form)?;
        let json = rest.strip_suffix(')').ok_or(ReproError::Form)?;
        let is_name = name.strip_prefix("qa_").is_some_and(|name| {
            (1..=16).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase())
        });
        if !is_name {
            return Err(ReproError::Form);
        }
        let arguments = Json::parse(json.as_bytes()).map_err(|_| ReproError::Json)?;
        Self::new(name, arguments)
    }

    /// A call of a tool, checked as a line is.
    pub fn new(name: &str, arguments: Json) -> Result<Self, ReproError> {
        let tool = named(name)
            .filter(|tool| tool.place != Place::Loop)
            .ok_or_else(|| ReproError::Tool(name.to_owned()))?;
        let arguments = match arguments {
            Json::Str(_) => Json::object([("text", arguments)]),
            other => other,
        };
        if let Some(argument) = tool.objection(&arguments) {
            return Err(ReproError::Argument { tool: tool.name, argument: argument.to_owned() });
        }
        let repro = Self { tool, arguments };
        // The canonical form escapes what is not ASCII, so it can be longer than what was read.
        let found = repro.to_string().len();
        if found > MAX_REPRO {
            return Err(ReproError::Long { found, limit: MAX_REPRO });
        }
        Ok(repro)
    }

    /// The tool that it calls.
    pub fn tool(&self) -> &'static Tool {
        self.tool
    }

    /// What the tool is called with: an object that its schema takes.
    pub fn arguments(&self) -> &Json {
        &self.arguments
    }
}

impl fmt::Display for Repro {
    /// The line in its one form: the tool's first name, canonical JSON. Findings with the same line are one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.tool.name, self.arguments.canonical())
    }
}
