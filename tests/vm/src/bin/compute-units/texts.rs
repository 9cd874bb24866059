//! Measures FeedbackLog's instructions.

use solana_keypair::Keypair;
use zx1_chain::instructions::feedback_log;
use zx1_interface::instruction as data;
use zx1_protocol::hash::{Keccak, Sha3};

use crate::measure::{Bench, key};

fn text(length: usize) -> Vec<u8> {
    "A sentence that says what is wrong. ".bytes().cycle().take(length).collect()
}

/// Measures the instruction submit_feedback.
pub(crate) fn submitting(bench: &mut Bench) {
    let (sender, sponsor) = (bench.world.new_wallet(10), bench.world.new_wallet(10));
    let submit =
        |index, length| feedback_log::submit_feedback(key(&sender), key(&sender), index, text(length));
    bench.measure_one::<data::SubmitFeedback>("first entry, 80 bytes", submit(0, 80), &sender);
    bench.measure_one::<data::SubmitFeedback>("80 bytes", submit(1, 80), &sender);
    bench.measure_one::<data::SubmitFeedback>("700 bytes", submit(2, 700), &sender);
    let sponsored = feedback_log::submit_feedback(key(&sponsor), key(&sender), 3, text(80));
    bench.measure::<data::SubmitFeedback>("80 bytes, a sponsor pays", &[sponsored], &sponsor, &[&sender]);
}

fn draft(bench: &mut Bench, sender: &Keypair, nonce: u64, measured: bool) {
    let whole = text(2_048);
    let begin = feedback_log::begin_draft(key(sender), key(sender), nonce, 2_048, Sha3::hashv(&[&whole]));
    let chunks: Vec<&[u8]> = whole.chunks(900).collect();
    let append = |at: usize| {
        let offset = u32::try_from(at * 900).unwrap();
        feedback_log::append_draft(key(sender), nonce, offset, chunks[at].to_vec())
    };
    if measured {
        bench.measure_one::<data::BeginDraft>("2048 bytes", begin, sender);
        bench.measure_one::<data::AppendDraft>("900 bytes", append(0), sender);
    } else {
        bench.world.send_ok(&[begin], sender, &[]);
        bench.world.send_ok(&[append(0)], sender, &[]);
    }
    (1..chunks.len()).for_each(|at| drop(bench.world.send_ok(&[append(at)], sender, &[])));
}

/// begin_draft, append_draft, seal_draft, cancel_draft.
pub(crate) fn drafting(bench: &mut Bench) {
    let sender = bench.world.new_wallet(10);
    draft(bench, &sender, 0, true);
    let seal =
        |nonce, index| feedback_log::seal_draft(key(&sender), key(&sender), key(&sender), nonce, index);
    bench.measure_one::<data::SealDraft>("2048 bytes, first entry", seal(0, 0), &sender);
    draft(bench, &sender, 1, false);
    bench.measure_one::<data::SealDraft>("2048 bytes", seal(1, 1), &sender);
    draft(bench, &sender, 2, false);
    let cancel = feedback_log::cancel_draft(key(&sender), key(&sender), key(&sender), 2);
    bench.measure_one::<data::CancelDraft>("2048 bytes", cancel, &sender);
}

/// Measures the instruction resolve_entry.
pub(crate) fn resolving(bench: &mut Bench) {
    let (sender, maintainer) = (bench.world.new_wallet(10), bench.world.maintainer());
    let submit = feedback_log::submit_feedback(key(&sender), key(&sender), 0, text(80));
    bench.world.send_ok(&[submit], &sender, &[]);
    let resolve = feedback_log::resolve_entry(key(&maintainer), 0, [1; 32], [2; 32]);
    bench.measure_one::<data::ResolveEntry>("an entry", resolve, &maintainer);
}
