/**
 * The calls on Odoo that find changes. Times in domains are whole seconds, and compared with `>=` and `<` only:
 * versions of Odoo differ in how other operators treat the fractions that PostgreSQL keeps
 * (docs/odoo-facts.md#write-date). Each domain names `id`: `ir.attachment` hides the files of fields from domains
 * without it. Pure.
 */
import type { Denial } from '@erp-proxy/gateway/terms';
import type { Question } from '../ask-odoo.ts';
import { setContextMembers } from '../set-context.ts';
import type { Place } from './given-records.ts';
import type { ChangesQuery } from './terms.ts';

const SHOW_ARCHIVED = new Map([['active_test', 'false']]);

/**
 * Prepares the context of a query so that it also finds archived records, which have changes, too. `context`: JSON
 * text, or null.
 */
export function prepareContext(context: Uint8Array | null): string | Denial {
  const prepared = setContextMembers(context, SHOW_ARCHIVED);
  return prepared instanceof Uint8Array ? Buffer.from(prepared).toString() : prepared;
}

/** Asks for the latest `write_date`. */
export function askNewest({ context }: Pick<ChangesQuery, 'context'>): Question {
  return build('search_read', '[["id",">",0],["write_date","!=",false]]', context, {
    fields: '["write_date"]',
    order: '"write_date desc, id desc"',
    limit: '1',
  });
}

/** Asks for the records that match the domain, by id. */
export function askCopy(query: ChangesQuery, after: number, limit: number): Question {
  return build('search_read', addTerms(`["id",">",${after}]`, query.domain), query.context, {
    fields: listFields(query),
    order: '"id"',
    limit: String(limit),
  });
}

/** Asks for the ids of the records that match the domain. */
export function askIds(
  { domain, context }: Pick<ChangesQuery, 'domain' | 'context'>,
  after: number,
  limit: number,
): Question {
  return build('search', addTerms(`["id",">",${after}]`, domain), context, {
    order: '"id"',
    limit: String(limit),
  });
}

/** Asks for all records written in this second or later, whether they match the domain or not. */
export function askFrom(query: ChangesQuery, second: number | null, limit: number): Question {
  const since = second === null ? '["write_date","!=",false]' : `["write_date",">=","${printTime(second)}"]`;
  return build('search_read', `[["id",">",0],${since}]`, query.context, {
    fields: listFields(query),
    order: '"write_date, id"',
    limit: String(limit),
  });
}

/** Asks for the records written in this one second, by id, after the given id. */
export function askSecond(query: ChangesQuery, { second, id }: Place, limit: number): Question {
  const from = `["write_date",">=","${printTime(second)}"]`;
  const to = `["write_date","<","${printTime(second + 1)}"]`;
  return build('search_read', `[["id",">",${id}],${from},${to}]`, query.context, {
    fields: listFields(query),
    order: '"id"',
    limit: String(limit),
  });
}

/** Asks the same question for the `write_date` of the records alone. */
export function askTimes(question: Question): Question {
  return { ...question, keyword: { ...question.keyword, fields: '["write_date"]' } };
}

/** Asks for fields of no record, to have the fields checked. */
export function askNothing(fields: readonly string[]): Question {
  return build('search_read', '[["id","=",0]]', '{}', {
    fields: JSON.stringify(fields),
    order: '"id"',
    limit: '1',
  });
}

/** Asks which of the ids match the domain. */
export function askMatching(
  { domain, context }: Pick<ChangesQuery, 'domain' | 'context'>,
  ids: readonly number[],
): Question {
  return build('search', addTerms(`["id","in",[${ids.join()}]]`, domain), context, {
    order: '"id"',
    limit: String(ids.length),
  });
}

export function hasTerms(domain: string): boolean {
  return readTerms(domain) !== '';
}

function readTerms(domain: string): string {
  return domain.slice(domain.indexOf('[') + 1, domain.lastIndexOf(']')).trim();
}

function addTerms(term: string, domain: string): string {
  const terms = readTerms(domain);
  return terms === '' ? `[${term}]` : `[${term},${terms}]`;
}

function build(
  method: string,
  domain: string,
  context: string,
  keyword: Readonly<Record<string, string>>,
): Question {
  return { method, params: `[${domain}]`, keyword: { ...keyword, context } };
}

function listFields({ fields }: ChangesQuery): string {
  return JSON.stringify(fields.includes('write_date') ? fields : [...fields, 'write_date']);
}

/** Prints a time in Odoo's form. */
function printTime(second: number): string {
  return new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
