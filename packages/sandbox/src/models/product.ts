/** Products. Every variant has one template. */
import type { Json, JsonObject } from '../json/value.ts';
import {
  binary,
  boolean,
  char,
  float,
  html,
  integer,
  many2one,
  one2many,
  selection,
  text,
} from '../orm/field.ts';
import { forbidCycles } from '../orm/forbid-cycles.ts';
import type { Environment, ModelSpec } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import { createRow } from '../orm/write.ts';
import { chatterFields, chatterMethods } from './chatter.ts';

const kinds = [
  ['consu', 'Goods'],
  ['service', 'Service'],
  ['combo', 'Combo'],
] as const;
const managed = {
  write: ['base.group_system'],
  create: ['base.group_system'],
  unlink: ['base.group_system'],
};

export const category: ModelSpec = {
  name: 'product.category',
  description: 'Product Category',
  order: 'complete_name',
  recName: 'complete_name',
  access: managed,
  fields: {
    name: char('Name', { required: true }),
    complete_name: char('Complete Name', {
      readonly: true,
      compute: namePath,
      storedFrom: ['name', 'parent_id.name'],
    }),
    parent_id: many2one('Parent Category', 'product.category', { ondelete: 'cascade' }),
    child_id: one2many('Child Categories', 'product.category', 'parent_id'),
  },
  displayName: namePath,
  validate: forbidCycles('product.category', 'You cannot create recursive categories.'),
};

export const template: ModelSpec = {
  name: 'product.template',
  description: 'Product',
  order: 'name, id',
  access: managed,
  displayName: (_, row) => nameWithCode(row, row['name']),
  afterCreate: createVariant,
  fields: {
    name: char('Name', { required: true, translate: true }),
    sequence: integer('Sequence', { default: 1 }),
    description: html('Description'),
    description_sale: text('Sales Description'),
    type: selection('Product Type', kinds, { required: true, default: 'consu' }),
    list_price: float('Sales Price', { default: 1 }),
    standard_price: float('Cost', { store: false, searchable: true, sortable: false }),
    categ_id: many2one('Product Category', 'product.category', { required: true, default: 1 }),
    weight: float('Weight'),
    currency_id: many2one('Currency', 'res.currency', {
      readonly: true,
      default: 1,
      store: false,
      searchable: false,
      sortable: false,
    }),
    sale_ok: boolean('Sales', { default: true }),
    active: boolean('Active', { default: true }),
    default_code: char('Internal Reference'),
    barcode: char('Barcode', { copy: false, store: false, searchable: true, sortable: false }),
    company_id: many2one('Company', 'res.company'),
    image_1920: binary('Image'),
    product_variant_ids: one2many('Products', 'product.product', 'product_tmpl_id', { required: true }),
  },
  lateFields: chatterFields,
  methods: chatterMethods,
};

export const product: ModelSpec = {
  name: 'product.product',
  description: 'Product Variant',
  inherits: 'product_tmpl_id',
  order: 'default_code, id',
  access: managed,
  beforeCreate: createTemplate,
  displayName: (environment, row) => nameWithCode(row, readTemplate(environment, row)['name']),
  fields: {
    product_tmpl_id: many2one('Product Template', 'product.template', {
      required: true,
      ondelete: 'cascade',
    }),
    default_code: char('Internal Reference'),
    active: boolean('Active', { default: true }),
    barcode: char('Barcode', { copy: false }),
    lst_price: float('Sales Price', {
      related: 'product_tmpl_id.list_price',
      searchable: false,
      sortable: false,
    }),
    weight: float('Weight', { related: 'product_tmpl_id.weight', store: true }),
    standard_price: float('Cost', { related: 'product_tmpl_id.standard_price', store: true }),
    image_1920: binary('Image', { related: 'product_tmpl_id.image_1920', searchable: false }),
  },
  lateFields: chatterFields,
  methods: chatterMethods,
};

/** The names of the category and of its parents. */
function namePath({ store }: Environment, row: Row): string {
  const path: Row[] = [];
  for (let at: Row | undefined = row; at; at = store.get('product.category', at['parent_id'] as number)) {
    // The name is computed before a cycle of parents is refused.
    if (path.some(({ id }) => id === at?.['id'])) break;
    path.unshift(at);
  }
  return path.map(({ name = '' }) => String(name)).join(' / ');
}

function nameWithCode({ default_code = null }: Row, name: Json = null): string {
  return default_code ? `[${String(default_code)}] ${String(name ?? '')}` : String(name ?? '');
}

function readTemplate(environment: Environment, row: Row): Row {
  return environment.store.get('product.template', row['product_tmpl_id'] as number) ?? {};
}

// Odoo's own context member. The variant creates its template, which must then not create a variant.
const alone = { create_product_product: false };

function createVariant(environment: Environment, id: number): void {
  if (environment.context['create_product_product'] === false) return;
  const row = environment.store.get('product.template', id) ?? {};
  const values = {
    product_tmpl_id: id,
    default_code: row['default_code'] ?? false,
    barcode: row['barcode'] ?? false,
  };
  createRow(environment, environment.model('product.product'), values);
}

function createTemplate(environment: Environment, values: JsonObject): JsonObject {
  if (values['product_tmpl_id']) return values;
  const inTemplate = environment.withContext({ ...environment.context, ...alone });
  const model = environment.model('product.template');
  const shared = Object.entries(values).filter(([name]) => model.fields.has(name));
  return { ...values, product_tmpl_id: createRow(inTemplate, model, Object.fromEntries(shared)) };
}
