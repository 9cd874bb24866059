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

/// [`sentences`] with a stable number before each sentence, for refusals that a person may see.
#[cfg(feature = "std")]
macro_rules! numbered {
    ($error:ty { $($code:literal $pattern:pat => $($text:expr),+;)+ }) => {
        impl $error {
            /// The refusal's number; it never changes its meaning.
            #[allow(unused_variables)]
            pub fn code(&self) -> u16 {
                match self {
                    $($pattern => $code,)+
                }
            }
        }

        $crate::error::sentences!($error { $($pattern => $($text),+;)+ });
    };
}

#[cfg(feature = "std")]
pub(crate) use numbered;
pub(crate) use sentences;
