/** Odoo 19, as differences to 18. */
import { nameType, printPython, printTuple } from '../json/print-python.ts';
import {
  accessError,
  attributeError,
  Fault,
  keyError,
  typeError,
  validationError,
  valueError,
} from '../orm/fault.ts';
import { many2one, selection } from '../orm/field.ts';
import type { VersionDefinition } from './version-definition.ts';
import { flag, version18 } from './version18.ts';

const translations = [
  ['standard', 'Translate as a whole'],
  ['html_translate', 'Translate HTML terms'],
  ['xml_translate', 'Translate XML terms'],
] as const;

const domains = 'odoo/orm/domains.py';

export const version19: VersionDefinition = {
  ...version18,
  version: 19,
  serverVersion: '19.0',
  texts: {
    ...version18.texts,
    unknownMethod: (model, method) => attributeError(`The method '${model}.${method}' does not exist`),
    privateMethod: (model, method) =>
      accessError(`Private methods (such as '${model}.${method}') cannot be called remotely.`),
    unknownFieldRead: (model, field) => valueError(`Invalid field '${field}' on '${model}'`),
    unknownFieldCreate: (model, field) => valueError(`Invalid field '${field}' in '${model}'`),
    unknownFieldDomain: (model, field, item) =>
      valueError(`Invalid field ${model}.${field} in condition ${printTuple(item)}`).at(domains, '_raise'),
    notStored: (model, field) =>
      valueError(`Cannot convert ${model}.${field} to SQL because it is not stored`).at(
        'odoo/orm/fields.py',
        'to_sql',
      ),
    domainNotList: (domain) =>
      typeError(`Domain() invalid argument type for domain: ${printPython(domain)}`).at(domains, '__new__'),
    domainMalformed: (domain) =>
      valueError(`Domain() malformed domain ${printPython(domain)}`).at(domains, '__new__'),
    domainItem: (item) =>
      valueError(`Domain() invalid item in domain: ${printPython(item)}`).at(domains, '__new__'),
    domainOperator: (item) =>
      valueError(`Invalid operator in condition ${printTuple(item)}`).at(domains, '_raise'),
    dateCompared: (value) => {
      if (typeof value !== 'string')
        return valueError(`Failed to cast ${printPython(value)} into a datetime`);
      const [first = ''] = value.split(/\s+/);
      const [message, name] = /^\d+-\d+-/.test(value)
        ? ['month must be in 1..12', 'parse_iso_date']
        : /^\d+-/.test(value)
          ? [`Invalid isoformat string: '${value}'`, 'parse_iso_date']
          : [
              value.trim() ? `Invalid term '${first}' in expression date: '${value}'` : 'Empty date value',
              'parse_date',
            ];
      return valueError(message).at('odoo/tools/date_utils.py', name);
    },
    idIsNested: (id) =>
      typeError(`unhashable type: '${nameType(id)}'`).at('odoo/orm/fields.py', '_cache_missing_ids'),
    // Before a write to a contact, 19 reads the old value of each field.
    unknownFieldWrite: (model, field) =>
      model === 'res.partner'
        ? keyError(field).at('odoo/orm/models.py', '__getitem__')
        : valueError(`Invalid field '${field}' in '${model}'`),
    idOutOfRange: undefined,
    dateOutOfRange: undefined,
    noIds: () => new Fault('builtins.IndexError', 'list index out of range'),
    tooFewArguments: (given) => valueError(`not enough values to unpack (expected at least 5, got ${given})`),
    missingValue: (model, field, label) =>
      validationError(
        `The operation cannot be completed: Missing required value for the field '${label}' (${field}).\nModel: '${model.description}' (${model.name})\n- create/update: a mandatory field is not set\n- delete: another model requires the record being deleted, you can archive it instead\n`,
      ),
    foreignKey: (model, field, label) =>
      validationError(
        `The operation cannot be completed: Another model is using the record you are trying to delete.\n\nThe troublemaker is: '${model.description}' (${model.name})\nThanks to the following constraint: '${label}' (${field})\nHow about archiving the record instead?`,
      ),
    fieldGroups: (model, fields, uid, group) =>
      accessError(
        `You do not have enough rights to access the field "${fields[0]}" on ${model.description} (${model.name}). Please contact your system administrator.\n\nOperation: read\nUser: ${uid}\nGroups: allowed for groups '${group}'`,
      ),
  },
  groupNames: {
    'account.group_account_invoice': 'Accounting/Invoicing',
    'base.group_partner_manager': 'Contact/Creation',
    'sales_team.group_sale_manager': 'Sales/Administrator',
    'sales_team.group_sale_salesman': 'Sales/User: Own Documents Only',
    'base.group_portal': 'Role / Portal',
    'base.group_system': 'Role / Administrator',
    'base.group_erp_manager': 'Access Rights',
    'account.group_account_readonly': 'Show Accounting Features - Readonly',
    'account.group_account_user': 'Show Full Accounting Features',
  },
  absentModels: ['sale.order.cancel'],
  methods: {
    user_has_groups: undefined,
    name_get: undefined,
    fields_view_get: undefined,
    load_views: undefined,
    name_search: { parameters: "name='', domain=None, operator='ilike', limit=100" },
    default_get: { parameters: 'fields' },
    web_read_group: {
      parameters:
        'domain, groupby, aggregates=(), limit=None, offset=0, order=None, *, auto_unfold=False, opening_info=None, unfold_read_specification=None, unfold_read_default_limit=80, groupby_read_specification=None',
    },
  },
  privateMethods: new Set(
    'browse check_access concat ensure_one exists fetch filtered filtered_domain flush_model flush_recordset invalidate_recordset mapped modified new search_fetch sorted sudo union with_company with_context with_user'.split(
      ' ',
    ),
  ),
  deprecatedMethods: new Set(['check_access_rights', 'check_access_rule', 'read_group', 'toggle_active']),
  fields: {
    'mail.activity': {
      res_model_id: many2one('Document Model', 'ir.model', { ondelete: 'cascade' }),
      user_id: many2one('Assigned to', 'res.users', { default: (environment) => environment.uid }),
    },
    'product.template': { categ_id: many2one('Product Category', 'product.category') },
    'ir.model.fields': { complete_name: undefined, translate: selection('Translatable', translations) },
    'res.country': {
      is_mercado_pago_supported_country: flag('Is Mercado Pago Supported Country', false),
      is_stripe_supported_country: flag('Is Stripe Supported Country', true),
    },
  },
  magicFieldsFirst: true,
  rejectsRawText: true,
  comparesInSql: false,
  readsDateTerms: true,
  comparesSeconds: true,
  idLeadsToRecord: true,
  domainsAreFlat: true,
  rpcArgumentsMin: 5,
  messageIsList: true,
  recordsetIsList: true,
  cancelOpensWizard: false,
  composerHead: { name: 'Send' },
  quotationContext: (orderId) => ({
    default_model: 'sale.order',
    default_res_ids: [orderId],
    default_composition_mode: 'comment',
    default_email_layout_xmlid: 'mail.mail_notification_layout_with_responsible_signature',
    email_notification_allow_footer: true,
    hide_mail_template_management_options: true,
    proforma: false,
    force_email: true,
    default_template_id: 17,
    mark_so_as_sent: true,
  }),
  fieldAttributes: { ...version18.fieldAttributes, hasHierarchy: true },
  wire: {
    ...version18.wire,
    json2: true,
    errorCode: 0,
    debugFirst: false,
    accessDeniedTraceback: false,
    wrongContentType: { status: 415, routeType: 'jsonrpc' },
    jsonrpcFunction: 'JSONRPC.jsonrpc',
    cookiesTwice: false,
    versionRoutes: true,
  },
};
