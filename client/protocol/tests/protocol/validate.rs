use crate::common::{Message, agent_key, key, message};
use crate::envelope::{ciborium_bytes, items};
use crate::harness::{damage, damaged};
use ciborium::Value as Cbor;
use ed25519_dalek::Signer;
use proptest::prelude::*;
use std::collections::BTreeMap;
use zx1_protocol::beacon::{Beacon, BeaconError};
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::draft::{Draft, DraftError, SignError};
use zx1_protocol::envelope::{BROADCAST, Envelope, MAX_LOGGED_PAYLOAD, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::keys::{AgentKey, Scopes};
use zx1_protocol::nonce::{LastNonce, NonceError, SeenNonces};
use zx1_protocol::payload::{Feedback, NotarizeBid, PayloadError, bid_payload};
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::validate::{
    BLOCK_REF_TOLERANCE_SLOTS, Candidate, Context, MAX_MESSAGE_SIZE, Reason, Sender,
    TIMESTAMP_TOLERANCE_MICROS, validate,
};

const NOW: u64 = 1_772_313_600_000_000;

const SLOT: Slot = Slot(400_000_001);

fn our_key() -> AgentKey {
    agent_key(&key())
}

fn other_key() -> AgentKey {
    agent_key(&ed25519_dalek::SigningKey::from_bytes(&[8; 32]))
}

fn good(msg_type: MsgType, payload: &[u8]) -> Message {
    Message {
        msg_type,
        sender: AgentId([0xa1; 32]),
        recipient: AgentId([0xb2; 32]),
        timestamp: NOW,
        block_ref: SLOT.0,
        nonce: 10,
        conversation_id: ConversationId([3; 16]),
        payload: payload.to_vec(),
        payload_hash: [0; 32],
        signature: [0; 64],
    }
    .seal()
}

/// Signs again without hashing again.
fn signed(mut message: Message) -> Message {
    message.signature = key().sign(&message.envelope().signing_bytes()).to_bytes();
    message
}

/// Validates for a receiver that knows the sender's key and has seen nonce 9.
fn judge(bytes: &[u8]) -> Result<(), Reason> {
    let keys = [other_key(), our_key()];
    let sender = Sender::Registered { keys: &keys, seen: SeenNonces::Strict(LastNonce(Some(9))) };
    validate(bytes, &Context::new(NOW, Some(SLOT), sender)).map(|_| ())
}

#[test]
fn a_good_message_passes_and_says_who_signed_it() {
    let bytes = good(MsgType::Propose, &bid_payload(5, b"JSON{}")).envelope().to_cbor();
    let candidate = Candidate::parse(&bytes).unwrap();
    assert_eq!((candidate.sender(), candidate.channel()), (AgentId([0xa1; 32]), Channel::Direct));
    let keys = [other_key(), our_key()];
    let sender = Sender::Registered { keys: &keys, seen: SeenNonces::Strict(LastNonce(None)) };
    let valid = candidate.validate(&Context::new(NOW, Some(SLOT), sender)).unwrap();
    assert_eq!(valid.signer, our_key().key.to_bytes().into());
    assert_eq!(valid.envelope, Envelope::decode(&bytes).unwrap());
    assert_eq!(valid.channel, Channel::Direct);
}

#[test]
fn a_key_that_is_learned_elsewhere_verifies_first_and_counts_when_it_is_the_senders() {
    let bytes = good(MsgType::Feedback, &good_rating()).envelope().to_cbor();
    let candidate = Candidate::parse(&bytes).unwrap();
    assert!(candidate.signed_by(&other_key().key).is_none());
    let signed = candidate.signed_by(&our_key().key).unwrap();
    let judge = |sender| signed.validate(&Context::new(NOW, Some(SLOT), sender));
    let registered = |keys| Sender::Registered { keys, seen: SeenNonces::Strict(LastNonce(Some(9))) };
    let (theirs, both) = ([other_key()], [other_key(), our_key()]);
    assert_eq!(judge(Sender::Unknown), Err(Reason::UnknownSender));
    assert_eq!(judge(registered(&theirs)), Err(Reason::Signature));
    assert_eq!(
        judge(registered(&both)),
        candidate.validate(&Context::new(NOW, Some(SLOT), registered(&both)))
    );
    assert!(judge(registered(&both)).is_ok());
    let late = Context::new(NOW + 2 * TIMESTAMP_TOLERANCE_MICROS, Some(SLOT), registered(&both));
    assert_eq!(signed.validate(&late), candidate.validate(&late));
}

#[test]
fn the_form_of_another_version_is_not_judged() {
    for bytes in [&[0x82, 0x02, 0x00][..], &[0x8d, 0x18, 0x20], &[0x9f, 0x00, 0xff]] {
        assert_eq!(Candidate::parse(bytes).err(), Some(Reason::Version), "{bytes:?}");
    }
    for bytes in [&[0x82, 0x01, 0x00][..], &[0x80], &[0xa0], &[0x81, 0x41, 0x02], &[]] {
        assert_eq!(Candidate::parse(bytes).err(), Some(Reason::Malformed), "{bytes:?}");
    }
}

/// A message that breaks the rule at its index in [`adversaries`], and all later ones that it can break as
/// well, so that the reason shows which came first.
struct Adversary {
    rule: u8,
    bytes: Vec<u8>,
    reason: Reason,
}

/// What every later adversary does too: stale nonce, old timestamp, wrong hash, wrong length.
fn breaks_all_from(rule: u8) -> Message {
    let mut message = good(MsgType::Feedback, b"not a rating");
    if rule <= 5 {
        message.nonce = 9;
    }
    if rule <= 6 {
        message.timestamp = NOW - TIMESTAMP_TOLERANCE_MICROS - 1;
    }
    if rule <= 7 {
        message.payload_hash = [0; 32];
    }
    message
}

/// The CBOR with another payload_len, which decides over rule 8, and the signature over that.
fn with_len(message: &Message, len: u32, sign: bool) -> Vec<u8> {
    let envelope = message.envelope();
    let mut header = envelope.header;
    header.payload_len = len;
    let packed = [header.signing_header().as_slice(), envelope.payload].concat();
    let signature = if sign { key().sign(&packed).to_bytes() } else { [1; 64] };
    Envelope { header, payload: envelope.payload, signature: &signature }.to_cbor()
}

/// The CBOR with another version or type, signed as it stands.
fn with_number(message: &Message, at: usize, number: u64) -> Vec<u8> {
    let mut items = items(&message.envelope());
    items[at] = number.into();
    ciborium_bytes(&Cbor::Array(items))
}

fn adversaries() -> Vec<Adversary> {
    let last = 9;
    let all = |rule| breaks_all_from(rule);
    let off_by = TIMESTAMP_TOLERANCE_MICROS + 1;
    let of = |rule, bytes, reason| Adversary { rule, bytes, reason };
    vec![
        of(1, with_number(&all(1), 0, 2), Reason::Version),
        of(1, with_number(&all(1), 0, 0), Reason::Version),
        of(2, with_number(&all(2), 1, 0), Reason::MsgType),
        of(2, with_number(&all(2), 1, 14), Reason::MsgType),
        of(2, with_number(&all(2), 1, 0xffff), Reason::MsgType),
        of(4, with_len(&all(4), 1, false), Reason::Signature),
        of(5, with_len(&all(5), 1, true), Reason::Nonce(NonceError::NotIncreasing { last })),
        of(6, with_len(&all(6), 1, true), Reason::Timestamp { off_by }),
        of(7, with_len(&all(7), 1, true), Reason::PayloadHash),
        of(8, with_len(&all(8), 1, true), Reason::PayloadLength),
        of(9, signed(all(9)).envelope().to_cbor(), Reason::Payload(PayloadError::Malformed)),
    ]
}

#[test]
fn each_rule_drops_its_message_after_all_earlier_rules_passed() {
    for Adversary { rule, bytes, reason } in adversaries() {
        assert_eq!(judge(&bytes), Err(reason));
        assert_eq!(reason.rule(), Some(rule));
        assert_eq!(reason.code(), 7310 + u32::from(rule));
    }
    // Rule 3 depends on the receiver alone; the same message passes rule 3 and fails rule 4 otherwise.
    let bytes = with_len(&breaks_all_from(3), 1, false);
    let result = validate(&bytes, &Context::new(NOW, Some(SLOT), Sender::Unknown));
    assert_eq!(result.err(), Some(Reason::UnknownSender));
    assert_eq!((Reason::UnknownSender.rule(), Reason::UnknownSender.code()), (Some(3), 7313));
    assert_eq!(judge(&bytes), Err(Reason::Signature));
}

#[test]
fn form_comes_before_all_rules() {
    // Of the version that is known; the form of another one is not.
    let mut bytes = with_number(&breaks_all_from(2), 1, 0);
    bytes.push(0);
    assert_eq!(judge(&bytes), Err(Reason::NotCanonical));
    assert_eq!(judge(&bytes[..bytes.len() - 2]), Err(Reason::Malformed));
    assert_eq!(judge(b""), Err(Reason::Malformed));
    assert_eq!(judge(&vec![0; MAX_MESSAGE_SIZE + 1]), Err(Reason::TooLarge));
    for reason in [Reason::TooLarge, Reason::Malformed, Reason::NotCanonical, Reason::TooLongForEvidence] {
        assert_eq!(reason.rule(), None);
    }
}

#[test]
fn the_size_limit_counts_the_whole_envelope() {
    let sized = |len: usize| good(MsgType::Deliver, &vec![7; len]).envelope().to_cbor();
    let around = sized(MAX_MESSAGE_SIZE - 500).len() - (MAX_MESSAGE_SIZE - 500);
    let exact = sized(MAX_MESSAGE_SIZE - around);
    assert_eq!(exact.len(), MAX_MESSAGE_SIZE);
    assert_eq!(judge(&exact), Ok(()));
    assert_eq!(judge(&sized(MAX_MESSAGE_SIZE - around + 1)), Err(Reason::TooLarge));
}

#[test]
fn the_timestamp_may_be_thirty_seconds_off_either_way() {
    for (timestamp, ok) in [
        (NOW - TIMESTAMP_TOLERANCE_MICROS, true),
        (NOW - TIMESTAMP_TOLERANCE_MICROS - 1, false),
        (NOW + TIMESTAMP_TOLERANCE_MICROS, true),
        (NOW + TIMESTAMP_TOLERANCE_MICROS + 1, false),
        (0, false),
        (u64::MAX, false),
    ] {
        let message = signed(Message { timestamp, ..good(MsgType::Deliver, b"") });
        assert_eq!(judge(&message.envelope().to_cbor()).is_ok(), ok, "{timestamp}");
    }
}

#[test]
fn four_types_carry_at_most_400_bytes() {
    for msg_type in MsgType::ALL {
        let payload = |len: usize| match msg_type {
            MsgType::Feedback => good_rating(),
            MsgType::NotarizeBid => {
                let terms = vec![0; len - 17];
                let conversation_id = ConversationId([1; 16]);
                let bid_type = zx1_protocol::payload::BidType::Request;
                NotarizeBid { bid_type, conversation_id, terms: &terms }.to_bytes()
            }
            _ => vec![7; len],
        };
        let result = |len| judge(&good(msg_type, &payload(len)).envelope().to_cbor());
        use MsgType::{Accept, Counter, NotarizeAssign, Propose};
        let limited = matches!(msg_type, Propose | Counter | Accept | NotarizeAssign);
        assert_eq!(result(400), Ok(()), "{msg_type:?}");
        assert_eq!(
            result(401),
            if limited { Err(Reason::TooLongForEvidence) } else { Ok(()) },
            "{msg_type:?}"
        );
    }
}

fn good_rating() -> Vec<u8> {
    let rating = Feedback {
        conversation_id: ConversationId([1; 16]),
        target_agent: AgentId([2; 32]),
        score: 5,
        outcome: 2,
        is_dispute: false,
        role: 0,
    };
    rating.to_cbor().unwrap()
}

#[test]
fn a_signature_by_a_key_that_may_not_sign_fails() {
    let bytes = good(MsgType::Deliver, b"").envelope().to_cbor();
    for keys in [&[][..], &[other_key()]] {
        let sender = Sender::Registered { keys, seen: SeenNonces::Strict(LastNonce(None)) };
        assert_eq!(validate(&bytes, &Context::new(NOW, Some(SLOT), sender)).err(), Some(Reason::Signature));
    }
}

fn by(msg_type: MsgType, key: AgentKey) -> Result<(), Reason> {
    let payload = match msg_type {
        MsgType::Feedback => good_rating(),
        MsgType::NotarizeBid => vec![0; 17],
        _ => vec![],
    };
    let bytes = good(msg_type, &payload).envelope().to_cbor();
    let keys = [other_key(), key];
    let sender = Sender::Registered { keys: &keys, seen: SeenNonces::Strict(LastNonce(None)) };
    validate(&bytes, &Context::new(NOW, Some(SLOT), sender)).map(|_| ())
}

#[test]
fn four_types_are_taken_from_a_deal_key_only() {
    use MsgType::{Accept, Counter, NotarizeAssign, Propose};
    for number in 0..=u8::MAX {
        let scopes = Scopes(number);
        for msg_type in MsgType::ALL {
            let deal = matches!(msg_type, Propose | Counter | Accept | NotarizeAssign);
            assert_eq!(msg_type.is_deal(), deal);
            let may = scopes.has(Scopes::DEAL) || (scopes.has(Scopes::PEER) && !deal);
            let expected = if may { Ok(()) } else { Err(Reason::Scope) };
            assert_eq!(by(msg_type, AgentKey { scopes, ..our_key() }), expected, "{msg_type:?} {number}");
        }
    }
}

#[test]
fn a_key_counts_from_its_first_epoch_to_its_last() {
    let epoch = Epoch::from_unix_micros(NOW);
    let key = |from, until| AgentKey { from: Epoch(from), until, ..our_key() };
    for msg_type in [MsgType::Accept, MsgType::Deliver] {
        assert_eq!(by(msg_type, key(epoch.0, epoch.0)), Ok(()));
        let refused = Err(Reason::KeyEpoch { epoch });
        assert_eq!(by(msg_type, key(epoch.0 + 1, u64::MAX)), refused);
        assert_eq!(by(msg_type, key(0, epoch.0 - 1)), refused);
        // Ended before it was born.
        assert_eq!(by(msg_type, key(epoch.0 + 2, epoch.0 + 1)), refused);
    }
}

#[test]
fn the_slot_may_be_150_off_either_way_at_receipt() {
    let judge = |slot: Option<Slot>| {
        let keys = [our_key()];
        let sender = Sender::Registered { keys: &keys, seen: SeenNonces::Strict(LastNonce(None)) };
        let bytes = good(MsgType::Deliver, b"").envelope().to_cbor();
        validate(&bytes, &Context::new(NOW, slot, sender)).map(|_| ())
    };
    for off_by in [0, 1, BLOCK_REF_TOLERANCE_SLOTS] {
        assert_eq!(judge(Some(Slot(SLOT.0 - off_by))), Ok(()));
        assert_eq!(judge(Some(Slot(SLOT.0 + off_by))), Ok(()));
    }
    let off_by = BLOCK_REF_TOLERANCE_SLOTS + 1;
    assert_eq!(judge(Some(Slot(SLOT.0 - off_by))), Err(Reason::BlockRef { off_by }));
    assert_eq!(judge(Some(Slot(SLOT.0 + off_by))), Err(Reason::BlockRef { off_by }));
    assert_eq!(judge(Some(Slot(0))), Err(Reason::BlockRef { off_by: SLOT.0 }));
    // What is read again later was judged when it came.
    assert_eq!(judge(None), Ok(()));
}

/// A stranger plants a leaf that nobody can show, asks for it, and takes a part of the fine.
#[test]
fn a_leaf_that_is_too_long_to_be_shown_is_not_taken() {
    let bid = |len: usize| {
        NotarizeBid {
            bid_type: zx1_protocol::payload::BidType::Offer,
            conversation_id: ConversationId([1; 16]),
            terms: &vec![7; len - 17],
        }
        .to_bytes()
    };
    let longest = good(MsgType::NotarizeBid, &bid(MAX_LOGGED_PAYLOAD));
    assert_eq!(judge(&longest.envelope().to_cbor()), Ok(()));
    let entry = zx1_protocol::log_entry::LogEntry::of(&longest.envelope());
    let entry = entry.to_cbor::<zx1_protocol::hash::Sha3>().unwrap();
    assert!(entry.len() <= zx1_interface::constants::MAX_EVIDENCE_BYTES);
    let longer = bid(MAX_LOGGED_PAYLOAD + 1);
    let planted = good(MsgType::NotarizeBid, &longer).envelope().to_cbor();
    assert_eq!(judge(&planted), Err(Reason::TooLongForLog));
    assert_eq!(sign(&draft(MsgType::NotarizeBid, &longer)), Err(DraftError::TooLongForLog));
    // Of other types the log keeps the hash only.
    assert_eq!(judge(&good(MsgType::Deliver, &longer).envelope().to_cbor()), Ok(()));
}

#[test]
fn every_type_has_its_channel() {
    let mut types: BTreeMap<Channel, Vec<u16>> = BTreeMap::new();
    for msg_type in MsgType::ALL {
        types.entry(channel_of(msg_type)).or_default().push(msg_type.wire());
    }
    assert_eq!(types[&Channel::Broadcast], [1, 2, 13]);
    assert_eq!(types[&Channel::Notary], [8]);
    assert_eq!(types[&Channel::Reputation], [11]);
    assert_eq!(types[&Channel::Direct], [3, 4, 5, 6, 7, 9, 10, 12]);
    let topics = Channel::ALL.map(Channel::topic);
    let names = ["/0x01/v1/broadcast", "/0x01/v1/notary", "/0x01/v1/reputation"];
    assert_eq!(topics, [Some(names[0]), Some(names[1]), Some(names[2]), None]);
    for channel in Channel::ALL {
        assert_eq!(Channel::from_number(channel.number()), Some(channel));
    }
    assert_eq!(Channel::from_number(4), None);
}

fn draft<'a>(msg_type: MsgType, payload: &'a [u8]) -> Draft<'a> {
    Draft {
        msg_type,
        sender: AgentId([0xa1; 32]),
        recipient: BROADCAST,
        timestamp: NOW,
        block_ref: SLOT,
        nonce: 10,
        conversation_id: ConversationId([3; 16]),
        payload,
    }
}

