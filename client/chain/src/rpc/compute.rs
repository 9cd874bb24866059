//! Compute units from the table in `programs/COMPUTE_UNITS.md`, for transactions that cannot be simulated
//! (signed without a network). A test compares these figures with that file.

use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction::{self as data, Instruction as Data};

/// Most compute units of a transaction.
pub const MAX_UNITS: u32 = 1_400_000;

/// Units of one compute-budget instruction.
const BUDGET_UNITS: u32 = 150;
/// A bump that does not fit costs this much; addresses of real agents take more tries than the table's.
const BUMP_UNITS: u32 = 335;
/// Bump steps allowed for. An address needs more with a probability of one in a million each.
const BUMPS: u32 = 20;

macro_rules! table {
    ($($instruction:ident $units:literal)*) => {
        /// Program, discriminator, name and most units of every instruction in the table.
        pub(crate) const TABLE: &[([u8; 32], [u8; 8], &str, u32)] = &[$((
            <data::$instruction as Data>::PROGRAM,
            <data::$instruction as Data>::DISCRIMINATOR,
            <data::$instruction as Data>::NAME,
            $units,
        )),*];
    };
}

table! {
    InitializeConfig 4_752
    OpenVault 6_497
    OpenTenure 4_692
    TakeOver 16_717
    AddKey 6_375
    EndKey 3_052
    CloseKey 1_983
    LockStake 8_645
    QueueUnlock 3_409
    CancelUnlock 2_945
    ClaimStake 6_668
    PayLease 6_454
    TickLease 1_634
    OpenHead 4_940
    SubmitBatch 6_642
    CloseBatch 2_052
    BeginEvidence 7_692
    AppendEvidence 408
    SealEvidence 10_435
    CancelEvidence 1_966
    SubmitChallenge 10_185
    AnswerChallenge 12_126
    ResolveChallenge 9_224
    CloseChallenge 1_754
    PassRank 4_776
    SettleEra 6_011
    AskLeaf 9_073
    ShowLeaf 10_546
    SettleAsk 12_287
    CloseAsk 1_571
    SubmitFeedback 7_085
    BeginDraft 4_501
    AppendDraft 356
    SealDraft 10_539
    CancelDraft 1_663
    ResolveEntry 4_418
}

/// Units that these instructions take at most, with a margin. None when one of them is not in the table:
/// then only a simulation can tell.
pub fn table_units(instructions: &[Instruction]) -> Option<u32> {
    let mut sum = 2 * BUDGET_UNITS;
    for instruction in instructions {
        sum = sum.checked_add(units(&instruction.program_id, &instruction.data)?)?;
    }
    Some(with_margin(sum))
}

fn units(program: &Address, bytes: &[u8]) -> Option<u32> {
    if super::refusal::is_plumbing(program) {
        return Some(0);
    }
    // Creating an associated token account, of either token program.
    if *program == crate::token::ASSOCIATED_TOKEN_PROGRAM {
        return Some(30_000);
    }
    let discriminator = bytes.first_chunk::<8>()?;
    let found = TABLE.iter().find(|(id, tag, ..)| *id == program.to_bytes() && tag == discriminator)?;
    found.3.checked_add(BUMPS * BUMP_UNITS)
}

/// What to ask for when this much was used: a tenth more, and a little for what differs between two runs.
pub(crate) fn with_margin(used: u32) -> u32 {
    used.saturating_add(used / 10).saturating_add(1_000).min(MAX_UNITS)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_measured_table() {
        let text = include_str!("../../../../programs/COMPUTE_UNITS.md");
        let mut measured = std::collections::BTreeMap::<&str, u32>::new();
        for line in text.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            if cells.len() != 7 || cells[5] == "by CPI" {
                continue;
            }
            let Ok(units) = cells[2].replace(' ', "").parse::<u32>() else { continue };
            let most = measured.entry(cells[0]).or_default();
            *most = units.max(*most);
        }
        assert_eq!(measured.len(), TABLE.len(), "{measured:?}");
        for (_, _, name, units) in TABLE {
            let most = measured[name];
            // The committed table may move by its own 2 % without this one.
            assert!(
                *units >= most - most / 50 && *units <= most + most / 20,
                "{name}: {units}, measured {most}"
            );
        }
    }

    #[test]
    fn an_instruction_outside_the_table_needs_a_simulation() {
        let unknown = Instruction { program_id: Address::default(), accounts: vec![], data: vec![0; 8] };
        assert_eq!(table_units(&[unknown]), None);
        let tick = crate::instructions::lease::tick_lease(Address::default().into());
        let units = table_units(&[tick]).unwrap();
        assert!((1_500 + 300..20_000).contains(&units), "{units}");
        assert_eq!(with_margin(u32::MAX), MAX_UNITS);
    }
}
