//! Delegations and feedback, by really calling the stand-ins.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::sati::{self, Actors, Attestation, DelegateV1};

use crate::{Agent, FEEDBACK_SCHEMA_NAME, Failure, Receipt, Schemas, World, ed25519_instruction};

impl World {
    /// Registers FeedbackV1 and DelegateV1; the second time it only says where they are.
    pub fn schemas(&mut self) -> Schemas {
        if let Some(schemas) = self.schemas {
            return schemas;
        }
        let authority = self.registry_authority();
        let schemas = Schemas::of(&authority.pubkey());
        self.send_ok(&schemas.register(&authority.pubkey()), &authority, &[]);
        self.schemas = Some(schemas);
        schemas
    }

    /// The owner lets another key sign for the agent until a Unix time (0: without end). Returns the
    /// delegation's address.
    #[track_caller]
    pub fn create_delegate(
        &mut self,
        owner: &Keypair,
        delegate: &Address,
        agent: &Agent,
        expiry: i64,
    ) -> Address {
        let instructions = self.delegate_instructions(owner, delegate, agent, expiry);
        let faucet = self.faucet.insecure_clone();
        self.send_ok(&instructions, &faucet, &[]);
        self.delegate_address(delegate, agent)
    }

    /// What [`World::create_delegate`] sends.
    pub fn delegate_instructions(
        &mut self,
        owner: &Keypair,
        delegate: &Address,
        agent: &Agent,
        expiry: i64,
    ) -> [Instruction; 2] {
        let schemas = self.schemas();
        let subject = DelegateV1 { agent: agent.mint.into(), delegate: *delegate, delegator: owner.pubkey() }
            .attestation();
        let message = sati::interaction_hash(&schemas.delegate, &subject.task_ref, &subject.data_hash);
        let nonce = sati::delegation_nonce(&schemas.delegate, delegate, &agent.mint.into());
        let actors = self.actors(agent, schemas.delegate);
        [
            ed25519_instruction(owner, &message),
            sati::create_regular_attestation(&actors, &subject, &nonce, expiry),
        ]
    }

    /// Where a delegation is.
    pub fn delegate_address(&mut self, delegate: &Address, agent: &Agent) -> Address {
        let schemas = self.schemas();
        let nonce = sati::delegation_nonce(&schemas.delegate, delegate, &agent.mint.into());
        sati::sas_attestation_address(&schemas.credential, &schemas.delegate, &nonce).0
    }

    /// The owner takes a delegation back.
    pub fn close_delegate(
        &mut self,
        owner: &Keypair,
        delegate: &Address,
        agent: &Agent,
    ) -> Result<Receipt, Failure> {
        let schemas = self.schemas();
        let at = self.delegate_address(delegate, agent);
        let actors = self.actors(agent, schemas.delegate);
        let close = sati::close_regular_attestation(&actors, &owner.pubkey(), &agent.mint.into(), &at);
        let faucet = self.faucet.insecure_clone();
        self.send(&[close], &faucet, &[owner])
    }

    /// The three instructions of a FeedbackV1 attestation: the owner's signature, the counterparty's,
    /// and the attestation itself.
    pub fn feedback_instructions(
        &mut self,
        agent: &Agent,
        owner: &Keypair,
        counterparty: &Keypair,
        subject: &Attestation,
    ) -> [Instruction; 3] {
        let schemas = self.schemas();
        let interaction = sati::interaction_hash(&schemas.feedback, &subject.task_ref, &subject.data_hash);
        let words = sati::counterparty_message(FEEDBACK_SCHEMA_NAME, subject);
        let nonce = sati::attestation_nonce(
            &subject.task_ref,
            &schemas.feedback,
            &subject.agent,
            &subject.counterparty,
        );
        let actors = self.actors(agent, schemas.feedback);
        [
            ed25519_instruction(owner, &interaction),
            ed25519_instruction(counterparty, &words),
            sati::create_compressed_attestation(&actors, subject, &nonce),
        ]
    }

    /// The actors of an attestation about an agent, paid by the faucet.
    pub fn actors(&mut self, agent: &Agent, sas_schema: Address) -> Actors {
        Actors {
            payer: self.faucet.pubkey(),
            sas_schema,
            agent_token_account: agent.token_account,
            credential: self.schemas().credential,
        }
    }
}
