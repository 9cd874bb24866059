//! One signed entry of a chain (fix.md, "Transcript").

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use super::data::{Common, Data};
use super::kind::EntryType;
use crate::canonical::Json;
use crate::digits::lower_hex;
use crate::fields::{Builder, Fields};
use crate::head::Head;
use crate::{ContractId, Millis, PartyId, PartyKey, Reason, Refusal, Result};

/// What a signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureForm {
    /// Everything but the signature (decision E2).
    Full,
    /// Also accept the form of older clients, which leaves the timestamp out (decision E13).
    Compat,
}

/// A signed entry. The timestamp keeps its spelling (`1708531200` or `1708531200.0`), because the signature
/// covers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    kind: EntryType,
    data: Json,
    seq: u64,
    author: PartyId,
    prev_hash: [u8; 32],
    timestamp: Json,
    signature: [u8; 64],
}

impl Entry {
    /// Read an entry: the seven fields and no other. Checks their forms, not the signature and not the data's
    /// shape.
    pub fn from_json(value: &Json) -> Result<Entry> {
        let mut fields = Fields::of(value, "entry")?;
        let kind = fields.text("type", 64)?.parse()?;
        let data = fields.need("data")?;
        if data.as_object().is_none() {
            return fields.refuse("data", Reason::FieldNotObject);
        }
        let data = data.clone();
        let seq = fields.number("seq")?;
        let author = fields.party("author")?;
        let prev_hash = fields.hash("prev_hash")?;
        let timestamp = fields.need("timestamp")?.clone();
        if timestamp.as_f64().and_then(Millis::from_secs_f64).is_none() {
            return Err(Reason::EntryTimestamp.into());
        }
        let Some(signature) = fields.opt_text("signature", 128)? else {
            return Err(Refusal::with(Reason::EntryUnsigned, seq));
        };
        let signature = lower_hex(signature).ok_or_else(|| Refusal::with(Reason::EntrySignature, seq))?;
        fields.done()?;
        Ok(Entry { kind, data, seq, author, prev_hash, timestamp, signature })
    }

    /// Read an entry from text.
    pub fn parse(text: &[u8]) -> Result<Entry> {
        Entry::from_json(&Json::parse(text)?)
    }

    /// Write and sign an entry that hangs on `head`. The data's shape is not checked here.
    pub fn sign_json(kind: EntryType, data: Json, head: Head, at: Millis, key: &PartyKey) -> Entry {
        let mut entry = Entry {
            kind,
            data,
            seq: head.seq,
            author: key.id(),
            prev_hash: head.hash,
            timestamp: Json::Float(at.as_secs_f64()),
            signature: [0; 64],
        };
        entry.signature = key.sign(entry.signing_payload().as_bytes());
        entry
    }

    /// The same entry as older clients verify it: signed by its author's key again, without the timestamp
    /// (decision E13).
    pub(crate) fn resigned_for_older(mut self, key: &PartyKey) -> Entry {
        self.signature = key.sign(self.render(false, false).as_bytes());
        self
    }

    /// Puts the server's time in place of one that the signature does not cover (decision E13). An entry whose
    /// signature covers it stays as it is.
    pub(crate) fn timed_by_server(mut self, at: Millis) -> Entry {
        if self.verify(SignatureForm::Full).is_err() && self.verify(SignatureForm::Compat).is_ok() {
            self.timestamp = Json::Float(at.as_secs_f64());
        }
        self
    }

    /// Write and sign an entry that hangs on `head`, on the key's own behalf.
    pub fn sign(data: &Data, head: Head, at: Millis, key: &PartyKey) -> Entry {
        Entry::sign_json(data.kind(), data.to_json(&Common::default()), head, at, key)
    }

    /// The type of the entry.
    pub fn kind(&self) -> EntryType {
        self.kind
    }

    /// The entry's data as it was signed.
    pub fn data(&self) -> &Json {
        &self.data
    }

    /// Its data, read strictly as the type wants it.
    pub fn read(&self) -> Result<(Data, Common)> {
        Data::read(self.kind, &self.data)
    }

    /// The entry's sequence number, from 0.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The key that signed the entry.
    pub fn author(&self) -> PartyId {
        self.author
    }

    /// The chain hash of the entry before.
    pub fn prev_hash(&self) -> &[u8; 32] {
        &self.prev_hash
    }

    /// When it was signed, by its author's clock.
    pub fn at(&self) -> Millis {
        self.timestamp.as_f64().and_then(Millis::from_secs_f64).unwrap_or_default()
    }

    /// The author's Ed25519 signature, 64 bytes.
    pub fn signature(&self) -> &[u8; 64] {
        &self.signature
    }

    /// The canonical text, put together by hand so that large data is printed once and never cloned. The
    /// names stand in their sorted order.
    fn render(&self, timestamp: bool, signature: bool) -> String {
        let mut out = format!(
            r#"{{"author":"{}","data":{},"prev_hash":"{}","seq":{}"#,
            self.author,
            self.data.canonical(),
            hex::encode(self.prev_hash),
            self.seq
        );
        if signature {
            out.push_str(r#","signature":""#);
            out.push_str(&hex::encode(self.signature));
            out.push('"');
        }
        if timestamp {
            out.push_str(r#","timestamp":"#);
            out.push_str(&self.timestamp.canonical());
        }
        out.push_str(r#","type":""#);
        out.push_str(self.kind.as_str());
        out.push_str(r#""}"#);
        out
    }

    /// The canonical text that the signature covers.
    pub fn signing_payload(&self) -> String {
        self.render(true, false)
    }

    /// The canonical text of the whole entry.
    pub fn canonical(&self) -> String {
        self.render(true, true)
    }

    /// The whole entry.
    pub fn to_json(&self) -> Json {
        Builder::new()
            .text("type", self.kind)
            .put("data", self.data.clone())
            .put("seq", self.seq)
            .text("author", self.author)
            .text("prev_hash", hex::encode(self.prev_hash))
            .put("timestamp", self.timestamp.clone())
            .text("signature", hex::encode(self.signature))
            .build()
    }

    /// The chain hash: SHA-256 of the whole entry's canonical text.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.canonical().as_bytes()).into()
    }

    /// The contract that this entry posts, if it is a `post`.
    pub fn contract_id(&self) -> Option<ContractId> {
        (self.kind == EntryType::Post).then(|| ContractId::of(&self.hash()))
    }

    /// Check the signature, strictly (decision A4).
    pub fn verify(&self, form: SignatureForm) -> Result<()> {
        let good = |text: String| self.author.verify(text.as_bytes(), &self.signature);
        if good(self.signing_payload()) || (form == SignatureForm::Compat && good(self.render(false, false)))
        {
            return Ok(());
        }
        Err(Refusal::with(Reason::EntrySignature, self.seq))
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(s)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Entry, D::Error> {
        Entry::from_json(&Json::deserialize(d)?).map_err(de::Error::custom)
    }
}
