use proptest::prelude::*;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::merkle::{
    MerkleError, Tree, TreeError, ZERO, depth, leaf, node, padding, root_of_leaves, verify, width,
};

#[derive(Clone)]
struct OracleKeccak;

impl rs_merkle::Hasher for OracleKeccak {
    type Hash = Hash;

    fn hash(data: &[u8]) -> Hash {
        Sha3::hashv(&[data])
    }
}

fn leaves(len: u32) -> Vec<Hash> {
    (0..len).map(|i| leaf::<Sha3>(&i.to_be_bytes())).collect()
}

/// The whole padded row, built naively.
fn padded(leaves: &[Hash]) -> Vec<Hash> {
    let mut row = vec![ZERO; leaves.len().next_power_of_two() - leaves.len()];
    row.extend_from_slice(leaves);
    row
}

fn naive_root(row: &[Hash]) -> Hash {
    match row {
        [] => ZERO,
        [only] => *only,
        _ => {
            let (left, right) = row.split_at(row.len() / 2);
            Sha3::hashv(&[&naive_root(left), &naive_root(right)])
        }
    }
}

fn tree(len: u32) -> Tree<Sha3> {
    Tree::new(leaves(len)).unwrap()
}

#[test]
fn depth_is_the_logarithm_rounded_up() {
    for len in 1..5_000u32 {
        assert_eq!(1u32 << depth(len), len.next_power_of_two(), "of {len}");
        assert_eq!(width(len), u64::from(len.next_power_of_two()));
        assert_eq!(padding(len) + u64::from(len), width(len));
    }
    assert_eq!((depth(0), width(0), padding(0)), (0, 0, 0));
    assert_eq!((depth(1 << 31), width(1 << 31)), (31, 1 << 31));
    assert_eq!((depth((1 << 31) + 1), width(u32::MAX)), (32, 1 << 32));
}

#[test]
fn no_entries_have_the_zero_root_and_one_entry_has_its_leaf() {
    assert_eq!((tree(0).root(), tree(0).is_empty()), (ZERO, true));
    assert_eq!((tree(1).root(), tree(1).len()), (leaves(1)[0], 1));
    assert_eq!(tree(1).proof_of_entry(0).unwrap().path, Vec::<Hash>::new());
}

#[test]
fn root_agrees_with_a_naive_tree_and_with_rs_merkle() {
    for len in 1..=130 {
        let row = padded(&leaves(len));
        let oracle = rs_merkle::MerkleTree::<OracleKeccak>::from_leaves(&row);
        assert_eq!(tree(len).root(), naive_root(&row), "of {len}");
        assert_eq!(Some(tree(len).root()), oracle.root(), "of {len}");
    }
}

#[test]
fn every_proof_of_every_small_tree_holds_and_is_rs_merkles() {
    for len in 1..=40 {
        let (tree, leaves) = (tree(len), leaves(len));
        let oracle = rs_merkle::MerkleTree::<OracleKeccak>::from_leaves(&padded(&leaves));
        for entry in 0..len {
            let proof = tree.proof_of_entry(entry).unwrap();
            let index = usize::try_from(proof.index).unwrap();
            assert_eq!(u64::from(proof.index), padding(len) + u64::from(entry));
            assert_eq!(proof.path, oracle.proof(&[index]).proof_hashes(), "{entry} of {len}");
            assert_eq!(tree.proof_at(proof.index), Some(proof.clone()));
            let leaf = &leaves[entry as usize];
            assert_eq!(verify::<Sha3>(&tree.root(), len, proof.index, leaf, &proof.path), Ok(()));
        }
        assert_eq!(tree.proof_of_entry(len), None);
    }
}

#[test]
fn a_proof_holds_at_no_other_index() {
    for len in 1..=20u32 {
        let (tree, leaves) = (tree(len), leaves(len));
        for entry in 0..len {
            let proof = tree.proof_of_entry(entry).unwrap();
            for index in (0..80).chain([u32::MAX, u32::MAX - 1, 1 << 31]).filter(|i| *i != proof.index) {
                let expected = match u64::from(index) {
                    far if far >= width(len) => MerkleError::IndexOutOfRange,
                    low if low < padding(len) => MerkleError::PaddingIndex,
                    _ => MerkleError::RootMismatch,
                };
                let found = verify::<Sha3>(&tree.root(), len, index, &leaves[entry as usize], &proof.path);
                assert_eq!(found, Err(expected), "{entry} of {len} at {index}");
            }
        }
    }
}

