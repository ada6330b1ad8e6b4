/**
 * Which fields the computed fields of Odoo Community show, where `fields_get` does not describe this correctly: its
 * list of the fields on which a field depends can be too short, and for a stored field too long. Reads the table in
 * computed-fields-table.ts, and what field-sources.ts adds to it.
 */
import { readTableLines } from '../table-lines.ts';
import { COMPUTED_FIELDS } from './computed-fields-table.ts';
import { FURTHER_FIELDS } from './field-sources.ts';

export interface ComputedField {
  readonly sources: readonly { model: string; field: string }[];
  /** Fields of the record that write this one. This field shows them, but not what they are computed from. */
  readonly writers: readonly string[];
  /** The field also shows all fields on which it depends, though it is stored. */
  readonly showsAll: boolean;
}

/** Stands for any model. */
const ANY_MODEL = 'any';
/** Stands for all fields on which a field depends. */
const ALL = '*';

/** Null: the field is not in the table. A stored field without sources shows no other field. */
export function findComputedField(model: string, field: string): ComputedField | null {
  const row = findRow(model, field) ?? findRow(ANY_MODEL, field);
  if (row === undefined) return null;
  const key = `${model} ${field}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const parsed = parseRow(row, model);
  if (read.size === READ_MAX) read.clear();
  read.set(key, parsed);
  return parsed;
}

/** Names of the fields that a computed field of this name shows in some model. */
export function listShownAnywhere(field: string): ReadonlySet<string> {
  return getTable().shown.get(field) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();
/** Callers choose the names of models for which rows of any model are parsed, so the map is bounded. */
const READ_MAX = 5000;
const read = new Map<string, ComputedField>();

interface Table {
  rows: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** By name of a computed field: names of the fields that it shows. */
  shown: ReadonlyMap<string, ReadonlySet<string>>;
}

let table: Table | null = null;

function getTable(): Table {
  table ??= readTable();
  return table;
}

function findRow(model: string, field: string): string | undefined {
  return getTable().rows.get(model)?.get(field);
}

function readTable(): Table {
  const rows = new Map<string, Map<string, string>>();
  const shown = new Map<string, Set<string>>();
  for (const { name: model, words: fields } of [COMPUTED_FIELDS, FURTHER_FIELDS].flatMap(readTableLines)) {
    const ofModel = rows.get(model) ?? new Map<string, string>();
    for (const row of fields) {
      const at = row.indexOf('=');
      const name = at < 0 ? row : row.slice(0, at);
      const sources = at < 0 ? '' : row.slice(at + 1);
      ofModel.set(name, [ofModel.get(name), sources].filter(Boolean).join());
      if (sources === '') continue;
      const names = shown.get(name) ?? new Set();
      for (const source of sources.split(','))
        names.add(source.slice(source.indexOf(':') + 1).replace('=', ''));
      shown.set(name, names);
    }
    rows.set(model, ofModel);
  }
  return { rows, shown };
}

function parseRow(row: string, model: string): ComputedField {
  const sources: { model: string; field: string }[] = [];
  const writers: string[] = [];
  let showsAll = false;
  for (const source of row === '' ? [] : row.split(',')) {
    const colon = source.indexOf(':');
    if (source === ALL) showsAll = true;
    else if (source.startsWith('=')) writers.push(source.slice(1));
    else if (colon < 0) sources.push({ model, field: source });
    else sources.push({ model: source.slice(0, colon), field: source.slice(colon + 1) });
  }
  return { sources, writers, showsAll };
}
