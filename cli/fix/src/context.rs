//! What a command works with. Nothing is read before a command asks for it.

use crate::config::Config;
use crate::errors::{Error, Failure, Result};
use crate::flags::{Global, Ledger};
use crate::screen::Screen;
use crate::settings::{
    AGENT_ID, BOUNTY, CLUSTER, DEAL_KEY, JUDGE_ID, MARKET, MODEL, MODEL_BUDGET, MODEL_KEY, MODEL_PRICE,
    MODEL_TOKENS, NETWORK, NODE, PRINCIPAL_ID, REPRESENTATIVE,
};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;
use zx1_cli_common::config::layer;
use zx1_cli_common::keys::{self, Seed};
use zx1_cli_common::output::{self, Format, Report};
use zx1_cli_common::{Fault, files};
use zx1_home::config::{Key, Layered, Setting, Source, environment, expand_home, folder};
use zx1_market::{PartyKey, Raw};
use zx1_market_client::{Clock, Market};
use zx1_model::{Named, Price};
use zx1_net::Endpoint;
use zx1_principal::envelopes::Identity;
use zx1_principal::{OwnSettings, Party, Role};

/// The market when nobody names one: this machine's.
pub const SERVER: &str = "http://127.0.0.1:8000";

/// The configuration file's name.
pub const CONFIG: &str = "config.toml";

