//! A contract as its principal posts it, and what each side gets when the fix works.
use zx1_market::chain::{Chain, Data, Head, SignatureForm};
use zx1_market::money::{Payee, Settlement, inclusive_bond, payout};
use zx1_market::{Address, Contract, Entry, Millis, PartyKey, Raw, Terms};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [principal, server] = [1, 3].map(|n| PartyKey::from_seed(&[n; 32]));
    let platform: Address = "nano_3i1aq1cchnmbn9x5rsbap8b15akfh7wj7pwskuzi7ahz8oq6cobd99d4r3b7".parse()?;
    let terms = Terms::new(server.id(), platform)?;

    // The first entry of a transcript: signed, and chained to nothing. Time is an argument.
    let contract = Contract::builder("gcc a.c", "undefined reference to `sqrt'").build(&terms)?;
    let post = Data::Post {
        contract: contract.json().clone(),
        principal: principal.id(),
        payout: None,
        market: Some(terms.market()),
    };
    let entry = Entry::sign(&post, Head::GENESIS, Millis(1_790_000_000_000), &principal);
    let chain = Chain::verify(vec![entry], SignatureForm::Full)?;
    println!("{}", chain.entries()[0].canonical());

    // Money: each side has deposited bounty and judge fee, and every raw of both goes somewhere.
    let bounty = Raw::from_xno("0.5")?;
    let paid = payout(Settlement::Fulfilled, bounty, &terms.fees)?;
    let deposit = inclusive_bond(&terms.fees, bounty)?;
    assert_eq!(paid.sum().get(), 2 * deposit.get());
    println!("the agent gets {} XNO", paid.total(Payee::Agent).xno());
    Ok(())
}
