//! What happens between a command that fails and one that works: options become a session of
//! [`zx1_principal`], which [`Terminal`] renders. All of it runs on the main thread and may block there.

use crate::context::Context;
use crate::errors::{Error, Failure, Result, reason};
use crate::flags::{Fixing, Ledger};
use crate::interrupt::CtrlC;
use crate::real;
use crate::screen::Tone;
use crate::terminal::Terminal;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::Runtime;
use zx1_cli_common::Exit;
use zx1_home::config::Source;
use zx1_principal::{AtMarket, Ended, Failed, Options, Own, Refusal, Role, Session, Ways};

fn no_threads(error: &std::io::Error) -> Failure {
    Refusal::CannotRun { program: "fix".to_owned(), why: reason(error) }.into()
}

/// A runtime for a service, with one thread per core.
pub fn threads() -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| no_threads(&error))
}

/// A runtime for one run of fix, and the watch over Ctrl+C.
pub fn start() -> Result<(Runtime, CtrlC)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| no_threads(&error))?;
    let watch = runtime.block_on(async { CtrlC::watch() }).map_err(|error| no_threads(&error))?;
    Ok((runtime, watch))
}

/// A session with these options.
pub fn session<'a>(
    failed: Failed,
    options: &Fixing,
    context: &Context,
    runtime: &'a Runtime,
    watch: &CtrlC,
) -> Result<Session<'a>> {
    let front = Arc::new(Terminal::new(context, options.explain));
    let options = Options {
        home: context.home()?.to_owned(),
        hosts: options.allow_host.clone(),
        usual_hosts: context.config()?.allow_hosts.clone(),
        masks: context.secret_places(Role::Principal)?,
        attach: options.attach.clone(),
        expect: options.expect.clone(),
        sudo: options.allow_sudo,
        autonomous: options.autonomous,
        private: options.private,
        accept_corrected: options.accept_corrected,
        all_paths: options.explain,
        see: options.see.clone(),
        variables: options.env.clone(),
        granted: options.allow.iter().copied().collect(),
    };
    Ok(Session::new(failed, options, runtime, front, watch.interrupts.clone())?)
}

/// Fixes a failure. The exit code is 0 when the command works now, 130 after Ctrl+C, else the command's own, or that of
/// the corrected command that was run in its place.
pub fn fix(
    failed: Failed,
    options: &Fixing,
    context: &Context,
    runtime: &Runtime,
    watch: &CtrlC,
) -> ExitCode {
    let screen = context.screen(options.explain);
    let (exit, folder) = (failed.exit, failed.folder.clone());
    let text = format!("Exit code {exit}: {} failed.", failed.line);
    screen.tell(Tone::Bad, "failed", json!({ "command": failed.line, "exit_code": exit }), &text);
    let session = session(failed, options, context, runtime, watch);
    let ended = session.and_then(|session| find(session, options, context));
    let ended = ended.and_then(|ended| match ended {
        Ended::Fixed => Ok(Some(0)),
        Ended::AsBefore => Ok(None),
        Ended::Unproven { line } => run_unproven(&line, &folder, context, watch).map(Some),
    });
    if let Err(failure) = &ended {
        failure.show(context.format());
    }
    let code = match &ended {
        Ok(code) => code.unwrap_or(exit),
        Err(failure) if failure.code == Error::Interrupted.code() => Exit::Interrupted as u8,
        Err(_) => exit,
    };
    let fixed = code == 0;
    if screen.is_json() {
        screen.step("end", json!({ "fixed": fixed, "exit_code": code }), "");
    }
    ExitCode::from(code)
}

/// Runs a correction that nothing has proven, as its user would: its exit code.
fn run_unproven(line: &str, folder: &Path, context: &Context, watch: &CtrlC) -> Result<u8> {
    let ran = real::for_real(&real::for_shell(line), folder, context, watch)?;
    let exit = if ran.interrupted { Exit::Interrupted as u8 } else { ran.exit };
    let data = json!({ "command": line, "exit_code": exit });
    let tone = if exit == 0 { Tone::Good } else { Tone::Bad };
    context.screen(false).tell(tone, "ran", data, &format!("{line}: exit code {exit}."));
    Ok(exit)
}

/// Refuses what cannot be right before anything runs.
///
/// # Errors
/// 9522, 9526, 9563.
pub fn check(options: &Fixing, context: &Context) -> Result<()> {
    context.bounty(options.bounty.as_ref())?;
    if options.model.is_some() {
        context.model(options.model.as_ref())?;
    }
    Ok(())
}

/// Looks for a fix where the options and the settings say.
fn find(mut session: Session<'_>, options: &Fixing, context: &Context) -> Result<Ended> {
    let party = || context.party(Role::Principal, &Ledger::default());
    let home = context.home()?.to_owned();
    let is_free = !(options.local || options.market || options.model.is_some());
    let chosen = match options.model.is_some() || is_free {
        true => context.model(options.model.as_ref())?,
        false => None,
    };
    let named = chosen.as_ref();
    let own = named.map(|(named, settings)| move || Own::open(named.clone(), settings, &home));
    let server = context.server()?;
    let agent_id = context.agent_id(Role::Principal)?;
    let bounty = context.bounty(options.bounty.as_ref())?;
    let market = (is_free || options.market).then(|| AtMarket {
        url: &server.value,
        is_named: options.market || server.source != Source::Default,
        bounty,
        agent_id: agent_id.as_deref(),
        party: &party,
    });
    let ways = Ways {
        // `--model rules` names the rules.
        rules: options.local || is_free || (options.model.is_some() && named.is_none()),
        model: own.as_ref().map(|own| own as &dyn Fn() -> zx1_principal::Result<Own>),
        market,
    };
    session.find(&ways, options.dry_run)
}
