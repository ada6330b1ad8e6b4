/**
 * Reads members that the bodies of several routes share, with one text for each mistake. Texts name a member by its
 * path. Values of named arguments stay byte spans of the body.
 */
import { clipText, ID_LENGTH_MAX } from '@erp-proxy/contract';
import { type BaseUrl, parseBaseUrl } from '@erp-proxy/egress/policy';
import {
  decodeString,
  findDuplicate,
  findHalfSurrogate,
  isEmptyArray,
  type JsonMember,
  type JsonSpan,
  locate,
  readInteger,
  readMembers,
} from '@erp-proxy/json';
import { findNearestNames } from '@erp-proxy/text';
import { Denial } from '../terms/denial.ts';
import { NULL_ID } from '../terms/parsed-body.ts';

/** Named arguments, as spans of the body. */
export interface KeywordSpan {
  /** The object; null if the caller sent none. */
  span: JsonSpan | null;
  members: JsonMember[];
}

/** More than any object of the wire format has. */
export const OBJECT_MEMBERS_MAX = 64;
export const NAME_LENGTH_MAX = 256;
export const API_KEY_LENGTH_MAX = 1024;
/** Far more than any method has. A body could have millions of members, and each takes memory. */
const KEYWORD_MEMBERS_MAX = 1000;

export function readId(bytes: Uint8Array, members: JsonMember[]): Uint8Array | Denial {
  const ids = members.filter((member) => member.name === 'id');
  if (ids.length > 1) return invalid('id', '`id` appears twice; send it once.');
  const value = ids[0]?.value;
  if (value === undefined || value.kind === 'null') return NULL_ID;
  const text = bytes.subarray(value.start, value.end);
  if (value.kind === 'string') {
    // A character takes at most twelve bytes (a pair of escapes). A longer text is refused without decoding it.
    if (text.length <= ID_LENGTH_MAX * 12 + 2 && [...decodeString(bytes, value)].length <= ID_LENGTH_MAX)
      return text;
    return invalid('id', `\`id\` may have at most ${ID_LENGTH_MAX} characters.`);
  }
  if (value.kind === 'number' && text.length <= ID_LENGTH_MAX && readInteger(bytes, value) !== null)
    return text;
  return invalid('id', `\`id\` must be a string or an integer, not ${describe(value)}.`);
}

/** Reads named arguments. `path` is the member that contains them. */
export function readKeyword(
  bytes: Uint8Array,
  value: JsonSpan | undefined,
  path: string,
): KeywordSpan | Denial {
  if (value === undefined || value.kind === 'null' || isEmptyArray(bytes, value))
    return { span: null, members: [] };
  if (value.kind !== 'object') {
    return invalid(path, `\`${path}\` must be an object of named arguments, not ${describe(value)}.`);
  }
  const members = readMembers(bytes, value, KEYWORD_MEMBERS_MAX + 1);
  if (members.length > KEYWORD_MEMBERS_MAX) {
    return invalid(path, `\`${path}\` may have at most ${KEYWORD_MEMBERS_MAX} named arguments.`);
  }
  const duplicate = findDuplicate(members);
  return duplicate ? refuseDuplicate(duplicate, path) : { span: value, members };
}

/**
 * Refuses half of a surrogate pair. Odoo answers it with an HTML page, or an exception while it stores the text
 * (docs/odoo-facts.md#half-surrogates).
 */
export function checkCharacters(
  bytes: Uint8Array,
  value: JsonSpan | null | undefined,
  path: string,
): Denial | undefined {
  const at = value ? findHalfSurrogate(bytes, value) : null;
  if (!value || at === null) return undefined;
  const place = locate(bytes, value, at, path);
  return new Denial(
    'invalid_params',
    `\`${place}\` has half of a surrogate pair, \`${Buffer.from(bytes.subarray(at, at + 6)).toString()}\`, which is no character. Send whole characters.`,
    { path: place },
  );
}

/** Reads a member that must be a text of 1 to `lengthMax` characters. */
export function readText(
  bytes: Uint8Array,
  value: JsonSpan | undefined,
  path: string,
  lengthMax: number,
  what: string,
): string | Denial {
  if (value === undefined) return invalid(path, `\`${path}\` is missing: ${what}.`);
  if (value.kind !== 'string')
    return invalid(path, `\`${path}\` must be a string, not ${describe(value)}: ${what}.`);
  if (value.end - value.start > lengthMax * 6 + 2) return tooLong(path, lengthMax);
  const text = decodeString(bytes, value);
  if (text.length > lengthMax) return tooLong(path, lengthMax);
  const halfDenial = checkCharacters(bytes, value, path);
  if (halfDenial) return halfDenial;
  // For an empty action, the rule for names gives a better message.
  if (text === '' && path !== 'action') return invalid(path, `\`${path}\` is empty: ${what}.`);
  return text;
}

