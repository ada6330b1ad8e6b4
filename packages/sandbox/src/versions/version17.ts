/** Odoo 17, as differences to 18 (docs/odoo-facts.md#odoo-17). */
import { accessError, attributeError, Fault, typeError } from '../orm/fault.ts';
import { char, float } from '../orm/field.ts';
import type { VersionDefinition } from './version-definition.ts';
import { explainRule, version18 } from './version18.ts';

/** Up to 17, a value that depends on the company has no column. */
const dependent = { store: false, searchable: true, sortable: false };

export const version17: VersionDefinition = {
  ...version18,
  version: 17,
  serverVersion: '17.0',
  texts: {
    ...version18.texts,
    unknownMethod: (model, method, isField) => {
      if (isField) return attributeError("'Char' object has no attribute '__name__'");
      if (method === 'env') return typeError("'member_descriptor' object is not callable");
      return attributeError(`The method '${method}' does not exist on the model '${model}'`);
    },
    emptyDatabase: () =>
      new Fault(
        'psycopg2.OperationalError',
        'connection to server at "127.0.0.1", port 5432 failed: FATAL:  database "odoo" does not exist\n',
      ),
    fieldGroups: (model, fields, uid, group) =>
      accessError(
        `The requested operation can not be completed due to security restrictions.\n\nDocument type: ${model.description} (${model.name})\nOperation: read\nUser: ${uid}\nFields:\n${fields.map((field) => `- ${field} (allowed for groups '${group}')`).join('\n')}`,
      ),
    recordRule: (model, operation, user) =>
      accessError(explainRule(model.description, model.name, operation, user)),
    unknownLanguage: undefined,
  },
  groupNames: { ...version18.groupNames, 'account.group_account_invoice': 'Invoicing/Billing' },
  methods: {
    ...version18.methods,
    'product.template/default_get': { owner: 'BaseModel', kind: 'model' },
    'res.users/has_group': { owner: 'Users', kind: 'model' },
    'sale.order/write': { parameters: 'values' },
    browse: { parameters: 'ids=None' },
    name_get: {},
    user_has_groups: {},
    has_access: undefined,
    check_access: undefined,
  },
  fields: {
    'res.partner': {
      credit_limit: float('Credit Limit', { ...dependent, unrounded: true }),
      barcode: char('Barcode', { ...dependent, copy: false }),
    },
    'product.product': {
      standard_price: float('Cost', { related: 'product_tmpl_id.standard_price', ...dependent }),
    },
    'ir.model.fields': { company_dependent: undefined },
    'res.users.apikeys': { expiration_date: undefined },
    'res.country': { country_group_codes: undefined },
  },
  searchesDisplayNames: false,
  sortsRelated: false,
  emptyTextsAreUnset: false,
  showsRawBytes: true,
  copyIsList: false,
  quotationContext: (orderId) => ({
    default_model: 'sale.order',
    default_res_ids: [orderId],
    default_template_id: 17,
    default_composition_mode: 'comment',
    mark_so_as_sent: true,
    default_email_layout_xmlid: 'mail.mail_notification_layout_with_responsible_signature',
    proforma: false,
    force_email: true,
    model_description: 'Sales Order',
  }),
  fieldAttributes: {
    aggregator: 'group_operator',
    hasGroupable: false,
    hasHierarchy: false,
    viewsNestFields: false,
    stamp: 'write_date',
  },
  wire: {
    ...version18.wire,
    longSessionIds: false,
    cookiesTwice: false,
    jsonRedirects: false,
    home: '/web',
    healthShowsDatabase: false,
  },
};
