/** Companies, users and languages. */

import { users } from '../data/users.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { accessDenied } from '../orm/fault.ts';
import { boolean, char, many2many, many2one, selection } from '../orm/field.ts';
import { ensureOne } from '../orm/methods/record-methods.ts';
import type { Environment, Method, ModelSpec } from '../orm/model.ts';
import { createRow } from '../orm/write.ts';
import { languages, timeZones } from './choices.ts';

export const company: ModelSpec = {
  name: 'res.company',
  description: 'Companies',
  order: 'name',
  access: {
    write: ['base.group_erp_manager'],
    create: ['base.group_erp_manager'],
    unlink: ['base.group_erp_manager'],
  },
  rule: (environment) => [['id', 'in', environment.userCompanyIds]],
  beforeCreate: (environment, values) => addPartner(environment, { currency_id: 1, ...values }, true),
  unique: [{ fields: ['name'], message: 'The company name must be unique!' }],
  fields: {
    name: char('Company Name', { required: true }),
    partner_id: many2one('Partner', 'res.partner', { required: true }),
    currency_id: many2one('Currency', 'res.currency', { required: true }),
    email: char('Email', { related: 'partner_id.email', store: true }),
    vat: char('Tax ID', { related: 'partner_id.vat' }),
    active: boolean('Active', { default: true }),
  },
};

const contextGet: Method = {
  owner: 'Users',
  kind: 'model',
  parameters: '',
  run: ({ environment }) => ({
    lang: environment.user['lang'] ?? false,
    tz: environment.user['tz'] ?? false,
    ...(environment.personality.contextTellsUser && { uid: environment.uid }),
  }),
};

const hasGroup: Method = {
  owner: 'Users',
  kind: 'record',
  parameters: 'group_ext_id',
  run: (call) => {
    const { environment, values } = call;
    const user = call.ids.length > 0 ? environment.store.get('res.users', ensureOne(call)) : environment.user;
    return (user?.['groups'] as string[] | undefined)?.includes(String(values['group_ext_id'])) === true;
  },
};

const showGroups: Method = {
  owner: 'Users',
  kind: 'record',
  parameters: '',
  run: (call) => ({
    name: 'Groups',
    type: 'ir.actions.act_window',
    res_model: 'res.groups',
    view_mode: 'list,form',
    target: 'current',
    domain: [['id', 'in', [ensureOne(call)]]],
  }),
};

/**
 * Since 19, anyone with a key can call this method, and use it to guess passwords
 * (docs/odoo-facts.md#password-guessing).
 */
const authenticate: Method = {
  owner: 'Users',
  kind: 'model',
  parameters: 'credential, user_agent_env',
  run: ({ values }) => {
    const { login, password } = isObject(values['credential']) ? values['credential'] : {};
    const known = Object.values(users).find((each) => each.login === login && each.password === password);
    if (!known) throw accessDenied();
    return { uid: known.userId, auth_method: 'password', mfa: 'default' };
  },
};

const getInviteUrl: Method = {
  owner: 'Users',
  kind: 'record',
  parameters: '',
  run: () => '/odoo/action-auth_totp_mail.action_activate_two_factor_authentication',
};

export const user: ModelSpec = {
  name: 'res.users',
  description: 'User',
  inherits: 'partner_id',
  order: 'name, login',
  access: {
    write: ['base.group_erp_manager'],
    create: ['base.group_erp_manager'],
    unlink: ['base.group_erp_manager'],
  },
  beforeCreate: (environment, values) =>
    addPartner(environment, { company_ids: [[6, 0, [1]]], ...values }, false),
  unique: [{ fields: ['login'], message: 'You can not have two users with the same login!' }],
  fields: {
    name: char('Name', { store: false, searchable: true, sortable: true }),
    login: char('Login', { required: true, copy: false }),
    partner_id: many2one('Related Partner', 'res.partner', { required: true, ondelete: 'restrict' }),
    company_id: many2one('Company', 'res.company', { required: true, default: 1 }),
    company_ids: many2many('Companies', 'res.company'),
    lang: selection('Language', languages, {
      default: 'en_US',
      store: false,
      searchable: true,
      sortable: true,
    }),
    tz: selection('Timezone', timeZones, { store: false, searchable: true, sortable: true }),
    active: boolean('Active', { default: true }),
    share: boolean('Share User', { readonly: true }),
    notification_type: selection(
      'Notification',
      [
        ['email', 'Handle by Emails'],
        ['inbox', 'Handle in Odoo'],
      ],
      { required: true, default: 'email' },
    ),
  },
  methods: {
    context_get: contextGet,
    has_group: hasGroup,
    action_show_groups: showGroups,
    authenticate,
    get_totp_invite_url: getInviteUrl,
  },
};

export const language: ModelSpec = {
  name: 'res.lang',
  description: 'Languages',
  order: 'active desc, name',
  unique: [{ fields: ['code'], message: 'The code of the language must be unique!' }],
  fields: {
    name: char('Name', { required: true }),
    code: char('Locale Code', {
      required: true,
      help: 'This field is used to set/get locales for user',
    }),
    active: boolean('Active'),
  },
  methods: {
    get_installed: {
      owner: 'ResLang',
      kind: 'model',
      parameters: '',
      run: ({ environment }) =>
        [...environment.store.table('res.lang').where('active', true)]
          .map(({ code = null, name = null }) => [code, name] as Json[])
          .sort(([, one], [, other]) => String(one).localeCompare(String(other))),
    },
  },
};

/** Creates the contact that each user and each company has. */
function addPartner(environment: Environment, values: JsonObject, is_company: boolean): JsonObject {
  if (values['partner_id']) return values;
  const partner = { name: values['name'] ?? false, email: values['email'] ?? false, is_company };
  return { ...values, partner_id: createRow(environment, environment.model('res.partner'), partner) };
}