function tooLong(path: string, lengthMax: number): Denial {
  return invalid(path, `\`${path}\` may have at most ${lengthMax} characters.`);
}

/**
 * Refuses unknown and duplicate names of `whole`, or of its member `parent`. If a misspelt `keyword` were ignored, a
 * call could return every record.
 */
export function checkNames(
  members: JsonMember[],
  parent: string,
  known: string[],
  ignored: string[] = [],
  whole = 'a call',
): Denial | undefined {
  for (const { name } of members) {
    if (known.includes(name) || ignored.includes(name)) continue;
    const path = joinPath(parent, name);
    const meant = suggestName(name, known, ignored);
    const hint =
      meant === undefined
        ? `Its members are ${known.map((each) => `\`${each}\``).join(', ')}.`
        : `Did you mean \`${meant}\`?`;
    return invalid(
      path,
      `\`${path}\` is not a member of ${parent === '' ? whole : `\`${parent}\``}. ${hint}`,
    );
  }
  const duplicate = findDuplicate(members);
  return duplicate ? refuseDuplicate(duplicate, parent) : undefined;
}

const NAMED_ARGUMENTS = ['fields', 'limit', 'offset', 'order', 'context', 'ids'];
const INSTANCE_MEMBERS = ['url', 'db', 'user_id', 'api_key'];
/** Members of an object in the call that callers put beside it. */
const INNER_NAMES = Object.entries({
  keyword: NAMED_ARGUMENTS,
  kwargs: [...NAMED_ARGUMENTS, 'domain'],
  erp_instance: INSTANCE_MEMBERS,
  odoo_instance: INSTANCE_MEMBERS,
});
/** By the name here: what other programs call the member. The nearest name by letters would be a wrong suggestion. */
const OTHER_NAMES: Record<string, string[]> = {
  keyword: ['kwargs', 'kw', 'options'],
  kwargs: ['keyword', 'kw', 'options'],
  params: ['domain', 'vals', 'values', 'data'],
  domain: ['params'],
  action: ['function', 'method'],
  method: ['action', 'function'],
  // Callers of the version route send the instance of their calls.
  url: ['host', 'server', 'address', 'erp_instance', 'odoo_instance'],
  db: ['database', 'dbname'],
  user_id: ['user', 'uid', 'login', 'username'],
  api_key: ['password', 'key', 'token'],
};

/** Undefined if no name is near. */
function suggestName(name: string, known: string[], ignored: string[]): string | undefined {
  const inner = INNER_NAMES.find(([object, names]) => known.includes(object) && names.includes(name));
  if (inner !== undefined) return `${inner[0]}.${name}`;
  const meant = [...known, ...ignored].find((each) => OTHER_NAMES[each]?.includes(name));
  return meant ?? findNearestNames(name, known, 1)[0];
}

function refuseDuplicate(member: JsonMember, parent: string): Denial {
  const path = joinPath(parent, member.name);
  return invalid(path, `\`${path}\` appears twice; send it once.`);
}

/** Truncates long names, because they come from the caller and would enlarge the answer. */
function joinPath(parent: string, name: string): string {
  const short = clipText(name, 64);
  return parent === '' ? short : `${parent}.${short}`;
}

export function invalid(path: string, message: string): Denial {
  return new Denial('invalid_request', message, path === '' ? {} : { path });
}

export function describe(span: JsonSpan): string {
  if (span.kind === 'true' || span.kind === 'false') return 'a boolean';
  if (span.kind === 'null') return 'null';
  return span.kind === 'object' || span.kind === 'array' ? `an ${span.kind}` : `a ${span.kind}`;
}

const PATH = 'erp_instance.url';

/** By text: valid addresses. To parse one takes several µs. Servers are few, and the size is limited. */
const knownAddresses = new Map<string, BaseUrl>();
const KNOWN_ADDRESSES_MAX = 1000;

/**
 * Reads the base address in a call. The egress guard checks its form, and the step `resolve` checks where it leads.
 */
export function readBaseUrl(text: string): BaseUrl | Denial {
  const known = knownAddresses.get(text);
  if (known !== undefined) return known;
  const address = parseBaseUrl(text);
  if ('problem' in address)
    return new Denial('invalid_request', `\`${PATH}\` ${address.problem}.`, { path: PATH });
  if (knownAddresses.size >= KNOWN_ADDRESSES_MAX) knownAddresses.clear();
  knownAddresses.set(text, Object.freeze(address));
  return address;
}
