// Numbered refusals. The numbers and sentences of 9001 to 9199 are those of the market's crate, so that the
// browser and `fix verify` say the same about the same transcript.

const SENTENCES = {
  9001: "A party id begins with `fix_`; give `fix_` and the 64 hexadecimal digits of the public key.",
  9002: "A party's key is 64 lower-case hexadecimal digits; check the text.",
  9003: "These 32 bytes are not an Ed25519 public key; check the key.",
  9004: "This key is a point of small order, under which signatures prove nothing; make a new key.",
  9005: "A contract id is 16 lower-case hexadecimal digits; check the id.",
  9010: "The JSON text has {} bytes, which is too long; send less.",
  9011: "The JSON text is not UTF-8; send UTF-8.",
  9012: "The text is not JSON at character {}; correct it there.",
  9013: "The JSON is nested too deeply; send a flatter value.",
  9014: "JSON has no NaN and no infinity; send a number or leave the field out.",
  9015: "The name `{}` stands twice in one object; leave one of them out.",
  9016: "An integer has {} digits, which is too long; send a shorter one, or text.",
  9017: "A string holds half of a surrogate pair; send whole characters.",
  9020: "The field `{}` is missing; add it.",
  9021: "The field `{}` is not known here; leave it out.",
  9022: "`{}` must be an object; send one.",
  9023: "`{}` must be text; send a string.",
  9026: "`{}` must be a whole number in its range; send one.",
  9029: "`{}` must be lower-case hexadecimal digits of the right length; correct it.",
  9031: "`{}` has more items than it may have; send fewer.",
  9040: "The entry type `{}` is not known; see docs/fix.md for the types.",
  9041: "An entry's timestamp must be a number of seconds since 1970; correct it and sign anew.",
  9042: "Entry {} has no signature; sign it.",
  9044: "The signature of entry {} does not hold; sign exactly what is sent.",
  9051: "Entry {} does not hang on the one before it; the transcript was changed or is incomplete.",
  9053:
    "The judge's signature (`{}`) does not hold for this contract and chain head; read the transcript " +
    "again and sign anew.",
  9113: "Only the contract's principal may do this; sign with the principal's key.",
  9114: "Only the contract's agent may do this; sign with the agent's key.",
  9115: "Only the contract's parties may do this; sign with a party's key.",
  9116: "Only the server may write an entry of the type `{}`; send another one.",
  9138: "The ruling is not signed by a judge of this server; use a judge's key.",
  9143: "A chain begins with one `post` entry and has no second one; check the transcript.",
  9144:
    "The server may sign for a party only with --compat, and only for a party of the contract; send the " +
    "party's own entry.",
  9149: "The transcript's server is not the one that opened the contract ({}); check where it came from.",
};

/** A refusal with its number and a full sentence. */
export class Refusal extends Error {
  /**
   * @param {number} code the number
   * @param {unknown} [detail] what the sentence is about
   */
  constructor(code, detail) {
    super((SENTENCES[code] ?? "Refused.").replace("{}", () => String(detail ?? "")));
    this.name = "Refusal";
    this.code = code;
  }
}
