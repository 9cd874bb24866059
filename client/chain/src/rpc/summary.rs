//! What a transaction does, read from the transaction itself: one line for each instruction, what it may
//! cost, who signs. What is not understood is shown as such and never passed over.

use super::message::top_calls;
use super::moves::{Money, Move};
use super::roles::{Role, Roles, roles};
use super::words::{Budget, compute_budget_value};
pub use super::words::{Line, line};
use serde_json::{Value, json};
use solana_address::Address;
use solana_message::VersionedMessage;
use solana_sdk_ids::{compute_budget, ed25519_program};
use std::fmt;

/// Lamports for each signature.
const LAMPORTS_PER_SIGNATURE: u64 = 5_000;

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its instructions, without the compute budget.
    pub lines: Vec<Line>,
    /// Money that moves, to the last unit: what the simulation or the landed transaction showed; without
    /// one only what the instructions themselves say. The fee is apart.
    pub moves: Vec<Move>,
    /// The fee in lamports.
    pub fee: u64,
    /// The wallet that pays the fee.
    pub payer: Address,
    /// The signers, the payer first.
    pub signers: Vec<Address>,
    /// What the accounts are to it.
    pub roles: Roles,
}

impl Summary {
    /// Whether every instruction is understood.
    pub fn is_understood(&self) -> bool {
        self.lines.iter().all(|line| line.understood)
    }

    /// What the receiver of money is to it.
    pub fn role(&self, moved: &Move) -> Option<Role> {
        self.roles.of(&moved.to, &moved.money)
    }

    /// Whether an account is a signer's: its wallet, or the USDC account that it pays from.
    pub fn is_signers(&self, address: &Address, money: &Money) -> bool {
        // A key that is made for an account signs as well, and is nobody's wallet.
        let is_wallet = || self.signers.contains(address) && !self.roles.knows(address);
        self.roles.of(address, money).map_or_else(is_wallet, |role| role.own)
    }

    /// The money that leaves the signers and does not come back to them in the same transaction, the fee apart.
    pub fn paid(&self) -> impl Iterator<Item = &Move> {
        let own = |address, moved: &Move| self.is_signers(address, &moved.money);
        self.moves.iter().filter(move |moved| own(&moved.from, moved) && !own(&moved.to, moved))
    }

    fn move_to_json(&self, moved: &Move) -> Value {
        let mut value = moved.to_json();
        if let (Some(object), Some(role)) = (value.as_object_mut(), self.role(moved)) {
            object.insert("purpose".to_owned(), json!(role.purpose));
            object.insert("returns".to_owned(), json!(role.returns));
        }
        value
    }

    /// Whether anything but the fee leaves the payer or another signer.
    pub fn moves_money(&self) -> bool {
        !self.moves.is_empty()
    }

    /// As JSON; amounts are decimal strings of the smallest unit.
    pub fn to_json(&self) -> Value {
        let lines: Vec<Value> = self
            .lines
            .iter()
            .map(|line| {
                let details = line.details.iter().map(|(name, value)| (name.clone(), json!(value)));
                json!({
                    "title": line.title,
                    "details": Value::Object(details.collect()),
                    "understood": line.understood,
                })
            })
            .collect();
        json!({
            "instructions": lines,
            "moves": self.moves.iter().map(|moved| self.move_to_json(moved)).collect::<Vec<_>>(),
            "fee_lamports": self.fee.to_string(),
            "payer": self.payer.to_string(),
            "signers": self.signers.iter().map(Address::to_string).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{}", line.title)?;
            for (name, value) in &line.details {
                writeln!(f, "  {name}: {value}")?;
            }
        }
        for moved in &self.moves {
            writeln!(f, "Moves {moved}")?;
        }
        writeln!(f, "Fee {} by {}", Money::Lamports(self.fee), self.payer)?;
        let signers: Vec<String> = self.signers.iter().map(Address::to_string).collect();
        write!(f, "Signed by {}", signers.join(", "))
    }
}

/// The fee of a message in lamports: its signatures, those of the Ed25519 program, and the priority fee.
pub fn fee(message: &VersionedMessage, keys: &[Address]) -> u64 {
    let (mut checked, mut units, mut price) = (0_u64, None, 0_u64);
    let calls = top_calls(message, keys);
    for call in &calls {
        if call.program == ed25519_program::ID {
            checked = checked.saturating_add(call.data.first().copied().unwrap_or_default().into());
        } else if call.program == compute_budget::ID {
            match compute_budget_value(&call.data) {
                Some(Budget::Limit(limit)) => units = Some(u64::from(limit)),
                Some(Budget::Price(micro)) => price = micro,
                None => {}
            }
        }
    }
    // Without a limit the runtime allows 200 000 units for each instruction.
    let others = calls.iter().filter(|call| call.program != compute_budget::ID).count();
    let default = u64::try_from(others).unwrap_or(u64::MAX).saturating_mul(200_000).min(1_400_000);
    let priority = u128::from(price).saturating_mul(units.unwrap_or(default).into()).div_ceil(1_000_000);
    let signatures = u64::from(message.header().num_required_signatures).saturating_add(checked);
    signatures
        .saturating_mul(LAMPORTS_PER_SIGNATURE)
        .saturating_add(u64::try_from(priority).unwrap_or(u64::MAX))
}

/// Puts a message into words. `keys` are its addresses with those of lookup tables; `moves` what a simulation
/// or a node showed.
pub fn summarize(
    message: &VersionedMessage,
    keys: &[Address],
    usdc: Option<Address>,
    mut moves: Vec<Move>,
) -> Summary {
    let calls = top_calls(message, keys);
    if moves.is_empty() {
        moves = calls.iter().filter_map(|call| call.moved(usdc)).collect();
    }
    let lines = calls.iter().filter(|call| call.program != compute_budget::ID).map(line).collect();
    let signed = usize::from(message.header().num_required_signatures);
    Summary {
        lines,
        moves,
        fee: fee(message, keys),
        payer: keys.first().copied().unwrap_or_default(),
        signers: keys.iter().take(signed).copied().collect(),
        roles: roles(&calls),
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
