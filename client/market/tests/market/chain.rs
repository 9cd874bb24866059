//! Entries and chains: vectors both ways, tampering, the shapes of data.

use proptest::prelude::*;
use zx1_market::case::{Transcript, replay};
use zx1_market::chain::{Chain, Common, Data, EntryType, GENESIS, Head, RulingData, Side, SignatureForm};
use zx1_market::money::{Court, Outcome};
use zx1_market::*;

use crate::support::*;

fn entries(list: &Json) -> Result<Vec<Entry>> {
    list.as_array().unwrap().iter().map(Entry::from_json).collect()
}

#[test]
fn every_vector_entry_is_read_signed_and_hashed_alike() {
    let vectors = Json::parse(vectors("chain_entries").as_bytes()).unwrap();
    let genesis = vectors.get("genesis_prev_hash").unwrap().as_str().unwrap();
    assert_eq!(Head::GENESIS.hex(), genesis);
    for list in ["int_timestamps", "float_timestamps"] {
        let mut head = Head::GENESIS;
        for vector in vectors.get(list).unwrap().as_array().unwrap() {
            let text = |name: &str| vector.get(name).unwrap().as_str().unwrap();
            let entry = Entry::from_json(vector.get("entry").unwrap()).unwrap();
            assert_eq!(entry.signing_payload(), text("signing_payload"));
            assert_eq!(entry.canonical(), text("entry_canonical"));
            assert_eq!(entry.to_json().canonical(), text("entry_canonical"));
            entry.verify(SignatureForm::Full).unwrap();
            head = chain::follows(head, &entry).unwrap();
            assert_eq!(head.hex(), text("entry_hash"));
            // The data has the shape that its type wants, and is written back as it was.
            let (data, common) = entry.read().unwrap();
            assert_eq!(data.to_json(&common), *entry.data());
            if list == "float_timestamps" {
                // Signing is deterministic: the same entry comes out.
                let signer = if entry.author() == principal().id() { principal() } else { agent() };
                let before = Head { seq: entry.seq(), hash: *entry.prev_hash() };
                let ours = Entry::sign_json(entry.kind(), entry.data().clone(), before, entry.at(), &signer);
                assert_eq!(ours, entry);
            }
        }
    }
}

#[test]
fn every_tampered_chain_fails_where_the_vectors_say() {
    let vectors = Json::parse(vectors("chain_entries").as_bytes()).unwrap();
    for case in vectors.get("tampered").unwrap().as_array().unwrap() {
        let name = case.get("name").unwrap().as_str().unwrap();
        let result =
            entries(case.get("entries").unwrap()).and_then(|e| Chain::verify(e, SignatureForm::Full));
        if case.get("valid").unwrap().as_bool().unwrap() {
            assert_eq!(result.unwrap().entries().len(), 11);
            continue;
        }
        let refusal = result.unwrap_err();
        let hint = case.get("error_hint").unwrap().as_str().unwrap();
        let seq = hint.strip_prefix("Entry ").unwrap().split(':').next().unwrap();
        match name {
            "extra_field" => assert_eq!((refusal.code(), refusal.detail()), (9021, "entry.note")),
            "missing_signature" => assert_eq!((refusal.code(), refusal.detail()), (9042, seq)),
            _ => assert_eq!((refusal.code(), refusal.detail()), (9044, seq), "{name}"),
        }
    }
}

fn chain_of(n: usize) -> Vec<Entry> {
    let mut chain = Chain::default();
    for i in 0..n {
        let data = Data::Message { message: format!("{i}") };
        let entry = Entry::sign(&data, chain.head(), START.plus(Millis(i as u64)), &principal());
        chain.append(entry, SignatureForm::Full).unwrap();
    }
    chain.entries().to_vec()
}

#[test]
fn reordered_truncated_and_foreign_chains_fail() {
    let good = chain_of(4);
    let verify = |entries| Chain::verify(entries, SignatureForm::Full);
    assert_eq!(verify(good.clone()).unwrap().head().seq, 4);
    let mut swapped = good.clone();
    swapped.swap(1, 2);
    assert_eq!(code(verify(swapped)), 9051);
    let mut cut = good.clone();
    cut.remove(1);
    assert_eq!(code(verify(cut)), 9051);
    assert_eq!(code(verify(good[1..].to_vec())), 9051);
    let mut doubled = good.clone();
    doubled.insert(2, good[1].clone());
    assert_eq!(code(verify(doubled)), 9051);
}

