//! The challenge game (decision P4): drafts and ranks, challenges, answers, asks. As in `protocol`, what
//! begins with a verb in -ing builds an instruction, and the plain verb sends it.

use crate::{Agent, Failure, Key, Receipt, World, address, ed25519_instruction};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::challenge::{self, ChallengeAddresses, Money};
use zx1_chain::{claim, pda};
use zx1_interface::Layout;
use zx1_interface::accounts::{AskAccount, BatchAccount, ChallengeAccount, EvidenceDraft, StakeLockAccount};
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_interface::instruction::{AnswerChallenge, BeginEvidence};
use zx1_protocol::challenge::Ground;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;

/// Bytes that one append carries.
pub const APPEND_BYTES: usize = 900;
/// The tree of the log, in an ask.
pub const LOG: u8 = 0;
/// The tree of the records, in an ask.
pub const ARRAYS: u8 = 1;

/// What a finder shows.
#[derive(Clone, Debug)]
pub enum Shown {
    /// The bytes of a draft: a log entry or two bids.
    Bytes(Vec<u8>),
    /// An envelope, signed anew in the transaction that seals.
    Envelope {
        /// The signed bytes.
        signed: Vec<u8>,
        /// The key that signs them.
        key: Box<Key>,
    },
}

impl Shown {
    /// What a commitment is made to.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Envelope { signed, .. } => signed,
        }
    }
}

/// One finder's evidence against one batch.
#[derive(Clone, Debug)]
pub struct Filing {
    /// Who challenges, and pays.
    pub finder: Key,
    /// The agent whose batch it is.
    pub agent: Agent,
    /// The batch's epoch.
    pub epoch: u64,
    /// The draft's nonce.
    pub nonce: u64,
    /// What the evidence obliges the agent to.
    pub ground: Ground,
    /// Whether the evidence determines a bid's value; true on every other ground.
    pub value_known: bool,
    /// Hash of the message's header (message32).
    pub message: Hash,
    /// What is shown.
    pub shown: Shown,
}

impl Filing {
    /// The same evidence of another finder's.
    pub fn by(&self, finder: &Key, nonce: u64) -> Self {
        Self { finder: finder.clone(), nonce, ..self.clone() }
    }

    /// Address of the batch.
    pub fn batch(&self) -> Address {
        pda::batch(&self.agent.mint, self.epoch)
    }

    /// Address of the draft.
    pub fn draft(&self) -> Address {
        pda::evidence_draft(&self.finder.at(), self.nonce)
    }

    /// What is claimed.
    pub fn claim(&self) -> Hash {
        claim::claim(self.ground, self.value_known, &self.message)
    }

    /// Address of the challenge.
    pub fn challenge(&self) -> Address {
        pda::challenge(&self.batch(), &self.claim())
    }

    /// Address of the claim with the value known.
    pub fn stronger(&self) -> Address {
        pda::challenge(&self.batch(), &claim::claim(self.ground, true, &self.message))
    }

    /// What begin_evidence commits to.
    pub fn commit(&self) -> Hash {
        claim::commit(&self.finder.at(), &self.batch(), self.shown.bytes())
    }

    /// Bytes that are written into the draft: none of an envelope.
    pub fn written(&self) -> &[u8] {
        match &self.shown {
            Shown::Bytes(bytes) => bytes,
            Shown::Envelope { .. } => &[],
        }
    }
}

impl World {
    /// begin_evidence that takes a rank in an era, with the filing's commitment.
    pub fn beginning_in(&self, filing: &Filing, era: u32) -> Instruction {
        let begin = BeginEvidence {
            nonce: filing.nonce,
            len: u32::try_from(filing.written().len()).unwrap(),
            agent_id: filing.agent.mint.0,
            era,
            commit: filing.commit(),
        };
        challenge::begin_evidence(filing.finder.at(), &begin)
    }

    /// The same in the batch's era; in the present one while the batch has not landed.
    pub fn beginning(&self, filing: &Filing) -> Instruction {
        let batch = self.find::<BatchAccount>(&filing.batch());
        self.beginning_in(filing, batch.map_or_else(|| self.era(&filing.agent), |batch| batch.era))
    }

    /// Takes a rank.
    pub fn begin(&mut self, filing: &Filing) -> Result<Receipt, Failure> {
        self.send(&[self.beginning(filing)], &filing.finder, &[])
    }

