//! Which commands an agent may run here: the whitelist's grammar, and paths inside the allowed roots
//! (decision E9).

use std::path::{Component, Path, PathBuf};

use zx1_whitelist::{Command, Investigation, Refusal, check_paths};

/// Folders of the system that hold programs. What a user has configured or keeps elsewhere is nobody's business.
pub(crate) const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix"];

/// The repository that a folder belongs to. A home folder that is a repository is a home folder all the same.
pub(crate) fn repository(folder: &Path) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let repository = folder.ancestors().find(|above| above.join(".git").exists());
    let outer = |above: &&Path| home.as_deref().is_none_or(|home| !home.starts_with(above));
    repository.filter(outer).filter(|above| *above != folder && above.parent().is_some()).map(Path::to_owned)
}

/// The folders in which an agent may look: the working folder, the repository that it belongs to, the
/// system's.
pub fn roots(folder: &Path) -> Vec<PathBuf> {
    let mut roots = vec![folder.to_owned()];
    roots.extend(repository(folder));
    for system in SYSTEM {
        let system = Path::new(system);
        roots.push(system.to_owned());
        roots.extend(system.canonicalize().ok().filter(|real| real != system));
    }
    roots
}

/// Checks a command's words, and where its paths lead. Nothing is run.
///
/// # Errors
/// The whitelist's refusals, with the word or the path that is refused.
pub fn check_investigation(line: &str, folder: &Path) -> Result<Investigation, Refusal> {
    let checked = Command::parse(line)?;
    let mut resolved: Vec<PathBuf> = checked.paths.iter().map(|path| resolve(folder, &path.path)).collect();
    // Without a path a program reads the working folder.
    resolved.push(folder.to_owned());
    check_paths(&roots(folder), &resolved)?;
    Ok(checked)
}

/// A path with its links followed as far as it exists, and without `.` and `..`.
fn resolve(folder: &Path, path: &str) -> PathBuf {
    let joined = folder.join(path);
    if let Ok(real) = joined.canonicalize() {
        return real;
    }
    let mut at = PathBuf::new();
    let mut exists = true;
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                at.pop();
            }
            part => at.push(part),
        }
        if exists {
            match at.canonicalize() {
                Ok(real) => at = real,
                Err(_) => exists = false,
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_does_not_lead_out_of_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let folder = outer.join("work");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(outer.join("secret"), "s").unwrap();
        std::fs::write(folder.join("m.c"), "int main;").unwrap();
        std::os::unix::fs::symlink("../secret", folder.join("link")).unwrap();
        std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
        assert!(check_investigation("cat m.c", &folder).is_ok());
        assert!(check_investigation("cat ./none/../m.c", &folder).is_ok());
        for line in
            ["cat link", "cat ../secret", "cat up/secret", "cat up/none", "ls ..", "cat none/../../secret"]
        {
            let refused = check_investigation(line, &folder).unwrap_err();
            assert!((9150..9200).contains(&refused.code()), "{refused:?}");
        }
    }

    #[test]
    fn the_repository_around_the_folder_may_be_read_and_secrets_may_not() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let folder = outer.join("a/b");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir(outer.join(".git")).unwrap();
        std::fs::write(outer.join("Makefile"), "all:").unwrap();
        assert!(check_investigation("cat ../../Makefile", &folder).is_ok());
        assert!(check_investigation("cat /usr/include/math.h", &folder).is_ok());
        for line in [
            "cat ../../.env",
            "cat /etc/shadow",
            "cat /etc/fstab",
            "cat /proc/1/environ",
            "ls /opt",
            "cat ~/.ssh/id_ed25519",
            "rm x",
            "ls; ls",
        ] {
            assert!(check_investigation(line, &folder).is_err(), "{line}");
        }
    }
}
