#!/bin/sh
# Copies all partners of Odoo into the table odoo_partner of PostgreSQL, for example every night. A failure leaves the
# table as it was. The table has one transaction's view of the file, so that reports never see a half copy.
#
# Needs: npx (or ERP_PROXY, the command of erp-proxy), psql, and in the environment ERP_PROXY_URL, ERP_PROXY_KEY,
# ERP_PROXY_INSTANCE and DATABASE_URL (postgres://…).
set -eu

records=$(mktemp)
trap 'rm -f "$records"' EXIT

${ERP_PROXY:-npx erp-proxy} export --model res.partner \
  --fields name,email,is_company,country_id,write_date --values normalized \
  --context '{"active_test": false}' > "$records"

# Each line is one JSON value. The bytes 1 and 2 cannot occur in JSON, so that nothing is quoted or split.
psql "$DATABASE_URL" --quiet --set ON_ERROR_STOP=1 <<SQL
SET client_min_messages = warning;
BEGIN;
CREATE TABLE IF NOT EXISTS odoo_partner (
  id bigint PRIMARY KEY,
  name text,
  email text,
  is_company boolean,
  country_id bigint,
  country text,
  write_date timestamptz
);
CREATE TEMPORARY TABLE incoming (record jsonb) ON COMMIT DROP;
\copy incoming FROM '$records' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
DELETE FROM odoo_partner WHERE id NOT IN (SELECT (record->>'id')::bigint FROM incoming);
INSERT INTO odoo_partner
SELECT (record->>'id')::bigint, record->>'name', record->>'email', (record->>'is_company')::boolean,
  (record->'country_id'->>'id')::bigint, record->'country_id'->>'name', (record->>'write_date')::timestamptz
FROM incoming
ON CONFLICT (id) DO UPDATE SET (name, email, is_company, country_id, country, write_date) =
  (excluded.name, excluded.email, excluded.is_company, excluded.country_id, excluded.country, excluded.write_date);
COMMIT;
SQL
