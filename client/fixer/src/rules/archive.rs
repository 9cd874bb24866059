//! Rules for archives made and read with tar.

use super::Repair;
use super::case::{Case, OrNotMine, Try, mine, regex};
use super::edit::missing_folder;
use super::probe::Probe;
use super::text::RelPath;

pub(crate) fn wrong_compression(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let tar = case.only(&["tar"])?;
    case.find(regex!(
        r"(?m)^(?:gzip: stdin: not in gzip format|bzip2: \(stdin\) is not a bzip2 file\.|xz: ",
        r"\(stdin\): File format not recognized|zstd: .*unsupported format.*)$"
    ))?;
    case.find(regex!(r"(?m)^tar: Child returned status \d+$"))?;
    let word = tar.args().first().mine()?;
    // The first word holds the letters, with or without a dash: xzf, -xzf, -tjf.
    let letters = word.text.strip_prefix('-').unwrap_or(&word.text);
    mine(!word.text.starts_with("--") && letters.contains(['x', 't']) && letters.contains('f'))?;
    let kept: String = word.text.chars().filter(|letter| !matches!(letter, 'z' | 'j' | 'J')).collect();
    mine(kept != word.text)?;
    Repair::command(
        case.with_word(word, &kept)?,
        "The archive is not compressed as the command says; without the letter tar sees by itself how it is.",
        94,
    )
}

pub(crate) fn target_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let tar = case.any(&["tar"])?;
    let found = case.find(regex!(r"(?m)^tar: ([^:\n]+): Cannot open: No such file or directory$"))?;
    let raw = found.get(1).mine()?.as_str();
    let named = tar.option("-C").or_else(|| tar.option("--directory"));
    mine(named == Some(raw))?;
    missing_folder(probe, &RelPath::parse(raw).or_decline("the folder lies outside the working folder")?, 95)
}
