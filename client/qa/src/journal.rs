//! The steps of a finding, as the loop's journal has them, and what a process finds that was ended between two of them.

use zx1_coded::Coded;

/// A step that the table does not have. Numbers 7890 to 7899.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum JournalError {
    /// The table has no such step now.
    #[code(7890)]
    #[error("A finding that is {state:?} cannot take the step {input:?}.")]
    NotNow {
        /// Where it stands.
        state: State,
        /// What was tried.
        input: Input,
    },
}

/// Where a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// A probe saw it.
    Found,
    /// It is an entry of the log and has a rank.
    Triaged,
    /// No line that can run.
    NeedsRepro,
    /// A contract asks for a fix.
    Posted,
    /// A patch is there.
    Proposed,
    /// The gate passed it; a branch shows it.
    Gated,
    /// A person said yes.
    Reviewed,
    /// A person merged it.
    Merged,
    /// The entry is resolved on chain.
    Resolved,
    /// It ended without a fix.
    Dropped,
}

/// What can happen to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The entry stands in the log, with a line that can run.
    Triage,
    /// The entry stands in the log, without such a line.
    LackRepro,
    /// The contract is posted.
    Post,
    /// An agent proposed a patch.
    Propose,
    /// The gate or a person refused the patch; the contract goes on.
    Refuse,
    /// The contract ended without a fix.
    Lapse,
    /// The gate passed the patch and the branch is there.
    Pass,
    /// A person said yes.
    Accept,
    /// A person merged it.
    Merge,
    /// The entry was resolved on chain.
    Resolve,
    /// It is not there any more, or nobody wants it.
    Drop,
}

use Input as I;
use State as S;

/// All steps. Whatever is not here is refused. A stopped loop takes none of them: a stop is a state of the loop, and the
/// findings stand where they are.
pub const TABLE: [(State, Input, State); 21] = [
    (S::Found, I::Triage, S::Triaged),
    (S::Found, I::LackRepro, S::NeedsRepro),
    (S::Found, I::Drop, S::Dropped),
    (S::NeedsRepro, I::Triage, S::Triaged),
    (S::NeedsRepro, I::Drop, S::Dropped),
    (S::Triaged, I::Post, S::Posted),
    (S::Triaged, I::Drop, S::Dropped),
    (S::Posted, I::Propose, S::Proposed),
    (S::Posted, I::Lapse, S::Triaged),
    (S::Posted, I::Drop, S::Dropped),
    (S::Proposed, I::Pass, S::Gated),
    (S::Proposed, I::Refuse, S::Posted),
    (S::Proposed, I::Lapse, S::Triaged),
    (S::Proposed, I::Drop, S::Dropped),
    (S::Gated, I::Accept, S::Reviewed),
    (S::Gated, I::Refuse, S::Posted),
    (S::Gated, I::Drop, S::Dropped),
    (S::Reviewed, I::Merge, S::Merged),
    (S::Reviewed, I::Refuse, S::Posted),
    (S::Reviewed, I::Drop, S::Dropped),
    (S::Merged, I::Resolve, S::Resolved),
];

impl State {
    /// All, in the order in which a finding takes them.
    pub const ALL: [Self; 10] = [
        S::Found,
        S::Triaged,
        S::NeedsRepro,
        S::Posted,
        S::Proposed,
        S::Gated,
        S::Reviewed,
        S::Merged,
        S::Resolved,
        S::Dropped,
    ];

    /// The state after a step.
    pub fn after(self, input: Input) -> Result<Self, JournalError> {
        let row = TABLE.iter().find(|row| (row.0, row.1) == (self, input));
        row.map(|row| row.2).ok_or(JournalError::NotNow { state: self, input })
    }

    /// Whether nothing more happens to it.
    pub fn is_over(self) -> bool {
        matches!(self, S::Resolved | S::Dropped)
    }
}

impl Input {
    /// All, in the order of a fix.
    pub const ALL: [Self; 11] = [
        I::Triage,
        I::LackRepro,
        I::Post,
        I::Propose,
        I::Refuse,
        I::Lapse,
        I::Pass,
        I::Accept,
        I::Merge,
        I::Resolve,
        I::Drop,
    ];

    /// Whether only a person's act can be this step. The part that runs unattended never takes it.
    pub fn is_a_persons(self) -> bool {
        matches!(self, I::Accept | I::Merge | I::Resolve)
    }
}

/// A named place in a run at which a process can be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// The lock is held and nothing is written.
    Locked,
    /// The run has a folder.
    FolderMade,
    /// The budget is reserved, and no tool runs.
    Reserved,
    /// Tools run in their sandboxes.
    ToolRunning,
    /// A finding is in the journal, and its entry is not sent.
    FindingWritten,
    /// The entry was sent, and nobody saw it stand.
    ReportSent,
    /// The contract's post was sent, and nobody saw it stand.
    PostSent,
    /// Runs of the gate are on.
    GateRunning,
    /// The branch is there, and the journal does not say so.
    BranchMade,
    /// The budget is not settled, all else is done.
    Unsettled,
}

/// What the next start does about a run that ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Release the run's lock.
    Release,
    /// End the processes that the run started and remove its folder and cluster.
    Sweep,
    /// Return the whole reservation.
    Refund,
    /// Settle the reservation as if all of it was used, because nobody knows.
    Charge,
    /// Look in the log for this finding's hash; send the same bytes only when it is not there.
    LookForEntry,
    /// Look on the market for this post's hash; send the same bytes only when it is not there.
    LookForPost,
    /// Throw the gate's runs away and begin them anew.
    RunGateAnew,
    /// Compare the branch with the journal's patch; write the step when they agree, remove the branch otherwise.
    CompareBranch,
}

impl Point {
    /// All with what the next start does, in that order.
    pub const TABLE: [(Self, &'static [Recovery]); 10] = [
        (Self::Locked, &[Recovery::Release]),
        (Self::FolderMade, &[Recovery::Sweep, Recovery::Release]),
        (Self::Reserved, &[Recovery::Sweep, Recovery::Refund, Recovery::Release]),
        (Self::ToolRunning, &[Recovery::Sweep, Recovery::Charge, Recovery::Release]),
        (
            Self::FindingWritten,
            &[Recovery::Sweep, Recovery::LookForEntry, Recovery::Charge, Recovery::Release],
        ),
        (Self::ReportSent, &[Recovery::Sweep, Recovery::LookForEntry, Recovery::Charge, Recovery::Release]),
        (Self::PostSent, &[Recovery::LookForPost, Recovery::Charge, Recovery::Release]),
        (Self::GateRunning, &[Recovery::Sweep, Recovery::RunGateAnew, Recovery::Charge, Recovery::Release]),
        (Self::BranchMade, &[Recovery::Sweep, Recovery::CompareBranch, Recovery::Charge, Recovery::Release]),
        (Self::Unsettled, &[Recovery::Sweep, Recovery::Charge, Recovery::Release]),
    ];
}
