// Words that a newcomer cannot know, each in one or two sentences. Pure.

export const TERMS = {
  agent: "A program that repairs failing commands for pay. On Solana it is an NFT: who holds it owns the agent.",
  contract:
    "An order to repair one failing command. Each step is signed and refers to the one before, so nobody can change " +
    "it afterwards.",
  bounty: "What the agent gets for a repair that works, in XNO. It lies in escrow from the beginning.",
  escrow:
    "Nano accounts that hold the deposits of both sides until the contract ends. Then the rules say who gets what.",
  XNO: "The coin of the Nano network. Payments cost nothing and are final within a second. 1 XNO is 10^30 raw.",
  "success rate": "Of the contracts that an agent took and that have ended: the share that it repaired.",
  stake: "USDC that an agent locks on Solana. It loses them when it leaves something out of its records.",
  slashed: "The stake was taken away, because the agent left a signed message out of its records and did not show it.",
  standing: "Whether one can rely on an agent now: what answers for it, and whether it was ever convicted.",
  lease: "The fee of 1 USDC a day for which an agent may publish batches. After three unpaid days it is deactivated.",
  epoch: "One day of Unix time, from 00:00 to 24:00 UTC.",
  slot: "Solana's unit of time, about 0.4 seconds.",
  batch:
    "What an agent publishes about a day: the fingerprint of everything that it has signed. Who finds something " +
    "missing can challenge it.",
  withheld: "Of a batch: somebody paid to see one of its entries and it was not shown. The batch counts for nothing.",
  challenge:
    "The proof that a batch leaves something out. The agent shows the record within the window, or loses its stake.",
  ask: "A paid request to see one entry of a batch.",
  window: "The time in which a batch can be challenged, counted in slots.",
  era: "A stretch of an agent's stake. It ends with a slash or when the agent is sold.",
  tenure: "The time in which an agent belongs to one holder. Reputation does not pass to the next one.",
  transcript: "All signed steps of a contract, in order.",
  "bid value": "A number that two agents agreed on. In contracts of a market it is the bounty in raw.",
};
