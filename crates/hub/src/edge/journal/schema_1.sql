-- The tables of version 1, as released. Never changes.
CREATE TABLE blobs (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE reviews (
  id INTEGER PRIMARY KEY, set_id INTEGER, window INTEGER NOT NULL, path BLOB NOT NULL, label TEXT NOT NULL,
  writer TEXT NOT NULL, owner_key TEXT NOT NULL, convention TEXT NOT NULL, original BLOB NOT NULL,
  format TEXT, base BLOB REFERENCES blobs, proposed BLOB NOT NULL REFERENCES blobs, draft BLOB REFERENCES blobs,
  conflicts TEXT NOT NULL, revision INTEGER NOT NULL,
  phase TEXT NOT NULL, verdict TEXT, reason TEXT, superseded_by INTEGER, taken TEXT, person_diff TEXT,
  new_file INTEGER, decided_text BLOB REFERENCES blobs, result_text BLOB REFERENCES blobs,
  result BLOB REFERENCES blobs, comments TEXT, decided_by TEXT,
  proposed_at INTEGER NOT NULL, decided_at INTEGER, ended_at INTEGER, delivered_at INTEGER);
CREATE INDEX unfinished ON reviews (id) WHERE delivered_at IS NULL;
CREATE TABLE writes (
  id INTEGER PRIMARY KEY, review INTEGER NOT NULL, path BLOB NOT NULL, before BLOB REFERENCES blobs,
  after BLOB NOT NULL REFERENCES blobs, at INTEGER NOT NULL);
CREATE TABLE windows (
  id INTEGER PRIMARY KEY, editor TEXT NOT NULL, folders TEXT NOT NULL, real_folders TEXT NOT NULL, key TEXT NOT NULL, port INTEGER NOT NULL,
  token TEXT NOT NULL, discovery TEXT NOT NULL, seen_at INTEGER NOT NULL);
PRAGMA user_version = 1;
