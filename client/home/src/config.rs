//! Settings: a value is looked for in one layer after the other, and the first that has it wins. Where it
//! came from stays with it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::{self, ReadError};

/// Largest configuration file in bytes.
const LIMIT: u64 = 1 << 20;

/// The layer that a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A flag of the command line.
    Flag(&'static str),
    /// An environment variable.
    Environment(&'static str),
    /// A configuration file.
    File {
        /// What people call it.
        name: &'static str,
        /// Where it is.
        path: PathBuf,
    },
    /// The command that is about to change a layer.
    Argument,
    /// No layer has it.
    Default,
}

impl Source {
    /// Whether it is the file that people call so.
    pub fn is_file(&self, name: &str) -> bool {
        matches!(self, Self::File { name: found, .. } if *found == name)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "flag {flag}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File { name, .. } => f.write_str(name),
            Self::Argument => f.write_str("command-line argument"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and the layer that it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value that counts.
    pub value: T,
    /// The layer that it came from.
    pub source: Source,
}

impl<T> Setting<T> {
    /// The same source with a value made of this one.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: make(self.value), source: self.source }
    }
}

/// A search through the layers, the strongest first.
///
/// ```
/// use zx1_home::config::{Layered, Source};
///
/// let url = Layered::new()
///     .flag("--url", None)
///     .environment("EXAMPLE_URL_THAT_NOBODY_SETS")
///     .file("config.toml", "/etc/example/config.toml".as_ref(), Some("https://example.org".to_owned()))
///     .or("http://127.0.0.1:8000".to_owned());
/// assert_eq!(url.value, "https://example.org");
/// assert_eq!(url.source.to_string(), "config.toml");
/// ```
#[derive(Debug, Clone)]
pub struct Layered<T>(Option<Setting<T>>);

impl<T> Default for Layered<T> {
    fn default() -> Self {
        Layered(None)
    }
}

impl<T> Layered<T> {
    /// No layer was asked yet.
    pub fn new() -> Self {
        Layered::default()
    }

    /// Asks a layer, if those before had nothing.
    pub fn layer(self, source: impl FnOnce() -> Source, value: impl FnOnce() -> Option<T>) -> Self {
        match self.0 {
            Some(found) => Layered(Some(found)),
            None => Layered(value().map(|value| Setting { value, source: source() })),
        }
    }

    /// A flag of the command line.
    pub fn flag(self, flag: &'static str, value: Option<T>) -> Self {
        self.layer(|| Source::Flag(flag), || value)
    }

    /// A configuration file.
    pub fn file(self, name: &'static str, path: &Path, value: Option<T>) -> Self {
        self.layer(|| Source::File { name, path: path.to_owned() }, || value)
    }

    /// What was found.
    pub fn found(self) -> Option<Setting<T>> {
        self.0
    }

    /// What was found, or the default.
    pub fn or(self, default: T) -> Setting<T> {
        self.0.unwrap_or(Setting { value: default, source: Source::Default })
    }
}

impl Layered<String> {
    /// An environment variable. An empty one counts as none.
    pub fn environment(self, name: &'static str) -> Self {
        self.layer(|| Source::Environment(name), || environment(name))
    }
}

/// A row of a program's table of settings: its names in the layers, and what it may be.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Key {
    /// Its name in configuration files; a dot leads into a table.
    pub name: &'static str,
    /// Its environment variable; empty: none.
    pub variable: &'static str,
    pub flag: &'static str,
    pub about: &'static str,
    /// The values that it accepts, in words.
    pub allowed: &'static str,
    pub fits: fn(&str) -> bool,
}

impl Key {
    /// A setting that may be any text.
    pub const fn new(name: &'static str, variable: &'static str, flag: &'static str) -> Self {
        Self { name, variable, flag, about: "", allowed: "any text", fits: |_| true }
    }

    /// The same setting with its explanation and its values.
    #[must_use]
    pub const fn explained(self, about: &'static str, allowed: &'static str, fits: fn(&str) -> bool) -> Self {
        Self { about, allowed, fits, ..self }
    }

    /// Looks through flag, environment and files, in this order.
    pub fn find(&self, flag: Option<String>, files: &[FileLayer]) -> Option<Setting<String>> {
        let mut layers = Layered::new().flag(self.flag, flag);
        if !self.variable.is_empty() {
            layers = layers.environment(self.variable);
        }
        for file in files {
            layers = layers.file(file.name, &file.path, file.value(self.name));
        }
        layers.found()
    }

    /// Refuses a value that the setting does not accept.
    ///
    /// # Errors
    /// [`Unfit`].
    pub fn check(&self, value: &str, from: &Source) -> Result<(), Unfit> {
        let (name, allowed) = (self.name, self.allowed);
        let unfit = || Unfit { name, allowed, value: value.to_owned(), from: from.clone() };
        if (self.fits)(value) { Ok(()) } else { Err(unfit()) }
    }

    /// The checked value; `None` where no layer has one.
    ///
    /// # Errors
    /// [`Unfit`].
    pub fn read(&self, flag: Option<String>, files: &[FileLayer]) -> Result<Setting<Option<String>>, Unfit> {
        let Some(found) = self.find(flag, files) else {
            return Ok(Setting { value: None, source: Source::Default });
        };
        self.check(&found.value, &found.source)?;
        Ok(found.map(Some))
    }
}

/// A value that its setting does not accept.
#[derive(Debug, thiserror::Error)]
#[error("invalid value '{value}' for {name} ({from}): expected {allowed}")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Unfit {
    pub name: &'static str,
    pub allowed: &'static str,
    pub value: String,
    pub from: Source,
}

