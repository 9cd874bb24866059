//! What a new ledger begins with, made by the real programs.
//!
//! The instructions run on a copy of the virtual machine; what they changed is then put into the real one,
//! so that its indexes know it and its history begins empty.

use solana_account::{Account, AccountSharedData, ReadableAccount};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::{VersionedMessage, legacy::Message};
use solana_sdk_ids::{bpf_loader_upgradeable, system_program, sysvar};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use surfpool_core::{litesvm::LiteSVM, surfnet::svm::SurfnetSvm};
use zx1_chain::{pda, token};
use zx1_fixtures::Schemas;

use crate::{LocalnetError, programs::Program, wallets::Wallets};

/// SATI's authority on the real clusters. Its credential and schemas follow from it, so they have their real
/// addresses here. Nobody has its key here: the virtual machine does not check signatures while it makes
/// the first block.
const SATI_AUTHORITY: Address = Address::from_str_const("SQ2xxkJ6uEDHprYMNXPxS2AwyEtGGToZ7YC94icKH3Z");

const SOL: u64 = 1_000_000_000;
/// What a ready-made wallet begins with.
pub(crate) const WALLET_LAMPORTS: u64 = 100 * SOL;
/// What a ready-made wallet begins with, in micro-USDC.
pub(crate) const WALLET_USDC: u64 = 1_000_000_000;
const FAUCET_LAMPORTS: u64 = 10_000_000 * SOL;

/// The addresses of SATI's credential and schemas here.
pub(crate) fn schemas() -> Schemas {
    Schemas::of(&SATI_AUTHORITY)
}

/// Makes the first state of a ledger.
pub(crate) fn build(
    svm: &mut SurfnetSvm,
    programs: &[Program],
    wallets: &Wallets,
    network: [u8; 32],
) -> Result<(), LocalnetError> {
    for program in programs {
        install(svm, program, &wallets.upgrade_authority().pubkey())?;
    }
    for (address, lamports) in [
        (wallets.faucet().pubkey(), FAUCET_LAMPORTS),
        (wallets.upgrade_authority().pubkey(), WALLET_LAMPORTS),
        (wallets.treasury(), WALLET_LAMPORTS),
        (wallets.maintainer(), WALLET_LAMPORTS),
        (wallets.sponsor(), WALLET_LAMPORTS),
        (SATI_AUTHORITY, SOL),
    ] {
        set(svm, address, wallet(lamports))?;
    }

    let mut draft = svm.inner.svm.clone();
    let authority = SATI_AUTHORITY;
    let faucet = wallets.faucet().pubkey();
    let group_mint = zx1_fixtures::group_mint_key().pubkey();
    let usdc_mint = zx1_fixtures::usdc_mint_key().pubkey();
    let token = |why| LocalnetError::Cluster(format!("a token instruction cannot be built: {why}"));
    let rent = draft.minimum_balance_for_rent_exemption(token::group_mint_len().map_err(token)?);
    run(
        &mut draft,
        "create SATI's registry",
        authority,
        zx1_fixtures::create_registry(&authority, &group_mint, rent).map_err(token)?,
    )?;
    run(&mut draft, "register the schemas", authority, schemas().register(&authority).to_vec())?;
    let rent = draft.minimum_balance_for_rent_exemption(token::MINT_LEN);
    run(
        &mut draft,
        "create the USDC mint",
        faucet,
        zx1_fixtures::create_usdc(&faucet, &usdc_mint, rent).map_err(token)?.to_vec(),
    )?;
    let upgrade_authority = wallets.upgrade_authority().pubkey();
    run(
        &mut draft,
        "write the configuration",
        upgrade_authority,
        vec![zx1_fixtures::configure(
            upgrade_authority,
            usdc_mint,
            wallets.treasury(),
            wallets.maintainer(),
            &schemas(),
            network,
        )],
    )?;
    let treasury = zx1_fixtures::mint_usdc(&faucet, &usdc_mint, &wallets.treasury(), 0).map_err(token)?;
    run(&mut draft, "make the treasury's account", faucet, treasury.to_vec())?;
    for user in &wallets.users {
        endow(&mut draft, &faucet, &user.key.pubkey())?;
    }
    adopt(svm, &draft)
}

