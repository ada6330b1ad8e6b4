/** Reads the instances of a file for `instances import`, each with its line: CSV, or a list in YAML or JSON. Pure. */
import { INSTANCE_INPUT } from '@erp-proxy/contract/admin';
import { findNearestName } from '@erp-proxy/text';
import { z } from 'zod';
import { findLine, type LineError, type LocatedMap, readDocument, toValue } from '../apply/document.ts';
import { readCsv } from './read-csv.ts';

const MEMBERS = ['name', ...Object.keys(INSTANCE_INPUT)];
/** Members of the databases that odoo.com lists, which say nothing that an instance has. */
const UNUSED = ['version', 'login'];

export interface Row {
  /** The line of the instance, and of each of its members. */
  line: number;
  lineOf(member: string): number;
  values: Record<string, unknown>;
}

export function readRows(text: string, isCsv: boolean): { rows: Row[] } | { errors: LineError[] } {
  const read = isCsv ? readTable(text) : readList(text);
  if ('errors' in read) return read;
  const errors = read.rows.flatMap(({ lineOf, values }) =>
    Object.keys(values)
      .filter((name) => ![...MEMBERS, ...UNUSED].includes(name))
      .map((name) => ({ line: lineOf(name), message: explainUnknown(name) })),
  );
  if (errors.length > 0) return { errors };
  if (read.rows.length === 0) return { errors: [{ line: 1, message: 'the file has no instances' }] };
  return {
    rows: read.rows.map(({ values: { version: _, login: __, ...values }, ...row }) => ({
      ...row,
      // odoo.com gives each database a name only.
      values: { ...values, db: values['db'] ?? values['name'] },
    })),
  };
}

function explainUnknown(name: string): string {
  return `an instance has no member "${name}"; did you mean "${findNearestName(name, MEMBERS)}"?`;
}

function readTable(text: string): { rows: Row[] } | { errors: LineError[] } {
  const read = readCsv(text);
  if ('errors' in read) return read;
  const [head, ...rows] = read.rows;
  const names = head?.cells ?? [];
  const unknown = names.filter((name) => ![...MEMBERS, ...UNUSED].includes(name));
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  const errors = [
    ...unknown.map((name) => ({ line: 1, message: explainUnknown(name) })),
    ...twice.map((name) => ({ line: 1, message: `the column "${name}" is there twice` })),
    ...rows
      .filter(({ cells }) => cells.length !== names.length)
      .map(({ line, cells }) => ({
        line,
        message: `the line has ${cells.length} cells, and the first line has ${names.length}`,
      })),
  ];
  if (errors.length > 0) return { errors };
  return {
    rows: rows.map(({ line, cells }) => ({
      line,
      lineOf: () => line,
      // An empty cell leaves the member out.
      values: Object.fromEntries(
        names.map((name, index) => [name, readCell(name, cells[index]!)]).filter(([, value]) => value !== ''),
      ),
    })),
  };
}

/** The value of a cell; its text if it is none of the member. */
function readCell(name: string, text: string): unknown {
  const schema: z.ZodType | undefined = INSTANCE_INPUT[name as keyof typeof INSTANCE_INPUT];
  const type = schema instanceof z.ZodNullable ? schema.unwrap() : schema;
  if (text === '') return text;
  if (type instanceof z.ZodNumber && /^\d{1,10}$/.test(text)) return Number(text);
  if (type instanceof z.ZodBoolean && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return type instanceof z.ZodArray ? text.split(/[\s,;]+/).filter((word) => word !== '') : text;
}

/** A list, also as the member `result` of an answer over JSON-RPC, or `instances`. */
function readList(text: string): { rows: Row[] } | { errors: LineError[] } {
  const read = readDocument(text, 'closed');
  if ('errors' in read) return read;
  const { root } = read;
  const list = root.kind === 'map' ? (root.members.get('instances') ?? root.members.get('result')) : root;
  if (list?.kind !== 'list')
    return { errors: [{ line: root.line, message: 'the file must have a list of instances' }] };
  const others = list.items.filter(({ kind }) => kind !== 'map');
  if (others.length > 0)
    return { errors: others.map(({ line }) => ({ line, message: 'an instance must be an object' })) };
  return {
    rows: (list.items as readonly LocatedMap[]).map((item) => ({
      line: item.line,
      lineOf: (member) => findLine(item, member),
      values: toValues(item),
    })),
  };
}

function toValues({ members }: LocatedMap): Record<string, unknown> {
  return Object.fromEntries([...members].map(([name, member]) => [name, toValue(member)]));
}
