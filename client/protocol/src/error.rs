//! How this crate's errors speak: plain `Copy` enums on chain, full sentences under feature `std`.

/// Gives an error enum its sentences. Without `std` it expands to nothing, so a program carries no text
/// and maps the variants to its own numbers (decision B15).
macro_rules! sentences {
    ($error:ty { $($pattern:pat => $($text:expr),+;)+ }) => {
        #[cfg(feature = "std")]
        impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $($pattern => write!(f, $($text),+),)+
                }
            }
        }

        #[cfg(feature = "std")]
        impl std::error::Error for $error {}
    };
}

/// [`sentences`] with a stable number before each sentence, for refusals that a person may see: implements
/// [`zx1_coded::Coded`].
macro_rules! numbered {
    ($error:ident { $(
        $code:literal Self::$name:ident $({ $($field:ident),* })? $(( $($inner:ident),* ))? =>
            $message:literal $(, $argument:expr)*;
    )+ }) => {
        #[cfg(feature = "std")]
        impl $error {
            /// The numbers of this type.
            pub const ROWS: &'static [zx1_coded::Row] = &[$(
                zx1_coded::Row {
                    code: $code,
                    name: stringify!($name),
                    message: $message,
                    transient: Some(false),
                },
            )+];

            /// The stable number of this error, as `docs/errors.md` lists it.
            pub fn code(&self) -> u32 {
                match self {
                    $(Self::$name { .. } => $code,)+
                }
            }
        }

        #[cfg(feature = "std")]
        impl zx1_coded::Coded for $error {
            fn code(&self) -> u32 {
                Self::code(self)
            }

            fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)+
                }
            }
        }

        $crate::error::sentences!($error {
            $(Self::$name $({ $($field),* })? $(( $($inner),* ))? => $message $(, $argument)*;)+
        });
    };
}

pub(crate) use numbered;
pub(crate) use sentences;
