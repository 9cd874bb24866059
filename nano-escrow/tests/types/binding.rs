//! The binding record.

use nano_escrow::binding::{Binding, BindingError, Ed25519Key, nano_key};
use nano_escrow::{PublicKey, Seed, Signature, blake2b_256};

fn seed() -> Seed {
    Seed::from_bytes([42; 32])
}

fn record() -> Binding {
    Binding::make(&seed(), &nano_key(&seed(), 0).keypair(), 1_700_000_000)
}

#[test]
fn the_derivation_is_the_decided_one_ok() {
    // Decision A2, written out.
    let mut message = b"zx1/nano/v1".to_vec();
    message.extend([42; 32]);
    message.extend([0, 0, 0, 5]);
    assert_eq!(nano_key(&seed(), 5).expose(), &blake2b_256(&[&message]));
    assert_ne!(nano_key(&seed(), 0).expose(), seed().wallet_key(0).expose());
}

#[test]
fn the_packed_form_is_pinned_ok() {
    let bytes = record().to_bytes();
    let solana = ed25519_dalek::SigningKey::from_bytes(&[42; 32]).verifying_key().to_bytes();
    assert_eq!(bytes[..32], solana);
    assert_eq!(bytes[32..64], nano_key(&seed(), 0).public_key().0);
    assert_eq!(bytes[64..72], 1_700_000_000_u64.to_be_bytes());
    // Ed25519 is deterministic, so the whole record is. A second implementation (Python) gives the same.
    assert_eq!(
        hex::encode(blake2b_256(&[&bytes])),
        "b05fe405701707cf18fad9db8ec2d316d80716cb7403ee3cda806370b408c82b"
    );
}

#[test]
fn json_has_base58_and_an_address_ok() {
    let json = serde_json::to_value(record()).unwrap();
    assert_eq!(json["solana"].as_str().unwrap(), record().solana.to_string());
    assert!(json["nano"].as_str().unwrap().starts_with("nano_"));
    assert_eq!(json["created"], 1_700_000_000);
    let hexadecimal = hex::encode(record().solana.0);
    assert_eq!(hexadecimal.parse::<Ed25519Key>().unwrap(), record().solana);
    assert_eq!("zzz".parse::<Ed25519Key>().unwrap_err().code(), 8302);
    let text = json.to_string();
    assert_eq!(Binding::from_json(&text).unwrap(), record());
    assert_eq!(Binding::from_json(&text.replace("created", "made")).unwrap_err().code(), 8303);
}

#[test]
fn a_record_signed_by_only_one_of_the_two_fails() {
    let other = Seed::from_bytes([43; 32]);
    let theirs = Binding::make(&other, &nano_key(&other, 0).keypair(), 1_700_000_000);
    let stolen = Binding { nano: theirs.nano, nano_signature: theirs.nano_signature, ..record() };
    assert_eq!(stolen.verify(), Err(BindingError::Ed25519Signature));
    let solana_only = Binding::make(&seed(), &nano_key(&other, 0).keypair(), 1_700_000_000);
    let claimed = Binding { nano_signature: record().nano_signature, ..solana_only };
    assert_eq!(claimed.verify(), Err(BindingError::NanoSignature));
    assert_eq!(Binding { created: 1, ..record() }.verify(), Err(BindingError::Ed25519Signature));
}

#[test]
fn keys_of_small_order_and_other_forms_of_a_signature_fails() {
    // With the neutral point as a key, the all-zero S and R = key verify any message for a careless verifier.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut forged = [0; 64];
    forged[0] = 1;
    let weak = Binding { solana: Ed25519Key(neutral), solana_signature: Signature(forged), ..record() };
    assert!(weak.verify().is_err());
    assert_eq!(PublicKey(neutral).verify_strict(b"any", &Signature(forged)).unwrap_err().code(), 8033);
    assert!(!PublicKey(neutral).is_point() && !PublicKey::BURN.is_point());
}
