//! Writes `programs/idl/<program>.json` from the programs' source through Anchor's own IDL build.
//! `--check` writes nothing and exits 1 when a file differs. Run it through `scripts/idl`, which clears
//! an environment variable of rustup that Anchor's builder stumbles over.

use anchor_lang_idl::build::IdlBuilder;
use anchor_lang_idl::types::{Idl, IdlAccount, IdlTypeDef};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::{env, fs};
use zx1_interface::Layout;
use zx1_interface::accounts::*;
use zx1_runtime::idl::{account_entry, account_type};

const PROGRAMS: [&str; 5] = ["stake-lock", "lease", "behavior-log", "challenge", "feedback-log"];

/// Anchor lists the accounts that instructions take typed: other programs' among them, and not those that
/// an instruction creates or may find absent. Here each program lists all of its own and no others.
fn own_accounts(program: &str, idl: &mut Idl) -> Result<()> {
    let own = match program {
        "stake-lock" => {
            vec![
                describe::<Config>()?,
                describe::<KeyAccount>()?,
                describe::<ShardAccount>()?,
                describe::<StakeLockAccount>()?,
                describe::<TenureAccount>()?,
            ]
        }
        "lease" => vec![describe::<LeaseAccount>()?],
        "behavior-log" => vec![describe::<BatchAccount>()?, describe::<HeadAccount>()?],
        "challenge" => {
            vec![describe::<AskAccount>()?, describe::<ChallengeAccount>()?, describe::<EvidenceDraft>()?]
        }
        _ => vec![
            describe::<FeedbackDraft>()?,
            describe::<FeedbackEntry>()?,
            describe::<FeedbackLogAccount>()?,
            describe::<FeedbackResolution>()?,
        ],
    };
    let listed: Vec<String> = idl.accounts.drain(..).map(|account| account.name).collect();
    idl.types.retain(|ty| !listed.contains(&ty.name));
    for (account, ty) in own {
        idl.accounts.push(account);
        idl.types.push(ty);
    }
    idl.accounts.sort_by(|a, b| a.name.cmp(&b.name));
    idl.types.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

fn describe<T: Layout>() -> Result<(IdlAccount, IdlTypeDef)> {
    Ok((serde_json::from_str(account_entry::<T>())?, serde_json::from_str(account_type::<T>())?))
}

fn main() -> Result<()> {
    let check = match env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => bail!("zx1-idl knows only --check, not '{other}'."),
    };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut stale = Vec::new();
    for name in PROGRAMS {
        let mut idl = IdlBuilder::new()
            .program_path(programs.join(name))
            .skip_lint(true)
            .build()
            .with_context(|| format!("The IDL of {name} could not be built."))?;
        own_accounts(name, &mut idl)?;
        let text = serde_json::to_string_pretty(&idl)? + "\n";
        let file = programs.join("idl").join(format!("zx1_{}.json", name.replace('-', "_")));
        if fs::read_to_string(&file).ok().as_deref() == Some(&text) {
            continue;
        }
        if !check {
            fs::write(&file, text).with_context(|| format!("{} could not be written.", file.display()))?;
        }
        stale.push(name);
    }
    if check && !stale.is_empty() {
        bail!("These IDLs are out of date: {}. Run scripts/idl and commit the result.", stale.join(", "));
    }
    if !check && !stale.is_empty() {
        println!("written: {}", stale.join(", "));
    }
    Ok(())
}
