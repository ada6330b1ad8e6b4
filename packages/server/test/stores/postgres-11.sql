-- The store that a release with version 11 of the PostgreSQL schema has written: its schema, and rows in every table.
CREATE FUNCTION tell_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
   BEGIN
     PERFORM pg_notify(
       'erp_proxy_' || (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = TG_RELID),
       TG_ARGV[0] || ' ' || (CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END ->> TG_ARGV[1])
     );
     RETURN NULL;
   END $$;
CREATE TABLE approvals (
    id text NOT NULL COLLATE pg_catalog."C",
    client text NOT NULL,
    fingerprint text NOT NULL,
    state text NOT NULL,
    facts text NOT NULL,
    call text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    decided_at bigint,
    decided_by text,
    reason text,
    used_at bigint,
    attempt text,
    CONSTRAINT approvals_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'refused'::text, 'used'::text])))
);
CREATE TABLE audit (
    seq bigint NOT NULL,
    at bigint NOT NULL,
    record text NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE audit_chain (
    id boolean NOT NULL,
    head_seq bigint NOT NULL,
    head_hash bytea NOT NULL,
    floor_seq bigint NOT NULL,
    floor_hash bytea NOT NULL,
    CONSTRAINT audit_chain_id_check CHECK (id)
);
CREATE TABLE call_counts (
    month text NOT NULL COLLATE pg_catalog."C",
    client_id text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL
);
CREATE TABLE client_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    policy text,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint,
    replaces text,
    version integer NOT NULL,
    client_id text COLLATE pg_catalog."C",
    CONSTRAINT client_keys_secret_hash_check CHECK ((length(secret_hash) = 32))
);
CREATE TABLE deliveries (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    subscription text NOT NULL COLLATE pg_catalog."C",
    record text COLLATE pg_catalog."C",
    type text NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    next_at bigint,
    claim text,
    created_at bigint NOT NULL,
    ended_at bigint,
    status integer,
    failure text,
    duration_ms integer,
    body text NOT NULL,
    CONSTRAINT deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text, 'merged'::text])))
);
ALTER TABLE deliveries ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME deliveries_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE denied_subjects (
    id text NOT NULL COLLATE pg_catalog."C",
    denied_at bigint NOT NULL
);
CREATE TABLE erp_proxy_migrations (
    version integer NOT NULL
);
CREATE TABLE idempotency_keys (
    id text NOT NULL,
    fingerprint text NOT NULL,
    attempt text NOT NULL,
    runs_until timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    is_done boolean DEFAULT false NOT NULL,
    answer bytea,
    client text DEFAULT ''::text NOT NULL,
    answer_bytes integer DEFAULT 0 NOT NULL
);
CREATE TABLE instances (
    id text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    master_key_id text NOT NULL,
    body text NOT NULL,
    version integer NOT NULL
);
CREATE TABLE leases (
    name text NOT NULL,
    owner text NOT NULL,
    ends_at timestamp with time zone NOT NULL
);
CREATE TABLE secrets (
    name text NOT NULL,
    value bytea NOT NULL
);
CREATE TABLE statistics (
    step text NOT NULL,
    starts_at bigint NOT NULL,
    process text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL
);
CREATE TABLE subscriptions (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    reason text,
    body text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at bigint NOT NULL,
    read_at bigint,
    problem text,
    failures integer DEFAULT 0 NOT NULL,
    failing_since bigint,
    retry_at bigint,
    last_failure text,
    delivered_at bigint,
    due_at bigint,
    wakes integer DEFAULT 0 NOT NULL,
    progress_version bigint DEFAULT 0 NOT NULL,
    progress text,
    CONSTRAINT subscriptions_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);
INSERT INTO approvals VALUES
	('pending', 'a', 'pending', 'pending', '{}', 'sealed', 1, 9, NULL, NULL, NULL, NULL, NULL),
	('refused', 'a', 'refused', 'refused', '{}', NULL, 1, 9, 2, 'admin', 'no', NULL, NULL),
	('used', 'a', 'used', 'used', '{}', 'sealed', 1, 8, 2, 'admin', NULL, 3, 'one');
INSERT INTO audit VALUES
	(2, 3, '{"kind":"call","é":1}', '\x1b6f1f337a2965e21cd94415688393841c417df9de77de7be577b62e95b24879'),
	(3, 3600000, '{"kind":"call"}', '\x7101fe57c5a430dea07d1ff7528ba3ee2b8c0de7005fbc246329f852fff99e19');
INSERT INTO audit_chain VALUES
	(true, 3, '\x7101fe57c5a430dea07d1ff7528ba3ee2b8c0de7005fbc246329f852fff99e19', 1, '\x8c3cc036a324d08868f2b483740a6aa0d70afc7cb3be74752449e9f057d96cac');
INSERT INTO call_counts VALUES
	('2026-11', 'a', 5000000000);
