/**
 * The schema of the PostgreSQL store, as a list of migration steps. A released step is never edited; a change is a new
 * step at the end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StoreError } from '../store-error.ts';
import { readCode } from './failures.ts';

/**
 * Version n of the schema is the result of the first n steps. Texts sort by code point. Triggers notify listeners, so
 * changes made by hand are reported too. The name of the channel contains the oid of the schema, because all schemas of
 * a database share their channels.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE secrets (
     name text PRIMARY KEY,
     value bytea NOT NULL
   );
   CREATE TABLE client_keys (
     id text COLLATE "C" PRIMARY KEY,
     name text NOT NULL,
     secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
     policy text,
     created_at bigint NOT NULL,
     expires_at bigint,
     revoked_at bigint,
     last_used_at bigint,
     replaces text,
     version integer NOT NULL
   );
   CREATE INDEX client_keys_by_age ON client_keys (created_at, id);
   CREATE INDEX client_keys_by_name ON client_keys (name);
   CREATE TABLE instances (
     id text PRIMARY KEY,
     name text COLLATE "C" NOT NULL UNIQUE,
     master_key_id text NOT NULL,
     body text NOT NULL,
     version integer NOT NULL
   );
   CREATE TABLE audit (
     seq bigint PRIMARY KEY,
     at bigint NOT NULL,
     record text NOT NULL,
     hash bytea NOT NULL
   );
   CREATE TABLE audit_chain (
     id boolean PRIMARY KEY CHECK (id),
     head_seq bigint NOT NULL,
     head_hash bytea NOT NULL,
     floor_seq bigint NOT NULL,
     floor_hash bytea NOT NULL
   );
   INSERT INTO audit_chain
     SELECT true, 0, zero, 0, zero FROM decode(repeat('00', 32), 'hex') AS zero;
   CREATE TABLE leases (
     name text PRIMARY KEY,
     owner text NOT NULL,
     ends_at timestamptz NOT NULL
   );
   CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     PERFORM pg_notify(
       'erp_proxy_' || (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = TG_RELID),
       TG_ARGV[0] || ' ' || (CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END ->> TG_ARGV[1])
     );
     RETURN NULL;
   END $$;
   CREATE TRIGGER tell_change
     AFTER INSERT OR DELETE OR UPDATE OF name, secret_hash, policy, expires_at, revoked_at, version ON client_keys
     FOR EACH ROW EXECUTE FUNCTION tell_change('key', 'id');
   CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON instances
     FOR EACH ROW EXECUTE FUNCTION tell_change('instance', 'name');`,
  `CREATE TABLE idempotency_keys (
     id text PRIMARY KEY,
     fingerprint text NOT NULL,
     attempt text NOT NULL,
     runs_until timestamptz NOT NULL,
     expires_at timestamptz NOT NULL,
     is_done boolean NOT NULL DEFAULT false,
     answer bytea
   );
   CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);`,
  // Existing rows count for no client, and expire within a day.
  `ALTER TABLE idempotency_keys
     ADD COLUMN client text NOT NULL DEFAULT '',
     ADD COLUMN answer_bytes integer NOT NULL DEFAULT 0;
   CREATE INDEX idempotency_keys_by_client ON idempotency_keys (client) INCLUDE (answer_bytes);`,
  'CREATE INDEX client_keys_by_predecessor ON client_keys (replaces) WHERE replaces IS NOT NULL;',
  // The client of a key is the first key of its rotations.
  `ALTER TABLE client_keys ADD COLUMN client_id text COLLATE "C";
   WITH RECURSIVE clients (id, client_id) AS (
     SELECT id, id FROM client_keys
       WHERE replaces IS NULL OR NOT EXISTS (SELECT FROM client_keys AS predecessors WHERE predecessors.id = client_keys.replaces)
     UNION
     SELECT client_keys.id, clients.client_id FROM client_keys JOIN clients ON client_keys.replaces = clients.id
   )
   UPDATE client_keys SET client_id = clients.client_id FROM clients WHERE clients.id = client_keys.id;`,
  `CREATE TABLE call_counts (
     month text COLLATE "C" NOT NULL,
     client_id text COLLATE "C" NOT NULL,
     calls bigint NOT NULL,
     PRIMARY KEY (month, client_id)
   );`,
  `CREATE TABLE approvals (
     id text COLLATE "C" PRIMARY KEY,
     client text NOT NULL,
     fingerprint text NOT NULL,
     state text NOT NULL CHECK (state IN ('pending', 'approved', 'refused', 'used')),
     facts text NOT NULL,
     call text,
     created_at bigint NOT NULL,
     expires_at bigint NOT NULL,
     decided_at bigint,
     decided_by text,
     reason text,
     used_at bigint,
     attempt text
   );
   CREATE INDEX approvals_by_call ON approvals (client, fingerprint);
   CREATE INDEX approvals_by_age ON approvals (created_at, id);
   CREATE INDEX approvals_by_expiry ON approvals (expires_at);`,
  // For queries of the keys that expire soon, and of the other keys of their clients.
  `CREATE INDEX client_keys_by_expiry ON client_keys (expires_at, id) WHERE revoked_at IS NULL;
   CREATE INDEX client_keys_by_client ON client_keys (coalesce(client_id, id));`,
  `CREATE TABLE denied_subjects (
     id text COLLATE "C" PRIMARY KEY,
     denied_at bigint NOT NULL
   );
   CREATE TRIGGER tell_change AFTER INSERT OR DELETE ON denied_subjects
     FOR EACH ROW EXECUTE FUNCTION tell_change('subject', 'id');`,
  `CREATE TABLE statistics (
     step text NOT NULL,
     starts_at bigint NOT NULL,
     process text COLLATE "C" NOT NULL,
     body text NOT NULL,
     PRIMARY KEY (step, starts_at, process)
   );`,
  // `wakes` changes if the process that sends deliveries must look at the subscription.
  `CREATE TABLE subscriptions (
     id text COLLATE "C" PRIMARY KEY,
     name text COLLATE "C" NOT NULL UNIQUE,
     state text NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
     reason text,
     body text NOT NULL,
     version integer NOT NULL DEFAULT 1,
     created_at bigint NOT NULL,
     read_at bigint,
     problem text,
     failures integer NOT NULL DEFAULT 0,
     failing_since bigint,
     retry_at bigint,
     last_failure text,
     delivered_at bigint,
     due_at bigint,
     wakes integer NOT NULL DEFAULT 0,
     progress_version bigint NOT NULL DEFAULT 0,
     progress text
   );
   CREATE INDEX subscriptions_by_due ON subscriptions (due_at) WHERE due_at IS NOT NULL;
   CREATE TABLE deliveries (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text COLLATE "C" NOT NULL UNIQUE,
     subscription text COLLATE "C" NOT NULL,
     record text COLLATE "C",
     type text NOT NULL,
     state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'merged')),
     attempts integer NOT NULL,
     next_at bigint,
     claim text,
     created_at bigint NOT NULL,
     ended_at bigint,
     status integer,
     failure text,
     duration_ms integer,
     body text NOT NULL
   );
   CREATE INDEX deliveries_by_subscription ON deliveries (subscription, seq);
   CREATE INDEX deliveries_by_record ON deliveries (subscription, record, seq);
   CREATE INDEX deliveries_waiting ON deliveries (subscription, next_at) WHERE state = 'waiting';
   CREATE INDEX deliveries_kept ON deliveries (subscription, seq) WHERE ended_at IS NOT NULL;
   CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
   CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE OF version, wakes ON subscriptions
     FOR EACH ROW EXECUTE FUNCTION tell_change('subscription', 'id');`,
  // Ids of records that a subscription watches, in parts.
  `CREATE TABLE watched_ids (
     subscription text COLLATE "C" NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     part bigint NOT NULL,
     ids text NOT NULL,
     PRIMARY KEY (subscription, part)
   );`,
  `CREATE TABLE operator_tokens (
     id text COLLATE "C" PRIMARY KEY,
     name text NOT NULL,
     role text NOT NULL,
     secret_hash bytea NOT NULL,
     created_at bigint NOT NULL,
     created_by text NOT NULL,
     expires_at bigint,
     revoked_at bigint,
     last_used_at bigint
   );
   CREATE INDEX operator_tokens_by_age ON operator_tokens (created_at, id);`,
  `CREATE TABLE operators (
     id text COLLATE "C" PRIMARY KEY,
     name text NOT NULL,
     granted text,
     confirmed_at bigint NOT NULL,
     ended_until bigint NOT NULL
   );
   CREATE TABLE ended_sessions (
     id text COLLATE "C" PRIMARY KEY,
     kept_until bigint NOT NULL
   );
   CREATE INDEX ended_sessions_by_age ON ended_sessions (kept_until);`,
  // Null in rows of before, and in those that a process of an earlier release inserts.
  `ALTER TABLE client_keys ADD COLUMN created_by text;
   ALTER TABLE subscriptions ADD COLUMN created_by text;
   ALTER TABLE operator_tokens ADD COLUMN instances text;`,
  `ALTER TABLE client_keys ADD COLUMN person text;
   CREATE TABLE connections (
     instance text COLLATE "C" NOT NULL,
     person text COLLATE "C" NOT NULL,
     instance_id text NOT NULL REFERENCES instances (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     master_key_id text NOT NULL,
     body text NOT NULL,
     version integer NOT NULL,
     PRIMARY KEY (instance, person)
   );
   CREATE INDEX connections_by_person ON connections (person, instance);
   CREATE INDEX connections_by_instance_id ON connections (instance_id);
   CREATE FUNCTION tell_connection() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     PERFORM pg_notify(
       'erp_proxy_' || (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = TG_RELID),
       'connection ' || (CASE TG_OP WHEN 'DELETE' THEN OLD.instance || ' ' || OLD.person
                         ELSE NEW.instance || ' ' || NEW.person END)
     );
     RETURN NULL;
   END $$;
   CREATE TRIGGER tell_connection AFTER INSERT OR DELETE OR UPDATE ON connections
     FOR EACH ROW EXECUTE FUNCTION tell_connection();`,
  `CREATE TABLE consents (
     id text COLLATE "C" PRIMARY KEY,
     person text COLLATE "C" NOT NULL,
     application text NOT NULL,
     provider_session text,
     created_at bigint NOT NULL,
     used_at bigint NOT NULL,
     expires_at bigint NOT NULL,
     body text NOT NULL
   );
   CREATE INDEX consents_by_person ON consents (person, id);
   CREATE INDEX consents_by_provider_session ON consents (provider_session) WHERE provider_session IS NOT NULL;
   CREATE INDEX consents_by_expiry ON consents (expires_at);
   CREATE TRIGGER tell_change AFTER DELETE OR UPDATE OF body ON consents
     FOR EACH ROW EXECUTE FUNCTION tell_change('consent', 'id');
   CREATE TABLE sign_in_objects (
     kind text COLLATE "C" NOT NULL,
     id text COLLATE "C" NOT NULL,
     consent text COLLATE "C" REFERENCES consents (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     body text NOT NULL,
     consumed_at bigint,
     created_at bigint NOT NULL,
     expires_at bigint NOT NULL,
     PRIMARY KEY (kind, id)
   );
   CREATE INDEX sign_in_objects_by_consent ON sign_in_objects (consent) WHERE consent IS NOT NULL;
   CREATE INDEX sign_in_objects_by_kind ON sign_in_objects (kind, expires_at);
   CREATE INDEX sign_in_objects_by_expiry ON sign_in_objects (expires_at);`,
  // Ids end with a random hexadecimal digit.
  `ALTER TABLE subscriptions ADD COLUMN shard integer GENERATED ALWAYS AS (
     greatest(strpos('0123456789abcdef', right(id, 1)) - 1, 0)
   ) STORED;`,
  'CREATE TABLE audit_sinks (name text PRIMARY KEY, seq bigint NOT NULL, hash bytea NOT NULL)',
  `CREATE TABLE jobs (
     id text PRIMARY KEY,
     client text NOT NULL,
     key_id text NOT NULL,
     route text NOT NULL,
     request_id text NOT NULL,
     facts text NOT NULL,
     secret text NOT NULL,
     name text UNIQUE,
     fingerprint text NOT NULL,
     callback text,
     state text NOT NULL,
     body_parts integer NOT NULL,
     body_bytes bigint NOT NULL,
     attempt text,
     lost integer NOT NULL DEFAULT 0,
     is_sent boolean NOT NULL DEFAULT false,
     is_cancelled boolean NOT NULL DEFAULT false,
     available_at timestamptz NOT NULL,
     lease_until timestamptz,
     records bigint,
     bytes bigint NOT NULL DEFAULT 0,
     parts integer NOT NULL DEFAULT 0,
     status integer,
     headers text,
     created_at bigint NOT NULL,
     started_at bigint,
     ended_at bigint,
     expires_at timestamptz
   );
   CREATE INDEX jobs_by_client ON jobs (client);
   CREATE INDEX jobs_by_age ON jobs (created_at, id);
   CREATE INDEX jobs_by_size ON jobs (bytes, body_bytes);
   CREATE INDEX jobs_waiting ON jobs (available_at, id) WHERE state = 'queued';
   CREATE INDEX jobs_running ON jobs (client, lease_until) WHERE state = 'running';
   CREATE INDEX jobs_not_ended ON jobs (id) WHERE ended_at IS NULL;
   CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL;
   CREATE INDEX jobs_to_report ON jobs (callback, id) WHERE callback IS NOT NULL AND ended_at IS NOT NULL;
   CREATE TABLE job_parts (
     job text NOT NULL REFERENCES jobs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
     attempt text NOT NULL,
     number integer NOT NULL,
     bytes bytea NOT NULL,
     PRIMARY KEY (job, attempt, number)
   );`,
];

/** An arbitrary number that other programs on the database are unlikely to lock. */
const LOCK = 3_772_610_884_951;
/** Limit of a statement: a step may rewrite a large table, and other replicas wait for it. */
const TIMEOUT_MS = 60_000;
/**
 * After this time the server ends the transaction of a process that was stopped within it: others wait for its locks.
 */
