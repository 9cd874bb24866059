//! The command `nano-escrow`: Nano keys, blocks, work and escrow for people and scripts.

fn main() -> std::process::ExitCode {
    nano_escrow::cli::main()
}
