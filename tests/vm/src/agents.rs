//! SATI's registry and its agents, by really calling the stand-in and Token-2022.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use spl_token_2022_interface::{
    extension::{ExtensionType, group_member_pointer},
    instruction as token_2022,
    state::Mint,
};
use zx1_chain::{
    sati::{self, NewAgent, RegisterAgent, RegistryConfig},
    token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM},
};

use crate::world::{Registry, World};
use crate::{Failure, Receipt, keypair};

/// An agent, or what poses as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The mint: the agent's id.
    pub mint: Address,
    /// Who owns it, as far as this value knows.
    pub owner: Address,
    /// The owner's token account.
    pub token_account: Address,
    /// The AgentIndex account (for what only poses as an agent: where it would be).
    pub agent_index: Address,
    /// Its number in the registry; 0 for what only poses as an agent.
    pub member_number: u64,
}

/// What can pose as an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignMint {
    /// A Token-2022 mint that is in no group.
    NoGroup,
    /// A Token-2022 mint that is the first member of a group that is not SATI's.
    OtherGroup,
    /// A mint of the legacy token program.
    Legacy,
}

impl World {
    /// Creates the registry and its group mint; does nothing the second time. Returns RegistryConfig.
    pub fn init_registry(&mut self) -> Address {
        if self.registry.is_none() {
            let authority = keypair("SATI authority");
            let group_mint = zx1_fixtures::group_mint_key();
            self.set_lamports(&authority.pubkey(), 100_000_000_000);
            let rent = self.rent(token::group_mint_len().unwrap());
            let create = zx1_fixtures::create_registry(&authority.pubkey(), &group_mint.pubkey(), rent);
            self.send_ok(&create.unwrap(), &authority, &[&group_mint]);
            self.registry = Some(Registry { authority, group_mint: group_mint.pubkey() });
        }
        sati::registry_address().0
    }

    /// Creates a group mint, so that `group_authority` admits members.
    pub fn create_group(&mut self, payer: &Keypair, mint: &Keypair, group_authority: &Address) {
        let rent = self.rent(token::group_mint_len().unwrap());
        let instructions =
            token::create_group_mint(&payer.pubkey(), &mint.pubkey(), rent, group_authority, u64::MAX);
        self.send_ok(&instructions.unwrap(), payer, &[mint]);
    }

    /// The registry's authority.
    pub fn registry_authority(&mut self) -> Keypair {
        self.init_registry();
        self.registry.as_ref().map(|r| r.authority.insecure_clone()).unwrap()
    }

    /// The group mint whose members are agents.
    pub fn group_mint(&mut self) -> Address {
        self.init_registry();
        self.registry.as_ref().map(|r| r.group_mint).unwrap()
    }

    /// The RegistryConfig as it is now.
    pub fn registry_config(&mut self) -> RegistryConfig {
        let at = self.init_registry();
        RegistryConfig::decode(&self.data(&at)).expect("a registry")
    }

    /// Registers an agent for an owner; the faucet pays.
    #[track_caller]
    pub fn register_agent(&mut self, owner: &Keypair) -> Agent {
        self.register_agent_as(owner, &plain_agent()).unwrap().0
    }

    /// Registers an agent whose mint is chosen: SATI takes any key that signs.
    #[track_caller]
    pub fn register_agent_at(&mut self, mint: &Keypair, owner: &Keypair) -> Agent {
        self.register(mint, owner, &plain_agent()).unwrap().0
    }

    /// Registers an agent that can never change hands.
    #[track_caller]
    pub fn register_soulbound_agent(&mut self, owner: &Keypair) -> Agent {
        self.register_agent_as(owner, &NewAgent { non_transferable: true, ..plain_agent() }).unwrap().0
    }

    /// Registers an agent with these names.
    #[track_caller]
    pub fn register_agent_as(
        &mut self,
        owner: &Keypair,
        agent: &NewAgent,
    ) -> Result<(Agent, Receipt), Failure> {
        let mint = self.new_keypair();
        self.register(&mint, owner, agent)
    }

    fn register(
        &mut self,
        mint: &Keypair,
        owner: &Keypair,
        agent: &NewAgent,
    ) -> Result<(Agent, Receipt), Failure> {
        let faucet = self.faucet.insecure_clone();
        let accounts = self.registration(owner, mint);
        let instruction = sati::register_agent(&accounts, agent);
        let receipt = self.send(&[instruction], &faucet, &[owner, mint])?;
        let token_account =
            token::associated_address(&accounts.owner, &accounts.agent_mint, &TOKEN_2022_PROGRAM);
        let agent = Agent {
            mint: accounts.agent_mint,
            owner: accounts.owner,
            token_account,
            agent_index: sati::agent_index_address(accounts.member_number).0,
            member_number: accounts.member_number,
        };
        Ok((agent, receipt))
    }

