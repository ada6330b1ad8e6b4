/** export_data and load: records as rows of a table. */
import type { Json } from '../../json/value.ts';
import { checkAccess } from '../access.ts';
import { compileNamed } from '../compile-comparison.ts';
import { Fault } from '../fault.ts';
import { isToMany } from '../field.ts';
import type { Environment, Field, Method, Model } from '../model.ts';
import { showField } from '../read.ts';
import type { Row } from '../row.ts';
import { searchIds } from '../search.ts';
import { getValue, nameRow } from '../values.ts';
import { createRow, writeRows } from '../write.ts';
import { listIds, listRows } from './record-methods.ts';

const owner = 'BaseModel';

export const exchangeMethods: Readonly<Record<string, Method>> = {
  export_data: {
    owner,
    kind: 'record',
    parameters: 'fields_to_export',
    run: (call) => {
      checkAccess(call.environment, call.model, 'read', listIds(call));
      const paths = (call.values['fields_to_export'] as readonly string[]).map((path) => path.split('/'));
      return {
        datas: listRows(call).map((row) =>
          paths.map((path) => exportCell(call.environment, call.model, row, path)),
        ),
      };
    },
  },
  get_external_id: {
    owner,
    kind: 'record',
    parameters: '',
    run: (call) => Object.fromEntries(listIds(call).map((id) => [id, findXmlId(call.model.name, id) ?? ''])),
  },
  load: {
    owner,
    kind: 'model',
    parameters: 'fields, data',
    run: ({ environment, model, values }) => {
      const names = values['fields'] as readonly string[];
      const rows = values['data'] as readonly (readonly Json[])[];
      const ids: number[] = [];
      try {
        // One invalid row rolls back the rows before it.
        environment.store.savepoint(() => {
          for (const cells of rows) ids.push(loadRow(environment, model, names, cells));
        });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const record = ids.length;
        const message = { type: 'error', message: error.message, record, rows: { from: record, to: record } };
        return { ids: false, messages: [message], nextrow: 0 };
      }
      return { ids, messages: [], nextrow: 0 };
    },
  },
};

const xmlIds: Readonly<Record<string, string>> = {
  'res.partner,1': 'base.main_partner',
  'res.partner,2': 'base.partner_root',
  'res.partner,3': 'base.partner_admin',
  'res.users,1': 'base.user_root',
  'res.users,2': 'base.user_admin',
  'res.company,1': 'base.main_company',
  'res.country,20': 'base.be',
  'res.country,233': 'base.us',
};

export function findXmlId(model: string, id: number): string | undefined {
  return xmlIds[`${model},${id}`];
}

function exportCell(
  environment: Environment,
  model: Model,
  row: Row,
  [name = '', ...rest]: readonly string[],
): Json {
  const id = row['id'] as number;
  if (name === '.id') return String(id);
  if (name === 'id')
    return findXmlId(model.name, id) ?? `__export__.${model.name.replaceAll('.', '_')}_${id}`;
  const field = model.fields.get(name);
  if (!field) throw environment.personality.texts.unknownFieldRead(model.name, name);
  const value = isToMany(field)
    ? showField(environment, model, row, field, false)
    : getValue(environment, model, row, field);
  if (value === null || value === false) return '';
  if (!field.relation) return value;
  const relation = environment.model(field.relation);
  const cells = [value].flat().flatMap((linked) => {
    const related = environment.store.get(relation.name, linked as number);
    if (!related) return [];
    return [
      rest.length > 0
        ? exportCell(environment, relation, related, rest)
        : nameRow(environment, relation, related),
    ];
  });
  return cells.join(',');
}

function loadRow(
  environment: Environment,
  model: Model,
  names: readonly string[],
  cells: readonly Json[],
): number {
  const values: Record<string, Json> = {};
  let known: number | undefined;
  for (const [index, path] of names.entries()) {
    const cell = cells[index] ?? null;
    const [name = '', ...rest] = path.split('/');
    const field = model.fields.get(name);
    if (path === '.id') known = Number(cell);
    else if (path === 'id') known = findByXmlId(model.name, String(cell));
    else if (!field) throw environment.personality.texts.unknownFieldRead(model.name, name);
    else if (!field.relation) values[name] = cell;
    else values[name] = findLinked(environment, field, rest, cell);
  }
  if (known === undefined) return createRow(environment, model, values);
  writeRows(environment, model, [known], values);
  return known;
}

/** Finds the record that a column names by its id, its external id or its name. `rest`: the path after the field. */
function findLinked(
  environment: Environment,
  { relation = '', string, type }: Field,
  rest: readonly string[],
  cell: Json,
): Json {
  const [part] = rest;
  if (part === undefined) return findByName(environment, relation, cell, string);
  if (type === 'one2many' && part !== '.id' && part !== 'id')
    throw new Fault('builtins.NotImplementedError', 'The sandbox does not load records of a one2many field');
  if (rest.length > 1 || (part !== '.id' && part !== 'id'))
    throw new Fault(
      'builtins.ValueError',
      'Can not create Many-To-One records indirectly, import the field separately',
    );
  return part === '.id' ? Number(cell) : (findByXmlId(relation, String(cell)) ?? false);
}

function findByXmlId(model: string, xmlId: string): number | undefined {
  const key = Object.keys(xmlIds).find((known) => known.startsWith(`${model},`) && xmlIds[known] === xmlId);
  return key ? Number(key.split(',')[1]) : undefined;
}

function findByName(environment: Environment, modelName: string, name: Json, label: string): Json {
  if (!name) return false;
  const model = environment.model(modelName);
  const where = compileNamed(environment, model, '=', name);
  const [id] = searchIds(environment, model, [], { limit: 1, where });
  if (id === undefined)
    throw new Fault(
      'builtins.ValueError',
      `No matching record found for name '${String(name)}' in field '${label}'`,
    );
  return id;
}