/// The key file of a party of this machine.
fn key_file(who: Role) -> &'static str {
    match who {
        Role::Principal => "key.ed25519",
        Role::Agent => "agent.key",
        Role::Judge => "judge.key",
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
        let home = folder("FIX_HOME", ".fix").ok_or(Error::NoHome)?;
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
        let config = Config::read(&self.place(CONFIG)?)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// A setting: flag, environment, config.toml. The file is only read when it counts.
    pub fn setting(&self, key: &Key, flag: Option<&String>) -> Result<Option<Setting<String>>> {
        if let Some(found) = key.find(flag.cloned(), &[]) {
            return Ok(Some(found));
        }
        let file = layer(CONFIG, self.place(CONFIG)?, self.config()?)?;
        Ok(key.find(None, &[file]))
    }

    /// A setting whose value must be one that it accepts.
    fn checked(&self, key: &Key, flag: Option<&String>) -> Result<Option<String>> {
        let Some(found) = self.setting(key, flag)? else { return Ok(None) };
        key.check(&found.value, &found.source).map_err(Error::unfit)?;
        Ok(Some(found.value))
    }

    /// The user's own model, as the settings have it; `None`: there is none.
    ///
    /// # Errors
    /// 9526, 9563.
    pub fn model(&self, option: Option<&String>) -> Result<Option<(Named, OwnSettings)>> {
        let Some(name) = self.setting(&MODEL, option)? else { return Ok(None) };
        let Some(named) = Named::parse(&name.value)? else { return Ok(None) };
        let amount = |key| -> Result<_> {
            Ok(self.checked(key, None)?.and_then(|text| zx1_model::micro_usd_of_decimal(&text)))
        };
        let settings = OwnSettings {
            price: self.checked(&MODEL_PRICE, None)?.and_then(|text| Price::parse(&text)).unwrap_or_default(),
            micro_usd: amount(&MODEL_BUDGET)?,
            tokens: self.checked(&MODEL_TOKENS, None)?.and_then(|text| text.parse().ok()),
            key: self.model_key()?,
        };
        Ok(Some((named, settings)))
    }

    /// The file with the model's key: the one that the settings name, or `model.key` in fix's folder.
    fn model_key(&self) -> Result<Option<PathBuf>> {
        if let Some(named) = self.setting(&MODEL_KEY, None)? {
            return Ok(Some(expand_home(&named.value)));
        }
        Ok(Some(self.place("model.key")?).filter(|path| path.exists()))
    }

    /// The market's address, without a slash at its end.
    pub fn server(&self) -> Result<Setting<String>> {
        let named = self.setting(&MARKET, self.flags.server.as_ref())?;
        let named = named.unwrap_or(Setting { value: SERVER.to_owned(), source: Source::Default });
        match Endpoint::parse(&named.value) {
            Ok(endpoint) => Ok(named.map(|_| endpoint.to_string())),
            Err(_) => Err(Error::BadUrl { url: named.value, source: named.source.to_string() }.into()),
        }
    }

    /// The bounty; `None` is a free contract.
    pub fn bounty(&self, option: Option<&String>) -> Result<Option<Raw>> {
        let found = self.setting(&BOUNTY, option)?;
        found.map(|bounty| amount_from(&bounty.value, Some(&bounty.source))).transpose()
    }

    /// How the wallet reaches the ledger.
    pub fn ledger(&self, flags: &Ledger) -> Result<zx1_principal::Ledger> {
        let text = |key, flag: &Option<String>| -> Result<Option<String>> {
            Ok(self.setting(key, flag.as_ref())?.map(|found| found.value))
        };
        Ok(zx1_principal::Ledger {
            node: text(&NODE, &flags.node)?,
            network: text(&NETWORK, &flags.network)?,
            representative: text(&REPRESENTATIVE, &flags.representative)?,
        })
    }

    /// Where the key of a party of this machine lies.
    pub fn key_path(&self, who: Role) -> Result<PathBuf> {
        match self.flags.key.clone().or_else(|| environment("FIX_KEY").map(PathBuf::from)) {
            Some(path) if self.flags.key.is_some() || who == Role::Principal => Ok(path),
            _ => self.place(key_file(who)),
        }
    }

    /// What no command of a sandbox may see, beside the usual secrets: fix's folder, the party's keys wherever
    /// --key and --deal-key have them, and zx1's folder where the party has an agent id.
    pub fn secret_places(&self, who: Role) -> Result<Vec<PathBuf>> {
        let mut places = vec![self.home()?.to_owned(), self.key_path(who)?];
        places.extend(self.deal_key_path()?);
        places.extend(self.model_key()?);
        if self.agent_id(who)?.is_some() {
            places.push(zx1_home()?);
        }
        Ok(places)
    }

    /// Where the key lies that signs deals in 0x01 (decision P1); `None`: the party's own signs them.
    fn deal_key_path(&self) -> Result<Option<PathBuf>> {
        let flag = self.flags.deal_key.as_ref().map(|path| path.to_string_lossy().into_owned());
        Ok(self.setting(&DEAL_KEY, flag.as_ref())?.map(|path| expand_home(&path.value)))
    }

    /// The secret of a party of this machine, made or taken from zx1 on first use where no file is named (decision A1).
    pub fn seed(&self, who: Role) -> Result<Seed> {
        let path = self.key_path(who)?;
        match keys::read(&path) {
            Ok((seed, _)) => Ok(seed),
            Err(Fault::KeyMissing { .. }) if self.flags.key.is_none() => match self.first_key(who, &path) {
                Ok((seed, from)) => {
                    self.say_key(&path, &seed, from.as_deref());
                    Ok(seed)
                }
                // Another fix was faster.
                Err(Fault::Exists { .. }) => Ok(keys::read(&path)?.0),
                Err(fault) => Err(fault.into()),
            },
            Err(fault) => Err(fault.into()),
        }
    }

    /// Makes a key, or takes zx1's where the principal's is in its usual place; the file that it was taken from.
    ///
    /// # Errors
    /// As [`keys::first`].
    pub fn first_key(&self, who: Role, path: &Path) -> Result<(Seed, Option<PathBuf>), Fault> {
        let is_usual = who == Role::Principal && self.place(key_file(who)).is_ok_and(|usual| usual == path);
        let theirs = zx1_key().filter(|_| is_usual);
        let asks = !self.yes() && !self.format().is_json();
        keys::first(path, theirs.as_deref(), |theirs, _| Ok(keys::is_shared("zx1", theirs, asks)))
    }

    /// Says which key was made or taken. On standard error, because a command's result may follow.
    fn say_key(&self, path: &Path, seed: &Seed, from: Option<&Path>) {
        let (id, path) = (PartyKey::from_seed(seed).id().to_string(), files::shown(path));
        let from = from.map(files::shown);
        if self.format().is_json() {
            let line = serde_json::json!({ "event": "key", "fix_id": id, "key": path, "taken_from": from });
            return output::write_err(&format!("{line}\n"));
        }
        let text = match from {
            Some(from) => format!("Your key is zx1's, copied from {from} to {path}."),
            None => format!("Your key was created: {path}. It holds your money and your name; keep it safe."),
        };
        self.screen(false).step("key", serde_json::json!({}), &text);
    }

    /// The 0x01 agent id of a party of this machine, as it was written; `None`: it has none.
    pub fn agent_id(&self, who: Role) -> Result<Option<String>> {
        let key = match who {
            Role::Principal => PRINCIPAL_ID,
            Role::Agent => AGENT_ID,
            Role::Judge => JUDGE_ID,
        };
        Ok(self.setting(&key, self.flags.agent_id.as_ref())?.map(|agent| agent.value))
    }

    /// The Solana cluster of the agent id, in the end the one that `zx1` itself uses.
    fn cluster(&self) -> Result<Option<Setting<String>>> {
        let named = self.setting(&CLUSTER, self.flags.cluster.as_ref())?;
        if named.is_some() {
            return Ok(named);
        }
        let home = zx1_home()?;
        let path = home.join(CONFIG);
        let url = zx1_config(&home).and_then(|table| Some(table.get("url")?.as_str()?.to_owned()));
        Ok(Layered::new().environment("ZX1_URL").file("zx1's config.toml", &path, url).found())
    }

    /// A party of this machine.
    pub fn party(&self, who: Role, ledger: &Ledger) -> Result<Party> {
        let identity = match self.agent_id(who)? {
            Some(agent_id) => {
                let cluster = self.cluster()?.map(|cluster| cluster.value);
                Some(Identity { agent_id, home: zx1_home()?, cluster })
            }
            None => None,
        };
        Ok(Party {
            role: who,
            home: self.home()?.to_owned(),
            seed: self.seed(who)?,
            deal: match self.deal_key_path()? {
                Some(path) if identity.is_some() => Some(keys::read(&path)?.0),
                _ => None,
            },
            clock: clock(),
            ledger: self.ledger(ledger)?,
            identity,
        })
    }

    /// Connects a party of this machine to the market.
    pub fn connect(&self, who: Role, runtime: &Runtime) -> Result<(Party, Market)> {
        let server = self.server()?.value;
        let party = self.party(who, &Ledger::default())?;
        let market = runtime.block_on(party.connect(&server))?;
        Ok((party, market))
    }

    /// The key of a party of this machine.
    pub fn key(&self, who: Role) -> Result<PartyKey> {
        Ok(PartyKey::from_seed(&*self.seed(who)?))
    }
}

