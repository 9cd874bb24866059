//! Writes the account lists of the instructions from the committed IDLs, so that order and flags stand in one
//! place.

use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const PROGRAMS: [&str; 5] = ["stake_lock", "lease", "behavior_log", "challenge", "feedback_log"];

/// The address of an account that is the same in every call; `OWN` is the program itself.
fn fixed(program: &str, account: &str) -> Option<&'static str> {
    Some(match account {
        "config" => "pda::config()",
        "program_data" => "pda::program_data(OWN)",
        "event_authority" => "pda::event_authority(OWN)",
        "program" => "program(OWN)",
        "token_program" => "program(ids::TOKEN)",
        "system_program" => "program(ids::SYSTEM)",
        "instructions" => "program(ids::INSTRUCTIONS_SYSVAR)",
        "stake_lock_program" => "program(ids::STAKE_LOCK)",
        "stake_lock_events" => "pda::event_authority(ids::STAKE_LOCK)",
        "behavior_log_program" => "program(ids::BEHAVIOR_LOG)",
        "behavior_log_events" => "pda::event_authority(ids::BEHAVIOR_LOG)",
        "incinerator" => "program(ids::INCINERATOR)",
        "challenge_authority" if program == "challenge" => "pda::challenge_authority()",
        "feedback_log" => "pda::feedback_log()",
        _ => return None,
    })
}

fn camel(name: &str) -> String {
    let word =
        |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect();
    name.split('_').map(word).collect::<Vec<String>>().concat()
}

fn write(out: &mut String, program: &str, instruction: &Value) -> Option<()> {
    let name = instruction["name"].as_str()?;
    let camel = camel(name);
    let own = format!("data::{camel}::PROGRAM");
    let (mut fields, mut metas) = (String::new(), String::new());
    for account in instruction["accounts"].as_array()? {
        let name = account["name"].as_str()?;
        let flag = |flag: &str| account[flag] == true;
        // Challenge's authority signs for a call of another program only, which the IDL does not say.
        let is_signer = flag("signer") || (program != "challenge" && name == "challenge_authority");
        let (ty, address) = match fixed(program, name) {
            Some(address) => (None, address.replace("OWN", &own)),
            // Anchor's sign for an optional account that is not given is the program itself.
            None if flag("optional") => (Some("Option<Address>"), format!("self.{name}")),
            None => (Some("Address"), format!("self.{name}")),
        };
        if let Some(ty) = ty {
            writeln!(fields, "    pub(super) {name}: {ty},").ok()?;
        }
        let make = if flag("optional") { "optional" } else { "meta" };
        let of = if flag("optional") { format!(", {own}") } else { String::new() };
        writeln!(metas, "            {make}({address}{of}, {is_signer}, {}),", flag("writable")).ok()?;
    }
    write!(
        out,
        "/// The accounts of `{name}`.\npub(super) struct {camel} {{\n{fields}}}\n\nimpl {camel} {{\n    \
         /// The instruction with these accounts.\n    \
         pub(super) fn with(self, data: &data::{camel}) -> Instruction {{\n        \
         instruction(data, vec![\n{metas}        ])\n    }}\n}}\n\n"
    )
    .ok()
}

fn main() {
    let mut out = String::new();
    for program in PROGRAMS {
        let path = Path::new("../../programs/idl").join(format!("zx1_{program}.json"));
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let idl: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for instruction in idl["instructions"].as_array().into_iter().flatten() {
            write(&mut out, program, instruction)
                .unwrap_or_else(|| panic!("{}: {instruction}", path.display()));
        }
    }
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("accounts.rs"), out).expect("OUT_DIR can be written to");
}
