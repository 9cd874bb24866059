//! What a server is started with: options, the environment, a file of settings (TOML, read strictly where its
//! type says so, printed whole), defaults. The first that has a value wins.

use clap::builder::Resettable;
use clap::{Arg, Parser};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads the command line. An empty environment variable counts as none. Man pages and completions are printed here.
pub fn options<C: Parser>() -> C {
    zx1_manual::answer_first(|| zx1_manual::with_options(C::command()));
    let set = |option: Arg| match option.get_env().map(std::env::var_os) {
        Some(Some(value)) if value.is_empty() => option.env(Resettable::Reset),
        _ => option,
    };
    let command = zx1_manual::with_options(C::command()).mut_args(set);
    C::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

/// Reads the file that was named, or takes the defaults.
///
/// # Errors
///
/// A sentence.
pub fn load_or<T: DeserializeOwned>(path: Option<&Path>, defaults: impl FnOnce() -> T) -> Result<T, String> {
    let Some(path) = path else { return Ok(defaults()) };
    let wrong = |why: &dyn std::fmt::Display| {
        format!("The configuration {} cannot be read ({why}); correct it.", path.display())
    };
    match zx1_home::config::read_toml(path) {
        Ok(config) => config.ok_or_else(|| wrong(&"there is no such file")),
        Err(error) => Err(wrong(&error)),
    }
}

/// Sets fields to the options that were given.
#[macro_export]
macro_rules! overrides {
    ($($field:expr => $option:expr;)*) => {
        $(if let Some(value) = &$option { $field = value.clone(); })*
    };
}

/// Every value, as TOML.
///
/// # Errors
///
/// A sentence.
pub fn print<T: Serialize>(config: &T) -> Result<String, String> {
    toml::to_string_pretty(config).map_err(|error| format!("The configuration cannot be printed ({error})."))
}
