-- What the agent relay keeps. Keys are 32 bytes; times are Unix milliseconds.

-- Every key that has identified, with the id that its first spelling gave it.
CREATE TABLE identities (
  key BYTEA PRIMARY KEY NOT NULL,
  id  TEXT UNIQUE NOT NULL
);

CREATE TABLE ratings (
  key          BYTEA PRIMARY KEY NOT NULL,
  rating       BIGINT NOT NULL,
  transactions BIGINT NOT NULL
);

-- Completions of a pair that moved ratings: the last one, and how many. The lesser key comes first.
CREATE TABLE pairs (
  a     BYTEA NOT NULL,
  b     BYTEA NOT NULL,
  last  BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (a, b)
);

-- Proposals as JSON. `ended` ones are history.
CREATE TABLE proposals (
  id         TEXT PRIMARY KEY NOT NULL,
  body       TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  ended      BIGINT NOT NULL
);
CREATE INDEX proposals_by_end ON proposals (ended, updated_at);

-- A subject is a key in hex, or @ and an id.
CREATE TABLE bans (
  subject TEXT PRIMARY KEY NOT NULL,
  reason  TEXT NOT NULL,
  at      BIGINT NOT NULL
);

CREATE TABLE allowed (
  key  BYTEA PRIMARY KEY NOT NULL,
  note TEXT,
  at   BIGINT NOT NULL
);

-- The last messages of a channel, as JSON.
CREATE TABLE buffers (
  channel TEXT PRIMARY KEY NOT NULL,
  body    TEXT NOT NULL
);

-- Ratings of an older server, by its 16-digit ids, until the key identifies here.
CREATE TABLE imported (
  id           TEXT PRIMARY KEY NOT NULL,
  rating       BIGINT NOT NULL,
  transactions BIGINT NOT NULL
);
