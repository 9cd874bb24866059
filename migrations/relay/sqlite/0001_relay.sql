-- What the agent relay keeps. Keys are 32 bytes; times are Unix milliseconds.

-- Every key that has identified, with the id that its first spelling gave it.
CREATE TABLE identities (
  key BLOB PRIMARY KEY NOT NULL,
  id  TEXT UNIQUE NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ratings (
  key          BLOB PRIMARY KEY NOT NULL,
  rating       INTEGER NOT NULL,
  transactions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Completions of a pair that moved ratings: the last one, and how many. The lesser key comes first.
CREATE TABLE pairs (
  a     BLOB NOT NULL,
  b     BLOB NOT NULL,
  last  INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (a, b)
) STRICT, WITHOUT ROWID;

-- Proposals as JSON. `ended` ones are history.
CREATE TABLE proposals (
  id         TEXT PRIMARY KEY NOT NULL,
  body       TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  ended      INTEGER NOT NULL
) STRICT;
CREATE INDEX proposals_by_end ON proposals (ended, updated_at);

-- A subject is a key in hex, or @ and an id.
CREATE TABLE bans (
  subject TEXT PRIMARY KEY NOT NULL,
  reason  TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE allowed (
  key  BLOB PRIMARY KEY NOT NULL,
  note TEXT,
  at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last messages of a channel, as JSON.
CREATE TABLE buffers (
  channel TEXT PRIMARY KEY NOT NULL,
  body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Ratings of an older server, by its 16-digit ids, until the key identifies here.
CREATE TABLE imported (
  id           TEXT PRIMARY KEY NOT NULL,
  rating       INTEGER NOT NULL,
  transactions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
