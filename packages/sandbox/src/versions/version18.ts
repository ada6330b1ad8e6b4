/** Odoo 18, the base from which the other versions differ. */
import { nameType, printPython, printTuple } from '../json/print-python.ts';
import { isObject, type Json } from '../json/value.ts';
import {
  accessError,
  attributeError,
  Fault,
  typeError,
  userError,
  validationError,
  valueError,
} from '../orm/fault.ts';
import { boolean } from '../orm/field.ts';
import type { VersionDefinition } from './version-definition.ts';

/** A computed flag that a payment app adds. */
export const flag = (label: string, isTrue: boolean) =>
  boolean(label, { readonly: true, searchable: false, compute: () => isTrue });

const expression = 'odoo/osv/expression.py';

/**
 * 14 to 18 search the domain from its end for a condition that matches nothing, and fail on the second element of a
 * malformed one.
 */
export function stumbleOver(domain: readonly Json[]): Fault | undefined {
  for (const token of [...domain].reverse()) {
    if (token === '&' || token === '|' || token === '!' || Array.isArray(token)) continue;
    if (typeof token === 'string' && token.length > 1) continue;
    const fault =
      typeof token === 'string'
        ? new Fault('builtins.IndexError', 'string index out of range')
        : typeError(
            isObject(token) ? "unhashable type: 'dict'" : `'${nameType(token)}' object is not subscriptable`,
          );
    return fault.at(expression, isObject(token) ? 'normalize_domain' : 'is_false');
  }
  return undefined;
}

/** 17 and 18 fail on a condition that does not have three elements. */
function unpackLeaf(item: Json): Fault {
  const parts = Array.isArray(item) ? item : [...String(item)];
  const message =
    parts.length > 3
      ? 'too many values to unpack (expected 3)'
      : `not enough values to unpack (expected 3, got ${parts.length})`;
  return valueError(message).at(expression, '_anyfy_leaves');
}