/// A configuration file as a layer.
#[derive(Debug)]
pub struct FileLayer {
    name: &'static str,
    path: PathBuf,
    values: toml::Table,
}

impl FileLayer {
    /// What was read from a file, under the name that people call it.
    ///
    /// # Errors
    /// [`ConfigError::Malformed`] for what no file can hold.
    pub fn new(name: &'static str, path: PathBuf, config: &impl Serialize) -> Result<Self, ConfigError> {
        let malformed = |error: toml::ser::Error| ConfigError::Malformed { why: error.to_string() };
        Ok(Self { name, path, values: toml::Table::try_from(config).map_err(malformed)? })
    }

    fn value(&self, name: &str) -> Option<String> {
        let (tables, name) =
            name.rsplit_once('.').map_or((None, name), |(tables, name)| (Some(tables), name));
        let mut tables = tables.into_iter().flat_map(|tables| tables.split('.'));
        let table = tables.try_fold(&self.values, |table, name| table.get(name)?.as_table())?;
        match table.get(name)? {
            toml::Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }
}

/// A program's folder: the one that the variable names, or this one below the home folder.
pub fn folder(variable: &str, usual: &str) -> Option<PathBuf> {
    environment(variable).map(PathBuf::from).or_else(|| Some(user_home()?.join(usual)))
}

/// An environment variable; an empty one counts as none, and so does one that is not Unicode.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The user's home folder.
pub fn user_home() -> Option<PathBuf> {
    environment("HOME").map(PathBuf::from)
}

/// A path with a leading `~/` resolved.
pub fn expand_home(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), user_home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

/// Why a configuration file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is too large.
    #[error("it has {size} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// It is not the TOML that the program knows.
    #[error("{why}")]
    Malformed {
        /// The line and the reason.
        why: String,
    },
}

/// Reads a TOML file; `None` when there is none. What the type does not know it should deny
/// (`#[serde(deny_unknown_fields)]`), so that a typing error does not become a default.
///
/// # Errors
/// [`ConfigError`], without the path.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ConfigError> {
    let bytes = match files::read(path, LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(ReadError::TooLarge { size, limit }) => return Err(ConfigError::TooLarge { size, limit }),
        Err(ReadError::Io(error)) => return Err(error.into()),
    };
    let malformed = |why: String| ConfigError::Malformed { why };
    let text = std::str::from_utf8(&bytes).map_err(|_| malformed("it is not UTF-8".to_owned()))?;
    toml::from_str(text).map(Some).map_err(|error| {
        let line = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or_default();
            format!("line {}, ", before.matches('\n').count().saturating_add(1))
        });
        let message = error.message().trim_end_matches('.').replace('\n', " ");
        malformed(format!("{}{message}", line.unwrap_or_default()))
    })
}

