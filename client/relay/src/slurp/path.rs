//! Which paths of an archive may be written.

use std::collections::HashSet;

use crate::{RelayError, Result};

/// Names that Windows keeps for devices, in lower case, with any extension.
const DEVICES: &[&str] = &[
    "con", "prn", "aux", "nul", "conin$", "conout$", "com1", "com2", "com3", "com4", "com5", "com6", "com7",
    "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Whether a path stays inside its folder on every system: relative, parts that are names.
///
/// # Errors
///
/// [`RelayError::Path`] says what is wrong, without the path.
pub fn check_path(path: &str) -> Result<()> {
    let no = |why| Err(RelayError::Path { why });
    if path.is_empty() || path.len() > 1_024 {
        return no("it is empty or longer than 1024 bytes");
    }
    if path.starts_with('/') || path.contains(['\\', ':']) {
        return no("it is absolute, or holds a backslash or a colon");
    }
    if path.chars().any(char::is_control) {
        return no("it holds control characters");
    }
    for part in path.split('/') {
        if part.is_empty() || part == "." || part == ".." {
            return no("a part of it is empty, . or ..");
        }
        if part.len() > 255 {
            return no("a part of it is longer than 255 bytes");
        }
        if part.ends_with(['.', ' ']) || part.starts_with(' ') {
            return no("a part of it begins with a space, or ends with a dot or a space");
        }
        let stem = part.split('.').next().unwrap_or(part).trim_end().to_lowercase();
        if DEVICES.contains(&stem.as_str()) {
            return no("a part of it is the name of a device");
        }
    }
    Ok(())
}

/// The paths of one archive: none twice, in any case, and no file where another one needs a folder.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    files: HashSet<String>,
    folders: HashSet<String>,
}

impl Paths {
    /// Takes one more.
    ///
    /// # Errors
    ///
    /// As [`check_path`], and [`RelayError::SameName`].
    pub fn take(&mut self, path: &str) -> Result<()> {
        check_path(path)?;
        let folded = path.to_lowercase();
        let parents = || folded.match_indices('/').filter_map(|(at, _)| folded.get(..at));
        let taken = self.folders.contains(&folded) || parents().any(|folder| self.files.contains(folder));
        if taken || self.files.contains(&folded) {
            return Err(RelayError::SameName);
        }
        self.folders.extend(parents().map(str::to_owned));
        self.files.insert(folded);
        Ok(())
    }
}
