//! USDC and other tokens.

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::token::{self, TOKEN_PROGRAM, TokenAccount};

use crate::{Agent, World};
use zx1_chain::pda;
use zx1_interface::accounts::{ShardAccount, StakeLockAccount};

/// An era's money, and the shard's in which it lies, in micro-USDC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// The era's stake.
    pub stake: u64,
    /// What is left of the finders' part.
    pub pot: u64,
    /// Stakes of challenges and prices of asks held for the era.
    pub deposits: u64,
    /// The stored total of the shard: of all eras of all its agents.
    pub shard: u64,
    /// What the shard's vault holds.
    pub vault: u64,
}

impl World {
    /// The mint that stands for USDC: the legacy token program, 6 decimals; made on first use.
    pub fn usdc_mint(&mut self) -> Address {
        let mint = zx1_fixtures::usdc_mint_key();
        if self.account(&mint.pubkey()).is_none() {
            let (faucet, rent) = (self.faucet.insecure_clone(), self.rent(token::MINT_LEN));
            let create = zx1_fixtures::create_usdc(&faucet.pubkey(), &mint.pubkey(), rent);
            self.send_ok(&create.unwrap(), &faucet, &[&mint]);
        }
        mint.pubkey()
    }

    /// Creates a mint without extensions, whose authority is the faucet.
    pub fn create_mint(&mut self, mint: &Keypair, decimals: u8, token_program: &Address) {
        let (faucet, rent) = (self.faucet.insecure_clone(), self.rent(token::MINT_LEN));
        let instructions = token::create_mint(
            &faucet.pubkey(),
            &mint.pubkey(),
            rent,
            &faucet.pubkey(),
            decimals,
            token_program,
        );
        self.send_ok(&instructions.unwrap(), &faucet, &[mint]);
    }

    /// Mints to an owner's associated account, which is made if need be, and returns its address.
    /// The mint must be one of the faucet's.
    pub fn fund_token(
        &mut self,
        owner: &Address,
        mint: &Address,
        amount: u64,
        token_program: &Address,
    ) -> Address {
        let faucet = self.faucet.insecure_clone();
        let account = token::associated_address(owner, mint, token_program);
        let create = token::create_associated(&faucet.pubkey(), owner, mint, token_program);
        let fill = token::mint_to(mint, &account, &faucet.pubkey(), amount, token_program).unwrap();
        self.send_ok(&[create, fill], &faucet, &[]);
        account
    }

    /// Gives an owner micro-USDC, and returns the associated account.
    pub fn fund_usdc(&mut self, owner: &Address, amount: u64) -> Address {
        let mint = self.usdc_mint();
        self.fund_token(owner, &mint, amount, &TOKEN_PROGRAM)
    }

    /// An owner's associated USDC account, there or not.
    pub fn usdc_account(&mut self, owner: &Address) -> Address {
        let mint = self.usdc_mint();
        token::associated_address(owner, &mint, &TOKEN_PROGRAM)
    }

    /// Micro-USDC in an owner's associated account; 0 where there is none.
    pub fn usdc_balance(&mut self, owner: &Address) -> u64 {
        let account = self.usdc_account(owner);
        self.token_balance(&account)
    }

    /// Tokens in a token account; 0 where there is none.
    pub fn token_balance(&self, account: &Address) -> u64 {
        TokenAccount::decode(&self.data(account)).map_or(0, |account| account.amount)
    }

    /// An era's money as it is now, all in micro-USDC; zeros of what does not exist.
    pub fn books(&self, agent: &Agent, era: u32) -> Books {
        let stake = self.find::<StakeLockAccount>(&pda::stake(&agent.mint, era));
        let shard = self.find::<ShardAccount>(&pda::shard(agent.shard()));
        let of = |part: fn(&StakeLockAccount) -> u64| stake.as_ref().map_or(0, part);
        Books {
            stake: of(|stake| stake.stake_usdc),
            pot: of(|stake| stake.pot_usdc),
            deposits: of(|stake| stake.deposits_usdc),
            shard: shard.map_or(0, |shard| shard.total_usdc),
            vault: self.token_balance(&pda::vault(agent.shard())),
        }
    }

    /// Asserts of every shard that its total is the sum of what its eras hold, and that the vault holds as
    /// much or, by gifts of strangers, more.
    #[track_caller]
    pub fn assert_books(&self) {
        let stakes = self.all::<StakeLockAccount>();
        for (_, shard) in self.all::<ShardAccount>() {
            let own = stakes.iter().filter(|(_, stake)| stake.agent_mint[0] == shard.shard);
            let held: u64 = own.map(|(_, s)| s.stake_usdc + s.pot_usdc + s.deposits_usdc).sum();
            assert_eq!(shard.total_usdc, held, "the total of shard {} is not what it owes", shard.shard);
            let vault = self.token_balance(&pda::vault(shard.shard));
            assert!(vault >= held, "the vault of shard {} holds {vault} and owes {held}", shard.shard);
        }
    }
}
