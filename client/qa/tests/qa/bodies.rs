//! What each fuzz target of this crate does with its bytes. `tests/fuzz` runs them too.

use zx1_qa::finding::Text;
use zx1_qa::patch::{Class, Patch};
use zx1_qa::repro::Repro;

/// A target's body.
pub(crate) type Body = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Body); 3] =
    [("qa_finding", qa_finding), ("qa_repro", qa_repro), ("qa_patch", qa_patch)];

/// An entry of the log: a finding that can be written is read back as it is.
pub(crate) fn qa_finding(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Text::Finding(finding) = Text::parse(&text)
        && let Ok(built) = finding.build()
    {
        assert_eq!(Text::parse(&built), Text::Finding(finding));
    }
}

/// A line: what is read has one form, which is read as the same call.
pub(crate) fn qa_repro(bytes: &[u8]) {
    if let Ok(repro) = Repro::parse(&String::from_utf8_lossy(bytes)) {
        assert_eq!(Repro::parse(&repro.to_string()), Ok(repro));
    }
}

/// A patch: its tests alone have no source, and one hunk of the source is a patch of that file.
pub(crate) fn qa_patch(bytes: &[u8]) {
    let Ok(patch) = Patch::parse(bytes, None) else { return };
    assert!(patch.files().iter().all(|file| file.class != Class::Protected));
    assert!(patch.only(Class::Test).len() + patch.only(Class::Source).len() <= bytes.len());
    assert!(!patch.source_hunks().is_empty());
}
