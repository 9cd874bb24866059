//! `zx1 keeper unit`.

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::files;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Maximum USDC to spend per day
    #[arg(long, value_name = "USDC", default_value = "2")]
    cap: String,
}

/// Quotes a word for a unit file: backslash, quote and percent have a meaning there.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    crate::amount::parse_usdc(&args.cap)?;
    let settings = context.settings()?;
    let agent = context.agent()?;
    let program =
        std::env::current_exe().map_err(|error| files::read_failed(std::path::Path::new("zx1"), &error))?;
    let keypair = std::path::absolute(&settings.batch_key.value)
        .map_err(|error| files::read_failed(&settings.batch_key.value, &error))?;
    let home = std::path::absolute(context.home()?).map_err(|error| {
        files::read_failed(context.home().map_or(std::path::Path::new("."), |home| home), &error)
    })?;
    let path = |path: &std::path::Path| -> Result<String> {
        let text = path.to_str().ok_or_else(|| Error::Usage {
            message: format!("{} is not valid UTF-8, which a unit file requires.", path.display()),
        })?;
        Ok(quoted(text))
    };
    let unit = format!(
        "\
[Unit]
Description=zx1 keeper of {name}
Wants=network-online.target
After=network-online.target

[Service]
Environment={home}
ExecStart={program} --url {url} --keypair {keypair} --batch-key {keypair} --agent {mint} --output json-compact keeper run --cap {cap}
Restart=always
RestartSec=30
# The keeper needs its own folder, the key and the network, nothing else.
NoNewPrivileges=yes
PrivateTmp=yes
ProtectSystem=strict
ReadWritePaths={folder}
UMask=0077

[Install]
WantedBy=default.target
",
        name = agent.shown(),
        home = quoted(&format!("ZX1_HOME={}", home.display())),
        program = path(&program)?,
        url = quoted(&settings.url.value),
        keypair = path(&keypair)?,
        mint = agent.mint,
        cap = args.cap,
        folder = path(&home)?,
    );
    Ok(output::write_out(unit.as_bytes())?)
}