    /// begin_evidence without a rank, for bytes.
    pub fn beginning_unranked(&self, finder: &Address, nonce: u64, len: usize) -> Instruction {
        let len = u32::try_from(len).unwrap();
        let begin = BeginEvidence { nonce, len, agent_id: [0; 32], era: 0, commit: [0; 32] };
        challenge::begin_evidence(*finder, &begin)
    }

    /// Writes bytes into a draft that has `written` already; returns the largest transaction's size.
    #[track_caller]
    pub fn append(&mut self, owner: &Keypair, nonce: u64, bytes: &[u8]) -> usize {
        let mut largest = 0;
        for (n, part) in bytes.chunks(APPEND_BYTES).enumerate() {
            let offset = u32::try_from(n * APPEND_BYTES).unwrap();
            let append = challenge::append_evidence(owner.pubkey(), nonce, offset, part.to_vec());
            largest = largest.max(self.send_ok(&[append], owner, &[]).size);
        }
        largest
    }

    /// A complete draft without a rank: what a long leaf is shown from. Returns its address.
    #[track_caller]
    pub fn draft_of(&mut self, owner: &Keypair, nonce: u64, bytes: &[u8]) -> Address {
        let begin = self.beginning_unranked(&owner.pubkey(), nonce, bytes.len());
        self.send_ok(&[begin], owner, &[]);
        self.append(owner, nonce, bytes);
        pda::evidence_draft(&owner.pubkey(), nonce)
    }

    /// seal_evidence; of an envelope with its Ed25519 check before it.
    pub fn sealing(&self, filing: &Filing) -> Vec<Instruction> {
        let seal = |key| {
            let (finder, nonce) = (filing.finder.at(), filing.nonce);
            challenge::seal_evidence(finder, nonce, filing.ground, filing.batch(), key)
        };
        match &filing.shown {
            Shown::Bytes(_) => vec![seal(None)],
            Shown::Envelope { signed, key } => {
                let account = pda::key(&filing.agent.mint, &key.at());
                vec![ed25519_instruction(key, signed), seal(Some(account))]
            }
        }
    }

    /// Seals a complete draft.
    pub fn seal(&mut self, filing: &Filing) -> Result<Receipt, Failure> {
        self.send(&self.sealing(filing), &filing.finder, &[])
    }

    /// submit_challenge. Where the claim is open already, the USDC account of its challenger is passed along.
    pub fn submitting(&mut self, filing: &Filing) -> Instruction {
        let open = self.find::<ChallengeAccount>(&filing.challenge());
        let open = open.filter(|challenge| challenge.outcome == 0);
        let replaced = open.map(|open| self.usdc_account(&address(open.challenger)));
        let era = self.read::<BatchAccount>(&filing.batch()).era;
        let addresses = ChallengeAddresses {
            challenger: filing.finder.at(),
            challenger_usdc: self.usdc_account(&filing.finder.at()),
            agent: filing.agent.mint,
            epoch_number: filing.epoch,
            era,
            nonce: filing.nonce,
            ground: filing.ground,
            message: filing.message,
            value_known: filing.value_known,
            replaced,
        };
        challenge::submit_challenge(&addresses)
    }

    /// Opens the claim of a sealed draft, or takes it over.
    pub fn submit_challenge(&mut self, filing: &Filing) -> Result<Receipt, Failure> {
        let submit = self.submitting(filing);
        self.send(&[submit], &filing.finder, &[])
    }

    /// Takes a rank, writes, and seals: ready to be submitted.
    #[track_caller]
    pub fn prepare(&mut self, filing: &Filing) {
        self.begin(filing).unwrap();
        self.append(&filing.finder, filing.nonce, filing.written());
        self.seal(filing).unwrap();
    }

    /// The same without a rank: the claim takes the rank of its moment. Not for envelopes, which need one.
    #[track_caller]
    pub fn prepare_unranked(&mut self, filing: &Filing) {
        self.draft_of(&filing.finder, filing.nonce, filing.written());
        self.seal(filing).unwrap();
    }

    /// All of a challenge: rank, bytes, seal, claim. Returns the receipt of submit_challenge.
    #[track_caller]
    pub fn file(&mut self, filing: &Filing) -> Receipt {
        self.prepare(filing);
        self.submit_challenge(filing).unwrap()
    }

