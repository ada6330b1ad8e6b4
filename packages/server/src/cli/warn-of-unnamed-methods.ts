/** Warns of keys whose calls use methods, models or fields that their policies do not name. */

import type { Admin } from '@erp-proxy/admin';
import type { AttentionKind } from '@erp-proxy/contract';
import type { CommandInput } from './command.ts';
import { showLine } from './print-list.ts';

const KINDS: ReadonlySet<AttentionKind> = new Set([
  'method_not_named',
  'reached_model_not_named',
  'credential_field_not_named',
]);

/** `ids`: warn of these keys only; null: of all keys. */
export async function warnOfUnnamedMethods(
  { complain }: CommandInput,
  admin: Pick<Admin, 'listAttention'>,
  ids: ReadonlySet<string> | null,
): Promise<void> {
  const { items } = await admin.listAttention();
  for (const { kind, target, text } of items) {
    const isAsked = ids === null || ids.has(target.replace(/^key /, ''));
    if (KINDS.has(kind) && isAsked) complain(`${showLine(`${target}: ${text}`)}\n`);
  }
}
