/** Reads the body of an export. Pure. The values of `domain`, `fields` and `context` stay byte spans. */

import { describe, invalid } from '@erp-proxy/gateway/call';
import type { Denial } from '@erp-proxy/gateway/terms';
import { decodeString, type JsonSpan, readElements, readInteger } from '@erp-proxy/json';
import { type DataRequest, denyLimit, findGiven, readDataRequest, readMemberBytes } from '../data-request.ts';
import { readFields } from '../read-fields.ts';
import { type CsvForm, DELIMITERS, USUAL_FORM } from './csv.ts';

export type ExportFormat = 'ndjson' | 'csv';

export interface ExportRequest {
  readonly data: DataRequest;
  /** The names in `fields`, in their order. */
  readonly fields: readonly string[];
  /**
   * The terms of the domain, which are the bytes between its brackets, after the condition that Odoo implies, if any.
   * Empty if there are none.
   */
  readonly terms: Uint8Array;
  /** Maximum number of records of the whole export. */
  readonly limit: number;
  /** The export begins after the record with this id; null: with the first record. */
  readonly after: number | null;
  readonly format: ExportFormat;
  /** Delimiter and escapes of CSV. */
  readonly form: CsvForm;
  /** True if a byte order mark precedes the CSV. */
  readonly hasMark: boolean;
}

const CSV_MEMBERS = ['bom', 'delimiter', 'escape_formulas'];
const MEMBERS = ['domain', 'fields', 'context', 'limit', 'after', 'format', ...CSV_MEMBERS];
/** Maximum length of a format or a delimiter. */
const SHORT_BYTES_MAX = 100;

/** A denial is answered with the `id` of the body. */
export function readExportRequest(bytes: Uint8Array): ExportRequest | { id: Uint8Array; denial: Denial } {
  const data = readDataRequest(bytes, MEMBERS);
  if ('denial' in data) return data;
  const read = readMembersOfExport(data);
  return 'data' in read ? read : { id: data.id, denial: read };
}

