//! The file, and comparing two of them.

use std::{fmt::Write, fs, path::Path, process::Command};

use zx1_interface::ids;
use zx1_vm_tests::{World, deploy_folder};

use crate::layouts;
use crate::measure::Row;

/// Names of the programs: as headings, as libraries.
const PROGRAMS: [(&str, &str, [u8; 32]); 5] = [
    ("StakeLock", "zx1_stake_lock", ids::STAKE_LOCK),
    ("Lease", "zx1_lease", ids::LEASE),
    ("BehaviorLog", "zx1_behavior_log", ids::BEHAVIOR_LOG),
    ("Challenge", "zx1_challenge", ids::CHALLENGE),
    ("FeedbackLog", "zx1_feedback_log", ids::FEEDBACK_LOG),
];
/// Most bytes of an ELF.
const ELF_BAR: u64 = 90_000;
/// Most CU of a case without the token program.
const BARS: [(&str, &str, u64); 9] = [
    ("lock_stake", "create", 6_500),
    ("submit_batch", "first", 6_500),
    ("submit_batch", "later", 6_500),
    ("seal_evidence", "bid, depth 20", 9_000),
    ("submit_challenge", "bid, with a rank", 8_000),
    ("seal_evidence", "double bid, depth 20", 11_000),
    ("submit_challenge", "double bid, with a rank", 9_000),
    ("resolve_challenge", "the era is slashed", 11_500),
    ("resolve_challenge", "the era is slashed, last", 11_500),
];
/// Accounts of an agent that are never closed.
const KEPT: [&str; 3] = ["TenureAccount", "LeaseAccount", "HeadAccount"];

const VERSION_LINES: [&str; 3] = ["- SBF tools: ", "- litesvm: ", "- rustc: "];

/// The versions that decide the figures, one line each, as the file's head has them.
pub(crate) fn versions(root: &Path) -> Vec<String> {
    let said = |command: &mut Command| {
        let output = command.output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        output.unwrap_or_else(|error| format!("unknown ({error})"))
    };
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    let litesvm = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"litesvm\"\n"))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .unwrap_or("unknown");
    let values = [
        said(Command::new(root.join("scripts/sbf/cargo-build-sbf")).arg("--version")),
        litesvm.to_owned(),
        said(Command::new("rustc").arg("--version")),
    ];
    VERSION_LINES.iter().zip(values).map(|(label, value)| format!("{label}{value}")).collect()
}

/// 1234567 as "1 234 567".
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// The whole file.
pub(crate) fn render(rows: &[Row], units_per_step: u64, versions: &[String]) -> String {
    let mut out = String::from(HEAD);
    out += &versions.join("\n");
    out += "\n";
    out += &NOTES.replace("STEP", &grouped(units_per_step));
    bars(&mut out, rows, units_per_step);
    for (name, _, program) in PROGRAMS {
        writeln!(out, "\n## {name}\n").unwrap();
        out += "| instruction | case | CU | without the token program | bump steps | transaction bytes | creates (bytes: lamports) |\n";
        out += "|---|---|--:|--:|--:|--:|---|\n";
        for row in rows.iter().filter(|row| row.program == program) {
            let created: Vec<String> = row
                .created
                .iter()
                .map(|(bytes, rent)| format!("{}: {}", grouped(*bytes as u64), grouped(*rent)))
                .collect();
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} |",
                row.instruction,
                row.case,
                grouped(row.units),
                grouped(row.own_units()),
                row.bump_steps,
                row.bytes.map_or_else(|| "by CPI".to_owned(), |bytes| grouped(bytes as u64)),
                if created.is_empty() { "–".to_owned() } else { created.join("; ") },
            )
            .unwrap();
        }
    }
    accounts(&mut out);
    out
}

fn bars(out: &mut String, rows: &[Row], units_per_step: u64) {
    *out += "\n## Bars\n\n| what | bar | figure | met |\n|---|--:|--:|---|\n";
    let mut line = |what: &str, bar: u64, figure: u64| {
        let met = if figure <= bar { "yes" } else { "**no**" };
        writeln!(out, "| {what} | {} | {} | {met} |", grouped(bar), grouped(figure)).unwrap();
    };
    for (_, library, _) in PROGRAMS {
        line(&format!("{library}.so, bytes"), ELF_BAR, elf_size(library));
    }
    for (instruction, case, bar) in BARS {
        let row = rows.iter().find(|row| row.instruction == instruction && row.case == case);
        let row = row.unwrap_or_else(|| panic!("{instruction}, {case} is not measured"));
        let what = format!("{instruction}: {case}, CU without the token program");
        line(&what, bar, row.first_bump_units(units_per_step));
    }
}

fn elf_size(library: &str) -> u64 {
    let path = deploy_folder().join(format!("{library}.so"));
    fs::metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).len()
}