#[test]
fn a_late_author_gets_the_present_head() {
    let good = chain_of(3);
    let mut chain = Chain::verify(good.clone(), SignatureForm::Full).unwrap();
    let refusal = chain.append(good[1].clone(), SignatureForm::Full).unwrap_err();
    assert_eq!((refusal.code(), refusal.head()), (9050, Some(chain.head())));
    assert_eq!(refusal.class(), Class::Conflict);
}

#[test]
fn an_unsigned_timestamp_counts_only_with_compat() {
    let key = agent();
    let entry = Entry::sign(&Data::Accept { agent: key.id() }, Head::GENESIS, START, &key);
    let Json::Object(mut fields) = entry.to_json() else { panic!() };
    let mut bare = fields.clone();
    bare.remove("timestamp");
    bare.remove("signature");
    let signature = key.sign(Json::Object(bare).canonical().as_bytes());
    let signature: String = signature.iter().map(|b| format!("{b:02x}")).collect();
    fields.insert("signature".into(), signature.into());
    let old = Entry::from_json(&Json::Object(fields)).unwrap();
    assert_eq!(code(old.verify(SignatureForm::Full)), 9044);
    old.verify(SignatureForm::Compat).unwrap();
}

#[test]
fn malformed_entries_fail_by_number() {
    let good = chain_of(1).remove(0).to_json();
    let with = |name: &str, value: Json| {
        let Json::Object(mut fields) = good.clone() else { panic!() };
        fields.insert(name.into(), value);
        code(Entry::from_json(&Json::Object(fields)))
    };
    assert_eq!(with("type", "bribe".into()), 9040);
    assert_eq!(with("timestamp", "now".into()), 9041);
    assert_eq!(with("timestamp", Json::Int((-1_i64).into())), 9041);
    assert_eq!(with("signature", Json::Null), 9042);
    assert_eq!(with("signature", "00".into()), 9044);
    assert_eq!(with("author", "me".into()), 9001);
    assert_eq!(with("author", "fix_zz".into()), 9002);
    assert_eq!(with("seq", Json::Float(1.0)), 9026);
    assert_eq!(with("prev_hash", "E3".into()), 9029);
    assert_eq!(with("data", Json::Null), 9020);
    assert_eq!(with("data", "x".into()), 9022);
    assert_eq!(code(Entry::from_json(&Json::Null)), 9022);
    assert_eq!(code(Entry::parse(b"{}")), 9020);
}

#[test]
fn ids_have_one_spelling() {
    let id = principal().id();
    assert_eq!(id.to_string().parse::<PartyId>().unwrap(), id);
    assert_eq!(code(id.to_string().to_uppercase().replace("FIX", "fix").parse::<PartyId>()), 9002);
    assert_eq!(code(PartyId::from_bytes([0; 32])), 9004);
    let mut one = [0; 32];
    one[0] = 2;
    assert_eq!(code(PartyId::from_bytes(one)), 9003);
    assert_eq!(code("0123456789ABCDEF".parse::<ContractId>()), 9005);
    assert_eq!("0123456789abcdef".parse::<ContractId>().unwrap().to_string(), "0123456789abcdef");
    assert!(!format!("{:?}", principal()).contains("0101"), "a key is never printed");
    assert_eq!(*principal().expose_seed(), [1; 32]);
}

