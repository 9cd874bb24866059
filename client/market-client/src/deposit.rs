//! Deposits: what a party pays in, checked, and paid exactly once (decisions E8, F3).

use std::time::Duration;

use nano_escrow::Network;
use nano_escrow::escrow::EscrowError;
use nano_escrow::node::NodeError;
use nano_escrow::wallet::Wallet;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};
use zx1_market::chain::Side;
use zx1_market::money::inclusive_bond;
use zx1_market::wire::DepositAnswer;
use zx1_market::{Address, ContractId, Entry, Millis, NetworkId, PartyId, Raw, State, Terms};

use super::error::{ClientError, Result};
use super::{Market, View};
use futures_util::future::BoxFuture;

/// A contract was posted.
#[derive(Debug, Clone)]
pub struct Posted {
    /// Id of the new contract.
    pub id: ContractId,
    /// The signed `post`.
    pub entry: Entry,
    /// `open`, or `unfunded` until the deposit is confirmed.
    pub status: State,
    /// What the principal is to pay. Nothing in free mode, and nothing once it is paid.
    pub deposit: Option<Deposit>,
    /// The terms that were advertised when it was posted. [`Market::wait_open`] compares them with those that
    /// the server chained.
    pub terms: Terms,
}

/// What one side pays into its escrow account. The amount was computed here from the contract and its terms;
/// the server only named the account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deposit {
    /// For which contract.
    pub contract: ContractId,
    /// The side that pays.
    pub side: Side,
    /// 0 for the principal; agents count up.
    pub round: u32,
    /// The escrow account.
    pub address: Address,
    /// Bounty and judge fee.
    pub amount: Raw,
    /// For wallets and QR codes.
    pub uri: String,
    /// The ledger to pay on. The addresses of two networks look alike.
    #[serde(default)]
    pub network: NetworkId,
    /// Until when it is waited for.
    pub expires_at: Millis,
}

impl Deposit {
    /// Check what a server asks for: the amount must be the inclusive bond, the account somebody's.
    pub fn checked(
        contract: ContractId,
        side: Side,
        round: u32,
        answer: &DepositAnswer,
        terms: &Terms,
        bounty: Raw,
    ) -> Result<Deposit> {
        let wrong = |why: String| ClientError::Deposit { why };
        let amount = inclusive_bond(&terms.fees, bounty).map_err(ClientError::Rules)?;
        if answer.amount_raw != amount || answer.amount.0 != amount {
            let (asked, right) = (answer.amount_raw.xno(), amount.xno());
            return Err(wrong(format!("{asked} XNO instead of bounty and judge fee, {right} XNO")));
        }
        if answer.network != terms.network || answer.network == NetworkId::NONE {
            let (asked, right) = (answer.network, terms.network);
            return Err(wrong(format!("a deposit on network {asked} instead of {right}")));
        }
        let address = answer.address;
        if address.is_burn() {
            return Err(wrong("the account is nobody's".to_owned()));
        }
        if address == terms.platform || address == terms.charity {
            return Err(wrong("the account is the platform's own and no escrow account".to_owned()));
        }
        Ok(Deposit {
            contract,
            side,
            round,
            address,
            amount,
            // Not the server's own text: that could name another account.
            uri: address.uri(Some(amount)),
            network: terms.network,
            expires_at: answer.expires_at.0,
        })
    }

    /// The name of this payment in a journalled wallet. The same name never pays twice.
    pub fn payment_id(&self, server: &PartyId) -> String {
        format!("fix/{}/{}/{}/{}", server.hex(), self.contract, self.side, self.round)
    }
}

/// Who pays deposits. The same `payment_id` must never pay twice, whatever happened in between.
pub trait Purse: Send + Sync {
    /// The ledger that it pays on; nothing when it leaves paying to the market.
    fn network(&self) -> Option<NetworkId>;

    /// The wallet's Nano address, which may also receive payouts.
    fn address(&self) -> BoxFuture<'_, Result<Address>>;

    /// The balance that can be paid now, in raw.
    fn balance(&self) -> BoxFuture<'_, Result<Raw>>;

