//! Sending one instruction and noting down what it cost.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::token::TOKEN_PROGRAM;
use zx1_interface::instruction::{self as data, Instruction as Data};
use zx1_vm_tests::{Key, Living, Receipt, Sent, World, address};

use crate::layouts;

/// One measured case.
pub(crate) struct Row {
    pub(crate) program: [u8; 32],
    pub(crate) instruction: &'static str,
    pub(crate) case: String,
    /// Compute units of the whole transaction, or of the call where only a program can call it.
    pub(crate) units: u64,
    /// Of those, the token program's own.
    pub(crate) token_units: u64,
    /// Bumps that were tried in vain for the created addresses.
    pub(crate) bump_steps: u64,
    /// Bytes of the transaction; none where only a program can call it.
    pub(crate) bytes: Option<usize>,
    /// Bytes and lamports of the accounts that it created.
    pub(crate) created: Vec<(usize, u64)>,
}

impl Row {
    /// Without the token program's own.
    pub(crate) fn own_units(&self) -> u64 {
        self.units - self.token_units
    }

    /// Without the token program's own, were every created address the first that is tried.
    pub(crate) fn first_bump_units(&self, units_per_step: u64) -> u64 {
        self.own_units().saturating_sub(self.bump_steps * units_per_step)
    }
}

/// A chain on which instructions are measured.
pub(crate) struct Bench {
    pub(crate) world: World,
    rows: Vec<Row>,
}

impl Bench {
    /// Measures in a fork of a world.
    pub(crate) fn run(world: &World, cases: fn(&mut Self)) -> Vec<Row> {
        let mut bench = Self { world: world.clone(), rows: Vec::new() };
        cases(&mut bench);
        bench.rows
    }

    /// A fork, so that several cases can begin from the same state; hand it back to [`Bench::join`].
    pub(crate) fn fork(&self) -> Self {
        Self { world: self.world.clone(), rows: Vec::new() }
    }

    /// Takes over what was measured in a fork.
    pub(crate) fn join(&mut self, fork: Self) {
        self.rows.extend(fork.rows);
    }

    /// An agent whose batch of the last epoch can land; its lease is paid through the present one.
    pub(crate) fn agent(&mut self) -> Living {
        let living = self.world.living_agent();
        self.world.pay_lease(&living.agent, &living.owner, 1).unwrap();
        self.world.advance_epochs(1);
        living
    }

    /// A wallet with SOL and USDC.
    pub(crate) fn party(&mut self) -> Key {
        Key(self.world.new_party())
    }

    /// Sends a transaction whose last instruction is the measured one.
    #[track_caller]
    pub(crate) fn measure<D: Data>(
        &mut self,
        case: &str,
        instructions: &[Instruction],
        payer: &Keypair,
        signers: &[&Keypair],
    ) -> Receipt {
        let measured = instructions.last().unwrap();
        assert!(measured.data.starts_with(&D::DISCRIMINATOR), "the last instruction is {}", D::NAME);
        let mut absent: Vec<Address> = measured.accounts.iter().map(|meta| meta.pubkey).collect();
        absent.retain(|at| self.world.account(at).is_none());
        let receipt = self.world.send_ok(instructions, payer, signers);
        let created: Vec<_> = absent.iter().filter_map(|at| self.world.account(at)).collect();
        let row = Row {
            program: D::PROGRAM,
            instruction: D::NAME,
            case: case.into(),
            units: receipt.units,
            token_units: receipt.units_of(&TOKEN_PROGRAM),
            bump_steps: created.iter().map(|a| layouts::bump_steps(&a.owner.to_bytes(), &a.data)).sum(),
            bytes: Some(receipt.size),
            created: created.iter().map(|account| (account.data.len(), account.lamports)).collect(),
        };
        self.rows.push(row);
        receipt
    }

    /// Measures by the payer alone.
    #[track_caller]
    pub(crate) fn measure_one<D: Data>(
        &mut self,
        case: &str,
        instruction: Instruction,
        payer: &Keypair,
    ) -> Receipt {
        self.measure::<D>(case, &[instruction], payer, &[])
    }

