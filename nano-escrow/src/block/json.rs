//! Blocks as JSON. Strict in what goes out, tolerant in what comes in.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Address, BlockHash, Error, HexError, PublicKey, Raw, Signature, SignedBlock, StateBlock, Work};

/// All the fields as texts; dialects differ in their case and in which of them are there.
#[derive(Serialize, Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: String,
    account: String,
    previous: String,
    representative: String,
    balance: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link_as_account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work: Option<String>,
}

impl Fields {
    fn of(block: &StateBlock) -> Fields {
        Fields {
            kind: "state".into(),
            account: block.account.address().to_string(),
            previous: block.previous.to_string(),
            representative: block.representative.address().to_string(),
            balance: block.balance.to_string(),
            link: Some(hex::encode_upper(block.link)),
            link_as_account: Some(block.link_address().to_string()),
            signature: None,
            work: None,
        }
    }

    fn block(&self) -> Result<StateBlock, Error> {
        if !self.kind.eq_ignore_ascii_case("state") {
            return Err(Error::BlockJson(format!(
                "its type is {:?}, only state blocks are known",
                self.kind
            )));
        }
        let account = |text: &str| text.parse::<Address>().map(|a| a.public_key());
        let as_account = match self.link_as_account.as_deref() {
            None | Some("") => None,
            Some(text) => Some(account(text)?.0),
        };
        let link = match self.link.as_deref() {
            None | Some("") => as_account,
            // Some programs write the receiver's address into `link`.
            Some(text) if text.contains('_') => Some(account(text)?.0),
            Some(text) => Some(
                text.parse::<PublicKey>().map_err(|_| HexError::Digits { what: "a link", digits: 64 })?.0,
            ),
        };
        let link = link.ok_or_else(|| Error::BlockJson("it has no link".into()))?;
        if as_account.is_some_and(|other| other != link) {
            return Err(Error::LinkMismatch);
        }
        Ok(StateBlock {
            account: account(&self.account)?,
            previous: match self.previous.as_str() {
                // Both are found in the wild for "no block before".
                "" | "0" => BlockHash::ZERO,
                text => text.parse()?,
            },
            representative: account(&self.representative)?,
            balance: self.balance.parse::<Raw>()?,
            link,
        })
    }

    fn signed(&self) -> Result<SignedBlock, Error> {
        let signature = match self.signature.as_deref() {
            None | Some("") => return Err(Error::BlockJson("it has no signature".into())),
            Some(text) => text.parse::<Signature>()?,
        };
        let work = match self.work.as_deref() {
            None | Some("") => None,
            Some(text) => Some(text.parse::<Work>()?),
        };
        Ok(SignedBlock { block: self.block()?, signature, work })
    }
}

impl StateBlock {
    /// Read JSON; signature and work, if there, are left out.
    pub fn from_json(text: &str) -> Result<StateBlock, Error> {
        fields(text)?.block()
    }
}

impl SignedBlock {
    /// Read JSON with a signature; the work may be missing. Nothing is verified.
    pub fn from_json(text: &str) -> Result<SignedBlock, Error> {
        fields(text)?.signed()
    }
}

fn fields(text: &str) -> Result<Fields, Error> {
    serde_json::from_str(text).map_err(|e| Error::BlockJson(e.to_string()))
}

impl Serialize for StateBlock {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        Fields::of(self).serialize(s)
    }
}

impl<'de> Deserialize<'de> for StateBlock {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Fields::deserialize(d)?.block().map_err(de::Error::custom)
    }
}

impl Serialize for SignedBlock {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut fields = Fields::of(&self.block);
        fields.signature = Some(self.signature.to_string());
        fields.work = self.work.map(|w| w.to_string());
        fields.serialize(s)
    }
}

impl<'de> Deserialize<'de> for SignedBlock {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Fields::deserialize(d)?.signed().map_err(de::Error::custom)
    }
}
