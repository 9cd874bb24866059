//! The log against a model of a few lines, under random appends, groups, reopenings and torn tails.

use crate::common::{AGENT, EPOCH, Message, folder, open};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use zx1_log::{Append, LogReader};
use zx1_protocol::hash::Sha3;
use zx1_protocol::merkle::{Tree, verify};
use zx1_protocol::units::Epoch;

#[derive(Clone, Debug)]
enum Step {
    /// One message: number, epochs later, received.
    Add(u64, u64, bool),
    Group(Vec<(u64, u64, bool)>),
    Reopen,
    /// The process ends while a record is written: so many of its bytes are there.
    Tear(u64, usize),
}

fn message(number: u64, epochs: u64, received: bool) -> Message {
    let message = match number % 3 {
        0 => Message::propose(number, i128::from(number)),
        1 => Message::rating(number, 5),
        _ => Message::deliver(number),
    }
    .later(epochs);
    if received && number % 3 != 1 { message.incoming() } else { message }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = (0u64..40, 0u64..3, any::<bool>());
    let step = prop_oneof![
        6 => one.clone().prop_map(|(number, epochs, received)| Step::Add(number, epochs, received)),
        2 => prop::collection::vec(one, 0..8).prop_map(Step::Group),
        2 => Just(Step::Reopen),
        2 => (100u64..200, 1usize..1000).prop_map(|(number, cut)| Step::Tear(number, cut)),
    ];
    prop::collection::vec(step, 1..25)
}

/// Epoch to its entries; a message that any epoch has is not added again.
#[derive(Default)]
struct Model(BTreeMap<Epoch, Vec<Vec<u8>>>);

impl Model {
    /// Where the message must be afterwards, and whether it is new.
    fn add(&mut self, message: &Message) -> (Epoch, usize, bool) {
        let entry = message.encoded();
        for (epoch, entries) in &self.0 {
            if let Some(index) = entries.iter().position(|there| *there == entry) {
                return (*epoch, index, false);
            }
        }
        let epoch = Epoch::from_unix_micros(message.timestamp);
        let entries = self.0.entry(epoch).or_default();
        entries.push(entry);
        (epoch, entries.len() - 1, true)
    }
}

fn tear(dir: &Path, number: u64, cut: usize) {
    // What the record would be is learned from a copy of the folder.
    let file = dir.join("log").join(format!("{}.log", EPOCH.0));
    let Ok(before) = fs::read(&file) else { return };
    message(number * 3 + 2, 0, false).append_to(&mut open(dir)).unwrap();
    let after = fs::read(&file).unwrap();
    let end = (before.len() + cut).min(after.len() - 1);
    fs::write(&file, [&before, &after[before.len()..end]].concat()).unwrap();
}

fn check(dir: &Path, model: &Model) -> Result<(), TestCaseError> {
    let reader = LogReader::new(dir, AGENT);
    let all: Vec<Vec<u8>> = model.0.values().flatten().cloned().collect();
    let (from, to) = (Epoch(0), Epoch(u64::MAX));
    let mut entries = reader.entries(from, to).unwrap();
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().unwrap() {
        let place = model.0.get(&entry.epoch).and_then(|epoch| epoch.get(entry.index as usize));
        prop_assert_eq!(place.map(Vec::as_slice), Some(entry.encoded));
        found.push(entry.encoded.to_vec());
    }
    prop_assert_eq!(&found, &all);
    let tree = Tree::<Sha3>::of_entries(&all).unwrap();
    prop_assert_eq!(reader.root(from, to).unwrap(), tree.root());
    prop_assert_eq!(reader.len(from, to).unwrap() as usize, all.len());
    if let Some(last) = (all.len() as u32).checked_sub(1) {
        let proof = reader.proof(from, to, last).unwrap().unwrap();
        let leaf = reader.leaves(from, to).unwrap()[last as usize];
        prop_assert!(verify::<Sha3>(&tree.root(), last + 1, proof.index, &leaf, &proof.path).is_ok());
        let sought = reader.find(from, to, &leaf).unwrap().unwrap();
        prop_assert_eq!((sought.position, sought.encoded), (last, all[last as usize].clone()));
    }
    prop_assert!(reader.proof(from, to, all.len() as u32).unwrap().is_none());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_log_is_what_a_list_would_be(steps in steps()) {
        let (_temp, dir) = folder();
        let mut model = Model::default();
        let mut log = Some(open(&dir));
        for step in steps {
            let mut group = Vec::new();
            match step {
                Step::Add(number, epochs, received) => group.push(message(number, epochs, received)),
                Step::Group(all) => group.extend(all.into_iter().map(|(n, e, r)| message(n, e, r))),
                Step::Reopen => {
                    log = None;
                    let _ = log;
                    log = Some(open(&dir));
                }
                Step::Tear(number, cut) => {
                    drop(log.take());
                    tear(&dir, number, cut);
                    log = Some(open(&dir));
                }
            }
            let writer = log.as_mut().unwrap();
            let appends: Vec<Append<'_>> = group
                .iter()
                .map(|m| Append {
                    envelope: m.envelope(),
                    direction: m.direction,
                    arrival_micros: m.timestamp,
                })
                .collect();
            let appended = writer.append_all(&appends).unwrap();
            for (message, appended) in group.iter().zip(appended) {
                let place = (appended.epoch, appended.index as usize, appended.new);
                prop_assert_eq!(place, model.add(message));
            }
            check(&dir, &model)?;
        }
    }
}
