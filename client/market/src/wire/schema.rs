//! Schemas of the wire for OpenAPI documents: those that cannot be derived, and the names of all.

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::PartyId;
use crate::chain::{Entry, EntryType};

/// A schema, or a reference to a named one.
pub type Schema = RefOr<utoipa::openapi::Schema>;

/// Schemas by name.
pub type Named = Vec<(String, Schema)>;

/// A reference to the schema of a type, which is added to `all` with what it refers to.
pub fn referred<T: ToSchema>(all: &mut Named) -> Schema {
    all.push((T::name().into_owned(), T::schema()));
    T::schemas(all);
    Ref::from_schema_name(T::name()).into()
}

/// A schema that lets any of these types through.
macro_rules! any_of {
    ($name:ident: $($type:ty),*) => {
        impl utoipa::PartialSchema for $name {
            fn schema() -> crate::wire::schema::Schema {
                let schema = utoipa::openapi::schema::AnyOfBuilder::new();
                $(let schema = schema.item(crate::wire::schema::referred::<$type>(&mut Vec::new()));)*
                utoipa::openapi::Schema::AnyOf(schema.build()).into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn schemas(all: &mut crate::wire::schema::Named) {
                $(crate::wire::schema::referred::<$type>(all);)*
            }
        }
    };
}
pub(super) use any_of;

impl PartialSchema for EntryType {
    fn schema() -> Schema {
        let words = EntryType::ALL.iter().map(|kind| kind.as_str());
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
    }
}

impl ToSchema for EntryType {}

/// A signed entry of a contract's transcript.
#[derive(ToSchema)]
#[allow(dead_code)] // Only its schema is used.
struct SignedEntry {
    /// What the entry is.
    r#type: EntryType,
    /// What it says; the fields depend on the type.
    #[schema(value_type = Object)]
    data: crate::Json,
    /// Its number, from 0.
    seq: u64,
    /// Who signed it.
    author: PartyId,
    /// The hash of the entry before it, 64 hexadecimal digits.
    prev_hash: String,
    /// Unix seconds, whole or with decimals; the spelling is signed.
    timestamp: f64,
    /// The Ed25519 signature over the other fields, 128 hexadecimal digits.
    signature: String,
}

impl PartialSchema for Entry {
    fn schema() -> Schema {
        SignedEntry::schema()
    }
}

impl ToSchema for Entry {
    fn schemas(all: &mut Named) {
        SignedEntry::schemas(all);
    }
}