#[test]
fn padding_is_no_entry() {
    let (len, leaves) = (5, leaves(5));
    let root = tree(5).root();
    // A path to the padding exists, and the root follows from it; the index is what refuses it.
    let right = naive_root(&padded(&leaves)[4..]);
    let path = [ZERO, node::<Sha3>(&ZERO, &leaves[0]), right];
    let from_path = node::<Sha3>(&node::<Sha3>(&node::<Sha3>(&ZERO, &path[0]), &path[1]), &path[2]);
    assert_eq!(from_path, root);
    assert_eq!(verify::<Sha3>(&root, len, 0, &ZERO, &path), Err(MerkleError::PaddingIndex));
    assert_eq!(tree(5).proof_at(2), None);
    assert_eq!(tree(5).proof_at(3), tree(5).proof_of_entry(0));
    assert_eq!(tree(5).proof_at(8), None);
}

#[test]
fn an_inner_node_does_not_pass_as_a_leaf() {
    let (tree, leaves) = (tree(4), leaves(4));
    let (left, right) = (node::<Sha3>(&leaves[0], &leaves[1]), node::<Sha3>(&leaves[2], &leaves[3]));
    assert_eq!(node::<Sha3>(&left, &right), tree.root());
    let refused = Err(MerkleError::WrongProofLength { expected: 2 });
    assert_eq!(verify::<Sha3>(&tree.root(), 4, 0, &left, &[right]), refused);
    assert_eq!(verify::<Sha3>(&tree.root(), 4, 0, &tree.root(), &[]), refused);
}

#[test]
fn a_proof_of_the_wrong_length_fails() {
    for len in 1..=20 {
        let tree = tree(len);
        let proof = tree.proof_of_entry(0).unwrap();
        let refused = Err(MerkleError::WrongProofLength { expected: depth(len) });
        let mut longer = proof.path.clone();
        longer.push(ZERO);
        assert_eq!(verify::<Sha3>(&tree.root(), len, proof.index, &leaves(1)[0], &longer), refused);
        if let Some((_, shorter)) = proof.path.split_last() {
            assert_eq!(verify::<Sha3>(&tree.root(), len, proof.index, &leaves(1)[0], shorter), refused);
        }
    }
}

#[test]
fn nothing_is_in_an_empty_tree() {
    assert_eq!(verify::<Sha3>(&ZERO, 0, 0, &ZERO, &[]), Err(MerkleError::EmptyTree));
    assert_eq!(tree(0).proof_of_entry(0), None);
}

#[test]
fn a_streamed_root_is_the_trees() {
    for len in 0..=130 {
        assert_eq!(root_of_leaves::<Sha3>(len, leaves(len)), Ok(tree(len).root()), "of {len}");
    }
}

#[test]
fn a_wrong_count_of_streamed_leaves_fails() {
    for len in 1..=33 {
        assert_eq!(root_of_leaves::<Sha3>(len, leaves(len - 1)), Err(TreeError::WrongCount));
        assert_eq!(root_of_leaves::<Sha3>(len - 1, leaves(len)), Err(TreeError::WrongCount));
    }
}

#[test]
fn entries_and_their_leaves_make_the_same_tree() {
    let entries: Vec<[u8; 4]> = (0..9u32).map(u32::to_be_bytes).collect();
    assert_eq!(Tree::<Sha3>::of_entries(&entries).unwrap().root(), tree(9).root());
}

proptest! {
    #[test]
    fn a_changed_leaf_sibling_or_root_fails(
        len in 2u32..300, pick: prop::sample::Index, part: prop::sample::Index, bit in 0usize..256,
    ) {
        let (tree, leaves) = (tree(len), leaves(len));
        let entry = pick.index(len as usize);
        let proof = tree.proof_of_entry(entry as u32).unwrap();
        let (mut root, mut leaf, mut path) = (tree.root(), leaves[entry], proof.path.clone());
        prop_assert_eq!(verify::<Sha3>(&root, len, proof.index, &leaf, &path), Ok(()));
        let changed = match part.index(path.len() + 2) {
            0 => &mut root,
            1 => &mut leaf,
            sibling => &mut path[sibling - 2],
        };
        changed[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(
            verify::<Sha3>(&root, len, proof.index, &leaf, &path),
            Err(MerkleError::RootMismatch)
        );
    }

    #[test]
    fn no_numbers_make_it_panic(len: u32, index: u32, hashes in prop::collection::vec(any::<Hash>(), 0..40)) {
        prop_assert!(verify::<Sha3>(&[1; 32], len, index, &[2; 32], &hashes).is_err());
    }
}
