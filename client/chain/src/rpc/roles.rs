//! What accounts are to a transaction: where its money goes, whether it comes back. An account has a role only by
//! an instruction whose program checks it, so that nothing moves unless it is what it is called.

use super::idl;
use super::moves::{Call, Money};
use crate::sati;
use crate::token;
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeMap;

/// What money is for that goes to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Role {
    /// In a few words: "stake", "rent of the lease account".
    pub purpose: &'static str,
    /// When it comes back, as a clause; `None` when it does not.
    pub returns: Option<&'static str>,
    /// Whether the account is the USDC account of a signer, so that what leaves it is paid by who signs.
    #[serde(skip)]
    pub own: bool,
    /// Whether the role is about SOL, such as rent; else about tokens.
    #[serde(skip)]
    sol: bool,
}

const fn tokens(purpose: &'static str, returns: Option<&'static str>) -> Option<Role> {
    Some(Role { purpose, returns, own: false, sol: false })
}

const fn rent(purpose: &'static str, returns: Option<&'static str>) -> Option<Role> {
    Some(Role { purpose, returns, own: false, sol: true })
}

const OWN: Option<Role> = Some(Role { purpose: "your USDC account", returns: None, own: true, sol: false });

/// The roles of a transaction's accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(BTreeMap<Address, Vec<Role>>);

impl Roles {
    /// Whether it is known what the account is.
    pub fn knows(&self, address: &Address) -> bool {
        self.0.contains_key(address)
    }

    /// What an account is to money of this kind.
    pub fn of(&self, address: &Address, money: &Money) -> Option<Role> {
        let sol = matches!(money, Money::Lamports(_));
        self.0.get(address)?.iter().find(|role| role.sol == sol).copied()
    }

    fn give(&mut self, address: Address, role: Role) {
        let known = self.0.entry(address).or_default();
        // The first instruction that gives a role wins.
        if !known.iter().any(|it| it.sol == role.sol) {
            known.push(role);
        }
    }
}

/// Positions in SATI's instruction that registers an agent: the new mint, its token account, the index account.
const REGISTERED: [usize; 3] = [4, 5, 7];

/// The roles of the accounts of these calls.
pub(crate) fn roles(calls: &[Call]) -> Roles {
    let mut found = Roles::default();
    for call in calls {
        let mut give = |at: usize, role: Option<Role>| {
            if let (Some(address), Some(role)) = (call.accounts.get(at), role) {
                found.give(*address, role);
            }
        };
        if let Some(decoded) = idl::instruction(&call.program, &call.data) {
            for (at, account) in decoded.accounts.iter().enumerate() {
                give(at, role(decoded.name, account));
            }
        } else if call.program == sati::PROGRAM
            && call.data.starts_with(&sati::instruction_discriminator::REGISTER_AGENT)
        {
            for at in REGISTERED {
                give(at, rent("rent of the agent's accounts at SATI", None));
            }
        } else if call.program == token::ASSOCIATED_TOKEN_PROGRAM {
            give(1, rent("rent of a token account", None));
        }
    }
    found
}

/// Of an account of the five programs, by the names in the IDL.
fn role(instruction: &str, account: &str) -> Option<Role> {
    match (instruction, account) {
        ("lock_stake", "vault") => {
            tokens("stake", Some("once the lease has run out, two days after you unlock it"))
        }
        ("submit_challenge", "vault") => {
            tokens("stake of the challenge", Some("if nobody shows the record in time"))
        }
        ("ask_leaf", "vault") => tokens("price of the ask", Some("if nobody shows the leaf in time")),
        ("pay_lease", "treasury_usdc") => tokens("lease", None),
        (_, "owner_usdc" | "authority_usdc" | "challenger_usdc" | "asker_usdc" | "payer_usdc") => OWN,
        ("lock_stake", "stake") => rent("rent of the stake account", Some("with the stake")),
        ("submit_challenge", "challenge") => rent("rent of the challenge", Some("when it is closed")),
        ("ask_leaf", "ask") => rent("rent of the ask", Some("when it is closed")),
        ("begin_evidence", "draft") => rent(
            "rent of the draft, and the deposit of its rank",
            Some("when the draft is used or cancelled; the deposit of an unused rank is burnt"),
        ),
        ("begin_draft", "draft") => {
            rent("rent of the draft", Some("when the text is published or cancelled"))
        }
        ("add_key", "key_account") => rent("rent of the key account", Some("when the key is closed")),
        ("submit_batch", "batch") => {
            rent("rent of the batch", Some("when it is closed, after about two days"))
        }
        ("pay_lease", "lease") => rent("rent of the lease account", None),
        ("open_vault", "vault") => rent("rent of the pooled vault", None),
        (_, "shard") => rent("rent of the vault's account", None),
        (_, "tenure") => rent("rent of the tenure account", None),
        (_, "head") => rent("rent of the head of the batches", None),
        ("submit_feedback" | "seal_draft", "entry" | "feedback_log") => rent("rent of the text", None),
        ("resolve_entry", "resolution") => rent("rent of the resolution", None),
        (_, "vault") => tokens("the pooled vault", None),
        // Nothing goes there; it is known what they are.
        (_, "stake" | "batch" | "challenge" | "draft" | "ask" | "lease" | "key_account")
        | ("submit_batch", "key") => rent("an account of the protocol", None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::instructions::{AgentAddresses, stake_lock};
    use zx1_protocol::ids::AgentId;
    use zx1_protocol::units::MicroUsdc;

    fn at(byte: u8) -> Address {
        Address::new_from_array([byte; 32])
    }

    #[test]
    fn a_vault_is_rent_to_sol_and_the_stake_to_usdc() {
        let agent = AgentAddresses { mint: AgentId([1; 32]), index: at(2), token: at(3) };
        let list = [
            stake_lock::open_vault(at(9), at(11), 1),
            stake_lock::lock_stake(&agent, at(9), at(10), 0, None, MicroUsdc(30)),
        ];
        let calls = list.map(|instruction| Call {
            program: instruction.program_id,
            accounts: instruction.accounts.iter().map(|meta| meta.pubkey).collect(),
            data: instruction.data,
        });
        let found = roles(&calls);
        let vault = crate::pda::vault(1);
        assert_eq!(found.of(&vault, &Money::Lamports(1)).unwrap().purpose, "rent of the pooled vault");
        let stake = found.of(&vault, &Money::Usdc(MicroUsdc(1))).unwrap();
        assert!(stake.purpose == "stake" && stake.returns.is_some());
        assert!(found.of(&at(10), &Money::Usdc(MicroUsdc(1))).unwrap().own);
        // Whoever signs is named by the summary, and a stranger by nobody.
        assert!(!found.knows(&at(9)) && !found.knows(&at(77)));
    }
}
