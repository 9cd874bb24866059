//! `fix hook`: lets a shell remember its last failed command. The hook is made of the shell's own words, so
//! no process is started at a prompt; it writes only after a command that failed.
//!
//! The file is `last/<the shell's process id>` in fix's folder: exit code, folder, then the command, each
//! ended by a NUL byte. It is written over, not cut first: filesystems wait for the disk when a file is cut
//! and written anew. What stands behind the third NUL byte is left of an earlier record.

use crate::context::Context;
use crate::errors::Result;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use zx1_cli_common::{files, output};
use zx1_principal::{Refusal, command};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  eval \"$(fix hook bash)\"        in ~/.bashrc
  eval \"$(fix hook zsh)\"         in ~/.zshrc
  fix hook fish | source         in ~/.config/fish/config.fish

Then: fix it.";

/// Longest record that is read, in bytes.
const LIMIT: u64 = 1 << 16;
/// Records of shells that are older than this are removed.
const OLD: Duration = Duration::from_secs(7 * 86_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shell {
    /// bash 4 or later
    Bash,
    Zsh,
    Fish,
}

/// Arguments of `fix hook`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Shell to print the hook for
    shell: Shell,
}

const BASH: &str = r#"# fix: remembers the last command that failed, for fix it.
__fix_hook() {
  local code=$? text
  if [ "$code" -ne 0 ]; then
    { HISTTIMEFORMAT= builtin history 1; builtin printf '\0'; } 1<> "$__fix_last.new" 2>/dev/null
    IFS= read -r -d '' text < "$__fix_last.new"
    text=${text#"${text%%[![:space:]]*}"}; text=${text#*[0-9]  }; text=${text%$'\n'}
    case $text in
      ''|fix|fix\ *) ;;
      *) builtin printf '%s\0%s\0%s\0' "$code" "$PWD" "$text" 1<> "$__fix_last" 2>/dev/null ;;
    esac
  fi
  return "$code"
}
__fix_last=@FOLDER@/$$
case ";${PROMPT_COMMAND[*]-};" in
  *__fix_hook*) ;;
  *) PROMPT_COMMAND="__fix_hook${PROMPT_COMMAND:+; $PROMPT_COMMAND}" ;;
esac
"#;

const ZSH: &str = r#"# fix: remembers the last command that failed, for fix it.
__fix_preexec() { __fix_text=$1 }
__fix_precmd() {
  local code=$?
  if (( code )) && [[ -n $__fix_text && $__fix_text != fix && $__fix_text != 'fix '* ]]; then
    builtin printf '%s\0%s\0%s\0' $code "$PWD" "$__fix_text" 1<> "$__fix_last" 2>/dev/null
  fi
  __fix_text=
  return $code
}
__fix_last=@FOLDER@/$$
typeset -ga preexec_functions precmd_functions
(( ${preexec_functions[(I)__fix_preexec]} )) || preexec_functions+=(__fix_preexec)
(( ${precmd_functions[(I)__fix_precmd]} )) || precmd_functions=(__fix_precmd $precmd_functions)
"#;

const FISH: &str = r#"# fix: remembers the last command that failed, for fix it.
set -g __fix_last @FOLDER@/$fish_pid
function __fix_postexec --on-event fish_postexec
  set -l code $status
  if test $code -ne 0 -a -n "$argv[1]"
    if not string match -qr '^\s*fix(\s|$)' -- $argv[1]
      printf '%s\0%s\0%s\0' $code $PWD "$argv[1]" > $__fix_last 2>/dev/null
    end
  end
end
"#;

/// Prints the hook.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let folder = context.place("last")?;
    files::make_private_folder(&folder)?;
    forget_old(&folder);
    let template = match args.shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
    };
    let folder = folder.to_str().ok_or(Refusal::NotUtf8)?;
    Ok(output::write_out(template.replace("@FOLDER@", &command::quoted(folder)).as_bytes())?)
}

/// Records of shells that are long gone.
fn forget_old(folder: &std::path::Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > OLD) {
            // Another shell may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The last failed command of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// The command's exit code.
    pub exit: u8,
    /// The folder in which the command ran.
    pub folder: PathBuf,
    /// The command line as it was typed.
    pub line: String,
}

/// What the hook of the shell that started fix remembers.
///
/// # Errors
/// 9506, 9508.
pub fn last(context: &Context) -> Result<Option<Last>> {
    let Some(shell) = rustix::process::getppid() else { return Ok(None) };
    let path = context.place("last")?.join(shell.as_raw_nonzero().to_string());
    let bytes = files::read_limited(&path, LIMIT)?;
    Ok(bytes.and_then(|bytes| parse(&bytes)))
}

fn parse(bytes: &[u8]) -> Option<Last> {
    let mut parts = bytes.split(|byte| *byte == 0);
    let exit = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let folder = PathBuf::from(OsStr::from_bytes(parts.next()?));
    let line = std::str::from_utf8(parts.next()?).ok()?.trim().to_owned();
    (!line.is_empty()).then_some(Last { exit, folder, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_and_a_torn_one_is_none() {
        let last = Last { exit: 2, folder: "/a b".into(), line: "make\nall".into() };
        assert_eq!(parse(b"2\0/a b\0make\nall\0"), Some(last));
        for torn in [&b""[..], b"2", b"2\0/a", b"x\0/a\0make\0", b"2\0/a\0 \0", b"999\0/a\0b\0"] {
            assert_eq!(parse(torn), None);
        }
    }
}