function readMembersOfExport(data: DataRequest): ExportRequest | Denial {
  const fields = readFields(data, 'to export');
  if (!Array.isArray(fields)) return fields as Denial;
  const given = readTerms(data);
  if (!(given instanceof Uint8Array)) return given;
  const terms = addImplied(data, given);
  const limit = readLimit(data);
  if (typeof limit !== 'number') return limit;
  const after = readAfter(data);
  if (after !== null && typeof after !== 'number') return after;
  const format = readFormat(data);
  if (typeof format !== 'string') return format;
  const csv = readCsvForm(data, format);
  return 'form' in csv ? { data, fields, terms, limit, after, format, ...csv } : csv;
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

function addImplied(data: DataRequest, terms: Uint8Array): Uint8Array {
  const domain = findGiven(data, 'domain');
  const context = readMemberBytes(data, 'context');
  const implied = findImpliedCondition(data.model, data.bytes, domain, context);
  if (implied === null) return terms;
  return Buffer.concat([Buffer.from(terms.length === 0 ? implied : `${implied},`), terms]);
}

const NO_TERMS = new Uint8Array(0);

/** Reads the limit. As in a call, 0, null and false mean no limit. */
function readLimit(data: DataRequest): number | Denial {
  const value = findGiven(data, 'limit');
  if (value === undefined || value.kind === 'false') return Number.POSITIVE_INFINITY;
  const limit = readInteger(data.bytes, value);
  if (limit === null || limit < 0)
    return denyLimit('must be the maximum number of records, an integer; 0 means all.');
  return limit === 0 ? Number.POSITIVE_INFINITY : Number(limit);
}

/** Reads an id, which can be negative for SQL views (docs/odoo-facts.md#negative-ids). */
function readAfter(data: DataRequest): number | null | Denial {
  const value = findGiven(data, 'after');
  if (value === undefined) return null;
  const id = readInteger(data.bytes, value);
  return typeof id === 'number'
    ? id
    : invalid('after', '`after` must be the id of the last record that was taken, an integer below 2^53.');
}

function readFormat(data: DataRequest): ExportFormat | Denial {
  const text = readShortText(data, 'format') ?? 'ndjson';
  if (text === 'ndjson' || text === 'csv') return text;
  return invalid('format', '`format` must be "ndjson" or "csv".');
}

function readCsvForm(
  data: DataRequest,
  format: ExportFormat,
): Pick<ExportRequest, 'form' | 'hasMark'> | Denial {
  const other =
    format === 'csv' ? undefined : CSV_MEMBERS.find((name) => findGiven(data, name) !== undefined);
  if (other !== undefined) return invalid(other, `\`${other}\` is for \`"format": "csv"\` only.`);
  const hasMark = readSwitch(data, 'bom', false);
  if (typeof hasMark !== 'boolean') return hasMark;
  const escapesFormulas = readSwitch(data, 'escape_formulas', USUAL_FORM.escapesFormulas);
  if (typeof escapesFormulas !== 'boolean') return escapesFormulas;
  const text = readShortText(data, 'delimiter') ?? USUAL_FORM.delimiter;
  const delimiter = DELIMITERS.find((known) => known === text);
  if (delimiter === undefined)
    return invalid('delimiter', '`delimiter` must be ",", ";", "|" or a tab ("\\t").');
  return { form: { delimiter, escapesFormulas }, hasMark };
}

function readSwitch(data: DataRequest, name: string, fallback: boolean): boolean | Denial {
  const value = findGiven(data, name);
  if (value === undefined) return fallback;
  if (value.kind === 'true' || value.kind === 'false') return value.kind === 'true';
  return invalid(name, `\`${name}\` must be true or false, not ${describe(value)}.`);
}

/** Undefined if the member is absent; the empty text if its value is not a short text. */
function readShortText(data: DataRequest, name: string): string | undefined {
  const value = findGiven(data, name);
  if (value === undefined) return undefined;
  const isShort = value.kind === 'string' && value.end - value.start < SHORT_BYTES_MAX;
  return isShort ? decodeString(data.bytes, value) : '';
}

interface ImpliedCondition {
  /** The condition as JSON text. */
  condition: string;
  /** The condition is added unless the domain names one of these fields. */
  unless: readonly string[];
  /** The condition is not added if this member of the context is true. */
  unlessContext: string;
}

/**
 * The conditions of Odoo 14 to 19. Other models add conditions by context or user, which are the same for each page.
 */
const IMPLIED_CONDITIONS: ReadonlyMap<string, ImpliedCondition> = new Map([
  [
    'ir.attachment',
    {
      condition: '["res_field","=",false]',
      unless: ['id', 'res_field'],
      unlessContext: 'skip_res_field_check',
    },
  ],
]);

/**
 * Returns the condition that Odoo adds to a search with this domain, as JSON text; null if it adds none. Odoo adds it
 * unless the domain names certain fields. Each page of an export except the first has a condition on `id`, and must
 * still find the same records as the domain alone.
 */
function findImpliedCondition(
  model: string,
  bytes: Uint8Array,
  domain: JsonSpan | undefined,
  context: Uint8Array | null,
): string | null {
  const implied = IMPLIED_CONDITIONS.get(model);
  if (implied === undefined) return null;
  const { condition, unless, unlessContext } = implied;
  if (domain !== undefined && namesField(bytes, domain, unless)) return null;
  return context !== null && isTrue(context, unlessContext) ? null : condition;
}

/**
 * True if a condition of the domain itself names one of the fields. Odoo does not look into conditions on related
 * records either.
 */
function namesField(bytes: Uint8Array, domain: JsonSpan, names: readonly string[]): boolean {
  let isNamed = false;
  readElements(bytes, domain, (term) => {
    if (term.kind !== 'array') return true;
    readElements(bytes, term, (name) => {
      isNamed = name.kind === 'string' && names.includes(decodeString(bytes, name));
      return false;
    });
    return !isNamed;
  });
  return isNamed;
}

function isTrue(context: Uint8Array, name: string): boolean {
  const members: unknown = JSON.parse(Buffer.from(context).toString());
  return (
    typeof members === 'object' && members !== null && Boolean((members as Record<string, unknown>)[name])
  );
}