    /// The accounts with which the next agent is registered, for tests that change one of them.
    pub fn registration(&mut self, owner: &Keypair, mint: &Keypair) -> RegisterAgent {
        let registry = self.registry_config();
        RegisterAgent {
            payer: self.faucet.pubkey(),
            owner: owner.pubkey(),
            group_mint: registry.group_mint,
            agent_mint: mint.pubkey(),
            member_number: registry.total_agents + 1,
        }
    }

    /// Moves an agent to another owner's associated account; returns the agent as it is then.
    #[track_caller]
    pub fn transfer_agent(&mut self, agent: &Agent, from: &Keypair, to: &Address) -> Agent {
        let faucet = self.faucet.insecure_clone();
        let token_account = token::associated_address(to, &agent.mint, &TOKEN_2022_PROGRAM);
        let create = token::create_associated(&faucet.pubkey(), to, &agent.mint, &TOKEN_2022_PROGRAM);
        self.send_ok(&[create, move_agent(agent, &token_account)], &faucet, &[from]);
        Agent { owner: *to, token_account, ..*agent }
    }

    /// Moves an agent to a new token account of an owner, which is not the associated one.
    #[track_caller]
    pub fn transfer_agent_aside(&mut self, agent: &Agent, from: &Keypair, to: &Address) -> Agent {
        let faucet = self.faucet.insecure_clone();
        let account = self.new_keypair();
        let rent = self.rent(token::ACCOUNT_LEN);
        let instructions = [
            system::create_account(
                &faucet.pubkey(),
                &account.pubkey(),
                rent,
                token::ACCOUNT_LEN as u64,
                &TOKEN_2022_PROGRAM,
            ),
            token_2022::initialize_account3(&TOKEN_2022_PROGRAM, &account.pubkey(), &agent.mint, to).unwrap(),
            move_agent(agent, &account.pubkey()),
        ];
        self.send_ok(&instructions, &faucet, &[from, &account]);
        Agent { owner: *to, token_account: account.pubkey(), ..*agent }
    }

    /// Burns an agent; its token account stays, empty.
    #[track_caller]
    pub fn burn_agent(&mut self, agent: &Agent, owner: &Keypair) {
        let faucet = self.faucet.insecure_clone();
        let burn = token::burn(&agent.token_account, &agent.mint, &owner.pubkey(), 1, &TOKEN_2022_PROGRAM);
        self.send_ok(&[burn.unwrap()], &faucet, &[owner]);
    }

    /// Gives an owner one token of a mint that is not an agent; all fields but `member_number` are filled.
    /// `agent_index` is that of member 1.
    pub fn foreign_agent(&mut self, kind: ForeignMint, owner: &Address) -> Agent {
        let mint = self.new_keypair();
        let faucet = self.faucet.insecure_clone();
        let program = match kind {
            ForeignMint::Legacy => TOKEN_PROGRAM,
            ForeignMint::NoGroup | ForeignMint::OtherGroup => TOKEN_2022_PROGRAM,
        };
        match kind {
            ForeignMint::NoGroup | ForeignMint::Legacy => self.create_mint(&mint, 0, &program),
            ForeignMint::OtherGroup => {
                let group = self.new_keypair();
                self.create_group(&faucet, &group, &faucet.pubkey());
                self.create_member(&mint, &group.pubkey());
            }
        }
        let token_account = self.fund_token(owner, &mint.pubkey(), 1, &program);
        let agent_index = sati::agent_index_address(1).0;
        Agent { mint: mint.pubkey(), owner: *owner, token_account, agent_index, member_number: 0 }
    }

    /// Creates a mint that is a member of a group of the faucet's, with the faucet as mint authority.
    fn create_member(&mut self, mint: &Keypair, group: &Address) {
        let (program, faucet) = (&TOKEN_2022_PROGRAM, self.faucet.insecure_clone());
        let (payer, mint_at) = (&faucet.pubkey(), &mint.pubkey());
        let length =
            |types: &[ExtensionType]| ExtensionType::try_calculate_account_len::<Mint>(types).unwrap();
        let rent = self.rent(length(&[ExtensionType::GroupMemberPointer, ExtensionType::TokenGroupMember]));
        let first = length(&[ExtensionType::GroupMemberPointer]) as u64;
        let instructions = [
            system::create_account(payer, mint_at, rent, first, program),
            group_member_pointer::instruction::initialize(program, mint_at, None, Some(*mint_at)).unwrap(),
            token_2022::initialize_mint2(program, mint_at, payer, None, 0).unwrap(),
            spl_token_group_interface::instruction::initialize_member(
                program, mint_at, mint_at, payer, group, payer,
            ),
        ];
        self.send_ok(&instructions, &faucet, &[mint]);
    }
}

fn plain_agent() -> NewAgent {
    NewAgent {
        name: "Test agent".into(),
        symbol: "SATI".into(),
        uri: "ipfs://agent".into(),
        ..NewAgent::default()
    }
}

fn move_agent(agent: &Agent, to: &Address) -> Instruction {
    token::transfer(&agent.token_account, &agent.mint, to, &agent.owner, (1, 0), &TOKEN_2022_PROGRAM).unwrap()
}
