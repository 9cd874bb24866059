//! Token-2022's metadata extension.

use crate::token::mint_extensions;
use serde::Serialize;

/// The extension's number.
const TOKEN_METADATA: u16 = 19;
/// The extension that makes a token stay where it is.
const NON_TRANSFERABLE: u16 = 9;

/// What an agent says of itself on chain. The registration file itself is off chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// Name of the agent.
    pub name: String,
    /// Symbol of the NFT.
    pub symbol: String,
    /// Address of the registration file.
    pub uri: String,
    /// Further entries, by key.
    pub entries: Vec<(String, String)>,
}

/// The metadata of a mint and whether it is soulbound. Default values for a mint without metadata; None when
/// the bytes are not a mint or the metadata is malformed.
pub(crate) fn read(data: &[u8]) -> Option<(Metadata, bool)> {
    let extensions = mint_extensions(data)?;
    let soulbound = extensions.iter().any(|(kind, _)| *kind == NON_TRANSFERABLE);
    let Some((_, value)) = extensions.iter().find(|(kind, _)| *kind == TOKEN_METADATA) else {
        return Some((Metadata::default(), soulbound));
    };
    // Update authority and mint come first.
    let mut rest = value.get(64..)?;
    let (name, symbol, uri) = (text(&mut rest)?, text(&mut rest)?, text(&mut rest)?);
    let count = number(&mut rest)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push((text(&mut rest)?, text(&mut rest)?));
    }
    Some((Metadata { name, symbol, uri, entries }, soulbound))
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (count, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*count)).ok()
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let count = number(rest)?;
    let (text, after) = rest.split_at_checked(count)?;
    *rest = after;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn mint(extensions: &[(u16, &[u8])]) -> Vec<u8> {
        let mut data = vec![0; 165];
        data.push(1);
        for (kind, value) in extensions {
            data.extend(kind.to_le_bytes());
            data.extend(u16::try_from(value.len()).unwrap().to_le_bytes());
            data.extend_from_slice(value);
        }
        data
    }

    fn string(text: &str) -> Vec<u8> {
        [&u32::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn names_entries_and_soulbound_are_read() {
        let value = [
            vec![7; 64],
            string("Ann"),
            string("ZX1"),
            string("ipfs://x"),
            2_u32.to_le_bytes().to_vec(),
            string("k"),
            string("v"),
            string(""),
            string("ü"),
        ]
        .concat();
        let (found, soulbound) = read(&mint(&[(9, &[]), (19, &value)])).unwrap();
        assert!(soulbound);
        assert_eq!((found.name.as_str(), found.uri.as_str()), ("Ann", "ipfs://x"));
        assert_eq!(found.entries, vec![("k".into(), "v".into()), (String::new(), "ü".into())]);
        assert_eq!(read(&mint(&[(19, &value[..value.len() - 1])])), None);
        assert_eq!(read(&mint(&[])), Some((Metadata::default(), false)));
    }

    proptest! {
        #[test]
        fn hostile_metadata_never_panics(value in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&mint(&[(19, &value)]));
            let _ = read(&value);
        }
    }
}
