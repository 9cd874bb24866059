//! Builds and signs the transaction that writes the protocol's configuration (decisions B2 and P5) and prints
//! it as base64, for `scripts/deploy config`, which sends it. It asks no cluster: blockhash and genesis hash
//! are arguments. Amounts that are not named are those of [`AMOUNTS`].

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_message::legacy::Message;
use solana_signer::Signer;
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use zx1_chain::instructions::stake_lock::{AMOUNTS, ConfigAddresses, initialize_config};
use zx1_interface::pda;
use zx1_protocol::amounts::Amounts;

const OPTIONS: [&str; 8] = [
    "--blockhash",
    "--network",
    "--authority",
    "--usdc-mint",
    "--treasury",
    "--maintainer",
    "--delegate-credential",
    "--delegate-schema",
];
/// Amounts in micro-USDC, of `--rank-deposit` in lamports, of shares in percent.
const AMOUNT_OPTIONS: [&str; 12] = [
    "--min-stake",
    "--challenge-stake",
    "--lost-to-stake",
    "--lost-to-answerer",
    "--ask-price",
    "--ask-to-shower",
    "--ask-to-stake",
    "--fine",
    "--fine-to-asker",
    "--rank-deposit",
    "--finders-percent",
    "--share-percent",
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
            // A genesis hash is written like an address.
            network: address("--network")?.to_bytes(),
            amounts: amounts(&options)?,
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

fn amounts(options: &BTreeMap<String, String>) -> Result<Amounts> {
    let number = |name: &str, default: u64| match options.get(name) {
        Some(text) => text.parse().with_context(|| format!("{name} is not a number: {text}.")),
        None => Ok(default),
    };
    let percent = |name: &str, default: u8| -> Result<u8> {
        let value = number(name, default.into())?;
        u8::try_from(value).with_context(|| format!("{name} is not a percentage: {value}."))
    };
    let amounts = Amounts {
        min_stake: number("--min-stake", AMOUNTS.min_stake)?,
        challenge_stake: number("--challenge-stake", AMOUNTS.challenge_stake)?,
        lost_to_stake: number("--lost-to-stake", AMOUNTS.lost_to_stake)?,
        lost_to_answerer: number("--lost-to-answerer", AMOUNTS.lost_to_answerer)?,
        ask_price: number("--ask-price", AMOUNTS.ask_price)?,
        ask_to_shower: number("--ask-to-shower", AMOUNTS.ask_to_shower)?,
        ask_to_stake: number("--ask-to-stake", AMOUNTS.ask_to_stake)?,
        fine: number("--fine", AMOUNTS.fine)?,
        fine_to_asker: number("--fine-to-asker", AMOUNTS.fine_to_asker)?,
        rank_deposit: number("--rank-deposit", AMOUNTS.rank_deposit)?,
        finders_percent: percent("--finders-percent", AMOUNTS.finders_percent)?,
        share_percent: percent("--share-percent", AMOUNTS.share_percent)?,
    };
    amounts.check()?;
    Ok(amounts)
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<BTreeMap<String, String>> {
    let mut options = BTreeMap::new();
    while let Some(name) = arguments.next() {
        let known: Vec<&str> = OPTIONS.into_iter().chain(AMOUNT_OPTIONS).collect();
        ensure!(known.contains(&name.as_str()), "There is no option '{name}'. Use {}.", known.join(", "));
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
