//! submit_challenge: its accounts, whatever the evidence.

use crate::common::{
    BID, BidProof, Filing, LogProof, Message, Scene, at, challenge_program, refused, with_account,
};
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::challenge::EvidenceSource;
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::constants::CHALLENGE_STAKE;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{address, keypair};

/// Anchor's refusal of a writable account that is passed twice.
const DUPLICATE_ACCOUNT: u32 = 2_040;

/// A batch whose log holds one bid that the arrays do not, and the bid's proof.
fn hidden_bid() -> (Scene, LogProof) {
    let mut scene = Scene::new();
    let mut log = scene.chatter(3);
    log.push(scene.message(MsgType::Propose));
    let batch = scene.submit(&log, &[]);
    (scene, LogProof::of(&batch, 3))
}

#[test]
fn a_challenge_and_its_vault_that_a_stranger_funded_first_block_nothing() {
    let (mut scene, proof) = hidden_bid();
    let filing = scene.inline(&proof, BID);
    let (rent, vault_rent) = (scene.world.rent(ChallengeAccount::SIZE), scene.world.rent(165));
    // Less than the rent in one, more in the other, by real transfers.
    let stranger = scene.stranger();
    let (less, more) = (vault_rent - 1_000, rent + 5_000_000);
    let gifts = [
        system::transfer(&stranger.at(), &filing.challenge(), more),
        system::transfer(&stranger.at(), &filing.vault(), less),
    ];
    scene.world.send_ok(&gifts, &stranger, &[]);
    let before = scene.world.lamports(&scene.challenger.at());
    let receipt = scene.file(&filing);
    assert_eq!(before - scene.world.lamports(&scene.challenger.at()), 1_000 + receipt.fee);
    assert_eq!(scene.world.lamports(&filing.challenge()), more);
    assert_eq!(scene.world.lamports(&filing.vault()), vault_rent);
    assert_eq!(scene.challenge(&filing).entry_hash, proof.entry_hash());
    assert_eq!(scene.money(&filing)[3], CHALLENGE_STAKE);
    // It goes its whole way.
    scene.resolve(&filing);
    assert_eq!(scene.challenge(&filing).succeeded, 1);
}

#[test]
fn neither_inline_evidence_nor_an_evidence_account_fails() {
    let (mut scene, proof) = hidden_bid();
    let mut filing = scene.inline(&proof, BID);
    filing.source = EvidenceSource::Inline(vec![]);
    scene.refuse(&filing, Error::EvidenceMissing);
}

#[test]
fn inline_evidence_and_an_evidence_account_together_fail() {
    let (mut scene, proof) = hidden_bid();
    let who = scene.challenger.clone();
    let (draft, _) = scene.draft(&who, 1, &proof.bytes());
    let inline = scene.inline(&proof, BID).instruction();
    let mut both = with_account(inline, at::EVIDENCE, draft);
    both.accounts[at::EVIDENCE].is_writable = true;
    refused(&mut scene.world, &[both], &who, &[], Error::EvidenceMissing);
}

#[test]
fn an_evidence_account_that_is_none_fails() {
    let (mut scene, proof) = hidden_bid();
    let filing = scene.inline(&proof, BID);
    let nowhere = pda::evidence_draft(&scene.challenger.at(), 99);
    let missing = Filing { source: EvidenceSource::Draft(nowhere), ..filing.clone() };
    scene.refuse(&missing, Error::AccountMissing);
    // Another program's account, and one of Challenge's that is not evidence.
    let head = pda::head(&scene.agent.mint);
    let other = Filing { source: EvidenceSource::Draft(head), ..filing.clone() };
    scene.refuse(&other, Error::WrongAccountOwner);
    let first = filing;
    scene.file(&first);
    scene.challenger = scene.party();
    let mut second = scene.inline(&proof, BID);
    second.source = EvidenceSource::Draft(first.challenge());
    scene.refuse(&second, Error::WrongAccountType);
}