fn accounts(out: &mut String) {
    let world = World::empty();
    *out += "\n## Accounts\n\n| account | program | bytes | rent (lamports) | variable tail |\n|---|---|--:|--:|---|\n";
    for layout in layouts::all() {
        let program =
            PROGRAMS.iter().find(|(_, _, id)| *id == layout.program).map_or("", |(name, _, _)| name);
        let tail = match layout.name {
            "EvidenceDraft" => "evidence, at most 8 192 bytes",
            "FeedbackEntry" | "FeedbackDraft" => "text, at most 2 048 bytes",
            _ => "–",
        };
        let rent = grouped(world.rent(layout.size));
        writeln!(out, "| {} | {program} | {} | {rent} | {tail} |", layout.name, layout.size).unwrap();
    }
    let vault = grouped(world.rent(zx1_chain::token::ACCOUNT_LEN));
    writeln!(out, "| vault of a shard | SPL Token | 165 | {vault} | – |").unwrap();
    let byte = world.rent(1) - world.rent(0);
    writeln!(out, "\nEvery byte of a tail adds {} lamports of rent.", grouped(byte)).unwrap();
    let rent =
        |name: &str| layouts::all().iter().find(|it| it.name == name).map_or(0, |it| world.rent(it.size));
    let kept: u64 = KEPT.iter().map(|name| rent(name)).sum();
    writeln!(
        out,
        "\nAn agent pays {} lamports of rent once that never come back (tenure, lease, head), and the first agent of a\n\
         shard those of shard and vault. What comes back: {} for each key, {} for each era's stake, {} for each batch\n\
         once its window is over, about two days: a batch a day for a year holds at most {} at a time.",
        grouped(kept),
        grouped(rent("KeyAccount")),
        grouped(rent("StakeLockAccount")),
        grouped(rent("BatchAccount")),
        grouped(3 * rent("BatchAccount")),
    )
    .unwrap();
}

const HEAD: &str = "# Compute units, transaction sizes, rent

Measured by `scripts/compute-units` in LiteSVM; do not edit. `scripts/compute-units --check` measures again
and fails when a figure differs by more than 2 %. It can compare only with the same tools:

";

const NOTES: &str = "
CU is the whole transaction's, with the Ed25519 check before it where there is one (the precompile reports
no units) and without compute-budget instructions. \"by CPI\" rows are the call alone, as the log gives it.
Addresses that a program derives from seeds are found by trying bumps from 255 down: every bump that does
not fit adds about STEP CU (measured), on average one for each address. The keys here are the same in
every run, so the figures are too; \"bump steps\" says how many such steps the created addresses of a row
took, a shard's vault included. Nobody pays for closed accounts: their rent comes back (decision B8).

The bars count what the code costs: CU less STEP for each bump step. 1 KB is 1 000 bytes.
";

/// What a comparison says.
pub(crate) enum Verdict {
    /// No figure differs by more than 2 %.
    Same,
    /// The tools' versions differ, so the figures need not be equal.
    OtherTools,
    /// The lines that differ, old and new.
    Differs(Vec<String>),
}

/// Compares the committed file with a new one.
pub(crate) fn compare(committed: &str, now: &str) -> Verdict {
    let versions = |text: &str| -> Vec<String> {
        let is_version = |line: &&str| VERSION_LINES.iter().any(|label| line.starts_with(label));
        text.lines().filter(is_version).map(str::to_owned).collect()
    };
    if versions(committed) != versions(now) {
        return Verdict::OtherTools;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (table_rows(committed), table_rows(now));
    let mut differing = Vec::new();
    for at in 0..old.len().max(new.len()) {
        let (was, is) = (old.get(at).copied().unwrap_or(""), new.get(at).copied().unwrap_or(""));
        if !alike(was, is) {
            differing.push(format!("- {was}\n+ {is}"));
        }
    }
    if differing.is_empty() { Verdict::Same } else { Verdict::Differs(differing) }
}

fn table_rows(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('|')).collect()
}

/// Whether two rows have the same words, and numbers that differ by at most 2 %.
fn alike(was: &str, is: &str) -> bool {
    let (old, new) = (words(was), words(is));
    old.len() == new.len()
        && old.iter().zip(&new).all(|(old, new)| match (old.parse::<u64>(), new.parse::<u64>()) {
            (Ok(old), Ok(new)) => old.abs_diff(new) * 50 <= old,
            _ => old == new,
        })
}

/// A row's words; digits that only a space groups are one number.
fn words(row: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut joins = false;
    for piece in row.split(' ') {
        let digits = piece.trim_end_matches([':', ';']);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match words.last_mut() {
            Some(last) if joins && is_number && digits.len() == 3 => last.push_str(digits),
            _ => words.push(digits.to_owned()),
        }
        joins = is_number && digits == piece;
    }
    words
}
