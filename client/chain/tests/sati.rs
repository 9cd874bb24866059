//! SATI's addresses and hashes against what the registry itself publishes, and its layouts.

use solana_address::Address;
use zx1_chain::sati::{
    self, AgentIndex, Attestation, ContentType, DelegateV1, Outcome, RegistryConfig, SasAttestation,
    SchemaConfig,
};

fn address(text: &str) -> Address {
    text.parse().expect("a base58 address")
}

#[test]
fn addresses_are_the_published_ones() {
    assert_eq!(sati::PROGRAM, address("satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe"));
    assert_eq!(sati::registry_address(), (address("EdtfLCcsiMPuNdVTUivqAsomTYwqdLcha7Y8KM8ndB5p"), 254));
    assert_eq!(sati::attestation_authority(), (address("HCsBNEUC5afk9HcpAc73bRxMrK1PHWRGZme6Rr2EVdhc"), 253));
    assert_eq!(sati::event_authority().0, address("4bLW1WaM2EEka8NmQm3pMXXuZWVRSDVBeHmnNKYNoPtr"));
    assert_eq!(sati::agent_index_address(1), (address("HrNNo81K4wpUEYu2My77Gyg5eGM72WxkHvrRU5R11egq"), 251));
    let authority = address("SQ2xxkJ6uEDHprYMNXPxS2AwyEtGGToZ7YC94icKH3Z");
    let credential = sati::sas_credential_address(&authority, "SATI").0;
    assert_eq!(credential, address("DQHW6fAhPfGAENuwJVYfzEvUN12DakZgaaGtPPRfGei1"));
    let feedback = sati::sas_schema_address(&credential, "SATIFeedbackV1", 1).0;
    assert_eq!(feedback, address("CPSr2kXADrhfAykcLwr7mxaLtuG4EBkzei9xQCaEmRJS"));
    assert_eq!(
        sati::schema_config_address(&feedback).0,
        address("dLQjEoFQye9UqJJjp6nAERovgZfyaKaG1KsKvbX3ZF2")
    );
}

#[test]
fn interaction_hash_matches_the_vector() {
    let text = include_str!("../../../tests/vectors/sati/hashes.json");
    let vector: serde_json::Value = serde_json::from_str(text).expect("the vector is JSON");
    let field = |name: &str| -> [u8; 32] {
        let hex = vector[name].as_str().expect("a string");
        hex::decode(hex).expect("hex").try_into().expect("32 bytes")
    };
    let schema = Address::new_from_array(field("feedback_schema"));
    assert_eq!(
        sati::interaction_hash(&schema, &field("task_ref"), &field("data_hash")),
        field("interaction_hash")
    );
}

fn attestation() -> Attestation {
    Attestation {
        task_ref: [7; 32],
        agent: Address::new_from_array([8; 32]),
        counterparty: Address::new_from_array([9; 32]),
        outcome: Outcome::Positive,
        data_hash: [10; 32],
        content_type: ContentType::Json,
        content: b"{\"score\":90}".to_vec(),
    }
}

#[test]
fn counterparty_signs_readable_words() {
    let mut subject = attestation();
    let expected = format!(
        "SATI FeedbackV1\n\nAgent: {}\nTask: {}\nOutcome: Positive\nDetails: {{\"score\":90}}\n\n\
         Sign to create this attestation.",
        subject.agent,
        Address::new_from_array([7; 32]),
    );
    assert_eq!(sati::counterparty_message("FeedbackV1", &subject), expected.as_bytes());
    subject.content.clear();
    let message = String::from_utf8(sati::counterparty_message("F", &subject)).expect("text");
    assert!(message.contains("\nDetails: (none)\n\n"));
}

#[test]
fn universal_layout_round_trips_and_has_131_bytes_before_the_content() {
    let subject = attestation();
    let bytes = subject.encode();
    assert_eq!(bytes.len(), Attestation::BASE_LEN + subject.content.len());
    assert_eq!(
        (bytes[0], bytes[1], bytes[33], bytes[65], bytes[97], bytes[98], bytes[130]),
        (1, 7, 8, 9, 2, 10, 1)
    );
    assert_eq!(Attestation::decode(&bytes), Some(subject));
    for length in 0..Attestation::BASE_LEN {
        assert_eq!(Attestation::decode(&bytes[..length]), None);
    }
    for (at, value) in [(0, 2), (97, 3), (130, 6)] {
        let mut bad = bytes.clone();
        bad[at] = value;
        assert_eq!(Attestation::decode(&bad), None);
    }
}

#[test]
fn delegation_round_trips() {
    let subject = DelegateV1 {
        agent: Address::new_from_array([1; 32]),
        delegate: Address::new_from_array([2; 32]),
        delegator: Address::new_from_array([3; 32]),
    };
    assert_eq!(DelegateV1::decode(&subject.attestation().encode()), Some(subject));
    assert_eq!(DelegateV1::decode(&attestation().encode()), None);
}

#[test]
fn sas_account_round_trips_with_its_tail() {
    let subject = SasAttestation {
        nonce: [1; 32],
        credential: Address::new_from_array([2; 32]),
        schema: Address::new_from_array([3; 32]),
        data: attestation().encode(),
        signer: Address::new_from_array([4; 32]),
        expiry: -5,
        token_account: Address::default(),
    };
    let bytes = subject.encode();
    assert_eq!((bytes[0], bytes[1], bytes[33], bytes[65], bytes[101]), (2, 1, 2, 3, 1));
    assert_eq!(SasAttestation::decode(&bytes).as_ref(), Some(&subject));
    assert_eq!(SasAttestation::decode(&bytes[..bytes.len() - 1]), None);
    assert_eq!(SasAttestation::decode(&[bytes, vec![0]].concat()), None);
}

#[test]
fn accounts_decode_only_at_their_length_and_discriminator() {
    let mut registry = sati::account_discriminator::REGISTRY.to_vec();
    registry.extend([1; 32].iter().chain(&[2; 32]).chain(&5u64.to_le_bytes()).chain(&[254]));
    assert_eq!(registry.len(), RegistryConfig::LEN);
    let found = RegistryConfig::decode(&registry).expect("a registry");
    assert_eq!((found.total_agents, found.bump), (5, 254));
    assert_eq!(RegistryConfig::decode(&registry[..80]), None);
    let mut index = sati::account_discriminator::AGENT_INDEX.to_vec();
    index.extend([1; 33]);
    assert_eq!(index.len(), AgentIndex::LEN);
    assert_eq!(AgentIndex::decode(&index).map(|i| i.bump), Some(1));
    index[0] ^= 1;
    assert_eq!(AgentIndex::decode(&index), None);
    let mut schema = sati::account_discriminator::SCHEMA_CONFIG.to_vec();
    schema.extend([4; 32]);
    schema.extend([0, 0, 0, 1, 2, 0, 0, 0, b'a', b'b', 250, 0, 0]);
    let found = SchemaConfig::decode(&schema).expect("a schema");
    assert_eq!((found.name.as_str(), found.bump, found.closeable), ("ab", 250, true));
}
