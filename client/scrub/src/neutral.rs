//! A stranger's text, made neutral: nothing hidden, no marks of chat templates, bounded.

/// What chat templates (ChatML, Llama 2 to 4, Mistral, Gemma, GLM, DeepSeek, Qwen, Command R, Phi, Harmony
/// and the like) and our fences use as marks, in lower case. The flag: whether one in a stranger's text is a
/// reason for suspicion; the others also occur in honest HTML and XML.
const MARKS: [(&str, bool); 36] = [
    ("<|", true),
    ("<\u{ff5c}", true),
    ("<<<data", true),
    ("<<<end", true),
    ("[inst]", true),
    ("[/inst]", true),
    ("<<sys>>", true),
    ("<</sys>>", true),
    ("<start_of_turn>", true),
    ("<end_of_turn>", true),
    ("<turn|", true),
    ("[gmask]", true),
    ("<sop>", true),
    ("<eop>", true),
    ("[system_prompt]", true),
    ("[/system_prompt]", true),
    ("[available_tools]", true),
    ("[/available_tools]", true),
    ("[tool_calls]", true),
    ("[tool_results]", true),
    ("[/tool_results]", true),
    ("<function_calls>", true),
    ("<function_results>", true),
    ("<bos>", false),
    ("<eos>", false),
    ("<pad>", false),
    ("<unk>", false),
    ("<s>", false),
    ("</s>", false),
    ("<think>", false),
    ("</think>", false),
    ("<tool_call>", false),
    ("</tool_call>", false),
    ("<system>", false),
    ("</system>", false),
    ("<tools>", false),
];

/// What is put into a mark to break it.
const DOT: char = '·';

/// Bytes that [`fit`] keeps for its own sentence.
const NOTE: usize = 64;

/// A text made neutral.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Neutral {
    /// The text. Of control characters it has newlines and tabs only.
    pub text: String,
    /// Whether something was in it that honest texts do not have: marks of chat templates or fences, the
    /// fence's token, invisible tag characters, or overrides of the writing direction.
    pub suspicious: bool,
    /// Whether a part was left out.
    pub cut: bool,
}

/// Make a text neutral. `token` is the fence's, if there is one. Never shorter than the text, but for
/// carriage returns before newlines, which are dropped.
pub fn neutral(text: &str, token: Option<&str>) -> Neutral {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut suspicious = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (here, after) = rest.split_at(c.len_utf8());
        if c == '\r' && after.starts_with('\n') {
            rest = after;
            continue;
        }
        if is_hidden(c) {
            suspicious |= is_suspicious(c);
            out.push_str(&format!("⟦U+{:04X}⟧", u32::from(c)));
        } else {
            out.push_str(here);
            if let Some(is_reason) = mark_at(rest, c, token) {
                suspicious |= is_reason;
                out.push(DOT);
            }
        }
        rest = after;
    }
    Neutral { text: out, suspicious, cut: false }
}

/// Whether a mark begins here, and whether it is a reason for suspicion.
fn mark_at(rest: &str, first: char, token: Option<&str>) -> Option<bool> {
    let begins = |mark: &str| rest.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark));
    if token.is_some_and(&begins) {
        return Some(true);
    }
    if !matches!(first, '<' | '[') {
        return None;
    }
    MARKS.iter().find(|(mark, _)| begins(mark)).map(|(_, is_reason)| *is_reason)
}

/// Make a text neutral and bound it: at most `bound` bytes (at least 256), counting 3 bytes for each line's
/// end, because every line gets a prefix in a fence. Head and tail are kept.
pub fn fit(text: &str, bound: usize, token: Option<&str>) -> Neutral {
    let bound = bound.max(256);
    // Only what can be kept is worked on, so that a huge text costs no more than a large one.
    if text.len() <= bound {
        let whole = neutral(text, token);
        if cost(&whole.text) <= bound {
            return whole;
        }
    }
    let share = (bound - NOTE) / 2;
    let head_raw = prefix(text, bound);
    let tail_raw = suffix(text, bound);
    let head = neutral(head_raw, token);
    let tail = neutral(tail_raw, token);
    let head_kept = prefix_by_cost(&head.text, share);
    let tail_kept = suffix_by_cost(&tail.text, share);
    let left_out = text.len().saturating_sub(head_kept.len() + tail_kept.len()).max(1);
    Neutral {
        text: format!("{head_kept}\n⟦about {left_out} bytes left out⟧\n{tail_kept}"),
        suspicious: head.suspicious || tail.suspicious,
        cut: true,
    }
}

