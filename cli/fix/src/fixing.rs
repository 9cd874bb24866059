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
use zx1_principal::{Ended, Failed, Options, Refusal, Role, Session};

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

fn find(mut session: Session<'_>, options: &Fixing, context: &Context) -> Result<Ended> {
    let screen = context.screen(options.explain);
    if options.local {
        let ended = session.fix_locally(options.dry_run)?;
        if options.dry_run {
            screen.step("dry_run", json!({}), "Nothing was changed: this was a dry run.");
        }
        return Ok(ended);
    }
    let party = || context.party(Role::Principal, &Ledger::default());
    if !options.dry_run
        && let Some(held) = session.unfinished()?
    {
        return Ok(session.resume(&party()?, held)?);
    }
    let payload = session.gather(context.bounty(options.bounty.as_ref())?)?;
    let server = context.server()?.value;
    if options.dry_run {
        let money = payload.bounty.map_or("free".to_owned(), |bounty| format!("bounty {} XNO", bounty.xno()));
        let agent = context.agent_id(Role::Principal)?;
        Terminal::new(context, options.explain).offer(&payload, agent.as_deref(), &server, &money);
        let data = json!({ "command": payload.command, "error": payload.error, "server": server });
        screen.step("dry_run", data, "Nothing was sent: this was a dry run.");
        return Ok(Ended::AsBefore);
    }
    Ok(session.offer(&party()?, &server, &payload)?)
}
