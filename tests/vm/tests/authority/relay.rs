//! Another program, to call ours from: it calls whatever a test tells it, signing with its own seeds.
//!
//! It is fifteen instructions long and assembled here, as no tool chain is at hand in a test. The test lays
//! out in advance, in an account of the program's, the C structures that the call takes; the program copies
//! them to its heap and makes the call.

use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use zx1_vm_tests::World;

/// Where the heap begins, and where the accounts that a program is called with.
const HEAP: u64 = 0x3_0000_0000;
const INPUT: u64 = 0x4_0000_0000;
/// The account in which the structures lie: a transaction is too short for those of many accounts.
const BLOB: Address = Address::new_from_array([67; 32]);
/// Bytes by which an account may grow while a program runs.
const GROWTH: usize = 10_240;

/// Names of system calls, as SBPF version 3 encodes them: murmur3 of `sol_memcpy_` and `sol_invoke_signed_c`.
const MEMCPY: u32 = 0x717c_c4a3;
const INVOKE_SIGNED_C: u32 = 0xa22b_9c85;

/// One instruction of the virtual machine.
fn op(code: u8, target: u8, source: u8, value: u32) -> [u8; 8] {
    let [a, b, c, d] = value.to_le_bytes();
    [code, source << 4 | target, 0, 0, a, b, c, d]
}

/// The program: copies `length` bytes from `data` bytes behind its input to the heap, and calls.
fn program(data: u32, length: u32, infos: u32, accounts: u32, signers: u32, count: u32) -> Vec<u8> {
    const MOVE: u8 = 0xbf;
    const SET: u8 = 0xb7;
    const ADD: u8 = 0x07;
    const SHIFT_LEFT: u8 = 0x67;
    const CALL: u8 = 0x85;
    const EXIT: u8 = 0x95;
    let code = [
        op(MOVE, 2, 1, 0),
        op(ADD, 2, 0, data),
        op(SET, 1, 0, 3),
        op(SHIFT_LEFT, 1, 0, 32),
        op(SET, 3, 0, length),
        op(CALL, 0, 0, MEMCPY),
        op(SET, 1, 0, 3),
        op(SHIFT_LEFT, 1, 0, 32),
        op(MOVE, 2, 1, 0),
        op(ADD, 2, 0, infos),
        op(SET, 3, 0, accounts),
        op(MOVE, 4, 1, 0),
        op(ADD, 4, 0, signers),
        op(SET, 5, 0, count),
        op(CALL, 0, 0, INVOKE_SIGNED_C),
        op(EXIT, 0, 0, 0),
    ]
    .concat();
    let (base, size) = (0x1_0000_0000u64.to_le_bytes(), (code.len() as u64).to_le_bytes());
    // ELF64, little-endian, shared object for BPF, entry at the code's first byte, flags: version 3; then the
    // one segment, executable, from byte 120.
    [
        &b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\xf7\0\x01\0\0\0"[..],
        &base,
        &64u64.to_le_bytes(),
        &0u64.to_le_bytes(),
        &[3, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0],
        &[1, 0, 0, 0, 1, 0, 0, 0],
        &120u64.to_le_bytes(),
        &base,
        &base,
        &size,
        &size,
        &0u64.to_le_bytes(),
        &code,
    ]
    .concat()
}

/// Loads the other program at `id`, made for this one call, and returns the instruction that starts it.
/// `signers` are lists of seeds: for the addresses that follow from them and `id`, the program signs. No
/// account of the outer instruction signs.
pub(crate) fn through_another_program(
    world: &mut World,
    id: Address,
    call: &Instruction,
    signers: &[&[&[u8]]],
) -> Instruction {
    // Where the parts of each account will lie when the program is called.
    let mut keys = Vec::new();
    let mut infos = Vec::new();
    let mut at = INPUT + 8;
    for meta in &call.accounts {
        let length = world.data(&meta.pubkey).len();
        let executable = world.account(&meta.pubkey).is_some_and(|account| account.executable);
        let (key, owner, lamports, data) = (at + 8, at + 40, at + 72, at + 88);
        keys.push(key);
        infos.extend([key, lamports, length as u64, data, owner, u64::MAX].map(u64::to_le_bytes).concat());
        // Of the outer instruction: nobody signs.
        infos.extend([0, u8::from(meta.is_writable), u8::from(executable), 0, 0, 0, 0, 0]);
        at = data + ((length + GROWTH).next_multiple_of(8) + 8) as u64;
    }
    // The last account's data, which is all that the program reads itself.
    let blob_data_at = at + 88 - INPUT;

    let accounts = call.accounts.len() as u64;
    let metas_at = HEAP + 40;
    let infos_at = metas_at + 16 * accounts;
    let signers_at = infos_at + 56 * accounts;
    let seeds_at = signers_at + 16 * signers.len() as u64;
    let seeds: Vec<&[u8]> = signers.iter().flat_map(|seeds| seeds.iter().copied()).collect();
    let id_at = seeds_at + 16 * seeds.len() as u64;
    let call_data_at = id_at + 32;
    let bytes_at = call_data_at + call.data.len() as u64;

    let pair = |one: u64, two: u64| [one.to_le_bytes(), two.to_le_bytes()].concat();
    let mut blob = [pair(id_at, metas_at), pair(accounts, call_data_at)].concat();
    blob.extend((call.data.len() as u64).to_le_bytes());
    for (meta, key) in call.accounts.iter().zip(&keys) {
        blob.extend(key.to_le_bytes());
        blob.extend([u8::from(meta.is_writable), u8::from(meta.is_signer), 0, 0, 0, 0, 0, 0]);
    }
    blob.extend(infos);
    let mut list = seeds_at;
    for seeds in signers {
        blob.extend(pair(list, seeds.len() as u64));
        list += 16 * seeds.len() as u64;
    }
    let mut at = bytes_at;
    for seed in &seeds {
        blob.extend(pair(at, seed.len() as u64));
        at += seed.len() as u64;
    }
    blob.extend(call.program_id.to_bytes());
    blob.extend(&call.data);
    blob.extend(seeds.concat());

    let number = |value: u64| u32::try_from(value).unwrap();
    let elf = program(
        number(blob_data_at),
        number(blob.len() as u64),
        number(infos_at - HEAP),
        number(accounts),
        number(signers_at - HEAP),
        number(signers.len() as u64),
    );
    world.svm.add_program(id, &elf).expect("the other program loads");
    let outer = call.accounts.iter().map(|meta| AccountMeta { is_signer: false, ..*meta });
    let mut accounts: Vec<AccountMeta> = outer.collect();
    assert!(
        accounts.iter().any(|meta| meta.pubkey == call.program_id),
        "the called program is among the accounts"
    );
    world.set_data(&BLOB, &id, &blob);
    accounts.push(AccountMeta::new_readonly(BLOB, false));
    Instruction { program_id: id, accounts, data: Vec::new() }
}