export const IDLE_TIMEOUT_MS = 5000;

/**
 * Time that a step waits for a lock. While it waits for another session, such as a backup, the statements of all
 * replicas on its table wait behind it. It therefore gives up soon, and is tried again after a pause.
 */
const LOCK_WAIT_MS = 1000;
const LOCK_PAUSE_MS = 1000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Migrates the schema to the newest version in one transaction. The version is read again under the lock: if several
 * replicas start at once, one migrates and the others find the new version. A schema of the newest version is not
 * locked.
 */
export function migrate(config: pg.ClientConfig): Promise<{ from: number; to: number }> {
  return useClient(config, async (client) => {
    const to = MIGRATIONS.length;
    if ((await readVersion(client)) === to) return { from: to, to };
    const endsMs = performance.now() + TIMEOUT_MS;
    for (;;) {
      try {
        return { from: await runSteps(client), to };
      } catch (error) {
        if (readCode(error) !== LOCK_NOT_AVAILABLE || performance.now() >= endsMs) throw error;
        await client.query('ROLLBACK');
        await sleep(LOCK_PAUSE_MS);
      }
    }
  });
}

/** Returns the version before the steps. */
async function runSteps(client: pg.Client): Promise<number> {
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
  await client.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
  const from = await readVersion(client);
  await client.query('CREATE TABLE IF NOT EXISTS erp_proxy_migrations (version integer PRIMARY KEY)');
  for (const [index, step] of MIGRATIONS.entries()) {
    if (index < from) continue;
    await client.query(step);
    await client.query('INSERT INTO erp_proxy_migrations (version) VALUES ($1)', [index + 1]);
  }
  await client.query('COMMIT');
  return from;
}