    /// Pay. Returns when the payment is decided for good and was handed to the network.
    fn pay<'a>(&'a self, payment_id: &'a str, to: Address, amount: Raw) -> BoxFuture<'a, Result<()>>;
}

/// A journalled wallet of nano-escrow: the payment is durable before it is published, and the same id again
/// is the same payment (decision F3).
#[derive(Clone)]
pub struct WalletPurse {
    wallet: Wallet,
    network: Network,
    index: u32,
    limit: Duration,
}

impl WalletPurse {
    /// Pay from this account of the wallet, whose journal is of this network.
    pub fn new(wallet: Wallet, network: Network, index: u32) -> WalletPurse {
        WalletPurse { wallet, network, index, limit: Duration::from_secs(25) }
    }

    /// How long [`Purse::pay`] waits for the ledger's confirmation before it leaves the rest to the caller.
    /// 25 s by default: less than a reservation.
    pub fn confirm_within(mut self, limit: Duration) -> WalletPurse {
        self.limit = limit;
        self
    }
}

fn purse(error: EscrowError) -> ClientError {
    ClientError::Purse { why: format!("{error} (error {})", error.code()) }
}

/// Whether what the wallet holds is not enough yet, or the account has no blocks yet.
fn waits_for_money(error: &EscrowError) -> bool {
    use nano_escrow::AmountError::NotEnough;
    use nano_escrow::Error::{Amount, Unopened};
    let (EscrowError::Type(error) | EscrowError::Node(NodeError::Block(error))) = error else { return false };
    matches!(error, Amount(NotEnough(..)) | Unopened(_))
}

impl Purse for WalletPurse {
    fn network(&self) -> Option<NetworkId> {
        Some(self.network.into())
    }

    fn address(&self) -> BoxFuture<'_, Result<Address>> {
        Box::pin(async { self.wallet.account(self.index).await.map_err(purse) })
    }

    fn balance(&self) -> BoxFuture<'_, Result<Raw>> {
        Box::pin(async {
            let balance = self.wallet.balance(self.index).await.map_err(purse)?;
            // What waits can be taken up before a payment.
            Ok(balance.balance.checked_add(balance.receivable).unwrap_or(Raw::MAX))
        })
    }

    fn pay<'a>(&'a self, payment_id: &'a str, to: Address, amount: Raw) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let until = Instant::now() + self.limit;
            loop {
                match self.wallet.send(self.index, payment_id, to, amount).await {
                    Ok(_) => break,
                    // What waits is taken up first; an account that never received anything has no block yet.
                    Err(error) if waits_for_money(&error) && Instant::now() < until => {
                        let balance = self.wallet.balance(self.index).await.map_err(purse)?;
                        if balance.receivable.is_zero() && balance.balance < amount {
                            return Err(purse(error));
                        }
                        self.wallet.receive_all(self.index).await.map_err(purse)?;
                        sleep(Duration::from_millis(50)).await;
                    }
                    Err(error) => return Err(purse(error)),
                }
            }
            match self.wallet.wait(payment_id, self.limit).await {
                Ok(_) => Ok(()),
                // It is decided; the contract's chain will show it.
                Err(EscrowError::Timeout { .. }) => Ok(()),
                Err(error) => Err(purse(error)),
            }
        })
    }
}

impl Market {
    /// Pay a deposit, exactly once per contract and side: the same call again, also after a crash, is the
    /// same payment.
    pub async fn pay(&self, purse: &dyn Purse, deposit: &Deposit) -> Result<()> {
        if let Some(network) = purse.network()
            && network != deposit.network
        {
            let asked = deposit.network;
            return Err(ClientError::Deposit {
                why: format!("it is on network {asked}, the wallet on {network}"),
            });
        }
        let id = deposit.payment_id(&self.server());
        purse.pay(&id, deposit.address, deposit.amount).await
    }

