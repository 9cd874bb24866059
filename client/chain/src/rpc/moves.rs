//! Money that moved, read from the calls that a transaction made: exact, whatever the instructions promised.

use super::wire::Inner;
use crate::token;
use serde_json::{Value, json};
use solana_address::Address;
use solana_sdk_ids::system_program;
use std::fmt;
use zx1_protocol::units::{MicroUsdc, USDC_DECIMALS};

/// An amount of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Money {
    /// An amount of USDC.
    Usdc(MicroUsdc),
    /// An amount of lamports.
    Lamports(u64),
    /// The smallest unit of some other token, and its mint where that is known.
    Token {
        /// Amount in the smallest unit.
        amount: u64,
        /// Mint, where it is known.
        mint: Option<Address>,
    },
}

impl Money {
    /// The number alone, in the smallest unit.
    pub fn amount(&self) -> u64 {
        match self {
            Self::Usdc(MicroUsdc(amount)) | Self::Lamports(amount) | Self::Token { amount, .. } => *amount,
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usdc(amount) => write!(f, "{amount:.USDC_DECIMALS$}"),
            Self::Lamports(lamports) => {
                write!(f, "{}.{:09} SOL", lamports / 1_000_000_000, lamports % 1_000_000_000)
            }
            Self::Token { amount, mint: Some(mint) } => write!(f, "{amount} of the token {mint}"),
            Self::Token { amount, mint: None } => write!(f, "{amount} tokens"),
        }
    }
}

/// Money from one account to another. Of tokens these are token accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Amount that moves.
    pub money: Money,
    /// Account that pays.
    pub from: Address,
    /// Account that receives.
    pub to: Address,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {} to {}", self.money, self.from, self.to)
    }
}

impl Move {
    /// The lamports that it moves; 0 for other money.
    pub fn lamports(&self) -> u64 {
        match self.money {
            Money::Lamports(lamports) => lamports,
            Money::Usdc(_) | Money::Token { .. } => 0,
        }
    }

    /// As JSON, amounts as decimal strings of the smallest unit.
    pub fn to_json(&self) -> Value {
        let unit = match self.money {
            Money::Usdc(_) => "micro-usdc".to_owned(),
            Money::Lamports(_) => "lamports".to_owned(),
            Money::Token { mint, .. } => mint.map_or_else(|| "token".to_owned(), |mint| mint.to_string()),
        };
        json!({
            "amount": self.money.amount().to_string(),
            "unit": unit,
            "from": self.from.to_string(),
            "to": self.to.to_string(),
        })
    }
}

/// An instruction as it was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Program that is called.
    pub program: Address,
    /// Accounts of the call, in order.
    pub accounts: Vec<Address>,
    /// Data of the call.
    pub data: Vec<u8>,
}

impl Call {
    /// The money that this call itself moves. `usdc` is the configured mint, whose amounts are shown as USDC.
    pub fn moved(&self, usdc: Option<Address>) -> Option<Move> {
        let at = |index: usize| self.accounts.get(index).copied();
        let amount =
            |from: usize| self.data.get(from..)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
        let of = |money, from, to| Some(Move { money, from: from?, to: to? });
        let tokens = |amount, mint: Option<Address>| match mint {
            Some(found) if usdc == Some(found) => Money::Usdc(MicroUsdc(amount)),
            _ => Money::Token { amount, mint },
        };
        if self.program == token::TOKEN_PROGRAM || self.program == token::TOKEN_2022_PROGRAM {
            // transfer, mint_to, transfer_checked, mint_to_checked.
            return match self.data.first()? {
                3 => of(tokens(amount(1)?, None), at(0), at(1)),
                7 | 14 => of(tokens(amount(1)?, at(0)), at(0), at(1)),
                12 => of(tokens(amount(1)?, at(1)), at(0), at(2)),
                _ => None,
            };
        }
        if self.program == system_program::ID {
            let number = u32::from_le_bytes(*self.data.first_chunk::<4>()?);
            // create_account and transfer; create_account_with_seed, whose seed has its length before it.
            // transfer_with_seed is never used here and is then not understood, rather than misread.
            return match number {
                0 | 2 => of(Money::Lamports(amount(4)?), at(0), at(1)),
                3 => {
                    let lamports = usize::try_from(amount(36)?).ok()?.checked_add(44)?;
                    of(Money::Lamports(amount(lamports)?), at(0), at(1))
                }
                _ => None,
            };
        }
        None
    }
}

/// Gives moves of tokens, whose instructions do not name the mint, the mint of one of their accounts.
pub(crate) fn name_tokens(
    moves: &mut [Move],
    usdc: Option<Address>,
    mint_of: impl Fn(&Address) -> Option<Address>,
) {
    for moved in moves {
        if let Money::Token { amount, mint: None } = moved.money {
            let mint = mint_of(&moved.from).or_else(|| mint_of(&moved.to));
            moved.money = match mint {
                Some(found) if usdc == Some(found) => Money::Usdc(MicroUsdc(amount)),
                mint => Money::Token { amount, mint },
            };
        }
    }
}

