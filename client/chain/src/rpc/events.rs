//! The five programs' events as one type (decision B14). They are self-CPIs: instruction data behind a tag,
//! signed by the program's own event authority, so that nobody else can write them.

use zx1_interface::{EVENT_TAG, events};

macro_rules! events {
    ($($name:ident $program:ident,)*) => {
        /// An event of one of the five programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event {
            $(
                #[doc = concat!("[`events::", stringify!($name), "`]")]
                $name(events::$name),
            )*
        }

        impl Event {
            /// The names of all of them.
            pub const NAMES: &'static [&'static str] = &[$( stringify!($name), )*];

            /// Reads an event that this program emitted; `payload` is what stands behind the tag. None for
            /// anything else.
            pub fn read(program: &[u8; 32], payload: &[u8]) -> Option<Self> {
                $(
                    if *program == zx1_interface::ids::$program
                        && let Some(event) = events::$name::read(payload)
                    {
                        return Some(Self::$name(event));
                    }
                )*
                None
            }

            /// Its name, as the program writes it.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$name(_) => stringify!($name), )* }
            }

            /// What stands behind the tag: what [`Event::read`] reads.
            pub fn payload(&self) -> Vec<u8> {
                use zx1_interface::Event as _;
                match self {
                    $( Self::$name(event) => {
                        let bytes = event.to_bytes();
                        bytes.as_ref().get(EVENT_TAG.len()..).unwrap_or_default().to_vec()
                    } )*
                }
            }

            /// The program that emits it.
            pub fn program(&self) -> [u8; 32] {
                match self { $( Self::$name(_) => zx1_interface::ids::$program, )* }
            }

            /// Its fields, in order, as they stand behind the discriminator.
            pub fn fields(&self) -> &'static [zx1_interface::Field] {
                use zx1_interface::Event as _;
                match self { $( Self::$name(_) => events::$name::FIELDS, )* }
            }

            /// The number within its account, and the slot in which that account was created.
            pub fn sequence(&self) -> (u64, u64) {
                match self { $( Self::$name(event) => (event.sequence, event.account_created_slot), )* }
            }
        }
    };
}

events! {
    ConfigInitialized STAKE_LOCK,
    TenureOpened STAKE_LOCK,
    TakenOver STAKE_LOCK,
    KeyAdded STAKE_LOCK,
    KeyEnded STAKE_LOCK,
    KeyClosed STAKE_LOCK,
    StakeLocked STAKE_LOCK,
    EraEnded STAKE_LOCK,
    UnlockQueued STAKE_LOCK,
    UnlockCanceled STAKE_LOCK,
    StakeClaimed STAKE_LOCK,
    StakeMoved STAKE_LOCK,
    LeasePaid LEASE,
    GracePeriodEntered LEASE,
    LeaseExpired LEASE,
    HeadOpened BEHAVIOR_LOG,
    BatchSubmitted BEHAVIOR_LOG,
    BatchClosed BEHAVIOR_LOG,
    BatchWithheld BEHAVIOR_LOG,
    EvidenceDraftBegun CHALLENGE,
    EvidenceSealed CHALLENGE,
    EvidenceDraftCanceled CHALLENGE,
    ChallengeSubmitted CHALLENGE,
    ChallengeAnswered CHALLENGE,
    ChallengeResolved CHALLENGE,
    RankPassed CHALLENGE,
    ChallengeClosed CHALLENGE,
    LeafAsked CHALLENGE,
    LeafShown CHALLENGE,
    AskSettled CHALLENGE,
    AskClosed CHALLENGE,
    FeedbackSubmitted FEEDBACK_LOG,
    FeedbackDraftBegun FEEDBACK_LOG,
    FeedbackDraftCanceled FEEDBACK_LOG,
    FeedbackResolved FEEDBACK_LOG,
}

/// What stands behind the tag of an event's self-CPI; None for another instruction.
pub fn payload(data: &[u8]) -> Option<&[u8]> {
    data.strip_prefix(&EVENT_TAG)
}
