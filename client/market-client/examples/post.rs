//! Posts a free contract at a market, and prints its id.
//! `cargo run --example post -- http://127.0.0.1:8000`, beside `fix serve`.
use std::sync::Arc;
use zx1_market::{Contract, PartyKey};
use zx1_market_client::{Market, Options, Pin};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:8000".to_owned());
    let key = Arc::new(PartyKey::from_seed(&[7; 32]));
    // The server's key is remembered here: nothing is signed for one that has another key than before.
    let pin = Pin::File("servers.json".into());
    let market = Market::connect(&server, key, pin, Options::default()).await?;

    let terms = market.terms().await?;
    let contract = Contract::builder("gcc a.c", "undefined reference to `sqrt'").build(&terms)?;
    // Free of charge; a paid contract names where the principal's money goes.
    let posted = market.post(&contract, None).await?;
    println!("{}", posted.id);
    Ok(())
}