/// The calls under a transaction's instructions: (index of the instruction, call). Parsed ones are put back
/// into their instruction's form, as far as they move money; others are left out.
pub(crate) fn inner_calls(inner: &[Inner], keys: &[Address]) -> Vec<(usize, Call)> {
    let mut found = Vec::new();
    for group in inner {
        for value in &group.instructions {
            if let Some(call) = compiled(value, keys).or_else(|| partly(value)).or_else(|| parsed(value)) {
                found.push((usize::from(group.index), call));
            }
        }
    }
    found
}

fn compiled(value: &Value, keys: &[Address]) -> Option<Call> {
    let key = |index: &Value| keys.get(usize::try_from(index.as_u64()?).ok()?).copied();
    let accounts = value.get("accounts")?.as_array()?.iter().map(key).collect::<Option<_>>()?;
    Some(Call {
        program: key(value.get("programIdIndex")?)?,
        accounts,
        data: base58(value.get("data")?.as_str()?)?,
    })
}

fn partly(value: &Value) -> Option<Call> {
    let address = |value: &Value| value.as_str()?.parse().ok();
    let accounts = value.get("accounts")?.as_array()?.iter().map(address).collect::<Option<_>>()?;
    Some(Call {
        program: address(value.get("programId")?)?,
        accounts,
        data: base58(value.get("data")?.as_str()?)?,
    })
}

fn parsed(value: &Value) -> Option<Call> {
    let program = value.get("programId")?.as_str()?.parse().ok()?;
    let parsed = value.get("parsed")?;
    let info = parsed.get("info")?;
    let address = |name: &str| -> Option<Address> { info.get(name)?.as_str()?.parse().ok() };
    let whole = |value: &Value| -> Option<u64> { value.as_u64().or_else(|| value.as_str()?.parse().ok()) };
    let data = |tag: &[u8], amount: u64| [tag, &amount.to_le_bytes()].concat();
    let (accounts, data) = match parsed.get("type")?.as_str()? {
        "createAccount" => (
            vec![address("source")?, address("newAccount")?],
            data(&[0, 0, 0, 0], whole(info.get("lamports")?)?),
        ),
        "transfer" => match info.get("lamports") {
            Some(lamports) => {
                (vec![address("source")?, address("destination")?], data(&[2, 0, 0, 0], whole(lamports)?))
            }
            None => {
                (vec![address("source")?, address("destination")?], data(&[3], whole(info.get("amount")?)?))
            }
        },
        "transferChecked" => (
            vec![address("source")?, address("mint")?, address("destination")?],
            data(&[12], whole(info.get("tokenAmount")?.get("amount")?)?),
        ),
        "mintTo" => (vec![address("mint")?, address("account")?], data(&[7], whole(info.get("amount")?)?)),
        _ => return None,
    };
    Some(Call { program, accounts, data })
}

/// Instruction data as nodes write it.
fn base58(text: &str) -> Option<Vec<u8>> {
    // A node's instruction is never longer than this; the work grows with the square of it.
    const LONGEST: usize = 20_000;
    (text.len() <= LONGEST).then(|| bs58::decode(text).into_vec().ok()).flatten()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn amounts_are_shown_to_the_last_unit() {
        assert_eq!(Money::Usdc(MicroUsdc(10_000_001)).to_string(), "10.000001 USDC");
        assert_eq!(Money::Lamports(5_000).to_string(), "0.000005000 SOL");
    }

    #[test]
    fn a_parsed_and_a_compiled_call_tell_the_same_move() {
        let [from, mint, to, owner] = [1, 2, 3, 4].map(|byte| Address::new_from_array([byte; 32]));
        let program = token::TOKEN_PROGRAM;
        let transfer = token::transfer(&from, &mint, &to, &owner, (7, 6), &program).unwrap();
        let call = Call {
            program,
            accounts: transfer.accounts.iter().map(|meta| meta.pubkey).collect(),
            data: transfer.data,
        };
        let expected = Move { money: Money::Usdc(MicroUsdc(7)), from, to };
        assert_eq!(call.moved(Some(mint)), Some(expected));
        let told = json!({
            "programId": program.to_string(),
            "parsed": { "type": "transferChecked", "info": {
                "source": from.to_string(), "mint": mint.to_string(), "destination": to.to_string(),
                "tokenAmount": { "amount": "7", "decimals": 6 },
            } },
        });
        let inner = Inner { index: 1, instructions: vec![told] };
        let calls = inner_calls(&[inner], &[]);
        assert_eq!(calls[0].0, 1);
        assert_eq!(calls[0].1.moved(Some(mint)), Some(expected));
    }

    #[test]
    fn hostile_calls_are_left_out() {
        for value in [json!(null), json!({}), json!({"accounts": [99], "programIdIndex": 0, "data": "1"})] {
            assert_eq!(inner_calls(&[Inner { index: 0, instructions: vec![value] }], &[]), vec![]);
        }
        let short = Call { program: token::TOKEN_PROGRAM, accounts: vec![], data: vec![3, 1] };
        assert_eq!(short.moved(None), None);
    }
}
