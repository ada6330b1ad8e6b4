-- The store that a release with version 13 of the SQLite schema has written: its schema, and rows in every table.
CREATE TABLE migrations (version INTEGER PRIMARY KEY) STRICT;
CREATE TABLE client_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
, policy TEXT, replaces TEXT, version INTEGER NOT NULL DEFAULT 1, client_id TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_keys_by_name ON client_keys (name, created_at, id);
CREATE TABLE instances (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  master_key_id TEXT NOT NULL,
  body TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  record TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE TABLE audit_chain (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  head_seq INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  floor_seq INTEGER NOT NULL,
  floor_hash BLOB NOT NULL
) STRICT;
CREATE TABLE audit_hours (
  hour INTEGER PRIMARY KEY,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL
) STRICT;
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id TEXT NOT NULL
) STRICT;
CREATE TABLE idempotency_keys (
  id TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  attempt TEXT NOT NULL,
  runs_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  is_done INTEGER NOT NULL DEFAULT 0,
  answer BLOB
, client TEXT NOT NULL DEFAULT '', answer_bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_by_client ON idempotency_keys (client, answer_bytes);
CREATE INDEX client_keys_by_predecessor ON client_keys (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX client_keys_to_search ON client_keys (created_at, id, name, revoked_at, expires_at);
CREATE TABLE call_counts (
  month TEXT NOT NULL,
  client_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (month, client_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  client TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'refused', 'used')),
  facts TEXT NOT NULL,
  call TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  reason TEXT,
  used_at INTEGER,
  attempt TEXT
) STRICT;
CREATE INDEX approvals_by_call ON approvals (client, fingerprint);
CREATE INDEX approvals_by_age ON approvals (created_at, id);
CREATE INDEX approvals_by_expiry ON approvals (expires_at);
CREATE INDEX client_keys_by_expiry ON client_keys (expires_at, id) WHERE revoked_at IS NULL;
CREATE INDEX client_keys_by_client ON client_keys (coalesce(client_id, id));
CREATE TABLE denied_subjects (
  id TEXT PRIMARY KEY,
  denied_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE statistics (
  step TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  process TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (step, starts_at, process)
) STRICT;
CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
  reason TEXT,
  body TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  read_at INTEGER,
  problem TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  retry_at INTEGER,
  last_failure TEXT,
  delivered_at INTEGER,
  due_at INTEGER,
  wakes INTEGER NOT NULL DEFAULT 0,
  progress_version INTEGER NOT NULL DEFAULT 0,
  progress TEXT
) STRICT;
CREATE INDEX subscriptions_by_due ON subscriptions (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  subscription TEXT NOT NULL,
  record TEXT,
  type TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'merged')),
  attempts INTEGER NOT NULL,
  next_at INTEGER,
  claim TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  status INTEGER,
  failure TEXT,
  duration_ms INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX deliveries_by_subscription ON deliveries (subscription, seq);
