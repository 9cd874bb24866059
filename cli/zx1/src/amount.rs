//! Money as people write it. Integers only: USDC has six decimals, SOL nine, and nothing is rounded.

use crate::errors::{Error, Result};

const USDC_DECIMALS: u32 = 6;
const SOL_DECIMALS: u32 = 9;

/// Micro-USDC from a decimal such as `10`, `10.5` or `0.000001`.
pub fn parse_usdc(text: &str) -> Result<u64> {
    parse(text, USDC_DECIMALS, "USDC", "USDC has six decimals")
}

/// Lamports from a decimal such as `0.02`.
pub fn parse_sol(text: &str) -> Result<u64> {
    parse(text, SOL_DECIMALS, "SOL", "SOL has nine decimals")
}

fn parse(text: &str, decimals: u32, unit: &'static str, too_fine: &str) -> Result<u64> {
    let bad = |why: &str| Error::BadAmount { text: text.to_owned(), unit, why: why.to_owned() };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if text.starts_with('-') {
        return Err(bad("it is negative").into());
    }
    if text.is_empty() {
        return Err(bad("it is empty").into());
    }
    if whole.is_empty() || !digits(whole) || !digits(fraction) || text.ends_with('.') {
        return Err(bad("expected a decimal number").into());
    }
    if fraction.len() > decimals as usize {
        return Err(bad(too_fine).into());
    }
    let padded = format!("{whole}{fraction:0<width$}", width = decimals as usize);
    padded.parse().map_err(|_| bad("it is too large").into())
}

/// "10.5 USDC" from micro-USDC.
pub fn usdc(micro: u64) -> String {
    format!("{} USDC", decimal(micro, USDC_DECIMALS))
}

/// "0.5 SOL" from lamports.
pub fn sol(lamports: u64) -> String {
    format!("{} SOL", decimal(lamports, SOL_DECIMALS))
}

/// The shortest exact decimal, thousands separated by nothing.
fn decimal(units: u64, decimals: u32) -> String {
    let scale = 10u64.pow(decimals);
    let (whole, fraction) = (units / scale, units % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let fraction = format!("{fraction:0width$}", width = decimals as usize);
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_both_ways() {
        for (text, micro) in [
            ("10", 10_000_000),
            ("10.5", 10_500_000),
            ("0.000001", 1),
            ("0", 0),
            ("18446744073709.551615", u64::MAX),
        ] {
            assert_eq!(parse_usdc(text).ok(), Some(micro), "{text}");
            assert_eq!(usdc(micro), format!("{text} USDC"));
        }
        assert_eq!(parse_usdc("1.50").ok(), Some(1_500_000));
        assert_eq!(sol(1), "0.000000001 SOL");
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1,5",
            "0.0000001",
            "1.5.0",
            "١",
            "18446744073709.551616",
        ] {
            assert_eq!(parse_usdc(text).map_err(|failure| failure.code), Err(7456), "{text}");
        }
    }
}
