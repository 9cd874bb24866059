-- The indexer. Addresses, hashes and signatures are raw bytes; amounts are whole micro-USDC, Nano amounts text;
-- times are Unix seconds but for `at`, which is milliseconds. Everything but `stream` and `envelopes` can be
-- rebuilt from the ledgers.

-- Facts about the database itself: cluster, cursor, digest.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Every event of the five programs and every registration, once. Their order is slot, position, ordinal.
CREATE TABLE events (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  slot         BIGINT NOT NULL,
  position     BIGINT NOT NULL,
  ordinal      BIGINT NOT NULL,
  signature    BLOB NOT NULL,
  block_time   BIGINT,
  program      BIGINT NOT NULL,
  name         TEXT NOT NULL,
  account      BLOB NOT NULL,
  created_slot BIGINT NOT NULL,
  sequence     BIGINT NOT NULL,
  agent        BLOB,
  payload      BLOB NOT NULL,
  -- The slot first: what is written next lies beside what was written last. A signature alone is as random as
  -- anything can be, and a million of them make each commit touch the whole index.
  UNIQUE (slot, signature, ordinal)
);
CREATE INDEX events_by_place ON events (slot, position, ordinal);
CREATE INDEX events_by_name ON events (name, slot, position, ordinal);
CREATE INDEX events_by_agent ON events (agent, slot, position, ordinal) WHERE agent IS NOT NULL;
CREATE INDEX events_by_life ON events (account, created_slot, sequence);

-- One row a life of an account: how many of its events are here.
CREATE TABLE lives (
  account      BLOB NOT NULL,
  created_slot BIGINT NOT NULL,
  events       BIGINT NOT NULL,
  last         BIGINT NOT NULL,
  PRIMARY KEY (account, created_slot)
) WITHOUT ROWID;

-- Sequence numbers that are missing, or were.
CREATE TABLE gaps (
  account      BLOB NOT NULL,
  created_slot BIGINT NOT NULL,
  first        BIGINT NOT NULL,
  last         BIGINT NOT NULL,
  found_slot   BIGINT NOT NULL,
  state        TEXT NOT NULL,
  PRIMARY KEY (account, created_slot, first)
) WITHOUT ROWID;

