/** Consents, and what the authorization server keeps for a time, in a database. Must not know what a body contains. */
import type { ConsentStore, SignInObject, SignInObjectStore, StoredConsent } from './ports/consents.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases } from './statements.ts';

const CONSENT_COLUMNS =
  'id, person, application, provider_session AS "providerSession", created_at AS "createdAt", used_at AS "usedAt", expires_at AS "expiresAt", body';
const OBJECT_COLUMNS =
  'kind, id, consent, body, consumed_at AS "consumedAt", created_at AS "createdAt", expires_at AS "expiresAt"';

export function createConsents({ durable }: Databases): ConsentStore {
  const change = (statement: string, values: readonly unknown[]) =>
    durable.transact((statements) => statements.change(statement, values));
  return {
    async insert(consent, personMax, auditBatch) {
      const { id, person, application, providerSession, createdAt, usedAt, expiresAt, body } = consent;
      await durable.transactWithAudit(
        auditBatch,
        async (statements) => {
          await statements.change(
            `INSERT INTO consents (id, person, application, provider_session, created_at, used_at, expires_at, body)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
            [id, person, application, providerSession, createdAt, usedAt, expiresAt, body],
          );
          await statements.change(
            `DELETE FROM consents WHERE id IN (
               SELECT id FROM consents WHERE person = $1 ORDER BY created_at DESC, id LIMIT 1000 OFFSET $2
             )`,
            [person, personMax],
          );
        },
        () => true,
      );
    },
    async find(id) {
      if (!isStorable(id)) return null;
      const find = `SELECT ${CONSENT_COLUMNS} FROM consents WHERE id = $1`;
      const [consent] = await durable.query<StoredConsent>(find, [id], 'find-consent');
      return consent ?? null;
    },
    async list({ after, limit, person, providerSession }) {
      if (!isStorable(`${person}`)) return [];
      const { values, place } = createParameters();
      const conditions = ['true'];
      if (after !== null) conditions.push(`(person, id) > (${place(after.person)}, ${place(after.id)})`);
      if (person !== undefined) conditions.push(`person = ${place(person)}`);
      if (providerSession !== undefined) conditions.push(`provider_session = ${place(providerSession)}`);
      return durable.query<StoredConsent>(
        `SELECT ${CONSENT_COLUMNS} FROM consents WHERE ${conditions.join(' AND ')}
         ORDER BY person, id LIMIT ${place(limit)}`,
        values,
      );
    },
    update: async (id, body) =>
      hasChanged(await change('UPDATE consents SET body = $2 WHERE id = $1', [id, body])),
    touch: async (id, usedAt) =>
      void (await change('UPDATE consents SET used_at = $2 WHERE id = $1', [id, usedAt])),
    async remove(id, auditBatch) {
      if (!isStorable(id)) return false;
      const remove = 'DELETE FROM consents WHERE id = $1';
      return hasChanged(
        await durable.transactWithAudit(auditBatch, (it) => it.change(remove, [id]), hasChanged),
      );
    },
    removeOf: (whose) =>
      'person' in whose
        ? change('DELETE FROM consents WHERE person = $1', [whose.person])
        : change('DELETE FROM consents WHERE provider_session = $1', [whose.providerSession]),
    prune: (now, limit) =>
      change(
        `DELETE FROM consents WHERE id IN (
           SELECT id FROM consents WHERE expires_at < $1 LIMIT $2 ${durable.dialect.skipLocked}
         )`,
        [now, limit],
      ),
  };
}

export function createSignInObjects({ durable }: Databases): SignInObjectStore {
  const change = (statement: string, values: readonly unknown[]) =>
    durable.transact((statements) => statements.change(statement, values));
  return {
    put: ({ kind, id, consent, body, consumedAt, createdAt, expiresAt }, max) =>
      durable.transact(async (statements) => {
        const count = await statements.change(
          `INSERT INTO sign_in_objects (kind, id, consent, body, consumed_at, created_at, expires_at)
           SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($4 AS text), CAST($5 AS bigint),
             CAST($6 AS bigint), CAST($7 AS bigint)
           WHERE $3 IS NULL OR EXISTS (SELECT 1 FROM consents WHERE id = $3)
           ON CONFLICT (kind, id) DO UPDATE SET consent = excluded.consent, body = excluded.body,
             consumed_at = excluded.consumed_at, expires_at = excluded.expires_at`,
          [kind, id, consent, body, consumedAt, createdAt, expiresAt],
        );
        if (max !== null) {
          await statements.change(
            `DELETE FROM sign_in_objects WHERE kind = $1 AND id IN (
               SELECT id FROM sign_in_objects WHERE kind = $1 ORDER BY expires_at DESC, id LIMIT 1000 OFFSET $2
             )`,
            [kind, max],
          );
        }
        return hasChanged(count);
      }),
    async find(kind, id) {
      if (!isStorable(id)) return null;
      const find = `SELECT ${OBJECT_COLUMNS} FROM sign_in_objects WHERE kind = $1 AND id = $2`;
      const [object] = await durable.query<SignInObject>(find, [kind, id], 'find-sign-in-object');
      return object ?? null;
    },
    list: (kind) =>
      durable.query<SignInObject>(
        `SELECT ${OBJECT_COLUMNS} FROM sign_in_objects WHERE kind = $1 ORDER BY created_at, id`,
        [kind],
      ),
    consume: async (kind, id, at, keptUntil) =>
      hasChanged(
        await change(
          `UPDATE sign_in_objects SET consumed_at = $3, expires_at = $4
           WHERE kind = $1 AND id = $2 AND consumed_at IS NULL`,
          [kind, id, at, keptUntil],
        ),
      ),
    async extend(kind, id, expiresAt) {
      await change('UPDATE sign_in_objects SET expires_at = $3 WHERE kind = $1 AND id = $2', [
        kind,
        id,
        expiresAt,
      ]);
    },
    async remove(kind, id) {
      await change('DELETE FROM sign_in_objects WHERE kind = $1 AND id = $2', [kind, id]);
    },
    prune: (now, limit) =>
      change(
        `DELETE FROM sign_in_objects WHERE (kind, id) IN (
           SELECT kind, id FROM sign_in_objects WHERE expires_at < $1 LIMIT $2 ${durable.dialect.skipLocked}
         )`,
        [now, limit],
      ),
  };
}

function hasChanged(count: number): boolean {
  return count > 0;
}
