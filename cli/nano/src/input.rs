//! Reading files, standard input and secrets.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use zeroize::Zeroizing;

use super::{Error, Failure, Output};
use nano_escrow::{PrivateKey, Seed};

/// Maximum size of an input in bytes. Blocks, records and keys are much smaller.
const MAX_INPUT: u64 = 1 << 20;

/// Reads a text from a file, or from standard input when there is no file or it is `-`.
pub(crate) fn text(file: Option<&Path>) -> Result<String, Failure> {
    let (bytes, name) = match file {
        None => (read(std::io::stdin().lock(), "standard input")?, "standard input".to_owned()),
        Some(path) if path == Path::new("-") => return text(None),
        Some(path) => (open(path)?, path.display().to_string()),
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(Error::NotUtf8(name).into()),
    }
}

fn open(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| unreadable(&name, e))?;
    read(file, &name)
}

fn read(from: impl Read, name: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    // Room for a key from the beginning: a buffer that grows would leave copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(8192));
    from.take(MAX_INPUT + 1).read_to_end(&mut bytes).map_err(|e| unreadable(name, e))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(unreadable(name, "it is longer than a mebibyte"));
    }
    Ok(bytes)
}

fn unreadable(name: &str, error: impl std::fmt::Display) -> Failure {
    Error::Unreadable { name: name.to_owned(), why: error.to_string() }.into()
}

/// Source of a secret. Its `Debug` does not show the secret.
#[derive(Clone)]
pub(crate) enum SecretSource {
    /// Read standard input.
    Stdin,
    /// A file with 64 hexadecimal digits, 32 bytes, or a Solana keypair.
    File(PathBuf),
    /// An environment variable with 64 hexadecimal digits.
    Env(String),
    /// The digits themselves, given on the command line.
    Argument(Zeroizing<String>),
}

impl std::fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SecretSource::Stdin => "Stdin",
            SecretSource::File(_) => "File",
            SecretSource::Env(_) => "Env",
            SecretSource::Argument(_) => "Argument(hidden)",
        })
    }
}

impl FromStr for SecretSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "-" => SecretSource::Stdin,
            _ => match (text.strip_prefix("file:"), text.strip_prefix("env:")) {
                (Some(path), _) => SecretSource::File(path.into()),
                (_, Some(name)) => SecretSource::Env(name.to_owned()),
                _ => SecretSource::Argument(Zeroizing::new(text.to_owned())),
            },
        })
    }
}

impl SecretSource {
    /// Whether the secret is read from standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        matches!(self, SecretSource::Stdin)
    }

    /// Returns 8401 for digits on the command line, which the shell's history and other processes would see.
    pub(crate) fn not_an_argument(self) -> Result<SecretSource, Failure> {
        match self {
            SecretSource::Argument(_) => Err(Failure::usage(Error::KeyOnCommandLine)),
            source => Ok(source),
        }
    }

    /// Reads the 32 bytes of the secret. Errors do not contain them.
    pub(crate) fn bytes(&self, what: &'static str, out: &Output) -> Result<Zeroizing<[u8; 32]>, Failure> {
        let bytes = match self {
            SecretSource::Stdin => read(std::io::stdin().lock(), "standard input")?,
            SecretSource::File(path) => {
                warn_if_others_can_read(path, out);
                open(path)?
            }
            SecretSource::Env(name) => {
                let value = std::env::var(name).map_err(|_| Error::NoVariable(name.clone()))?;
                Zeroizing::new(value.into_bytes())
            }
            SecretSource::Argument(digits) => Zeroizing::new(digits.as_bytes().to_vec()),
        };
        match zx1_home::keys::parse(&bytes) {
            Ok((secret, _)) => Ok(secret),
            Err(_) => Err(nano_escrow::HexError::Digits { what, digits: 64 }.into()),
        }
    }

    pub(crate) fn private_key(&self, out: &Output) -> Result<PrivateKey, Failure> {
        self.bytes("a private key", out).map(|b| PrivateKey::from_bytes(*b))
    }

    pub(crate) fn seed(&self, out: &Output) -> Result<Seed, Failure> {
        self.bytes("a seed", out).map(|b| Seed::from_bytes(*b))
    }
}

#[cfg(unix)]
fn warn_if_others_can_read(path: &Path, out: &Output) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(meta) = std::fs::metadata(path)
        && meta.is_file()
        && meta.permissions().mode() & 0o077 != 0
    {
        out.warn(format!("others can read {}; run: chmod 600 {0}", path.display()));
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path, _: &Output) {}

/// Returns 8405 when two inputs would be read from standard input.
pub(crate) fn only_one_from_stdin(file: Option<&Path>, secret: &SecretSource) -> Result<(), Failure> {
    let file_is_stdin = file.is_none_or(|f| f == Path::new("-"));
    if file_is_stdin && secret.is_stdin() {
        return Err(Failure::usage(Error::TwoFromStdin));
    }
    Ok(())
}
