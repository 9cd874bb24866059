//! Finding and reading the built programs.

use std::path::{Path, PathBuf};

use solana_address::Address;
use zx1_fixtures::{PROGRAMS, STAND_INS};

use crate::LocalnetError;

/// A program to put on the chain.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) address: Address,
    pub(crate) file: PathBuf,
    pub(crate) elf: Vec<u8>,
}

/// The folder of the built programs: the one that is named, else `$ZX1_DEPLOY_DIR`, else `deploy` beside
/// the build profile's folder that this program runs from (`target/debug/..` and `target/debug/deps/..`).
/// It is where the first program is; none is error 9800.
pub(crate) fn folder(named: Option<&Path>) -> Result<PathBuf, LocalnetError> {
    let first = file_name(PROGRAMS[0].0);
    let mut candidates = Vec::new();
    if let Some(named) = named {
        candidates.push(named.to_path_buf());
    } else if let Some(named) = std::env::var_os("ZX1_DEPLOY_DIR") {
        candidates.push(named.into());
    } else {
        let executable = std::env::current_exe().and_then(|file| file.canonicalize()).unwrap_or_default();
        candidates.extend(executable.ancestors().skip(1).take(4).map(|folder| folder.join("deploy")));
        candidates.push(PathBuf::from("target/deploy"));
    }
    candidates.iter().find(|folder| folder.join(&first).is_file()).cloned().ok_or_else(|| {
        // Of the places that were tried, the one that a build would fill is the last in both cases.
        let folder = candidates.pop().unwrap_or_default();
        LocalnetError::ProgramsMissing { missing: first, folder }
    })
}

/// Reads all seven programs.
pub(crate) fn read(folder: &Path) -> Result<Vec<Program>, LocalnetError> {
    PROGRAMS
        .iter()
        .chain(&STAND_INS)
        .map(|(name, id)| {
            let file = folder.join(file_name(name));
            let elf = std::fs::read(&file).map_err(|_| LocalnetError::ProgramsMissing {
                missing: file_name(name),
                folder: folder.to_path_buf(),
            })?;
            Ok(Program { name, address: Address::new_from_array(*id), file, elf })
        })
        .collect()
}

fn file_name(name: &str) -> String {
    format!("{name}.so")
}
