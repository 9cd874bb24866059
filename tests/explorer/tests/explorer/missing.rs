//! A machine without a browser.

use std::process::Command;
use zx1_explorer_tests::{CHROMIUM, find};

#[test]
fn without_a_browser_the_tests_fail_and_name_the_set_up() {
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args(["--exact", "keyboard::the_mouse_sorts_turns_pages_and_follows_links"]);
    let output = this.env("PATH", "/nowhere").env_remove(CHROMIUM).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("1 failed") && said.contains("Run scripts/setup, or name"), "{said}");

    let refusal = find(Some("/nowhere/chromium".into()), None).unwrap_err();
    assert!(refusal.contains(CHROMIUM) && refusal.contains("/nowhere/chromium"), "{refusal}");
    // One that is named wins over those on the PATH.
    let named = std::env::current_exe().unwrap();
    assert_eq!(find(Some(named.clone().into()), std::env::var_os("PATH")), Ok(named));
}
