-- The indexer. Addresses, hashes and signatures are raw bytes; amounts are whole micro-USDC, Nano amounts text;
-- times are Unix seconds but for `at`, which is milliseconds. Everything but `stream` and `envelopes` can be
-- rebuilt from the ledgers.

-- Facts about the database itself: cluster, cursor, digest.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
);

-- Every event of the five programs and every registration, once. Their order is slot, position, ordinal.
CREATE TABLE events (
  id           BIGSERIAL PRIMARY KEY,
  slot         BIGINT NOT NULL,
  position     BIGINT NOT NULL,
  ordinal      BIGINT NOT NULL,
  signature    BYTEA NOT NULL,
  block_time   BIGINT,
  program      BIGINT NOT NULL,
  name         TEXT NOT NULL,
  account      BYTEA NOT NULL,
  created_slot BIGINT NOT NULL,
  sequence     BIGINT NOT NULL,
  agent        BYTEA,
  payload      BYTEA NOT NULL,
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
  account      BYTEA NOT NULL,
  created_slot BIGINT NOT NULL,
  events       BIGINT NOT NULL,
  last         BIGINT NOT NULL,
  PRIMARY KEY (account, created_slot)
);

-- Sequence numbers that are missing, or were.
CREATE TABLE gaps (
  account      BYTEA NOT NULL,
  created_slot BIGINT NOT NULL,
  first        BIGINT NOT NULL,
  last         BIGINT NOT NULL,
  found_slot   BIGINT NOT NULL,
  state        TEXT NOT NULL,
  PRIMARY KEY (account, created_slot, first)
);

CREATE TABLE agents (
  mint               BYTEA PRIMARY KEY NOT NULL,
  number             BIGINT NOT NULL,
  name               TEXT NOT NULL,
  symbol             TEXT NOT NULL,
  uri                TEXT NOT NULL,
  metadata           TEXT NOT NULL,
  soulbound          BIGINT NOT NULL,
  owner              BYTEA,
  token              BYTEA,
  member_index       BYTEA,
  delegates          TEXT NOT NULL,
  identified         BIGINT NOT NULL,
  registered_slot    BIGINT,
  tenure             BIGINT,
  tenure_owner       BYTEA,
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
  head_digest        BYTEA NOT NULL,
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
);
CREATE INDEX agents_by_number ON agents (number, mint);
CREATE INDEX agents_by_owner ON agents (owner);

-- Whose turn an agent was, and from which epoch on.
CREATE TABLE tenures (
  agent      BYTEA NOT NULL,
  number     BIGINT NOT NULL,
  owner      BYTEA NOT NULL,
  from_epoch BIGINT NOT NULL,
  slot       BIGINT,
  PRIMARY KEY (agent, number)
);

-- Keys, one row a life of their accounts.
CREATE TABLE keys (
  agent        BYTEA NOT NULL,
  key          BYTEA NOT NULL,
  created_slot BIGINT NOT NULL,
  owner        BYTEA NOT NULL,
  tenure       BIGINT NOT NULL,
  scopes       BIGINT NOT NULL,
  from_epoch   BIGINT NOT NULL,
  until_epoch  BIGINT,
  ended_slot   BIGINT,
  closed       BIGINT NOT NULL,
  PRIMARY KEY (agent, key, created_slot)
);

-- Stakes of eras. An era is never used twice.
CREATE TABLE stakes (
  agent           BYTEA NOT NULL,
  era             BIGINT NOT NULL,
  owner           BYTEA NOT NULL,
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
);

CREATE TABLE batches (
  agent          BYTEA NOT NULL,
  epoch          BIGINT NOT NULL,
  covers_from    BIGINT NOT NULL,
  era            BIGINT NOT NULL,
  tenure         BIGINT NOT NULL,
  submitted_slot BIGINT NOT NULL,
  block_time     BIGINT,
  signature      BYTEA NOT NULL,
  signer         BYTEA NOT NULL,
  payer          BYTEA NOT NULL,
  previous_digest BYTEA NOT NULL,
  batch_hash     BYTEA NOT NULL,
  log_root       BYTEA NOT NULL,
  log_len        BIGINT NOT NULL,
  arrays_root    BYTEA NOT NULL,
  arrays_len     BIGINT NOT NULL,
  open           BIGINT NOT NULL,
  withheld_slot  BIGINT,
  challenges     BIGINT NOT NULL,
  data_bytes     BIGINT,
  content        TEXT,
  PRIMARY KEY (agent, epoch)
);
CREATE INDEX batches_by_slot ON batches (submitted_slot, agent, epoch);

-- What served batches say about conversations: whom an agent selected, and whom it made a verifier (decision D2).
CREATE TABLE conversations (
  conversation BYTEA NOT NULL,
  agent        BYTEA NOT NULL,
  other        BYTEA NOT NULL,
  kind         BIGINT NOT NULL,
  epoch        BIGINT NOT NULL,
  PRIMARY KEY (conversation, agent, other, kind, epoch)
);
CREATE INDEX conversations_by_batch ON conversations (agent, epoch);

-- The feedback events of served batches, in their order.
CREATE TABLE batch_ratings (
  agent        BYTEA NOT NULL,
  epoch        BIGINT NOT NULL,
  entry        BIGINT NOT NULL,
  rater        BYTEA NOT NULL,
  conversation BYTEA NOT NULL,
  score        BIGINT NOT NULL,
  outcome      BIGINT NOT NULL,
  role         BIGINT NOT NULL,
  slot         BIGINT NOT NULL,
  PRIMARY KEY (agent, epoch, entry)
);