    /// The deposit of an own contract that is still to be paid, looked up at the server: for a program that
    /// was restarted. Principals only.
    pub async fn deposit_due(&self, view: &View) -> Result<Option<Deposit>> {
        if view.state() != State::Unfunded || view.side() != Some(Side::Principal) {
            return Ok(None);
        }
        let Some(answer) = self.deposit_of(view.id(), Side::Principal, 0).await? else { return Ok(None) };
        let terms = self.terms().await?;
        let bounty = view.case().contract().bounty;
        Deposit::checked(view.id(), Side::Principal, 0, &answer, &terms, bounty).map(Some)
    }

    /// The deposit of a contract that is reserved for this key, looked up at the server: for an agent that
    /// was restarted. Nothing when it is paid already, or not reserved.
    pub async fn deposit_reserved(&self, view: &View, round: u32) -> Result<Option<Deposit>> {
        let Some(answer) = self.deposit_of(view.id(), Side::Agent, round).await? else { return Ok(None) };
        let case = view.case();
        Deposit::checked(view.id(), Side::Agent, round, &answer, case.terms(), case.contract().bounty)
            .map(Some)
    }

    /// Wait until a posted contract is open: the ledger has confirmed the deposit. The terms that the server
    /// chained must be those that it advertised (9387).
    pub async fn wait_open(&self, posted: &Posted, limit: Duration) -> Result<View> {
        let what = "The confirmation of the deposit";
        let view = self.wait(posted.id, what, limit, |view| view.state() != State::Unfunded).await?;
        // A contract that expired unpaid has no terms of its own.
        if view.entries().iter().any(|entry| entry.kind() == zx1_market::EntryType::Opened)
            && let Some(what) = difference(&posted.terms, view.case().terms())
        {
            return Err(ClientError::Terms { id: posted.id, what: what.to_owned() });
        }
        Ok(view)
    }
}

/// What differs between two terms, in a word.
fn difference(advertised: &Terms, chained: &Terms) -> Option<&'static str> {
    [
        (advertised.network == chained.network, "network"),
        (advertised.fees == chained.fees, "fees"),
        (advertised.windows == chained.windows, "windows"),
        (advertised.judges == chained.judges, "judges"),
        (advertised.platform == chained.platform, "platform address"),
        (advertised.charity == chained.charity, "charity address"),
        (advertised.server == chained.server, "server"),
    ]
    .into_iter()
    .find_map(|(same, name)| (!same).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_market::PartyKey;

    fn address(n: u8) -> Address {
        nano_escrow::PrivateKey::from_bytes([n; 32]).address()
    }

    #[test]
    fn a_deposit_that_is_not_the_contract_s_is_refused() {
        let server = PartyKey::from_seed(&[9; 32]).id();
        let mut terms = Terms::new(server, address(1)).unwrap();
        terms.network = Network::Dev.into();
        let bounty = Raw::from_xno("0.5").unwrap();
        let right = inclusive_bond(&terms.fees, bounty).unwrap();
        let answer = |amount: Raw, to: Address| DepositAnswer {
            address: to,
            amount: amount.into(),
            amount_raw: amount,
            uri: "nano:elsewhere".into(),
            network: Network::Dev.into(),
            expires_at: Millis(1).into(),
        };
        let id: ContractId = "0011223344556677".parse().unwrap();
        let check = |answer: DepositAnswer| Deposit::checked(id, Side::Agent, 2, &answer, &terms, bounty);
        let good = check(answer(right, address(2))).unwrap();
        assert!(good.uri.contains(&address(2).to_string()), "{}", good.uri);
        assert!(good.payment_id(&server).len() <= 128);
        let more = Raw(right.0 + 1);
        assert_eq!(check(answer(more, address(2))).unwrap_err().code(), 9380);
        assert_eq!(check(answer(right, terms.platform)).unwrap_err().code(), 9380);
        let mut two = answer(right, address(2));
        two.amount = more.into();
        assert_eq!(check(two).unwrap_err().code(), 9380);
        // A market on play money, and a wallet with real money: the addresses look alike.
        for network in [Network::Live.into(), NetworkId::NONE] {
            let other = DepositAnswer { network, ..answer(right, address(2)) };
            assert_eq!(check(other).unwrap_err().code(), 9380);
        }
    }
}
