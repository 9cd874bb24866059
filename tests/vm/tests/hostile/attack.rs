//! Sending the changed calls, and judging what comes of them.

use std::collections::BTreeMap;

use solana_account::ReadableAccount;
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_message::{Message, VersionedMessage};
use solana_sdk_ids::sysvar;
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use zx1_chain::pda;
use zx1_interface::accounts::{ShardAccount, StakeLockAccount};
use zx1_interface::{Error, ids};
use zx1_protocol::ids::AgentId;
use zx1_vm_tests::{Failure, Inner, MAX_TRANSACTION, Sent, World, address, keypair, transaction_size};

use crate::calls::{Call, Free, Signs};
use crate::mutation::{self, Mutation, Random};
use crate::stage::Stage;

/// How an attack went.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) succeeded: u64,
    /// Succeeded or was refused by the handler, past Anchor's parsing of accounts and arguments.
    pub(crate) reached: u64,
    pub(crate) errors: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.sent += other.sent;
        self.succeeded += other.succeeded;
        self.reached += other.reached;
        for (error, count) in &other.errors {
            *self.errors.entry(error.clone()).or_default() += count;
        }
    }
}

/// Changes a call in every way and sends it.
pub(crate) fn attack(stage: &Stage, call: Call) -> Tally {
    let mut attack = Attack::new(stage, call);
    attack.send_valid();
    let call = &attack.call;
    let random = &mut Random::new(&call.label);
    let mut mutations = mutation::of_arguments(random, call.fields, &call.instruction.data[8..]);
    mutations.extend(mutation::of_data(random, &call.instruction.data));
    mutations.extend(mutation::of_accounts(random, &call.instruction, &stage.pool));
    let call = &mut attack.call;
    mutations.extend(forge(call));
    attack.world = call.world.clone();
    if !call.before.is_empty() {
        mutations.push(Mutation::Alone);
    }
    // Some random changes change nothing.
    mutations.retain(|mutation| {
        matches!(mutation, Mutation::Alone) || mutation.apply(&call.instruction) != call.instruction
    });
    mutations.iter().for_each(|mutation| attack.send(mutation));
    attack.tally
}

/// Puts forgeries of each of the call's accounts into its world.
fn forge(call: &mut Call) -> Vec<Mutation> {
    let mut all = Vec::new();
    for (at, meta) in call.instruction.accounts.iter().enumerate() {
        // A program that is called stands at its own address or nowhere.
        let Some(account) = call.world.account(&meta.pubkey).filter(|it| !it.executable) else { continue };
        for (how, forged) in mutation::forgeries(&account) {
            let address = keypair(&format!("{how} {at}")).pubkey();
            call.world.set_account(&address, forged);
            all.push(Mutation::Forged(at, address, how));
        }
    }
    all
}

fn transact(
    stage: &Stage,
    world: &mut World,
    instructions: &[Instruction],
    signs: Signs,
) -> Result<(), Failure> {
    if signs == Signs::Challenge {
        return transact_unsigned(stage, world, instructions);
    }
    let keys: Vec<_> = stage.keys.iter().collect();
    world.send(instructions, &stage.fee_payer, &keys).map(drop)
}

/// Sends with a signature that nobody can make, that of Challenge's authority: the machine's signature check
/// is off for one transaction, so that the called program sees what it sees in a call of Challenge's.
fn transact_unsigned(stage: &Stage, world: &mut World, instructions: &[Instruction]) -> Result<(), Failure> {
    world.svm.expire_blockhash();
    let (payer, blockhash) = (stage.fee_payer.pubkey(), world.svm.latest_blockhash());
    let message = Message::new_with_blockhash(instructions, Some(&payer), &blockhash);
    let signatures = vec![Default::default(); usize::from(message.header.num_required_signatures)];
    let accounts = message.account_keys.clone();
    let transaction = VersionedTransaction { signatures, message: VersionedMessage::Legacy(message) };
    world.svm = std::mem::take(&mut world.svm).with_sigverify(false);
    let result = world.svm.send_transaction(transaction);
    world.svm = std::mem::take(&mut world.svm).with_sigverify(true);
    let Err(failed) = result else { return Ok(()) };
    let name = |index: u8| accounts[usize::from(index)];
    let calls = failed.meta.inner_instructions.into_iter().enumerate();
    let inner = calls.flat_map(|(outer, calls)| calls.into_iter().map(move |call| (outer, call)));
    let inner = inner.map(|(outer, call)| Inner {
        outer,
        depth: call.stack_height,
        program: name(call.instruction.program_id_index),
        accounts: call.instruction.accounts.iter().map(|index| name(*index)).collect(),
        data: call.instruction.data,
    });
    let sent =
        Sent { inner: inner.collect(), logs: failed.meta.logs, fee: failed.meta.fee, ..Sent::default() };
    Err(Failure { error: failed.err, sent })
}

