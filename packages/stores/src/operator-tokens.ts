/** Personal tokens of operators in a database. Must not know when a token is valid. */
import type { OperatorToken, OperatorTokenStore, StoredOperatorToken } from './ports/operator-tokens.ts';
import { createParameters, isStorable } from './sql.ts';
import type { Databases } from './statements.ts';
import { touchRows } from './touch-rows.ts';

const COLUMNS = `id, name, role, instances, created_at AS "createdAt", created_by AS "createdBy", expires_at AS "expiresAt",
  revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`;

export function createOperatorTokens({ durable }: Databases): OperatorTokenStore {
  return {
    async insert(token, auditBatch) {
      await durable.transactWithAudit(
        auditBatch,
        (statements) =>
          statements.change(
            `INSERT INTO operator_tokens (id, name, role, instances, secret_hash, created_at, created_by, expires_at,
                                          revoked_at, last_used_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
            [
              token.id,
              token.name,
              token.role,
              token.instances,
              token.secretHash,
              token.createdAt,
              token.createdBy,
              token.expiresAt,
              token.revokedAt,
              token.lastUsedAt,
            ],
          ),
        () => true,
      );
    },
    async findById(id) {
      if (!isStorable(id)) return null;
      const [token] = await durable.query<StoredOperatorToken>(
        `SELECT ${COLUMNS}, secret_hash AS "secretHash" FROM operator_tokens WHERE id = $1`,
        [id],
        'find-operator-token',
      );
      return token ?? null;
    },
    list(after, limit) {
      const { values, place } = createParameters();
      const condition =
        after === null ? '' : `WHERE (created_at, id) > (${place(after.createdAt)}, ${place(after.id)})`;
      return durable.query<OperatorToken>(
        `SELECT ${COLUMNS} FROM operator_tokens ${condition} ORDER BY created_at, id LIMIT ${place(limit)}`,
        values,
      );
    },
    async revoke(id, revokedAt, auditBatch) {
      if (!isStorable(id)) return false;
      const changed = await durable.transactWithAudit(
        auditBatch,
        (statements) =>
          statements.change(
            'UPDATE operator_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL',
            [id, revokedAt],
          ),
        (count) => count > 0,
      );
      return changed > 0;
    },
    touch: (uses) => touchRows(durable, 'operator_tokens', uses),
  };
}
