/** The policy of a key as the store has it. One that cannot be read lets nothing through: the fault is not the caller's. */
import type { Policy } from '@erp-proxy/contract';
import { parsePolicy } from '../policy/parse.ts';
import type { KeyRecord } from '../stores/ports.ts';

/** A policy that a newer erp-proxy wrote, or a hand. */
export class StoredPolicyError extends Error {
  override readonly name = 'StoredPolicyError';
}

/** Throws a {@link StoredPolicyError} where the text is no policy. */
export function readStoredPolicy({ id, policy: text }: Pick<KeyRecord, 'id' | 'policy'>): Policy | null {
  if (text === null) return null;
  const parsed = parsePolicy(readJson(text));
  if ('policy' in parsed) return parsed.policy;
  const [fault] = parsed.faults;
  throw new StoredPolicyError(
    `The policy of key ${id} cannot be read (${fault?.path}: ${fault?.message}). Set it anew with erp-proxy keys update.`,
  );
}

/** What is no JSON is no policy either. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
