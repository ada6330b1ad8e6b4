/**
 * The schema of the SQLite store, as a list of migration steps. A released step is never edited; a change is a new step
 * at the end.
 */
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';
import { transact } from './transaction.ts';

/** Version of the schema before and after. */
export interface Migration {
  readonly from: number;
  readonly to: number;
}

/** Version n of the schema is the result of the first n steps. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE client_keys (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     last_used_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE secrets (
     name TEXT PRIMARY KEY,
     value BLOB NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // Triggers record the changes, so that changes made by hand are recorded too. Only the last thousand are kept: a
  // reader further behind sees a gap in the numbers.
  `ALTER TABLE client_keys ADD COLUMN policy TEXT;
   ALTER TABLE client_keys ADD COLUMN replaces TEXT;
   ALTER TABLE client_keys ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
   CREATE INDEX client_keys_by_age ON client_keys (created_at, id);
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
   INSERT INTO audit_chain VALUES (1, 0, zeroblob(32), 0, zeroblob(32));
   CREATE TABLE audit_hours (
     hour INTEGER PRIMARY KEY,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL
   ) STRICT;
   CREATE TRIGGER audit_row_inserted AFTER INSERT ON audit BEGIN
     INSERT INTO audit_hours VALUES (new.at / 3600000, new.seq, new.seq)
       ON CONFLICT (hour) DO UPDATE SET last_seq = excluded.last_seq;
   END;

   CREATE TABLE changes (
     seq INTEGER PRIMARY KEY,
     kind TEXT NOT NULL,
     id TEXT NOT NULL
   ) STRICT;
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
   END;`,
  `CREATE TABLE idempotency_keys (
     id TEXT PRIMARY KEY,
     fingerprint TEXT NOT NULL,
     attempt TEXT NOT NULL,
     runs_until INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     is_done INTEGER NOT NULL DEFAULT 0,
     answer BLOB
   ) STRICT;
   CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);`,
  // Existing rows count for no client, and expire within a day.
  `ALTER TABLE idempotency_keys ADD COLUMN client TEXT NOT NULL DEFAULT '';
   ALTER TABLE idempotency_keys ADD COLUMN answer_bytes INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX idempotency_keys_by_client ON idempotency_keys (client, answer_bytes);`,
  'CREATE INDEX client_keys_by_predecessor ON client_keys (replaces) WHERE replaces IS NOT NULL;',
  // A list with a search or a state reads only the index.
  `CREATE INDEX client_keys_to_search ON client_keys (created_at, id, name, revoked_at, expires_at);
   DROP INDEX client_keys_by_age;`,
  // The client of a key is the first key of its rotations.
  `ALTER TABLE client_keys ADD COLUMN client_id TEXT;
   WITH RECURSIVE clients (id, client_id) AS (
     SELECT id, id FROM client_keys
       WHERE replaces IS NULL OR replaces NOT IN (SELECT id FROM client_keys)
     UNION
     SELECT client_keys.id, clients.client_id FROM client_keys JOIN clients ON client_keys.replaces = clients.id
   )
   UPDATE client_keys SET client_id = clients.client_id FROM clients WHERE clients.id = client_keys.id;`,
  `CREATE TABLE call_counts (
     month TEXT NOT NULL,
     client_id TEXT NOT NULL,
     calls INTEGER NOT NULL,
     PRIMARY KEY (month, client_id)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE approvals (
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
   CREATE INDEX approvals_by_expiry ON approvals (expires_at);`,
  // For queries of the keys that expire soon, and of the other keys of their clients.
  `CREATE INDEX client_keys_by_expiry ON client_keys (expires_at, id) WHERE revoked_at IS NULL;
   CREATE INDEX client_keys_by_client ON client_keys (coalesce(client_id, id));`,
  `CREATE TABLE denied_subjects (
     id TEXT PRIMARY KEY,
     denied_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER subject_denied AFTER INSERT ON denied_subjects BEGIN
     INSERT INTO changes (kind, id) VALUES ('subject', new.id);
   END;
   CREATE TRIGGER subject_allowed AFTER DELETE ON denied_subjects BEGIN
     INSERT INTO changes (kind, id) VALUES ('subject', old.id);
   END;`,
  `CREATE TABLE statistics (
     step TEXT NOT NULL,
     starts_at INTEGER NOT NULL,
     process TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (step, starts_at, process)
   ) STRICT;`,
  // `wakes` changes if the process that sends deliveries must look at the subscription.
  `CREATE TABLE subscriptions (
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
   CREATE TRIGGER subscription_inserted AFTER INSERT ON subscriptions BEGIN
     INSERT INTO changes (kind, id) VALUES ('subscription', new.id);
   END;
   CREATE TRIGGER subscription_updated AFTER UPDATE OF version, wakes ON subscriptions BEGIN
     INSERT INTO changes (kind, id) VALUES ('subscription', new.id);
   END;
   CREATE TRIGGER subscription_deleted AFTER DELETE ON subscriptions BEGIN
     INSERT INTO changes (kind, id) VALUES ('subscription', old.id);
   END;`,
  // Ids of records that a subscription watches, in parts.
  `CREATE TABLE watched_ids (
     subscription TEXT NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     part INTEGER NOT NULL,
     ids TEXT NOT NULL,
     PRIMARY KEY (subscription, part)
   ) STRICT;`,
  `CREATE TABLE operator_tokens (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     role TEXT NOT NULL,
     secret_hash BLOB NOT NULL,
     created_at INTEGER NOT NULL,
     created_by TEXT NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     last_used_at INTEGER
   ) STRICT;
   CREATE INDEX operator_tokens_by_age ON operator_tokens (created_at, id);`,
  `CREATE TABLE operators (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     granted TEXT,
     confirmed_at INTEGER NOT NULL,
     ended_until INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE ended_sessions (
     id TEXT PRIMARY KEY,
     kept_until INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX ended_sessions_by_age ON ended_sessions (kept_until);`,
  // Null in rows of before, and in those that a process of an earlier release inserts.
  `ALTER TABLE client_keys ADD COLUMN created_by TEXT;
   ALTER TABLE subscriptions ADD COLUMN created_by TEXT;
   ALTER TABLE operator_tokens ADD COLUMN instances TEXT;`,
  `ALTER TABLE client_keys ADD COLUMN person TEXT;
   CREATE TABLE connections (
     instance TEXT NOT NULL,
     person TEXT NOT NULL,
     instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     master_key_id TEXT NOT NULL,
     body TEXT NOT NULL,
     version INTEGER NOT NULL,
     PRIMARY KEY (instance, person)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX connections_by_person ON connections (person, instance);
   CREATE INDEX connections_by_instance_id ON connections (instance_id);
   CREATE TRIGGER connection_inserted AFTER INSERT ON connections BEGIN
     INSERT INTO changes (kind, id) VALUES ('connection', new.instance || ' ' || new.person);
   END;
   CREATE TRIGGER connection_updated AFTER UPDATE ON connections BEGIN
     INSERT INTO changes (kind, id) VALUES ('connection', new.instance || ' ' || new.person);
   END;
   CREATE TRIGGER connection_deleted AFTER DELETE ON connections BEGIN
     INSERT INTO changes (kind, id) VALUES ('connection', old.instance || ' ' || old.person);
   END;`,
  `CREATE TABLE consents (
     id TEXT PRIMARY KEY,
     person TEXT NOT NULL,
     application TEXT NOT NULL,
     provider_session TEXT,
     created_at INTEGER NOT NULL,
     used_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     body TEXT NOT NULL
   ) STRICT;
   CREATE INDEX consents_by_person ON consents (person, id);
   CREATE INDEX consents_by_provider_session ON consents (provider_session) WHERE provider_session IS NOT NULL;
   CREATE INDEX consents_by_expiry ON consents (expires_at);
   CREATE TRIGGER consent_updated AFTER UPDATE OF body ON consents BEGIN
     INSERT INTO changes (kind, id) VALUES ('consent', new.id);
   END;
   CREATE TRIGGER consent_deleted AFTER DELETE ON consents BEGIN
     INSERT INTO changes (kind, id) VALUES ('consent', old.id);
   END;
   CREATE TABLE sign_in_objects (
     kind TEXT NOT NULL,
     id TEXT NOT NULL,
     consent TEXT REFERENCES consents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     body TEXT NOT NULL,
     consumed_at INTEGER,
     created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     PRIMARY KEY (kind, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX sign_in_objects_by_consent ON sign_in_objects (consent) WHERE consent IS NOT NULL;
   CREATE INDEX sign_in_objects_by_kind ON sign_in_objects (kind, expires_at);
   CREATE INDEX sign_in_objects_by_expiry ON sign_in_objects (expires_at);`,
  // Ids end with a random hexadecimal digit.
  `ALTER TABLE subscriptions ADD COLUMN shard INTEGER GENERATED ALWAYS AS (
     max(instr('0123456789abcdef', substr(id, -1)) - 1, 0)
   ) VIRTUAL;`,
  `CREATE TABLE audit_sinks (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE jobs (
     id TEXT PRIMARY KEY,
     client TEXT NOT NULL,
     key_id TEXT NOT NULL,
     route TEXT NOT NULL,
     request_id TEXT NOT NULL,
     facts TEXT NOT NULL,
     secret TEXT NOT NULL,
     name TEXT UNIQUE,
     fingerprint TEXT NOT NULL,
     callback TEXT,
     state TEXT NOT NULL,
     body_parts INTEGER NOT NULL,
     body_bytes INTEGER NOT NULL,
     attempt TEXT,
     lost INTEGER NOT NULL DEFAULT 0,
     is_sent INTEGER NOT NULL DEFAULT 0,
     is_cancelled INTEGER NOT NULL DEFAULT 0,
     available_at INTEGER NOT NULL,
     lease_until INTEGER,
     records INTEGER,
     bytes INTEGER NOT NULL DEFAULT 0,
     parts INTEGER NOT NULL DEFAULT 0,
     status INTEGER,
     headers TEXT,
     created_at INTEGER NOT NULL,
     started_at INTEGER,
     ended_at INTEGER,
     expires_at INTEGER
   ) STRICT;
   CREATE INDEX jobs_by_client ON jobs (client);
   CREATE INDEX jobs_by_age ON jobs (created_at, id);
   CREATE INDEX jobs_by_size ON jobs (bytes, body_bytes);
   CREATE INDEX jobs_waiting ON jobs (available_at, id) WHERE state = 'queued';
   CREATE INDEX jobs_running ON jobs (client, lease_until) WHERE state = 'running';
   CREATE INDEX jobs_not_ended ON jobs (id) WHERE ended_at IS NULL;
   CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL;
   CREATE INDEX jobs_to_report ON jobs (callback, id) WHERE callback IS NOT NULL AND ended_at IS NOT NULL;
   CREATE TABLE job_parts (
     job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     attempt TEXT NOT NULL,
     number INTEGER NOT NULL,
     bytes BLOB NOT NULL,
     PRIMARY KEY (job, attempt, number)
   ) STRICT;`,
];

/**
 * Migrates the file to the newest version. The version is read again under the write lock: if several processes start
 * at once, one migrates and the others find the new version. A file of the newest version is not locked.
 */
