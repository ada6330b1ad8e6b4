/** Reads the members that a download and an upload share: the record, and its field with the file. */

import { invalid, readText } from '@erp-proxy/gateway/call';
import { Denial } from '@erp-proxy/gateway/terms';
import { findValue } from '@erp-proxy/json';
import { type DataRequest, readRecordId } from '../data-request.ts';

/** Maximum length of a field's name: that of a column in PostgreSQL. */
const FIELD_LENGTH_MAX = 63;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;

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
  return value === undefined || value.kind === 'null' ? null : readRecordId(bytes, value, 'record');
}
