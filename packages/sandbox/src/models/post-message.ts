/** The chatter: message_post writes a mail.message. */

import { char, html, integer, many2one } from '../orm/field.ts';
import { ensureOne } from '../orm/methods/record-methods.ts';
import type { Method, ModelSpec } from '../orm/model.ts';
import { createRow } from '../orm/write.ts';

export const postMessage: Method = {
  owner: 'MailThread',
  kind: 'record',
  parameters:
    "*, body='', subject=None, message_type='notification', email_from=None, author_id=None, parent_id=False, subtype_xmlid=None, subtype_id=False, partner_ids=None, attachments=None, attachment_ids=None, body_is_html=False, **kwargs",
  run: (call) => {
    const { environment, model, values } = call;
    const res_id = ensureOne(call);
    const message = environment.sudo().model('mail.message');
    const body = `<p>${String(values['body'] ?? '')}</p>`;
    const id = createRow(environment.sudo(), message, {
      model: model.name,
      res_id,
      body,
      subject: values['subject'] ?? false,
    });
    return environment.personality.messageIsList ? [id] : id;
  },
};

export const message: ModelSpec = {
  name: 'mail.message',
  description: 'Message',
  order: 'id desc',
  recName: 'subject',
  fields: {
    subject: char('Subject'),
    body: html('Contents'),
    model: char('Related Document Model'),
    res_id: integer('Related Document ID'),
    author_id: many2one('Author', 'res.partner', {
      default: (environment) => environment.user['partner_id'] ?? null,
    }),
  },
};
