/** The policy of a key as the store has it. One that cannot be read lets nothing through: the fault is not the caller's. */
import type { Policy } from '@erp-proxy/contract';
import { readValue } from '../json/read-value.ts';
import { parsePolicy } from '../policy/parse.ts';
import type { KeyRecord } from '../stores/ports.ts';

/** A policy that a newer erp-proxy wrote, or a hand. */
export class StoredPolicyError extends Error {
  override readonly name = 'StoredPolicyError';
  /** What is wrong with the text. */
  readonly reason: string;

  constructor(id: string, reason: string) {
    super(`The policy of key ${id} cannot be read (${reason}). Set it anew with erp-proxy keys update.`);
    this.reason = reason;
  }
}

/** Throws a {@link StoredPolicyError} where the text is no policy. */
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
  const parsed = parsePolicy(value);
  if ('policy' in parsed) return parsed;
  const [first] = parsed.errors;
  return { error: [first?.path, first?.message].filter(Boolean).join(': ') };
}