CREATE TABLE counterparties (
  agent      BYTEA NOT NULL,
  other      BYTEA NOT NULL,
  epoch      BIGINT NOT NULL,
  bids       BIGINT NOT NULL,
  selections BIGINT NOT NULL,
  verifiers  BIGINT NOT NULL,
  ratings    BIGINT NOT NULL,
  last_slot  BIGINT NOT NULL,
  PRIMARY KEY (agent, other, epoch)
);

-- Signed ratings that were heard. `hash` is keccak256 of the log entry: the leaf under a log root.
CREATE TABLE envelopes (
  hash         BYTEA PRIMARY KEY NOT NULL,
  rater        BYTEA NOT NULL,
  target       BYTEA NOT NULL,
  conversation BYTEA NOT NULL,
  score        BIGINT NOT NULL,
  outcome      BIGINT NOT NULL,
  role         BIGINT NOT NULL,
  is_dispute   BIGINT NOT NULL,
  slot         BIGINT NOT NULL,
  timestamp    BIGINT NOT NULL,
  signer       BYTEA NOT NULL,
  at           BIGINT NOT NULL,
  cbor         BYTEA NOT NULL
);
CREATE INDEX envelopes_by_target ON envelopes (target, timestamp, hash);
CREATE INDEX envelopes_by_rater ON envelopes (rater);

CREATE TABLE challenges (
  address          BYTEA NOT NULL,
  submitted_slot   BIGINT NOT NULL,
  agent            BYTEA NOT NULL,
  epoch            BIGINT NOT NULL,
  era              BIGINT NOT NULL,
  rank             BIGINT NOT NULL,
  claim            BYTEA NOT NULL,
  challenger       BYTEA NOT NULL,
  first_challenger BYTEA NOT NULL,
  ground           BIGINT NOT NULL,
  value_known      BIGINT NOT NULL,
  entry_hash       BYTEA NOT NULL,
  draft            BYTEA NOT NULL,
  signature        BYTEA NOT NULL,
  expected         BYTEA,
  outcome          BIGINT NOT NULL,
  settled_slot     BIGINT,
  answerer         BYTEA,
  leaf_index       BIGINT,
  to_stake         BIGINT,
  to_answerer      BIGINT,
  slashed          BIGINT,
  reward           BIGINT,
  closed           BIGINT NOT NULL,
  PRIMARY KEY (address, submitted_slot)
);
CREATE INDEX challenges_by_slot ON challenges (submitted_slot, address);
CREATE INDEX challenges_by_agent ON challenges (agent, submitted_slot);

-- Asks for leaves of batches.
CREATE TABLE asks (
  address      BYTEA NOT NULL,
  created_slot BIGINT NOT NULL,
  agent        BYTEA NOT NULL,
  epoch        BIGINT NOT NULL,
  era          BIGINT NOT NULL,
  rank         BIGINT NOT NULL,
  tree         BIGINT NOT NULL,
  leaf_index   BIGINT NOT NULL,
  asker        BYTEA NOT NULL,
  signature    BYTEA NOT NULL,
  state        BIGINT NOT NULL,
  settled_slot BIGINT,
  shower       BYTEA,
  leaf_hash    BYTEA,
  fine         BIGINT,
  to_asker     BIGINT,
  closed       BIGINT NOT NULL,
  PRIMARY KEY (address, created_slot)
);
CREATE INDEX asks_by_slot ON asks (created_slot, address);
CREATE INDEX asks_by_agent ON asks (agent, created_slot);

CREATE TABLE feedback (
  number          BIGINT PRIMARY KEY NOT NULL,
  timestamp       BIGINT NOT NULL,
  slot            BIGINT NOT NULL,
  sender          BYTEA NOT NULL,
  payer           BYTEA NOT NULL,
  text            TEXT,
  previous_head   BYTEA,
  head            BYTEA NOT NULL,
  signature       BYTEA,
  resolution_slot BIGINT,
  contract_hash   BYTEA,
  fix_commit      BYTEA,
  maintainer      BYTEA
);
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
  conversation BYTEA,
  settled     BIGINT NOT NULL,
  PRIMARY KEY (market, id)
);
CREATE INDEX contracts_by_age ON contracts (created_at, market, id);
CREATE INDEX contracts_by_conversation ON contracts (conversation) WHERE conversation IS NOT NULL;

-- Records that bind a wallet to a Nano account; the latest of a wallet counts.
CREATE TABLE bindings (
  wallet  BYTEA PRIMARY KEY NOT NULL,
  nano    TEXT NOT NULL,
  created BIGINT NOT NULL,
  record  TEXT NOT NULL
);

-- Who stood how when an epoch ended, for plots.
CREATE TABLE epochs (
  agent        BYTEA NOT NULL,
  epoch        BIGINT NOT NULL,
  stake        BIGINT NOT NULL,
  paid_through BIGINT,
  reliability  BIGINT NOT NULL,
  cooperation  BIGINT NOT NULL,
  notary       BIGINT NOT NULL,
  PRIMARY KEY (agent, epoch)
);

-- The streams' events. `origin` makes each one once; `retracts` names one whose slot vanished.
CREATE TABLE stream (
  id         BIGSERIAL PRIMARY KEY,
  kind       TEXT NOT NULL,
  origin     TEXT NOT NULL UNIQUE,
  slot       BIGINT,
  agent      BYTEA,
  signature  BYTEA,
  at         BIGINT NOT NULL,
  body       TEXT NOT NULL
);
CREATE INDEX stream_by_signature ON stream (signature) WHERE signature IS NOT NULL;
CREATE INDEX stream_by_age ON stream (at);
CREATE INDEX stream_by_agent ON stream (agent, id) WHERE agent IS NOT NULL;
