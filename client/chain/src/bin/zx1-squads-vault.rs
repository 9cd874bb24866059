//! Prints the address of a vault of a Squads v4 multisig, for `scripts/deploy handover`. No network.

use anyhow::{Context, Result, bail};
use solana_address::Address;
use std::str::FromStr;

const SQUADS: Address = Address::from_str_const("SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf");

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [multisig, index] = arguments.as_slice() else { bail!("Usage: zx1-squads-vault MULTISIG INDEX") };
    let multisig = Address::from_str(multisig).with_context(|| format!("invalid address: {multisig}"))?;
    let index: u8 = index.parse().with_context(|| format!("invalid vault: {index}, expected 0 to 255"))?;
    println!("{}", vault(&multisig, index));
    Ok(())
}

fn vault(multisig: &Address, index: u8) -> Address {
    Address::find_program_address(&[b"multisig", multisig.as_ref(), b"vault", &[index]], &SQUADS).0
}
