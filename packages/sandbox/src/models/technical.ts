/** Odoo's own tables: models, fields, settings, views. */

import { checkAccess } from '../orm/access.ts';
import { boolean, char, integer, many2many, many2one, one2many, selection, text } from '../orm/field.ts';
import type { Method, ModelSpec } from '../orm/model.ts';
import { createRow, writeRows } from '../orm/write.ts';

const managed = {
  write: ['base.group_system'],
  create: ['base.group_system'],
  unlink: ['base.group_system'],
};
const states = [
  ['manual', 'Custom'],
  ['base', 'Base'],
] as const;

const types = [
  'binary',
  'boolean',
  'char',
  'date',
  'datetime',
  'float',
  'html',
  'integer',
  'json',
  'many2many',
  'many2one',
  'many2one_reference',
  'monetary',
  'one2many',
  'properties',
  'properties_definition',
  'reference',
  'selection',
  'text',
].map((type) => [type, type] as const);

export const irModel: ModelSpec = {
  name: 'ir.model',
  description: 'Models',
  order: 'model',
  access: managed,
  fields: {
    name: char('Model Description', { required: true, translate: true }),
    model: char('Model', { required: true }),
    order: char('Order', {
      required: true,
      readonly: false,
      store: true,
      compute: (environment, row) => environment.models.get(String(row['model']))?.order ?? 'id',
    }),
    state: selection('Type', states, { readonly: true, default: 'base' }),
    transient: boolean('Transient Model', { default: false }),
    field_id: one2many('Fields', 'ir.model.fields', 'model_id', { required: true }),
  },
};

export const irModelFields: ModelSpec = {
  name: 'ir.model.fields',
  description: 'Fields',
  order: 'name, id',
  recName: 'field_description',
  access: managed,
  displayName: (_, row) => `${row['field_description']} (${row['model']})`,
  fields: {
    name: char('Field Name', { required: true, default: 'x_' }),
    complete_name: char('Complete Name'),
    model: char('Model Name', { required: true }),
    relation: char('Related Model'),
    relation_field: char('Relation Field'),
    relation_field_id: many2one('Relation field', 'ir.model.fields', { readonly: true, ondelete: 'cascade' }),
    model_id: many2one('Model', 'ir.model', { required: true, ondelete: 'cascade' }),
    field_description: char('Field Label', { required: true, translate: true }),
    help: text('Field Help', { translate: true }),
    ttype: selection('Field Type', types, { required: true }),
    selection: char('Selection Options (Deprecated)', { store: false, searchable: false, sortable: false }),
    selection_ids: many2many('Selection Options', 'ir.model.fields', {
      readonly: false,
      store: true,
      compute: () => [],
    }),
    copied: boolean('Copied', { default: true }),
    related: char('Related Field Definition'),
    related_field_id: many2one('Related Field', 'ir.model.fields', { readonly: true, ondelete: 'cascade' }),
    required: boolean('Required'),
    readonly: boolean('Readonly'),
    index: boolean('Indexed'),
    translate: boolean('Translatable'),
    company_dependent: boolean('Company Dependent', { readonly: true }),
    size: integer('Size'),
    state: selection('Type', states, { readonly: true, default: 'manual', required: true }),
    on_delete: selection('On Delete', [
      ['cascade', 'Cascade'],
      ['set null', 'Set NULL'],
      ['restrict', 'Restrict'],
    ]),
    domain: char('Domain'),
    groups: many2many('Groups', 'ir.model', { readonly: false, store: true, compute: () => [] }),
    group_expand: boolean('Expand Groups'),
    selectable: boolean('Selectable', { default: true }),
    modules: char('In Apps', { readonly: true, compute: () => 'base' }),
    relation_table: char('Relation Table'),
    column1: char('Column 1'),
    column2: char('Column 2'),
    compute: text('Compute'),
    depends: char('Dependencies'),
    store: boolean('Stored', { default: true }),
    currency_field: char('Currency field'),
    sanitize: boolean('Sanitize HTML'),
    sanitize_overridable: boolean('Sanitize HTML overridable'),
    sanitize_tags: boolean('Sanitize HTML Tags'),
    sanitize_attributes: boolean('Sanitize HTML Attributes'),
    sanitize_style: boolean('Sanitize HTML Style'),
    sanitize_form: boolean('Sanitize HTML Form'),
    strip_style: boolean('Strip Style Attribute'),
    strip_classes: boolean('Strip Class Attribute'),
  },
  lateFields: { tracking: integer('Enable Ordered Tracking') },
};

const setParameter: Method = {
  owner: 'IrConfigParameter',
  kind: 'model',
  parameters: 'key, value',
  run: ({ environment, model, values }) => {
    checkAccess(environment, model, 'read');
    const key = values['key'] ?? null;
    const [known] = environment.store.table(model.name).where('key', key);
    if (known) writeRows(environment, model, [known['id'] as number], { value: values['value'] ?? false });
    else createRow(environment, model, { key, value: values['value'] ?? false });
    return known?.['value'] ?? false;
  },
};

const getParameter: Method = {
  owner: 'IrConfigParameter',
  kind: 'model',
  parameters: 'key, default=False',
  run: ({ environment, model, values }) => {
    checkAccess(environment, model, 'read');
    const [known] = environment.store.table(model.name).where('key', values['key'] ?? null);
    return known?.['value'] ?? values['default'] ?? false;
  },
};

const system = ['base.group_system'];

export const configParameter: ModelSpec = {
  name: 'ir.config_parameter',
  description: 'System Parameter',
  order: 'key',
  recName: 'key',
  access: { read: system, write: system, create: system, unlink: system },
  unique: [{ fields: ['key'], message: 'Key must be unique.' }],
  fields: { key: char('Key', { required: true }), value: text('Value', { required: true }) },
  methods: { set_param: setParameter, get_param: getParameter },
};

export const view: ModelSpec = {
  name: 'ir.ui.view',
  description: 'View',
  access: managed,
  fields: {
    name: char('View Name', { required: true }),
    model: char('Model'),
    arch: text('View Architecture', { store: false, searchable: false, sortable: false }),
  },
};
