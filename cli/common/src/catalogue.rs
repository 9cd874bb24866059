//! The catalogue of a command line's refusals, as a macro: so `Failure` belongs to the command line, which
//! can convert its libraries' errors into it.

/// Defines `Error` (numbered refusals: number, exit code, name, fields, message, next step), `Failure` (a
/// refusal as people and scripts see it), `Result`, and the conversions between them and from
/// [`crate::Fault`].
///
/// What all command lines refuse is written here; each gives its numbers, and in constants its words: `PROGRAM`,
/// `KEY_FILE` and `KEY_OPTION`, `KEY_NAME` (for example), `OTHER_KEY` (what to do about a bad one). Its own rows follow, among
/// them those of [`crate::Fault`]'s variants whose words differ: `Declined` and `KeyNotAFile`.
#[macro_export]
macro_rules! catalogue {
    (
        Usage $usage:literal, NeedsYes $needs_yes:literal, ClosedPipe $closed_pipe:literal,
        WriteFailed $write:literal, ReadFailed $read:literal, Exists $exists:literal,
        NeedsTerminal $terminal:literal, KeyMissing $missing:literal, KeyIsFolder $folder:literal,
        KeyNotJson $json:literal, KeyWrongLength $length:literal, KeyHalvesDiffer $halves:literal,
        KeyUnknownForm $form:literal, RandomFailed $random:literal, InputTooLarge $large:literal,
        ConfigMalformed $config:literal, CannotExecute $execute:literal;
        $($own:tt)*
    ) => { $crate::catalogue! { @rows
        $usage Usage Usage { message: String } "{message}" => "{PROGRAM} --help";
        $needs_yes Failure NeedsYes
            "Confirmation is required, and standard input is not a terminal." =>
            "run it in a terminal, or add --yes";
        $closed_pipe Failure ClosedPipe "Standard output was closed." => "";
        $write Failure WriteFailed { path: String, why: String } "{path} cannot be written: {why}." =>
            "check the folder's permissions and the free space";
        $read Failure ReadFailed { path: String, why: String } "{path} cannot be read: {why}." =>
            "check the path and its permissions";
        $exists Failure Exists { path: String }
            "{path} already exists, and {PROGRAM} overwrites nothing." =>
            "move it away, or give another path";
        $terminal Failure NeedsTerminal { what: String } "{what} must be typed in a terminal." =>
            "run it in a terminal";
        $missing Failure KeyMissing { path: String } "The {KEY_FILE} {path} does not exist." =>
            "{PROGRAM} init, or give another file with {KEY_OPTION}";
        $folder Failure KeyIsFolder { path: String } "{path} is a folder, not a {KEY_FILE}." =>
            "give the file in it, for example {path}/{KEY_NAME}";
        $json Failure KeyNotJson { path: String, why: String }
            "The {KEY_FILE} {path} is not a JSON array of 64 numbers: {why}." => "{OTHER_KEY}";
        $length Failure KeyWrongLength { path: String, found: usize }
            "The {KEY_FILE} {path} has {found} numbers; a Solana keypair has 64." => "{OTHER_KEY}";
        $halves Failure KeyHalvesDiffer { path: String }
            "The public key in {path} does not match its secret key: the file is damaged." => "{OTHER_KEY}";
        $form Failure KeyUnknownForm { path: String, found: u64 }
            "{path} ({found} bytes) is not a key file: expected a JSON array of 64 numbers, 32 raw bytes, or 64 \
             hexadecimal digits." =>
            "give another file with {KEY_OPTION}, or make a key with {PROGRAM} init";
        $random Failure RandomFailed { why: String }
            "The system's random number generator failed: {why}." => "try again";
        $large Failure InputTooLarge { what: String, size: u64, limit: u64 }
            "{what} is too large: {size} bytes, maximum {limit}." => "check that it is the right file";
        $config Failure ConfigMalformed { path: String, why: String }
            "The configuration {path} cannot be parsed: {why}." =>
            "correct the file, or move it away and run {PROGRAM} init";
        $execute Failure CannotExecute { program: String, why: String }
            "The program {program} cannot be executed: {why}." =>
            "install {program} beside {PROGRAM}, or in a folder of PATH";
        $($own)*
    } };
    (@rows $( $code:literal $exit:ident $name:ident $({ $($field:ident: $ty:ty),* })?
        $message:literal => $next:literal; )*) => {
        /// Result of a command.
        pub type Result<T, E = Failure> = std::result::Result<T, E>;

        /// An error as people and scripts see it.
        #[derive(Clone, Debug, serde::Serialize)]
        pub struct Failure {
            /// Stable number of the error.
            pub code: u32,
            /// Name of the error in CamelCase.
            pub name: String,
            /// Full sentences that say what is wrong.
            pub message: String,
            /// The command or the step that helps; `None` when there is none to name.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub next: Option<String>,
            /// Exit code of the process.
            #[serde(skip)]
            pub exit: $crate::Exit,
            /// The error, when it is one of this command line's own.
            #[serde(skip)]
            pub own: Option<Box<Error>>,
        }

        impl Failure {
            /// An error of a library under its own number and name, with the next step.
            pub fn of(error: &impl $crate::Coded, next: Option<impl Into<String>>) -> Self {
                let message = $crate::errors::sentence(&error.to_string());
                let (code, name) = (error.code(), error.name().to_owned());
                let next = next.map(Into::into);
                Self { code, name, message, next, exit: $crate::Exit::Failure, own: None }
            }

            /// Replaces the name of the error.
            #[must_use]
            pub fn named(mut self, name: &str) -> Self {
                name.clone_into(&mut self.name);
                self
            }

            /// Replaces the next step of the error.
            #[must_use]
            pub fn next(mut self, next: impl Into<String>) -> Self {
                // Some libraries write sentences; a next step is a command or begins small.
                let next = $crate::words::clause(&next.into());
                self.next = (!next.is_empty()).then_some(next);
                self
            }

            /// Answers a command line that does not parse: prints the help that it asked for, or says what is
            /// wrong with it.
            pub fn refuse(
                error: &clap::Error,
                tree: &clap::Command,
                arguments: &[std::ffi::OsString],
                format: $crate::output::Format,
            ) -> $crate::Exit {
                let message = match $crate::usage::help(error, format) {
                    Ok(None) => $crate::usage::in_words(error),
                    Ok(Some(exit)) => return exit,
                    Err(fault) => return Self::from(fault).exit,
                };
                let failure = Self::from(Error::Usage { message }).with_help_of(tree, arguments);
                failure.end(format)
            }

            /// Lets a usage error point to the help of the command that was typed.
            #[must_use]
            pub fn with_help_of(self, tree: &clap::Command, arguments: &[std::ffi::OsString]) -> Self {
                if self.name != "Usage" {
                    return self;
                }
                self.next(format!("{} --help", $crate::usage::path_of(tree, arguments)))
            }

            /// Whether standard output was closed by its reader, which does not count as a failure.
            pub fn is_closed_pipe(&self) -> bool {
                self.code == Error::ClosedPipe.code()
            }

            /// Ends the program with this error: on standard error and, in JSON, as the last line of standard
            /// output. The exit code.
            pub fn end(&self, format: $crate::output::Format) -> $crate::Exit {
                self.show(format);
                $crate::output::end_with_error(self, format);
                self.exit
            }

            /// Prints the error on standard error in the given format.
            pub fn show(&self, format: $crate::output::Format) {
                $crate::output::error(self.code, &self.message, self.next.as_deref(), self, format);
            }
        }

        /// The errors of this command line.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Error {
            $( #[doc = $message] $name $({ $(#[doc = stringify!($field)] $field: $ty),* })?, )*
        }

        impl Error {
            /// Numbers and names.
            pub const ALL: &'static [(u32, &'static str)] = &[$( ($code, stringify!($name)) ),*];

            /// Messages and next steps as they are written here, fields in braces, in the same order.
            pub const TEXTS: &'static [(&'static str, &'static str)] = &[$( ($message, $next) ),*];

            /// What stands in [`Self::TEXTS`] for this command line's own words.
            pub const WORDS: &'static [(&'static str, &'static str)] =
                &[("{PROGRAM}", PROGRAM), ("{KEY_FILE}", KEY_FILE)];

            /// Stable number of the error.
            pub fn code(&self) -> u32 {
                match self { $( Self::$name { .. } => $code, )* }
            }

            /// Name of the error in CamelCase.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$name { .. } => stringify!($name), )* }
            }

            /// The next step; empty when there is none.
            #[allow(unused_variables)]
            pub fn next(&self) -> String {
                match self { $( Self::$name $({ $($field),* })? => format!($next), )* }
            }

            fn exit(&self) -> $crate::Exit {
                match self { $( Self::$name { .. } => $crate::Exit::$exit, )* }
            }
        }

        impl std::fmt::Display for Error {
            #[allow(unused_variables)]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( Self::$name $({ $($field),* })? => write!(f, $message), )* }
            }
        }

        impl std::error::Error for Error {}

        impl From<Error> for Failure {
            fn from(error: Error) -> Self {
                Self {
                    code: error.code(),
                    name: error.name().to_owned(),
                    message: error.to_string(),
                    next: Some(error.next()).filter(|next| !next.is_empty()),
                    exit: error.exit(),
                    own: Some(Box::new(error)),
                }
            }
        }

        impl From<$crate::Fault> for Error {
            fn from(fault: $crate::Fault) -> Self {
                use $crate::Fault;
                match fault {
                    Fault::NeedsYes => Self::NeedsYes,
                    Fault::Declined => Self::Declined,
                    Fault::ClosedPipe => Self::ClosedPipe,
                    Fault::WriteFailed { path, why } => Self::WriteFailed { path, why },
                    Fault::ReadFailed { path, why } => Self::ReadFailed { path, why },
                    Fault::Exists { path } => Self::Exists { path },
                    Fault::NeedsTerminal { what } => Self::NeedsTerminal { what },
                    Fault::KeyMissing { path } => Self::KeyMissing { path },
                    Fault::KeyIsFolder { path } => Self::KeyIsFolder { path },
                    Fault::KeyNotJson { path, why } => Self::KeyNotJson { path, why },
                    Fault::KeyWrongLength { path, found } => Self::KeyWrongLength { path, found },
                    Fault::KeyHalvesDiffer { path } => Self::KeyHalvesDiffer { path },
                    Fault::KeyUnknownForm { path, found } => Self::KeyUnknownForm { path, found },
                    Fault::KeyNotAFile { path } => Self::KeyNotAFile { path },
                    Fault::ConfigMalformed { path, why } => Self::ConfigMalformed { path, why },
                    Fault::RandomFailed { why } => Self::RandomFailed { why },
                    Fault::CannotExecute { program, why } => Self::CannotExecute { program, why },
                    Fault::InputTooLarge { what, size, limit } => Self::InputTooLarge { what, size, limit },
                }
            }
        }

        impl From<$crate::Fault> for Failure {
            fn from(fault: $crate::Fault) -> Self {
                Error::from(fault).into()
            }
        }
    };
}
