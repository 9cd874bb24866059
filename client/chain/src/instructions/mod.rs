//! Instructions of the five programs: data in [`zx1_interface::instruction`], order and flags of the accounts
//! from the committed IDLs, by `build.rs`.

pub mod behavior_log;
pub mod challenge;
pub mod feedback_log;
pub mod lease;
pub mod stake_lock;

use solana_address::Address;
use zx1_protocol::ids::AgentId;

/// The addresses that prove who owns an agent (decision B3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentAddresses {
    /// The SATI mint, which is the agent's id.
    pub mint: AgentId,
    /// SATI's AgentIndex of the mint's member number.
    pub index: Address,
    /// The Token-2022 account that holds the NFT.
    pub token: Address,
}

/// The accounts of every instruction, named as in the IDL. What is the same in every call is filled in.
mod accounts {
    use crate::pda;
    use solana_address::Address;
    use solana_instruction::{AccountMeta, Instruction};
    use zx1_interface::ids;
    use zx1_interface::instruction::{self as data, Instruction as _};

    fn program(id: [u8; 32]) -> Address {
        Address::new_from_array(id)
    }

    fn meta(pubkey: Address, is_signer: bool, is_writable: bool) -> AccountMeta {
        AccountMeta { pubkey, is_signer, is_writable }
    }

    fn optional(given: Option<Address>, id: [u8; 32], is_signer: bool, is_writable: bool) -> AccountMeta {
        given.map_or_else(|| meta(program(id), false, false), |given| meta(given, is_signer, is_writable))
    }

    fn instruction<D: data::Instruction>(data: &D, accounts: Vec<AccountMeta>) -> Instruction {
        Instruction { program_id: program(D::PROGRAM), accounts, data: data.data() }
    }

    include!(concat!(env!("OUT_DIR"), "/accounts.rs"));
}