/// One line of a stranger's text for an error or a log: neutral, cut to `max` bytes.
pub fn one_line(text: &str, max: usize) -> String {
    let raw = prefix(text.trim(), max);
    let line = neutral(raw, None).text.replace(['\n', '\t'], " ");
    let kept = prefix(&line, max);
    if kept.len() < line.len() || raw.len() < text.trim().len() { format!("{kept}...") } else { line }
}

/// What a text costs in a fence.
fn cost(text: &str) -> usize {
    text.len() + 2 * text.bytes().filter(|b| *b == b'\n').count() + 2
}

fn prefix(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn suffix(text: &str, bytes: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes))..).unwrap_or(text)
}

fn char_cost(c: char) -> usize {
    if c == '\n' { 3 } else { c.len_utf8() }
}

fn prefix_by_cost(text: &str, budget: usize) -> &str {
    let mut left = budget;
    for (i, c) in text.char_indices() {
        match left.checked_sub(char_cost(c)) {
            Some(rest) => left = rest,
            None => return prefix(text, i),
        }
    }
    text
}

fn suffix_by_cost(text: &str, budget: usize) -> &str {
    let mut left = budget;
    let mut kept = 0;
    for c in text.chars().rev() {
        match left.checked_sub(char_cost(c)) {
            Some(rest) => left = rest,
            None => break,
        }
        kept += c.len_utf8();
    }
    suffix(text, kept)
}

/// Whether a character does not show, or shows as something else: controls, format characters, fillers, odd
/// spaces, private use, noncharacters, and the brackets that we write them in.
fn is_hidden(c: char) -> bool {
    if matches!(c, '\n' | '\t') {
        return false;
    }
    c.is_control()
        || matches!(u32::from(c),
            0x00A0 | 0x00AD | 0x034F | 0x0600..=0x0605 | 0x061C | 0x06DD | 0x070F | 0x0890..=0x0891 | 0x08E2
            | 0x115F..=0x1160 | 0x1680 | 0x17B4..=0x17B5 | 0x180B..=0x180F
            | 0x2000..=0x200F | 0x2028..=0x202F | 0x205F..=0x206F | 0x2800 | 0x3000 | 0x3164
            | 0x27E6 | 0x27E7
            | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x110BD | 0x110CD | 0x13430..=0x1345F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
            | 0xE0000..=0x10FFFF)
        || (u32::from(c) & 0xFFFE) == 0xFFFE
}

/// Whether a hidden character is one that only somebody who hides something uses.
fn is_suspicious(c: char) -> bool {
    matches!(u32::from(c), 0x202A..=0x202E | 0x2066..=0x2069 | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_written_in_lower_case_and_begin_with_a_bracket() {
        for (mark, _) in MARKS {
            assert_eq!(mark, mark.to_ascii_lowercase());
            assert!(mark.starts_with(['<', '[']), "{mark}");
        }
    }

    #[test]
    fn a_text_that_fits_is_whole_ok() {
        let text = "a\nb\tc é 漢 <- -> << \\ $x `y`";
        assert_eq!(fit(text, 256, None), Neutral { text: text.into(), suspicious: false, cut: false });
    }

    #[test]
    fn of_a_long_text_head_and_tail_are_kept() {
        let text = format!("HEAD{}TAIL", "é".repeat(100_000));
        let kept = fit(&text, 1000, None);
        assert!(kept.cut && kept.text.len() <= 1000);
        assert!(kept.text.starts_with("HEAD") && kept.text.ends_with("TAIL"), "{}", kept.text);
        assert!(kept.text.contains("bytes left out"));
    }

    #[test]
    fn a_line_for_a_log_is_one_line() {
        assert_eq!(one_line("a\nb\u{1b}[0m", 100), "a b⟦U+001B⟧[0m");
        assert_eq!(one_line("abcdef", 3), "abc...");
    }
}
