/** Names the records of a call for the person who is asked about it. */

import { isObject } from '../json/is-object.ts';
import { mayCall } from '../policy/abilities.ts';
import { quoteText } from './print-arguments.ts';
import type { Session } from './session.ts';
import { ToolError } from './tool-error.ts';

const NAMED_MAX = 5;
const NAME_LENGTH_MAX = 80;

export interface Target {
  model: string;
  /** Empty: the model itself. */
  ids?: readonly number[] | undefined;
  instance?: string | undefined;
  /** What one of the records is called. */
  noun?: string;
}

export async function describeTarget(
  { model, ids = [], instance, noun = 'record' }: Target,
  session: Session,
): Promise<string> {
  const target = await session.pickInstance(instance);
  if (ids.length === 0) return `${model} on ${target.name}`;
  const different = [...new Set(ids)];
  const { length } = different;
  const what = `${length === 1 ? `one ${noun}` : `${length} ${noun}s`} of ${model} on ${target.name}`;
  const shown = different.slice(0, NAMED_MAX);
  const more = length > shown.length ? ' and others' : '';
  if (!mayCall(session.policy, model, 'read')) return `${what} (ids ${shown.join(', ')}${more})`;
  const rows = await session
    .call(target, model, 'read', [shown, ['display_name']])
    .catch((error: unknown) => {
      if (error instanceof ToolError) return [];
      throw error;
    });
  const names = new Map<unknown, string>();
  for (const row of Array.isArray(rows) ? rows : []) {
    if (!isObject(row)) continue;
    const { id, display_name: name } = row;
    if (typeof name === 'string') names.set(id, quoteText(name, NAME_LENGTH_MAX));
  }
  // Odoo may give no names at all if one of the records does not exist.
  const records = shown.map((id) => (names.has(id) ? `${names.get(id)} (id ${id})` : `id ${id}`));
  return `${what}: ${records.join(', ')}${more}`;
}