/// Gives ready-made wallets that are new to a saved ledger their first money.
pub(crate) fn endow_new_wallets(svm: &mut SurfnetSvm, wallets: &Wallets) -> Result<(), LocalnetError> {
    let new: Vec<Address> = wallets
        .users
        .iter()
        .map(|user| user.key.pubkey())
        .filter(|address| svm.inner.svm.get_account(address).is_none())
        .filter(|address| {
            // A wallet that spent everything is not a new one: it still has its USDC account.
            let mint = zx1_fixtures::usdc_mint_key().pubkey();
            let account = token::associated_address(address, &mint, &token::TOKEN_PROGRAM);
            svm.inner.svm.get_account(&account).is_none()
        })
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let mut draft = svm.inner.svm.clone();
    for address in new {
        endow(&mut draft, &wallets.faucet().pubkey(), &address)?;
    }
    adopt(svm, &draft)
}

fn endow(draft: &mut LiteSVM, faucet: &Address, address: &Address) -> Result<(), LocalnetError> {
    let instructions = fund_instructions(faucet, address, WALLET_LAMPORTS, WALLET_USDC)?;
    run(draft, "fund a wallet", *faucet, instructions)
}

/// Lamports and micro-USDC from the faucet; nothing where both are 0.
pub(crate) fn fund_instructions(
    faucet: &Address,
    address: &Address,
    lamports: u64,
    usdc: u64,
) -> Result<Vec<Instruction>, LocalnetError> {
    let mut instructions = Vec::new();
    if lamports > 0 {
        instructions.push(solana_system_interface::instruction::transfer(faucet, address, lamports));
    }
    if usdc > 0 {
        let mint = zx1_fixtures::usdc_mint_key().pubkey();
        let pair = zx1_fixtures::mint_usdc(faucet, &mint, address, usdc)
            .map_err(|why| LocalnetError::Cluster(format!("a token instruction cannot be built: {why}")))?;
        instructions.extend(pair);
    }
    Ok(instructions)
}

/// Puts a program on the chain as the upgradeable loader would, with this upgrade authority.
pub(crate) fn install(
    svm: &mut SurfnetSvm,
    program: &Program,
    authority: &Address,
) -> Result<(), LocalnetError> {
    let data_address = pda::program_data(program.address.to_bytes());
    // ProgramData: its number, the slot of the deployment, the authority, then the program. Slot 0, so that
    // it can be called at once.
    let mut data = [&3u32.to_le_bytes()[..], &0u64.to_le_bytes(), &[1], authority.as_array()].concat();
    data.extend_from_slice(&program.elf);
    let broken = |why: String| LocalnetError::ProgramBroken { file: program.file.clone(), why };
    let owned = |svm: &SurfnetSvm, data: Vec<u8>, executable| Account {
        lamports: svm.inner.minimum_balance_for_rent_exemption(data.len()),
        data,
        owner: bpf_loader_upgradeable::ID,
        executable,
        rent_epoch: u64::MAX,
    };
    let account = owned(svm, data, false);
    svm.set_account(&data_address, account).map_err(|why| broken(why.to_string()))?;
    let data = [&2u32.to_le_bytes()[..], data_address.as_array()].concat();
    let account = owned(svm, data, true);
    svm.set_account(&program.address, account).map_err(|why| broken(why.to_string()))
}

fn wallet(lamports: u64) -> Account {
    Account { lamports, owner: system_program::ID, rent_epoch: u64::MAX, ..Account::default() }
}

fn set(svm: &mut SurfnetSvm, address: Address, account: Account) -> Result<(), LocalnetError> {
    svm.set_account(&address, account).map_err(|why| LocalnetError::Cluster(format!("{address}: {why}")))
}

/// Runs instructions on the copy. Their signers' keys are not needed there.
fn run(
    draft: &mut LiteSVM,
    what: &str,
    payer: Address,
    instructions: Vec<Instruction>,
) -> Result<(), LocalnetError> {
    let message = Message::new_with_blockhash(&instructions, Some(&payer), &draft.latest_blockhash());
    let signatures = vec![Default::default(); usize::from(message.header.num_required_signatures)];
    let transaction = VersionedTransaction { signatures, message: VersionedMessage::Legacy(message) };
    draft.send_transaction(transaction).map(drop).map_err(|failed| LocalnetError::Transaction {
        what: what.to_owned(),
        why: format!("{} ({})", failed.err, failed.meta.logs.join("; ")),
    })
}

/// Puts everything that the copy changed into the real machine.
fn adopt(svm: &mut SurfnetSvm, draft: &LiteSVM) -> Result<(), LocalnetError> {
    let changed: Vec<(Address, AccountSharedData)> = draft
        .accounts_db()
        .inner
        .iter()
        .filter(|(address, account)| {
            *account.owner() != sysvar::ID
                && svm.inner.svm.accounts_db().get_account_ref(address) != Some(account)
        })
        .map(|(address, account)| (*address, account.clone()))
        .collect();
    changed.into_iter().try_for_each(|(address, account)| set(svm, address, account.into()))
}
