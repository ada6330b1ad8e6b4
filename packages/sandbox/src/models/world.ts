/** Countries, states and currencies. */
import type { Json, JsonObject } from '../json/value.ts';
import {
  boolean,
  char,
  date,
  float,
  integer,
  json,
  many2many,
  many2one,
  one2many,
  selection,
  text,
} from '../orm/field.ts';
import type { Environment, ModelSpec } from '../orm/model.ts';
import { parseDay } from '../orm/parse-date.ts';
import type { Row } from '../orm/row.ts';

const managed = {
  write: ['base.group_system'],
  create: ['base.group_system'],
  unlink: ['base.group_system'],
};

const positions = [
  ['before', 'Before Address'],
  ['after', 'After Address'],
] as const;

export const country: ModelSpec = {
  name: 'res.country',
  description: 'Country',
  order: 'name, id',
  access: { ...managed, unlink: ['base.group_partner_manager'] },
  unique: [
    { fields: ['name'], message: 'The name of the country must be unique!' },
    { fields: ['code'], message: 'The code of the country must be unique!' },
  ],
  fields: {
    name: char('Country Name', { required: true, translate: true }),
    code: char('Country Code', { required: true, size: 2, help: 'The ISO country code in two chars.' }),
    address_format: text('Layout in Reports', {
      help: 'Display format to use for addresses belonging to this country.',
      default: '%(street)s\n%(street2)s\n%(city)s %(state_code)s %(zip)s\n%(country_name)s',
    }),
    address_view_id: many2one('Input View', 'ir.ui.view', {
      help: 'Use this field if you want to replace the usual way to encode a complete address.',
    }),
    currency_id: many2one('Currency', 'res.currency'),
    image_url: char('Flag', {
      readonly: true,
      searchable: false,
      help: 'Url of static flag image',
      compute: (_, row) => flagOf(row['code'] ?? null),
      depends: ['code'],
    }),
    phone_code: integer('Country Calling Code'),
    country_group_ids: many2many('Country Groups', 'res.country.group'),
    country_group_codes: json('Country Group Codes', {
      readonly: true,
      searchable: false,
      compute: listGroups,
      depends: ['country_group_ids'],
    }),
    state_ids: one2many('States', 'res.country.state', 'country_id'),
    name_position: selection('Customer Name Position', positions, {
      default: 'before',
      help: 'Where the name stands in an address: before or after it.',
    }),
    vat_label: char('Vat Label', {
      translate: true,
      help: 'Use this field if you want to change vat label.',
    }),
    state_required: boolean('State Required', { default: false }),
    zip_required: boolean('Zip Required', { default: true }),
  },
};

export const state: ModelSpec = {
  name: 'res.country.state',
  description: 'Country state',
  order: 'code, id',
  access: managed,
  unique: [{ fields: ['country_id', 'code'], message: 'The code of the state must be unique by country!' }],
  fields: {
    country_id: many2one('Country', 'res.country', { required: true }),
    name: char('State Name', { required: true }),
    code: char('State Code', { required: true }),
  },
};

export const countryGroup: ModelSpec = {
  name: 'res.country.group',
  description: 'Country Group',
  access: managed,
  fields: { name: char('Name', { required: true, translate: true }) },
};

export const currency: ModelSpec = {
  name: 'res.currency',
  description: 'Currency',
  order: 'active desc, name',
  access: managed,
  unique: [{ fields: ['name'], message: 'The currency code must be unique!' }],
  fields: {
    name: char('Currency', { required: true }),
    full_name: char('Name'),
    symbol: char('Symbol', { required: true }),
    rate: float('Current Rate', { compute: () => 1, readonly: true }),
    rate_ids: one2many('Rates', 'res.currency.rate', 'currency_id'),
    rounding: float('Rounding Factor', { default: 0.01 }),
    decimal_places: integer('Decimal Places', { readonly: true, default: 2 }),
    active: boolean('Active', { default: true }),
    position: selection(
      'Symbol Position',
      [
        ['after', 'After Amount'],
        ['before', 'Before Amount'],
      ],
      { default: 'after' },
    ),
  },
};

export const currencyRate: ModelSpec = {
  name: 'res.currency.rate',
  description: 'Currency Rate',
  order: 'name desc, id',
  recName: 'name',
  access: managed,
  unique: [
    { fields: ['name', 'currency_id', 'company_id'], message: 'Only one currency rate per day allowed!' },
  ],
  checks: [
    {
      holds: (row) => ((row['rate'] as number | undefined) ?? 0) > 0,
      message: 'The currency rate must be strictly positive.',
    },
  ],
  beforeCreate: checkDay,
  fields: {
    name: date('Date', { required: true }),
    rate: float('Technical Rate'),
    company_rate: float('Company Rate', { readonly: false, compute: (_, row) => row['rate'] ?? 0 }),
    inverse_company_rate: float('Inverse Company Rate', {
      readonly: false,
      compute: (_, row) => 1 / ((row['rate'] as number | undefined) || 1),
    }),
    currency_id: many2one('Currency', 'res.currency', {
      required: true,
      readonly: true,
      ondelete: 'cascade',
    }),
    company_id: many2one('Company', 'res.company'),
  },
};

/** Up to 18, PostgreSQL parses the day of a new rate. */
function checkDay({ personality }: Environment, values: JsonObject): JsonObject {
  const { dateOutOfRange } = personality.texts;
  const day = values['name'];
  if (typeof day !== 'string' || !dateOutOfRange) return values;
  try {
    parseDay(day);
  } catch {
    throw dateOutOfRange(day);
  }
  return values;
}

function listGroups(environment: Environment, row: Row): Json {
  const ids = (row['country_group_ids'] as readonly number[] | undefined) ?? [];
  return ids.map((id) => environment.store.get('res.country.group', id)?.['name'] ?? null);
}

function flagOf(code: Json): Json {
  return typeof code === 'string' ? `/base/static/img/country_flags/${code.toLowerCase()}.png` : null;
}
