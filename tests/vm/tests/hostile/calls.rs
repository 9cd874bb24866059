//! The valid calls of StakeLock, Lease, BehaviorLog and FeedbackLog, each with what may be different in it
//! without harm.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use zx1_chain::instructions::{behavior_log, feedback_log, stake_lock};
use zx1_interface::Field;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, MIN_STAKE, UNLOCK_DELAY_SLOTS};
use zx1_interface::instruction::{self as data, Instruction as Data};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, World, ed25519_instruction, message_of};

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
    /// Only a program can call it, so that it is refused even as it stands.
    pub(crate) by_cpi: bool,
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
            by_cpi: false,
        }
    }

    pub(crate) fn before(self, instruction: Instruction) -> Self {
        Self { before: vec![instruction], ..self }
    }

    pub(crate) fn accounts(self, free: &[(usize, Free)]) -> Self {
        Self { free_accounts: free.to_vec(), ..self }
    }

    pub(crate) fn arguments(self, free: &'static [&'static str]) -> Self {
        Self { free_arguments: free, ..self }
    }

    fn by_cpi(self) -> Self {
        Self { by_cpi: true, ..self }
    }
}

fn lock(stage: &Stage, agent: &Agent) -> Instruction {
    let owner = stage.owner.pubkey();
    stake_lock::lock_stake(
        &agent.addresses(),
        owner,
        stage.usdc_mint,
        stage.usdc_account(&owner),
        MicroUsdc(MIN_STAKE),
    )
}

/// Valid calls of StakeLock.
pub(crate) fn stake_lock(stage: &Stage) -> Vec<Call> {
    let (agent, owner) = (stage.agent.addresses(), stage.owner.pubkey());
    let mut empty = stage.empty.clone();
    let authority = empty.upgrade_authority().pubkey();
    let configure = stake_lock::initialize_config(authority, &empty.config_addresses());
    let mut unstaked = stage.world.clone();
    let second = unstaked.register_agent(&stage.owner);

    let mut dead = stage.world.clone();
    dead.advance_epochs(4);
    let queue = stake_lock::queue_unlock(&agent, owner);
    let mut queued = dead.clone();
    queued.send_ok(std::slice::from_ref(&queue), &stage.owner, &[]);
    let mut back = queued.clone();
    back.advance_slots(1);
    back.pay_lease(&stage.agent, &stage.owner, None, 1).unwrap();
    queued.advance_slots(UNLOCK_DELAY_SLOTS);

    let challenge_authority = zx1_chain::pda::challenge_authority();
    let to = stage.usdc_account(&owner);
    let claim = stake_lock::claim_stake(&agent, owner, to);
    let slash = stake_lock::slash(agent.mint, challenge_authority, to, MicroUsdc(1));
    let open = stake_lock::open_challenge(agent.mint, challenge_authority);
    let settle = stake_lock::settle_challenge(agent.mint, challenge_authority);
    vec![
        // The upgrade authority chooses what the configuration says.
        Call::new::<data::InitializeConfig>("once", &empty, configure).arguments(&[
            "treasury",
            "maintainer",
            "delegate_credential",
            "delegate_schema",
        ]),
        // 10, the system program: nothing is created.
        Call::new::<data::LockStake>("top up", &stage.world, lock(stage, &stage.agent))
            .accounts(&[(10, Free::Unread)])
            .arguments(&["amount"]),
        Call::new::<data::LockStake>("create", &unstaked, lock(stage, &second)).arguments(&["amount"]),
        Call::new::<data::QueueUnlock>("dead lease", &dead, queue),
        Call::new::<data::CancelUnlock>("paid again", &back, stake_lock::cancel_unlock(&agent, owner)),
        Call::new::<data::ClaimStake>("after the delay", &queued, claim),
        Call::new::<data::Slash>("by a wallet", &stage.world, unsign(slash)).by_cpi(),
        Call::new::<data::OpenChallenge>("by a wallet", &stage.world, unsign(open)).by_cpi(),
        Call::new::<data::SettleChallenge>("by a wallet", &stage.world, unsign(settle)).by_cpi(),
    ]
}

/// Nobody has the key of a derived address.
fn unsign(mut instruction: Instruction) -> Instruction {
    instruction.accounts[0].is_signer = false;
    instruction
}

