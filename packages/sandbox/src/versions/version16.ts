/** Odoo 16, as differences to 17 (docs/odoo-facts.md#odoo-16). */
import { nameType, printPython, printTuple } from '../json/print-python.ts';
import { isObject } from '../json/value.ts';
import { accessError, attributeError, Fault, keyError, typeError, valueError } from '../orm/fault.ts';
import { char, datetime, integer, many2oneReference, selection } from '../orm/field.ts';
import type { VersionDefinition } from './version-definition.ts';
import { version17 } from './version17.ts';
import { stumbleOver } from './version18.ts';

export const version16: VersionDefinition = {
  ...version17,
  version: 16,
  serverVersion: '16.0-20230301',
  texts: {
    ...version17.texts,
    unknownMethod: (model, method, isField) =>
      isField || method === 'env'
        ? version17.texts.unknownMethod(model, method, isField)
        : attributeError(`type object '${model}' has no attribute '${method}'`),
    domainMalformed: (domain) =>
      new Fault(
        'builtins.AssertionError',
        `This domain is syntactically not correct: ${printPython(domain)}`,
      ).at('odoo/osv/expression.py', 'normalize_domain'),
    // The contacts of 16 first check the length of a single condition.
    domainItem: (item, domain) => {
      if (domain.length === 1 && !Array.isArray(item) && typeof item !== 'string' && !isObject(item)) {
        const fault = typeError(`object of type '${nameType(item)}' has no len()`);
        return fault.at('odoo/addons/base/models/res_partner.py', '_search');
      }
      const text =
        typeof item === 'string' ? item : Array.isArray(item) ? printTuple(item) : printPython(item);
      const invalid = valueError(`Invalid leaf ${text}`).at('odoo/osv/expression.py', 'check_leaf');
      return stumbleOver(domain) ?? invalid;
    },
    idIsNested: (id) =>
      isObject(id)
        ? new Fault('psycopg2.ProgrammingError', "can't adapt type 'dict'")
        : new Fault('psycopg2.errors.UndefinedFunction', 'operator does not exist: integer = integer[]\n'),
    badLimit: (limit) => typeError(`%d format: a real number is required, not ${nameType(limit)}`),
    // For unique and check constraints, 16 raises an exception while it formats the message
    // (docs/odoo-facts.md#faults-16).
    constraint: () => keyError('lang'),
    recordRule: (model) =>
      accessError(
        `Due to security restrictions, you are not allowed to access '${model.description}' (${model.name}) records.\n\nContact your administrator to request access if necessary.`,
      ),
    idIsText: (id) =>
      accessError(
        `Database fetch misses ids (('${id}',)) and has extra ids ((${id},)), may be caused by a type incoherence in a previous request`,
      ),
  },
  methods: {
    ...version17.methods,
    search: { parameters: 'domain, offset=0, limit=None, order=None, count=False' },
    'crm.lead/search': { parameters: 'args, offset=0, limit=None, order=None, count=False' },
    search_fetch: undefined,
    fetch: undefined,
    web_read: undefined,
    web_save: undefined,
    fields_view_get: {},
    web_search_read: {
      parameters: 'domain=None, fields=None, offset=0, limit=None, order=None, count_limit=None',
    },
    web_read_group: {
      parameters:
        'domain, fields, groupby, limit=None, offset=0, orderby=False, lazy=True, expand=False, expand_limit=None, expand_orderby=False',
    },
    onchange: { parameters: 'values, field_name, field_onchange' },
  },
  fields: {
    '*': {
      __last_update: datetime('Last Modified on', {
        readonly: true,
        // If there is no time of the last change, the value is the time of the read.
        compute: (environment, row) => row['write_date'] ?? environment.now,
      }),
    },
    'res.users.apikeys': { expiration_date: undefined },
    'mail.compose.message': { res_ids: undefined, res_id: integer('Related Document ID') },
    'sale.order': {
      locked: undefined,
      name: char('Order Reference', { required: true, readonly: true, copy: false, default: 'New' }),
    },
    // Contacts have a column for the display name.
    'res.partner': {
      ...version17.fields['res.partner'],
      complete_name: undefined,
      display_name: char('Display Name', {
        readonly: true,
        compute: () => null,
        storedFrom: ['name', 'is_company', 'type', 'parent_id.name'],
      }),
    },
    'product.product': { ...version17.fields['product.product'] },
    'ir.attachment': {
      res_model: char('Resource Model', { readonly: true }),
      res_field: char('Resource Field', { readonly: true }),
      res_id: many2oneReference('Resource ID', { readonly: true }),
    },
    'product.template': {
      type: selection(
        'Product Type',
        [
          ['consu', 'Consumable'],
          ['service', 'Service'],
        ],
        { readonly: false, store: true, compute: (_, row) => row['type'] ?? 'consu' },
      ),
    },
    'res.country': {
      country_group_codes: undefined,
      code: char('Country Code', { size: 2, help: 'The ISO country code in two chars.' }),
    },
    'ir.model.fields': {
      company_dependent: undefined,
      currency_field: undefined,
      sanitize: undefined,
      sanitize_overridable: undefined,
      sanitize_tags: undefined,
      sanitize_attributes: undefined,
      sanitize_style: undefined,
      sanitize_form: undefined,
      strip_style: undefined,
      strip_classes: undefined,
    },
  },
  orders: { 'res.partner': 'display_name, id desc' },
  takesAny: false,
  escapesMessages: false,
  linesNameCustomer: false,
  ordersByLinkedId: false,
  readGroupKeysFirst: false,
  confirmTwiceFails: false,
  cancelContext: { default_use_template: true },
  quotationContext: (orderId) => ({
    default_model: 'sale.order',
    default_res_id: orderId,
    default_use_template: true,
    default_template_id: 17,
    default_composition_mode: 'comment',
    mark_so_as_sent: true,
    default_email_layout_xmlid: 'mail.mail_notification_layout_with_responsible_signature',
    proforma: false,
    force_email: true,
    model_description: 'Sales Order',
  }),
  fieldAttributes: { ...version17.fieldAttributes, stamp: '__last_update' },
  wire: { ...version17.wire, nosniff: false, contextMustBeObject: true, healthShowsDatabase: true },
};
