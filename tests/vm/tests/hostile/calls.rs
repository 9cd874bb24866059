//! A valid call with what may be different in it without harm; those of Lease, BehaviorLog and FeedbackLog.

use solana_address::Address;
use solana_instruction::Instruction;
use zx1_chain::instructions::lease::tick_lease;
use zx1_chain::instructions::{behavior_log, feedback_log};
use zx1_chain::pda;
use zx1_interface::Field;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, UNLOCK_DELAY_SLOTS};
use zx1_interface::instruction::{self as data, Instruction as Data};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_vm_tests::{Batch, Living, World};

use crate::stage::Stage;

/// An account that may be another one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Free {
    /// The call does not read it.
    Unread,
    /// Whoever signs may stand here.
    AnySigner,
    /// This other account serves as well.
    Also(Address),
}

/// A call that succeeds as it stands.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// The name and which of its paths.
    pub(crate) label: String,
    pub(crate) fields: &'static [Field],
    /// The world in which it succeeds.
    pub(crate) world: World,
    /// What goes before it in the transaction.
    pub(crate) before: Vec<Instruction>,
    pub(crate) instruction: Instruction,
    pub(crate) free_accounts: Vec<(usize, Free)>,
    /// Arguments that are the caller's own choice.
    pub(crate) free_arguments: &'static [&'static str],
    pub(crate) signs: Signs,
}

/// Who signs a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signs {
    /// Whoever has to.
    Everybody,
    /// Only a program could, so that the call is refused even as it stands.
    Nobody,
    /// Challenge's authority among others, as in a call of Challenge's.
    Challenge,
}

impl Call {
    pub(crate) fn new<D: Data>(path: &str, world: &World, instruction: Instruction) -> Self {
        Self {
            name: D::NAME,
            label: format!("{} ({path})", D::NAME),
            fields: D::FIELDS,
            world: world.clone(),
            before: Vec::new(),
            instruction,
            free_accounts: Vec::new(),
            free_arguments: &[],
            signs: Signs::Everybody,
        }
    }

    /// Two calls that only Challenge's authority, the first account, can make: by a wallet, and by it.
    pub(crate) fn by_cpi<D: Data>(world: &World, instruction: Instruction) -> [Self; 2] {
        // Nobody has the key of a derived address.
        let mut unsigned = instruction.clone();
        unsigned.accounts[0].is_signer = false;
        [
            Self { signs: Signs::Nobody, ..Self::new::<D>("by a wallet", world, unsigned) },
            Self { signs: Signs::Challenge, ..Self::new::<D>("by Challenge", world, instruction) },
        ]
    }

    pub(crate) fn before(self, instruction: Instruction) -> Self {
        Self { before: vec![instruction], ..self }
    }

    pub(crate) fn accounts(self, free: &[(usize, Free)]) -> Self {
        Self { free_accounts: free.to_vec(), ..self }
    }

    /// The call does not read the accounts in these places.
    pub(crate) fn unread(mut self, places: &[usize]) -> Self {
        self.free_accounts.extend(places.iter().map(|place| (*place, Free::Unread)));
        self
    }

    pub(crate) fn arguments(self, free: &'static [&'static str]) -> Self {
        Self { free_arguments: free, ..self }
    }
}

/// Valid calls of Lease.
pub(crate) fn lease(stage: &Stage) -> Vec<Call> {
    let Living { agent, owner, keys } = &stage.living;
    let mut world = stage.world.clone();
    let by_owner = world.paying_lease(agent, &owner.at(), 2);
    let by_key = world.paying_lease(agent, &keys.pay.at(), 2);
    let mut leaseless = world.clone();
    let second = leaseless.register_agent(owner);
    let first = leaseless.paying_lease(&second, &owner.at(), 2);
    let mut late = world.clone();
    late.pay_lease(agent, owner, 1).unwrap();
    late.advance_epochs(1);
    vec![
        // 5, the key: the holder needs none. 10, the system program: nothing is created.
        Call::new::<data::PayLease>("renewal", &world, by_owner).unread(&[5, 10]).arguments(&["epochs"]),
        Call::new::<data::PayLease>("by a key", &world, by_key).unread(&[10]).arguments(&["epochs"]),
        Call::new::<data::PayLease>("first", &leaseless, first).unread(&[5]).arguments(&["epochs"]),
        Call::new::<data::TickLease>("enters grace", &late, tick_lease(agent.mint)),
    ]
}

