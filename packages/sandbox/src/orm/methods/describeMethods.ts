/** Methods that tell what a model looks like: fields_get, views, defaults of a form, metadata. */
import type { Json, JsonObject } from '../../json/value.ts';
import { mayReadField } from '../access.ts';
import type { Environment } from '../environment.ts';
import { type Field, isNumeric, isStored, isToMany } from '../field.ts';
import type { Call, Method, Model } from '../model.ts';
import { showReference, showValue } from '../values.ts';
import { fillDefaults } from '../write.ts';
import { findXmlId } from './exchangeMethods.ts';
import { listRows } from './recordMethods.ts';

const owner = 'BaseModel';

export const describeMethods: Readonly<Record<string, Method>> = {
  fields_get: {
    owner,
    kind: 'model',
    parameters: 'allfields=None, attributes=None',
    run: ({ environment, model, values }) => {
      const asked = listOf(values['allfields']);
      const attributes = listOf(values['attributes']);
      const described: Record<string, JsonObject> = {};
      for (const field of model.fields.values()) {
        if (asked.length > 0 && !asked.includes(field.name)) continue;
        if (!mayReadField(environment, field)) continue;
        described[field.name] = describeField(environment, field, attributes);
      }
      return described;
    },
  },
  get_metadata: {
    owner,
    kind: 'record',
    parameters: '',
    run: (call) =>
      listRows(call).map((row) => {
        const id = row['id'] as number;
        const xmlid = findXmlId(call.model.name, id);
        const who = (name: string) =>
          row[name] ? showReference(call.environment, 'res.users', row[name] as number) : false;
        return {
          id,
          create_uid: who('create_uid'),
          create_date: row['create_date'] ?? false,
          write_uid: who('write_uid'),
          write_date: row['write_date'] ?? false,
          xmlid: xmlid ?? false,
          noupdate: xmlid !== undefined,
          xmlids: xmlid ? [{ xmlid, noupdate: true }] : [],
        };
      }),
  },
  get_views: {
    owner: 'Base',
    kind: 'model',
    parameters: 'views, options=None',
    run: (call) => {
      const views: Record<string, Json> = {};
      for (const pair of listOf(call.values['views']) as readonly Json[]) {
        const type = Array.isArray(pair) ? String(pair[1]) : 'form';
        views[type] = drawView(call.model, type);
      }
      return { views, models: { [call.model.name]: describeViewFields(call) } };
    },
  },
  get_view: {
    owner: 'Base',
    kind: 'model',
    parameters: "view_id=None, view_type='form', **options",
    run: ({ model, values }) => ({
      ...drawView(model, String(values['view_type'])),
      models: { [model.name]: [...model.fields.keys()] },
    }),
  },
  fields_view_get: {
    owner,
    kind: 'model',
    parameters: "view_id=None, view_type='form', toolbar=False, submenu=False",
    run: (call) => {
      const type = String(call.values['view_type']);
      const { arch, id } = drawView(call.model, type);
      const fields = describeFields(call.environment, call.model);
      const { name } = call.model;
      return {
        arch,
        model: name,
        fields,
        name: `${name}.${type}`,
        type,
        view_id: id,
        field_parent: false,
        base_model: name,
      };
    },
  },
  onchange: {
    owner: 'Base',
    kind: 'record',
    parameters: 'values, field_names, fields_spec',
    run: ({ environment, model, values }) => {
      const changed = listOf(values['field_names']);
      if (changed.length > 0 || typeof values['field_name'] === 'string') return { value: {} };
      // No field changed: a new form asks for its defaults.
      const row = fillDefaults(environment, model, {});
      const shown: Record<string, Json> = {};
      for (const name of Object.keys((values['fields_spec'] ?? {}) as object)) {
        const field = model.fields.get(name);
        if (field) shown[name] = showValue(environment, model, row, field, false);
      }
      return { value: shown };
    },
  },
};

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function describeFields(
  environment: Environment,
  model: Model,
  attributes: readonly Json[] = [],
): JsonObject {
  return Object.fromEntries(
    [...model.fields.values()].map((field) => [field.name, describeField(environment, field, attributes)]),
  );
}

/** The attributes in alphabetical order, as Odoo gives them; names that differ by version come from its personality. */
function describeField(environment: Environment, field: Field, attributes: readonly Json[]): JsonObject {
  const { aggregator, hasGroupable, hasHierarchy } = environment.personality.fieldAttributes;
  const isColumn = isStored(field);
  const isText = field.type === 'char' || field.type === 'text' || field.type === 'html';
  const all: Record<string, Json | undefined> = {
    [aggregator]: isNumeric(field) && field.name !== 'id' ? 'sum' : undefined,
    allow_hierachy_operators:
      hasHierarchy && field.relation ? environment.model(field.relation).fields.has('parent_id') : undefined,
    change_default: false,
    company_dependent: false,
    context: field.relation ? {} : undefined,
    default_export_compatible: false,
    depends: [],
    domain: field.relation ? [] : undefined,
    exportable: true,
    groupable: hasGroupable ? isColumn && field.type !== 'one2many' : undefined,
    groups: field.groups,
    help: field.help,
    manual: false,
    name: field.name,
    readonly: field.readonly === true || field.compute !== undefined,
    relation: field.relation,
    relation_field: field.inverse,
    required: field.required === true,
    searchable: field.searchable ?? (isColumn || field.name === 'display_name'),
    selection: field.selection,
    size: field.size,
    sortable: isColumn && !isToMany(field),
    store: isColumn,
    string: field.string,
    translate: isText ? field.translate === true : undefined,
    trim: field.type === 'char' ? true : undefined,
    type: field.type,
  };
  const shown = Object.entries(all).filter(
    ([name, value]) => value !== undefined && (attributes.length === 0 || attributes.includes(name)),
  );
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1))) as JsonObject;
}

const viewAttributes = [
  'aggregator',
  'change_default',
  'context',
  'currency_field',
  'domain',
  'groupable',
  'groups',
  'group_operator',
  'help',
  'name',
  'readonly',
  'relation',
  'relation_field',
  'required',
  'searchable',
  'selection',
  'sortable',
  'store',
  'string',
  'translate',
  'trim',
  'type',
];

function describeViewFields({ environment, model }: Call): JsonObject {
  const { stamp } = environment.personality.fieldAttributes;
  const all = describeFields(environment, model, viewAttributes);
  const shown = new Set([...pickViewFields(model).map((field) => field.name), 'id', stamp]);
  const fields = Object.fromEntries(Object.entries(all).filter(([name]) => shown.has(name)));
  return environment.personality.fieldAttributes.viewsNestFields ? { fields } : fields;
}

function pickViewFields(model: Model): Field[] {
  return [...model.fields.values()].filter((field) => !field.readonly && !field.compute).slice(0, 12);
}

function drawView(model: Model, type: string): { arch: string; id: number; model: string } {
  const fields = pickViewFields(model)
    .map((field) => `    <field name="${field.name}"${field.required ? ' required="True"' : ''}/>\n`)
    .join('');
  return { arch: `<${type} string="${model.description}">\n${fields}</${type}>`, id: 532, model: model.name };
}
