use proptest::prelude::*;
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_protocol::feedback_log::{TextError, check_text, entry_digest, packed_entry_parts, packed_numbers};
use zx1_protocol::hash::{Keccak, Sha3};

#[test]
fn a_text_counts_in_bytes() {
    assert_eq!(check_text(b""), Err(TextError::Empty));
    assert_eq!(check_text(b"a"), Ok(()));
    assert_eq!(check_text(&[b'a'; MAX_FEEDBACK_BYTES]), Ok(()));
    assert_eq!(check_text(&[b'a'; MAX_FEEDBACK_BYTES + 1]), Err(TextError::TooLong));
    let fits = "é".repeat(MAX_FEEDBACK_BYTES / 2);
    assert_eq!(check_text(fits.as_bytes()), Ok(()));
    assert_eq!(check_text(format!("{fits}é").as_bytes()), Err(TextError::TooLong));
}

#[test]
fn a_text_is_utf8() {
    for bad in [&[0xff][..], &[0xc3], &[0xed, 0xa0, 0x80], &[0xc0, 0x80]] {
        assert_eq!(check_text(bad), Err(TextError::NotUtf8));
    }
}

proptest! {
    #[test]
    fn any_text_within_bounds_ok(text in "\\PC{1,500}") {
        prop_assert_eq!(check_text(text.as_bytes()), Ok(()));
    }

    #[test]
    fn the_head_is_the_hash_of_the_previous_head_and_the_entry(
        head: [u8; 32], index: u64, timestamp: i64, slot: u64, sender: [u8; 32], payer: [u8; 32], text in "\\PC{1,100}",
    ) {
        let packed = [
            &index.to_be_bytes()[..], &timestamp.to_be_bytes(), &slot.to_be_bytes(), &sender, &payer, &head, text.as_bytes(),
        ]
        .concat();
        let numbers = packed_numbers(index, timestamp, slot);
        prop_assert_eq!(packed_entry_parts(&numbers, &sender, &payer, &head, text.as_bytes()).concat(), &packed[..]);
        let digest = entry_digest::<Sha3>(&head, index, timestamp, slot, &sender, &payer, text.as_bytes());
        prop_assert_eq!(digest, Sha3::hashv(&[&[&head[..], &packed].concat()]));
    }
}
