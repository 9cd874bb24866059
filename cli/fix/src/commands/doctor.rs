//! `fix doctor`: whether fix works here, and the command that helps.

use crate::context::{self, Context};
use crate::errors::{Error, Failure, Result};
use crate::fixing;
use crate::settings::MODEL;
use serde::Serialize;
use zx1_cli_common::output::{Mark, Page, Report};
use zx1_home::config::Source;
use zx1_principal::{Own, Role, health};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix doctor
  fix --json doctor

Exit code 1 if a check fails. Warnings do not count as failures.";

/// Arguments of `fix doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    mark: Mark,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Default, Serialize)]
struct Checks {
    checks: Vec<Check>,
}

impl Checks {
    fn add(&mut self, mark: Mark, name: &'static str, found: impl Into<String>, next: Option<&str>) {
        self.checks.push(Check { name, mark, found: found.into(), next: next.map(str::to_owned) });
    }

    fn failure(&mut self, name: &'static str, failure: &Failure) {
        self.add(Mark::Fail, name, failure.message.trim_end_matches('.'), failure.next.as_deref());
    }
}

impl Report for Checks {
    fn draw(&self, page: &mut Page) {
        for check in &self.checks {
            page.check(check.mark, check.name, &check.found, check.next.as_deref());
        }
    }
}

/// Runs the checks.
pub fn run(_: Args, context: &Context) -> Result<()> {
    let (runtime, _) = fixing::start()?;
    let mut checks = Checks::default();
    let folder = context::working_folder()?;
    match health::sandbox(&folder, context.secret_places(Role::Principal)?) {
        Ok(()) => checks.add(Mark::Ok, "sandbox", "works here", None),
        Err(error) => checks.failure("sandbox", &error.into()),
    }
    let (found, missing) = health::tools();
    match missing.as_slice() {
        [] => checks.add(Mark::Ok, "tools", found.join(", "), None),
        some => {
            let text = format!("{}; not on PATH: {}", found.join(", "), some.join(", "));
            checks.add(Mark::Ok, "tools", text, None);
        }
    }
    match context.model(None) {
        Ok(None) => {
            checks.add(Mark::Skip, "model", "none: only the rules and the market are asked", Some("fix init"))
        }
        Err(failure) => checks.failure("model", &failure),
        Ok(Some((named, settings))) => {
            let at = format!("{} at {}", named.model, named.url);
            let opened = Own::open(named.clone(), &settings, context.home()?);
            match opened.and_then(|own| Ok(own.today()?)) {
                Err(error) => checks.failure("model", &error.into()),
                Ok(_) => match runtime.block_on(health::model(&named)) {
                    Ok(()) => checks.add(Mark::Ok, "model", at, None),
                    Err(why) => {
                        let next = format!("start its server, or fix config set {} MODEL", MODEL.name);
                        checks.add(Mark::Fail, "model", format!("{at} does not answer: {why}"), Some(&next));
                    }
                },
            }
        }
    }
    let market = context.server()?;
    let at = format!("{} ({})", market.value, market.source);
    match runtime.block_on(health::market(&market.value)) {
        Ok(()) => checks.add(Mark::Ok, "market", at, None),
        Err(why) => {
            // Nobody has to have one.
            let mark = if market.source == Source::Default { Mark::Skip } else { Mark::Fail };
            let next = "fix config set server URL, or a market of your own: fix serve";
            checks.add(mark, "market", format!("{at} does not answer: {why}"), Some(next));
        }
    }
    context.print(&checks)?;
    match checks.checks.iter().filter(|check| check.mark == Mark::Fail).count() {
        0 => Ok(()),
        failed => Err(Error::Unhealthy { failed }.into()),
    }
}