/// The accounts that differ. Sysvars are left out: blockhashes move by themselves.
fn changed(before: &World, after: &World) -> Vec<Address> {
    let (before, after) = (&before.svm.accounts_db().inner, &after.svm.accounts_db().inner);
    let differs = |at: &Address| match (before.get(at), after.get(at)) {
        (Some(was), Some(is)) => was != is && *is.owner() != sysvar::ID,
        (Some(gone), None) => gone.lamports() > 0,
        (None, Some(new)) => new.lamports() > 0 || !new.data().is_empty(),
        (None, None) => false,
    };
    let mut all: Vec<Address> = before.keys().chain(after.keys()).copied().filter(differs).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What every shard owes is what its eras hold, and its vault holds it. Forged accounts, which stand at other
/// addresses, owe nothing.
fn assert_vaults_hold(world: &World, label: &str) {
    let derived =
        |at: &Address, stake: &StakeLockAccount| *at == pda::stake(&AgentId(stake.agent_mint), stake.era);
    let mut stakes = world.all::<StakeLockAccount>();
    stakes.retain(|(at, stake)| derived(at, stake));
    for (at, shard) in world.all::<ShardAccount>() {
        if at != pda::shard(shard.shard) {
            continue;
        }
        let own = stakes.iter().filter(|(_, stake)| stake.agent_mint[0] == shard.shard);
        let held: u64 = own.map(|(_, s)| s.stake_usdc + s.pot_usdc + s.deposits_usdc).sum();
        assert_eq!(shard.total_usdc, held, "{label}: what shard {} owes", shard.shard);
        let vault = world.token_balance(&pda::vault(shard.shard));
        assert!(vault >= held, "{label}: the vault of shard {} is short", shard.shard);
    }
}

struct Attack<'a> {
    stage: &'a Stage,
    call: Call,
    /// The call's world, which a refusal leaves as it was.
    world: World,
    tally: Tally,
}

impl<'a> Attack<'a> {
    fn new(stage: &'a Stage, call: Call) -> Self {
        let world = call.world.clone();
        Self { stage, call, world, tally: Tally::default() }
    }

    /// The unchanged call succeeds, or is refused for the one reason that only a program can call it:
    /// otherwise the changed ones would prove nothing.
    fn send_valid(&self) {
        let instructions = [&self.call.before[..], std::slice::from_ref(&self.call.instruction)].concat();
        let mut world = self.world.clone();
        let by_nobody = self.call.signs == Signs::Nobody;
        match (transact(self.stage, &mut world, &instructions, self.call.signs), by_nobody) {
            (Ok(()), false) => {}
            (Err(failure), true) => failure.expect_code(Error::NotChallengeProgram.code()),
            (Ok(()), true) => panic!("{}: a wallet may not call this", self.call.label),
            (Err(failure), false) => panic!("{}: {failure:?}", self.call.label),
        }
    }

    fn send(&mut self, mutation: &Mutation) {
        let mut instruction = mutation.apply(&self.call.instruction);
        for meta in &mut instruction.accounts {
            // Without its key nobody can make an account sign.
            let by_challenge =
                self.call.signs == Signs::Challenge && meta.pubkey == pda::challenge_authority();
            meta.is_signer &= by_challenge || self.stage.keys.iter().any(|key| key.pubkey() == meta.pubkey);
        }
        let mut instructions = match mutation {
            Mutation::Alone => Vec::new(),
            _ => self.call.before.clone(),
        };
        instructions.push(instruction.clone());
        if transaction_size(&instructions, &self.stage.fee_payer.pubkey()) > MAX_TRANSACTION {
            return;
        }
        let fee_payer = self.stage.fee_payer.pubkey();
        let lamports = self.world.lamports(&fee_payer);
        let result = transact(self.stage, &mut self.world, &instructions, self.call.signs);
        self.tally.sent += 1;
        let label = format!("{} with {mutation:?}", self.call.label);
        match result {
            Ok(()) => {
                self.tally.succeeded += 1;
                self.tally.reached += 1;
                assert!(self.is_harmless(mutation, &instruction), "{label}: this succeeded");
                self.assert_nobody_else_lost(&instruction, &label);
                assert_vaults_hold(&self.world, &label);
                self.world = self.call.world.clone();
            }
            Err(failure) => {
                let changed = changed(&self.call.world, &self.world);
                assert!(
                    changed.iter().all(|at| *at == fee_payer),
                    "{label}: refused, but {changed:?} changed"
                );
                let lost = lamports - self.world.lamports(&fee_payer);
                assert_eq!(lost, failure.sent.fee, "{label}: the fee payer lost more than the fee");
                self.judge(&failure, &label);
            }
        }
    }