/// Writes a TOML file whole, below a header of comments. Its folder must exist.
///
/// # Errors
/// [`ConfigError`], without the path.
pub fn write_toml<T: Serialize>(path: &Path, header: &str, config: &T) -> Result<(), ConfigError> {
    let text = toml::to_string(config).map_err(|error| ConfigError::Malformed { why: error.to_string() })?;
    Ok(files::replace(path, format!("{header}{text}").as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(flag: Option<&str>, file: Option<&str>) -> Setting<String> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Layered::new()
            .flag("--url", owned(flag))
            .environment("ZX1_HOME_TEST_VARIABLE_THAT_NOBODY_SETS")
            .file("config.toml", Path::new("/x/config.toml"), owned(file))
            .or("default".to_owned())
    }

    #[test]
    fn the_strongest_layer_that_has_a_value_wins_and_is_named() {
        let flag = search(Some("a"), Some("b"));
        assert_eq!((flag.value.as_str(), flag.source.to_string().as_str()), ("a", "flag --url"));
        let file = search(None, Some("b"));
        assert_eq!(file.value, "b");
        assert_eq!(file.source, Source::File { name: "config.toml", path: "/x/config.toml".into() });
        let default = search(None, None);
        assert_eq!((default.value.as_str(), default.source), ("default", Source::Default));
    }

    #[test]
    fn the_environment_is_a_layer() {
        // PATH is set wherever tests run.
        let found =
            Layered::new().environment("PATH").file("f", Path::new("f"), Some("x".to_owned())).found();
        assert_eq!(found.map(|setting| setting.source), Some(Source::Environment("PATH")));
    }

    #[test]
    fn a_setting_is_found_by_its_row_and_checked() {
        #[derive(serde::Serialize)]
        struct Config {
            none: Option<u8>,
            price: u64,
            wallet: Wallet,
        }
        #[derive(serde::Serialize)]
        struct Wallet {
            none: Option<String>,
            node: &'static str,
        }
        let config = Config { none: None, price: 7, wallet: Wallet { none: None, node: "n" } };
        let files = [FileLayer::new("config.toml", "/x/config.toml".into(), &config).unwrap()];
        assert!(FileLayer::new("config.toml", "/x".into(), &Config { price: u64::MAX, ..config }).is_err());
        let text = |key: Key, flag: Option<&str>| {
            let found = key.read(flag.map(str::to_owned), &files);
            found.map(|it| it.value).map_err(|unfit| unfit.to_string())
        };
        assert_eq!(text(Key::new("wallet.node", "", "--node"), None), Ok(Some("n".to_owned())));
        assert_eq!(text(Key::new("wallet.none", "", "--none"), None), Ok(None));
        let price = Key::new("price", "", "--price").explained("", "a number", |it| it.parse::<u8>().is_ok());
        assert_eq!(text(price, None), Ok(Some("7".to_owned())));
        let refused = "invalid value 'x' for price (flag --price): expected a number";
        assert_eq!(text(price, Some("x")), Err(refused.to_owned()));
    }

    #[test]
    fn a_malformed_file_is_refused_with_its_line() {
        #[derive(serde::Serialize, serde::Deserialize, Debug, Default, PartialEq)]
        #[serde(deny_unknown_fields)]
        struct Config {
            number: Option<u8>,
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        assert!(read_toml::<Config>(&path).unwrap().is_none());
        write_toml(&path, "# header\n", &Config { number: Some(7) }).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "# header\nnumber = 7\n");
        assert_eq!(read_toml::<Config>(&path).unwrap(), Some(Config { number: Some(7) }));
        std::fs::write(&path, "\n\nnumbr = 7\n").unwrap();
        let refused = read_toml::<Config>(&path).unwrap_err().to_string();
        assert!(refused.starts_with("line 3, unknown field"), "{refused}");
    }
}
