//! Blocks without a node: an account is opened by a send that it received, and pays a part of it on.
use nano_escrow::{BlockHash, Head, Raw, Seed};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = Seed::from_bytes([7; 32]).wallet_key(0);
    let friend = Seed::from_bytes([8; 32]).wallet_key(0).address();
    let voter = friend;

    let head = Head::unopened(key.address(), voter);
    let open = head.open(BlockHash([1; 32]), Raw::from_xno("2")?)?;
    let pay = head.after(&open)?.send(friend, Raw::from_xno("1.5")?)?;
    let signed = pay.sign(&key.keypair())?;
    signed.verify_strict()?;
    println!("{}", serde_json::to_string_pretty(&signed)?);
    Ok(())
}
