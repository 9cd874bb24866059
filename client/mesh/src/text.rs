//! Text forms of values in JSON: numbers beyond 2^53 as decimal strings, bytes as hex.

/// An integer as a decimal string, because many readers of JSON round large numbers.
pub(crate) mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(number: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Bytes as lower-case hex.
pub(crate) mod bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(bytes: impl AsRef<[u8]>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, B: TryFrom<Vec<u8>>>(
        from: D,
    ) -> Result<B, D::Error> {
        let bytes = hex::decode(String::deserialize(from)?).map_err(D::Error::custom)?;
        B::try_from(bytes).map_err(|_| D::Error::custom("another number of bytes was expected"))
    }
}

/// [`bytes`] that may be absent.
pub(crate) mod some_hash {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(hash: &Option<[u8; 32]>, to: S) -> Result<S::Ok, S::Error> {
        match hash {
            None => to.serialize_none(),
            Some(hash) => to.serialize_some(&hex::encode(hash)),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[u8; 32]>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let mut hash = [0; 32];
        hex::decode_to_slice(text, &mut hash).map_err(D::Error::custom)?;
        Ok(Some(hash))
    }
}