#[test]
fn the_batch_of_another_agent_fails() {
    let (mut scene, proof) = hidden_bid();
    let (other, other_owner) = scene.world.living_agent();
    let batch =
        zx1_vm_tests::Batch { epoch: scene.epoch, entries: vec![proof.entry.clone()], records: vec![] };
    scene.world.submit_batch(&other, &other_owner, &batch).unwrap();
    let filing = scene.inline(&proof, BID);
    let wrong = with_account(filing.instruction(), at::BATCH, pda::batch(&other.mint, scene.epoch));
    let who = scene.challenger.clone();
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAgent);
    // And the entry itself proves nothing in the other's log: it is not the other's message.
    let alone = LogProof { place: batch.log().proof_of_entry(0).unwrap(), ..proof };
    let mut filing = scene.inline(&alone, BID);
    filing.addresses.agent = other.mint;
    scene.refuse(&filing, Error::NotAgentsEntry);
}

#[test]
fn the_batch_of_another_epoch_fails() {
    let (mut scene, proof) = hidden_bid();
    let first = scene.batch();
    scene.world.advance_epochs(1);
    scene.epoch += 1;
    scene.submit(&[], &[]);
    let filing = scene.inline(&proof, BID);
    let wrong = with_account(filing.instruction(), at::BATCH, first);
    let who = scene.challenger.clone();
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongBatch);
}

#[test]
fn a_batch_that_does_not_exist_fails() {
    let (mut scene, proof) = hidden_bid();
    scene.epoch += 1;
    let filing = scene.inline(&proof, BID);
    scene.refuse(&filing, Error::AccountMissing);
}

#[test]
fn the_stake_of_another_agent_fails() {
    let (mut scene, proof) = hidden_bid();
    let (other, _) = scene.world.living_agent();
    let filing = scene.inline(&proof, BID);
    let who = scene.challenger.clone();
    let wrong = with_account(filing.instruction(), at::STAKE, pda::stake(&other.mint));
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAgent);
    let none =
        with_account(filing.instruction(), at::STAKE, pda::stake(&keypair("nobody's").pubkey().into()));
    refused(&mut scene.world, &[none], &who, &[], Error::AccountMissing);
    let lease = with_account(filing.instruction(), at::STAKE, pda::lease(&other.mint));
    refused(&mut scene.world, &[lease], &who, &[], Error::WrongAccountOwner);
}

#[test]
fn naming_another_agent_than_the_accounts_fails() {
    let (mut scene, proof) = hidden_bid();
    let (other, _) = scene.world.living_agent();
    let mut filing = scene.inline(&proof, BID);
    let mut named = filing.instruction();
    filing.addresses.agent = other.mint;
    named.data = filing.instruction().data;
    let who = scene.challenger.clone();
    refused(&mut scene.world, &[named], &who, &[], Error::WrongAgent);
}

#[test]
fn another_mint_than_the_configured_usdc_fails() {
    let (mut scene, proof) = hidden_bid();
    let (fake, fake_2022) = (keypair("fake USDC"), keypair("fake USDC of Token-2022"));
    scene.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    scene.world.create_mint(&fake_2022, 6, &TOKEN_2022_PROGRAM);
    let (who, wallet) = (scene.challenger.clone(), scene.challenger.at());
    let paid_with = |scene: &mut Scene, mint: &solana_keypair::Keypair, program| {
        scene.world.fund_token(&wallet, &mint.pubkey(), 100_000_000, program)
    };
    let fake_account = paid_with(&mut scene, &fake, &TOKEN_PROGRAM);
    let fake_2022_account = paid_with(&mut scene, &fake_2022, &TOKEN_2022_PROGRAM);
    let good = scene.inline(&proof, BID).instruction();
    let cases = [
        (vec![(at::USDC_MINT, fake.pubkey())], Error::WrongUsdcMint),
        (vec![(at::USDC_MINT, fake.pubkey()), (at::CHALLENGER_USDC, fake_account)], Error::WrongUsdcMint),
        (vec![(at::CHALLENGER_USDC, fake_account)], Error::WrongUsdcMint),
        (vec![(at::CHALLENGER_USDC, fake_2022_account)], Error::NotLegacyToken),
        (vec![(at::CHALLENGER_USDC, keypair("no account").pubkey())], Error::NotLegacyToken),
    ];
    for (changes, error) in cases {
        let wrong = changes.into_iter().fold(good.clone(), |ix, (place, key)| with_account(ix, place, key));
        refused(&mut scene.world, &[wrong], &who, &[], error);
    }
}

