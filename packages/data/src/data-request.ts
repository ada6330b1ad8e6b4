/**
 * Reads the body of a route that moves data. Members that become a part of calls on Odoo stay byte spans: the pipeline
 * checks them with the calls.
 */

import {
  checkCharacters,
  checkNames,
  describe,
  invalid,
  NAME_LENGTH_MAX,
  OBJECT_MEMBERS_MAX,
  parseDocument,
  readId,
  readText,
} from '@erp-proxy/gateway/call';
import { Denial, NULL_ID } from '@erp-proxy/gateway/terms';
import { findValue, type JsonMember, type JsonSpan, readInteger, readMembers } from '@erp-proxy/json';

/** A request whose own members are valid. */
export interface DataRequest {
  /** The bytes that the spans refer to. */
  readonly bytes: Uint8Array;
  /** JSON text of the member `id`. */
  readonly id: Uint8Array;
  readonly model: string;
  readonly members: readonly JsonMember[];
}

const SHARED_MEMBERS = ['id', 'model_id', 'erp_instance'];
const DEPTH_MAX = 100;
/** Small enough that parsing the body at once does not keep other callers waiting for long. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Reads the members that all routes have. `more`: the further members of this route. `what`: names the source of the
 * text in errors. A denial is answered with the `id` of the body.
 */
export function readDataRequest(
  bytes: Uint8Array,
  more: readonly string[],
  what = 'body',
): DataRequest | { id: Uint8Array; denial: Denial } {
  const root = readRoot(bytes, what);
  if (root instanceof Denial) return { id: NULL_ID, denial: root };
  const members = readMembers(bytes, root, OBJECT_MEMBERS_MAX);
  const id = readId(bytes, members);
  if (id instanceof Denial) return { id: NULL_ID, denial: id };
  const denial = checkNames(members, '', [...SHARED_MEMBERS, ...more], [], 'this request');
  if (denial !== undefined) return { id, denial };
  const model = readText(
    bytes,
    findValue(members, 'model_id'),
    'model_id',
    NAME_LENGTH_MAX,
    'a model, e.g. "res.partner"',
  );
  if (model instanceof Denial) return { id, denial: model };
  for (const { name, value } of members) {
    // `id` may contain lone surrogates, because it is only sent back to the caller.
    const half = name === 'id' ? undefined : checkCharacters(bytes, value, name);
    if (half !== undefined) return { id, denial: half };
  }
  return { bytes, id, model, members };
}

/** The value of a member; undefined if it is absent or null. */
export function findGiven({ members }: Pick<DataRequest, 'members'>, name: string): JsonSpan | undefined {
  const value = findValue(members, name);
  return value?.kind === 'null' ? undefined : value;
}

/** The bytes of a member; null if it is absent or null. */
export function readMemberBytes(request: DataRequest, name: string): Uint8Array | null {
  const value = findGiven(request, name);
  return value === undefined ? null : request.bytes.subarray(value.start, value.end);
}

/** Reads the id of a record. `path`: its member. */
export function readRecordId(bytes: Uint8Array, value: JsonSpan, path: string): number | Denial {
  const id = value.kind === 'number' ? readInteger(bytes, value) : null;
  if (id !== null && id >= 1 && id <= ID_MAX) return Number(id);
  const given = value.kind === 'number' ? 'another number' : describe(value);
  return invalid(path, `\`${path}\` must be the id of a record, a positive integer, not ${given}.`);
}

const ID_MAX = 2 ** 31 - 1;

/**
 * The denial of a wrong `limit`. Its type is that of a wrong `limit` in a call. `rule` ends the sentence "`limit` …".
 */
export function denyLimit(rule: string): Denial {
  return new Denial('invalid_params', `\`limit\` ${rule}`, { path: 'limit' });
}

/** The object that a body is. `bytesMax`: whole KiB or MiB. */
export function readRoot(bytes: Uint8Array, what: string, bytesMax = BODY_BYTES_MAX): JsonSpan | Denial {
  if (bytes.length > bytesMax) {
    return new Denial('payload_too_large', `The ${what} may have ${printBytes(bytesMax)}.`);
  }
  const document = parseDocument(bytes, DEPTH_MAX, '', what);
  if (document instanceof Denial) return document;
  const { root } = document;
  return root.kind === 'object' ? root : invalid('', `The ${what} must be an object, not ${describe(root)}.`);
}

function printBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`;
}