/** Whether erp-proxy has migrated the schema, to any version. */
export function isMigrated(config: pg.ClientConfig): Promise<boolean> {
  return useClient(config, async (client) => (await readVersion(client)) > 0);
}

async function useClient<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    ...config,
    statement_timeout: TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
    query_timeout: TIMEOUT_MS + 1000,
  });
  // A broken connection also fails its statement. Without a listener, the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Reads the version of the schema in which tables would be created, not of others on the search path. Reads the catalog
 * as a table, because `to_regclass` would cache that a table was missing before the lock. Throws a {@link StoreError}.
 */
async function readVersion(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ encoding: string; schema: string | null; isMigrated: boolean }>(
    `SELECT current_setting('server_encoding') AS encoding, current_schema() AS schema, EXISTS (
       SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'erp_proxy_migrations'
     ) AS "isMigrated"`,
  );
  const [current] = rows;
  if (current?.encoding !== 'UTF8') {
    throw new StoreError(
      `the database has the encoding ${current?.encoding}. Create one with ENCODING 'UTF8'.`,
    );
  }
  if (current.schema === null) {
    throw new StoreError('there is no schema to make tables in. Create the one that search_path names.');
  }
  if (!current.isMigrated) return 0;
  const versions = await client.query<{ version: number }>(
    'SELECT coalesce(max(version), 0) AS version FROM erp_proxy_migrations',
  );
  const version = versions.rows[0]?.version ?? 0;
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      `it was written by a newer erp-proxy (store version ${version}, this one knows ${MIGRATIONS.length}). ` +
        'Run that version, or restore the backup made before the upgrade.',
    );
  }
  return version;
}
