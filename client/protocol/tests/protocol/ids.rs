use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use zx1_protocol::ids::{AgentId, ConversationId, ParseIdError, WalletKey};

const MINT: &str = "So11111111111111111111111111111111111111112";

/// Text, JSON and bare bytes of an id, there and back.
fn comes_back<T, const N: usize>(bytes: [u8; N])
where
    T: Copy + Debug + Display + FromStr<Err = ParseIdError> + PartialEq + Serialize + DeserializeOwned,
    T: From<[u8; N]> + Into<[u8; N]> + AsRef<[u8]>,
    [u8; N]: Serialize,
{
    let id = T::from(bytes);
    let text = id.to_string();
    assert_eq!(text.parse(), Ok(id));
    assert_eq!((format!("{id:?}"), id.into(), id.as_ref()), (text.clone(), bytes, &bytes[..]));
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(json, format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<T>(&json).unwrap(), id);
    let mut cbor = Vec::new();
    ciborium::into_writer(&id, &mut cbor).unwrap();
    assert_eq!(ciborium::from_reader::<T, _>(&cbor[..]).unwrap(), id);
}

/// White space, nothing at all, and what is too short or too long by one.
fn refuses<T: FromStr<Err = ParseIdError> + Debug>(text: &str, sentence: &str) {
    let shorter = &text[..text.len() - 1];
    let longer = [text, "11"].concat();
    let spaced = [format!(" {text}"), format!("{text}\n"), format!("{shorter} ")];
    for wrong in ["", shorter, &longer, "größe", "0x"].into_iter().chain(spaced.iter().map(String::as_str))
    {
        assert_eq!(wrong.parse::<T>().unwrap_err().to_string(), sentence, "{wrong:?}");
    }
}

#[test]
fn an_agent_id_is_written_as_its_mint() {
    let agent: AgentId = MINT.parse().unwrap();
    assert_eq!(agent.to_string(), MINT);
    assert_eq!(WalletKey::from(agent).to_string(), MINT);
    assert_eq!(AgentId::from(WalletKey::from(agent)), agent);
    assert_eq!(AgentId([0; 32]).to_string(), "1".repeat(32));
}

#[test]
fn text_that_is_no_id_fails() {
    refuses::<AgentId>(MINT, "invalid agent id: expected 32 bytes in base58");
    refuses::<ConversationId>(&"c3".repeat(16), "invalid conversation id: expected 16 bytes in hex");
    // No letter of base58, of hex, and 0x before it.
    for wrong in [MINT.replace('o', "0"), MINT.replace('o', "l"), "ff".repeat(32)] {
        wrong.parse::<AgentId>().unwrap_err();
    }
    for wrong in ["g3".repeat(16), ["0x", &"c3".repeat(15)].concat(), ["0x", &"c3".repeat(16)].concat()] {
        wrong.parse::<ConversationId>().unwrap_err();
    }
    serde_json::from_str::<AgentId>("[1]").unwrap_err();
    let error = serde_json::from_str::<ConversationId>("\"c3\"").unwrap_err();
    assert!(error.to_string().starts_with("invalid conversation id"), "{error}");
}

#[test]
fn hex_is_read_in_both_cases_and_written_in_lower_case() {
    let id: ConversationId = "AB".repeat(16).parse().unwrap();
    assert_eq!((id, id.to_string()), (ConversationId([0xab; 16]), "ab".repeat(16)));
}

proptest! {
    #[test]
    fn ids_come_back(long: [u8; 32], short: [u8; 16], zeros in 0usize..=32) {
        let mut leading = long;
        leading[..zeros].fill(0);
        comes_back::<AgentId, 32>(long);
        comes_back::<AgentId, 32>(leading);
        comes_back::<ConversationId, 16>(short);
    }

    #[test]
    fn any_text_is_an_id_in_its_one_form_or_none(text in "\\PC{0,70}") {
        if let Ok(agent) = text.parse::<AgentId>() {
            prop_assert_eq!(agent.to_string(), text.clone());
        }
        if let Ok(conversation) = text.parse::<ConversationId>() {
            prop_assert_eq!(conversation.to_string(), text.to_ascii_lowercase());
        }
    }
}
