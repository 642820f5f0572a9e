-- Schema 2. Times in milliseconds since 1970; digests as their 32 bytes; JSON as text.

CREATE TABLE store (
  id      TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;

-- Plans, catalogs, policies and inputs: bytes as they were.
CREATE TABLE document (
  digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
  bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE run (
  id            TEXT NOT NULL PRIMARY KEY,
  plan          BLOB NOT NULL REFERENCES document (digest),
  catalog       BLOB NOT NULL REFERENCES document (digest),
  policy        BLOB NOT NULL REFERENCES document (digest),
  inputs        BLOB NOT NULL REFERENCES document (digest),
  requester     TEXT NOT NULL,
  author        TEXT NOT NULL,
  title         TEXT NOT NULL,
  hold_siblings INTEGER NOT NULL CHECK (hold_siblings IN (0, 1)),
  created       INTEGER NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('running', 'parked', 'attention', 'done', 'failed', 'cancelled')),
  reason        TEXT,
  fence         INTEGER NOT NULL,
  holder        TEXT,
  lease_until   INTEGER,
  wake          INTEGER NOT NULL,
  cancel_at     INTEGER,
  updated       INTEGER NOT NULL
) STRICT;

CREATE TABLE step (
  run    TEXT NOT NULL REFERENCES run (id),
  node   TEXT NOT NULL,
  state  TEXT NOT NULL,
  detail BLOB NOT NULL,
  PRIMARY KEY (run, node)
) STRICT, WITHOUT ROWID;

-- The rows.
CREATE TABLE approval (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  run             TEXT NOT NULL REFERENCES run (id),
  node            TEXT NOT NULL,
  ask             INTEGER NOT NULL,
  digest          BLOB NOT NULL CHECK (length(digest) = 32),
  call            TEXT,
  server          TEXT,
  origin          TEXT,
  tool            TEXT,
  definition      BLOB CHECK (length(definition) = 32),
  timeout_ms      INTEGER,
  args            BLOB,
  question        TEXT,
  reason          TEXT NOT NULL,
  plan            BLOB NOT NULL CHECK (length(plan) = 32),
  policy          BLOB NOT NULL CHECK (length(policy) = 32),
  deadline_ms     INTEGER NOT NULL,
  quorum          INTEGER NOT NULL CHECK (quorum >= 1),
  roles           TEXT NOT NULL,
  verified_only   INTEGER NOT NULL CHECK (verified_only IN (0, 1)),
  requester_may   INTEGER NOT NULL CHECK (requester_may IN (0, 1)),
  may_edit        TEXT,
  key             TEXT NOT NULL,
  edits           INTEGER NOT NULL CHECK (edits >= 0),
  state           TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'claimed', 'succeeded', 'failed', 'uncertain',
                    'happened', 'did_not', 'answered', 'rejected', 'cancelled', 'expired')),
  created         INTEGER NOT NULL,
  expires         INTEGER NOT NULL,
  decided_at      INTEGER,
  usable_until    INTEGER,
  decided_by      TEXT,
  decision_reason TEXT,
  claim           TEXT,
  claim_holder    TEXT,
  claim_fence     INTEGER,
  call_open       INTEGER NOT NULL CHECK (call_open IN (0, 1)),
  claimed_at      INTEGER,
  call_deadline   INTEGER,
  outcome         TEXT,
  ended_at        INTEGER,
  reconciled      TEXT,
  settled         TEXT,
  repeat          TEXT,
  shown           TEXT NOT NULL DEFAULT '[]',
  UNIQUE (run, node, ask),
  CHECK ((call IS NULL) = (args IS NULL)),
  CHECK (args IS NOT NULL OR question IS NOT NULL)
) STRICT;

-- At most one row of a node waits for anybody; and the queue, without a scan of history. What is written nowhere here
-- counts as open, so that a damaged row is met and not passed over.
CREATE UNIQUE INDEX open_approval ON approval (run, node)
  WHERE ifnull(state, '?') NOT IN ('succeeded', 'failed', 'happened', 'did_not', 'answered', 'rejected', 'cancelled', 'expired');

-- What happened to the very same call before.
CREATE INDEX same_call ON approval (digest);

CREATE TABLE vote (
  approval TEXT NOT NULL REFERENCES approval (id),
  digest   BLOB NOT NULL CHECK (length(digest) = 32),
  issuer   TEXT NOT NULL,
  subject  TEXT NOT NULL,
  roles    TEXT NOT NULL,
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  yes      INTEGER NOT NULL CHECK (yes IN (0, 1)),
  at       INTEGER NOT NULL,
  reason   TEXT,
  edits    INTEGER NOT NULL CHECK (edits >= 0),
  PRIMARY KEY (approval, edits, issuer, subject)
) STRICT, WITHOUT ROWID;

-- What edits replaced, in order from 0; the row holds what counts now.
CREATE TABLE edit (
  approval TEXT NOT NULL REFERENCES approval (id),
  number   INTEGER NOT NULL,
  digest   BLOB NOT NULL CHECK (length(digest) = 32),
  args     BLOB NOT NULL,
  key      TEXT NOT NULL,
  by       TEXT NOT NULL,
  at       INTEGER NOT NULL,
  note     TEXT,
  PRIMARY KEY (approval, number)
) STRICT, WITHOUT ROWID;

-- Append-only: each with the hash of the one before in its own.
CREATE TABLE event (
  seq  INTEGER PRIMARY KEY,
  at   INTEGER NOT NULL,
  what TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