fn sign(draft: &Draft<'_>) -> Result<Vec<u8>, DraftError> {
    draft.sign(|bytes| key().sign(bytes).to_bytes())
}

#[test]
fn what_receivers_would_drop_is_not_signed() {
    let beacon =
        Beacon { agent_id: AgentId([9; 32]), verifying_key: WalletKey::from([1; 32]), name: "x" }.to_bytes();
    let large = vec![0; MAX_MESSAGE_SIZE];
    let cases: [(MsgType, &[u8], DraftError); 7] = [
        (MsgType::Propose, &[0; 401], DraftError::TooLongForEvidence),
        (MsgType::NotarizeAssign, &[0; 401], DraftError::TooLongForEvidence),
        (MsgType::Feedback, b"not a rating", DraftError::Payload(PayloadError::Malformed)),
        (MsgType::NotarizeBid, &[2; 17], DraftError::Payload(PayloadError::BidType)),
        (MsgType::Beacon, b"short", DraftError::Beacon(BeaconError::TooShort)),
        (MsgType::Beacon, &beacon, DraftError::Beacon(BeaconError::OtherAgent)),
        (MsgType::Deliver, &large, DraftError::TooLarge),
    ];
    for (msg_type, payload, error) in cases {
        let draft = draft(msg_type, payload);
        assert_eq!(sign(&draft), Err(error), "{msg_type:?}");
        let asked = draft.try_sign(|_| -> Result<[u8; 64], ()> { panic!("the signer was asked") });
        assert_eq!(asked, Err(SignError::Draft(error)));
    }
}

