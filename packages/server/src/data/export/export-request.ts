/** Reads the body of an export. Pure. The values of `domain`, `fields` and `context` stay byte spans. */
import { describe, invalid } from '../../execute/call/read-members.ts';
import type { Denial } from '../../execute/terms/denial.ts';
import { readElements } from '../../json/elements.ts';
import { findValue } from '../../json/members.ts';
import { readInteger } from '../../json/number.ts';
import type { JsonSpan } from '../../json/span.ts';
import { decodeString } from '../../json/string.ts';
import { type DataRequest, readDataRequest } from '../data-request.ts';

export type ExportFormat = 'ndjson' | 'csv';

export interface ExportRequest {
  readonly data: DataRequest;
  /** The names in `fields`, in their order. */
  readonly fields: readonly string[];
  /** The terms of the domain: the bytes between its brackets. Empty if there are none. */
  readonly terms: Uint8Array;
  /** Maximum number of records. */
  readonly limit: number;
  /** The export begins behind the record with this id; null: with the first one. */
  readonly after: number | null;
  readonly format: ExportFormat;
}

const MEMBERS = ['domain', 'fields', 'context', 'limit', 'after', 'format'];
/** More than any model of Odoo's own modules has. */
const FIELDS_MAX = 1000;
/** The names that Odoo accepts for fields (docs/odoo-facts.md#field-names). */
const FIELD_NAME = /^[a-z_][a-z0-9_$]{0,62}$/i;
const FIELD_NAME_BYTES_MAX = 400;

/** The denial goes with the `id` of the body. */
export function readExportRequest(bytes: Uint8Array): ExportRequest | { id: Uint8Array; denial: Denial } {
  const data = readDataRequest(bytes, MEMBERS);
  if ('denial' in data) return data;
  const read = readMembersOfExport(data);
  return 'data' in read ? read : { id: data.id, denial: read };
}

function readMembersOfExport(data: DataRequest): ExportRequest | Denial {
  const fields = readFields(data);
  if (!Array.isArray(fields)) return fields as Denial;
  const terms = readTerms(data);
  if (!(terms instanceof Uint8Array)) return terms;
  const limit = readLimit(data);
  if (typeof limit !== 'number') return limit;
  const after = readAfter(data);
  if (after !== null && typeof after !== 'number') return after;
  const format = readFormat(data);
  if (typeof format !== 'string') return format;
  return { data, fields, terms, limit, after, format };
}

/** The value of a member; undefined if it is absent or null. */
function findGiven({ members }: DataRequest, name: string): JsonSpan | undefined {
  const value = findValue(members, name);
  return value?.kind === 'null' ? undefined : value;
}

function readFields(data: DataRequest): readonly string[] | Denial {
  const { bytes } = data;
  const value = findGiven(data, 'fields');
  const rule = 'the names of the fields to export, e.g. ["name", "email"]';
  if (value === undefined) return invalid('fields', `\`fields\` is missing: ${rule}.`);
  if (value.kind !== 'array')
    return invalid('fields', `\`fields\` must be an array, not ${describe(value)}: ${rule}.`);
  const names = new Set<string>();
  let denial: Denial | null = null;
  readElements(bytes, value, (element) => {
    denial = judgeField(bytes, element, names);
    return denial === null;
  });
  if (denial !== null) return denial;
  return names.size === 0 ? invalid('fields', `\`fields\` is empty: give ${rule}.`) : [...names];
}

/** Adds the name to `names`, or returns why it cannot be exported. */
function judgeField(bytes: Uint8Array, element: JsonSpan, names: Set<string>): Denial | null {
  const path = `fields[${names.size}]`;
  if (names.size === FIELDS_MAX)
    return invalid('fields', `\`fields\` may name at most ${FIELDS_MAX} fields.`);
  if (element.kind !== 'string')
    return invalid(path, `\`${path}\` must be the name of a field, not ${describe(element)}.`);
  const name = element.end - element.start > FIELD_NAME_BYTES_MAX ? null : decodeString(bytes, element);
  if (name === null || !FIELD_NAME.test(name))
    return invalid(
      path,
      `\`${path}\` is not the name of a field. An export has fields of the model itself; export related models on their own.`,
    );
  if (names.has(name)) return invalid(path, `\`${path}\` names \`${name}\` again; name it once.`);
  names.add(name);
  return null;
}

function readTerms(data: DataRequest): Uint8Array | Denial {
  const { bytes } = data;
  const value = findGiven(data, 'domain');
  if (value === undefined) return NO_TERMS;
  if (value.kind !== 'array')
    return invalid(
      'domain',
      `\`domain\` must be an array of conditions, e.g. [["is_company", "=", true]], not ${describe(value)}.`,
    );
  let isEmpty = true;
  readElements(bytes, value, () => {
    isEmpty = false;
    return false;
  });
  return isEmpty ? NO_TERMS : bytes.subarray(value.start + 1, value.end - 1);
}

const NO_TERMS = new Uint8Array(0);

/** As in a call, 0, null and false mean no limit. */
function readLimit(data: DataRequest): number | Denial {
  const value = findGiven(data, 'limit');
  if (value === undefined || value.kind === 'false') return Number.POSITIVE_INFINITY;
  const limit = readInteger(data.bytes, value);
  if (limit === null || limit < 0)
    return invalid('limit', '`limit` must be the maximum number of records, an integer; 0 means all.');
  return limit === 0 ? Number.POSITIVE_INFINITY : Number(limit);
}

/** Ids of SQL views can be negative (docs/odoo-facts.md#negative-ids). */
function readAfter(data: DataRequest): number | null | Denial {
  const value = findGiven(data, 'after');
  if (value === undefined) return null;
  const id = readInteger(data.bytes, value);
  return typeof id === 'number'
    ? id
    : invalid('after', '`after` must be the id of the last record that was taken, an integer below 2^53.');
}

function readFormat(data: DataRequest): ExportFormat | Denial {
  const value = findGiven(data, 'format');
  if (value === undefined) return 'ndjson';
  // Longer texts are none of the formats.
  const isShort = value.kind === 'string' && value.end - value.start < FIELD_NAME_BYTES_MAX;
  const text = isShort ? decodeString(data.bytes, value) : '';
  if (text === 'ndjson' || text === 'csv') return text;
  return invalid('format', '`format` must be "ndjson" or "csv".');
}
