//! The keys of a local cluster: made once, kept in the state folder, never printed.

use std::{
    fs,
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zeroize::Zeroizing;
use zx1_fixtures::control::Wallet;

use crate::LocalnetError;

/// Who has a part to play on every local cluster.
const ROLES: [&str; 5] = ["treasury", "maintainer", "sponsor", "upgrade-authority", "faucet"];

/// All keys. No Debug on purpose.
pub(crate) struct Wallets {
    /// Ready-made users, with SOL and USDC.
    pub(crate) users: Vec<Named>,
    /// In the order of [`ROLES`].
    roles: Vec<Named>,
}

pub(crate) struct Named {
    name: String,
    pub(crate) key: Keypair,
    file: PathBuf,
}

impl Wallets {
    /// Reads the keys under `state/wallets` and makes those that are missing; `replace` also makes anew
    /// those that cannot be read.
    pub(crate) fn open(state: &Path, users: usize, replace: bool) -> Result<Self, LocalnetError> {
        let folder = state.join("wallets");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|why| LocalnetError::io(&folder, why))?;
        let open = |name: String| {
            let file = folder.join(format!("{name}.json"));
            let key = match read(&file) {
                Ok(Some(key)) => key,
                Ok(None) => make(&file)?,
                Err(LocalnetError::BadKey { .. }) if replace => make(&file)?,
                Err(error) => return Err(error),
            };
            Ok(Named { name, key, file })
        };
        Ok(Self {
            users: (1..=users).map(|n| open(format!("wallet-{n}"))).collect::<Result<_, _>>()?,
            roles: ROLES.iter().map(|name| open((*name).to_owned())).collect::<Result<_, _>>()?,
        })
    }

    fn role(&self, index: usize) -> &Keypair {
        &self.roles[index].key
    }

    pub(crate) fn treasury(&self) -> Address {
        self.role(0).pubkey()
    }

    pub(crate) fn maintainer(&self) -> Address {
        self.role(1).pubkey()
    }

    pub(crate) fn sponsor(&self) -> Address {
        self.role(2).pubkey()
    }

    pub(crate) fn upgrade_authority(&self) -> &Keypair {
        self.role(3)
    }

    /// Mint authority of USDC, rich in SOL.
    pub(crate) fn faucet(&self) -> &Keypair {
        self.role(4)
    }

    pub(crate) fn describe(&self) -> Vec<Wallet> {
        self.users
            .iter()
            .chain(&self.roles)
            .map(|wallet| Wallet {
                name: wallet.name.clone(),
                address: wallet.key.pubkey().to_string(),
                keypair: wallet.file.clone(),
            })
            .collect()
    }
}

/// None where there is no file.
fn read(file: &Path) -> Result<Option<Keypair>, LocalnetError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LocalnetError::io(file, error)),
    };
    let bad = || LocalnetError::BadKey { path: file.to_path_buf() };
    let bytes: Zeroizing<Vec<u8>> = Zeroizing::new(serde_json::from_str(&text).map_err(|_| bad())?);
    Keypair::try_from(bytes.as_slice()).map(Some).map_err(|_| bad())
}

/// Makes a key and its file; a crash leaves either no file or a whole one.
fn make(file: &Path) -> Result<Keypair, LocalnetError> {
    let key = Keypair::new();
    let bytes = Zeroizing::new(key.to_bytes());
    let text =
        Zeroizing::new(serde_json::to_string(bytes.as_slice()).map_err(|why| LocalnetError::io(file, why))?);
    let draft = file.with_extension("new");
    let write = || {
        let _ = fs::remove_file(&draft);
        let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&draft, file)
    };
    write().map_err(|why| LocalnetError::io(file, why))?;
    Ok(key)
}
