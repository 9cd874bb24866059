//! What a command works with. Nothing is read before a command asks for it.

use crate::config::Config;
use crate::errors::{Error, Failure, Result};
use crate::flags::Global;
use crate::screen::Screen;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use zx1_cli_common::keys::{self, Seed};
use zx1_cli_common::output::{self, Format, Report};
use zx1_cli_common::{Fault, files};
use zx1_home::config::{environment, user_home};
use zx1_market::{PartyKey, Raw};
use zx1_net::Endpoint;

/// The market when nobody names one: this machine's.
pub const SERVER: &str = "http://127.0.0.1:8000";

/// Which of this machine's parties acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The party whose commands fail.
    Principal,
    /// The party that fixes them.
    Agent,
    /// The party that decides disputes.
    Judge,
}

impl Who {
    fn file(self) -> &'static str {
        match self {
            Self::Principal => "key.ed25519",
            Self::Agent => "agent.key",
            Self::Judge => "judge.key",
        }
    }
}

/// Settings, keys and places of this run.
#[derive(Debug)]
pub struct Context {
    flags: Global,
    home: OnceCell<PathBuf>,
    config: OnceCell<Config>,
}

impl Context {
    /// Keeps the flags; reads nothing.
    pub fn new(flags: Global) -> Self {
        Self { flags, home: OnceCell::new(), config: OnceCell::new() }
    }

    /// Whether --yes was given.
    pub fn yes(&self) -> bool {
        self.flags.yes
    }

    /// How results and errors are shown.
    pub fn format(&self) -> Format {
        if self.flags.json { Format::JsonCompact } else { Format::Display }
    }

    /// The screen for progress; `explain` shows everything on it.
    pub fn screen(&self, explain: bool) -> Screen {
        Screen::new(self.flags.json, explain)
    }

    /// Writes a result to standard output.
    pub fn print(&self, report: &impl Report) -> Result<()> {
        let format = if self.flags.json { Format::Json } else { Format::Display };
        Ok(output::print(report, format, false)?)
    }

    /// fix's folder: FIX_HOME, or ~/.fix.
    pub fn home(&self) -> Result<&Path> {
        if let Some(home) = self.home.get() {
            return Ok(home);
        }
        let named = environment("FIX_HOME").map(PathBuf::from);
        let home = named.or_else(|| user_home().map(|home| home.join(".fix")));
        let home = home.ok_or(Error::NoHome)?;
        // A folder that is named relatively must not move when the command changes its own.
        let home = std::path::absolute(&home).unwrap_or(home);
        Ok(self.home.get_or_init(|| home))
    }

    /// A place in fix's folder.
    pub fn place(&self, name: &str) -> Result<PathBuf> {
        Ok(self.home()?.join(name))
    }

    /// The configuration from config.toml, read once.
    pub fn config(&self) -> Result<&Config> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = Config::read(&self.place("config.toml")?)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// The market's address, without a slash at its end.
    pub fn server(&self) -> Result<String> {
        let named = self.flags.server.clone().or_else(|| environment("FIX_SERVER"));
        let url = match named {
            Some(url) => url,
            None => self.config()?.server.clone().unwrap_or_else(|| SERVER.to_owned()),
        };
        match Endpoint::parse(&url) {
            Ok(endpoint) => Ok(endpoint.to_string()),
            Err(_) => Err(Error::BadUrl { url }.into()),
        }
    }

    /// The bounty: option, FIX_BOUNTY, configuration; `None` is a free contract.
    pub fn bounty(&self, option: Option<&String>) -> Result<Option<Raw>> {
        let text = match option.cloned().or_else(|| environment("FIX_BOUNTY")) {
            Some(text) => Some(text),
            None => self.config()?.bounty.clone(),
        };
        text.map(|text| amount(&text)).transpose()
    }

    /// Where the key of a party of this machine lies.
    pub fn key_path(&self, who: Who) -> Result<PathBuf> {
        match self.flags.key.clone().or_else(|| environment("FIX_KEY").map(PathBuf::from)) {
            Some(path) if self.flags.key.is_some() || who == Who::Principal => Ok(path),
            _ => self.place(who.file()),
        }
    }

