/** The fields of the records of a result, and of the records nested in them (`specification` of `web_read`). */
import type { FieldTypes } from './field-types.ts';

export interface RecordShape {
  readonly model: string;
  /** Replaced if the server is asked for the types again while the result arrives. */
  types: FieldTypes;
  /** By field: the shape of its records, if they are part of the result. */
  readonly nested: ReadonlyMap<string, RecordShape>;
}

/** The form of a result: a list of records, or an object whose member `records` is that list. */
export type ResultForm = 'list' | 'page';

const FORMS: ReadonlyMap<string, ResultForm> = new Map([
  ['read', 'list'],
  ['search_read', 'list'],
  ['web_read', 'list'],
  ['web_search_read', 'page'],
]);

/** Null for a method whose results are not converted. */
export function findResultForm(method: string): ResultForm | null {
  return FORMS.get(method) ?? null;
}
