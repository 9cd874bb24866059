use proptest::prelude::*;
use zx1_mesh::lru::Lru;

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, u32),
    Get(u8),
    Update(u8),
    Remove(u8),
    Pop,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u8..12, any::<u32>()).prop_map(|(key, value)| Step::Insert(key, value)),
        3 => (0u8..12).prop_map(Step::Get),
        2 => (0u8..12).prop_map(Step::Update),
        1 => (0u8..12).prop_map(Step::Remove),
        1 => Just(Step::Pop),
    ]
}

proptest! {
    #[test]
    fn it_keeps_what_a_list_in_order_of_use_would(steps in prop::collection::vec(step(), 0..200), most in 0usize..8) {
        let mut lru = Lru::new(most);
        let most = most.max(1);
        // Front: used least recently.
        let mut model: Vec<(u8, u32)> = Vec::new();
        for step in steps {
            match step {
                Step::Insert(key, value) => {
                    model.retain(|(other, _)| *other != key);
                    let gone = (model.len() >= most).then(|| model.remove(0));
                    model.push((key, value));
                    prop_assert_eq!(lru.insert(key, value), gone);
                }
                Step::Get(key) => {
                    let at = model.iter().position(|(other, _)| *other == key);
                    let found = at.map(|at| model.remove(at));
                    model.extend(found);
                    prop_assert_eq!(lru.get(&key).copied(), found.map(|(_, value)| value));
                }
                Step::Update(key) => {
                    let at = model.iter().position(|(other, _)| *other == key);
                    let (_, value) = at.map_or((key, 7), |at| model.remove(at));
                    if at.is_none() && model.len() >= most {
                        model.remove(0);
                    }
                    model.push((key, value.wrapping_add(1)));
                    lru.update(&key, || 7, |value| *value = value.wrapping_add(1));
                }
                Step::Remove(key) => {
                    let at = model.iter().position(|(other, _)| *other == key);
                    prop_assert_eq!(lru.remove(&key), at.map(|at| model.remove(at).1));
                }
                Step::Pop => {
                    let gone = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(lru.pop(), gone);
                }
            }
            prop_assert_eq!(lru.len(), model.len());
            prop_assert_eq!(lru.oldest().map(|(key, value)| (*key, *value)), model.first().copied());
            let mut all: Vec<(u8, u32)> = lru.iter().map(|(key, value)| (*key, *value)).collect();
            let mut expected = model.clone();
            all.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
        }
    }
}
