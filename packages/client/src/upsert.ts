/** Updates the records that exist, and creates the others. */
import type { Calls } from './calls.ts';
import { refuse } from './errors.ts';
import type { CallOptions } from './options.ts';
import { createPages } from './paginate.ts';

export interface UpsertResult {
  id: number;
  isCreated: boolean;
}

type Values = Record<string, unknown>;

/** Maximum number of values in one search. */
const VALUES_MAX = 1000;

/**
 * The results have the order of the rows. If the same call is repeated after an error, it completes the remaining rows.
 */
export async function upsertRows(
  model: string,
  { execute, batch }: Pick<Calls, 'execute' | 'batch'>,
  by: readonly string[],
  rows: readonly Values[],
  options: CallOptions = {},
): Promise<UpsertResult[]> {
  const keys = rows.map((row) => describeKey(by, row));
  checkRows(by, rows, keys);
  const known = await findKnown(model, execute, by, rows, options);
  const updates = rows.flatMap((row, at) => {
    const id = known.get(keys[at] as string);
    return id === undefined ? [] : [{ action: 'write', model_id: model, params: [[id], row] }];
  });
  for (const result of await batch(updates, options)) {
    if (result.status === 'rejected') throw result.reason;
  }
  const fresh = rows.filter((_, at) => !known.has(keys[at] as string));
  const create = { action: 'create', model_id: model, params: [fresh] };
  const created = fresh.length > 0 ? ((await execute(create, options)).result as number[]) : [];
  const next = created.values();
  return keys.map((key) => {
    const id = known.get(key);
    return { id: id ?? (next.next().value as number), isCreated: id === undefined };
  });
}

/** The ids of existing records, including archived ones. */
async function findKnown(
  model: string,
  execute: Calls['execute'],
  by: readonly string[],
  rows: readonly Values[],
  options: CallOptions,
): Promise<Map<string, number>> {
  const [first = ''] = by;
  const wanted = new Set(rows.map((row) => describeKey(by, row)));
  const values = [...new Set(rows.map((row) => identify(row[first])))];
  const known = new Map<string, number>();
  const withArchived = { ...options, context: { ...options.context, active_test: false } };
  for (let at = 0; at < values.length; at += VALUES_MAX) {
    const domain = [[first, 'in', values.slice(at, at + VALUES_MAX)]];
    for await (const row of createPages(model, execute, domain, { fields: by }, withArchived)) {
      const key = describeKey(by, row as Values);
      const other = known.get(key);
      if (!wanted.has(key)) continue;
      if (other !== undefined) {
        throw refuse(`${model} has several records with the same ${by.join(', ')}: ${other} and ${row.id}.`);
      }
      known.set(key, row.id);
    }
  }
  return known;
}

function checkRows(by: readonly string[], rows: readonly Values[], keys: readonly string[]): void {
  const [first] = by;
  if (first === undefined) throw refuse('Name at least one field in `by`.');
  const seen = new Map<string, number>();
  for (const [at, key] of keys.entries()) {
    if (!rows[at]?.[first]) throw refuse(`Row ${at} has no value for ${first}.`);
    const other = seen.get(key);
    if (other !== undefined) throw refuse(`Rows ${other} and ${at} have the same ${by.join(', ')}.`);
    seen.set(key, at);
  }
}

function describeKey(by: readonly string[], row: Values): string {
  return JSON.stringify(by.map((field) => identify(row[field])));
}

/**
 * Converts a value to the form in which a domain compares it. Odoo returns a many2one with its name, and `false` for no
 * value.
 */
function identify(value: unknown): unknown {
  if (Array.isArray(value)) return value[0];
  if (typeof value !== 'object' || value === null) return value ?? false;
  if ('id' in value && !('model' in value)) return value.id;
  throw refuse('A date object or a reference cannot be compared: name other fields in `by`.');
}
