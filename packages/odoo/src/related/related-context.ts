/**
 * Finds the members of a context through which a call changes records of sensitive models, names records of other
 * models on which its method then acts, or makes Odoo run a method. Independent of policies.
 */

import {
  decodeString,
  isEmptyArray,
  type JsonKind,
  type JsonMember,
  type JsonSpan,
  readKind,
  readMembers,
  skipString,
  skipValue,
  someMember,
} from '@erp-proxy/json';
import { isWriteMethod } from '../methods.ts';
import { findContextEffects } from '../sensitive/context-effects.ts';
import { SENSITIVE_CONTEXT, type SensitiveContextMember } from '../sensitive/sensitive-members.ts';
import { readTableLines } from '../table-lines.ts';
import { CONTEXT_RECORDS } from './context-records-data.ts';
import { ANY_MODEL, UNDETERMINED } from './related-findings.ts';

/** A member of a context that names records, or makes Odoo change records or run a method. */
export interface ContextNeed {
  member: string;
  /** The model of the records; null: not known. */
  model: string | null;
  /** `read`: active records are those of a form, which needs no more than a link to them. */
  method: string;
}

/** The member of the context that names the model of the active records. */
export const ACTIVE_MODEL = 'active_model';
const NONE: readonly string[] = [];
const ACTIVE = ['active_id', 'active_ids'];
/** Maximum number of members that are read. Contexts of Odoo have fewer. */
const MEMBERS_MAX = 1000;
/** Maximum length of the name of a model, in bytes. No model has a longer name. */
export const MODEL_LENGTH_MAX = 200;

/** The members of the context that name records of other models than that of the call, or have an effect themselves. */
export function listContextNeeds(
  bytes: Uint8Array,
  context: JsonSpan,
  model: string,
): ContextNeed[] | typeof UNDETERMINED {
  if (context.kind !== 'object') return [];
  const members = readMembers(bytes, context, MEMBERS_MAX);
  if (members.length === MEMBERS_MAX) return UNDETERMINED;
  const given = members.filter(({ value }) => !isEmpty(bytes, value));
  const active = given.find(({ name }) => ACTIVE.includes(name));
  const records: ContextNeed[] = given.flatMap(({ name: member }) =>
    findModels(member).map((each) => ({ member, model: each, method: 'write' })),
  );
  const models = active === undefined ? [] : listActiveModels(bytes, given, model);
  for (const each of models) records.push({ member: active!.name, model: each, method: 'read' });
  const effects = given.flatMap(({ name: member }) => {
    // What happens to the records that the member names is covered by the need to write them.
    const named = findModels(member);
    const others = findContextEffects(member).filter((each) => !named.includes(each.model));
    return others.map((each) => ({ member, model: each.model, method: each.method }));
  });
  return [...records.filter((each) => each.model !== model), ...effects];
}

/** The models of the active records on which methods of the model act; null stands for a model that is not known. */
function listActiveModels(
  bytes: Uint8Array,
  given: readonly JsonMember[],
  model: string,
): readonly (string | null)[] {
  const models = findModels(`${model}:`);
  if (models.length === 0) return models;
  const [value, ...others] = given.filter(({ name }) => name === ACTIVE_MODEL).map((member) => member.value);
  if (value?.kind !== 'string' || others.length > 0 || value.end - value.start > MODEL_LENGTH_MAX)
    return models;
  const named = decodeString(bytes, value);
  // A method that knows other models does not look at this one.
  return models.includes(null) || models.includes(named) ? [named] : models;
}

/** The members of the context that change sensitive models, in the order of the table. */
export function listContextWrites(
  bytes: Uint8Array,
  context: JsonSpan,
  { model, method }: { model: string; method: string },
): SensitiveContextMember[] {
  return SENSITIVE_CONTEXT.filter(
    ({ name, methods = '', isOfOthers, of = model }) =>
      of === model &&
      method.startsWith(methods) &&
      !(isOfOthers && isOfOrm(method)) &&
      someMember(bytes, context, [name], (at) => isSet(bytes, at)),
  );
}

function isOfOrm(method: string): boolean {
  return isWriteMethod(method) || method === 'default_get' || method === 'onchange';
}

/** Maximum number of fields that are searched; imports name far fewer. */
const FIELDS_MAX = 1000;

/** Null, false, an empty text, and an object whose members are all empty count as omitted. */
function isSet(bytes: Uint8Array, start: number): boolean {
  const kind = readKind(bytes, start);
  if (kind === 'string') return skipString(bytes, start) - start > 2;
  if (kind !== 'object') return !isFalse(kind);
  const object: JsonSpan = { kind, start, end: skipValue(bytes, start) };
  const fields = readMembers(bytes, object, FIELDS_MAX);
  return fields.length === FIELDS_MAX || fields.some(({ value }) => !isFalse(value.kind));
}

function isFalse(kind: JsonKind): boolean {
  return kind === 'null' || kind === 'false';
}

/** Null, false, and an empty text or list. */
function isEmpty(bytes: Uint8Array, value: JsonSpan): boolean {
  const { kind, start, end } = value;
  if (kind === 'array') return isEmptyArray(bytes, value);
  return isFalse(kind) || (kind === 'string' && end - start === 2);
}

/** By member, or by model with a colon: the models of the records. The size of the data bounds the map. */
let records: ReadonlyMap<string, readonly (string | null)[]> | null = null;

function findModels(name: string): readonly (string | null)[] {
  records ??= readRecords();
  return records.get(name) ?? NONE;
}

function readRecords(): Map<string, readonly (string | null)[]> {
  return new Map(
    readTableLines(CONTEXT_RECORDS).map(({ name, words }) => [
      name,
      words.map((model) => (model === ANY_MODEL ? null : model)),
    ]),
  );
}
