//! Git's hook for the broker, the native jail's helper, and a bridge from standard input and output to the broker's
//! socket.

fn main() -> std::process::ExitCode {
    zx1_sandbox::helper_main_if_asked();
    zx1_capsule::helper::main()
}