#[test]
fn a_stake_out_of_somebody_elses_pocket_fails() {
    let (mut scene, proof) = hidden_bid();
    let owner = scene.owner.at();
    let theirs = scene.world.usdc_account(&owner);
    let wrong = with_account(scene.inline(&proof, BID).instruction(), at::CHALLENGER_USDC, theirs);
    let who = scene.challenger.clone();
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongTokenAccountOwner);
}

#[test]
fn a_challenge_without_the_challengers_signature_fails() {
    let (mut scene, proof) = hidden_bid();
    let mut unsigned = scene.inline(&proof, BID).instruction();
    unsigned.accounts[0].is_signer = false;
    let stranger = scene.stranger();
    let failure = scene.world.send_refused(&[unsigned], &stranger, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature), "{failure:?}");
    assert_eq!(failure.program(), Some(challenge_program()));
}

#[test]
fn accounts_that_do_not_follow_from_the_arguments_fail() {
    let (mut scene, proof) = hidden_bid();
    let stranger = scene.stranger().at();
    let good = scene.inline(&proof, BID);
    let other_ground = scene.inline(&proof, 2);
    let cases = [
        (at::CONFIG, stranger, Error::WrongAddress),
        (at::CHALLENGE, stranger, Error::WrongAddress),
        (at::CHALLENGE, other_ground.challenge(), Error::WrongAddress),
        (at::VAULT, stranger, Error::WrongAddress),
        (at::VAULT, other_ground.vault(), Error::WrongAddress),
        (at::AUTHORITY, stranger, Error::WrongAddress),
        (at::STAKE_LOCK, address(ids::LEASE), Error::WrongAddress),
        (at::TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
        (at::TOKEN, address(ids::SYSTEM), Error::NotLegacyToken),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(good.instruction(), place, account);
        let who = scene.challenger.clone();
        let failure = scene.world.send_refused(&[wrong], &who, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
}

#[test]
fn a_wrong_event_authority_fails() {
    let (mut scene, proof) = hidden_bid();
    let other = pda::event_authority(ids::STAKE_LOCK);
    let wrong = with_account(scene.inline(&proof, BID).instruction(), at::EVENT_AUTHORITY, other);
    let who = scene.challenger.clone();
    let failure = scene.world.send_refused(&[wrong], &who, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::InvalidSeeds), "{failure:?}");
}

#[test]
fn without_the_system_program_nothing_can_be_created() {
    let (mut scene, proof) = hidden_bid();
    let wrong = with_account(scene.inline(&proof, BID).instruction(), at::SYSTEM, address(ids::TOKEN));
    let who = scene.challenger.clone();
    let failure = scene.world.send_refused(&[wrong], &who, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingAccount), "{failure:?}");
}

#[test]
fn one_account_in_two_places_fails() {
    let (mut scene, proof) = hidden_bid();
    let good = scene.inline(&proof, BID).instruction();
    let stake = good.accounts[at::STAKE].pubkey;
    let usdc = good.accounts[at::CHALLENGER_USDC].pubkey;
    // The evidence would be closed: what another account of the instruction is must not pass as evidence.
    for (place, account) in
        [(at::EVIDENCE, stake), (at::EVIDENCE, usdc), (at::CHALLENGE, stake), (at::VAULT, usdc)]
    {
        let mut twice = with_account(good.clone(), place, account);
        twice.accounts[place].is_writable = true;
        let who = scene.challenger.clone();
        let failure = scene.world.send_refused(&[twice], &who, &[]);
        failure.expect_code(DUPLICATE_ACCOUNT);
    }
}

#[test]
fn evidence_of_another_kind_under_the_same_hash_changes_nothing() {
    // The claim's address follows from what was shown, never from what the caller says.
    let (mut scene, proof) = hidden_bid();
    let good = scene.inline(&proof, BID);
    let who = scene.challenger.clone();
    let wrong_hash = scene.filing_by(&who, BID, [0x77; 32], good.source.clone());
    scene.refuse(&wrong_hash, Error::WrongAddress);
    let bids = [Message { nonce: 1, ..scene.message(MsgType::Propose) }.bid(1)];
    let batch = zx1_vm_tests::Batch { epoch: scene.epoch, entries: vec![], records: bids.to_vec() };
    let bid = BidProof::of(&batch, 0);
    let filing = scene.double_bid(&bid, &bid);
    scene.refuse(&filing, Error::EmptyTree);
}
