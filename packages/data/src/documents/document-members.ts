/** Reads the members of a request for documents. */
import { describe, invalid, readText } from '@erp-proxy/gateway/call';
import { Denial } from '@erp-proxy/gateway/terms';
import { findValue, type JsonSpan, readElements } from '@erp-proxy/json';
import { type DataRequest, findGiven, readRecordId } from '../data-request.ts';

export const DOCUMENT_MEMBERS = ['record', 'records', 'report', 'lang'];

export interface DocumentMembers {
  /** Ids of records, without duplicates. */
  readonly ids: readonly number[];
  /** True if `records` has named them: the answer is an archive. */
  readonly isArchive: boolean;
  /** Xmlid or name of the report; null: the first one. */
  readonly report: string | null;
  /** Code of a language; null: that of the report. */
  readonly lang: string | null;
}

const RECORDS_MAX = 50;
/** Longer than the names and xmlids of reports. */
const REPORT_LENGTH_MAX = 256;
const LANG_LENGTH_MAX = 16;
const LANG = /^[a-z]{2,3}(_[A-Za-z0-9]{2,4})?(@[a-z]{2,8})?$/;

export function readDocumentMembers(request: DataRequest): DocumentMembers | Denial {
  const ids = readIds(request);
  if (ids instanceof Denial) return ids;
  const report = readOptional(
    request,
    'report',
    REPORT_LENGTH_MAX,
    'a report, e.g. "sale.action_report_saleorder"',
  );
  if (report instanceof Denial) return report;
  const lang = readOptional(request, 'lang', LANG_LENGTH_MAX, 'a language, e.g. "fr_FR"');
  if (lang instanceof Denial) return lang;
  if (lang !== null && !LANG.test(lang))
    return invalid('lang', '`lang` must be the code of a language of Odoo, e.g. "fr_FR".');
  return { ids, isArchive: findGiven(request, 'records') !== undefined, report, lang };
}

function readIds(request: DataRequest): number[] | Denial {
  const [record, records] = [findGiven(request, 'record'), findGiven(request, 'records')];
  if (record !== undefined && records !== undefined)
    return invalid('records', 'Send `record` for one PDF, or `records` for an archive, not both.');
  if (records !== undefined) return readList(request, records);
  if (record === undefined)
    return invalid('record', '`record` is missing: the id of a record; or `records`, a list of ids.');
  const id = readRecordId(request.bytes, record, 'record');
  return id instanceof Denial ? id : [id];
}

function readList({ bytes }: DataRequest, records: JsonSpan): number[] | Denial {
  if (records.kind !== 'array')
    return invalid('records', `\`records\` must be a list of ids, not ${describe(records)}.`);
  const ids = new Set<number>();
  let denial: Denial | null = null;
  let count = 0;
  readElements(bytes, records, (element) => {
    const id = readRecordId(bytes, element, `records[${count++}]`);
    if (id instanceof Denial) denial = id;
    else if (count > RECORDS_MAX)
      denial = invalid(
        'records',
        `\`records\` may have at most ${RECORDS_MAX} ids: send the rest in another request.`,
      );
    else if (ids.has(id)) denial = invalid('records', `\`records\` has the id ${id} twice.`);
    else ids.add(id);
    return denial === null;
  });
  if (denial !== null) return denial;
  return ids.size > 0 ? [...ids] : invalid('records', '`records` must have at least one id.');
}

/** Null if the member is absent or null. */
function readOptional(
  request: DataRequest,
  name: string,
  lengthMax: number,
  expected: string,
): string | null | Denial {
  if (findGiven(request, name) === undefined) return null;
  return readText(request.bytes, findValue(request.members, name), name, lengthMax, expected);
}