INSERT INTO client_keys VALUES
	('b', 'test', '\x0101010101010101010101010101010101010101010101010101010101010101', NULL, 2, NULL, NULL, 7, 'a', 1, 'a'),
	('a', 'Ünïcode 𝄞 "quotes"', '\x0101010101010101010101010101010101010101010101010101010101010101', '{}', 1, 3, 4, NULL, NULL, 3, 'a');
INSERT INTO deliveries OVERRIDING SYSTEM VALUE VALUES
	(2, 'd2', 's', '2', 't', 'waiting', 0, 2, NULL, 2, NULL, NULL, NULL, NULL, 'body 2'),
	(1, 'd1', 's', '1', 't', 'delivered', 1, NULL, NULL, 2, 3, 200, NULL, 1, 'body 1');
INSERT INTO denied_subjects VALUES
	('issuer/subject', 1);
INSERT INTO erp_proxy_migrations VALUES
	(1),
	(2),
	(3),
	(4),
	(5),
	(6),
	(7),
	(8),
	(9),
	(10),
	(11);
INSERT INTO idempotency_keys VALUES
	('done', 'f', 'one', '2026-11-29 18:46:10.47519+00', '2100-01-01 00:00:00.004155+00', true, '\x00ff0a', 'a', 3),
	('unknown', 'f', 'one', '2026-11-29 18:46:10.478611+00', '2100-01-01 00:00:00.005611+00', false, NULL, 'a', 0);
INSERT INTO instances VALUES
	('i', 'prod', 'm', '{"url":"https://x"}', 1);
INSERT INTO leases VALUES
	('job', 'one', '2100-01-01 00:00:00.081043+00');
INSERT INTO secrets VALUES
	('key_hash', '\x0707070707070707070707070707070707070707070707070707070707070707');
INSERT INTO statistics VALUES
	('hour', 1, 'p', '{}');
INSERT INTO subscriptions VALUES
	('s', 'orders', 'active', NULL, '{}', 1, 1, 2, NULL, 0, NULL, NULL, NULL, 3, 2, 0, 1, '{}');
SELECT pg_catalog.setval('deliveries_seq_seq', 2, true);
ALTER TABLE ONLY approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (id);
ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY call_counts
    ADD CONSTRAINT call_counts_pkey PRIMARY KEY (month, client_id);
ALTER TABLE ONLY client_keys
    ADD CONSTRAINT client_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY deliveries
    ADD CONSTRAINT deliveries_id_key UNIQUE (id);
ALTER TABLE ONLY deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY denied_subjects
    ADD CONSTRAINT denied_subjects_pkey PRIMARY KEY (id);
ALTER TABLE ONLY erp_proxy_migrations
    ADD CONSTRAINT erp_proxy_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY instances
    ADD CONSTRAINT instances_name_key UNIQUE (name);
ALTER TABLE ONLY instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);
ALTER TABLE ONLY leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);
ALTER TABLE ONLY secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY statistics
    ADD CONSTRAINT statistics_pkey PRIMARY KEY (step, starts_at, process);
ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_name_key UNIQUE (name);
ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (id);
CREATE INDEX approvals_by_age ON approvals USING btree (created_at, id);
CREATE INDEX approvals_by_call ON approvals USING btree (client, fingerprint);
CREATE INDEX approvals_by_expiry ON approvals USING btree (expires_at);
CREATE INDEX client_keys_by_age ON client_keys USING btree (created_at, id);
CREATE INDEX client_keys_by_client ON client_keys USING btree (COALESCE(client_id, id));
CREATE INDEX client_keys_by_expiry ON client_keys USING btree (expires_at, id) WHERE (revoked_at IS NULL);
CREATE INDEX client_keys_by_name ON client_keys USING btree (name);
CREATE INDEX client_keys_by_predecessor ON client_keys USING btree (replaces) WHERE (replaces IS NOT NULL);
CREATE INDEX deliveries_by_record ON deliveries USING btree (subscription, record, seq);
CREATE INDEX deliveries_by_subscription ON deliveries USING btree (subscription, seq);
CREATE INDEX deliveries_ended ON deliveries USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX deliveries_kept ON deliveries USING btree (subscription, seq) WHERE (ended_at IS NOT NULL);
CREATE INDEX deliveries_waiting ON deliveries USING btree (subscription, next_at) WHERE (state = 'waiting'::text);
CREATE INDEX idempotency_keys_by_client ON idempotency_keys USING btree (client) INCLUDE (answer_bytes);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys USING btree (expires_at);
CREATE INDEX subscriptions_by_due ON subscriptions USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE OF name, secret_hash, policy, expires_at, revoked_at, version ON client_keys FOR EACH ROW EXECUTE FUNCTION tell_change('key', 'id');
CREATE TRIGGER tell_change AFTER INSERT OR DELETE ON denied_subjects FOR EACH ROW EXECUTE FUNCTION tell_change('subject', 'id');
CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE ON instances FOR EACH ROW EXECUTE FUNCTION tell_change('instance', 'name');
CREATE TRIGGER tell_change AFTER INSERT OR DELETE OR UPDATE OF version, wakes ON subscriptions FOR EACH ROW EXECUTE FUNCTION tell_change('subscription', 'id');
