/** Contacts and their categories, with the access rights and record rules of the module base. */
import { isTrue, type Json, type JsonObject } from '../json/value.ts';
import { Fault, userError, valueError } from '../orm/fault.ts';
import {
  binary,
  boolean,
  char,
  date,
  float,
  html,
  integer,
  many2many,
  many2one,
  monetary,
  one2many,
  selection,
} from '../orm/field.ts';
import { forbidCycles } from '../orm/forbid-cycles.ts';
import { recordMethods } from '../orm/methods/record-methods.ts';
import type { Call, Environment, ModelSpec } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import { searchIds } from '../orm/search.ts';
import { showRecordset } from '../orm/show-recordset.ts';
import { createRow } from '../orm/write.ts';
import { chatterFields, chatterMethods } from './chatter.ts';
import { languages, timeZones } from './choices.ts';

const types = [
  ['contact', 'Contact'],
  ['invoice', 'Invoice Address'],
  ['delivery', 'Delivery Address'],
  ['other', 'Other Address'],
] as const;

export const partner: ModelSpec = {
  name: 'res.partner',
  description: 'Contact',
  order: 'complete_name, id desc',
  searchedFields: ['email', 'ref', 'vat'],
  displayName: nameInContext,
  access: {
    create: ['base.group_partner_manager', 'sales_team.group_sale_manager', 'sales_team.group_sale_salesman'],
    write: ['base.group_partner_manager'],
    unlink: ['base.group_partner_manager'],
  },
  rule: (environment) => ['|', ['company_id', '=', false], ['company_id', 'in', environment.companyIds]],
  checks: [
    {
      holds: (row) => (row['type'] ?? 'contact') !== 'contact' || (row['name'] ?? null) !== null,
      message: 'Contacts require a name',
    },
  ],
  fields: {
    image_1920: binary('Image'),
    image_128: binary('Image 128', {
      readonly: true,
      store: true,
      compute: (_, row) => row['image_1920'] ?? null,
    }),
    name: char('Name'),
    complete_name: char('Complete Name', {
      readonly: true,
      compute: nameAddress,
      storedFrom: ['name', 'is_company', 'type', 'parent_id.name'],
    }),
    parent_id: many2one('Related Company', 'res.partner', { ondelete: 'set null' }),
    child_ids: one2many('Contact', 'res.partner', 'parent_id'),
    ref: char('Reference'),
    lang: selection('Language', languages, { default: 'en_US' }),
    tz: selection('Timezone', timeZones),
    user_id: many2one('Salesperson', 'res.users'),
    user_ids: one2many('Users', 'res.users', 'partner_id'),
    vat: char('Tax ID'),
    website: char('Website'),
    comment: html('Notes'),
    category_id: many2many('Tags', 'res.partner.category'),
    active: boolean('Active', { default: true }),
    employee: boolean('Employee'),
    function: char('Job Position'),
    type: selection('Address Type', types, { default: 'contact' }),
    street: char('Street'),
    street2: char('Street2'),
    zip: char('Zip'),
    city: char('City'),
    state_id: many2one('State', 'res.country.state', { ondelete: 'restrict' }),
    country_id: many2one('Country', 'res.country', { ondelete: 'restrict' }),
    country_code: char('Country Code', { readonly: true, related: 'country_id.code' }),
    email: char('Email'),
    phone: char('Phone'),
    is_company: boolean('Is a Company'),
    company_type: selection(
      'Company Type',
      [
        ['person', 'Individual'],
        ['company', 'Company'],
      ],
      {
        readonly: false,
        compute: (_, row) => (row['is_company'] ? 'company' : 'person'),
      },
    ),
    company_id: many2one('Company', 'res.company'),
    color: integer('Color Index', { default: 0 }),
    credit_limit: float('Credit Limit'),
    partner_latitude: float('Geo Latitude'),
    date_localization: date('Geolocation Date'),
    total_invoiced: monetary('Total Invoiced', { readonly: true, compute: () => 0 }),
    barcode: char('Barcode', { copy: false }),
    signup_type: char('Signup Token Type', { groups: 'base.group_erp_manager', copy: false }),
  },
  lateFields: chatterFields,
  validate: forbidCycles('res.partner', 'You cannot create recursive Partner hierarchies.'),
  beforeUnlink: keepUsedPartner,
  methods: {
    ...chatterMethods,
    default_get: { ...recordMethods['default_get']!, owner: '$class', run: getDefaults },
    find_or_create: {
      owner: '$class',
      kind: 'model',
      parameters: 'email, assert_valid_email=False',
      run: findOrCreate,
    },
  },
};

