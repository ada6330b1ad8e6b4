/**
 * Reads the body of a route that moves data. Members that go into calls on Odoo stay byte spans: the calls check them.
 */
import {
  checkNames,
  describe,
  invalid,
  NAME_LENGTH_MAX,
  OBJECT_MEMBERS_MAX,
  readId,
  readText,
} from '../execute/call/read-members.ts';
import { Denial } from '../execute/terms/denial.ts';
import { NULL_ID } from '../execute/terms/parsed-body.ts';
import { readDocument } from '../json/document.ts';
import { findValue, readMembers } from '../json/members.ts';
import type { JsonMember, JsonSpan } from '../json/span.ts';
import { JsonDepthError, JsonSyntaxError } from '../json/syntax-error.ts';

/** A body whose own members are valid. */
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

/**
 * Reads the members that all routes have. `more`: the further members of this route. `what`: where the text comes from,
 * for errors. The denial goes with the `id` of the body.
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
  const denial = checkNames(members, '', [...SHARED_MEMBERS, ...more]);
  if (denial !== undefined) return { id, denial };
  const model = readText(
    bytes,
    findValue(members, 'model_id'),
    'model_id',
    NAME_LENGTH_MAX,
    'a model, e.g. "res.partner"',
  );
  return model instanceof Denial ? { id, denial: model } : { bytes, id, model, members };
}

/** The bytes of a member; null if it is absent or null. */
export function readMemberBytes({ bytes, members }: DataRequest, name: string): Uint8Array | null {
  const value = findValue(members, name);
  return value === undefined || value.kind === 'null' ? null : bytes.subarray(value.start, value.end);
}

function readRoot(bytes: Uint8Array, what: string): JsonSpan | Denial {
  try {
    const { root } = readDocument(bytes, DEPTH_MAX);
    return root.kind === 'object'
      ? root
      : invalid('', `The ${what} must be an object, not ${describe(root)}.`);
  } catch (error) {
    if (error instanceof JsonDepthError)
      return invalid('', `The ${what} is nested more than ${DEPTH_MAX} levels deep.`);
    if (!(error instanceof JsonSyntaxError)) throw error;
    return new Denial(
      'parse_error',
      `The ${what} is not valid JSON at byte ${error.offset}: ${error.reason}.`,
    );
  }
}
