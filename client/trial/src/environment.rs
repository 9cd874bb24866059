//! What a contract says of the machine on which its command failed.

use std::path::Path;

use zx1_market::contract::Environment;

/// Package managers that agents know.
const MANAGERS: &[&str] = &[
    "apt", "dnf", "yum", "zypper", "pacman", "apk", "brew", "nix", "pip3", "pip", "npm", "yarn", "pnpm",
    "cargo", "gem", "go", "mvn", "gradle", "composer", "conda", "uv",
];

/// This machine's system, shell and package managers.
pub fn environment() -> Environment {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let value = |name: &str| {
        let found = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().trim_matches('"').to_owned()
    };
    let os = std::env::consts::OS;
    let shell = std::env::var("SHELL").unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    Environment {
        os: if os == "linux" { "Linux".to_owned() } else { os.to_owned() },
        arch: std::env::consts::ARCH.to_owned(),
        distro: format!("{} {}", value("ID"), value("VERSION_ID")).trim().to_owned(),
        shell: Path::new(&shell).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        package_managers: MANAGERS.iter().filter(there).map(|name| (*name).to_owned()).collect(),
    }
}
