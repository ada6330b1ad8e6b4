/**
 * Step: parses the bytes of a call of `/json/2`. Refuses names that such a request cannot contain. The arguments stay a
 * byte span, and the server checks them.
 */
import { URL_LENGTH_MAX } from '@erp-proxy/egress/policy';
import { findValue, type JsonMember, type JsonSpan, readMembers } from '@erp-proxy/json';
import { isReadOnlyMethod } from '@erp-proxy/odoo';
import { buildJson2Request, HEADER_WORD } from '@erp-proxy/odoo/json2';
import { DATABASE_NAME } from '@erp-proxy/odoo/servers';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { UpstreamCall } from '../terms/method-call.ts';
import { type CallSpan, NULL_ID, type ParsedCall, type PolicyTerms } from '../terms/parsed-body.ts';
import type { InstanceAddress, Target } from '../terms/target.ts';
import {
  API_KEY_LENGTH_MAX,
  checkCharacters,
  checkNames,
  describe,
  invalid,
  type KeywordSpan,
  NAME_LENGTH_MAX,
  OBJECT_MEMBERS_MAX,
  readId,
  readKeyword,
  readText,
} from './read-members.ts';

export interface Json2Call extends PolicyTerms {
  /** The bytes that the span refers to. */
  bytes: Uint8Array;
  model: string;
  method: string;
  kwargs: KeywordSpan;
  instance: InstanceAddress;
}

const CALL_MEMBERS = ['id', 'model_id', 'method', 'kwargs'];
const IGNORED_MEMBERS = ['jsonrpc'];
const INSTANCE_MEMBERS = ['url', 'db', 'api_key'];
/**
 * Callers use one instance object for all routes. Here the key alone determines the user
 * (docs/odoo-facts.md#json2-user).
 */
const IGNORED_INSTANCE_MEMBERS = ['user_id'];
/** Matches one segment of a path, but not `..`. */
const PATH_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.]*$/;
const NO_USER = 0;

export function parseJson2Call(
  bytes: Uint8Array,
  { span, members: known }: CallSpan,
  { instanceAt }: Dialect,
): ParsedCall<Json2Call> {
  if (span.kind !== 'object')
    return { id: NULL_ID, call: invalid('', `A call must be an object, not ${describe(span)}.`) };
  const members = known ?? readMembers(bytes, span, OBJECT_MEMBERS_MAX);
  const id = readId(bytes, members);
  if (id instanceof Denial) return { id: NULL_ID, call: id };
  return { id, call: readCall(bytes, members, instanceAt) };
}

function readCall(bytes: Uint8Array, members: JsonMember[], instanceAt: string): Json2Call | Denial {
  const namesDenial = checkNames(members, '', [...CALL_MEMBERS, instanceAt], IGNORED_MEMBERS);
  if (namesDenial) return namesDenial;

  const name = { lengthMax: NAME_LENGTH_MAX, pattern: PATH_NAME };
  const nameRule = 'letters, digits, "_" and ".", not beginning with "."';
  const model = readWord(bytes, findValue(members, 'model_id'), {
    ...name,
    path: 'model_id',
    rule: nameRule,
  });
  if (model instanceof Denial) return model;
  const method = readWord(bytes, findValue(members, 'method'), { ...name, path: 'method', rule: nameRule });
  if (method instanceof Denial) return method;
  const kwargs = readKeyword(bytes, findValue(members, 'kwargs'), 'kwargs');
  if (kwargs instanceof Denial) return kwargs;
  const charactersDenial = checkCharacters(bytes, kwargs.span, 'kwargs');
  if (charactersDenial) return charactersDenial;
  const instance = readInstance(bytes, findValue(members, instanceAt), instanceAt);
  return instance instanceof Denial ? instance : { bytes, model, method, kwargs, instance };
}

function readInstance(bytes: Uint8Array, value: JsonSpan | undefined, at: string): InstanceAddress | Denial {
  if (value === undefined || value.kind !== 'object')
    return invalid(at, `\`${at}\` must be an object: {"url", "db", "api_key"} of the Odoo server.`);
  const members = readMembers(bytes, value, OBJECT_MEMBERS_MAX);
  const namesDenial = checkNames(members, at, INSTANCE_MEMBERS, IGNORED_INSTANCE_MEMBERS);
  if (namesDenial) return namesDenial;
  const url = readText(
    bytes,
    findValue(members, 'url'),
    `${at}.url`,
    URL_LENGTH_MAX,
    'the address of the Odoo server',
  );
  if (url instanceof Denial) return url;
  const db = readWord(bytes, findValue(members, 'db'), {
    path: `${at}.db`,
    lengthMax: NAME_LENGTH_MAX,
    pattern: DATABASE_NAME,
    rule: 'the name of a database: 1 to 63 of letters, digits, "_", "." and "-"',
  });
  if (db instanceof Denial) return db;
  const apiKey = readWord(bytes, findValue(members, 'api_key'), {
    path: `${at}.api_key`,
    lengthMax: API_KEY_LENGTH_MAX,
    pattern: HEADER_WORD,
    rule: "the user's API key: visible ASCII characters without spaces",
  });
  return apiKey instanceof Denial ? apiKey : { url, db, userId: NO_USER, apiKey };
}

/** Reads a text that becomes part of the path or a header of the request. */
function readWord(
  bytes: Uint8Array,
  value: JsonSpan | undefined,
  { path, lengthMax, pattern, rule }: { path: string; lengthMax: number; pattern: RegExp; rule: string },
): string | Denial {
  const text = readText(bytes, value, path, lengthMax, rule);
  if (text instanceof Denial) return new Denial('json2_call_invalid', text.message, text.more);
  if (pattern.test(text)) return text;
  return new Denial('json2_call_invalid', `\`${path}\` must be ${rule}.`, { path });
}

const EMPTY_KWARGS = Buffer.from('{}');
const NO_PARAMS = Buffer.from('[]');

/** The arguments of a call that {@link buildJson2Call} has built. */
export function readJson2Arguments({ request }: UpstreamCall): { params: Uint8Array; keyword: Uint8Array } {
  return { params: NO_PARAMS, keyword: request.body ?? EMPTY_KWARGS };
}

/** Step: builds the request of a call of `/json/2`, with the arguments as the caller wrote them. */
export function buildJson2Call(
  { bytes, model, method, kwargs }: Pick<Json2Call, 'bytes' | 'model' | 'method' | 'kwargs'>,
  target: Target,
): UpstreamCall | Denial {
  const head = buildJson2Request({ ...target, model, method });
  if ('unmappable' in head)
    return new Denial('json2_call_invalid', `The call cannot be sent: ${head.unmappable}.`);
  const body = kwargs.span === null ? EMPTY_KWARGS : bytes.subarray(kwargs.span.start, kwargs.span.end);
  return {
    request: { method: 'POST', origin: target.origin, trust: target.trust, ...head, body },
    protocol: 'json2',
    resultShape: 'same',
    target,
    model,
    method,
    isReadOnly: isReadOnlyMethod(method, model),
  };
}
