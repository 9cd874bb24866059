//! Words for people: plurals, moments, shortened identifiers, and text of strangers that cannot steer a
//! terminal.

use std::borrow::Cow;
use std::fmt::Display;
use zx1_net::steers;

pub use zx1_net::{clause, one_line};

/// Characters of an identifier that are kept at each end when it is shortened.
const ENDS: usize = 6;
/// Length up to which identifiers stay whole: shortening would save nothing.
const SHORT: usize = 2 * ENDS + 4;

/// "1 entry", "2 entries".
pub fn count<N: Display + Copy + TryInto<u64>>(number: N, one: &str, many: &str) -> String {
    let noun = if number.try_into().is_ok_and(|number| number == 1) { one } else { many };
    format!("{number} {noun}")
}

/// A moment in UTC, to the minute: "2026-11-21 15:33 UTC". JSON has the seconds.
pub fn moment(unix: i64) -> String {
    jiff::Timestamp::from_second(unix)
        .map_or_else(|_| format!("Unix time {unix}"), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// "7 h 12 min" from seconds; parts that are zero are left out.
pub fn duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, 0, _) => format!("{days} d"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// An address or a hash as a table shows it where there is no room: its first and its last six characters.
pub fn short(identifier: &str) -> String {
    let letters: Vec<char> = identifier.chars().collect();
    if letters.len() <= SHORT || identifier.contains(' ') {
        return identifier.to_owned();
    }
    let (first, last) = (letters.iter().take(ENDS), letters.iter().skip(letters.len().saturating_sub(ENDS)));
    first.chain(['…'].iter()).chain(last).collect()
}

/// Text without what [`steers`] a terminal. Line breaks stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    let harms = |letter: char| letter != '\n' && steers(letter);
    if !text.contains(harms) {
        return Cow::Borrowed(text);
    }
    let shown = |letter| match letter {
        '\t' => ' ',
        letter if harms(letter) => '\u{fffd}',
        letter => letter,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// JSON in which what [`steers`] a terminal is written as `\\u` and four digits: serde leaves all but the lowest
/// control characters as they are. A reader sees the same strings.
pub fn inert_json(json: String) -> String {
    let harms = |letter: char| letter != '\n' && steers(letter);
    if !json.contains(harms) {
        return json;
    }
    let mut inert = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if harms(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                inert.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            inert.push(letter);
        }
    }
    inert
}

/// Text without colours and other styles of a terminal.
pub fn unstyled(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_everything_else_is_not() {
        let counted: Vec<String> = [0u64, 1, 2].iter().map(|n| count(*n, "entry", "entries")).collect();
        assert_eq!(counted, ["0 entries", "1 entry", "2 entries"]);
        assert_eq!(count(1usize, "day", "days"), "1 day");
    }

    #[test]
    fn moments_are_utc() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(moment(i64::MAX), format!("Unix time {}", i64::MAX));
    }

    #[test]
    fn durations_leave_out_what_is_zero() {
        let shown = [0, 59, 60, 3_600, 3_660, 86_400, 90_000].map(duration);
        assert_eq!(shown, ["0 s", "59 s", "1 min", "1 h", "1 h 1 min", "1 d", "1 d 1 h"]);
    }

    #[test]
    fn identifiers_are_shortened_to_their_ends_and_words_are_not() {
        assert_eq!(short("6jTzaNctHMGFLaHr7XGftwsJTXXQPp3roGEZXGbd7dqU"), "6jTzaN…bd7dqU");
        for whole in ["", "everybody", "1234567890123456", "a sentence with spaces in it"] {
            assert_eq!(short(whole), whole);
        }
    }

    #[test]
    fn json_steers_no_terminal_and_says_the_same() {
        let said = serde_json::json!({ "name\u{202e}": "a\u{1b}[2J\u{9b}b\u{2028}\u{7f}c\nd" });
        for json in [serde_json::to_string(&said).unwrap(), serde_json::to_string_pretty(&said).unwrap()] {
            let inert = inert_json(json);
            assert!(!inert.contains(|letter| letter != '\n' && steers(letter)), "{inert}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&inert).unwrap(), said);
        }
        assert_eq!(inert_json("{\"a\":\"ä\"}".to_owned()), "{\"a\":\"ä\"}");
    }

    #[test]
    fn text_of_strangers_cannot_steer_a_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\tc\u{202e}d\ne"), "a\u{fffd}[31mb c\u{fffd}d\ne");
        assert!(matches!(plain("plain ä ✓"), Cow::Borrowed(_)));
    }
}