/// zx1's folder, where it looks for agents: ZX1_HOME, or ~/.config/zx1.
///
/// # Errors
/// 9508.
pub fn zx1_home() -> Result<PathBuf> {
    Ok(folder("ZX1_HOME", ".config/zx1").ok_or(Error::NoHome)?)
}

/// zx1's configuration. A file that zx1 cannot read is zx1's to complain about.
fn zx1_config(home: &Path) -> Option<toml::Table> {
    std::fs::read_to_string(home.join(CONFIG)).ok()?.parse().ok()
}

/// Where zx1 keeps its key: where its configuration says, or `id.json` in its folder.
fn zx1_key() -> Option<PathBuf> {
    let home = zx1_home().ok()?;
    let table = zx1_config(&home);
    let named = table.and_then(|table| Some(expand_home(table.get("keypair")?.as_str()?)));
    Some(named.unwrap_or_else(|| home.join("id.json")))
}

/// An amount of XNO.
pub fn amount(text: &str) -> Result<Raw> {
    amount_from(text, None)
}

fn amount_from(text: &str, source: Option<&Source>) -> Result<Raw> {
    Raw::from_xno(text.trim()).map_err(|error| {
        let why = zx1_cli_common::words::clause(&error.to_string());
        let source = source.map(|source| format!(" ({source})")).unwrap_or_default();
        Error::BadAmount { text: text.chars().take(40).collect(), why: format!("{why}{source}") }.into()
    })
}

/// The working folder, links resolved.
pub fn working_folder() -> Result<PathBuf> {
    let failed =
        |error: std::io::Error| Failure::from(Error::NoFolder { why: crate::errors::reason(&error) });
    std::env::current_dir().and_then(|folder| folder.canonicalize()).map_err(failed)
}

/// The clock of signatures. Tests that move the clock of a server of this machine (fix serve --test-clock) set
/// FIX_TEST_CLOCK.
fn clock() -> Clock {
    #[cfg(feature = "testing")]
    if std::env::var_os("FIX_TEST_CLOCK").is_some() {
        return Clock::Server;
    }
    Clock::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_markets_address_has_a_host_and_no_user() {
        let server =
            |url: &str| Context::new(Global { server: Some(url.to_owned()), ..Global::default() }).server();
        assert_eq!(server("https://fix.example.org/").unwrap().value, "https://fix.example.org");
        for wrong in ["http://", "http:///x", "ftp://x", "http://127.0.0.1:8000@evil.example", "http://a b"] {
            assert_eq!(server(wrong).unwrap_err().code, 9521, "{wrong}");
        }
    }

    #[test]
    fn a_key_that_lies_elsewhere_is_hidden_from_sandboxes_too() {
        let (key, deal) = (PathBuf::from("/elsewhere/judge.key"), PathBuf::from("/elsewhere/deal.key"));
        for who in [Role::Principal, Role::Agent, Role::Judge] {
            let context = Context::new(Global {
                key: Some(key.clone()),
                deal_key: Some(deal.clone()),
                agent_id: Some("an agent".to_owned()),
                ..Global::default()
            });
            let places = context.secret_places(who).unwrap();
            assert!(
                places.contains(&key) && places.contains(&context.home().unwrap().to_owned()),
                "{places:?}"
            );
            assert!(places.contains(&deal) && places.contains(&zx1_home().unwrap()), "{places:?}");
        }
    }
}
