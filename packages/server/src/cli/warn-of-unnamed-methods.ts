/** Warns of keys whose policies lack entries for their calls. */
import type { AttentionKind } from '@erp-proxy/contract';
import type { Admin } from '../admin/admin.ts';
import type { CommandInput } from './command.ts';
import { showLine } from './print-list.ts';

const KINDS: ReadonlySet<AttentionKind> = new Set(['method_not_named', 'reached_model_not_named']);

/** `ids`: only of these keys; null: of all. */
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
