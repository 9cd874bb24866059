//! The rows of the notary's part: searches of this agent as a party, tasks of it as a notary, and whether it serves as
//! one. In memory as they are on disk.

use crate::error::{Error, Result};
use crate::store::{Files, Stored};
use crate::words::Words;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zx1_home::files;
use zx1_mesh::conversation::Due;
use zx1_mesh::defaults::{MAX_DESKS, MAX_JUDGE_SECONDS};
use zx1_mesh::notary::{Desk, DeskStage, Desks, Search, Searches};
use zx1_operator::node::wire;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::ConversationId;
use zx1_protocol::mesh_payload::Offer;
use zx1_protocol::payload::Feedback;

const FOLDER: &str = "notary";
const SEARCHES: &str = "searches";
const DESKS: &str = "desks";
/// The file with [`Serving`], in the folder.
const SERVING: &str = "serving";

impl Stored for Search {
    /// Each offer's envelope has 4 KiB of payload at most, and stands here as hex.
    const LIMIT: u64 = 1 << 20;

    fn name(&self) -> String {
        self.conversation().to_string()
    }
}

impl Stored for Desk {
    const LIMIT: u64 = 1 << 20;

    fn name(&self) -> String {
        self.conversation().to_string()
    }
}

/// The terms under which this agent offers to be a notary; on disk as the local API has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "wire::Serve", into = "wire::Serve")]
pub struct Serving {
    /// What it asks for.
    pub fee: i128,
    /// In what the fee is counted.
    pub unit: String,
    /// Seconds to the VERDICT.
    pub seconds: u32,
    /// Tasks at a time, offers included.
    pub max: usize,
}

impl Serving {
    /// What an offer says.
    pub fn terms(&self) -> Offer<'_> {
        Offer { fee: self.fee, unit: &self.unit, seconds: self.seconds }
    }
}

impl TryFrom<wire::Serve> for Serving {
    type Error = String;

    /// The terms, when an offer may say them. An error is a clause.
    fn try_from(said: wire::Serve) -> Result<Self, String> {
        let fee = said.fee.parse().map_err(|_| "fee is not an integer".to_owned())?;
        let max = said.max.unwrap_or(MAX_DESKS);
        if !(1..=MAX_DESKS).contains(&max) {
            return Err(format!("max is from 1 to {MAX_DESKS}"));
        }
        if said.seconds > MAX_JUDGE_SECONDS {
            return Err(format!("seconds are from 1 to {MAX_JUDGE_SECONDS}"));
        }
        let serving = Self { fee, unit: said.unit, seconds: said.seconds, max };
        let checked = serving.terms().to_payload();
        checked.map_err(|error| error.to_string().trim_end_matches('.').to_owned())?;
        Ok(serving)
    }
}

impl From<Serving> for wire::Serve {
    fn from(serving: Serving) -> Self {
        let Serving { fee, unit, seconds, max } = serving;
        Self { fee: fee.to_string(), unit, seconds, max: Some(max) }
    }
}

impl Stored for Serving {
    const LIMIT: u64 = 4_096;

    fn name(&self) -> String {
        SERVING.to_owned()
    }
}

/// The rows in memory.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Of this agent as a party.
    pub searches: Searches,
    /// Of this agent as a notary.
    pub desks: Desks,
    /// `None` while it makes no offers.
    pub serving: Option<Serving>,
}

impl Rows {
    /// Whether a desk wants this said: its VERDICT to a party, or a rating that it owes. The table of deals knows
    /// nothing of a notary's tasks.
    pub fn desk_says(&self, words: &Words) -> bool {
        let Ok(desk) = self.desks.get(words.conversation) else { return false };
        match words.msg_type {
            MsgType::Verdict => {
                let (asker, other) = desk.parties();
                desk.stage() == DeskStage::Judged
                    && (words.recipient == asker || Some(words.recipient) == other)
            }
            MsgType::Feedback => Feedback::decode(&words.payload).is_ok_and(|rating| {
                let due = Due { target: rating.target_agent, role: rating.role };
                rating.conversation_id == words.conversation && desk.owed().contains(&due)
            }),
            _ => false,
        }
    }

    /// Tasks of this agent as a notary that are not over.
    pub fn open_desks(&self) -> usize {
        self.desks.iter().filter(|desk| !desk.stage().is_over()).count()
    }
}

/// The rows on disk.
#[derive(Clone, Debug)]
pub struct Disk {
    searches: Files<Search>,
    desks: Files<Desk>,
    folder: PathBuf,
}

impl Disk {
    /// Opens the rows in an agent's folder. Blocks.
    ///
    /// # Errors
    /// 7683 for a file that is none of this store.
    pub fn open(agent_folder: &Path) -> Result<(Self, Rows)> {
        let folder = agent_folder.join(FOLDER);
        let (searches, found) = Files::open(folder.join(SEARCHES))?;
        let searching = Searches::load(found);
        let (desks, found) = Files::open(folder.join(DESKS))?;
        let serving = Files::<Serving>::open(folder.clone())?.1.into_iter().next();
        let rows = Rows { searches: searching, desks: Desks::load(found), serving };
        Ok((Self { searches, desks, folder }, rows))
    }

    /// Writes a search. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn put_search(&self, row: &Search) -> Result<()> {
        self.searches.put(row)
    }

    /// Writes a task. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn put_desk(&self, row: &Desk) -> Result<()> {
        self.desks.put(row)
    }

    /// Takes searches out. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn remove_searches(&self, gone: &[ConversationId]) -> Result<()> {
        gone.iter().try_for_each(|id| self.searches.remove(&id.to_string()))
    }

    /// Takes tasks out. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn remove_desks(&self, gone: &[ConversationId]) -> Result<()> {
        gone.iter().try_for_each(|id| self.desks.remove(&id.to_string()))
    }

    /// Writes the terms, or that there are none. Blocks.
    ///
    /// # Errors
    /// 7683
    pub fn put_serving(&self, serving: Option<&Serving>) -> Result<()> {
        let path = self.folder.join(format!("{SERVING}.json"));
        let failed = |why: String| Error::File { action: "written", path: path.clone(), why };
        let done = match serving {
            None => files::remove(&path).map(drop),
            Some(serving) => {
                let bytes = serde_json::to_vec(serving).map_err(|error| failed(error.to_string()))?;
                files::replace(&path, &bytes)
            }
        };
        done.map_err(|error| failed(error.to_string()))
    }
}
