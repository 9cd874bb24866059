//! USDC and other tokens.

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::token::{self, TOKEN_PROGRAM, TokenAccount};

use crate::World;

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
}
