/**
 * Compiles the order of records. Throws Odoo's error for an invalid order. Independent of domains and access rights.
 */
import type { Json } from '../json/value.ts';
import { Fault, userError } from './fault.ts';
import type { Environment, Field, Model } from './model.ts';
import type { Row } from './row.ts';
import { isSortable } from './searchable.ts';
import { readStored } from './values.ts';

export interface Order {
  readonly text: string;
  /** The values of a row that decide its position. */
  readonly readKeys: (row: Row) => Json[];
  readonly compare: (left: readonly Json[], right: readonly Json[]) => number;
}

type CompareIds = (a: number, b: number) => number;

/** How one field sorts rows. */
interface OrderPart {
  readonly readKey: (row: Row) => Json;
  readonly compare: (left: Json, right: Json) => number;
}

const orderPattern =
  /^(\s*([a-z0-9:_.]+|"[a-z0-9:_.]+")(\s+(desc|asc))?(\s+nulls\s+(first|last))?\s*(,|$))+(?<!,)$/i;
const collator = new Intl.Collator('en', { sensitivity: 'variant' });

/** `order` null: the model's own order. */
export function compileOrder(environment: Environment, model: Model, order: Json, depth = 0): Order {
  const text = typeof order === 'string' ? order : (model.order ?? 'id');
  const isValid =
    orderPattern.test(text) && (environment.personality.ordersByLinkedId || !text.includes('.'));
  if (!isValid) {
    throw userError(
      `Invalid "order" specified (${text}). A valid "order" specification is a comma-separated list of valid field names (optionally followed by asc/desc for the direction)`,
    );
  }
  const parts = text.split(',').map((part) => compilePart(environment, model, part.trim(), depth));
  return {
    text,
    readKeys: (row) => parts.map((part) => part.readKey(row)),
    compare: (left, right) => {
      for (const [index, part] of parts.entries()) {
        const result = part.compare(left[index] as Json, right[index] as Json);
        if (result !== 0) return result;
      }
      return 0;
    },
  };
}

/** Compares ids of records by the model's own order. */
export function compileIdComparison(environment: Environment, model: Model, depth = 0): CompareIds {
  const order = compileOrder(environment, model, null, depth);
  const readKeys = (id: number) => order.readKeys(environment.store.get(model.name, id) ?? ({ id } as Row));
  return (a, b) => order.compare(readKeys(a), readKeys(b));
}

/** The ids of records of one model in the model's own order. */
export function sortIds(environment: Environment, model: Model, ids: readonly number[]): readonly number[] {
  return ids.length < 2 ? ids : ids.toSorted(compileIdComparison(environment, model));
}

function compilePart(environment: Environment, model: Model, part: string, depth: number): OrderPart {
  const [path = '', direction = 'asc'] = part.split(/\s+/);
  // `partner_id.id` sorts by the ids of partners, `partner_id` by the order of the partner model.
  const isById = path.endsWith('.id');
  const name = isById ? path.slice(0, -'.id'.length) : path;
  const field = model.fields.get(name);
  if (!field) throw new Fault('builtins.ValueError', `Invalid field '${name}' on model '${model.name}'`);
  if (!isSortable(environment, model, field)) return sortUnsortable(environment, model, field);
  const sign = direction.toLowerCase() === 'desc' ? -1 : 1;
  const compareValues = isById ? compareScalars : pickComparison(environment, field, depth);
  return {
    readKey: (row) => readStored(environment, model, row, field),
    compare: (a, b) => {
      if (a === b) return 0;
      // PostgreSQL puts nulls last in ascending order, and first in descending order.
      if (a === null || b === null) return sign * (a === null ? 1 : -1);
      return sign * compareValues(a, b);
    },
  };
}

/** The result for a field by which records cannot be sorted. Up to 18, Odoo leaves out the field. */
function sortUnsortable({ personality }: Environment, model: Model, field: Field): OrderPart {
  const { notStored } = personality.texts;
  if (notStored) throw notStored(model.name, field.name);
  return { readKey: () => null, compare: () => 0 };
}

function pickComparison(environment: Environment, field: Field, depth: number): OrderPart['compare'] {
  if (field.type !== 'many2one' || depth >= 2) return compareScalars;
  const compareIds = compileIdComparison(environment, environment.model(field.relation!), depth + 1);
  return (a, b) => compareIds(a as number, b as number);
}

export function compareScalars(a: Json, b: Json): number {
  if (typeof a === 'string' && typeof b === 'string')
    return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
  return Number(a) - Number(b);
}
