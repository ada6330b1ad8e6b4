/**
 * Step: applies the rules of `keyword.limit` (docs/execute.md#limit), and builds the arguments for Odoo in a form that
 * every version accepts. Their values stay the caller's bytes.
 */
import {
  isEmptyArray,
  type JsonMember,
  type JsonSpan,
  joinParts,
  readElements,
  removeMembers,
} from '@erp-proxy/json';
import { findNamedDomain, isReadOnlyMethod, limitRule } from '@erp-proxy/odoo';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { MethodCall } from '../terms/method-call.ts';
import type { Call } from './parse.ts';

const LIMIT = new Set(['limit']);
const NOTHING: ReadonlySet<string> = new Set();
const EMPTY_PARAMS = Buffer.from('[]');
const EMPTY_KEYWORD = Buffer.from('{}');
const OPENING = Buffer.from('[');
const CLOSING = Buffer.from(']');

export function limitCall(call: Call, dialect: Dialect): MethodCall | Denial {
  const { model, method, records } = call;
  const rule = limitRule(method);
  const params = applyLimit(call, rule);
  if (params instanceof Denial) return params;
  const domain = isEmptyList(params) ? findNamedDomain(method, call.keyword.members) : null;
  return {
    model,
    method,
    params: domain === null ? params : listOne(call, domain),
    keyword: cutKeyword(call, listDropped(call, rule, dialect, domain)),
    records,
    isReadOnly: isReadOnlyMethod(method, model),
  };
}

/**
 * Lists the named arguments that the method does not have: `limit`, surplus arguments. They cause a TypeError in Odoo.
 */
function listDropped(
  { method }: Call,
  rule: ReturnType<typeof limitRule>,
  { surplusArguments }: Dialect,
  placed: JsonMember | null,
): ReadonlySet<string> {
  const dropped = rule === 'pass' ? (surplusArguments.get(method) ?? NOTHING) : LIMIT;
  return placed === null ? dropped : new Set([...dropped, placed.name]);
}

function isEmptyList(params: Uint8Array): boolean {
  return isEmptyArray(params, { kind: 'array', start: 0, end: params.length });
}

/** Builds the positional arguments from a single value. */
function listOne({ bytes }: Call, { value }: JsonMember): Uint8Array {
  return Buffer.concat([OPENING, bytes.subarray(value.start, value.end), CLOSING]);
}

function cutKeyword(call: Call, dropped: ReadonlySet<string>): Uint8Array {
  const { span, members } = call.keyword;
  if (span === null) return EMPTY_KEYWORD;
  if (!members.some((member) => dropped.has(member.name))) return call.bytes.subarray(span.start, span.end);
  return joinParts(call.bytes, removeMembers(span, members, dropped));
}

function applyLimit(call: Call, rule: ReturnType<typeof limitRule>): Uint8Array | Denial {
  const { bytes, params, limit } = call;
  if (params === null) return EMPTY_PARAMS;
  const whole = bytes.subarray(params.start, params.end);
  if (limit === null || rule === 'pass') return whole;
  const records = readFirst(bytes, params);
  if (records === null) return whole;
  if (records.kind === 'array') {
    return rule === 'cut'
      ? cutIds(bytes, params, records, limit)
      : (refuseMany(call, records, limit) ?? whole);
  }
  // One id, or one row of values.
  if (records.kind === 'number' || (call.method === 'create' && records.kind === 'object')) return whole;
  // Odoo would take the characters of a text, or the keys of an object, as ids, and so as several records.
  return new Denial(
    'invalid_params',
    call.method === 'create'
      ? '`params[0]` must be the values of a record, or a list of them, when `keyword.limit` is given.'
      : '`params[0]` must be an id or a list of ids when `keyword.limit` is given.',
    { path: 'params[0]' },
  );
}

function readFirst(bytes: Uint8Array, array: JsonSpan): JsonSpan | null {
  let first: JsonSpan | null = null;
  readElements(bytes, array, (element) => {
    first = element;
    return false;
  });
  return first;
}

/** Keeps the first `limit` ids, because `read` takes no limit in Odoo. */
function cutIds(bytes: Uint8Array, params: JsonSpan, ids: JsonSpan, limit: number): Uint8Array {
  let count = 0;
  let keptEnd = ids.start + 1;
  let isCut = false;
  readElements(bytes, ids, (id) => {
    count++;
    if (count > limit) {
      isCut = true;
      return false;
    }
    keptEnd = id.end;
    return true;
  });
  if (!isCut) return bytes.subarray(params.start, params.end);
  return Buffer.concat([bytes.subarray(params.start, keptEnd), bytes.subarray(ids.end - 1, params.end)]);
}

/** Refuses more ids or rows than the limit. They are never silently cut, because a partial write is worse than none. */
function refuseMany(call: Call, records: JsonSpan, limit: number): Denial | undefined {
  let count = 0;
  readElements(call.bytes, records, () => {
    count++;
    return count <= limit;
  });
  if (count <= limit) return undefined;
  const what = call.method === 'create' ? 'rows' : 'ids';
  return new Denial(
    'invalid_params',
    `\`${call.method}\` got more ${what} than \`keyword.limit\` allows (${limit}); nothing was sent. Send fewer ${what}, or raise the limit.`,
    { path: 'keyword.limit' },
  );
}
