/**
 * Idempotency keys in memory. Both are bounded: beyond the bound of bytes the oldest answers are dropped, but never a
 * key; beyond the bound of keys new ones are refused.
 */
import type { IdempotencyClaim, IdempotencyRow, IdempotencyStore } from '../ports.ts';
import { StoreError } from '../store-error.ts';

interface Row {
  client: string;
  fingerprint: string;
  attempt: string;
  runsUntil: number;
  expiresAt: number;
  isDone: boolean;
}

const BOUNDS = { rowsMax: 100_000, answerBytesMax: 64 * 1024 * 1024 };

export function createMemoryIdempotency(
  clock: () => number,
  { rowsMax, answerBytesMax } = BOUNDS,
): IdempotencyStore {
  const rows = new Map<string, Row>();
  /** Oldest first. */
  const answers = new Map<string, Uint8Array>();
  let answerBytes = 0;

  function find(id: string): IdempotencyRow | null {
    const row = rows.get(id);
    if (row === undefined || row.expiresAt <= clock()) return null;
    const { fingerprint, isDone, runsUntil } = row;
    const state = isDone ? 'done' : runsUntil > clock() ? 'running' : 'outcome_unknown';
    return { fingerprint, state, answer: answers.get(id)?.slice() ?? null };
  }

  function claim({ id, client, fingerprint, attempt, runsForMs, expiresInMs }: IdempotencyClaim) {
    const row = find(id);
    if (row !== null) return row;
    remove(id);
    if (rows.size >= rowsMax) {
      throw new StoreError('The store in memory has no room for more idempotency keys: use a lasting store.');
    }
    const now = clock();
    rows.set(id, {
      client,
      fingerprint,
      attempt,
      runsUntil: now + runsForMs,
      expiresAt: now + expiresInMs,
      isDone: false,
    });
    return null;
  }

  function findRunning(id: string, attempt: string): Row | null {
    const row = rows.get(id);
    return row !== undefined && row.attempt === attempt && !row.isDone ? row : null;
  }

  function remove(id: string): void {
    dropAnswer(id);
    rows.delete(id);
  }

  function dropAnswer(id: string): void {
    answerBytes -= answers.get(id)?.length ?? 0;
    answers.delete(id);
  }

  return {
    find,
    claim,
    extend(id, attempt, runsForMs) {
      const row = findRunning(id, attempt);
      if (row !== null) row.runsUntil = clock() + runsForMs;
    },
    complete(id, attempt, answer, expiresInMs) {
      const row = findRunning(id, attempt);
      if (row === null) return;
      row.isDone = true;
      row.expiresAt = clock() + expiresInMs;
      if (answer === null) return;
      answers.set(id, answer.slice());
      answerBytes += answer.length;
      for (const oldest of answers.keys()) {
        if (answerBytes <= answerBytesMax) break;
        dropAnswer(oldest);
      }
    },
    markUnknown(id, attempt) {
      const row = findRunning(id, attempt);
      if (row !== null) row.runsUntil = -Infinity;
    },
    release(id, attempt) {
      if (findRunning(id, attempt) !== null) remove(id);
    },
    measure(client) {
      const use = { keys: 0, answerBytes: 0 };
      for (const [id, row] of rows) {
        if (row.client !== client) continue;
        use.keys++;
        use.answerBytes += answers.get(id)?.length ?? 0;
      }
      return use;
    },
    prune(limit) {
      const now = clock();
      let removed = 0;
      for (const [id, { expiresAt }] of rows) {
        if (removed === limit) break;
        if (expiresAt > now) continue;
        remove(id);
        removed++;
      }
      return removed;
    },
  };
}
