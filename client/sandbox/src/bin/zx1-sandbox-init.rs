//! The sandbox's helper as a program of its own, for programs whose `main` is not theirs.

fn main() {
    zx1_sandbox::helper_main_if_asked();
    eprintln!("zx1-sandbox-init is started by programs that use the sandbox, not by hand");
    std::process::exit(2);
}
