//! Tests that run themselves again in namespaces of their own: nothing that they mount or route touches the machine.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

/// Says to a test that it is inside.
const INSIDE: &str = "ZX1_TEST_IN_OWN_NAMESPACES";

/// True in the process that is inside. Outside, the test of this name is run again in namespaces of these kinds,
/// which are options of `unshare`; a script of the shell makes them ready.
#[track_caller]
pub fn is_inside(name: &str, kinds: &[&str], script: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut command = Command::new("unshare");
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        command.arg("--map-root-user");
    }
    command.args(kinds).args(["sh", "-c", &format!("set -e\n{script}\nexec \"$@\""), "sh"]);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", name, "--nocapture"]);
    let output = command.env(INSIDE, "1").stdin(Stdio::null()).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}
