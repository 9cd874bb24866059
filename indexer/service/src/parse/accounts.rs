//! Account states: what the index keeps of each kind, read by `zx1_chain`'s decoder.

use solana_address::Address;
use zx1_chain::pda;
use zx1_chain::rpc::{RawAccount, Result, Stored};
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, FeedbackEntry, FeedbackLogAccount, FeedbackResolution,
    HeadAccount, KeyAccount, LeaseAccount, StakeLockAccount, TenureAccount,
};
use zx1_protocol::ids::AgentId;

/// An account whose state is to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touched {
    /// The tenure of an agent, by mint.
    Tenure(AgentId),
    /// A key of an agent, by mint and key.
    Key(AgentId, [u8; 32]),
    /// The stake of an agent's era, by mint and era.
    Stake(AgentId, u32),
    /// The lease account of an agent, by mint.
    Lease(AgentId),
    /// The head of an agent's batches.
    Head(AgentId),
    /// A batch, by mint and epoch.
    Batch(AgentId, u64),
    /// A challenge, with the slot of its submission.
    Challenge([u8; 32], u64),
    /// An ask, with the slot of its creation.
    Ask([u8; 32], u64),
    /// A feedback entry, by index.
    Entry(u64),
    /// The resolution of a feedback entry.
    Resolution(u64),
    /// The head of the feedback log.
    Log,
}

/// What is there; none where no account is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A tenure; `None` when it does not exist.
    Tenure(Option<TenureAccount>),
    /// A key; `None` when it is closed.
    Key(Option<KeyAccount>),
    /// A stake; `None` when it is closed.
    Stake(Option<StakeLockAccount>),
    /// A lease; `None` when it does not exist.
    Lease(Option<LeaseAccount>),
    /// A head of batches; `None` when it does not exist.
    Head(Option<HeadAccount>),
    /// A batch; `None` when it is closed.
    Batch(Option<Box<BatchAccount>>),
    /// A challenge; `None` when it is closed.
    Challenge(Option<Box<ChallengeAccount>>),
    /// An ask; `None` when it is closed.
    Ask(Option<AskAccount>),
    /// A feedback entry with its text.
    Entry(Option<(FeedbackEntry, String)>),
    /// A resolution; `None` when it does not exist.
    Resolution(Option<FeedbackResolution>),
    /// The account with the head of the feedback log.
    Log(Option<FeedbackLogAccount>),
}

impl Touched {
    /// Derives the account's address.
    pub fn address(&self) -> Address {
        match self {
            Self::Tenure(agent) => pda::tenure(agent),
            Self::Key(agent, key) => pda::key(agent, &Address::new_from_array(*key)),
            Self::Stake(agent, era) => pda::stake(agent, *era),
            Self::Lease(agent) => pda::lease(agent),
            Self::Head(agent) => pda::head(agent),
            Self::Batch(agent, epoch) => pda::batch(agent, *epoch),
            Self::Challenge(address, _) | Self::Ask(address, _) => Address::new_from_array(*address),
            Self::Entry(index) => pda::feedback_entry(*index),
            Self::Resolution(index) => pda::feedback_resolution(*index),
            Self::Log => pda::feedback_log(),
        }
    }

    /// Reads the account that was found there.
    ///
    /// # Errors
    ///
    /// An account of another program or of another form.
    pub fn read(&self, account: Option<&RawAccount>) -> Result<State> {
        // An address to which somebody sent lamports holds no account.
        let account = account.filter(|account| !account.data.is_empty());
        macro_rules! stored {
            ($layout:ty) => {
                account.map(Stored::<$layout>::decode).transpose()?.map(|stored| stored.value)
            };
        }
        Ok(match self {
            Self::Tenure(_) => State::Tenure(stored!(TenureAccount)),
            Self::Key(..) => State::Key(stored!(KeyAccount)),
            Self::Stake(..) => State::Stake(stored!(StakeLockAccount)),
            Self::Lease(_) => State::Lease(stored!(LeaseAccount)),
            Self::Head(_) => State::Head(stored!(HeadAccount)),
            Self::Batch(..) => State::Batch(stored!(BatchAccount).map(Box::new)),
            Self::Ask(_, created) => {
                State::Ask(stored!(AskAccount).filter(|found| found.created_slot == *created))
            }
            Self::Challenge(_, created) => {
                let found = stored!(ChallengeAccount).filter(|found| found.submitted_slot == *created);
                State::Challenge(found.map(Box::new))
            }
            Self::Entry(_) => {
                let found = account.map(Stored::<FeedbackEntry>::decode).transpose()?;
                State::Entry(found.map(|stored| {
                    let length = usize::try_from(stored.text_len).unwrap_or(usize::MAX);
                    let text = stored.tail.get(..length).unwrap_or(&stored.tail);
                    // The program takes only UTF-8; another node's bytes are shown as far as they go.
                    (stored.value, String::from_utf8_lossy(text).into_owned())
                }))
            }
            Self::Resolution(_) => State::Resolution(stored!(FeedbackResolution)),
            Self::Log => State::Log(stored!(FeedbackLogAccount)),
        })
    }
}