    /// cancel_evidence, with the stake and the challenge that may give the deposit back, where they exist.
    pub fn canceling(&self, filing: &Filing) -> Instruction {
        let draft: EvidenceDraft = self.read(&filing.draft());
        let stake = (draft.commit != [0; 32]).then(|| pda::stake(&AgentId(draft.agent), draft.era));
        let claim = pda::challenge(&address(draft.batch), &draft.claim);
        let claim = self.account(&claim).map(|_| claim);
        challenge::cancel_evidence(filing.finder.at(), filing.nonce, stake, claim)
    }

    /// Sends [`World::canceling`] by the finder.
    pub fn cancel_evidence(&mut self, filing: &Filing) -> Result<Receipt, Failure> {
        self.send(&[self.canceling(filing)], &filing.finder, &[])
    }

    /// The draft's account.
    #[track_caller]
    pub fn draft(&self, filing: &Filing) -> EvidenceDraft {
        self.read(&filing.draft())
    }

    /// The claim's account.
    #[track_caller]
    pub fn challenge(&self, filing: &Filing) -> ChallengeAccount {
        self.read(&filing.challenge())
    }

    /// Era and recipients of a settlement: a wallet, and the treasury.
    pub fn money(&mut self, agent: &AgentId, era: u32, first: &Address) -> Money {
        Money { agent: *agent, era, first: self.usdc_account(first), second: self.treasury_usdc() }
    }

    fn money_of(&mut self, challenge: &ChallengeAccount, first: &[u8; 32]) -> Money {
        self.money(&AgentId(challenge.agent_id), challenge.era, &address(*first))
    }

    /// answer_challenge by somebody.
    pub fn answering(
        &mut self,
        answerer: &Address,
        challenge: &Address,
        answer: &AnswerChallenge,
    ) -> Instruction {
        let account: ChallengeAccount = self.read(challenge);
        let money = self.money_of(&account, &answerer.to_bytes());
        let batch = address(account.batch);
        challenge::answer_challenge(*answerer, *challenge, batch, &money, answer)
    }

    /// Sends [`World::answering`]; the answerer pays.
    pub fn answer(
        &mut self,
        answerer: &Keypair,
        challenge: &Address,
        answer: &AnswerChallenge,
    ) -> Result<Receipt, Failure> {
        let instruction = self.answering(&answerer.pubkey(), challenge, answer);
        self.send(&[instruction], answerer, &[])
    }

    /// resolve_challenge: the challenger and the treasury are paid.
    pub fn resolving(&mut self, challenge: &Address) -> Instruction {
        let account: ChallengeAccount = self.read(challenge);
        let money = self.money_of(&account, &account.challenger);
        challenge::resolve_challenge(*challenge, &money)
    }

    /// Sends [`World::resolving`]; the faucet calls.
    pub fn resolve(&mut self, challenge: &Address) -> Result<Receipt, Failure> {
        let instruction = self.resolving(challenge);
        self.send_by_faucet(&[instruction])
    }

    /// Goes to the first slot after a challenge's window.
    pub fn pass_window(&mut self, challenge: &Address) {
        let submitted = self.read::<ChallengeAccount>(challenge).submitted_slot;
        self.warp_to_slot(submitted + CHALLENGE_WINDOW_SLOTS + 1);
    }

    /// close_challenge, for who paid the rent.
    pub fn closing_challenge(&self, challenge: &Address) -> Instruction {
        let account: ChallengeAccount = self.read(challenge);
        let payer = address(account.payer);
        challenge::close_challenge(*challenge, payer, AgentId(account.agent_id), account.era)
    }

    /// Sends [`World::closing_challenge`]; the faucet calls.
    pub fn close_challenge(&mut self, challenge: &Address) -> Result<Receipt, Failure> {
        self.send_by_faucet(&[self.closing_challenge(challenge)])
    }

    /// pass_rank of a challenge or a draft, which say whose era it is.
    pub fn passing(&self, account: &Address) -> Instruction {
        let data = self.data(account);
        let (agent, era) = <ChallengeAccount as Layout>::read(&data)
            .map(|challenge| (challenge.agent_id, challenge.era))
            .or_else(|| {
                let draft = <EvidenceDraft as Layout>::read(&data)?;
                Some((draft.agent, draft.era))
            })
            .expect("a challenge or a draft");
        challenge::pass_rank(*account, AgentId(agent), era)
    }

    /// Sends [`World::passing`]; the faucet calls.
    pub fn pass_rank(&mut self, account: &Address) -> Result<Receipt, Failure> {
        self.send_by_faucet(&[self.passing(account)])
    }

