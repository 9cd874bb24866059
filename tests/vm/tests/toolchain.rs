//! The SBF tool chain computes what the host computes: every case of the self-test program, on the same
//! inputs, in LiteSVM and natively. This is what proves the build recipe on a new machine or compiler.
#![allow(clippy::unwrap_used)] // A test fails by panicking, in its helpers too.

extern crate alloc;

#[path = "../../programs/self-test/src/cases/mod.rs"]
mod cases;

use sha3::{Digest, Keccak256};
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_vm_tests::{World, compute_limit};

const INPUTS: u64 = 320;
const PROGRAM: Address = Address::new_from_array([77; 32]);

/// Bytes of a seed: random ones, with words of all kinds of edges strewn in.
fn input(case: u8, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in 0..8u8 {
        bytes.extend(Keccak256::digest([&[case, block][..], &seed.to_le_bytes()].concat()));
    }
    // A word that is zero, one, the largest or smallest, or has only a few bits, is where
    // multiplication, division and sign extension go wrong.
    const EDGES: [u64; 10] = [
        0,
        1,
        u64::MAX,
        1 << 63,
        i64::MAX as u64,
        1 << 32,
        u32::MAX as u64,
        2,
        0x8000_0000,
        0xFFFF_FFFF_0000_0000,
    ];
    let choice = Keccak256::digest([&[case, 255][..], &seed.to_le_bytes()].concat());
    for (word, pick) in bytes.chunks_exact_mut(8).zip(choice.iter().cycle()) {
        if seed % 2 == 1 && *pick < 128 {
            word.copy_from_slice(&EDGES[usize::from(*pick) % EDGES.len()].to_le_bytes());
        }
    }
    // An odd length makes the words of a second round unaligned.
    bytes.truncate(bytes.len() - (seed % 9) as usize);
    bytes
}

fn compare(case: usize) {
    let number = u8::try_from(case).unwrap();
    let mut world = World::empty();
    world.load_program("zx1_self_test", PROGRAM);
    let payer = world.new_wallet(100);
    for seed in 0..INPUTS {
        let input = input(number, seed);
        let expected = cases::run(number, &input).expect("a case");
        assert!(!expected.is_empty());
        let data = [&[number][..], &input].concat();
        let call = Instruction { program_id: PROGRAM, accounts: Vec::new(), data };
        let receipt = world.send_ok(&[compute_limit(1_400_000), call], &payer, &[]);
        assert_eq!(receipt.return_data, expected, "{} (case {case}), seed {seed}", cases::NAMES[case]);
    }
}

/// One test per case, so that they run side by side and a failure names its property.
macro_rules! compare_cases {
    ($($name:ident = $case:literal),* $(,)?) => {
        $(#[test] fn $name() { compare($case); })*
        #[test]
        fn every_case_has_a_test() {
            assert_eq!([$($case),*].as_slice(), (0..cases::NAMES.len()).collect::<Vec<usize>>());
            assert!(cases::run(u8::try_from(cases::NAMES.len()).unwrap(), &[]).is_none());
        }
    };
}

compare_cases! {
    eight_arguments_ok = 0,
    mixed_arguments_ok = 1,
    struct_returns_ok = 2,
    nested_returns_ok = 3,
    wide_multiplication_ok = 4,
    unsigned_wide_division_ok = 5,
    signed_wide_division_ok = 6,
    signed_division_ok = 7,
    narrow_division_ok = 8,
    checked_multiplication_ok = 9,
    checked_wide_multiplication_ok = 10,
    checked_sums_ok = 11,
    full_products_ok = 12,
    vectors_ok = 13,
    boxes_ok = 14,
    slices_ok = 15,
    copies_ok = 16,
    moves_ok = 17,
    wide_bits_ok = 18,
    counting_bits_ok = 19,
    many_arms_ok = 20,
    extension_ok = 21,
    byte_order_ok = 22,
    unaligned_ok = 23,
    indirect_calls_ok = 24,
    large_frames_ok = 25,
    comparisons_ok = 26,
    utf8_ok = 27,
    roots_ok = 28,
}