export function migrate(database: DatabaseSync): Migration {
  const to = MIGRATIONS.length;
  if (readVersion(database) === to) return { from: to, to };
  return transact(database, () => {
    const from = readVersion(database);
    database.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY) STRICT');
    const record = database.prepare('INSERT INTO migrations (version) VALUES (?)');
    for (const [index, step] of MIGRATIONS.entries()) {
      if (index < from) continue;
      database.exec(step);
      record.run(index + 1);
    }
    return { from, to };
  });
}

/** Tables that every version has. A table `migrations` alone can belong to another program. */
const OWN_TABLES = ['migrations', 'client_keys', 'secrets'];

/** Reads the version. Throws a {@link StoreError} for the database of another program or of a newer version. */
export function readVersion(database: DatabaseSync): number {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return 0;
  const names = new Set(tables.map((table) => table['name']));
  if (!OWN_TABLES.every((name) => names.has(name))) {
    throw new StoreError('it is the database of another program. Set store.url to a file of its own.');
  }
  const version = Number(
    database.prepare('SELECT coalesce(max(version), 0) AS version FROM migrations').get()?.['version'],
  );
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      `it was written by a newer erp-proxy (store version ${version}, this one knows ${MIGRATIONS.length}). ` +
        'Run that version, or restore the backup made before the upgrade.',
    );
  }
  return version;
}
