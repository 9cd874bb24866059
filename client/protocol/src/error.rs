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

pub(crate) use sentences;
