/**
 * Reads the records that fields of other records lead to, and puts them in place of the ids. Reads by one call for each
 * relation, which passes the pipeline as if the agent had made it (docs/decisions/0033-tools-for-agents.md).
 */
import { cutText } from '@erp-proxy/contract';
import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';
import { asRecords, pickMembers } from '../as-rows.ts';
import { explainUnknownFields, listUnknownFields } from '../call-errors.ts';
import type { Fields } from '../fields.ts';
import type { Session } from '../session.ts';
import { printError, ToolError } from '../tool-error.ts';

/** What a tool call with `fields` reads. */
export interface ReadingPlan {
  /** Fields of the model itself. */
  names: string[];
  relations: readonly Relation[];
  /** Fields that do not exist, with similar names. */
  unknown: readonly string[];
}

export interface Relation {
  /** The field that leads to the records. */
  field: string;
  model: string;
  /** Fields of the related records. */
  names: readonly string[];
  /** The fields of the related model; null if unknown. */
  known: Fields | null;
}

export interface RelatedRead {
  /** The first of the rows, as far as their related records fit into an answer. */
  rows: Record<string, unknown>[];
  /** Fields for which some related records were not read. */
  clipped: string[];
  /** The fields that have related records in place of ids, each with the fields of those records; null if unknown. */
  related: Map<string, Fields | null>;
  /** Why related records were not read, by field. */
  notRead: Record<string, string>;
}

interface FieldPaths {
  /** Fields of the model itself, including those that lead to related records. */
  names: string[];
  /** The fields of related records, by the field that leads to them. */
  related: ReadonlyMap<string, readonly string[]>;
}

const RELATIONAL_TYPES = ['many2one', 'one2many', 'many2many'];
/** Maximum related records of one answer. */
const RELATED_MAX = 200;
/** Maximum relations: each needs a further call on Odoo. */
const RELATIONS_MAX = 3;
const PATH_SHOWN_MAX = 100;

/**
 * Leaves out fields that do not exist: agents often ask for more than a server has. `compared`: fields that the call
 * names elsewhere, such as in its domain. Throws a {@link ToolError} if one of `compared` does not exist, if none of
 * the fields does, or if a path leads to no records.
 */
export async function planReading(
  session: Session,
  instance: InstanceRecord,
  model: string,
  fields: readonly string[],
  compared: readonly string[] = [],
): Promise<ReadingPlan> {
  const { names: wanted, related } = readFieldPaths(fields);
  const missing = await session.findUnknownFields(instance, model, [...wanted, ...compared]);
  const isKnown = (name: string) => !missing.names.has(name);
  let refusal = missing.names.size > 0 ? explainUnknownFields(model, missing.shown) : null;
  if (refusal !== null && !compared.every(isKnown)) throw refusal;
  const unknown = listUnknownFields(missing);
  const relations: Relation[] = [];
  for (const [field, wantedOfRelated] of related) {
    if (!isKnown(field)) continue;
    const types = await session.fields(instance, model);
    if (types === null) throw refuseUnknownTypes(model, field);
    const { type = '', relation } = types.get(field) ?? {};
    if (relation === undefined || !RELATIONAL_TYPES.includes(type)) {
      throw new ToolError('query_invalid', `${model}.${field} leads to no records.`, {
        next: `Ask for "${field}" without a dot.`,
      });
    }
    const missingOfRelated = await session.findUnknownFields(instance, relation, wantedOfRelated);
    unknown.push(...listUnknownFields(missingOfRelated, `${field}.`));
    const namesOfRelated = wantedOfRelated.filter((name) => !missingOfRelated.names.has(name));
    if (namesOfRelated.length > 0) {
      const known = await session.fields(instance, relation);
      relations.push({ field, model: relation, names: namesOfRelated, known });
    } else refusal ??= explainUnknownFields(relation, missingOfRelated.shown);
  }
  const hasPlain = fields.some((field) => !field.includes('.') && isKnown(field));
  if (refusal !== null && !hasPlain && relations.length === 0) throw refusal;
  return { names: wanted.filter(isKnown), relations, unknown };
}

