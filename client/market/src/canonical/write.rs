//! Printing as Python does.

use std::fmt::Write as _;

use super::Json;

/// The canonical text of a value.
pub(super) fn canonical(value: &Json) -> String {
    let mut out = String::with_capacity(256);
    write(value, &mut out);
    out
}

fn write(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Int(value) => out.push_str(value.as_str()),
        Json::Float(value) => float(*value, out),
        Json::Str(text) => string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            out.push('{');
            for (i, (name, item)) in fields.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(name, out);
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
    }
}

/// Whether a byte stands for itself. Python escapes everything outside of space to tilde, 0x7f included.
fn plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

fn string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    // Runs of plain characters are copied whole: most text is nothing else.
    while let Some(end) = rest.bytes().position(|b| !plain(b)) {
        let (run, tail) = rest.split_at(end);
        out.push_str(run);
        let mut chars = tail.chars();
        if let Some(c) = chars.next() {
            escape(c, out);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn escape(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        c => {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}

/// The shortest digits that read back, the nearest of them, and of two that are equally near the even one.
/// Rust's own printing takes the other one of such a pair (1120644135984139.25 has 17 digits with .2 and with
/// .3).
fn shortest(value: f64) -> String {
    let text = format!("{value:e}");
    let digits = text.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count();
    let even = format!("{value:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(value) { even } else { text }
}

/// Python's `repr`: the shortest digits that read back, an exponent below 1e-4 and from 1e16 on.
fn float(value: f64, out: &mut String) {
    let text = shortest(value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    out.push_str(sign);
    if (-4..16).contains(&exponent) {
        if exponent < 0 {
            out.push_str("0.");
            (1..-exponent).for_each(|_| out.push('0'));
            out.push_str(&digits);
            return;
        }
        let whole = usize::try_from(exponent).unwrap_or(0) + 1;
        if digits.len() <= whole {
            out.push_str(&digits);
            (digits.len()..whole).for_each(|_| out.push('0'));
            out.push_str(".0");
        } else {
            let (whole, fraction) = digits.split_at(whole);
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        return;
    }
    let (first, rest) = digits.split_at(1);
    out.push_str(first);
    if !rest.is_empty() {
        out.push('.');
        out.push_str(rest);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
}
