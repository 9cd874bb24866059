//! Files that a principal attaches so that a judge can run the command again (decisions E2, E6).

use std::path::{Component, Path};

use crate::canonical::Json;
use crate::defaults::{MAX_INPUT_BYTES, MAX_INPUT_PATH, MAX_WORD};
use crate::fields::{Builder, Fields};
use crate::{Reason, Refusal, Result};

/// One file. Its path is relative to the folder in which the command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// With `/` between its parts.
    pub path: String,
    /// The bytes, scrubbed.
    pub content: Vec<u8>,
    /// Whether it may be run.
    pub executable: bool,
}

impl InputFile {
    /// Read `{"path", "content", "encoding"?: "utf-8" | "hex", "executable"?}`.
    pub(super) fn read(json: &Json) -> Result<InputFile> {
        let mut f = Fields::of(json, "contract.task.inputs")?;
        let path = f.filled("path", MAX_INPUT_PATH)?;
        check_path(&path)?;
        let text = f.text("content", MAX_INPUT_BYTES * 2)?;
        let encoding = || Refusal::with(Reason::ContractInputEncoding, &path);
        let content = match f.opt_text("encoding", MAX_WORD)? {
            None | Some("utf-8") => text.as_bytes().to_vec(),
            Some("hex") => hex::decode(text).map_err(|_| encoding())?,
            Some(_) => return Err(encoding()),
        };
        let executable = f.flag_or("executable", false)?;
        f.done()?;
        Ok(InputFile { path, content, executable })
    }

    /// As it stands in the contract: text as text, everything else in hexadecimal digits.
    pub(super) fn to_json(&self) -> Json {
        let b = Builder::new().put("path", self.path.as_str());
        let b = match std::str::from_utf8(&self.content) {
            Ok(text) => b.put("content", text),
            Err(_) => b.put("content", hex::encode(&self.content)).put("encoding", "hex"),
        };
        b.opt("executable", self.executable.then_some(true)).build()
    }
}

/// Inside the folder, spelled in one way only.
fn check_path(path: &str) -> Result<()> {
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let plain = !path.contains(['\\', '\0', '\n', '\r'])
        && !path.ends_with('/')
        && !path.split('/').any(|part| part.is_empty() || part == "." || part == "..");
    if inside && plain { Ok(()) } else { Err(Refusal::with(Reason::ContractInputPath, path)) }
}

/// All files together: no path twice, not too many bytes.
pub(super) fn check(inputs: &[InputFile]) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    let mut bytes = 0_usize;
    for input in inputs {
        if !seen.insert(&input.path) {
            return Err(Refusal::with(Reason::ContractInputTwice, &input.path));
        }
        bytes = bytes.saturating_add(input.content.len());
    }
    if bytes > MAX_INPUT_BYTES {
        return Err(Refusal::with(Reason::ContractInputSize, bytes));
    }
    Ok(())
}
