//! Builds and signs the transaction that writes the protocol's configuration (decision B2) and prints it as
//! base64, for `scripts/deploy config`, which sends it. No network: the blockhash is an argument.

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_message::legacy::Message;
use solana_signer::Signer;
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use zx1_chain::instructions::stake_lock::{ConfigAddresses, initialize_config};
use zx1_interface::pda;

const OPTIONS: [&str; 7] = [
    "--blockhash",
    "--authority",
    "--usdc-mint",
    "--treasury",
    "--maintainer",
    "--delegate-credential",
    "--delegate-schema",
];

fn main() -> Result<()> {
    let options = parse(std::env::args().skip(1))?;
    let address = |name: &str| -> Result<Address> {
        Address::from_str(&options[name])
            .with_context(|| format!("{name} is not an address: {}.", options[name]))
    };
    let authority = keypair(&options["--authority"])?;
    let instruction = initialize_config(
        authority.pubkey(),
        &ConfigAddresses {
            usdc_mint: address("--usdc-mint")?,
            treasury: address("--treasury")?,
            maintainer: address("--maintainer")?,
            registry: Address::new_from_array(pda::SATI_REGISTRY.address),
            delegate_credential: address("--delegate-credential")?,
            delegate_schema: address("--delegate-schema")?,
        },
    );
    // A blockhash is written like an address.
    let blockhash = address("--blockhash")?.to_bytes().into();
    let message =
        Message::new_with_blockhash(&[instruction], Some(&authority.pubkey()), &blockhash).serialize();
    let signature = authority.sign_message(&message);
    // One signature, then what it signs: a legacy transaction.
    println!("{}", STANDARD.encode([&[1], signature.as_ref(), &message].concat()));
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<BTreeMap<String, String>> {
    let mut options = BTreeMap::new();
    while let Some(name) = arguments.next() {
        ensure!(OPTIONS.contains(&name.as_str()), "There is no option '{name}'. Use {}.", OPTIONS.join(", "));
        let value = arguments.next().with_context(|| format!("{name} needs a value."))?;
        options.insert(name, value);
    }
    if let Some(missing) = OPTIONS.iter().find(|name| !options.contains_key(**name)) {
        bail!("{missing} is missing.");
    }
    Ok(options)
}

/// Reads a key file. The bytes are wiped and never printed.
fn keypair(file: &str) -> Result<Keypair> {
    let key = zx1_home::keys::read(Path::new(file));
    let key = key.with_context(|| format!("{file} holds no valid key"))?;
    Ok(Keypair::new_from_array(*key.seed))
}
