/**
 * Reads the stored policy of a key. A key whose policy cannot be read makes no calls, which is not an error of the
 * caller.
 */
import type { Policy } from '@erp-proxy/contract';
import { readValue } from '@erp-proxy/json';
import { parsePolicy } from '@erp-proxy/policy/parse';
import type { KeyRecord } from '@erp-proxy/stores/ports';

/** A stored policy that cannot be read: a newer erp-proxy or a person wrote it. */
export class StoredPolicyError extends Error {
  override readonly name = 'StoredPolicyError';
  /** The error in the stored text. */
  readonly reason: string;

  constructor(id: string, reason: string) {
    super(`The policy of key ${id} cannot be read (${reason}). Set it anew with erp-proxy keys update.`);
    this.reason = reason;
  }
}

/** Throws a {@link StoredPolicyError} if the text is not a policy. */
export function readStoredPolicy({ id, policy: text }: Pick<KeyRecord, 'id' | 'policy'>): Policy | null {
  if (text === null) return null;
  const parsed = parseText(text);
  if ('policy' in parsed) return parsed.policy;
  throw new StoredPolicyError(id, parsed.error);
}

function parseText(text: string): { policy: Policy } | { error: string } {
  let value: unknown;
  try {
    value = readValue(Buffer.from(text));
  } catch (error) {
    return { error: (error as Error).message.replace(/\.$/, '') };
  }
  const parsed = parsePolicy(value, { isStored: true });
  if ('policy' in parsed) return parsed;
  const [first] = parsed.errors;
  return { error: [first?.path, first?.message].filter(Boolean).join(': ') };
}
