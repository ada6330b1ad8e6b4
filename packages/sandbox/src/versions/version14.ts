/** Odoo 14, as differences to 15 (docs/odoo-facts.md#odoo-14). */
import { text } from '../orm/field.ts';
import type { VersionDefinition } from './version-definition.ts';
import { version15 } from './version15.ts';

export const version14: VersionDefinition = {
  ...version15,
  version: 14,
  serverVersion: '14.0-20220727',
  methods: {
    ...version15.methods,
    search_read: { parameters: 'domain=None, fields=None, offset=0, limit=None, order=None' },
    message_post: {
      parameters:
        "body='', subject=None, message_type='notification', email_from=None, author_id=None, parent_id=False, subtype_xmlid=None, subtype_id=False, partner_ids=None, channel_ids=None, attachments=None, attachment_ids=None, add_sign=True, record_name=False, **kwargs",
    },
  },
  fields: {
    ...version15.fields,
    'ir.model': { ...version15.fields['ir.model'], order: undefined },
    'res.partner': {
      ...version15.fields['res.partner'],
      comment: text('Notes'),
      country_code: undefined,
    },
    'crm.lead': { ...version15.fields['crm.lead'], description: text('Notes') },
    'product.template': { ...version15.fields['product.template'], description: text('Description') },
    'sale.order': { ...version15.fields['sale.order'], note: text('Terms and conditions') },
  },
  readGroupRange: 'absent',
  wire: { ...version15.wire, health: false },
};