/// Valid calls of BehaviorLog.
pub(crate) fn behavior_log(stage: &Stage) -> Vec<Call> {
    let Living { agent, owner, keys } = &stage.living;
    let mut headless = stage.world.clone();
    let second = headless.register_agent(owner);
    let open = behavior_log::open_head(&second.addresses(), stage.sponsor.at());

    let landing = |epochs: u64| {
        let mut world = stage.world.clone();
        world.advance_epochs(epochs);
        let batch = Batch { epoch: stage.epoch + epochs, ..stage.batch(agent) };
        let message = world.message_of(agent, &batch);
        let landing = world.landing(agent, &stage.sponsor.at(), &keys.batch, &message);
        (world, landing)
    };
    let (tomorrow, [signature, submit]) = landing(1);
    let (after_a_gap, [later_signature, later_submit]) = landing(2);

    let mut over = stage.world.clone();
    over.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
    let close = over.closing_batch(agent, stage.epoch);
    let mut claimed = stage.world.clone();
    claimed.advance_epochs(4);
    claimed.queue_unlock(agent, owner, 0).unwrap();
    claimed.advance_slots(UNLOCK_DELAY_SLOTS);
    claimed.claim_stake(agent, owner, 0).unwrap();
    let mark = behavior_log::mark_withheld(agent.mint, stage.epoch, pda::challenge_authority());
    // 0, the payer: anyone may pay.
    let payer = [(0, Free::AnySigner)];
    let mut calls = vec![
        Call::new::<data::OpenHead>("once", &headless, open).accounts(&payer),
        Call::new::<data::SubmitBatch>("of the next epoch", &tomorrow, submit)
            .before(signature)
            .accounts(&payer),
        Call::new::<data::SubmitBatch>("after a gap", &after_a_gap, later_submit)
            .before(later_signature)
            .accounts(&payer),
        Call::new::<data::CloseBatch>("window over", &over, close.clone()),
        Call::new::<data::CloseBatch>("stake claimed", &claimed, close),
    ];
    calls.extend(Call::by_cpi::<data::MarkWithheld>(&stage.world, mark));
    calls
}

/// Valid calls of FeedbackLog.
pub(crate) fn feedback_log(stage: &Stage) -> Vec<Call> {
    let (sponsor, sender) = (stage.sponsor.at(), stage.living.owner.at());
    let text = b"It fails when the list is empty.".to_vec();
    let length = u32::try_from(text.len()).unwrap();
    let submit = feedback_log::submit_feedback(sponsor, sender, 1, text.clone());
    let begin = feedback_log::begin_draft(sponsor, sender, 0, length, Sha3::hashv(&[&text]));
    let append = feedback_log::append_draft(sender, 0, 0, text);
    let mut begun = stage.world.clone();
    begun.send_ok(std::slice::from_ref(&begin), &stage.sponsor, &[&stage.living.owner]);
    let mut complete = begun.clone();
    complete.send_ok(std::slice::from_ref(&append), &stage.living.owner, &[]);
    let seal = feedback_log::seal_draft(sponsor, sender, sponsor, 0, 1);
    let cancel = feedback_log::cancel_draft(sender, sender, sponsor, 0);
    let maintainer = solana_signer::Signer::pubkey(&stage.world.maintainer());
    let resolve = feedback_log::resolve_entry(maintainer, 0, [1; 32], [2; 32]);
    vec![
        // Whoever signs may pay, and whoever signs may speak.
        Call::new::<data::SubmitFeedback>("sponsored", &stage.world, submit)
            .accounts(&[(0, Free::AnySigner), (1, Free::AnySigner)])
            .arguments(&["text"]),
        Call::new::<data::BeginDraft>("sponsored", &stage.world, begin)
            .accounts(&[(0, Free::AnySigner)])
            .arguments(&["len", "text_hash"]),
        Call::new::<data::AppendDraft>("whole", &begun, append).arguments(&["bytes"]),
        Call::new::<data::SealDraft>("sponsored", &complete, seal).accounts(&[(0, Free::AnySigner)]),
        // 0, the authority: who paid may cancel as well.
        Call::new::<data::CancelDraft>("by the sender", &complete, cancel)
            .accounts(&[(0, Free::Also(sponsor))]),
        Call::new::<data::ResolveEntry>("an entry", &stage.world, resolve)
            .arguments(&["contract_hash", "commit"]),
    ]
}
