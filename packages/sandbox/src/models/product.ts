/** Products: every variant has one template here. */
import type { Environment } from '../orm/environment.ts';
import {
  binary,
  boolean,
  char,
  type FieldOptions,
  float,
  html,
  integer,
  many2one,
  one2many,
  type Row,
  selection,
  text,
} from '../orm/field.ts';
import type { ModelSpec } from '../orm/model.ts';

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

export const template: ModelSpec = {
  name: 'product.template',
  description: 'Product',
  order: 'name, id',
  access: managed,
  fields: {
    name: char('Name', { required: true, translate: true }),
    sequence: integer('Sequence', { default: 1 }),
    description: html('Description'),
    description_sale: text('Sales Description'),
    type: selection('Product Type', kinds, { required: true, default: 'consu' }),
    list_price: float('Sales Price', { default: 1 }),
    standard_price: float('Cost'),
    weight: float('Weight'),
    currency_id: many2one('Currency', 'res.currency', { readonly: true, default: 1 }),
    sale_ok: boolean('Sales', { default: true }),
    active: boolean('Active', { default: true }),
    default_code: char('Internal Reference'),
    barcode: char('Barcode', { copy: false }),
    company_id: many2one('Company', 'res.company'),
    image_1920: binary('Image'),
    product_variant_ids: one2many('Products', 'product.product', 'product_tmpl_id'),
  },
};

const ofTemplate = (name: string): FieldOptions => ({
  compute: (environment, row) => readTemplate(environment, row)[name] ?? null,
});

export const product: ModelSpec = {
  name: 'product.product',
  description: 'Product Variant',
  order: 'default_code, id',
  access: managed,
  displayName: (environment, row) => {
    const name = String(readTemplate(environment, row)['name'] ?? '');
    return row['default_code'] ? `[${row['default_code']}] ${name}` : name;
  },
  fields: {
    product_tmpl_id: many2one('Product Template', 'product.template', {
      required: true,
      ondelete: 'cascade',
    }),
    default_code: char('Internal Reference'),
    active: boolean('Active', { default: true }),
    barcode: char('Barcode', { copy: false }),
    name: char('Name', ofTemplate('name')),
    type: selection('Product Type', kinds, ofTemplate('type')),
    list_price: float('Sales Price', ofTemplate('list_price')),
    lst_price: float('Sales Price', ofTemplate('list_price')),
    standard_price: float('Cost', ofTemplate('standard_price')),
    weight: float('Weight', ofTemplate('weight')),
    sale_ok: boolean('Sales', ofTemplate('sale_ok')),
  },
};

function readTemplate(environment: Environment, row: Row): Row {
  return environment.store.get('product.template', row['product_tmpl_id'] as number) ?? {};
}
