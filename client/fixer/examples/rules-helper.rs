//! A program that can be its own sandbox helper: the first line of its `main`. The tests use it as the helper of
//! their sandboxes.

fn main() {
    zx1_sandbox::helper_main_if_asked();
    eprintln!("This program is the sandbox's helper for tests; it does nothing by itself.");
}
