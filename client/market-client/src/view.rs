//! A contract as a server shows it, verified on this machine.

use zx1_market::case::{self, Transcript};
use zx1_market::chain::{Data, Head, Side};
use zx1_market::wire::ContractView;
use zx1_market::{Case, ContractId, Entry, EntryType, PartyId, State};

use super::error::{ClientError, Result};
use super::link;

/// A contract whose shown entries all hold: signatures, links, authors, shapes, and the market's rules at
/// every moment ([`case::rebuild`]). What it says of states and money follows from the entries, not from the
/// server's words.
#[derive(Debug, Clone)]
pub struct View {
    /// The server's answer. Its `transcript` has been moved into [`View::transcript`].
    pub answer: ContractView,
    transcript: Transcript,
    case: Case,
    whole: bool,
    me: PartyId,
}

impl View {
    /// Verify an answer of `GET /contracts/{id}`.
    pub(super) fn read(bytes: &[u8], id: ContractId, server: PartyId, me: PartyId) -> Result<View> {
        let call = "GET /contracts/{id}";
        let mut answer: ContractView = link::read(call, bytes)?;
        if answer.id != id {
            return Err(ClientError::Other { expected: id.to_string(), found: answer.id.to_string() });
        }
        if answer.server_pubkey.trim_start_matches("fix_") != server.hex() {
            let found = format!("fix_{}", answer.server_pubkey);
            return Err(ClientError::Other { expected: server.to_string(), found });
        }
        let transcript = Transcript {
            contract_id: Some(id),
            server: Some(server),
            entries: std::mem::take(&mut answer.transcript),
            received_at: std::mem::take(&mut answer.received_at),
        };
        if transcript.entries.is_empty() {
            return Err(ClientError::NotWhole { id });
        }
        let case = case::rebuild(&transcript).map_err(|refusal| ClientError::Transcript { id, refusal })?;
        let whole = case.head().hex() == answer.chain_head;
        Ok(View { answer, transcript, case, whole, me })
    }

    /// The contract's id.
    pub fn id(&self) -> ContractId {
        self.case.id()
    }

    /// Where it stands, by the market's rules over the shown entries.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// The state that the entries lead to.
    pub fn state(&self) -> State {
        self.case.state()
    }

    /// What is kept and can be checked again offline.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.transcript.entries
    }

    /// What the next entry must carry, as far as was shown.
    pub fn head(&self) -> Head {
        self.case.head()
    }

    /// Whether all entries were shown. A stranger sees only the offer: `post` and `opened` (decision E14).
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The side of the key that asked.
    pub fn side(&self) -> Option<Side> {
        self.case.side_of(&self.me)
    }

    /// Whether an entry is in the chain.
    pub fn holds(&self, entry: &Entry) -> bool {
        let at = usize::try_from(entry.seq()).unwrap_or(usize::MAX);
        self.entries().get(at).is_some_and(|there| there.hash() == entry.hash())
    }

    /// The agent's last question, if nobody has answered it: its entry's number and its text.
    pub fn open_question(&self) -> Option<(u64, String)> {
        let agent = self.case.agent()?;
        let last = self.entries().iter().rev().find(|entry| match entry.kind() {
            EntryType::Ask => entry.author() == agent,
            EntryType::Answer => true,
            _ => false,
        })?;
        match last.read().ok()?.0 {
            Data::Ask { message } => Some((last.seq(), message)),
            _ => None,
        }
    }

    /// The entries from `head` on, when the view has all up to there.
    pub(super) fn since(&self, head: Head) -> Option<&[Entry]> {
        let at = usize::try_from(head.seq).ok()?;
        let before = match at.checked_sub(1) {
            None => Head::GENESIS.hash,
            Some(last) => self.entries().get(last)?.hash(),
        };
        if before == head.hash { self.entries().get(at..) } else { None }
    }
}