export const partnerCategory: ModelSpec = {
  name: 'res.partner.category',
  description: 'Partner Tags',
  order: 'name, id',
  fields: {
    name: char('Name', { required: true, translate: true }),
    color: integer('Color', { default: 0 }),
    parent_id: many2one('Category', 'res.partner.category', { ondelete: 'cascade' }),
    active: boolean('Active', { default: true }),
    partner_ids: many2many('Partners', 'res.partner', {
      readonly: false,
      store: true,
      compute: ({ store }, row) =>
        store
          .table('res.partner')
          .where('category_id', row['id'] as number)
          .map(({ id = null }) => id),
    }),
  },
};

function nameAddress(environment: Environment, row: Row): string {
  const parent = row['parent_id']
    ? environment.store.get('res.partner', row['parent_id'] as number)
    : undefined;
  const own =
    typeof row['name'] === 'string' ? row['name'] : (types.find(([key]) => key === row['type'])?.[1] ?? '');
  // Odoo collapses spaces in display names.
  const name = own.replace(/[^\S\n]*\n[^\S\n]*/g, '\n').trim();
  return parent && !row['is_company'] ? `${parent['name']}, ${name}` : name;
}

/** The name of a contact with the fields that members of the context add. */
function nameInContext(environment: Environment, row: Row): string {
  const { show_email: showsEmail, show_vat: showsVat } = environment.context;
  const email = isTrue(showsEmail) && row['email'] ? ` <${row['email']}>` : '';
  const vat = isTrue(showsVat) && row['vat'] ? ` ‒ ${row['vat']}` : '';
  return `${nameAddress(environment, row)}${email}${vat}`;
}

/** The defaults. With a parent, they include the parent's company, even if the call does not ask for it. */
function getDefaults(call: Call): Json {
  const shown = recordMethods['default_get']!.run(call) as JsonObject;
  const { store } = call.environment;
  const parent = shown['parent_id'] ? store.get('res.partner', shown['parent_id'] as number) : undefined;
  return parent ? { ...shown, company_id: parent['company_id'] ?? false } : shown;
}

/** Returns a recordset, not ids: before 19, the caller gets the recordset as text (docs/odoo-facts.md#recordsets). */
function findOrCreate({ environment, model, values }: Call): Json {
  const email = String(values['email'] ?? '').trim();
  if (!email) throw valueError('An email is required for find_or_create to work');
  if (isTrue(values['assert_valid_email']) && !email.includes('@'))
    throw valueError('A valid email is required for find_or_create to work properly.');
  const [known] = searchIds(environment, model, [['email', '=ilike', email]], { limit: 1 });
  const id = known ?? createRow(environment, model, { name: email, email });
  return showRecordset(environment, model.name, [id]);
}

function keepUsedPartner(environment: Environment, row: Row): void {
  const id = row['id'] as number;
  const users = environment.store
    .table('res.users')
    .where('partner_id', id)
    .filter((user) => user['active'] !== false);
  if (users.length > 0) throw redirectToUsers(users);
  if (environment.store.table('sale.order').where('partner_id', id).length > 0)
    throw userError('The partner cannot be deleted because it is used in Accounting');
}

function redirectToUsers(users: readonly Row[]): Fault {
  const names = users.map((user) => user['name']).join(', ');
  const message = `You cannot delete contacts linked to an active user.\nYou should rather archive them after archiving their associated user.\n\nLinked active users : ${names}`;
  const id = users[0]?.['id'] as number;
  const action = {
    type: 'ir.actions.act_window',
    res_model: 'res.users',
    context: { create: false },
    view_mode: 'form',
    views: [[163, 'form']],
    res_id: id,
  };
  const shown = `{'type': 'ir.actions.act_window', 'res_model': 'res.users', 'context': {'create': False}, 'view_mode': 'form', 'views': [[163, 'form']], 'res_id': ${id}}`;
  return new Fault('odoo.exceptions.RedirectWarning', `${message}\n${shown}\nGo to users\nNone`, [
    message,
    action,
    'Go to users',
    null,
  ]);
}
