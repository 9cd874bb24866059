//! The one key of a party (decision A1), in every usual form: Solana's JSON array of 64 numbers, 32 raw
//! bytes, 64 hexadecimal digits. Secrets are wiped when dropped and never shown.

pub use zx1_cli_common::keys::is_private;

use crate::errors::{Error, Failure, Result};
use solana_address::Address;
use solana_keypair::Keypair;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use zx1_cli_common::Fault;
use zx1_cli_common::keys::{self, Form, Seed};
use zx1_operator::Wallet;

/// A key and where it came from.
pub struct Key {
    wallet: Wallet,
    path: PathBuf,
    form: Option<Form>,
}

impl Deref for Key {
    type Target = Wallet;

    fn deref(&self) -> &Wallet {
        &self.wallet
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("address", &self.address()).field("path", &self.path).finish()
    }
}

impl Key {
    /// Reads a key file; warns when others can read it too.
    ///
    /// # Errors
    /// 7410 to 7417, each with the path.
    pub fn read(path: &Path) -> Result<Self> {
        let (seed, form) = keys::read(path)?;
        Ok(Self::of(&seed, path, form))
    }

    fn of(seed: &Seed, path: &Path, form: Form) -> Self {
        let wallet = Wallet::new(Keypair::new_from_array(**seed));
        Self { wallet, path: path.to_owned(), form: Some(form) }
    }

    /// An address whose key is elsewhere ([`Wallet::elsewhere`]).
    pub fn elsewhere(address: Address) -> Self {
        Self { wallet: Wallet::elsewhere(address), path: PathBuf::new(), form: None }
    }

    /// Makes a new key and writes it; never over another.
    ///
    /// # Errors
    /// 7416 when the file is there, 7422 when the system has no random bytes.
    pub fn create(path: &Path) -> Result<Self> {
        Self::write(&keys::random()?, path)
    }

    /// Writes a key that was read elsewhere, in Solana's form; never over another.
    pub fn copy_to(&self, path: &Path) -> Result<Self> {
        Self::write(&self.seed(), path)
    }

    fn write(seed: &Seed, path: &Path) -> Result<Self> {
        keys::write(seed, path).map_err(|fault| match fault {
            Fault::Exists { path } => Error::KeyExists { path }.into(),
            other => Failure::from(other),
        })?;
        Ok(Self::of(seed, path, Form::SolanaJson))
    }

    /// The secret half.
    pub fn seed(&self) -> Seed {
        Seed::new(*self.keypair().secret_bytes())
    }

    /// Path of the keypair file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the file writes it; for people.
    pub fn form(&self) -> &'static str {
        self.form.map_or("an address, without its key", Form::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_show_its_secret() {
        let wallet = Wallet::new(Keypair::new_from_array([7; 32]));
        let key = Key { wallet, path: "p".into(), form: Some(Form::Raw) };
        let shown = format!("{key:?}");
        assert!(!shown.contains("7, 7") && shown.contains(&key.address().to_string()), "{shown}");
    }
}
