/** Methods that describe a model: fields_get, views, defaults of a form, metadata. */
import type { Json, JsonObject } from '../../json/value.ts';
import { mayReadField } from '../access.ts';
import { describeField, describeFields } from '../describe-field.ts';
import { describeViewFields, drawView } from '../draw-view.ts';
import type { Method } from '../model.ts';
import { showReference, showValue } from '../values.ts';
import { fillDefaults } from '../write.ts';
import { findXmlId } from './exchange-methods.ts';
import { listRows } from './record-methods.ts';

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
        described[field.name] = describeField(environment, model, field, attributes);
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
        const when = (name: string) => (row[name] ? String(row[name]).slice(0, 19) : false);
        return {
          id,
          create_uid: who('create_uid'),
          create_date: when('create_date'),
          write_uid: who('write_uid'),
          write_date: when('write_date'),
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
    readonly: true,
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
  load_views: {
    owner: 'Base',
    kind: 'model',
    parameters: 'views, options=None',
    run: (call) => {
      const fields_views: Record<string, Json> = {};
      for (const pair of listOf(call.values['views']) as readonly Json[]) {
        const type = Array.isArray(pair) ? String(pair[1]) : 'form';
        fields_views[type] = drawView(call.model, type);
      }
      return { fields_views, fields: describeFields(call.environment, call.model) };
    },
  },
  onchange: {
    owner: 'Base',
    kind: 'record',
    parameters: 'values, field_names, fields_spec',
    run: ({ environment, model, values }) => {
      const changed = listOf(values['field_names']);
      if (changed.length > 0 || typeof values['field_name'] === 'string') return { value: {} };
      // Without a changed field, a new form asks for its defaults.
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
