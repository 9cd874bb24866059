//! The next step after an error of a library, by its number.

/// What helps after the error with this number; none where its sentence says all there is.
pub fn after(code: u32) -> Option<&'static str> {
    Some(match code {
        // The sandbox.
        9201 => {
            "raise user.max_user_namespaces or allow unprivileged user namespaces (in a container: run it with \
             them), or use `sudo fix`"
        }
        9202 => "install zx1-sandbox-init beside this program",
        9203 => "load the overlay module, or move the working tree to a local filesystem",
        9204 => "use `sudo fix` or a newer kernel",
        9205 => "a container that hides parts of /proc forbids it: run it with its /proc unmasked",
        9206 | 9207 => "enable it in the kernel, or in the container's profile",
        9208 => "this is not expected: please report it with this text",
        9209 => "start again",
        9210 | 9213 => "name another directory",
        9212 => "change the command",
        9220 => "discard the sandbox and start again",
        9221 => "look at the changes again and verify again",
        9222 => "look at the diff and agree to each kind, or discard (--yes never agrees to these)",
        9223 => "run it again in a new sandbox",
        9224 => "run it again with `sudo fix`",
        9225 => "make room and try again",
        9226 => "let the fix do without it",
        9227 => "change it by hand if you must",
        9228 => "let the fix make no files with holes, or raise the limit",
        9230 => "free the folder, or name another one",
        9231 | 9232 => "fix undo --list shows what can be undone",
        9233 => "move the file away first",
        9234 => "wait until the other process has ended",
        9235 => "remove the obstacle and start again",
        9240 => "write a name such as mirror.example.org or *.example.net",
        9241 => "try without network",
        _ => return None,
    })
}
