/**
 * Reads from the bytes of a call what a policy decides on. A value that cannot be read counts as one that no policy
 * allows. Makes no decisions, and changes nothing.
 */
import type { ContextDefaults } from '@erp-proxy/contract';
import {
  findDuplicate,
  isEmptyArray,
  type JsonMember,
  type JsonSpan,
  readElements,
  readInteger,
  readMembers,
} from '@erp-proxy/json';
import {
  type Arguments,
  countRecords,
  isLeftOut,
  isReadOnlyMethod,
  limitRule,
  listEquivalents,
  POSITIONAL_MAX,
  type RecordCount,
} from '@erp-proxy/odoo';
import { listFieldUses } from '@erp-proxy/odoo/fields';
import {
  bringsContext,
  findRelatedRead,
  findRelatedWrites,
  hasUnboundedField,
  listReadEffects,
} from '@erp-proxy/odoo/related';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import type { NamedContext, PolicyRequest } from '@erp-proxy/policy';
import { Denial } from '../terms/denial.ts';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';
import { readBaseUrl } from './read-members.ts';

/** A call of any route that runs a method. */
export interface DescribedCall {
  model: string;
  method: string;
  instance: Call['instance'] | { url: string; db: string };
  args: Arguments;
  /** Maximum number of ids that the proxy sends on; null: no limit. */
  limit: number | null;
}

/** Returns a denial if the address of the server is invalid. */
export function describeRequest(call: DescribedCall): PolicyRequest | Denial {
  const { model, method, args } = call;
  const server = describeServer(call.instance);
  if (server instanceof Denial) return server;
  return {
    server,
    model,
    method,
    isReadOnly: isReadOnlyMethod(method, model),
    sensitivity: findSensitivity(model, method),
    findRelatedRead: (mayRead) => findRelatedRead(model, method, args, mayRead),
    listReadEffects: () => listReadEffects(method, args),
    findRelatedWrites: (allows, learnt) => findRelatedWrites(model, method, args, allows, learnt),
    listEquivalents: () => listEquivalents(model, method, args),
    listFieldUses: () => listFieldUses(model, method, args),
    countRecords: (max) => {
      const records = countRecords(model, method, args, max);
      return hasUnboundedField(method, args, max)
        ? { asked: null, canLower: false, isOfSpecification: true }
        : lowerCount(records, call);
    },
    readContext: () => readContext(method, args),
  };
}

/** Describes a call of the execute route. */
export function describeCall(call: Call): DescribedCall {
  const { model, method, instance, limit } = call;
  return { model, method, instance, args: new CallArguments(call), limit };
}

/** Describes a call of `/json/2`. All its arguments are named. */
export function describeJson2Call({ model, method, instance, bytes, kwargs }: Json2Call): DescribedCall {
  return { model, method, instance, args: { bytes, positional: [], named: kwargs.members }, limit: null };
}

/** A class, because creating an object with a getter takes twenty times as long. */
class CallArguments implements Arguments {
  readonly bytes: Uint8Array;
  readonly named: readonly JsonMember[];
  readonly #params: JsonSpan | null;
  #positional: readonly JsonSpan[] | null = null;

  constructor({ bytes, keyword, params }: Call) {
    this.bytes = bytes;
    this.named = keyword.members;
    this.#params = params;
  }

  /** Read only when a rule needs it, because a body can be one large argument whose end must be found. */
  get positional(): readonly JsonSpan[] {
    this.#positional ??= readFirst(this.bytes, this.#params);
    return this.#positional;
  }
}

function lowerCount(
  records: RecordCount | null,
  { method, limit }: Pick<DescribedCall, 'method' | 'limit'>,
): RecordCount | null {
  if (records === null || limit === null || limitRule(method) !== 'cut') return records;
  return { ...records, asked: Math.min(records.asked ?? limit, limit) };
}

function readFirst(bytes: Uint8Array, params: JsonSpan | null): JsonSpan[] {
  const elements: JsonSpan[] = [];
  if (params === null) return elements;
  readElements(bytes, params, (element) => {
    elements.push(element);
    return elements.length < POSITIONAL_MAX;
  });
  return elements;
}

function describeServer(instance: DescribedCall['instance']): PolicyRequest['server'] | Denial {
  if ('name' in instance) return { instance: instance.name };
  const address = readBaseUrl(instance.url);
  return address instanceof Denial ? address : { origin: address.origin, db: instance.db };
}

/** Members of the context that name one company each, of any version and of common modules. */
const COMPANY_MEMBERS = new Set(['default_company_id', 'force_company', 'company_id']);
/** No company has this id, so no policy allows it. */
const NO_COMPANY = Number.NaN;
const CONTEXT_MEMBERS_MAX = 1000;
/** Maximum number of companies in a policy. */
const COMPANIES_MAX = 1000;

/** The members that a policy can set. */
const SETTABLE: readonly (keyof ContextDefaults)[] = ['allowed_company_ids', 'lang', 'tz'];

function readContext(method: string, args: Arguments): NamedContext {
  const { bytes, named } = args;
  const members = listContextMembers(bytes, named);
  const isReadable = members !== null && !bringsContext(method, args);
  const given = (members ?? []).filter(({ value }) => !isLeftOut(value));
  const companies = given.find(({ name }) => name === 'allowed_company_ids')?.value;
  const allowed = companies === undefined ? null : readIds(bytes, companies);
  const others = given.filter(({ name }) => COMPANY_MEMBERS.has(name));
  const isGiven = (member: string) =>
    member === 'allowed_company_ids' ? allowed !== null : given.some(({ name }) => name === member);
  return {
    allowed,
    others: [...others.map(({ value }) => readId(bytes, value)), ...(isReadable ? [] : [NO_COMPANY])],
    names: isReadable ? given.map(({ name }) => name) : null,
    leftOut: members === null ? [] : SETTABLE.filter((member) => !isGiven(member)),
  };
}

/** Null if they are ambiguous: the context is not an object, or a member appears twice. */
function listContextMembers(bytes: Uint8Array, named: readonly JsonMember[]): JsonMember[] | null {
  const context = named.find(({ name }) => name === 'context')?.value;
  if (context === undefined) return [];
  if (context.kind !== 'object') return isLeftOut(context) || isEmptyArray(bytes, context) ? [] : null;
  const members = readMembers(bytes, context, CONTEXT_MEMBERS_MAX + 1);
  return members.length > CONTEXT_MEMBERS_MAX || findDuplicate(members) !== null ? null : members;
}

/** Null if the list is empty. */
function readIds(bytes: Uint8Array, value: JsonSpan): number[] | null {
  if (value.kind !== 'array') return [NO_COMPANY];
  const ids: number[] = [];
  readElements(bytes, value, (element) => {
    ids.push(ids.length < COMPANIES_MAX ? readId(bytes, element) : NO_COMPANY);
    return ids.length <= COMPANIES_MAX;
  });
  return ids.length === 0 ? null : ids;
}

function readId(bytes: Uint8Array, value: JsonSpan): number {
  const id = readInteger(bytes, value);
  return typeof id === 'number' ? id : NO_COMPANY;
}
