//! Accounts that were offered: their address is derived, and the journal knows nothing of them until something arrives.
//! So whoever asks for deposits and never pays costs no disk and no transaction.

use super::engine::{Engine, check_name};
use super::lane::Lane;
use super::offered::{Offered, PAGE};
use super::views::{self, AccountView};
use super::{AccountKey, EscrowError, Terms};
use crate::journal::{AccountRow, AccountState, rows};
use crate::node::NodeCalls;
use crate::node::rpc::AccountsReceivable;
use crate::{Address, PublicKey, Raw};

/// An address that was handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Contract, depositor and round.
    pub key: AccountKey,
    /// The terms of the account.
    pub terms: Terms,
    /// What the nonce is derived from.
    pub origin: Vec<u8>,
    /// The address that was handed out.
    pub address: Address,
}

impl Engine {
    /// Derives the nonce of an origin: under the first secret, or under the one that makes `wanted`.
    fn derive(
        &self,
        origin: &[u8],
        wanted: Option<Address>,
    ) -> Result<(PublicKey, [u8; 32], String), EscrowError> {
        for secret in &self.secrets {
            let nonce = secret.nonce(origin);
            let account = self.keys.keypair(&nonce).public_key();
            if wanted.is_none_or(|wanted| wanted.public_key() == account) {
                return Ok((account, nonce, secret.id()));
            }
        }
        Err(EscrowError::NotDerived(wanted.map_or_else(|| "an account".into(), |a| a.to_string())))
    }

    pub(crate) async fn offer(
        &self,
        key: &AccountKey,
        terms: Terms,
        origin: &[u8],
        wanted: Option<Address>,
    ) -> Result<Address, EscrowError> {
        check_name("contract", &key.contract, 128)?;
        check_name("depositor", &key.depositor, 128)?;
        let row = {
            let mut conn = self.journal.read().await?;
            rows::account_of(&mut conn, &key.contract, &key.depositor, key.round).await?
        };
        if let Some(row) = row {
            if row.expected != terms.expected || row.payer != terms.payer.map(|p| p.public_key()) {
                return Err(EscrowError::OtherTerms(key.to_string()));
            }
            return Ok(row.account.address());
        }
        if let Some(account) = self.offers.account_of(key) {
            return match self.offers.get(&account) {
                Some(offered) if offered.terms != terms => Err(EscrowError::OtherTerms(key.to_string())),
                _ => Ok(account.address()),
            };
        }
        let (account, nonce, secret) = self.derive(origin, wanted)?;
        self.offers.insert(account, Offered { key: key.clone(), terms, nonce, secret });
        self.bell.notify_one();
        Ok(account.address())
    }

    /// What an offered account looks like: nothing has arrived.
    pub(crate) fn offered_view(&self, account: &PublicKey) -> Option<AccountView> {
        let offered = self.offers.get(account)?;
        Some(AccountView {
            key: offered.key,
            address: account.address(),
            expected: offered.terms.expected,
            held: Raw::ZERO,
            unconfirmed: Raw::ZERO,
            excess: Raw::ZERO,
            funded: false,
            closed: false,
            stopped: None,
            over_cap: false,
            deposits: Vec::new(),
        })
    }

    /// The row of an account. An offered one gets its row when the node shows something for it that matters; until
    /// then there is none. The lock of the account must be held.
    pub(crate) async fn row_or_offered(
        &self,
        account: &PublicKey,
    ) -> Result<Option<AccountRow>, EscrowError> {
        let found = {
            let mut conn = self.journal.read().await?;
            rows::account(&mut conn, account).await?
        };
        if found.is_some() {
            return Ok(found);
        }
        let Some(offered) = self.offers.get(account) else {
            return Err(EscrowError::NoAccount(account.address().to_string()));
        };
        let least = self.least(offered.terms.expected, Raw::ZERO, false);
        if !self.anything(&[account.address()], least).await?.contains(account) {
            return Ok(None);
        }
        let row = self.write_offered(&offered, AccountState::Open).await?;
        self.offers.remove(account, true);
        Ok(Some(row))
    }

    async fn write_offered(&self, offered: &Offered, state: AccountState) -> Result<AccountRow, EscrowError> {
        self.create_with(&offered.key, offered.terms, &offered.nonce, Some(&offered.secret), state).await
    }

    /// Which of these accounts have a send of at least `least` waiting.
    pub(crate) async fn anything(
        &self,
        accounts: &[Address],
        least: Raw,
    ) -> Result<Vec<PublicKey>, EscrowError> {
        let mut found = Vec::new();
        for page in accounts.chunks(PAGE) {
            let request = AccountsReceivable {
                accounts: page.to_vec(),
                count: 1,
                threshold: Some(least),
                confirmed_only: false,
            };
            let waiting = self.node.ask(request).await?;
            found.extend(waiting.iter().filter(|(_, s)| !s.is_empty()).map(|(a, _)| a.public_key()));
        }
        Ok(found)
    }

    /// Look whether offers that have lapsed were paid all the same; what was goes back.
    pub(crate) async fn look_late(&self, offers: &[Offer], least: Raw) -> Result<usize, EscrowError> {
        let addresses: Vec<Address> = offers.iter().map(|o| o.address).collect();
        let paid = self.anything(&addresses, least).await?;
        for offer in offers.iter().filter(|o| paid.contains(&o.address.public_key())) {
            let (account, nonce, secret) = self.derive(&offer.origin, Some(offer.address))?;
            let _lock = self.lock(account).await;
            let offered = Offered { key: offer.key.clone(), terms: offer.terms, nonce, secret };
            self.write_offered(&offered, AccountState::Closed).await?;
            self.watch_locked(&account).await?;
            self.wake(&[account], Lane::Refund);
        }
        Ok(paid.len())
    }

    /// Write accounts that a lost journal does not know, and adopt what the ledger says of them.
    pub(crate) async fn restore_offer(&self, offer: &Offer) -> Result<AccountView, EscrowError> {
        let (account, nonce, secret) = self.derive(&offer.origin, Some(offer.address))?;
        let _lock = self.lock(account).await;
        let offered = Offered { key: offer.key.clone(), terms: offer.terms, nonce, secret };
        self.write_offered(&offered, AccountState::Open).await?;
        self.sync(&account).await?;
        self.watch_locked(&account).await?;
        views::account_at(&self.journal, account).await
    }
}