    /// settle_era: the rest of the finders' part goes to the treasury.
    pub fn settling_era(&mut self, agent: &Agent, era: u32) -> Instruction {
        challenge::settle_era(agent.mint, era, self.treasury_usdc())
    }

    /// Sends [`World::settling_era`]; the faucet calls.
    pub fn settle_era(&mut self, agent: &Agent, era: u32) -> Result<Receipt, Failure> {
        let instruction = self.settling_era(agent, era);
        self.send_by_faucet(&[instruction])
    }

    /// ask_leaf against the agent's batch of an epoch.
    pub fn asking(
        &mut self,
        asker: &Address,
        agent: &Agent,
        epoch: u64,
        tree: u8,
        index: u32,
    ) -> Instruction {
        let (usdc, era) = (self.usdc_account(asker), self.batch(agent, epoch).era);
        challenge::ask_leaf(*asker, usdc, agent.mint, epoch, era, tree, index)
    }

    /// Sends [`World::asking`]; the asker pays.
    pub fn ask_leaf(
        &mut self,
        asker: &Keypair,
        agent: &Agent,
        epoch: u64,
        tree: u8,
        index: u32,
    ) -> Result<Receipt, Failure> {
        let instruction = self.asking(&asker.pubkey(), agent, epoch, tree, index);
        self.send(&[instruction], asker, &[])
    }

    /// Address of an ask.
    pub fn ask_address(&self, agent: &Agent, epoch: u64, tree: u8, index: u32) -> Address {
        pda::ask(&pda::batch(&agent.mint, epoch), tree, index)
    }

    /// show_leaf by somebody, with the bytes inline or in a draft of the shower's.
    pub fn showing(
        &mut self,
        shower: &Address,
        ask: &Address,
        leaf: Result<&[u8], Address>,
        proof: &[Hash],
    ) -> Instruction {
        let account: AskAccount = self.read(ask);
        let money = self.money(&AgentId(account.agent_id), account.era, shower);
        let (leaf, draft) = match leaf {
            Ok(bytes) => (bytes.to_vec(), None),
            Err(draft) => (Vec::new(), Some(draft)),
        };
        let batch = address(account.batch);
        challenge::show_leaf(*shower, *ask, batch, draft, &money, leaf, proof.to_vec())
    }

    /// Sends [`World::showing`] with the bytes inline; the shower pays.
    pub fn show_leaf(
        &mut self,
        shower: &Keypair,
        ask: &Address,
        leaf: &[u8],
        proof: &[Hash],
    ) -> Result<Receipt, Failure> {
        let instruction = self.showing(&shower.pubkey(), ask, Ok(leaf), proof);
        self.send(&[instruction], shower, &[])
    }

    /// settle_ask: the asker and the treasury are paid.
    pub fn settling_ask(&mut self, ask: &Address) -> Instruction {
        let account: AskAccount = self.read(ask);
        let epoch = self.read::<BatchAccount>(&address(account.batch)).epoch_number;
        let asker = address(account.asker);
        let money = self.money(&AgentId(account.agent_id), account.era, &asker);
        challenge::settle_ask(*ask, AgentId(account.agent_id), epoch, &money)
    }

    /// Sends [`World::settling_ask`]; the faucet calls.
    pub fn settle_ask(&mut self, ask: &Address) -> Result<Receipt, Failure> {
        let instruction = self.settling_ask(ask);
        self.send_by_faucet(&[instruction])
    }

    /// close_ask, for the asker.
    pub fn closing_ask(&self, ask: &Address) -> Instruction {
        let asker = address(self.read::<AskAccount>(ask).asker);
        challenge::close_ask(*ask, asker)
    }

    /// Sends [`World::closing_ask`]; the faucet calls.
    pub fn close_ask(&mut self, ask: &Address) -> Result<Receipt, Failure> {
        self.send_by_faucet(&[self.closing_ask(ask)])
    }

    /// The present order of an era: (settled_rank, next_rank).
    pub fn ranks(&self, agent: &Agent, era: u32) -> (u32, u32) {
        let stake: StakeLockAccount = self.stake(agent, era);
        (stake.settled_rank, stake.next_rank)
    }

    fn send_by_faucet(&mut self, instructions: &[Instruction]) -> Result<Receipt, Failure> {
        let faucet = self.faucet.insecure_clone();
        self.send(instructions, &faucet, &[])
    }
}
