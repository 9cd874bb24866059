//! Where an agent's accounts are, and an instruction about one of them. Nothing is asked of a node.
use zx1_chain::instructions::lease::tick_lease;
use zx1_chain::pda;
use zx1_protocol::ids::AgentId;

fn main() {
    // An agent is the mint of its NFT.
    let agent = AgentId([7; 32]);
    let lease = pda::lease(&agent);
    println!("tenure {}\nlease  {lease}\nhead   {}", pda::tenure(&agent), pda::head(&agent));

    // Anybody may tick a lease: the clock decides, and the account remembers.
    let instruction = tick_lease(agent);
    assert!(instruction.accounts.iter().any(|account| account.pubkey == lease && account.is_writable));
}
