//! Text of strangers: what steers a terminal is defined once, in `zx1_net`. `zx1_scrub` is pure and does not need
//! that crate; what it hides from models is a larger set, which this test compares.

use zx1_net::steers;
use zx1_scrub::neutral::{neutral, one_line};

#[test]
fn whatever_steers_a_terminal_is_hidden_in_neutral_text() {
    for c in ('\0'..=char::MAX).filter(|c| steers(*c)) {
        let text = format!("a{c}b");
        if !matches!(c, '\n' | '\t') {
            assert!(!neutral(&text, None).text.contains(c), "U+{:04X}", u32::from(c));
        }
        assert!(!one_line(&text, 100).contains(steers), "U+{:04X}", u32::from(c));
    }
}
