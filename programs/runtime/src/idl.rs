//! What Anchor's IDL build must learn from the interface's layouts, events and refusals: its own
//! attribute macros would need a second definition of each.

#[cfg(not(target_os = "solana"))]
mod host {
    use alloc::{boxed::Box, format, string::String, vec::Vec};
    use zx1_interface::{Error, Event, Field, Layout};

    fn bytes(discriminator: [u8; 8]) -> String {
        discriminator.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
    }

    fn text(words: &str) -> String {
        format!("\"{}\"", words.trim().replace('\\', "\\\\").replace('"', "\\\""))
    }

    fn fields(fields: &[Field]) -> String {
        let one = |field: &Field| {
            format!(
                "{{\"name\":\"{}\",\"docs\":[{}],\"type\":{}}}",
                field.name,
                text(field.doc),
                field.idl_type
            )
        };
        fields.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// An account's entry. Leaked: Anchor wants it to live for ever, and the IDL build ends soon.
    pub fn account_entry<T: Layout>() -> &'static str {
        Box::leak(
            format!("{{\"name\":\"{}\",\"discriminator\":[{}]}}", T::NAME, bytes(T::DISCRIMINATOR))
                .into_boxed_str(),
        )
    }

    /// An account's type.
    pub fn account_type<T: Layout>() -> &'static str {
        Box::leak(
            format!(
                "{{\"name\":\"{}\",\"docs\":[{}],\"serialization\":\"bytemuck\",\"repr\":{{\"kind\":\"c\"}},\"type\":{{\"kind\":\"struct\",\"fields\":[{}]}}}}",
                T::NAME,
                text(T::DOC),
                fields(T::FIELDS)
            )
            .into_boxed_str(),
        )
    }

    /// An event's block as the IDL build reads it.
    pub fn event<E: Event>() -> String {
        format!(
            "--- IDL begin event ---\n{{\"event\":{{\"name\":\"{0}\",\"discriminator\":[{1}]}},\"types\":[{{\"name\":\"{0}\",\"type\":{{\"kind\":\"struct\",\"fields\":[{2}]}}}}]}}\n--- IDL end event ---",
            E::NAME,
            bytes(E::DISCRIMINATOR),
            fields(E::FIELDS)
        )
    }

    /// The refusals' block as the IDL build reads it.
    pub fn errors() -> String {
        let one = |error: &Error| {
            format!(
                "{{\"code\":{},\"name\":\"{}\",\"msg\":{}}}",
                error.code(),
                error.name(),
                text(error.message())
            )
        };
        let all = Error::ALL.iter().map(one).collect::<Vec<_>>().join(",");
        format!("--- IDL begin errors ---\n[{all}]\n--- IDL end errors ---")
    }
}

#[cfg(not(target_os = "solana"))]
pub use host::*;

/// Prints a program's events and the refusals for the IDL build.
#[macro_export]
macro_rules! describe {
    ($($event:ident),* $(,)?) => {
        #[cfg(all(test, feature = "idl-build"))]
        mod __anchor_private_idl_of_interface {
            #[test]
            fn __anchor_private_print_idl_interface() {
                $( println!("{}", $crate::idl::event::<zx1_interface::events::$event>()); )*
                println!("{}", $crate::idl::errors());
            }
        }
    };
}
