//! Bodies, answers and events of the HTTP interface (fix.md, "API"; wire.md, "Market HTTP"; decisions
//! E4, E8).
//!
//! Bodies ignore unknown fields, as older clients send some. Answers are read by clients with the same types.
//! Amounts are XNO as decimal strings; times are Unix seconds with decimals, as older clients expect them.

mod actions;
pub mod advert;
mod agree;
mod answers;
mod events;
mod platform;
mod requests;
#[cfg(feature = "openapi")]
pub mod schema;

pub use self::actions::{ACTIONS, Action, Method};
pub use self::agree::{check_entry, check_sender};
pub use self::answers::*;
pub use self::events::{EventKind, SseEvent};
pub use self::platform::{CourtTier, PlatformInfo, Stats};
pub use self::requests::*;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Millis, Raw};

/// An amount that is XNO on the wire: `"0.67"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct Xno(pub Raw);

impl Serialize for Xno {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0.xno())
    }
}

impl<'de> Deserialize<'de> for Xno {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Xno, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        Raw::from_xno(&text).map(Xno).map_err(de::Error::custom)
    }
}

impl From<Raw> for Xno {
    fn from(raw: Raw) -> Xno {
        Xno(raw)
    }
}

/// A moment or a span that is seconds with decimals on the wire: `1708531200.25`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = f64))]
pub struct Seconds(pub Millis);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.0.as_secs_f64())
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Seconds, D::Error> {
        let seconds = f64::deserialize(d)?;
        Millis::from_secs_f64(seconds).map(Seconds).ok_or_else(|| de::Error::custom("a time is Unix seconds"))
    }
}

impl From<Millis> for Seconds {
    fn from(at: Millis) -> Seconds {
        Seconds(at)
    }
}