export const version18: VersionDefinition = {
  version: 18,
  serverVersion: '18.0',
  texts: {
    unknownMethod: (model, method) =>
      attributeError(
        method === 'env'
          ? "'Environment' object has no attribute '__name__'"
          : `The method '${method}' does not exist on the model '${model}'`,
      ),
    privateMethod: (_, method) =>
      accessError(`Private methods (such as ${method}) cannot be called remotely.`),
    unknownFieldRead: (model, field) => valueError(`Invalid field '${field}' on model '${model}'`),
    unknownFieldCreate: (model, field) => valueError(`Invalid field '${field}' on model '${model}'`),
    unknownFieldWrite: (model, field) => valueError(`Invalid field '${field}' on model '${model}'`),
    unknownFieldDomain: (model, field, item) =>
      valueError(`Invalid field ${model}.${field} in leaf ${printTuple(item)}`).at(
        expression,
        '_anyfy_leaves',
      ),
    notStored: undefined,
    linkIsWrong: undefined,
    domainNotList: () =>
      new Fault(
        'builtins.AssertionError',
        "Domains to normalize must have a 'domain' form: a list or tuple of domain components",
      ).at(expression, 'normalize_domain'),
    domainMalformed: (domain) =>
      valueError(`Domain ${printPython(domain)} is syntactically not correct.`).at(
        expression,
        'normalize_domain',
      ),
    domainItem: (item, domain) => stumbleOver(domain) ?? unpackLeaf(item),
    domainOperator: (item) => valueError(`Invalid leaf ${printTuple(item)}`).at(expression, 'check_leaf'),
    dateCompared: (given) => {
      const value = typeof given === 'string' ? given : printPython(given);
      const [name, text] = /^\d+-\d+-/.test(value)
        ? ['DatetimeFieldOverflow', 'date/time field value out of range']
        : /^(today|now) /.test(value)
          ? ['InvalidTimeZoneDisplacementValue', 'time zone displacement out of range']
          : ['InvalidDatetimeFormat', 'invalid input syntax for type timestamp'];
      return new Fault(`psycopg2.errors.${name}`, `${text}: "${value}"\n`);
    },
    idIsNested: (id) => typeError(`unhashable type: '${nameType(id)}'`).at('odoo/api.py', 'get_missing_ids'),
    idOutOfRange: (id) =>
      new Fault(
        'psycopg2.errors.NumericValueOutOfRange',
        `value "${id}" is out of range for type integer\nLINE 1: ...rtner"."active" = true) AND ("res_partner"."id" = '${id.slice(0, 9)}...\n                                                             ^\n`,
      ),
    badLimit: (limit) =>
      new Fault(
        'psycopg2.errors.InvalidTextRepresentation',
        `invalid input syntax for type bigint: "${String(limit)}"\nLINE 1: ..."."complete_name" ASC , "res_partner"."id" DESC  LIMIT '${String(limit)}'\n                                                                  ^\n`,
      ),
    dateOutOfRange: (value) =>
      new Fault(
        `psycopg2.errors.${/^\d+-/.test(value) ? 'DatetimeFieldOverflow' : 'InvalidDatetimeFormat'}`,
        `${/^\d+-/.test(value) ? 'date/time field value out of range' : 'invalid input syntax for type date'}: "${value}"\nLINE 1: ...") VALUES (1, '2026-11-21 01:42:11.010186', 2, 1, '${value.slice(0, 9)}...\n                                                             ^\nHINT:  Perhaps you need a different "datestyle" setting.\n`,
      ),
    noIds: () => new Fault('builtins.IndexError', 'tuple index out of range'),
    tooFewArguments: () => new Fault('builtins.IndexError', 'list index out of range'),
    emptyDatabase: () => new Fault('builtins.AssertionError', 'Missing database name'),
    missingValue: (model, field, label) =>
      validationError(
        `The operation cannot be completed:\n- Create/update: a mandatory field is not set.\n- Delete: another model requires the record being deleted. If possible, archive it instead.\n\nModel: ${model.description} (${model.name})\nField: ${label} (${field})\n`,
      ),
    foreignKey: (model, field) =>
      validationError(
        `The operation cannot be completed: another model requires the record being deleted. If possible, archive it instead.\n\nModel: ${model.description} (${model.name})\nConstraint: ${model.name.replaceAll('.', '_')}_${field}_fkey\n`,
      ),
    constraint: (message) => validationError(`The operation cannot be completed: ${message}`),
    fieldGroups: (model, fields, uid, group) =>
      accessError(
        `You do not have enough rights to access the fields "${fields.join(',')}" on ${model.description} (${model.name}). Please contact your system administrator.\n\nOperation: read\nUser: ${uid}\nFields:\n${fields.map((field) => `- ${field} (allowed for groups '${group}')`).join('\n')}`,
      ),
    recordRule: (model, operation, user) =>
      accessError(
        `${explainRule(model.description, model.name, operation, user)}\n\nThis seems to be a multi-company issue, but you do not have access to the proper company to access the record anyhow.`,
      ),
    unknownLanguage: (code) => userError(`Invalid language code: ${code}`),
    idIsText: undefined,
  },
  groupNames: {
    'base.group_erp_manager': 'Administration / Access Rights',
    'base.group_system': 'Administration/Settings',
    'base.group_partner_manager': 'Extra Rights/Contact Creation',
    'account.group_account_invoice': 'Invoicing/Invoicing',
    'sales_team.group_sale_manager': 'Sales/Administrator',
    'sales_team.group_sale_salesman': 'Sales/User: Own Documents Only',
    'account.group_account_readonly': 'Technical/Show Accounting Features - Readonly',
    'account.group_account_user': 'Technical/Show Full Accounting Features',
    'base.group_portal': 'User types/Portal',
  },
  absentModels: [],
  orders: {},
  methods: {
    'product.template/default_get': { owner: '$class', kind: 'record' },
    'product.product/write': { parameters: 'values' },
    'crm.lead/default_get': { parameters: 'fields' },
    'res.partner/default_get': { parameters: 'fields' },
    'res.users/default_get': { parameters: 'fields' },
    'sale.order/default_get': { parameters: 'fields' },
    name_get: undefined,
    fields_view_get: undefined,
    load_views: undefined,
    formatted_read_group: undefined,
    formatted_read_grouping_sets: undefined,
    web_name_search: undefined,
    web_save_multi: undefined,
    web_resequence: undefined,
    user_has_groups: undefined,
    'res.users.apikeys/generate': undefined,
    'res.users.apikeys/revoke': undefined,
    'res.users/authenticate': undefined,
    'res.users/get_totp_invite_url': undefined,
  },
  privateMethods: new Set(),
  deprecatedMethods: new Set(),
  fields: {
    'res.country': {
      country_group_codes: undefined,
      is_stripe_supported_country: flag('Is Stripe Supported Country', true),
    },
  },
  magicFieldsFirst: false,
  rpcArgumentsMin: 3,
  takesAny: true,
  comparesSeconds: false,
  idLeadsToRecord: false,
  searchesDisplayNames: true,
  sortsRelated: true,
  escapesMessages: true,
  showsRawBytes: false,
  rejectsRawText: false,
  comparesInSql: true,
  emptyTextsAreUnset: true,
  linesNameCustomer: true,
  readsDateTerms: false,
  copyIsList: true,
  messageIsList: false,
  recordsetIsList: false,
  readGroupKeysFirst: true,
  readGroupRange: 'before_domain',
  ordersByLinkedId: true,
  contextTellsUser: true,
  domainsAreFlat: false,
  confirmTwiceFails: true,
  cancelOpensWizard: true,
  composerHead: {},
  cancelContext: {},
  quotationContext: (orderId) => ({
    default_model: 'sale.order',
    default_res_ids: [orderId],
    default_composition_mode: 'comment',
    default_email_layout_xmlid: 'mail.mail_notification_layout_with_responsible_signature',
    proforma: false,
    force_email: true,
    model_description: 'Sales Order',
    default_template_id: 17,
    mark_so_as_sent: true,
  }),
  fieldAttributes: {
    aggregator: 'aggregator',
    hasGroupable: true,
    hasHierarchy: false,
    viewsNestFields: true,
    stamp: 'write_date',
  },
  wire: {
    jsonrpc: true,
    json2: false,
    errorCode: 200,
    debugFirst: true,
    accessDeniedTraceback: true,
    nosniff: true,
    wrongContentType: { status: 400, routeType: 'json' },
    jsonrpcFunction: 'RPC.jsonrpc',
    contextMustBeObject: false,
    emptyDatabaseName: undefined,
    longSessionIds: true,
    cookiesTwice: true,
    versionRoutes: false,
    jsonRedirects: true,
    home: '/odoo',
    healthShowsDatabase: true,
    health: true,
    escapesNonAscii: false,
    plainJsonType: false,
    oldPages: false,
    chainsTracebacks: false,
    coolsDownLogins: false,
    connectionHeader: true,
  },
};

export function explainRule(description: string, model: string, operation: string, user: string): string {
  return `Uh-oh! Looks like you have stumbled upon some top-secret records.\n\nSorry, ${user} doesn't have '${operation}' access to:\n- ${description} (${model})\n\nIf you really, really need access, perhaps you can win over your friendly administrator with a batch of freshly baked cookies.`;
}
