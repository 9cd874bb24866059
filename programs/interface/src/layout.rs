//! The macros that write an account, an event or an instruction down once: the Rust type, its
//! discriminator, and a description of its fields from which IDLs and `inspect` are made.

/// One field of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in snake case.
    pub name: &'static str,
    /// Its type as an Anchor IDL writes it (JSON).
    pub idl_type: &'static str,
    /// Meaning of the field, with its unit.
    pub doc: &'static str,
}

/// A fixed-size account: 8 bytes of discriminator, then the fields, little-endian, without padding.
pub trait Layout: bytemuck::Pod {
    /// The account's name, as in protocol.md, 10.
    const NAME: &'static str;
    /// Description, as in the IDL.
    const DOC: &'static str;
    /// First eight bytes of `sha256("account:" + NAME)`.
    const DISCRIMINATOR: [u8; 8];
    /// The program that owns it.
    const PROGRAM: crate::ids::Address;
    /// Fields, in the order of the bytes.
    const FIELDS: &'static [Field];
    /// Bytes of the account with its discriminator and without a variable tail.
    const SIZE: usize = 8 + core::mem::size_of::<Self>();
    /// Where its version stands in the account's bytes.
    const VERSION_AT: usize;

    /// Reads an account's bytes. None when they are too short or carry another discriminator or version. The
    /// owner is not among the bytes: the caller checks it.
    fn read(data: &[u8]) -> Option<Self> {
        let (discriminator, rest) = data.split_first_chunk::<8>()?;
        let body = rest.get(..core::mem::size_of::<Self>())?;
        let version = *data.get(Self::VERSION_AT)?;
        let fits = *discriminator == Self::DISCRIMINATOR && version == crate::constants::LAYOUT_VERSION;
        fits.then(|| bytemuck::pod_read_unaligned(body))
    }
}

/// An event as a program emits it by self-CPI (decision B14).
pub trait Event {
    /// The event's name, as in protocol.md, 10.
    const NAME: &'static str;
    /// First eight bytes of `sha256("event:" + NAME)`.
    const DISCRIMINATOR: [u8; 8];
    /// Fields, in the order of the bytes.
    const FIELDS: &'static [Field];
    /// Bytes of an emitted event: the tag, the discriminator and the fields.
    const SIZE: usize;
    /// That many bytes.
    type Bytes: AsRef<[u8]>;

    /// The instruction data of the self-CPI.
    fn to_bytes(&self) -> Self::Bytes;
}

/// What instruction data of a self-CPI event begins with (Anchor's event tag).
pub const EVENT_TAG: [u8; 8] = [0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d];

/// The first eight bytes of `sha256(namespace ‖ name)`: Anchor's discriminators.
pub const fn discriminator(namespace: &str, name: &str) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] =
        sha2_const_stable::Sha256::new().update(namespace.as_bytes()).update(name.as_bytes()).finalize();
    [a, b, c, d, e, f, g, h]
}

/// A scalar or byte array inside an event or an instruction: fixed size, little-endian (as Borsh).
pub trait Scalar: Sized {
    /// Bytes it takes.
    const SIZE: usize;
    /// Writes itself and returns the rest of the buffer, which must have room for it.
    fn put<'a>(&self, buffer: &'a mut [u8]) -> &'a mut [u8];
    /// Reads itself and returns the rest of the bytes.
    fn take(bytes: &[u8]) -> Option<(Self, &[u8])>;
}

/// Inlined, every length is a constant: an event becomes stores at fixed places, without a check. An
/// event's buffer has room for all fields, so nothing is ever dropped.
#[inline(always)]
fn put_bytes<'a>(buffer: &'a mut [u8], bytes: &[u8]) -> &'a mut [u8] {
    let Some((head, rest)) = buffer.split_at_mut_checked(bytes.len()) else { return &mut [] };
    head.copy_from_slice(bytes);
    rest
}

