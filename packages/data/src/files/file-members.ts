/** Reads the members that a download and an upload share: the record, and its field with the file. */

import { describe, invalid, readText } from '@erp-proxy/gateway/call';
import { Denial } from '@erp-proxy/gateway/terms';
import { findValue, readInteger } from '@erp-proxy/json';
import type { DataRequest } from '../data-request.ts';

/** Maximum length of a field's name: that of a column in PostgreSQL. */
const FIELD_LENGTH_MAX = 63;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ID_MAX = 2 ** 31 - 1;

/** `record` null: the member is absent or null. */
export function readFileMembers(request: DataRequest): { field: string; record: number | null } | Denial {
  const field = readField(request);
  if (field instanceof Denial) return field;
  const record = readRecord(request);
  return record instanceof Denial ? record : { field, record };
}

function readField({ bytes, members }: DataRequest): string | Denial {
  const value = findValue(members, 'field');
  const field = readText(bytes, value, 'field', FIELD_LENGTH_MAX, 'a binary field, e.g. "datas"');
  if (field instanceof Denial || FIELD.test(field)) return field;
  return invalid('field', '`field` must be the name of one field: letters, digits and "_".');
}

function readRecord({ bytes, members }: DataRequest): number | null | Denial {
  const value = findValue(members, 'record');
  if (value === undefined || value.kind === 'null') return null;
  const id = value.kind === 'number' ? readInteger(bytes, value) : null;
  if (id !== null && id >= 1 && id <= ID_MAX) return Number(id);
  const given = value.kind === 'number' ? 'another number' : describe(value);
  return invalid('record', `\`record\` must be the id of a record, a positive integer, not ${given}.`);
}
