/**
 * Fields that hold credentials, such as the tokens of a user's calendar, of models that a policy need not name. A
 * policy must allow the fields by name. Reads the table in credential-fields-data.ts.
 */
import { readTableLines } from '../table-lines.ts';
import { CREDENTIAL_FIELDS } from './credential-fields-data.ts';
import { findSensitivity } from './sensitive-methods.ts';

let table: ReadonlyMap<string, ReadonlySet<string>> | null = null;

/** By model. Models whose reads a policy must name are left out: naming them allows all of their fields. */
export function listCredentialFields(): ReadonlyMap<string, ReadonlySet<string>> {
  table ??= readTable();
  return table;
}

function readTable(): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = readTableLines(CREDENTIAL_FIELDS).filter(({ name }) => findSensitivity(name, 'read') === null);
  return new Map(rows.map(({ name, words }) => [name, new Set(words)]));
}