macro_rules! integer_scalars {
    ($($ty:ty),*) => {$(
        impl Scalar for $ty {
            const SIZE: usize = core::mem::size_of::<$ty>();
            #[inline(always)]
            fn put<'a>(&self, buffer: &'a mut [u8]) -> &'a mut [u8] {
                put_bytes(buffer, &self.to_le_bytes())
            }
            fn take(bytes: &[u8]) -> Option<(Self, &[u8])> {
                let (head, rest) = bytes.split_first_chunk()?;
                Some((Self::from_le_bytes(*head), rest))
            }
        }
    )*};
}
integer_scalars!(u8, u16, u32, u64, i64, i128);

impl<const N: usize> Scalar for [u8; N] {
    const SIZE: usize = N;
    #[inline(always)]
    fn put<'a>(&self, buffer: &'a mut [u8]) -> &'a mut [u8] {
        put_bytes(buffer, self)
    }
    fn take(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_first_chunk()?;
        Some((*head, rest))
    }
}

/// The IDL's name of a field type.
macro_rules! idl_type {
    (address) => {
        "\"pubkey\""
    };
    ([u8; $n:literal]) => {
        concat!("{\"array\":[\"u8\",", stringify!($n), "]}")
    };
    ($scalar:ident) => {
        concat!("\"", stringify!($scalar), "\"")
    };
}
pub(crate) use idl_type;

/// The Rust type of a field.
macro_rules! field_type {
    (address) => {
        $crate::ids::Address
    };
    ($ty:tt) => {
        $ty
    };
}
pub(crate) use field_type;

/// Declares accounts of one program.
macro_rules! accounts {
    ($program:expr; $(
        $(#[doc = $doc:literal])*
        $name:ident { $( $(#[doc = $field_doc:literal])* $field:ident: $ty:tt, )* }
    )*) => {$(
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name { $( $(#[doc = $field_doc])* pub $field: $crate::layout::field_type!($ty), )* }

        impl $crate::layout::Layout for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($doc),*);
            const DISCRIMINATOR: [u8; 8] = $crate::layout::discriminator("account:", stringify!($name));
            const PROGRAM: $crate::ids::Address = $program;
            const FIELDS: &'static [$crate::layout::Field] = &[$( $crate::layout::Field {
                name: stringify!($field), idl_type: $crate::layout::idl_type!($ty), doc: concat!($($field_doc),*),
            } ),*];
            const VERSION_AT: usize = 8 + core::mem::offset_of!($name, version);
        }
    )*};
}
pub(crate) use accounts;

/// Declares events with their bytes.
macro_rules! events {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident { $( $(#[doc = $field_doc:literal])* $field:ident: $ty:tt, )* }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name { $( $(#[doc = $field_doc])* pub $field: $crate::layout::field_type!($ty), )* }

        impl $crate::layout::Event for $name {
            const NAME: &'static str = stringify!($name);
            const DISCRIMINATOR: [u8; 8] = $crate::layout::discriminator("event:", stringify!($name));
            const FIELDS: &'static [$crate::layout::Field] = &[$( $crate::layout::Field {
                name: stringify!($field), idl_type: $crate::layout::idl_type!($ty), doc: concat!($($field_doc),*),
            } ),*];
            const SIZE: usize = 16 $( + <$crate::layout::field_type!($ty) as $crate::layout::Scalar>::SIZE )*;

            type Bytes = [u8; <$name as $crate::layout::Event>::SIZE];

            #[inline(always)]
            fn to_bytes(&self) -> Self::Bytes {
                use $crate::layout::Scalar as _;
                let mut bytes = [0; <$name as $crate::layout::Event>::SIZE];
                let rest = $crate::layout::EVENT_TAG.put(&mut bytes);
                let rest = Self::DISCRIMINATOR.put(rest);
                $( let rest = self.$field.put(rest); )*
                debug_assert!(rest.is_empty());
                bytes
            }
        }

        impl $name {
            /// Reads an event's payload as it stands in the self-CPI behind the tag. None when it is another
            /// event or has another length.
            pub fn read(payload: &[u8]) -> Option<Self> {
                use $crate::layout::{Event as _, Scalar as _};
                let (discriminator, rest) = <[u8; 8]>::take(payload)?;
                if discriminator != Self::DISCRIMINATOR {
                    return None;
                }
                $( let ($field, rest) = <$crate::layout::field_type!($ty)>::take(rest)?; )*
                rest.is_empty().then_some(Self { $($field),* })
            }
        }
    )*};
}
pub(crate) use events;
