//! The binary: everything is in the library, so that tests reach it.

fn main() -> std::process::ExitCode {
    nano_cli::main()
}
