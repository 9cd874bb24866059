//! The catalogue of a command line's refusals, as a macro: so `Failure` belongs to the command line, which
//! can convert its libraries' errors into it.

/// Defines `Error` (numbered refusals: number, exit code, name, fields, message, next step), `Failure` (a
/// refusal as people and scripts see it), `Result`, and the conversions between them and from
/// [`crate::Fault`]. The macro's user lists at least the variants of that type.
#[macro_export]
macro_rules! catalogue {
    ($( $code:literal $exit:ident $name:ident $({ $($field:ident: $ty:ty),* })?
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

            /// Whether standard output was closed by its reader, which does not count as a failure.
            pub fn is_closed_pipe(&self) -> bool {
                self.code == Error::ClosedPipe.code()
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
            /// Numbers and names, ascending.
            pub const ALL: &'static [(u32, &'static str)] = &[$( ($code, stringify!($name)) ),*];

            /// Messages and next steps as they are written here, fields in braces, in the same order.
            pub const TEXTS: &'static [(&'static str, &'static str)] = &[$( ($message, $next) ),*];

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
