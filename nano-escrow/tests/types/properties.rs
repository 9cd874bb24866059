//! Rules for all inputs.

use nano_escrow::binding::Binding;
use nano_escrow::{
    Address, BlockHash, Head, PrivateKey, PublicKey, Raw, Seed, Signature, SignedBlock, StateBlock, Subtype,
    Work,
};
use proptest::prelude::*;

fn raw() -> impl Strategy<Value = Raw> {
    // Of all sizes, not only near the top.
    (any::<u128>(), 0_u32..128).prop_map(|(v, shift)| Raw(v >> shift))
}

fn block() -> impl Strategy<Value = StateBlock> {
    (any::<[u8; 32]>(), any::<[u8; 32]>(), any::<[u8; 32]>(), raw(), any::<[u8; 32]>()).prop_map(
        |(account, previous, representative, balance, link)| StateBlock {
            account: PublicKey(account),
            previous: BlockHash(previous),
            representative: PublicKey(representative),
            balance,
            link,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn amounts_survive_printing(amount in raw()) {
        prop_assert_eq!(amount.to_string().parse::<Raw>(), Ok(amount));
        prop_assert_eq!(Raw::from_xno(&amount.xno()), Ok(amount));
        prop_assert_eq!(Raw::from_xno(&amount.xno_fixed()), Ok(amount));
        prop_assert_eq!(Raw::from_be_bytes(amount.to_be_bytes()), amount);
        let json = serde_json::to_string(&amount).unwrap();
        prop_assert_eq!(serde_json::from_str::<Raw>(&json).unwrap(), amount);
    }

    #[test]
    fn reading_any_text_never_panics(text in "\\PC*", near in "[-+ 0-9.,eExX_]{0,50}") {
        for text in [text.as_str(), near.as_str()] {
            let _ = Raw::from_xno(text);
            let _ = text.parse::<Raw>();
            let _ = text.parse::<Address>();
            let _ = text.parse::<PublicKey>();
            let _ = text.parse::<Signature>();
            let _ = text.parse::<Work>();
            let _ = Seed::from_hex(text);
            let _ = SignedBlock::from_json(text);
            let _ = Binding::from_json(text);
            // What is accepted is printed again with the same digits.
            if let Ok(amount) = text.parse::<Raw>() {
                prop_assert_eq!(amount.to_string(), text);
            }
        }
    }

    #[test]
    fn reading_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = SignedBlock::from_bytes(&bytes);
        let _ = Binding::from_bytes(&bytes);
    }

    #[test]
    fn shares_are_rounded_down_and_never_overflow(amount in raw(), n in any::<u64>(), d in 1_u64..) {
        let share = amount.mul_div_floor(n, d);
        if n <= d {
            let share = share.unwrap();
            prop_assert!(share <= amount);
            // The rest is the share of the others, less than one raw away.
            let rest = amount.mul_div_floor(d - n, d).unwrap();
            let sum = share.add(rest).unwrap();
            prop_assert!(sum == amount || sum == Raw(amount.get() - 1));
        }
        if let Some(small) = amount.get().checked_mul(u128::from(n)) {
            prop_assert_eq!(share, Some(Raw(small / u128::from(d))));
        }
    }

    #[test]
    fn addresses_survive_printing_and_one_changed_character_is_seen(
        key in any::<[u8; 32]>(), place in 5_usize..65, with in 0_usize..31,
    ) {
        let address = PublicKey(key).address();
        let text = address.to_string();
        prop_assert_eq!(text.len(), 65);
        prop_assert_eq!(text.parse::<Address>(), Ok(address));
        let alphabet = b"13456789abcdefghijkmnopqrstuwxyz";
        let mut bytes = text.into_bytes();
        let other = alphabet.iter().filter(|c| **c != bytes[place]).nth(with).unwrap();
        bytes[place] = *other;
        prop_assert!(String::from_utf8(bytes).unwrap().parse::<Address>().is_err());
    }

    #[test]
    fn blocks_survive_bytes_and_json(block in block(), signature in any::<[u8; 32]>(), work in any::<u64>()) {
        prop_assert_eq!(StateBlock::from_bytes(&block.to_bytes()), block);
        let mut wide = [0; 64];
        wide[..32].copy_from_slice(&signature);
        let signed = SignedBlock { block, signature: Signature(wide), work: Some(Work(work)) };
        prop_assert_eq!(SignedBlock::from_bytes(&signed.to_bytes().unwrap()).unwrap(), signed);
        let json = serde_json::to_string(&signed).unwrap();
        prop_assert_eq!(SignedBlock::from_json(&json).unwrap(), signed);
        prop_assert_eq!(StateBlock::from_json(&json).unwrap(), block);
    }

    #[test]
    fn every_changed_bit_breaks_a_signature(
        secret in any::<[u8; 32]>(), block in block(), bit in 0_usize..512, block_bit in 0_usize..1152,
    ) {
        let key = PrivateKey::from_bytes(secret);
        let block = StateBlock { account: key.public_key(), ..block };
        let signed = block.sign(&key.keypair()).unwrap();
        prop_assert!(signed.verify_strict().is_ok());
        let mut other = signed;
        other.signature.0[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(other.verify_strict().is_err());
        prop_assert!(other.verify_network().is_err());
        let mut bytes = block.to_bytes();
        bytes[block_bit / 8] ^= 1 << (block_bit % 8);
        let other = SignedBlock { block: StateBlock::from_bytes(&bytes), ..signed };
        prop_assert!(other.hash() != signed.hash());
        prop_assert!(other.verify_network().is_err());
    }

    #[test]
    fn a_build_moves_exactly_what_was_asked(balance in raw(), amount in raw(), to in any::<[u8; 32]>()) {
        let head = Head {
            account: PublicKey([1; 32]),
            frontier: BlockHash([2; 32]),
            balance,
            representative: PublicKey([3; 32]),
        };
        let to = PublicKey(to).address();
        match head.send(to, amount) {
            Ok(block) => {
                prop_assert_eq!(block.balance.add(amount), Ok(balance));
                prop_assert_eq!(block.subtype(balance), Subtype::Send);
                prop_assert_eq!(head.check(&block), Ok(Subtype::Send));
            }
            Err(_) => prop_assert!(amount > balance || amount.is_zero() || to.is_burn()),
        }
        match head.receive(BlockHash([4; 32]), amount) {
            Ok(block) => {
                prop_assert_eq!(balance.add(amount), Ok(block.balance));
                prop_assert_eq!(head.check_receive(&block, amount), Ok(()));
            }
            Err(_) => prop_assert!(amount.is_zero() || balance.checked_add(amount).is_none()),
        }
    }

    #[test]
    fn bindings_survive_and_any_change_is_seen(
        seed in any::<[u8; 32]>(), index in any::<u32>(), created in any::<u64>(), bit in 0_usize..1600,
    ) {
        let seed = Seed::from_bytes(seed);
        let nano = nano_escrow::binding::nano_key(&seed, index);
        let binding = Binding::make(&seed, &nano.keypair(), created);
        prop_assert_eq!(binding.verify(), Ok(()));
        prop_assert_eq!(Binding::from_bytes(&binding.to_bytes()), Ok(binding));
        let json = serde_json::to_string(&binding).unwrap();
        prop_assert_eq!(Binding::from_json(&json), Ok(binding));
        let mut bytes = binding.to_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Binding::from_bytes(&bytes).unwrap().verify().is_err());
    }
}