#[test]
fn the_largest_draft_is_the_largest_message() {
    let around = sign(&draft(MsgType::Deliver, &[0; 65_000])).unwrap().len() - 65_000;
    let exact = vec![0; MAX_MESSAGE_SIZE - around];
    let bytes = sign(&draft(MsgType::Deliver, &exact)).unwrap();
    assert_eq!((bytes.len(), judge(&bytes)), (MAX_MESSAGE_SIZE, Ok(())));
    let longer = vec![0; exact.len() + 1];
    assert_eq!(sign(&draft(MsgType::Deliver, &longer)), Err(DraftError::TooLarge));
    let far_longer = vec![0; MAX_MESSAGE_SIZE + 1];
    assert_eq!(sign(&draft(MsgType::Deliver, &far_longer)), Err(DraftError::TooLarge));
}

#[test]
fn a_signers_own_error_comes_back() {
    let failed = draft(MsgType::Deliver, b"").try_sign(|_| Err("the wallet is locked"));
    assert_eq!(failed, Err(SignError::Signer("the wallet is locked")));
    assert_eq!(failed.unwrap_err().to_string(), "the wallet is locked");
}

proptest! {
    #[test]
    fn what_is_drafted_is_valid(message in message()) {
        let draft = Draft {
            msg_type: message.msg_type,
            sender: message.sender,
            recipient: message.recipient,
            timestamp: message.timestamp,
            block_ref: Slot(message.block_ref),
            nonce: message.nonce,
            conversation_id: message.conversation_id,
            payload: &message.payload,
        };
        let Ok(bytes) = sign(&draft) else { return Ok(()) };
        prop_assert_eq!(Envelope::decode(&bytes), Ok(message.envelope()));
        prop_assert_eq!(draft.signing_bytes().unwrap(), message.envelope().signing_bytes());
        let keys = [our_key()];
        let seen = SeenNonces::Strict(LastNonce(message.nonce.checked_sub(1)));
        let sender = Sender::Registered { keys: &keys, seen };
        prop_assert!(validate(&bytes, &Context::new(message.timestamp, Some(Slot(message.block_ref)), sender)).is_ok());
    }

    #[test]
    fn a_damaged_message_is_never_valid(message in message(), harm in prop::collection::vec(damage(), 1..4)) {
        let original = message.envelope().to_cbor();
        let bytes = damaged(&original, &harm);
        prop_assume!(bytes != original);
        let keys = [our_key()];
        let sender = Sender::Registered { keys: &keys, seen: SeenNonces::Strict(LastNonce(None)) };
        prop_assert!(validate(&bytes, &Context::new(message.timestamp, Some(Slot(message.block_ref)), sender)).is_err());
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(judge(&noise).is_err());
    }
}
