//! `zx1 merkle` against the given vectors.

use crate::support::{Home, Refusal, said, vectors};

fn trees() -> Vec<(Vec<String>, String)> {
    let file = vectors("merkle.json");
    let trees = file["trees"].as_object().unwrap().values();
    let read = |tree: &serde_json::Value| {
        let entries =
            tree["entries"].as_array().unwrap().iter().map(|entry| entry.as_str().unwrap().to_owned());
        (entries.collect(), tree["root"].as_str().unwrap().to_owned())
    };
    trees.map(read).collect()
}

#[test]
fn roots_are_those_of_the_vectors() {
    let home = Home::new();
    assert!(trees().len() >= 5);
    for (entries, root) in trees() {
        let file = home.file("entries", entries.join("\n"));
        let found = home.json(&["merkle", "root", &file]);
        assert_eq!(
            (found["root"].as_str(), found["len"].as_u64()),
            (Some(root.as_str()), Some(entries.len() as u64))
        );
        let mut piped = home.command(["--output", "json", "merkle", "root"]);
        assert_eq!(said(piped.write_stdin(entries.join("\r\n"))).json()["root"], root.as_str());
    }
}

#[test]
fn every_entry_of_every_tree_is_proven_and_verified_ok() {
    let home = Home::new();
    for (entries, root) in trees() {
        let file = home.file("entries", entries.join("\n"));
        for (index, entry) in entries.iter().enumerate() {
            let number = index.to_string();
            let proof = home.zx1(["--output", "json", "merkle", "prove", &file, "--index", &number]);
            assert_eq!(proof.json()["root"], root.as_str());
            let proof_file = home.file("proof.json", proof.ok());
            home.zx1(["merkle", "verify", &proof_file]).ok();
            let proof = proof.json();
            let path: Vec<&str> =
                proof["path"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
            let (len, padded) = (proof["len"].to_string(), proof["index"].to_string());
            let mut arguments = vec![
                "merkle", "verify", "--root", &root, "--len", &len, "--index", &padded, "--entry", entry,
            ];
            let path = path.join(",");
            if !path.is_empty() {
                arguments.extend(["--path", &path]);
            }
            home.zx1(&arguments).ok();
        }
    }
}

#[test]
fn a_wrong_proof_fails_with_its_reason() {
    let home = Home::new();
    let file = home.file("entries", "00\n01\n02\n03\n04");
    let proof = home.json(&["merkle", "prove", &file, "--index", "2"]);
    let with = |field: &str, value: serde_json::Value| {
        let mut proof = proof.clone();
        proof[field] = value;
        home.file(&format!("{field}.json"), proof.to_string())
    };
    for (field, value, words) in [
        ("index", 4.into(), "does not lead to the tree's root"),
        ("index", 1.into(), "points at the tree's padding"),
        ("index", 8.into(), "lies outside the tree"),
        ("path", serde_json::json!([]), "must have exactly 3 hashes"),
        ("leaf", "00".repeat(32).into(), "does not lead to the tree's root"),
    ] {
        let said = home.zx1(["merkle", "verify", &with(field, value)]);
        assert!(said.fails(7474).contains(words), "{said:?}");
    }
    let junk = home.file("junk.json", "{}");
    home.zx1(["merkle", "verify", &junk]).fails(7475);
}

#[test]
fn malformed_entries_are_refused_with_their_line() {
    let home = Home::new();
    for (content, number, words) in [
        ("00\n0g\n", 7470, "Line 2 is not valid hexadecimal: invalid digit 'g' at position 1"),
        ("00\n\n012\n", 7470, "Line 3 is not valid hexadecimal: odd number of digits (3)"),
    ] {
        let file = home.file("entries", content);
        let said = home.zx1(["merkle", "root", &file]);
        assert!(said.fails(number).contains(words), "{said:?}");
    }
    let file = home.file("entries", "00\n");
    home.zx1(["merkle", "root", "--leaves", &file]).fails(7471);
    home.zx1(["merkle", "prove", &file, "--index", "1"]).fails(7472);
    home.zx1(["merkle", "root", "missing"]).fails(7406);
    home.zx1(["merkle", "verify"]).is_usage(7400);
}

#[test]
fn leaf_hashes_give_the_same_root_as_their_entries() {
    let home = Home::new();
    let entries = home.file("entries", "00\n01\n02");
    let leaves: Vec<String> = (0..3)
        .map(|index| {
            let proof = home.json(&["merkle", "prove", &entries, "--index", &index.to_string()]);
            proof["leaf"].as_str().unwrap().to_owned()
        })
        .collect();
    let leaves = home.file("leaves", leaves.join("\n"));
    let root = |arguments: &[&str]| home.json(arguments)["root"].clone();
    assert_eq!(root(&["merkle", "root", &entries]), root(&["merkle", "root", "--leaves", &leaves]));
}