CREATE TABLE agents (
  mint               BLOB PRIMARY KEY NOT NULL,
  number             BIGINT NOT NULL,
  name               TEXT NOT NULL,
  symbol             TEXT NOT NULL,
  uri                TEXT NOT NULL,
  metadata           TEXT NOT NULL,
  soulbound          BIGINT NOT NULL,
  owner              BLOB,
  token              BLOB,
  member_index       BLOB,
  delegates          TEXT NOT NULL,
  identified         BIGINT NOT NULL,
  registered_slot    BIGINT,
  tenure             BIGINT,
  tenure_owner       BLOB,
  tenure_from        BIGINT,
  tenure_slot        BIGINT,
  era                BIGINT NOT NULL,
  stake              BIGINT,
  open_challenges    BIGINT NOT NULL,
  slashed            BIGINT NOT NULL,
  fined              BIGINT NOT NULL,
  paid_through       BIGINT,
  lease_paid_slot    BIGINT,
  lease_paid         BIGINT NOT NULL,
  batches            BIGINT NOT NULL,
  last_epoch         BIGINT,
  last_batch_slot    BIGINT,
  first_epoch        BIGINT,
  head_digest        BLOB NOT NULL,
  missing            BIGINT NOT NULL,
  withheld           BIGINT NOT NULL,
  challenges_answered BIGINT NOT NULL,
  challenges_lost    BIGINT NOT NULL,
  asks_open          BIGINT NOT NULL,
  asks_shown         BIGINT NOT NULL,
  asks_withheld      BIGINT NOT NULL,
  reliability        BIGINT NOT NULL,
  cooperation        BIGINT NOT NULL,
  notary             BIGINT NOT NULL,
  tasks              BIGINT NOT NULL,
  notarized          BIGINT NOT NULL,
  disputes           BIGINT NOT NULL,
  counted_batches    BIGINT NOT NULL,
  reputation_slot    BIGINT NOT NULL,
  reputation         TEXT NOT NULL,
  nano_address       TEXT,
  nano_balance       TEXT,
  nano_receivable    TEXT,
  nano_checked       BIGINT,
  last_active        BIGINT,
  search             TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX agents_by_number ON agents (number, mint);
CREATE INDEX agents_by_owner ON agents (owner);

-- Whose turn an agent was, and from which epoch on.
CREATE TABLE tenures (
  agent      BLOB NOT NULL,
  number     BIGINT NOT NULL,
  owner      BLOB NOT NULL,
  from_epoch BIGINT NOT NULL,
  slot       BIGINT,
  PRIMARY KEY (agent, number)
) WITHOUT ROWID;

-- Keys, one row a life of their accounts.
CREATE TABLE keys (
  agent        BLOB NOT NULL,
  key          BLOB NOT NULL,
  created_slot BIGINT NOT NULL,
  owner        BLOB NOT NULL,
  tenure       BIGINT NOT NULL,
  scopes       BIGINT NOT NULL,
  from_epoch   BIGINT NOT NULL,
  until_epoch  BIGINT,
  ended_slot   BIGINT,
  closed       BIGINT NOT NULL,
  PRIMARY KEY (agent, key, created_slot)
) WITHOUT ROWID;

-- Stakes of eras. An era is never used twice.
CREATE TABLE stakes (
  agent           BLOB NOT NULL,
  era             BIGINT NOT NULL,
  owner           BLOB NOT NULL,
  stake           BIGINT NOT NULL,
  pot             BIGINT NOT NULL,
  since           BIGINT,
  created_slot    BIGINT,
  unlock_slot     BIGINT,
  ended_slot      BIGINT,
  slashed_slot    BIGINT,
  open_challenges BIGINT NOT NULL,
  claimed_slot    BIGINT,
  PRIMARY KEY (agent, era)
) WITHOUT ROWID;

CREATE TABLE batches (
  agent          BLOB NOT NULL,
  epoch          BIGINT NOT NULL,
  covers_from    BIGINT NOT NULL,
  era            BIGINT NOT NULL,
  tenure         BIGINT NOT NULL,
  submitted_slot BIGINT NOT NULL,
  block_time     BIGINT,
  signature      BLOB NOT NULL,
  signer         BLOB NOT NULL,
  payer          BLOB NOT NULL,
  previous_digest BLOB NOT NULL,
  batch_hash     BLOB NOT NULL,
  log_root       BLOB NOT NULL,
  log_len        BIGINT NOT NULL,
  arrays_root    BLOB NOT NULL,
  arrays_len     BIGINT NOT NULL,
  open           BIGINT NOT NULL,
  withheld_slot  BIGINT,
  challenges     BIGINT NOT NULL,
  data_bytes     BIGINT,
  content        TEXT,
  PRIMARY KEY (agent, epoch)
) WITHOUT ROWID;
CREATE INDEX batches_by_slot ON batches (submitted_slot, agent, epoch);

-- What served batches say about conversations: whom an agent selected, and whom it made a verifier (decision D2).
CREATE TABLE conversations (
  conversation BLOB NOT NULL,
  agent        BLOB NOT NULL,
  other        BLOB NOT NULL,
  kind         BIGINT NOT NULL,
  epoch        BIGINT NOT NULL,
  PRIMARY KEY (conversation, agent, other, kind, epoch)
) WITHOUT ROWID;
CREATE INDEX conversations_by_batch ON conversations (agent, epoch);

-- The feedback events of served batches, in their order.
CREATE TABLE batch_ratings (
  agent        BLOB NOT NULL,
  epoch        BIGINT NOT NULL,
  entry        BIGINT NOT NULL,
  rater        BLOB NOT NULL,
  conversation BLOB NOT NULL,
  score        BIGINT NOT NULL,
  outcome      BIGINT NOT NULL,
  role         BIGINT NOT NULL,
  slot         BIGINT NOT NULL,
  PRIMARY KEY (agent, epoch, entry)
) WITHOUT ROWID;

CREATE TABLE counterparties (
  agent      BLOB NOT NULL,
  other      BLOB NOT NULL,
  epoch      BIGINT NOT NULL,
  bids       BIGINT NOT NULL,
  selections BIGINT NOT NULL,
  verifiers  BIGINT NOT NULL,
  ratings    BIGINT NOT NULL,
  last_slot  BIGINT NOT NULL,
  PRIMARY KEY (agent, other, epoch)
) WITHOUT ROWID;

-- Signed ratings that were heard. `hash` is keccak256 of the log entry: the leaf under a log root.
CREATE TABLE envelopes (
  hash         BLOB PRIMARY KEY NOT NULL,
  rater        BLOB NOT NULL,
  target       BLOB NOT NULL,
  conversation BLOB NOT NULL,
  score        BIGINT NOT NULL,
  outcome      BIGINT NOT NULL,
  role         BIGINT NOT NULL,
  is_dispute   BIGINT NOT NULL,
  slot         BIGINT NOT NULL,
  timestamp    BIGINT NOT NULL,
  signer       BLOB NOT NULL,
  at           BIGINT NOT NULL,
  cbor         BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX envelopes_by_target ON envelopes (target, timestamp, hash);
CREATE INDEX envelopes_by_rater ON envelopes (rater);

CREATE TABLE challenges (
  address          BLOB NOT NULL,
  submitted_slot   BIGINT NOT NULL,
  agent            BLOB NOT NULL,
  epoch            BIGINT NOT NULL,
  era              BIGINT NOT NULL,
  rank             BIGINT NOT NULL,
  claim            BLOB NOT NULL,
  challenger       BLOB NOT NULL,
  first_challenger BLOB NOT NULL,
  ground           BIGINT NOT NULL,
  value_known      BIGINT NOT NULL,
  entry_hash       BLOB NOT NULL,
  draft            BLOB NOT NULL,
  signature        BLOB NOT NULL,
  expected         BLOB,
  outcome          BIGINT NOT NULL,
  settled_slot     BIGINT,
  answerer         BLOB,
  leaf_index       BIGINT,
  to_stake         BIGINT,
  to_answerer      BIGINT,
  slashed          BIGINT,
  reward           BIGINT,
  closed           BIGINT NOT NULL,
  PRIMARY KEY (address, submitted_slot)
) WITHOUT ROWID;
CREATE INDEX challenges_by_slot ON challenges (submitted_slot, address);
CREATE INDEX challenges_by_agent ON challenges (agent, submitted_slot);

-- Asks for leaves of batches.
CREATE TABLE asks (
  address      BLOB NOT NULL,
  created_slot BIGINT NOT NULL,
  agent        BLOB NOT NULL,
  epoch        BIGINT NOT NULL,
  era          BIGINT NOT NULL,
  rank         BIGINT NOT NULL,
  tree         BIGINT NOT NULL,
  leaf_index   BIGINT NOT NULL,
  asker        BLOB NOT NULL,
  signature    BLOB NOT NULL,
  state        BIGINT NOT NULL,
  settled_slot BIGINT,
  shower       BLOB,
  leaf_hash    BLOB,
  fine         BIGINT,
  to_asker     BIGINT,
  closed       BIGINT NOT NULL,
  PRIMARY KEY (address, created_slot)
) WITHOUT ROWID;
CREATE INDEX asks_by_slot ON asks (created_slot, address);
CREATE INDEX asks_by_agent ON asks (agent, created_slot);

CREATE TABLE feedback (
  number          BIGINT PRIMARY KEY NOT NULL,
  timestamp       BIGINT NOT NULL,
  slot            BIGINT NOT NULL,
  sender          BLOB NOT NULL,
  payer           BLOB NOT NULL,
  text            TEXT,
  previous_head   BLOB,
  head            BLOB NOT NULL,
  signature       BLOB,
  resolution_slot BIGINT,
  contract_hash   BLOB,
  fix_commit      BLOB,
  maintainer      BLOB
) WITHOUT ROWID;
CREATE INDEX feedback_by_sender ON feedback (sender, number);

-- The markets' contracts, with transcripts as they were sent.
CREATE TABLE contracts (
  market      TEXT NOT NULL,
  id          TEXT NOT NULL,
  state       TEXT NOT NULL,
  principal   TEXT NOT NULL,
  agent       TEXT,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  summary     TEXT NOT NULL,
  view        TEXT NOT NULL,
  conversation BLOB,
  settled     BIGINT NOT NULL,
  PRIMARY KEY (market, id)
) WITHOUT ROWID;
CREATE INDEX contracts_by_age ON contracts (created_at, market, id);
CREATE INDEX contracts_by_conversation ON contracts (conversation) WHERE conversation IS NOT NULL;

-- Records that bind a wallet to a Nano account; the latest of a wallet counts.
CREATE TABLE bindings (
  wallet  BLOB PRIMARY KEY NOT NULL,
  nano    TEXT NOT NULL,
  created BIGINT NOT NULL,
  record  TEXT NOT NULL
) WITHOUT ROWID;

-- Who stood how when an epoch ended, for plots.
CREATE TABLE epochs (
  agent        BLOB NOT NULL,
  epoch        BIGINT NOT NULL,
  stake        BIGINT NOT NULL,
  paid_through BIGINT,
  reliability  BIGINT NOT NULL,
  cooperation  BIGINT NOT NULL,
  notary       BIGINT NOT NULL,
  PRIMARY KEY (agent, epoch)
) WITHOUT ROWID;

-- The streams' events. `origin` makes each one once; `retracts` names one whose slot vanished.
CREATE TABLE stream (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT NOT NULL,
  origin     TEXT NOT NULL UNIQUE,
  slot       BIGINT,
  agent      BLOB,
  signature  BLOB,
  at         BIGINT NOT NULL,
  body       TEXT NOT NULL
);
CREATE INDEX stream_by_signature ON stream (signature) WHERE signature IS NOT NULL;
CREATE INDEX stream_by_age ON stream (at);
CREATE INDEX stream_by_agent ON stream (agent, id) WHERE agent IS NOT NULL;
