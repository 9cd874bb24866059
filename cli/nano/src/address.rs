//! The commands of `nano-escrow address`.

use clap::Subcommand;
use serde_json::json;

use super::{Failure, Output};
use nano_escrow::{Address, PublicKey};

#[derive(Debug, Subcommand)]
pub(crate) enum AddressCommand {
    /// Print the address of a public key.
    Encode {
        /// Public key, 64 hexadecimal digits
        #[arg(value_name = "PUBLIC_KEY")]
        key: String,
    },
    /// Print the public key of an address.
    Decode {
        /// Address: nano_... or xrb_...
        #[arg(value_name = "ADDRESS")]
        address: String,
    },
    /// Validate an address; exit code 1 if it is invalid
    Validate {
        /// Address: nano_... or xrb_...
        #[arg(value_name = "ADDRESS")]
        address: String,
    },
}

pub(crate) fn run(command: AddressCommand, out: &Output) -> Result<(), Failure> {
    match command {
        AddressCommand::Encode { key } => {
            let key: PublicKey = key.parse()?;
            let address = key.address();
            out.print(&json!({ "public_key": key, "address": address }), || address.to_string())
        }
        AddressCommand::Decode { address } => {
            let address: Address = address.parse()?;
            let key = address.public_key();
            out.print(&json!({ "public_key": key, "address": address }), || key.to_string())
        }
        AddressCommand::Validate { address } => {
            let address: Address = address.parse()?;
            if address.is_burn() {
                out.warn("burn account: funds sent to it are lost");
            } else if !address.public_key().is_point() {
                out.warn("no private key can exist for this address: funds sent to it are lost");
            }
            let spendable = address.public_key().is_point() && !address.is_burn();
            out.print(&json!({ "valid": true, "address": address, "spendable": spendable }), || {
                "valid".to_owned()
            })
        }
    }
}
