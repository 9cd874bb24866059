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
    6009 WrongVersion "An account is of another edition of the programs. Use the programs and clients of that edition for it.",

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
    6025 WrongKey "The key account is not of this agent and this key. Derive it from both.",
    6026 KeyEnded "The key has ended. Use a live one, or list another.",
    6027 FormerHoldersKey "The key was listed by a wallet that does not hold the agent any more. Take over and list keys of your own.",
    6028 KeyNotYetValid "The key's notice has not passed. Use it from the epoch that its account names.",
    6029 ScopeMissing "The key does not have the scope that this needs. Use a key that has it.",

    // Money.
    6030 NotLegacyToken "The account does not belong to the legacy SPL Token program. Only that program's USDC is accepted.",
    6031 WrongUsdcMint "The mint or token account is not of the configured USDC mint. Use the mint in the configuration.",
    6032 WrongTokenAccountOwner "The token account belongs to another wallet than the one that must be paid or pay. Pass one of that wallet.",
    6033 NotTreasury "The token account does not belong to the configured treasury. Pass a USDC account of the treasury's wallet.",
    6034 InsufficientUsdc "The token account holds less USDC than the instruction takes. Fund it first.",

    // StakeLock.
    6040 StakeBelowMinimum "The stake would be or is below the configured minimum. Lock more.",
    6041 StakeMissing "The agent has no stake. Lock one with lock_stake first.",
    6042 UnlockAlreadyQueued "An unlock is queued already. Wait for its slot and claim.",
    6043 UnlockNotQueued "No unlock is queued. Queue one with queue_unlock first.",
    6044 UnlockDelayNotOver "The unlock delay has not passed. Claim at the slot that the stake account names, or later.",
    6045 OpenChallenges "A challenge against the agent is unresolved. Resolve it first.",
    6046 BatchInWindow "The agent's last batch can still be challenged. Wait until its window is over.",
    6047 UnlockQueued "An unlock is queued. Cancel it with cancel_unlock before you lock more.",
    6048 NotChallengeProgram "Only the Challenge program may call this instruction. Use its instructions instead.",
    6049 SlashExceedsStake "The amount is larger than the stake. Slash at most what is locked.",
    6050 NotUpgradeAuthority "Only the program's upgrade authority may write the configuration. Sign with that key.",
    6051 NoUpgradeAuthority "The program is immutable and has no upgrade authority, so its configuration can never be written.",
    6052 ConfigExists "The configuration is written once and exists already. Read it instead.",
    6053 WrongProgramData "The account is not StakeLock's ProgramData. Derive it from the program id and the upgradeable loader.",
    6054 NoOpenChallenge "No challenge is counted as open. Report this transaction as a defect.",
    6055 WrongRegistry "The account is not SATI's RegistryConfig. Derive it from the seed registry.",
    6056 InvalidConfig "A configured address or the network is zero. Name real ones.",
    6057 InvalidAmounts "The amounts do not fit each other: parts must not exceed their whole, and percentages must not exceed 100.",

    // BehaviorLog.
    6060 FutureEpoch "The batch's epoch lies in the future. Submit it after that epoch is over.",
    6061 CurrentEpoch "The batch's epoch is not over yet. Submit it in the next epoch.",
    6062 EpochTooOld "The batch is more than 3 epochs old. Submit a batch of a later epoch; it covers the older ones.",
    6063 EpochNotIncreasing "The agent has submitted a batch of this or a later epoch. Submit a later epoch.",
    6064 LengthTooLarge "A length is larger than 2^20. Split the log over more epochs.",
    6065 SignatureMissing "The instruction before this one is not an Ed25519 signature check. Put it there.",
    6066 SignatureCount "The Ed25519 instruction must check exactly one signature. Send one instruction for each.",
    6067 SignatureOffsets "The Ed25519 instruction must hold its own key, signature and message (indexes 0xFFFF, in bounds). Rebuild it.",
    6068 NotBatchMessage "The signed bytes are not a batch message. Sign the 237 bytes of docs/wire.md, \"Batch\".",
    6069 WrongSigner "The key that signed is not the one of the key account. Pass the signer's.",
    6070 WindowNotOver "The challenge window is not over. Wait until it is.",
    6071 WrongPayer "The rent goes to the wallet that paid it. Pass that wallet.",
    6072 WrongNetwork "The message was signed for another network. Sign it with this cluster's genesis hash.",
    6073 WrongPreviousDigest "The message does not follow the head's last batch. Read the head, and send nothing that was signed on another.",
    6074 WrongCoverage "The message covers other epochs than the batch would. Cover from the epoch after the last batch, of this tenure, at most 30.",
    6075 LengthRootMismatch "A tree of length 0 has the root zero, and no other has. Build the roots again.",
    6076 HeadMissing "The agent has no head. Open it with open_head first.",
    6077 BeforeTenure "The epoch lies before the present tenure. Submit a batch of a later epoch.",

    // Challenge.
    6080 UnknownGround "The ground is not one of 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid. Use one of them.",
    6081 MalformedEvidence "The evidence is malformed. Build it with the client library.",
    6082 EvidenceMissing "The leaf was given both inline and in a draft, or not at all. Give exactly one.",
    6083 WrongProofLength "The proof is shorter or longer than the tree's depth. Give ceil(log2(length)) hashes; one leaf needs none.",
    6084 IndexOutOfRange "The leaf's index lies outside the tree or in its padding. Count in the padded tree.",
    6085 ProofMismatch "The proof does not lead to the committed root. Build it from the served leaf hashes.",
    6086 EmptyTree "The batch commits to no entries there, so nothing can be proven in it.",
    6087 NotAgentsEntry "The entry was sent by somebody else. Only the agent's own messages and feedback about it prove something.",
    6088 NoGround "A message of this type gives no such ground. See the table of grounds in docs/protocol.md, 8.6.",
    6089 FeedbackBySelf "The feedback was given by the agent itself, and an agent's word about itself counts for nothing.",
    6090 FeedbackAboutAnother "The feedback is about another agent. Challenge that agent's batch.",
    6091 MalformedFeedback "The feedback payload does not parse, so no batch has to hold it.",
    6092 PayloadHashMismatch "The payload does not have the hash or length that was signed. Show the payload itself.",
    6093 PayloadNotAllowed "A payload is shown for a message that holds its own or needs none. Leave it out.",
    6094 PayloadTooLong "The envelope's payload is longer than 400 bytes. Challenge with the log entry instead.",
    6095 MalformedEntry "The log entry or envelope is not in canonical form. Pass its exact bytes.",
    6096 MalformedRecord "A record is not a packed bid record. Pass its exact bytes.",
    6097 NotDoubleBid "The two bids do not contradict each other. They need the same message and different values.",
    6098 ChallengeWindowOver "The batch can no longer be challenged. Its window is over.",
    6099 ChallengeExists "This claim is open already, of a rank that is not higher. Follow that one.",
    6100 AnswerTooLate "The challenge's window is over, so it can no longer be answered. Resolve it.",
    6101 AlreadyAnswered "The challenge is answered already, and settled.",
    6102 NoAnswer "Two contradicting bids have no answer. Nothing can be shown against them.",
    6103 AlreadyResolved "The challenge is resolved already. Close it to get its rent back.",
    6104 NotResolved "The challenge is not resolved yet. Resolve it first.",
    6105 EnvelopeOutsideEpochs "The envelope's timestamp lies outside the epochs that the batch covers. Challenge the batch that covers it.",
    6106 WrongEnvelopeSigner "The envelope was not signed by a deal key of the agent that was valid in its epoch.",
    6107 EraEmpty "Nothing is left of the era's stake, so nothing can be won. Challenge a batch of another era.",
    6108 WrongBatch "The account is not the challenged batch. Pass the batch that the challenge names.",
    6109 WrongRecord "The record shown is not in the batch at that place. Show the leaf and proof from the batch's data.",

    6110 LowerRankOpen "A lower rank is neither settled nor lapsed. Settle or pass it first.",
    6111 RankNotPassable "The rank is neither settled nor lapsed, or it is not the era's next. Pass lower ones first, or wait.",
    6112 RankNotPassed "The era's order has not moved past this rank. Pass it first.",
    6113 CommitMismatch "The rank was taken for other evidence or another batch. Begin again for this one.",
    6114 StrongerClaimOpen "The claim with the bid's value is open already, so the one without it is refused.",
    6115 WrongEraOfBatch "The batch is not of the era in which the rank was taken. Begin again in the batch's era.",
    6116 NotSealed "The evidence is not sealed. Seal it first.",
    6117 AlreadySealed "The evidence is sealed already. Submit it, or cancel it.",
    6118 AlreadyUsed "The draft was used already. Cancel it to get its rent back.",
    6119 UnknownTree "The tree is neither 0, the log, nor 1, the arrays.",

    // Drafts.
    6120 InvalidDraftLength "The draft's length is zero or more than allowed. Announce what will be written.",
    6121 DraftIncomplete "The draft is not completely written. Append the rest first.",
    6122 DraftOverrun "The bytes run over the draft's announced length. Append at most what is missing.",
    6123 WrongDraftOffset "The offset is not where the draft ends. Append at its present length.",
    6124 NotDraftOwner "The draft belongs to somebody else. Use one of your own.",
    6125 DraftHashMismatch "The draft's bytes do not have the announced hash. Cancel it and begin again.",

    // Asks.
    6130 AskTooLate "Leaves can be asked for in the first 216 000 slots of a batch's window.",
    6131 AskExists "This leaf is asked for already. Follow that ask.",
    6132 ShowTooLate "The time to show the leaf is over. Settle the ask.",
    6133 ShowNotOver "The leaf can still be shown. Settle the ask when its time is over.",
    6134 AskSettled "The ask is settled already. Close it to get its rent back.",
    6135 AskNotSettled "The ask is not settled. Show the leaf, or settle it.",
    6136 LowerAskOpen "An earlier ask of the era is not settled. Settle it first.",
    6137 WrongLeaf "The bytes are not the leaf at that place. Show the leaf and proof from the batch's data.",
    6138 BatchWithheld "The batch is marked already: a leaf that was asked for was not shown. Nothing more can be asked of it.",

    // FeedbackLog.
    6140 EmptyText "The text is empty. Write something.",
    6141 TextTooLong "The text is longer than 2048 bytes. Shorten it.",
    6142 TextNotUtf8 "The text is not valid UTF-8. Encode it as UTF-8.",
    6143 IndexTaken "Somebody else's entry took this index. Read the count and send again with the next one.",
    6144 NotMaintainer "Only the configured maintainer may resolve an entry. Sign with that key.",
    6145 ResolutionExists "The entry has a resolution already, and nothing edits or removes one.",
    6146 EntryMissing "There is no entry with this index. Pick an index below the count.",

    // Tenure, keys, eras.
    6200 TenureMissing "The agent has no tenure. Open one with open_tenure first.",
    6201 NotTenureOwner "The agent is in another wallet's tenure. Take over first.",
    6202 TenureIsYours "The agent is in your tenure already, so there is nothing to take over.",
    6203 LiveKeysMissing "Every live key must be named, and nothing else. Read the agent's keys again.",
    6204 TooManyKeys "The agent has 8 live keys already. End one first.",
    6205 InvalidScopes "The scopes are none, or more than pay, batch, deal and peer. Choose from those.",
    6206 KeyNotEnded "The key is live. End it first.",
    6207 KeyStillNeeded "A batch that covers the key's epochs can still land or be challenged. Close it later.",
    6208 WrongEra "The era is neither the present one nor one that may follow it. Read the tenure again.",
    6209 EraEnded "The era has ended. Lock a stake in the next one.",
    6210 EraChallenged "A challenge against the era is open. Wait until it is settled, or lock a stake in the next era.",
    6211 EraNotEnded "The era has no open challenge and has not ended. Lock in it instead.",
    6212 NotStakeOwner "The stake belongs to the wallet that locked it. Sign with that wallet.",
    6213 VaultMissing "The vault of the agent's shard does not exist. Make it with open_vault first.",
    6214 VaultShort "The vault holds less than it owes. Report this transaction as a defect.",
    6215 DepositsUnbalanced "What goes out is not what comes in. Report this transaction as a defect.",
    6216 RanksOutstanding "Ranks of the era are not settled. Pass them first.",
}

#[cfg(feature = "program-error")]
impl From<Error> for solana_program_error::ProgramError {
    #[inline]
    fn from(error: Error) -> Self {
        solana_program_error::ProgramError::Custom(error.code())
    }
}
