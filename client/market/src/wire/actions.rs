//! The actions of the market's HTTP interface: which entry goes where, in which body, and what comes back. The
//! client, the server's router and its OpenAPI document read this one table.

use serde::Serialize;

use super::answers::*;
use super::requests::*;
#[cfg(feature = "openapi")]
use super::schema;
use crate::chain::{Data, Entry, EntryType};
use crate::{ContractId, Reason, Refusal, Result};

/// The method of an action's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// HTTP POST, for all but one.
    Post,
    /// HTTP DELETE, to cancel a contract.
    Delete,
}

impl Method {
    /// The method as HTTP spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }
}

macro_rules! actions {
    ($($name:ident: $method:ident $path:literal [$($kind:ident),*] $body:ty => $answer:ty, $summary:literal;)*) => {
        /// An action of a party or a judge.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $(#[doc = $summary] $name,)* }

        /// The table: every action with its method, path, entries, body and answer.
        pub const ACTIONS: &[Action] = &[$(Action::$name),*];

        impl Action {
            /// The method of its request.
            pub const fn method(self) -> Method {
                match self { $(Action::$name => Method::$method,)* }
            }

            /// The path of its request, with `{id}` for the contract.
            pub const fn path(self) -> &'static str {
                match self { $(Action::$name => $path,)* }
            }

            /// The types of entries that its body may carry.
            pub const fn entries(self) -> &'static [EntryType] {
                match self { $(Action::$name => &[$(EntryType::$kind),*],)* }
            }

            /// What it does, in a sentence.
            pub const fn summary(self) -> &'static str {
                match self { $(Action::$name => $summary,)* }
            }

            /// The JSON of the body that carries an entry.
            ///
            /// # Errors
            ///
            /// As [`Body::of`].
            pub fn body(self, entry: &Entry) -> Result<String> {
                match self { $(Action::$name => written(&<$body>::of(entry)?),)* }
            }

            /// What a body without an entry says.
            ///
            /// # Errors
            ///
            /// The outer one when the text cannot be read as the body of this action, the inner one as
            /// [`Body::data`].
            pub fn data(self, body: &[u8]) -> serde_json::Result<Result<Data>> {
                match self { $(Action::$name => serde_json::from_slice::<$body>(body).map(Body::data),)* }
            }

            /// The schemas of its body and of its answer; what they refer to is added to `all`.
            #[cfg(feature = "openapi")]
            pub fn schemas(self, all: &mut schema::Named) -> (schema::Schema, schema::Schema) {
                match self {
                    $(Action::$name => (schema::referred::<$body>(all), schema::referred::<$answer>(all)),)*
                }
            }
        }
    };
}

actions! {
    Post: Post "/contracts" [Post] PostRequest => PostAnswer,
        "Post a contract; unfunded until its deposit is confirmed";
    Cancel: Delete "/contracts/{id}" [Cancel] CancelRequest => StatusAnswer,
        "Cancel a contract that no agent has taken";
    CancelByPost: Post "/contracts/{id}/cancel" [Cancel] CancelRequest => StatusAnswer, "The same as DELETE";
    Bond: Post "/contracts/{id}/bond" [Bond] BondRequest => BondAnswer,
        "Reserve a contract; taken when the deposit is confirmed";
    Accept: Post "/contracts/{id}/accept" [Accept] AcceptRequest => StatusAnswer, "Commit to fixing";
    Decline: Post "/contracts/{id}/decline" [Decline] DeclineRequest => StatusAnswer,
        "Give the contract back before accepting";
    Investigate: Post "/contracts/{id}/investigate" [Investigate] InvestigateRequest => StatusAnswer,
        "Ask for the output of a read-only command";
    Result: Post "/contracts/{id}/result" [Result] ResultRequest => StatusAnswer, "Answer an investigation";
    Fix: Post "/contracts/{id}/fix" [Fix] FixRequest => StatusAnswer, "Submit a fix";
    Verify: Post "/contracts/{id}/verify" [Verify] VerifyRequest => StatusAnswer, "Say whether the fix worked";
    // Before `Review`, which takes this entry too: the first action of an entry is the one that clients use.
    Dispute: Post "/contracts/{id}/dispute" [DisputeFiled] DisputeRequest => CourtAnswer, "File a dispute";
    Review: Post "/contracts/{id}/review" [ReviewAccept, ReviewReject, DisputeFiled]
        ReviewRequest => ReviewAnswer, "Accept, reject or dispute a fix in autonomous mode";
    Respond: Post "/contracts/{id}/respond" [DisputeResponse] RespondRequest => CourtAnswer,
        "Answer a dispute or an appeal";
    Appeal: Post "/contracts/{id}/appeal" [Appeal] AppealRequest => CourtAnswer, "Appeal to the next court";
    Waive: Post "/contracts/{id}/waive" [Waive] WaiveRequest => StatusAnswer,
        "Give up an appeal or an objection";
    Chat: Post "/contracts/{id}/chat" [Chat, Ask, Answer, Message] ChatRequest => StatusAnswer,
        "Send a message";
    Halt: Post "/contracts/{id}/halt" [Halt] HaltRequest => HaltAnswer, "Stop everything";
    Resume: Post "/contracts/{id}/resume" [Resume] ResumeRequest => StatusAnswer, "Take a halt back";
    BackOut: Post "/contracts/{id}/back_out" [BackOut] BackOutRequest => StatusAnswer,
        "Leave in the middle of the work";
    Void: Post "/contracts/{id}/void" [] VoidRequest => StatusAnswer, "Void a dispute whose judge was late";
    Accounts: Post "/contracts/{id}/accounts" [Accounts] AccountsRequest => StatusAnswer,
        "Set the payout address";
    Feedback: Post "/contracts/{id}/feedback" [Feedback] FeedbackRequest => StatusAnswer,
        "Leave a signed feedback envelope after the end";
    Ruling: Post "/contracts/{id}/ruling" [] JudgeRequest => JudgeAnswer,
        "A judge's re-execution or ruling, one of both, signed in its data";
}

fn written(body: &impl Serialize) -> Result<String> {
    serde_json::to_string(body).map_err(|error| Refusal::with(Reason::JsonSyntax, error))
}

impl Action {
    /// The action that a client uses for an entry; none for entries of the server.
    pub fn of(kind: EntryType) -> Option<Action> {
        ACTIONS.iter().copied().find(|action| action.entries().contains(&kind))
    }

    /// The path of its request about a contract.
    pub fn path_of(self, id: ContractId) -> String {
        self.path().replace("{id}", &id.to_string())
    }
}
