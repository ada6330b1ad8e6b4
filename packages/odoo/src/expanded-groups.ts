/**
 * Fields by which a lazy `read_group` groups records into all records to which the field can lead, whatever the limit
 * (docs/odoo-facts.md#ignored-limits). Reads the table in expanded-groups-table.ts.
 */

import { EXPANDED_GROUPS } from './expanded-groups-table.ts';
import { readTableLines } from './table-lines.ts';

let table: ReadonlySet<string> | null = null;

/** `group`: a field, or a field with a function, as in `date:month`. */
export function isExpandedGroup(model: string, group: string): boolean {
  table ??= readTable();
  return table.has(`${model} ${group.split(':', 1)[0]}`);
}

function readTable(): ReadonlySet<string> {
  const lines = readTableLines(EXPANDED_GROUPS);
  return new Set(lines.flatMap(({ name, words }) => words.map((field) => `${name} ${field}`)));
}
