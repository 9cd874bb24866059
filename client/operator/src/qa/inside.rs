//! This program as a tool, inside of a sandbox.

use super::tools::ARGUMENT;
use super::version::of_this_program;
use super::{attack, decode};
use std::io::Read as _;
use zx1_market::Json;
use zx1_qa::observation::Observation;
use zx1_qa::repro::Repro;

/// Longest request in bytes.
const LONGEST: u64 = 1 << 20;
/// Exit code of a call that works.
const WORKS: i32 = 0;
/// Exit code of a call that fails as reported.
const FAILS: i32 = 10;
/// Exit code of a call that cannot run.
const NOT_RUNNABLE: i32 = 11;

/// Becomes the sandbox's helper, or a tool, if this process was started as one, and does not return then. Call it in the
/// first line of `main`, before threads exist.
///
/// With a line as second argument the exit code is the answer: 0 it works, 10 it fails, 11 it cannot run. Without one the
/// call comes as JSON on standard input, and the answer is an observation on standard output.
pub fn main_if_asked() {
    zx1_sandbox::helper_main_if_asked();
    // Any bytes may stand on a command line.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|word| word != ARGUMENT) {
        return;
    }
    let exit = match arguments.next().map(|line| line.to_string_lossy().into_owned()) {
        Some(line) => match Repro::parse(&line).ok().and_then(|call| answer(&call, None)) {
            Some(answer) => {
                say(&answer);
                if answer.ok { WORKS } else { FAILS }
            }
            None => NOT_RUNNABLE,
        },
        None => match request() {
            Some((call, evidence)) => match answer(&call, evidence.as_deref()) {
                Some(answer) => {
                    say(&answer);
                    WORKS
                }
                None => NOT_RUNNABLE,
            },
            None => NOT_RUNNABLE,
        },
    };
    std::process::exit(exit);
}

fn request() -> Option<(Repro, Option<Vec<u8>>)> {
    let mut bytes = Vec::new();
    std::io::stdin().take(LONGEST).read_to_end(&mut bytes).ok()?;
    let json = Json::parse(&bytes).ok()?;
    let call = Repro::parse(json.get("call")?.as_str()?).ok()?;
    let evidence = match json.get("evidence") {
        Some(text) => Some(hex::decode(text.as_str()?).ok()?),
        None => None,
    };
    Some((call, evidence))
}

fn answer(call: &Repro, evidence: Option<&[u8]>) -> Option<Observation> {
    match call.tool().name {
        "qa_decode" => Some(decode::answer(call, evidence)),
        "qa_attack" => Some(attack::answer(call)),
        _ => None,
    }
}

fn say(answer: &Observation) {
    use std::io::Write as _;
    let answer = Observation { version: of_this_program().to_owned(), ..answer.clone() };
    let _ = writeln!(std::io::stdout(), "{}", answer.json().canonical());
}
