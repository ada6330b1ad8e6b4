/**
 * Finds the required fields of a model that have no default, so that a new record needs values for them. Odoo does not
 * report that, so its defaults are read.
 */
import { type Ask, Refusal } from './ask.ts';

/** The attributes of a field that Odoo reports. */
export interface FieldDescription extends Readonly<Record<string, unknown>> {
  type: string;
}

/** Empty if Odoo refuses to tell its defaults: no field is then described as lacking one. */
export async function findLackingDefaults(
  ask: Ask,
  model: string,
  fields: Readonly<Record<string, FieldDescription>>,
): Promise<ReadonlySet<string>> {
  const names = listUndecided(fields);
  if (names.length === 0) return new Set();
  try {
    const defaults = await ask(model, 'default_get', [names], {});
    if (typeof defaults !== 'object' || defaults === null || Array.isArray(defaults)) return new Set();
    return new Set(names.filter((name) => !Object.hasOwn(defaults, name)));
  } catch (error) {
    // Rethrown, because the types must not depend on an error that can pass.
    if (!(error instanceof Refusal) || error.isPassing) throw error;
    return new Set();
  }
}

/** Types of fields that Odoo fills without a default. */
const FILLED_TYPES = ['boolean', 'one2many', 'many2many'];

/**
 * The required fields that need a value from the caller or from a default: stored ones that can be written. Odoo
 * computes other fields, and creates the parent record of `_inherits`, which related fields lead to.
 */
function listUndecided(description: Readonly<Record<string, FieldDescription>>): string[] {
  const fields = Object.entries(description);
  const parents = new Set(fields.map(([, { related }]) => readPath(related)?.[0]));
  return fields
    .filter(
      ([name, { type, required, readonly, store, depends, related }]) =>
        required === true &&
        readonly !== true &&
        store !== false &&
        !FILLED_TYPES.includes(String(type)) &&
        !(Array.isArray(depends) && depends.length > 0) &&
        readPath(related) === null &&
        !parents.has(name),
    )
    .map(([name]) => name);
}

/** A path of fields. Until Odoo 15 it is a list. */
function readPath(value: unknown): unknown[] | null {
  if (typeof value === 'string') return value.split('.');
  return Array.isArray(value) && value.length > 0 ? value : null;
}