/** Throws a {@link ToolError} for paths of more than two names, and for too many relations. */
function readFieldPaths(fields: readonly string[]): FieldPaths {
  const related = new Map<string, Set<string>>();
  for (const field of fields) {
    const [name = '', ...path] = field.split('.');
    if (path.length === 0) continue;
    if (path.length > 1) throw refuseSteps(field);
    const names = related.get(name) ?? new Set();
    related.set(name, names.add(path[0] as string));
  }
  if (related.size > RELATIONS_MAX) {
    const message = `\`fields\` leads to ${related.size} relations; ${RELATIONS_MAX} are the most.`;
    throw new ToolError('invalid_params', message, { next: 'Ask for the others by another call.' });
  }
  return {
    names: [...new Set(fields.map((field) => field.split('.', 1)[0] as string))],
    related: new Map([...related].map(([name, names]) => [name, [...names]])),
  };
}

function refuseSteps(field: string): ToolError {
  return new ToolError('query_invalid', `"${cutText(field, PATH_SHOWN_MAX)}" has more than one step.`, {
    next: 'Ask for its first two names, and read the records behind them by read_records.',
  });
}

function refuseUnknownTypes(model: string, field: string): ToolError {
  const message = `This key may not ask for the fields of ${model}, so that it is not known where "${field}" leads.`;
  return new ToolError('policy_denied', message, {
    next: 'Ask for the field without a dot, and read the records behind it by read_records.',
  });
}

/** Changes the rows. If reading a relation is refused, its field keeps the ids. */
export async function readRelated(
  session: Session,
  instance: InstanceRecord,
  found: Record<string, unknown>[],
  relations: readonly Relation[],
): Promise<RelatedRead> {
  const rows = found.slice(0, countFitting(found, relations));
  const clipped: string[] = [];
  const related = new Map<string, Fields | null>();
  const notRead: Record<string, string> = {};
  let left = RELATED_MAX;
  for (const { field, model, names, known } of relations) {
    const all = new Set(rows.flatMap((row) => listIds(row[field])));
    const ids = [...all].slice(0, left);
    left -= ids.length;
    try {
      const byId = await readByIds(session, instance, model, ids, names);
      if (byId.size < all.size) clipped.push(field);
      for (const row of rows) row[field] = nest(row[field], byId);
      related.set(field, known);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      notRead[field] = printError(error);
    }
  }
  return { rows, clipped, related, notRead };
}

/**
 * Records by id. Some may be missing: Odoo leaves out records that do not exist, and a policy can bound their number.
 */
async function readByIds(
  session: Session,
  instance: InstanceRecord,
  model: string,
  ids: readonly number[],
  names: readonly string[],
): Promise<Map<number, Record<string, unknown>>> {
  if (ids.length === 0) return new Map();
  const context = { bin_size: true };
  const rows = asRecords(await session.call(instance, model, 'read', [ids, names], { context }), ids);
  return new Map(pickMembers(rows, names).map((row) => [row.id, row]));
}

/** The number of rows that have at most {@link RELATED_MAX} related records together; at least one. */
function countFitting(rows: readonly Record<string, unknown>[], relations: readonly Relation[]): number {
  let related = 0;
  const count = rows.findIndex((row) => {
    for (const { field } of relations) related += listIds(row[field]).length;
    return related > RELATED_MAX;
  });
  return count === -1 ? rows.length : Math.max(1, count);
}

/** Ids in the normalized value of a relational field. */
function listIds(value: unknown): number[] {
  if (Array.isArray(value)) return value.filter((id) => typeof id === 'number');
  return isObject(value) && typeof value['id'] === 'number' ? [value['id']] : [];
}

/** Puts records in place of ids. A record that occurs several times is the same object each time. */
function nest(value: unknown, byId: ReadonlyMap<unknown, Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((id) => byId.get(id) ?? { id });
  return isObject(value) ? { ...value, ...byId.get(value['id']) } : value;
}