    /// Notes the `nth` call of an instruction that only a program can call.
    #[track_caller]
    pub(crate) fn called<D: Data>(&mut self, case: &str, sent: &Sent, nth: usize) {
        let calls = calls(sent);
        let is_this =
            |call: &&Call| call.program == address(D::PROGRAM) && call.data.starts_with(&D::DISCRIMINATOR);
        let call =
            calls.iter().filter(is_this).nth(nth).unwrap_or_else(|| panic!("no {} was called", D::NAME));
        self.rows.push(Row {
            program: D::PROGRAM,
            instruction: D::NAME,
            case: case.into(),
            units: call.units,
            token_units: call.token_units,
            bump_steps: 0,
            bytes: None,
            created: Vec::new(),
        });
    }
}

/// A call between programs.
struct Call {
    program: Address,
    data: Vec<u8>,
    units: u64,
    token_units: u64,
}

/// The calls between programs in the order in which they began, with the units that the log gives them.
fn calls(sent: &Sent) -> Vec<Call> {
    let mut calls: Vec<Call> = sent
        .inner
        .iter()
        .map(|inner| Call { program: inner.program, data: inner.data.clone(), units: 0, token_units: 0 })
        .collect();
    // The running programs, innermost last; top-level ones have no place among the calls.
    let mut running: Vec<Option<usize>> = Vec::new();
    let mut begun = 0;
    for line in &sent.logs {
        let Some((program, rest)) = line.strip_prefix("Program ").and_then(|line| line.split_once(' '))
        else {
            continue;
        };
        if let Some(depth) = rest.strip_prefix("invoke [") {
            if depth.starts_with("1]") {
                running.push(None);
            } else {
                assert_eq!(calls[begun].program.to_string(), program, "the log has every call");
                running.push(Some(begun));
                begun += 1;
            }
        } else if let Some(units) = rest.strip_prefix("consumed ") {
            let units: u64 = units.split(' ').next().unwrap().parse().unwrap();
            if let Some(place) = running.last().copied().flatten() {
                calls[place].units = units;
            }
            if program == TOKEN_PROGRAM.to_string() {
                running.iter().flatten().for_each(|place| calls[*place].token_units += units);
            }
        } else if rest.starts_with("success") || rest.starts_with("failed") {
            running.pop();
        }
    }
    calls
}

/// The wallet's address; shorter than `keypair.pubkey()` in long argument lists.
pub(crate) fn key(wallet: &Keypair) -> Address {
    wallet.pubkey()
}

/// All rows, by program and instruction as the interface lists them; every instruction must have one.
pub(crate) fn in_order(rows: Vec<Row>) -> Vec<Row> {
    let mut rows = rows;
    let mut ordered = Vec::new();
    for (program, name) in instructions() {
        let is_this = |row: &Row| row.program == program && row.instruction == name;
        let (these, others) = rows.into_iter().partition::<Vec<_>, _>(is_this);
        assert!(!these.is_empty(), "{name} is measured");
        ordered.extend(these);
        rows = others;
    }
    assert!(rows.is_empty(), "every measured instruction is in the list");
    ordered
}

/// Every instruction of the five programs.
fn instructions() -> Vec<([u8; 32], &'static str)> {
    macro_rules! list {
        ($($name:ident),* $(,)?) => { vec![$((data::$name::PROGRAM, data::$name::NAME)),*] };
    }
    list![
        InitializeConfig,
        OpenVault,
        OpenTenure,
        TakeOver,
        AddKey,
        EndKey,
        CloseKey,
        LockStake,
        QueueUnlock,
        CancelUnlock,
        ClaimStake,
        TakeRank,
        TakeDeposit,
        Settle,
        PayLease,
        TickLease,
        OpenHead,
        SubmitBatch,
        MarkWithheld,
        CloseBatch,
        BeginEvidence,
        AppendEvidence,
        SealEvidence,
        CancelEvidence,
        SubmitChallenge,
        AnswerChallenge,
        ResolveChallenge,
        CloseChallenge,
        PassRank,
        SettleEra,
        AskLeaf,
        ShowLeaf,
        SettleAsk,
        CloseAsk,
        SubmitFeedback,
        BeginDraft,
        AppendDraft,
        SealDraft,
        CancelDraft,
        ResolveEntry,
    ]
}