CREATE INDEX deliveries_by_record ON deliveries (subscription, record, seq);
CREATE INDEX deliveries_waiting ON deliveries (subscription, next_at) WHERE state = 'waiting';
CREATE INDEX deliveries_kept ON deliveries (subscription, seq) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
INSERT INTO migrations VALUES (1);
INSERT INTO migrations VALUES (2);
INSERT INTO migrations VALUES (3);
INSERT INTO migrations VALUES (4);
INSERT INTO migrations VALUES (5);
INSERT INTO migrations VALUES (6);
INSERT INTO migrations VALUES (7);
INSERT INTO migrations VALUES (8);
INSERT INTO migrations VALUES (9);
INSERT INTO migrations VALUES (10);
INSERT INTO migrations VALUES (11);
INSERT INTO migrations VALUES (12);
INSERT INTO migrations VALUES (13);
INSERT INTO client_keys VALUES ('a', 'Ünïcode 𝄞 "quotes"', X'0101010101010101010101010101010101010101010101010101010101010101', 1, 3, 4, NULL, '{}', NULL, 3, 'a');
INSERT INTO client_keys VALUES ('b', 'test', X'0101010101010101010101010101010101010101010101010101010101010101', 2, NULL, NULL, 7, NULL, 'a', 1, 'a');
INSERT INTO secrets VALUES ('key_hash', X'0707070707070707070707070707070707070707070707070707070707070707');
INSERT INTO instances VALUES ('i', 'prod', 'm', '{"url":"https://x"}', 1);
INSERT INTO leases VALUES ('job', 'one', 4102444800010);
INSERT INTO audit VALUES (2, 3, '{"kind":"call","é":1}', X'1b6f1f337a2965e21cd94415688393841c417df9de77de7be577b62e95b24879');
INSERT INTO audit VALUES (3, 3600000, '{"kind":"call"}', X'7101fe57c5a430dea07d1ff7528ba3ee2b8c0de7005fbc246329f852fff99e19');
INSERT INTO audit_chain VALUES (1, 3, X'7101fe57c5a430dea07d1ff7528ba3ee2b8c0de7005fbc246329f852fff99e19', 1, X'8c3cc036a324d08868f2b483740a6aa0d70afc7cb3be74752449e9f057d96cac');
INSERT INTO audit_hours VALUES (0, 1, 2);
INSERT INTO audit_hours VALUES (1, 3, 3);
INSERT INTO changes VALUES (1, 'key', 'a');
INSERT INTO changes VALUES (2, 'key', 'a');
INSERT INTO changes VALUES (3, 'key', 'b');
INSERT INTO changes VALUES (4, 'key', 'a');
INSERT INTO changes VALUES (5, 'instance', 'prod');
INSERT INTO changes VALUES (6, 'subject', 'issuer/subject');
INSERT INTO changes VALUES (7, 'subscription', 's');
INSERT INTO idempotency_keys VALUES ('done', 'f', 'one', 1795977970234, 4102444800002, 1, X'00ff0a', 'a', 3);
INSERT INTO idempotency_keys VALUES ('unknown', 'f', 'one', 1795977970235, 4102444800002, 0, NULL, 'a', 0);
INSERT INTO call_counts VALUES ('2026-11', 'a', 5000000000);
INSERT INTO approvals VALUES ('pending', 'a', 'pending', 'pending', '{}', 'sealed', 1, 9, NULL, NULL, NULL, NULL, NULL);
INSERT INTO approvals VALUES ('refused', 'a', 'refused', 'refused', '{}', NULL, 1, 9, 2, 'admin', 'no', NULL, NULL);
INSERT INTO approvals VALUES ('used', 'a', 'used', 'used', '{}', 'sealed', 1, 8, 2, 'admin', NULL, 3, 'one');
INSERT INTO denied_subjects VALUES ('issuer/subject', 1);
INSERT INTO statistics VALUES ('hour', 1, 'p', '{}');
INSERT INTO subscriptions VALUES ('s', 'orders', 'active', NULL, '{}', 1, 1, 2, NULL, 0, NULL, NULL, NULL, 3, 2, 0, 1, '{}');
INSERT INTO deliveries VALUES (1, 'd1', 's', '1', 't', 'delivered', 1, NULL, NULL, 2, 3, 200, NULL, 1, 'body 1');
INSERT INTO deliveries VALUES (2, 'd2', 's', '2', 't', 'waiting', 0, 2, NULL, 2, NULL, NULL, NULL, NULL, 'body 2');
CREATE TRIGGER audit_row_inserted AFTER INSERT ON audit BEGIN
  INSERT INTO audit_hours VALUES (new.at / 3600000, new.seq, new.seq)
    ON CONFLICT (hour) DO UPDATE SET last_seq = excluded.last_seq;
END;
CREATE TRIGGER old_changes AFTER INSERT ON changes BEGIN
  DELETE FROM changes WHERE seq <= new.seq - 1000;
END;
CREATE TRIGGER key_inserted AFTER INSERT ON client_keys BEGIN
  INSERT INTO changes (kind, id) VALUES ('key', new.id);
END;
CREATE TRIGGER key_updated
  AFTER UPDATE OF name, secret_hash, policy, expires_at, revoked_at, version ON client_keys BEGIN
  INSERT INTO changes (kind, id) VALUES ('key', new.id);
END;
CREATE TRIGGER key_deleted AFTER DELETE ON client_keys BEGIN
  INSERT INTO changes (kind, id) VALUES ('key', old.id);
END;
CREATE TRIGGER instance_inserted AFTER INSERT ON instances BEGIN
  INSERT INTO changes (kind, id) VALUES ('instance', new.name);
END;
CREATE TRIGGER instance_updated AFTER UPDATE ON instances BEGIN
  INSERT INTO changes (kind, id) VALUES ('instance', new.name);
END;
CREATE TRIGGER instance_deleted AFTER DELETE ON instances BEGIN
  INSERT INTO changes (kind, id) VALUES ('instance', old.name);
END;
CREATE TRIGGER subject_denied AFTER INSERT ON denied_subjects BEGIN
  INSERT INTO changes (kind, id) VALUES ('subject', new.id);
END;
CREATE TRIGGER subject_allowed AFTER DELETE ON denied_subjects BEGIN
  INSERT INTO changes (kind, id) VALUES ('subject', old.id);
END;
CREATE TRIGGER subscription_inserted AFTER INSERT ON subscriptions BEGIN
  INSERT INTO changes (kind, id) VALUES ('subscription', new.id);
END;
CREATE TRIGGER subscription_updated AFTER UPDATE OF version, wakes ON subscriptions BEGIN
  INSERT INTO changes (kind, id) VALUES ('subscription', new.id);
END;
CREATE TRIGGER subscription_deleted AFTER DELETE ON subscriptions BEGIN
  INSERT INTO changes (kind, id) VALUES ('subscription', old.id);
END;
