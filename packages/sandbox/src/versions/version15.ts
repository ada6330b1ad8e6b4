/** Odoo 15, as differences to 16 (docs/odoo-facts.md#odoo-15). */
import { accessError, Fault, validationError } from '../orm/fault.ts';
import { float } from '../orm/field.ts';
import type { VersionDefinition } from './version-definition.ts';
import { version16 } from './version16.ts';

const { 'crm.lead/search': _, ...methods16 } = version16.methods;

export const version15: VersionDefinition = {
  ...version16,
  version: 15,
  serverVersion: '15.0-20220616',
  texts: {
    ...version16.texts,
    linkIsWrong: (value) => {
      if (typeof value !== 'string')
        return new Fault('psycopg2.ProgrammingError', "can't adapt type 'NewId'");
      return /^\d+$/.test(value)
        ? accessError(
            `Database fetch misses ids (('${value}',)) and has extra ids ((${value},)), may be caused by a type incoherence in a previous request`,
          )
        : new Fault(
            'psycopg2.errors.InvalidTextRepresentation',
            `invalid input syntax for type integer: "${value}"\n`,
          );
    },
    // Without a language in the context, the message is the name of the constraint.
    constraint: (message, name, hasLanguage) => validationError(hasLanguage ? message : name),
  },
  absentModels: ['sale.order.cancel'],
  methods: {
    ...methods16,
    search: { parameters: 'args, offset=0, limit=None, order=None, count=False' },
    search_count: { parameters: 'args' },
    web_search_read: { parameters: 'domain=None, fields=None, offset=0, limit=None, order=None' },
    get_views: undefined,
    get_view: undefined,
    load_views: {},
    new: { parameters: 'values={}, origin=None, ref=None' },
    'ir.model.fields/create': { parameters: 'vals' },
    'sale.order/create': { parameters: 'vals' },
    'sale.order/default_get': { parameters: 'fields_list' },
    message_post: {
      parameters:
        "body='', subject=None, message_type='notification', email_from=None, author_id=None, parent_id=False, subtype_xmlid=None, subtype_id=False, partner_ids=None, attachments=None, attachment_ids=None, add_sign=True, record_name=False, **kwargs",
    },
  },
  fields: {
    ...version16.fields,
    'res.partner': {
      ...version16.fields['res.partner'],
      credit_limit: float('Credit Limit', { unrounded: true }),
    },
    'crm.lead': { lead_properties: undefined },
    'sale.order.line': { analytic_distribution: undefined },
  },
  cancelOpensWizard: false,
  contextTellsUser: false,
  quotationContext: (orderId) => ({
    default_model: 'sale.order',
    default_res_id: orderId,
    default_use_template: true,
    default_template_id: 17,
    default_composition_mode: 'comment',
    mark_so_as_sent: true,
    custom_layout: 'mail.mail_notification_paynow',
    proforma: false,
    force_email: true,
    model_description: 'Sales Order',
  }),
  readGroupRange: 'after_domain',
  wire: {
    ...version16.wire,
    escapesNonAscii: true,
    plainJsonType: true,
    oldPages: true,
    chainsTracebacks: true,
    coolsDownLogins: true,
    connectionHeader: false,
    healthShowsDatabase: false,
  },
};
