//! `zx1 key`: public names of the key, its backup, and the way back.

use crate::config_file::ConfigFile;
use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::keys::{self, Key};
use crate::output::{Page, Report};
use crate::passphrase::{self, Purpose};
use crate::settings::{self, Source};
use crate::words::count;
use clap::Subcommand;
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_cli_common::keys::solana_json;
use zx1_operator::backup;
use zx1_operator::identity::{fix_id, peer_id};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 key show
  zx1 key new hot.json                        another key, for zx1 keys add
  zx1 key backup zx1-backup.age               asks for a passphrase twice
  zx1 key backup --all /mnt/usb/zx1.age       also logs, payloads and batches
  ZX1_HOME=~/restored zx1 key restore zx1-backup.age
  zx1 key backup b.age --passphrase-fd 3 3< passphrase.txt

The backup is an age file, which `age --decrypt` opens as well. It holds the key of
the setting keypair (list new keys in place of others that are lost: zx1 keys),
config.toml, unsent transactions, and each agent's used nonces and batch
signatures. A restored agent starts above the saved nonces and never below the
clock, so it cannot sign a nonce twice. Logs and batches are included only with
--all; without its batch a challenge cannot be answered.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show the public key in all its forms, never the secret
    Show,
    /// Create a keypair file for one of the agent's keys
    New {
        /// New file to write
        file: PathBuf,
    },
    /// Write an encrypted backup of the key and the agents' state
    Backup {
        /// New file to write
        file: PathBuf,
        /// Include logs, payloads and batches
        #[arg(long)]
        all: bool,
        /// Read the passphrase from this file descriptor
        #[arg(long, value_name = "N")]
        passphrase_fd: Option<u32>,
    },
    /// Restore a backup into an empty folder
    Restore {
        /// Backup file to restore from
        file: PathBuf,
        /// Read the passphrase from this file descriptor
        #[arg(long, value_name = "N")]
        passphrase_fd: Option<u32>,
    },
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Show => show(context),
        Action::New { file } => new(context, &file),
        Action::Backup { file, all, passphrase_fd } => backup(context, file, all, passphrase_fd),
        Action::Restore { file, passphrase_fd } => restore(context, file, passphrase_fd),
    }
}

#[derive(Serialize)]
struct Shown {
    address: String,
    public_key: String,
    fix_id: String,
    peer_id: String,
    file: String,
    form: &'static str,
    private: bool,
    source: String,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("address", &self.address)
            .field("public key", &self.public_key)
            .field("fix", &self.fix_id)
            .field("libp2p peer", &self.peer_id)
            .field("file", &self.file)
            .field("form", self.form)
            .field("readable by", if self.private { "you only" } else { "others: run chmod 600 on it" })
            .field("source", &self.source);
    }
}

fn show(context: &Context) -> Result<()> {
    let key = context.key()?;
    let private = keys::is_private(key.path()).unwrap_or(false);
    context.print(&Shown {
        address: key.address().to_string(),
        public_key: hex::encode(key.address()),
        fix_id: fix_id(&key.address()),
        peer_id: peer_id(&key.address()),
        file: files::shown(key.path()),
        form: key.form(),
        private,
        source: context.settings()?.keypair.source.to_string(),
    })
}

#[derive(Serialize)]
struct Made {
    address: String,
    file: String,
    peer_id: String,
}

impl Report for Made {
    fn draw(&self, page: &mut Page) {
        page.line("A new key is created. It counts for nothing before it is listed.")
            .field("address", &self.address)
            .field("file", &self.file)
            .field("libp2p peer", &self.peer_id)
            .next(format!("zx1 keys add {} --scopes SCOPES", self.file));
    }
}

fn new(context: &Context, file: &Path) -> Result<()> {
    let path = settings::expand_home(&files::shown(file));
    if path.is_dir() {
        return Err(Error::KeyIsFolder { path: files::shown(&path) }.into());
    }
    if path.exists() {
        let next = "give another file, or add this key with zx1 keys add";
        return Err(Failure::from(Error::KeyExists { path: files::shown(&path) }).next(next));
    }
    let key = Key::create(&path)?;
    context.print(&Made {
        address: key.address().to_string(),
        file: files::shown(&path),
        peer_id: peer_id(&key.address()),
    })
}

#[derive(Serialize)]
struct Saved {
    file: String,
    address: String,
    files: usize,
    bytes: u64,
    all: bool,
}

impl Report for Saved {
    fn draw(&self, page: &mut Page) {
        page.line(format!("Backup of {} written.", self.address)).field("file", &self.file).field(
            "holds",
            format!("{}, {}", count(self.files, "file", "files"), count(self.bytes, "byte", "bytes")),
        );
        if !self.all {
            page.line("Logs, payloads and batches are not included; use --all to include them.");
        }
    }
}

fn backup(context: &Context, file: PathBuf, all: bool, descriptor: Option<u32>) -> Result<()> {
    let key = context.key()?;
    let home = context.home()?;
    files::check_writable(&file)?;
    let passphrase = passphrase::obtain(Purpose::Create, descriptor)?;
    let saved = {
        let _spinner = context.spinner("Encrypting");
        backup::save(home, solana_json(&key.seed()).as_bytes(), &file, passphrase, all)?
    };
    context.print(&Saved {
        file: files::shown(&file),
        address: key.address().to_string(),
        files: saved.files,
        bytes: saved.bytes,
        all,
    })
}

#[derive(Serialize)]
struct Restored {
    address: String,
    keypair: String,
    config: String,
    files: usize,
    agents: Vec<String>,
}

impl Report for Restored {
    fn draw(&self, page: &mut Page) {
        page.line("Backup restored.")
            .field("address", &self.address)
            .field("keypair", &self.keypair)
            .field("config.toml", &self.config)
            .field("agents", if self.agents.is_empty() { "none".to_owned() } else { self.agents.join(", ") });
        page.line("Run the agent in one place only: two instances with one key would sign the same nonces.");
        page.next("zx1 doctor");
    }
}

fn restore(context: &Context, file: PathBuf, descriptor: Option<u32>) -> Result<()> {
    let home = context.home()?;
    // Only a file that was named for this run is somewhere else than in zx1's folder.
    let keypair = &context.settings()?.keypair;
    let target = match keypair.source {
        Source::Flag(_) | Source::Environment(_) => keypair.value.clone(),
        _ => home.join(defaults::KEYPAIR),
    };
    let file = settings::expand_home(&files::shown(&file));
    if file.is_dir() {
        return Err(files::folder(&file).into());
    }
    if !file.exists() {
        return Err(files::missing(&file).into());
    }
    let passphrase = passphrase::obtain(Purpose::Open, descriptor)?;
    let (config, files) = {
        let _spinner = context.spinner("Decrypting");
        let unpacked = backup::open(&file, home, &target, passphrase)?;
        unpacked.settle()?;
        let mut config = ConfigFile::read(&unpacked.config())?;
        config.keypair = Some(files::shown(&target));
        config.write(&context.config_path()?)?;
        Key::read(&unpacked.key())?.copy_to(&target)?;
        (config, unpacked.files)
    };
    let key = Key::read(&target)?;
    context.print(&Restored {
        address: key.address().to_string(),
        keypair: files::shown(&target),
        config: files::shown(&context.config_path()?),
        files,
        agents: config.agents.into_keys().collect(),
    })
}
