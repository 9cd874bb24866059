//! Money as people write it. Nothing is rounded.

use crate::errors::{Error, Failure, Result};
use std::fmt;
use zx1_protocol::units::{AmountError, MicroUsdc, parse_decimal, write_decimal};

const SOL_DECIMALS: usize = 9;

/// USDC from a decimal such as `10`, `10.5` or `0.000001`.
pub fn parse_usdc(text: &str) -> Result<MicroUsdc> {
    text.parse().map_err(|why| bad(text, "USDC", "six", why))
}

/// Lamports from a decimal such as `0.02`.
pub fn parse_sol(text: &str) -> Result<u64> {
    parse_decimal(text, SOL_DECIMALS).map_err(|why| bad(text, "SOL", "nine", why))
}

fn bad(text: &str, unit: &'static str, decimals: &str, why: AmountError) -> Failure {
    let why = match why {
        AmountError::TooFine { .. } => format!("{unit} has {decimals} decimals"),
        other => other.to_string(),
    };
    Error::BadAmount { text: text.to_owned(), unit, why }.into()
}

/// "0.5 SOL" from lamports.
pub fn sol(lamports: u64) -> String {
    format!("{} SOL", fmt::from_fn(|f| write_decimal(lamports, SOL_DECIMALS, f)))
}

/// "30", as it is typed again.
pub fn plain(amount: MicroUsdc) -> String {
    amount.to_string().trim_end_matches(" USDC").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_both_ways() {
        assert_eq!(parse_usdc("1.50").ok(), Some(MicroUsdc(1_500_000)));
        assert_eq!(parse_sol("0.000000001").ok(), Some(1));
        assert_eq!(sol(1), "0.000000001 SOL");
        assert_eq!(parse_usdc(&plain(MicroUsdc(30_500_000))).ok(), Some(MicroUsdc(30_500_000)));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        assert_eq!(parse_usdc("1e3").map_err(|failure| failure.code), Err(7456));
        assert_eq!(parse_sol("0.0000000001").map_err(|failure| failure.code), Err(7456));
    }
}
