//! Calls that are like another one. A patch that knows the reported input and nothing of the fault leaves them broken.

use crate::repro::Repro;
use zx1_market::Json;

/// A small generator of numbers, the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that follow from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The next number (splitmix64).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound; zero where the bound is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        match u64::try_from(bound) {
            Ok(bound) if bound > 0 => usize::try_from(self.number() % bound).unwrap_or(0),
            _ => 0,
        }
    }

    /// Some bytes with small damage: set, flipped, put in, taken out, cut or doubled.
    pub fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let byte = u8::try_from(self.number() & 0xff).unwrap_or(0);
            match (self.below(6), bytes.get_mut(at)) {
                (0, Some(place)) => *place = byte,
                (1, Some(place)) => *place ^= 1 << (byte & 7),
                (2, Some(_)) => drop(bytes.remove(at)),
                (3, Some(_)) => bytes.truncate(at),
                (4, Some(_)) => {
                    let end = at.saturating_add(self.below(16)).min(bytes.len());
                    let piece = bytes.get(at..end).unwrap_or_default().to_vec();
                    bytes.extend(piece);
                }
                _ => bytes.insert(at.min(bytes.len()), byte),
            }
        }
        bytes
    }
}

/// At most this many calls that are near a call, each once and none the call itself: of a text or bytes with small
/// damage, of a list with one text less or changed.
pub fn siblings(repro: &Repro, most: usize) -> Vec<Repro> {
    let mut random = Random::new(0);
    let mut found: Vec<Repro> = Vec::new();
    for _ in 0..most.saturating_mul(8) {
        if found.len() >= most {
            break;
        }
        let changed = change(repro.arguments(), &mut random);
        if let Some(arguments) = changed
            && let Ok(sibling) = Repro::new(repro.tool().name, arguments)
            && sibling != *repro
            && !found.contains(&sibling)
        {
            found.push(sibling);
        }
    }
    found
}

/// The arguments with one of its inputs changed.
fn change(arguments: &Json, random: &mut Random) -> Option<Json> {
    let mut fields = arguments.as_object()?.clone();
    let inputs: Vec<String> =
        fields.keys().filter(|name| matches!(name.as_str(), "hex" | "text" | "arguments")).cloned().collect();
    let name = inputs.get(random.below(inputs.len()))?;
    let value = fields.get(name)?;
    let changed = match (name.as_str(), value) {
        ("hex", Json::Str(text)) => Json::from(hex::encode(random.damaged(&hex::decode(text).ok()?))),
        ("text", Json::Str(text)) => Json::from(text_like(text, random)),
        (_, Json::Array(list)) => {
            let mut list = list.clone();
            let at = random.below(list.len());
            if random.below(2) == 0 {
                list.get(at)?;
                list.remove(at);
            } else {
                let word = list.get_mut(at)?;
                *word = Json::from(text_like(word.as_str()?, random));
            }
            Json::Array(list)
        }
        _ => return None,
    };
    fields.insert(name.clone(), changed);
    Some(Json::Object(fields))
}

/// A text with small damage that is a text, without control characters.
fn text_like(text: &str, random: &mut Random) -> String {
    let damaged = random.damaged(text.as_bytes());
    String::from_utf8_lossy(&damaged).chars().filter(|c| !c.is_control() && *c != '\u{fffd}').collect()
}
