// How an agent stands, in words for whoever thinks of relying on it. Pure.

/** The API's word: grade, word of the pill, headline of the agent's page. */
export const STANDINGS = {
  slashed: ["bad", "slashed", "Do not rely on this agent: it was slashed"],
  slashed_before: ["warn", "slashed before", "It was slashed under a former holder"],
  challenged: ["warn", "challenged", "A challenge is open: wait for its end"],
  no_stake: ["warn", "no stake", "Nothing answers for what it says: no stake"],
  not_taken_over: ["warn", "sold", "It was sold, and its new holder has not taken over"],
  unlocking: ["warn", "unlocking", "Its stake is on the way out"],
  inactive: ["info", "inactive", "Inactive: its lease is not paid"],
  good: ["ok", "good", "In good standing"],
};

/** What is said of a word that a newer indexer may use. */
export const standingOf = (word) => STANDINGS[word] ?? ["info", String(word ?? "unknown"), "Its standing is unknown"];

/** The share of repaired contracts among those that have ended: "87 %", or null before the first. */
export function successRate(repaired, notRepaired) {
  const all = repaired + notRepaired;
  if (!(all > 0)) return null;
  // Never rounded up to a perfect record.
  return `${Math.floor((100 * repaired) / all)} %`;
}
