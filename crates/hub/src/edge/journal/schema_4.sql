-- The tables of version 4, as released. Never changes.
CREATE TABLE blobs (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE reviews (
  id INTEGER PRIMARY KEY, set_id INTEGER, window INTEGER NOT NULL, path BLOB NOT NULL, label TEXT NOT NULL,
  writer TEXT NOT NULL, owner_key TEXT NOT NULL, convention TEXT NOT NULL, original BLOB NOT NULL,
  format TEXT, base BLOB REFERENCES blobs, proposed BLOB NOT NULL REFERENCES blobs, draft BLOB REFERENCES blobs,
  conflicts TEXT NOT NULL, revision INTEGER NOT NULL,
  phase TEXT NOT NULL, verdict TEXT, reason TEXT, superseded_by INTEGER, taken TEXT, person_diff TEXT,
  new_file INTEGER, decided_text BLOB REFERENCES blobs, result_text BLOB REFERENCES blobs,
  result BLOB REFERENCES blobs, comments TEXT, decided_by TEXT,
  proposed_at INTEGER NOT NULL, decided_at INTEGER, ended_at INTEGER, delivered_at INTEGER,
  added INTEGER, removed INTEGER, written_here INTEGER NOT NULL DEFAULT 0, on_disk INTEGER,
  left_text BLOB REFERENCES blobs);
CREATE INDEX unfinished ON reviews (id) WHERE delivered_at IS NULL;
CREATE TABLE windows (
  id INTEGER PRIMARY KEY, editor TEXT NOT NULL, folders TEXT NOT NULL, real_folders TEXT NOT NULL, key TEXT NOT NULL, port INTEGER NOT NULL,
  token TEXT NOT NULL, discovery TEXT NOT NULL, seen_at INTEGER NOT NULL);
CREATE TABLE writes (
  id INTEGER PRIMARY KEY, review INTEGER NOT NULL, path BLOB NOT NULL, before BLOB REFERENCES blobs,
  after BLOB REFERENCES blobs, at INTEGER NOT NULL, undoes INTEGER, state TEXT NOT NULL DEFAULT 'done',
  mode INTEGER);
CREATE INDEX writes_of ON writes (review);
CREATE TABLE marks (name TEXT PRIMARY KEY, last INTEGER NOT NULL, reserved INTEGER NOT NULL);
INSERT INTO marks VALUES ('review', 0, 0), ('window', 0, 0), ('change', 0, 0);
CREATE TABLE chats (id INTEGER PRIMARY KEY, head TEXT, changed_at INTEGER NOT NULL);
CREATE TABLE chat_items (
  chat INTEGER NOT NULL, place INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (chat, place)) WITHOUT ROWID;
PRAGMA user_version = 4;
