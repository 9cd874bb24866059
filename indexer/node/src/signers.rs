//! Questions to whoever holds the deal key, a process of its own (decision I5). It asks for work; here its questions
//! wait.

use crate::defaults::{MAX_QUESTIONS, SIGN_WITHIN, SIGNER_SEEN, SIGNER_WAITS};
use crate::error::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;
use zx1_operator::node::wire::{Signed, ToSign};

#[derive(Debug, Default)]
struct State {
    next_id: u64,
    waiting: VecDeque<ToSign>,
    answers: BTreeMap<u64, oneshot::Sender<Signed>>,
    seen: Option<Instant>,
    /// Signers that wait for a question now.
    asking: usize,
}

/// Questions that wait for a signer.
#[derive(Debug, Default)]
pub struct Signers {
    state: Mutex<State>,
    more: Notify,
}

/// A signer that waits, for as long as it does.
struct Asking<'s>(&'s Signers);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.asking = state.asking.saturating_sub(1);
        state.seen = Some(Instant::now());
    }
}

impl Signers {
    /// Whether a signer is there.
    pub fn is_there(&self) -> bool {
        let state = self.state();
        state.asking > 0 || state.seen.is_some_and(|seen| seen.elapsed() < SIGNER_SEEN)
    }

    /// Asks for a signature. The question's number is set here.
    ///
    /// # Errors
    /// 7696 when nobody answers in time, 7697 when the signer refuses.
    pub async fn ask(&self, mut question: ToSign) -> Result<Vec<u8>> {
        let (answer, signed) = oneshot::channel();
        let id = {
            let mut state = self.state();
            let is_there = state.asking > 0 || state.seen.is_some_and(|seen| seen.elapsed() < SIGNER_SEEN);
            if !is_there || state.answers.len() >= MAX_QUESTIONS {
                return Err(Error::NoSigner);
            }
            let id = state.next_id;
            state.next_id = id.wrapping_add(1);
            question.id = id;
            state.waiting.push_back(question);
            state.answers.insert(id, answer);
            id
        };
        self.more.notify_one();
        let signed = timeout(SIGN_WITHIN, signed).await;
        {
            let mut state = self.state();
            state.answers.remove(&id);
            state.waiting.retain(|question| question.id != id);
        }
        let Ok(Ok(signed)) = signed else { return Err(Error::NoSigner) };
        let envelope = signed.envelope.and_then(|envelope| hex::decode(envelope).ok());
        let why = || signed.why.unwrap_or_else(|| "it gave neither an envelope nor a reason".to_owned());
        envelope.ok_or_else(|| Error::Signer(why()))
    }

    /// The next question for a signer; `None` when there was none for a while.
    pub async fn next(&self) -> Option<ToSign> {
        self.state().asking += 1;
        let _asking = Asking(self);
        let question = async {
            loop {
                if let Some(question) = self.state().waiting.pop_front() {
                    return question;
                }
                self.more.notified().await;
            }
        };
        timeout(SIGNER_WAITS, question).await.ok()
    }

    /// Takes an answer.
    ///
    /// # Errors
    /// 7689 when nobody waits for it any more.
    pub fn answer(&self, id: u64, signed: Signed) -> Result<()> {
        let waiting = self.state().answers.remove(&id);
        let missing = || Error::Missing(format!("question {id}; it was answered, or it is too late"));
        waiting.ok_or_else(missing)?.send(signed).map_err(|_| missing())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn question() -> ToSign {
        ToSign {
            id: 0,
            r#type: "propose".into(),
            sender: String::new(),
            recipient: String::new(),
            conversation: String::new(),
            timestamp_micros: 0,
            block_ref: 0,
            nonce: 0,
            payload: String::new(),
        }
    }

    #[tokio::test]
    async fn a_question_reaches_a_signer_and_its_answer_whoever_asked() {
        let signers = Arc::new(Signers::default());
        assert!(matches!(signers.ask(question()).await, Err(Error::NoSigner)), "nobody is there");
        let signer = Arc::clone(&signers);
        let working = tokio::spawn(async move {
            for envelope in [Some("00ff".to_owned()), None] {
                let question = signer.next().await.unwrap();
                let why = Some("the limit is reached".to_owned());
                signer.answer(question.id, Signed { envelope, why }).unwrap();
                assert!(matches!(
                    signer.answer(question.id, Signed { envelope: None, why: None }),
                    Err(Error::Missing(_))
                ));
            }
        });
        while !signers.is_there() {
            tokio::task::yield_now().await;
        }
        assert_eq!(signers.ask(question()).await.unwrap(), [0, 255]);
        let refused = signers.ask(question()).await;
        assert!(matches!(refused, Err(Error::Signer(why)) if why == "the limit is reached"));
        working.await.unwrap();
    }
}
