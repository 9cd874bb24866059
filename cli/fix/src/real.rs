//! Commands on this machine, outside of any sandbox.

use crate::context::Context;
use crate::errors::Result;
use crate::interrupt::CtrlC;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use zx1_principal::command::{self, Ran, Stream};

/// A line as words.
pub fn for_shell(line: &str) -> Vec<OsString> {
    ["/bin/sh", "-c", line].map(OsString::from).into()
}

/// Runs a command on this machine as its user would: with the streams of this process, and Ctrl+C is its own.
///
/// # Errors
/// 9541.
pub fn for_real(words: &[OsString], folder: &Path, context: &Context, watch: &CtrlC) -> Result<Ran> {
    // Where programs read our standard output, the command's goes to standard error.
    let json = context.format().is_json();
    let terminal = (json || io::stdout().is_terminal()) && io::stderr().is_terminal();
    watch.leave_to_others(true);
    let ran = command::run(words, folder, terminal, &mut |stream, piece| {
        // Whether anybody reads is the command's concern, not ours.
        let _ = match stream {
            Stream::Out if !json => {
                let mut out = io::stdout().lock();
                out.write_all(piece).and_then(|()| out.flush())
            }
            _ => io::stderr().lock().write_all(piece),
        };
    });
    watch.leave_to_others(false);
    Ok(ran?)
}