fn pay(stage: &Stage, agent: &Agent, who: &Keypair, delegation: Option<Address>) -> Instruction {
    let payment = LeasePayment {
        authority: who.pubkey(),
        delegation,
        authority_usdc: stage.usdc_account(&who.pubkey()),
        treasury_usdc: stage.treasury_usdc(),
        epochs: 2,
    };
    pay_lease(&agent.addresses(), &payment)
}

/// Valid calls of Lease.
pub(crate) fn lease(stage: &Stage) -> Vec<Call> {
    let mut leaseless = stage.world.clone();
    let second = leaseless.register_agent(&stage.owner);
    let mut late = stage.world.clone();
    late.advance_epochs(1);
    let by_owner = pay(stage, &stage.agent, &stage.owner, None);
    let by_hot = pay(stage, &stage.agent, &stage.hot, Some(stage.delegation));
    let first = pay(stage, &second, &stage.owner, None);
    vec![
        // 5, the delegation: the owner needs none. 10, the system program: nothing is created.
        Call::new::<data::PayLease>("renewal", &stage.world, by_owner)
            .accounts(&[(5, Free::Unread), (10, Free::Unread)])
            .arguments(&["epochs"]),
        Call::new::<data::PayLease>("by a delegate", &stage.world, by_hot)
            .accounts(&[(10, Free::Unread)])
            .arguments(&["epochs"]),
        Call::new::<data::PayLease>("first", &leaseless, first)
            .accounts(&[(5, Free::Unread)])
            .arguments(&["epochs"]),
        Call::new::<data::TickLease>("enters grace", &late, tick_lease(stage.agent.mint)),
    ]
}

/// Valid calls of BehaviorLog.
pub(crate) fn behavior_log(stage: &Stage) -> Vec<Call> {
    let mut tomorrow = stage.world.clone();
    tomorrow.advance_epochs(1);
    let mut later = stage.world.clone();
    later.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
    let agent = stage.agent.addresses();
    let batch = stage.batch(&stage.agent, stage.epoch + 1);
    let by_owner = ed25519_instruction(&stage.owner, &message_of(&batch));
    let by_hot = ed25519_instruction(&stage.hot, &message_of(&batch));
    let submit = |delegation| behavior_log::submit_batch(&agent, stage.sponsor.pubkey(), delegation, &batch);
    let close = behavior_log::close_batch(agent.mint, stage.epoch, stage.owner.pubkey());
    vec![
        // 0, the payer: anyone may pay. 5, the delegation: the owner needs none.
        Call::new::<data::SubmitBatch>("by the owner", &tomorrow, submit(None))
            .before(by_owner)
            .accounts(&[(0, Free::AnySigner), (5, Free::Unread)]),
        Call::new::<data::SubmitBatch>("by a delegate", &tomorrow, submit(Some(stage.delegation)))
            .before(by_hot)
            .accounts(&[(0, Free::AnySigner)]),
        Call::new::<data::CloseBatch>("window over", &later, close),
    ]
}

/// Valid calls of FeedbackLog.
pub(crate) fn feedback_log(stage: &Stage) -> Vec<Call> {
    let (sponsor, sender) = (stage.sponsor.pubkey(), stage.owner.pubkey());
    let text = b"It fails when the list is empty.".to_vec();
    let length = u32::try_from(text.len()).unwrap();
    let submit = feedback_log::submit_feedback(sponsor, sender, 1, text.clone());
    let begin = feedback_log::begin_draft(sponsor, sender, 0, length, Sha3::hashv(&[&text]));
    let append = feedback_log::append_draft(sender, 0, 0, text);
    let mut begun = stage.world.clone();
    begun.send_ok(std::slice::from_ref(&begin), &stage.sponsor, &[&stage.owner]);
    let mut complete = begun.clone();
    complete.send_ok(std::slice::from_ref(&append), &stage.owner, &[]);
    let seal = feedback_log::seal_draft(sponsor, sender, sponsor, 0, 1);
    let cancel = feedback_log::cancel_draft(sender, sender, sponsor, 0);
    let maintainer = stage.world.maintainer().pubkey();
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