    /// A refusal is an error that somebody chose, never a crash, and never the runtime undoing what a
    /// program should not have tried.
    fn judge(&mut self, failure: &Failure, label: &str) {
        let crashed = |line: &String| {
            ["Access violation", "exceeded CUs meter", "panicked", "SBF program", "out of memory"]
                .iter()
                .any(|word| line.contains(word))
        };
        assert!(!failure.sent.logs.iter().any(crashed), "{label}: a crash: {failure:?}");
        let Some(error) = failure.instruction_error() else {
            *self.tally.errors.entry(format!("{:?}", failure.error)).or_default() += 1;
            return;
        };
        let undone = matches!(
            error,
            InstructionError::ProgramFailedToComplete
                | InstructionError::ComputationalBudgetExceeded
                | InstructionError::UnbalancedInstruction
                | InstructionError::ExternalAccountLamportSpend
                | InstructionError::ExternalAccountDataModified
                | InstructionError::ReadonlyDataModified
                | InstructionError::ReadonlyLamportChange
                | InstructionError::ModifiedProgramId
                | InstructionError::AccountBorrowFailed
                | InstructionError::AccountBorrowOutstanding
                | InstructionError::InvalidRealloc
        );
        // Whose token accounts StakeLock is to use, Challenge has looked at; in a forged one the token program
        // itself tries what the runtime undoes.
        let in_token = self.call.signs == Signs::Challenge && failure.program() == Some(address(ids::TOKEN));
        assert!(!undone || in_token, "{label}: {failure:?}");
        let ours = failure.code().and_then(Error::from_code);
        // These four can also come from reading typed accounts, before the handler.
        let may_be_early = [
            Error::WrongAccountOwner,
            Error::WrongAccountType,
            Error::AccountMissing,
            Error::InvalidInstruction,
        ];
        if ours.is_some_and(|error| !may_be_early.contains(&error)) || !failure.sent.inner.is_empty() {
            self.tally.reached += 1;
        }
        let name = ours.map_or_else(|| format!("{error:?}"), |error| error.name().to_owned());
        *self.tally.errors.entry(name).or_default() += 1;
    }

    /// The rule by which a changed call may succeed.
    fn is_harmless(&self, mutation: &Mutation, changed: &Instruction) -> bool {
        let call = &self.call;
        match mutation {
            // What the caller is free to choose may be different, and nothing else; bytes after the
            // arguments are nobody's.
            Mutation::Arguments(_) => {
                let valid = mutation::arguments(call.fields, &call.instruction.data[8..]);
                let given = mutation::arguments(call.fields, &changed.data[8..]);
                let (Some(valid), Some(given)) = (valid, given) else { return false };
                valid.iter().zip(&given).all(|(a, b)| a == b || call.free_arguments.contains(&a.0))
            }
            // The account is one of those that the call does not read, that may be anybody who signs, or
            // that may be this other one as well.
            // It still says whose it is, and the token program moves nothing into it or out of it.
            Mutation::Forged(_, _, mutation::FROZEN) => true,
            Mutation::Swap(at, replacement) | Mutation::Forged(at, replacement, _) => {
                call.free_accounts.iter().filter(|(position, _)| position == at).any(|(_, free)| match free {
                    Free::Unread => true,
                    Free::AnySigner => changed.accounts[*at].is_signer,
                    Free::Also(other) => replacement == other,
                })
            }
            // Nothing that is missing is ever harmless.
            Mutation::Data(_)
            | Mutation::Drop(_)
            | Mutation::Truncate(_)
            | Mutation::Unsigned(_)
            | Mutation::ReadOnly(_)
            | Mutation::Alone => false,
        }
    }

    /// Whoever did not sign has not less than before, in lamports and in USDC.
    fn assert_nobody_else_lost(&self, changed: &Instruction, label: &str) {
        let signed =
            |who: &Address| changed.accounts.iter().any(|meta| meta.is_signer && meta.pubkey == *who);
        let (before, after) = (&self.call.world, &self.world);
        for wallet in self.stage.keys.iter().map(Signer::pubkey).filter(|wallet| !signed(wallet)) {
            assert!(after.lamports(&wallet) >= before.lamports(&wallet), "{label}: {wallet} lost lamports");
            let account = self.stage.usdc_account(&wallet);
            let (had, has) = (before.token_balance(&account), after.token_balance(&account));
            assert!(has >= had, "{label}: {wallet} lost USDC");
        }
    }
}
