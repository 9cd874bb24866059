//! The binary: everything is in the library, so that tests and documentation reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    zx1_operator::qa::main_if_asked();
    zx1_cli::run(std::env::args_os())
}
