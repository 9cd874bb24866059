//! Runs every instruction of the five programs on its usual path and writes what it costs to
//! `programs/COMPUTE_UNITS.md`. `--check` compares with the committed file instead (see
//! `scripts/compute-units`).
#![allow(clippy::unwrap_used)]

#[path = "compute-units/challenges.rs"]
mod challenges;
#[path = "compute-units/evidence.rs"]
mod evidence;
#[path = "compute-units/layouts.rs"]
mod layouts;
#[path = "compute-units/measure.rs"]
mod measure;
#[path = "compute-units/report.rs"]
mod report;
#[path = "compute-units/stakes.rs"]
mod stakes;
#[path = "compute-units/texts.rs"]
mod texts;

use std::{fs, path::Path, process::ExitCode};

use measure::Bench;
use zx1_vm_tests::World;

const FILE: &str = "programs/COMPUTE_UNITS.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("zx1: error: compute-units knows --check and nothing else.");
            return ExitCode::from(2);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (rows, units_per_step) = measured();
    let report = report::render(&rows, units_per_step, &report::versions(&root));
    let path = root.join(FILE);
    if !check {
        if let Err(error) = fs::write(&path, report) {
            eprintln!("zx1: error: {} cannot be written: {error}.", path.display());
            return ExitCode::FAILURE;
        }
        eprintln!("zx1: wrote {FILE}");
        return ExitCode::SUCCESS;
    }
    let Ok(committed) = fs::read_to_string(&path) else {
        eprintln!("zx1: error: there is no {FILE}. Run scripts/compute-units to write it.");
        return ExitCode::FAILURE;
    };
    match report::compare(&committed, &report) {
        report::Verdict::Same => {
            eprintln!("zx1: {FILE} holds");
            ExitCode::SUCCESS
        }
        report::Verdict::OtherTools => {
            eprintln!("zx1: {FILE} was measured with other tools, so it cannot be compared here");
            ExitCode::SUCCESS
        }
        report::Verdict::Differs(rows) => {
            rows.iter().for_each(|row| println!("{row}"));
            eprintln!(
                "zx1: error: {} rows of {FILE} are not what is measured. Run scripts/compute-units.",
                rows.len()
            );
            ExitCode::FAILURE
        }
    }
}

/// Every case, each in a fork of the same world, so that adding one changes no other's figures; and what
/// a bump that does not fit costs.
fn measured() -> (Vec<measure::Row>, u64) {
    let mut rows = Vec::new();
    let mut world = World::new();
    rows.extend(Bench::run(&world, stakes::configuration));
    world.init_config();
    world.treasury_usdc();
    for part in [
        stakes::listing,
        stakes::locking,
        stakes::unlocking,
        stakes::leasing,
        stakes::logging,
        challenges::drafting,
        challenges::sealing_all,
        challenges::submitting,
        challenges::answering,
        challenges::resolving,
        challenges::asking,
        texts::submitting,
        texts::drafting,
        texts::resolving,
    ] {
        rows.extend(Bench::run(&world, part));
    }
    (measure::in_order(rows), challenges::units_per_step(&world))
}
