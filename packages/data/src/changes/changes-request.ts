/** Reads the body of `POST /api/erp/changes`. Pure. */

import { describe, invalid, readText } from '@erp-proxy/gateway/call';
import { Denial } from '@erp-proxy/gateway/terms';
import { findValue, type JsonSpan, readInteger } from '@erp-proxy/json';
import { type DataRequest, denyLimit, findGiven, readDataRequest, readMemberBytes } from '../data-request.ts';
import { dropsRecords } from '../dropped-records.ts';
import { readFields } from '../read-fields.ts';
import { prepareContext } from './changes-questions.ts';
import { CURSOR_LENGTH_MAX } from './cursor.ts';

export interface ChangesRequest {
  readonly data: DataRequest;
  /** The domain as JSON text of an array. */
  readonly domain: string;
  /** Names of fields: at least one, each once. */
  readonly fields: readonly string[];
  /** The context as JSON text of an object. */
  readonly context: string;
  readonly dropsRecords: boolean;
  readonly findsDeleted: boolean;
  /** The cursor; null: from the beginning. */
  readonly since: string | null;
  /** Maximum number of changes. */
  readonly limit: number;
}

const MEMBERS = ['domain', 'fields', 'context', 'since', 'limit', 'deleted'];
/**
 * Maximum of `domain`, `fields` and `context`, which are sent again with each page and compared with those of the
 * cursor.
 */
const TEXT_BYTES_MAX = 64 * 1024;
const LIMIT_DEFAULT = 500;
const LIMIT_MAX = 1000;

/** A denial is answered with the `id` of the body. */
export function readChangesRequest(bytes: Uint8Array): ChangesRequest | { id: Uint8Array; denial: Denial } {
  const data = readDataRequest(bytes, MEMBERS);
  if ('denial' in data) return data;
  const read = readOwnMembers(data);
  return read instanceof Denial ? { id: data.id, denial: read } : read;
}

function readOwnMembers(data: DataRequest): ChangesRequest | Denial {
  const fields = readFields(data, 'of each record');
  if (fields instanceof Denial) return fields;
  const domain = readDomain(data);
  if (domain instanceof Denial) return domain;
  const given = readMemberBytes(data, 'context');
  if (given !== null && given.length > TEXT_BYTES_MAX) return tooLong('context');
  const context = prepareContext(given);
  if (context instanceof Denial) return context;
  const since = readSince(data);
  if (since instanceof Denial) return since;
  const limit = readLimit(data);
  if (limit instanceof Denial) return limit;
  const findsDeleted = readDeleted(data);
  if (findsDeleted instanceof Denial) return findsDeleted;
  return {
    data,
    domain,
    fields,
    context,
    dropsRecords: dropsRecords(data.model),
    findsDeleted,
    since,
    limit,
  };
}

function readDomain(data: DataRequest): string | Denial {
  const value = findGiven(data, 'domain');
  if (value === undefined) return '[]';
  if (value.kind !== 'array')
    return invalid('domain', `\`domain\` must be an array of conditions, not ${describe(value)}.`);
  return value.end - value.start > TEXT_BYTES_MAX ? tooLong('domain') : readText8(data, value);
}

/** `since` is required, so that a caller that has lost its cursor does not read everything again without knowing it. */
function readSince({ bytes, members }: DataRequest): string | null | Denial {
  const value = findValue(members, 'since');
  if (value?.kind === 'null') return null;
  return readText(bytes, value, 'since', CURSOR_LENGTH_MAX, 'null, or the cursor of the last answer');
}

function readLimit(data: DataRequest): number | Denial {
  const value = findGiven(data, 'limit');
  if (value === undefined) return LIMIT_DEFAULT;
  const limit = readInteger(data.bytes, value);
  if (typeof limit === 'number' && limit >= 1 && limit <= LIMIT_MAX) return limit;
  return denyLimit(`must be the maximum number of changes in one answer, an integer from 1 to ${LIMIT_MAX}.`);
}

function readDeleted(data: DataRequest): boolean | Denial {
  const value = findGiven(data, 'deleted');
  if (value === undefined || value.kind === 'false') return false;
  if (value.kind !== 'true')
    return invalid('deleted', `\`deleted\` must be true or false, not ${describe(value)}.`);
  return dropsRecords(data.model)
    ? invalid('deleted', `Deleted records of ${data.model} cannot be found: leave \`deleted\` out.`)
    : true;
}

function readText8({ bytes }: DataRequest, { start, end }: JsonSpan): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

function tooLong(path: string): Denial {
  return invalid(path, `\`${path}\` may have at most ${TEXT_BYTES_MAX / 1024} KiB.`);
}
