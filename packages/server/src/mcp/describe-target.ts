/** Names the records of a call for the person who is asked about it. */

import type { InstanceRecord } from '../instances/instances.ts';
import { isObject } from '../json/is-object.ts';
import { mayCall } from '../policy/abilities.ts';
import { asRows } from './as-rows.ts';
import type { Field, Fields } from './fields.ts';
import { quoteText } from './print-arguments.ts';
import type { Session } from './session.ts';
import { ToolError } from './tool-error.ts';

const NAMED_MAX = 5;
const NAME_LENGTH_MAX = 80;
/** Fields that are named beside the record if its model has them: a confirmed order is more than a draft. */
const TELLING = ['partner_id', 'state', 'stage_id'];

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
  const { known, rows } = await readTelling(session, target, model, shown).catch((error: unknown) => {
    if (error instanceof ToolError) return { known: null, rows: [] };
    throw error;
  });
  const named = new Map(rows.map((row) => [row['id'], describeRecord(row, known)]));
  // Odoo may give no names at all if one of the records does not exist.
  const records = shown.map((id) => named.get(id) ?? `id ${id}`);
  return `${what}: ${records.join(', ')}${more}`;
}

async function readTelling(
  session: Session,
  instance: InstanceRecord,
  model: string,
  ids: readonly number[],
): Promise<{ known: Fields | null; rows: Record<string, unknown>[] }> {
  const known = await session.fields(instance, model);
  const names = session.chooseFields(known, (fields) => [
    'display_name',
    ...TELLING.filter((name) => fields.has(name)),
  ]);
  return { known, rows: asRows(await session.call(instance, model, 'read', [ids, names])) };
}

/** `“S00004” (id 4, “Gemini Furniture”, “Sales Order”)`. */
function describeRecord(row: Record<string, unknown>, known: Fields | null): string {
  const { id, display_name: name } = row;
  const values = TELLING.map((field) => printValue(row[field], known?.get(field)));
  const told = [`id ${id}`, ...values.filter((value) => value !== null)].join(', ');
  return typeof name === 'string' ? `${quoteText(name, NAME_LENGTH_MAX)} (${told})` : `id ${id}`;
}

/** The name of a record, or the label of an option. */
function printValue(value: unknown, field: Field | undefined): string | null {
  const option = field?.selection?.find(([key]) => key === value);
  const text = isObject(value) ? value['name'] : (option?.[1] ?? value);
  return typeof text === 'string' ? quoteText(text, NAME_LENGTH_MAX) : null;
}
