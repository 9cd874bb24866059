//! The binary: everything is in the library, so that tests and documentation reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The sandbox makes its namespaces in a single-threaded copy of this program.
    zx1_sandbox::helper_main_if_asked();
    fix_cli::run(std::env::args_os())
}