    /// What no command of a sandbox may see, beside the usual secrets: fix's folder, the party's key wherever
    /// --key has it, and zx1's folder where the party has an agent id.
    pub fn secret_places(&self, who: Who) -> Result<Vec<PathBuf>> {
        let mut places = vec![self.home()?.to_owned(), self.key_path(who)?];
        if self.agent_id(who)?.is_some() {
            places.push(zx1_home()?);
        }
        Ok(places)
    }

    /// The secret of a party of this machine, made on first use where no file is named (decision A1).
    pub fn seed(&self, who: Who) -> Result<Seed> {
        let path = self.key_path(who)?;
        match keys::read(&path) {
            Ok((seed, _)) => Ok(seed),
            Err(Fault::KeyMissing { .. }) if self.flags.key.is_none() => {
                let seed = keys::random()?;
                match keys::write(&seed, &path) {
                    Ok(()) => Ok(seed),
                    // Another fix was faster.
                    Err(Fault::Exists { .. }) => Ok(keys::read(&path)?.0),
                    Err(fault) => Err(fault.into()),
                }
            }
            Err(fault) => Err(fault.into()),
        }
    }

    /// The 0x01 agent id of a party of this machine, as it was written; `None`: it has none.
    pub fn agent_id(&self, who: Who) -> Result<Option<String>> {
        if self.flags.agent_id.is_some() {
            return Ok(self.flags.agent_id.clone());
        }
        let zx1 = &self.config()?.zx1;
        Ok(match who {
            // As FIX_KEY, the variable names the principal's.
            Who::Principal => environment("FIX_AGENT_ID").or_else(|| zx1.principal.clone()),
            Who::Agent => zx1.agent.clone(),
            Who::Judge => zx1.judge.clone(),
        })
    }

    /// The Solana cluster that a flag, the environment or the configuration names.
    pub fn cluster(&self) -> Result<Option<String>> {
        let named = self.flags.cluster.clone().or_else(|| environment("FIX_CLUSTER"));
        Ok(match named {
            Some(cluster) => Some(cluster),
            None => self.config()?.zx1.cluster.clone(),
        })
    }

    /// The key of a party of this machine.
    pub fn key(&self, who: Who) -> Result<PartyKey> {
        Ok(PartyKey::from_seed(&*self.seed(who)?))
    }
}

/// zx1's folder, where it looks for agents: ZX1_HOME, or ~/.config/zx1.
///
/// # Errors
/// 9508.
pub fn zx1_home() -> Result<PathBuf> {
    let named = environment("ZX1_HOME").map(PathBuf::from);
    let home = named.or_else(|| user_home().map(|home| home.join(".config/zx1")));
    Ok(home.ok_or(Error::NoHome)?)
}

/// An amount of XNO.
pub fn amount(text: &str) -> Result<Raw> {
    Raw::from_xno(text.trim()).map_err(|error| {
        let why = zx1_cli_common::words::clause(&error.to_string());
        Error::BadAmount { text: text.chars().take(40).collect(), why }.into()
    })
}

/// The working folder, links resolved.
pub fn working_folder() -> Result<PathBuf> {
    let failed =
        |error: std::io::Error| Failure::from(Error::NoFolder { why: crate::errors::reason(&error) });
    std::env::current_dir().and_then(|folder| folder.canonicalize()).map_err(failed)
}

/// A file's path as messages show it.
pub fn shown(path: &Path) -> String {
    files::shown(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_markets_address_has_a_host_and_no_user() {
        let server =
            |url: &str| Context::new(Global { server: Some(url.to_owned()), ..Global::default() }).server();
        assert_eq!(server("https://fix.example.org/").unwrap(), "https://fix.example.org");
        for wrong in ["http://", "http:///x", "ftp://x", "http://127.0.0.1:8000@evil.example", "http://a b"] {
            assert_eq!(server(wrong).unwrap_err().code, 9521, "{wrong}");
        }
    }

    #[test]
    fn a_key_that_lies_elsewhere_is_hidden_from_sandboxes_too() {
        let key = PathBuf::from("/elsewhere/judge.key");
        for who in [Who::Principal, Who::Agent, Who::Judge] {
            let context = Context::new(Global {
                key: Some(key.clone()),
                agent_id: Some("an agent".to_owned()),
                ..Global::default()
            });
            let places = context.secret_places(who).unwrap();
            assert!(
                places.contains(&key) && places.contains(&context.home().unwrap().to_owned()),
                "{places:?}"
            );
            assert!(places.contains(&zx1_home().unwrap()), "{places:?}");
        }
    }
}
