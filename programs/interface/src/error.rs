//! Every refusal of the five programs: a number and a full sentence that says what to do next (decision
//! B15). One catalogue for all five, so that a number means the same wherever it comes from.

macro_rules! catalogue {
    ($( $code:literal $name:ident $message:literal, )*) => {
        /// A refusal. Its number is what a transaction's `custom program error` shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Error {
            $( #[doc = $message] $name = $code, )*
        }

        impl Error {
            /// All of them, by number.
            pub const ALL: &'static [Error] = &[$( Error::$name ),*];

            /// The error's number.
            pub const fn code(self) -> u32 {
                self as u32
            }

            /// The name, as the IDL has it.
            pub const fn name(self) -> &'static str {
                match self { $( Error::$name => stringify!($name), )* }
            }

            /// The sentence that a person reads.
            pub const fn message(self) -> &'static str {
                match self { $( Error::$name => $message, )* }
            }

            /// The refusal with this number.
            pub const fn from_code(code: u32) -> Option<Error> {
                match code { $( $code => Some(Error::$name), )* _ => None }
            }
        }
    };
}

catalogue! {
    // Any program.
    6000 ArithmeticOverflow "An amount or a counter would overflow. Use a smaller number.",
    6001 WrongAccountOwner "An account belongs to another program than expected. Check the order and the addresses of the accounts.",
    6002 WrongAccountType "An account is of another type than expected. Check the order and the addresses of the accounts.",
    6003 WrongAddress "An account is not the one that follows from the arguments. Derive it again from its seeds.",
    6004 AccountExists "The account to be created exists already. Read it instead, or use another nonce.",
    6005 AccountMissing "A needed account does not exist. Create it first, or check its address.",
    6006 InvariantBroken "The account would be left in a state that the rules exclude. Report this transaction as a defect.",
    6007 WrongAgent "An account belongs to another agent than the one named. Derive it from the agent's mint.",
    6008 InvalidInstruction "The instruction's data is malformed. Build it with the IDL or the client library.",

    // Lease.
    6010 NoEpochs "The number of epochs is zero. Pay at least one.",
    6011 LeaseTooFarAhead "The lease would be paid more than ten years ahead. Pay for fewer epochs.",
    6012 LeaseNotDeactivated "The lease is still paid or in its grace period. Wait until it is deactivated before you queue an unlock or claim.",
    6013 LeaseDeactivated "The lease is deactivated. Reactivate it with pay_lease first.",
    6014 LeaseMissing "The agent has no lease. Pay for one with pay_lease first.",
    6015 LeasePaidSinceQueueing "The lease was paid after the unlock was queued. Queue the unlock again when the lease is deactivated.",
    6016 LeaseNotPaid "Only an agent with a live lease can cancel its unlock. Pay the lease first.",

    // Identity.
    6020 MintNotToken2022 "The agent's mint does not belong to Token-2022. Use the mint that SATI registered.",
    6021 MintNotInRegistry "The agent's mint is not a member of the SATI registry's group. Register the agent with SATI first.",
    6022 WrongAgentIndex "The AgentIndex account is not the one of this mint. Derive it from the mint's member number.",
    6023 AgentNotHeld "The token account does not hold the agent's NFT. Pass the account that holds exactly one.",
    6024 NotAgentOwner "The signer does not own the agent's NFT. Sign with the wallet that holds it.",
    6025 InvalidDelegation "The delegation is not a DelegateV1 attestation of this agent and this delegate. Pass the right account or sign as owner.",
    6026 DelegationExpired "The delegation has expired. Renew it or sign as owner.",
    6027 FormerOwnersDelegation "The delegation was given by a former owner of the agent. The present owner must delegate again.",

    // Money.
    6030 NotLegacyToken "The account does not belong to the legacy SPL Token program. Only that program's USDC is accepted.",
    6031 WrongUsdcMint "The mint or token account is not of the configured USDC mint. Use the mint in the configuration.",
    6032 WrongTokenAccountOwner "The token account belongs to another wallet than the one that must be paid or pay. Pass one of that wallet.",
    6033 NotTreasury "The token account does not belong to the configured treasury. Pass a USDC account of the treasury's wallet.",
    6034 InsufficientUsdc "The token account holds less USDC than the instruction takes. Fund it first.",

    // StakeLock.
    6040 StakeBelowMinimum "The stake would be or is below the minimum of 10 USDC. Lock more.",
    6041 StakeMissing "The agent has no stake. Lock one with lock_stake first.",
    6042 UnlockAlreadyQueued "An unlock is queued already. Wait for its slot and claim.",
    6043 UnlockNotQueued "No unlock is queued. Queue one with queue_unlock first.",
    6044 UnlockDelayNotOver "The unlock delay has not passed. Claim at the slot that the stake account names, or later.",
    6045 OpenChallenges "A challenge against the agent is unresolved. Resolve it first.",
    6046 BatchInWindow "The agent's last batch can still be challenged. Wait until its window is over.",
    6047 UnlockQueued "An unlock is queued. Cancel it with cancel_unlock before you lock more.",
    6048 NotChallengeProgram "Only the Challenge program may call this instruction. Use submit_challenge and resolve_challenge.",
    6049 SlashExceedsStake "The amount is larger than the stake. Slash at most what is locked.",
    6050 NotUpgradeAuthority "Only the program's upgrade authority may write the configuration. Sign with that key.",
    6051 NoUpgradeAuthority "The program is immutable and has no upgrade authority, so its configuration can never be written.",
    6052 ConfigExists "The configuration is written once and exists already. Read it instead.",
    6053 WrongProgramData "The account is not StakeLock's ProgramData. Derive it from the program id and the upgradeable loader.",
    6054 NoOpenChallenge "No challenge is counted as open. Report this transaction as a defect.",
    6055 WrongRegistry "The account is not SATI's RegistryConfig. Derive it from the seed registry.",
    6056 InvalidConfig "A configured address is zero. Name real addresses for treasury, maintainer, credential and schema.",

    // BehaviorLog.
    6060 FutureEpoch "The batch's epoch lies in the future. Submit it after that epoch is over.",
    6061 CurrentEpoch "The batch's epoch is not over yet. Submit it in the next epoch.",
    6062 EpochTooOld "The batch is more than 3 epochs old. Submit a batch of a later epoch; it covers the older ones.",
    6063 EpochNotIncreasing "The agent has submitted a batch of this or a later epoch. Submit a later epoch.",
    6064 LengthTooLarge "A length is larger than 2^20. Split the log over more epochs.",
    6065 SignatureMissing "The instruction before this one is not an Ed25519 signature check. Put it there.",
    6066 SignatureCount "The Ed25519 instruction must check exactly one signature. Send one instruction for each.",
    6067 SignatureOffsets "The Ed25519 instruction must hold its own key, signature and message (indexes 0xFFFF, in bounds). Rebuild it.",
    6068 SignedOtherBytes "The signature is over other bytes than this instruction's message. Sign the message of decision B7 for these arguments.",
    6069 WrongSigner "The key that signed is neither the agent's owner nor a live delegate. Sign with one of them.",
    6070 WindowNotOver "The challenge window is not over. Wait until it is.",
    6071 WrongPayer "The rent goes to the wallet that paid it. Pass that wallet.",

    // Challenge.
    6080 UnknownGround "The ground is not one of 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid. Use one of them.",
    6081 MalformedEvidence "The evidence is malformed. Build it with the client library.",
    6082 EvidenceMissing "Evidence was given both inline and in an account, or not at all. Give exactly one.",
    6083 WrongProofLength "The proof is shorter or longer than the tree's depth. Give ceil(log2(length)) hashes; one leaf needs none.",
    6084 IndexOutOfRange "The leaf's index lies outside the tree or in its padding. Count in the padded tree.",
    6085 ProofMismatch "The proof does not lead to the committed root. Build it from the served leaf hashes.",
    6086 EmptyTree "The batch commits to no entries there, so nothing can be proven in it.",
    6087 NotAgentsEntry "The entry was sent by somebody else. Only the agent's own messages and feedback about it prove something.",
    6088 NoGround "A message of this type gives no such ground. See the table of grounds in ARCHITECTURE.md.",
    6089 FeedbackBySelf "The feedback was given by the agent itself, and an agent's word about itself counts for nothing.",
    6090 FeedbackAboutAnother "The feedback is about another agent. Challenge that agent's batch.",
    6091 MalformedFeedback "The feedback payload does not parse, so no batch has to hold it.",
    6092 PayloadHashMismatch "The payload does not have the hash or length that was signed. Show the payload itself.",
    6093 PayloadNotAllowed "A payload is shown for a message that holds its own or needs none. Leave it out.",
    6094 PayloadTooLong "The envelope's payload is longer than 400 bytes. Challenge with the log entry instead.",
    6095 MalformedEntry "The log entry or envelope is not in canonical form. Pass its exact bytes.",
    6096 MalformedRecord "A record is not a packed bid record. Pass its exact bytes.",
    6097 NotDoubleBid "The two bids do not contradict each other. They need equal conversation, counterparty and slot and different values.",
    6098 ChallengeWindowOver "The batch can no longer be challenged. Its window is over.",
    6099 ChallengeExists "You have submitted this challenge already. Follow that one.",
    6100 AnswerTooLate "The challenge's window is over, so it can no longer be answered. Resolve it.",
    6101 AlreadyAnswered "The challenge is answered already. Resolve it when its window is over.",
    6102 NoAnswer "Two contradicting bids have no answer. Nothing can be shown against them.",
    6103 AlreadyResolved "The challenge is resolved already. Close it to get its rent back.",
    6104 NotResolved "The challenge is not resolved yet. Resolve it first.",
    6105 EnvelopeOutsideEpochs "The envelope's timestamp lies outside the epochs that the batch covers. Challenge the batch that covers it.",
    6106 WrongEnvelopeSigner "The envelope was signed neither by the agent's owner, nor by a live delegate, nor by the batch's signer.",
    6107 GroundMismatch "The envelope was recorded for another ground. Record it again for this one.",
    6108 WrongBatch "The account is not the challenged batch. Pass the batch that the challenge names.",
    6109 WrongRecord "The record shown is not in the batch at that place. Show the leaf and proof from the batch's data.",

    // Drafts.
    6120 InvalidDraftLength "The draft's length is zero or more than allowed. Announce what will be written.",
    6121 DraftIncomplete "The draft is not completely written. Append the rest first.",
    6122 DraftOverrun "The bytes run over the draft's announced length. Append at most what is missing.",
    6123 WrongDraftOffset "The offset is not where the draft ends. Append at its present length.",
    6124 NotDraftOwner "The draft belongs to somebody else. Use one of your own.",
    6125 DraftHashMismatch "The draft's bytes do not have the announced hash. Cancel it and begin again.",

    // FeedbackLog.
    6140 EmptyText "The text is empty. Write something.",
    6141 TextTooLong "The text is longer than 2048 bytes. Shorten it.",
    6142 TextNotUtf8 "The text is not valid UTF-8. Encode it as UTF-8.",
    6143 IndexTaken "Somebody else's entry took this index. Read the count and send again with the next one.",
    6144 NotMaintainer "Only the configured maintainer may resolve an entry. Sign with that key.",
    6145 ResolutionExists "The entry has a resolution already, and nothing edits or removes one.",
    6146 EntryMissing "There is no entry with this index. Pick an index below the count.",
}

#[cfg(feature = "program-error")]
impl From<Error> for solana_program_error::ProgramError {
    #[inline]
    fn from(error: Error) -> Self {
        solana_program_error::ProgramError::Custom(error.code())
    }
}