#[test]
fn data_of_a_wrong_shape_fails_by_number() {
    let read = |kind: EntryType, text: &str| code(Data::read(kind, &text.parse().unwrap()));
    assert_eq!(read(EntryType::Fix, r#"{"fix":"x","explanation":"","from":"agent","tip":1}"#), 9021);
    assert_eq!(read(EntryType::Fix, r#"{"explanation":""}"#), 9020);
    assert_eq!(read(EntryType::Fix, r#"{"fix":"  "}"#), 9032);
    assert_eq!(read(EntryType::Fix, r#"{"fix":7}"#), 9023);
    assert_eq!(read(EntryType::Verify, r#"{"success":"yes"}"#), 9025);
    assert_eq!(read(EntryType::Verify, r#"{"success":true,"exit_code":99999}"#), 9026);
    assert_eq!(read(EntryType::Chat, &format!(r#"{{"message":"{}"}}"#, "x".repeat(20_000))), 9030);
    assert_eq!(read(EntryType::DisputeFiled, r#"{"argument":"a","side":"judge"}"#), 9033);
    assert_eq!(read(EntryType::Message, r#"{"message":"a","from":"me"}"#), 9033);
    assert_eq!(read(EntryType::Accounts, r#"{"payout_address":"nano_1"}"#), 9024);
    let burn = Address::BURN.to_string();
    assert_eq!(read(EntryType::Accounts, &format!(r#"{{"payout_address":"{burn}"}}"#)), 9024);
    assert_eq!(read(EntryType::Feedback, "{}"), 9020);
    assert_eq!(read(EntryType::Feedback, r#"{"envelope":"0A"}"#), 9029);
    assert_eq!(read(EntryType::Closed, r#"{"reason":"whim"}"#), 9033);
    assert_eq!(read(EntryType::Ruling, r#"{"flags":{}}"#), 9020);
    let ruling =
        r#"{"outcome":"canceled","reasoning":"","court":"district","level":0,"final":false,"flags":FLAGS}"#;
    assert_eq!(read(EntryType::Ruling, &ruling.replace("FLAGS", "{}")), 9027);
    assert_eq!(read(EntryType::Ruling, &ruling.replace("FLAGS", &format!("[{}1]", "1,".repeat(20)))), 9031);
    assert_eq!(read(EntryType::Ruling, &ruling.replace("FLAGS", r#"[],"judge_signature":"00""#)), 9053);
}

#[test]
fn every_type_is_written_as_it_is_read() {
    let side = Side::Agent;
    let mut all = said(agent().id(), side);
    all.push(Data::Post {
        contract: paid().json().clone(),
        principal: principal().id(),
        payout: Some(address(1)),
        market: Some(terms().market()),
    });
    all.push(Data::Feedback {});
    for data in all {
        let common =
            Common { from: Some(side), on_behalf_of: Some(agent().id()), envelope: Some("0a".into()) };
        let json = data.to_json(&common);
        assert_eq!(Data::read(data.kind(), &json).unwrap(), (data, common));
    }
    // Server entries carry nothing of a party.
    let data = Data::Voided { reason: "some words".to_owned() };
    assert_eq!(code(Data::read(data.kind(), &data.to_json(&Common::from(side)))), 9021);
}

proptest! {
    #[test]
    fn a_changed_byte_never_verifies(at: prop::sample::Index, xor in 1_u8..=255) {
        let entry = chain_of(1).remove(0);
        let mut text = entry.canonical().into_bytes();
        let at = at.index(text.len());
        text[at] ^= xor;
        if let Ok(changed) = Entry::parse(&text) {
            prop_assert!(changed.verify(SignatureForm::Full).is_err());
        }
    }

    #[test]
    fn reading_data_never_panics(
        kind in prop::sample::select(EntryType::ALL),
        text in "[{}\\[\\]\":,a-z0-9.]{0,60}",
    ) {
        if let Ok(json) = Json::parse(text.as_bytes()) {
            let _ = Data::read(kind, &json);
            let _ = Contract::read(&json);
            let _ = Terms::from_json(&json);
            let _ = Entry::from_json(&json);
        }
        if let Ok(transcript) = Transcript::parse(text.as_bytes()) {
            let _ = replay(&transcript);
        }
    }
}

#[test]
fn the_genesis_hash_is_sha_256_of_nothing() {
    use sha2::Digest;
    assert_eq!(GENESIS, <[u8; 32]>::from(sha2::Sha256::digest([])));
}

fn fix(corrected_command: Option<&str>) -> Data {
    let corrected_command = corrected_command.map(str::to_owned);
    Data::Fix { fix: "true".into(), explanation: "links libm".into(), corrected_command }
}

#[test]
fn a_fix_without_a_corrected_command_is_written_as_before() {
    let json = fix(None).to_json(&Common::default());
    assert_eq!(json.canonical(), r#"{"explanation":"links libm","fix":"true"}"#);
    // `null` counts as absent, as everywhere; the entry keeps its own bytes.
    let json: Json = r#"{"corrected_command":null,"explanation":"links libm","fix":"true"}"#.parse().unwrap();
    assert_eq!(Data::read(EntryType::Fix, &json).unwrap().0, fix(None));
}

#[test]
fn a_corrected_command_is_signed_data() {
    let entry = Entry::sign(&fix(Some("gcc a.c -lm")), Head::GENESIS, START, &agent());
    let text = entry.canonical();
    assert!(text.contains(r#""corrected_command":"gcc a.c -lm""#), "{text}");
    assert_eq!(entry.read().unwrap().0, fix(Some("gcc a.c -lm")));
    let forged = Entry::parse(text.replace("-lm", "-lz").as_bytes()).unwrap();
    assert_eq!(code(forged.verify(SignatureForm::Full)), 9044);
}

#[test]
fn a_corrected_command_is_one_bounded_line_or_refused() {
    let read = |command: &str| Data::read(EntryType::Fix, &fix(Some(command)).to_json(&Common::default()));
    let longest = "x".repeat(defaults::MAX_COMMAND);
    for good in ["git status", "printf 'a\tb'", "echo 'äöü'", &longest] {
        assert_eq!(read(good).unwrap().0, fix(Some(good)));
    }
    assert_eq!(code(read("")), 9032);
    assert_eq!(code(read(" \t ")), 9032);
    assert_eq!(code(read(&format!("{longest}x"))), 9030);
    for bad in ["make\nrm x", "make\r", "make \u{1b}[2K", "make\0", "make\u{85}x", "make\u{2028}x", "a\u{7f}"]
    {
        assert_eq!(code(read(bad)), 9034, "{bad:?}");
    }
    let json: Json = r#"{"corrected_command":7,"explanation":"","fix":"true"}"#.parse().unwrap();
    assert_eq!(code(Data::read(EntryType::Fix, &json)), 9023);
}

#[test]
fn a_ruling_s_envelopes_are_signed_with_it_and_absent_as_before() {
    let ruling = || RulingData::new(Outcome::Canceled, Court::District, "so be it");
    let contract: ContractId = "00112233445566ff".parse().unwrap();
    let (head, judge) = ([7; 32], judge());
    let json = Data::Ruling(Box::new(ruling())).to_json(&Common::default());
    let words = r#"{"court":"district","final":false,"flags":[],"level":0,"outcome":"canceled","#;
    assert_eq!(json.canonical(), format!("{words}\"reasoning\":\"so be it\"}}"));
    assert!(!serde_json::to_string(&ruling()).unwrap().contains("envelopes"));
    let mut carrying = ruling();
    carrying.envelopes = vec!["00ff".into(), "0a".into()];
    assert_eq!(carrying.words(), ruling().words());
    let signed = carrying.sign(contract, &head, &judge);
    assert_eq!(signed.verify(contract, &head).unwrap(), Some(judge.id()));
    let json = Data::Ruling(Box::new(signed.clone())).to_json(&Common::default());
    assert_eq!(Data::read(EntryType::Ruling, &json).unwrap().0, Data::Ruling(Box::new(signed.clone())));
    // Nobody on the way can drop or change one.
    for envelopes in [vec![], vec!["00ff".to_owned()], vec!["00fe".to_owned(), "0a".to_owned()]] {
        let changed = RulingData { envelopes, ..signed.clone() };
        assert_eq!(code(changed.verify(contract, &head)), 9053);
    }
    let read = |envelopes: Vec<String>| {
        let ruling = RulingData { envelopes, ..signed.clone() };
        Data::read(EntryType::Ruling, &Data::Ruling(Box::new(ruling)).to_json(&Common::default()))
    };
    assert_eq!(code(read(vec!["00".into(); 3])), 9031);
    assert_eq!(code(read(vec!["0".into()])), 9029);
    assert_eq!(code(read(vec!["0G".into()])), 9029);
    assert_eq!(code(read(vec!["00".repeat(defaults::MAX_ENVELOPE)])), 9030);
}
