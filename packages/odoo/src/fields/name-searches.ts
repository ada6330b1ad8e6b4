/**
 * Fields of other models that a search by name compares: `name_search` of an invoice also compares the name of its
 * partner (docs/odoo-facts.md#name-search). Also the fields that a condition on a field with a search method compares:
 * a condition on the distribution of an invoice line compares the names of analytic accounts. Reads the table in
 * name-searches-table.ts.
 */
import { readTableLines } from '../table-lines.ts';
import { NAME_SEARCH } from './field-sources.ts';
import { NAME_SEARCHES } from './name-searches-table.ts';

/** `field` is {@link NAME_SEARCH} if the search also searches for the records of the model by name. */
export interface SearchedField {
  readonly model: string;
  readonly field: string;
}

const ANY_MODEL = 'any';
const NONE: readonly SearchedField[] = [];
let table: ReadonlyMap<string, readonly SearchedField[]> | null = null;

/**
 * The fields of other models that a search by name in the model compares, directly or through searches by name in those
 * models. Lists each field once.
 */
export function listSearchedElsewhere(model: string): readonly SearchedField[] {
  table ??= readTable();
  const found = [...(table.get(model) ?? NONE)];
  for (const { model: next, field } of found) {
    if (field !== NAME_SEARCH) continue;
    for (const further of table.get(next) ?? NONE) {
      const isKnown = found.some((known) => known.model === further.model && known.field === further.field);
      if (!isKnown && further.model !== model) found.push(further);
    }
  }
  return found;
}

/** The fields that a condition on the field compares in its place, also of other models. */
export function listCompared(model: string, field: string): readonly SearchedField[] {
  table ??= readTable();
  return table.get(`${model}/${field}`) ?? table.get(`${ANY_MODEL}/${field}`) ?? NONE;
}

function readTable(): ReadonlyMap<string, readonly SearchedField[]> {
  return new Map(
    readTableLines(NAME_SEARCHES).map(({ name, words: [sources = ''] }) => {
      const fields = sources.split(',').map((source) => {
        const [other = '', field = NAME_SEARCH] = source.split(':');
        return { model: other, field };
      });
      return [name, fields];
    }),
  );
}
