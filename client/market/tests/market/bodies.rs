//! What each fuzz target of this crate does with its bytes. `tests/fuzz` runs them too.

use zx1_market::canonical::{Duplicates, parse_with};
use zx1_market::case::{Transcript, rebuild, replay};
use zx1_market::chain::{Chain, Entry, SignatureForm};
use zx1_market::defaults::MAX_JSON_BYTES;
use zx1_market::{Json, Millis, PartyKey};

/// A target's body.
pub(crate) type Body = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Body); 3] = [
    ("canonical_json", canonical_json),
    ("transcript", transcript),
    ("signed_transcript", signed_transcript),
];

/// JSON from outside: what is read has one canonical form, which is read as the same.
pub(crate) fn canonical_json(bytes: &[u8]) {
    let strict = Json::parse(bytes);
    if let Ok(value) = parse_with(bytes, Duplicates::LastWins) {
        let canonical = value.canonical();
        if canonical.len() <= MAX_JSON_BYTES {
            let again = Json::parse(canonical.as_bytes()).expect("the canonical form is JSON");
            assert_eq!(again.canonical(), canonical);
            assert_eq!(again.sha256(), value.sha256());
        }
        assert!(strict.is_err() || strict == Ok(value));
    } else {
        assert!(strict.is_err());
    }
}

/// A saved transcript, or a server's answer.
pub(crate) fn transcript(bytes: &[u8]) {
    let Ok(transcript) = Transcript::parse(bytes) else { return };
    check(&transcript);
    let saved = transcript.to_json().canonical();
    if saved.len() <= MAX_JSON_BYTES {
        assert_eq!(Transcript::parse(saved.as_bytes()).as_ref(), Ok(&transcript));
    }
    for entry in &transcript.entries {
        assert_eq!(Entry::parse(entry.canonical().as_bytes()).as_ref(), Ok(entry));
    }
}

/// A transcript in which every signature holds, whatever the parties say:
/// `[[seed of the author's key, type, data, milliseconds], ...]`.
pub(crate) fn signed_transcript(bytes: &[u8]) {
    let Ok(json) = Json::parse(bytes) else { return };
    let (mut chain, mut received_at) = (Chain::default(), Vec::new());
    for line in json.as_array().unwrap_or_default().iter().take(24) {
        let Some([author, kind, data, at]) = line.as_array() else { break };
        let (Some(author), Some(kind), Some(at)) = (author.as_u64(), kind.as_str(), at.as_u64()) else {
            break;
        };
        let (Ok(author), Ok(kind), true) = (u8::try_from(author), kind.parse(), at < 1 << 45) else { break };
        let key = PartyKey::from_seed(&[author; 32]);
        let entry = Entry::sign_json(kind, data.clone(), chain.head(), Millis(at), &key);
        chain.append(entry, SignatureForm::Full).expect("an entry that hangs on the head");
        received_at.push(Millis(at));
    }
    let entries = chain.entries().to_vec();
    check(&Transcript { entries: entries.clone(), received_at, ..Transcript::default() });
    check(&Transcript { entries, ..Transcript::default() });
}

fn check(transcript: &Transcript) {
    let report = replay(transcript);
    assert_eq!(report.valid, report.error.is_none());
    assert_eq!(rebuild(transcript).is_ok(), report.valid);
    assert!(!report.valid || report.entries == report.total);
}
