//! The keeper as a service of systemd: its unit file, and whether systemd runs here.

use crate::amount;
use crate::context::Context;
use crate::errors::{Error, Failure, Result};
use crate::files;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zx1_home::config::{environment, user_home};
use zx1_operator::Agent;
use zx1_protocol::units::MicroUsdc;

/// Name of the unit.
pub const UNIT: &str = "zx1-keeper.service";
/// Largest unit file that is read, in bytes.
const LIMIT: u64 = 1 << 16;

/// What the keeper may spend a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// USDC, for the lease.
    pub usdc: MicroUsdc,
    /// Lamports, for fees and rent.
    pub lamports: u64,
}

impl Caps {
    /// Reads both amounts.
    ///
    /// # Errors
    /// 7560
    pub fn parse(usdc: &str, sol: &str) -> Result<Self> {
        let bad =
            |failure: Failure| Error::KeeperBadCap { why: failure.message.trim_end_matches('.').to_owned() };
        let usdc = amount::parse_usdc(usdc).map_err(bad)?;
        Ok(Self { usdc, lamports: amount::parse_sol(sol).map_err(bad)? })
    }

    /// In words: what somebody agrees to who starts the keeper.
    pub fn in_words(&self) -> String {
        format!(
            "at most {} a day for the lease, and {} a day for fees and rent (answers, leaves, lease and batches \
             may exceed the latter)",
            self.usdc,
            amount::sol(self.lamports)
        )
    }
}

/// Quotes a word for a unit file: backslash, quote, percent and dollar have a meaning there.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

/// The unit that keeps an agent, with this run's cluster, keys and folder.
///
/// # Errors
/// 7400 for a path that no unit file can hold.
pub fn unit(context: &Context, agent: &Agent, caps: Caps) -> Result<String> {
    let settings = context.settings()?;
    let program = std::env::current_exe().map_err(|error| files::read_failed(Path::new("zx1"), &error))?;
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| files::read_failed(path, &error));
    let keypair = absolute(&settings.batch_key.value)?;
    let home = absolute(context.home()?)?;
    let path = |path: &Path| -> Result<String> {
        let text = path.to_str().filter(|text| !text.contains(char::is_control));
        let text = text.ok_or_else(|| Error::Usage {
            message: format!("{} is not a path that a unit file can hold.", path.display()),
        })?;
        Ok(quoted(text))
    };
    // An upload into a folder outside of zx1's own has to be allowed.
    let served = settings.upload.value.as_deref().filter(|place| !place.contains("://"));
    let served = served.map(|place| path(&absolute(&crate::settings::expand_home(place))?)).transpose()?;
    let served = served.map(|folder| format!("ReadWritePaths=-{folder}\n")).unwrap_or_default();
    Ok(format!(
        "\
[Unit]
Description=zx1 keeper of the agent {mint}
Wants=network-online.target
After=network-online.target

[Service]
Environment={variable}
ExecStart={program} --url {url} --keypair {keypair} --batch-key {keypair} --agent {mint} --output json-compact \
--yes keeper run --cap {cap} --fee-cap {fee_cap}
Restart=always
RestartSec=30
# The keeper needs its own folder, the key and the network, nothing else.
NoNewPrivileges=yes
PrivateTmp=yes
ProtectSystem=strict
ReadWritePaths={folder}
{served}UMask=0077

[Install]
WantedBy=default.target
",
        variable = quoted(&format!("ZX1_HOME={}", home.display())),
        program = path(&program)?,
        url = quoted(&settings.url.value),
        keypair = path(&keypair)?,
        mint = agent.mint,
        cap = amount::plain(caps.usdc),
        fee_cap = amount::sol(caps.lamports).trim_end_matches(" SOL"),
        folder = path(&home)?,
    ))
}

/// Where the unit of this user lies.
///
/// # Errors
/// 7408 without a home folder.
pub fn path() -> Result<PathBuf> {
    let config = environment("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| Some(user_home()?.join(".config"))).ok_or(Error::NoHome)?;
    Ok(config.join("systemd/user").join(UNIT))
}

/// Whether the unit of this content is there.
pub fn is_written(text: &str) -> Result<bool> {
    Ok(known(&path()?)?.is_some_and(|known| known == text))
}

fn known(path: &Path) -> Result<Option<String>> {
    let bytes = files::read_limited(path, LIMIT)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Writes the unit, in place of an earlier one of the same agent.
///
/// # Errors
/// 7407 where another agent's or somebody's own is in the way, 7405 where nothing can be written.
pub fn write(text: &str, agent: &Agent) -> Result<PathBuf> {
    let path = path()?;
    match known(&path)? {
        Some(known) if known == text => {}
        Some(known) if !known.contains(&format!("--agent {} ", agent.mint)) => {
            let exists = Failure::from(Error::Exists { path: files::shown(&path) });
            return Err(exists.next("move it away, or print the unit with --print-unit"));
        }
        _ => files::replace_private(&path, text.as_bytes())?,
    }
    Ok(path)
}

/// Whether systemd runs for this user.
pub fn is_systemd_here() -> bool {
    let runtime = environment("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.is_some_and(|folder| folder.join("systemd/private").exists())
}

/// Starts the unit now and at each login.
///
/// # Errors
/// 7424 when systemctl is not there or refuses.
pub fn start() -> Result<()> {
    for arguments in [&["--user", "daemon-reload"][..], &["--user", "enable", "--now", UNIT]] {
        let failed = |why: String| Error::CannotExecute { program: "systemctl".to_owned(), why };
        let output = Command::new("systemctl").args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(|error| failed(crate::errors::reason(&error)))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = crate::words::clause(&crate::words::one_line(said.trim(), 200));
            return Err(Failure::from(failed(why)).next(format!("systemctl --user status {UNIT}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_break_out_of_its_word() {
        assert_eq!(quoted("a\" %h $HOME \\"), "\"a\\\" %%h $$HOME \\\\\"");
    }

    #[test]
    fn caps_are_read_and_said() {
        let caps = Caps::parse("2", "0.02").unwrap();
        assert_eq!((caps.usdc, caps.lamports), (MicroUsdc(2_000_000), 20_000_000));
        assert!(caps.in_words().starts_with("at most 2 USDC a day for the lease, and 0.02 SOL a day"));
        assert_eq!(Caps::parse("2", "much").map_err(|failure| failure.code), Err(7560));
    }
}
