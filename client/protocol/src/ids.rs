//! Ids as types, so that an agent is not taken for a conversation, nor for the wallet that owns it.
//!
//! Each is bytes of a fixed length, and those bytes alone on the wire, on chain, in files and in columns. With
//! feature `std` each has one text form, which `Display` and `Debug` write, `FromStr` reads and `serde` uses
//! where a format is for people: base58 for what is a Solana address, else lower-case hex.
//!
//! A [`WalletKey`] is Solana's own type for an address, which has the same form. What only borrows from bytes
//! ([`crate::envelope::EnvelopeHeader`]) holds references to arrays; its methods name them. Functions that
//! programs call take arrays, as accounts hold them.

/// A newtype over bytes, with its name in sentences and its text form.
macro_rules! id {
    ($(#[$attribute:meta])* $name:ident, $len:literal, $what:literal, $form:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(not(feature = "std"), derive(Debug))]
        #[repr(transparent)]
        pub struct $name(pub [u8; $len]);

        impl $name {
            /// Bytes on the wire, on chain and in columns.
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }

        impl From<[u8; $len]> for $name {
            fn from(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }
        }

        impl From<$name> for [u8; $len] {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        #[cfg(feature = "std")]
        text::form!($name, $len, $what, $form);
    };
}

id!(
    /// An agent: the mint of the NFT that stands for it at a registry.
    AgentId, 32, "agent id", Base58
);
id!(
    /// Groups the messages of one negotiation.
    ConversationId, 16, "conversation id", Hex
);

/// The Ed25519 key of a wallet, or of its delegate: a Solana address.
#[cfg(feature = "std")]
pub use solana_address::Address as WalletKey;
#[cfg(feature = "std")]
pub use text::ParseIdError;

#[cfg(feature = "std")]
mod text {
    use super::AgentId;
    use core::fmt;
    use solana_address::Address;

    /// Text that is not an id of this kind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ParseIdError {
        pub(super) what: &'static str,
        pub(super) bytes: usize,
        pub(super) form: &'static str,
    }

    impl fmt::Display for ParseIdError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let Self { what, bytes, form } = self;
            write!(f, "invalid {what}: expected {bytes} bytes in {form}")
        }
    }

    impl std::error::Error for ParseIdError {}

    pub(super) struct Base58;

    impl Base58 {
        pub(super) const NAME: &str = "base58";

        pub(super) fn write(bytes: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Display::fmt(&Address::new_from_array(*bytes), f)
        }

        pub(super) fn read(text: &str) -> Option<[u8; 32]> {
            text.parse::<Address>().ok().map(|address| address.to_bytes())
        }
    }

    pub(super) struct Hex;

    impl Hex {
        pub(super) const NAME: &str = "hex";

        pub(super) fn write(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&hex::encode(bytes))
        }

        pub(super) fn read<const N: usize>(text: &str) -> Option<[u8; N]> {
            let mut bytes = [0; N];
            hex::decode_to_slice(text, &mut bytes).ok().map(|()| bytes)
        }
    }

    macro_rules! form {
        ($name:ident, $len:literal, $what:literal, $form:ident) => {
            impl core::fmt::Display for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    text::$form::write(&self.0, f)
                }
            }

            impl core::fmt::Debug for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    core::fmt::Display::fmt(self, f)
                }
            }

            impl core::str::FromStr for $name {
                type Err = ParseIdError;

                fn from_str(text: &str) -> Result<Self, ParseIdError> {
                    let invalid = ParseIdError { what: $what, bytes: $len, form: text::$form::NAME };
                    text::$form::read(text).map(Self).ok_or(invalid)
                }
            }

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    if to.is_human_readable() { to.collect_str(self) } else { self.0.serialize(to) }
                }
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    if !from.is_human_readable() {
                        return <[u8; $len]>::deserialize(from).map(Self);
                    }
                    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
                }
            }
        };
    }

    pub(super) use form;

    impl From<Address> for AgentId {
        fn from(address: Address) -> Self {
            Self(address.to_bytes())
        }
    }

    impl From<AgentId> for Address {
        fn from(agent: AgentId) -> Self {
            Self::new_from_array(agent.0)
        }
    }
}
