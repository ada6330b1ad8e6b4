/** The chatter: the messages and activities of a record. message_post writes a mail.message. */

import { listReadableModels } from '../orm/access.ts';
import { char, datetime, html, many2one, many2oneReference, one2many, selection } from '../orm/field.ts';
import { ensureOne } from '../orm/methods/record-methods.ts';
import type { FieldSpec, Method, ModelSpec } from '../orm/model.ts';
import { createRow } from '../orm/write.ts';
import { scheduleActivity } from './activity.ts';

const messageTypes = [
  ['email', 'Email'],
  ['comment', 'Comment'],
  ['notification', 'System notification'],
] as const;

const postMessage: Method = {
  owner: 'MailThread',
  kind: 'record',
  parameters:
    "*, body='', subject=None, message_type='notification', email_from=None, author_id=None, parent_id=False, subtype_xmlid=None, subtype_id=False, partner_ids=None, attachments=None, attachment_ids=None, body_is_html=False, **kwargs",
  run: (call) => {
    const { environment, model, values } = call;
    const res_id = ensureOne(call);
    const message = environment.sudo().model('mail.message');
    const body = String(values['body'] ?? '');
    const id = createRow(environment.sudo(), message, {
      model: model.name,
      res_id,
      body: body.startsWith('<') ? body : `<p>${body}</p>`,
      subject: values['subject'] ?? false,
      message_type: values['message_type'] ?? 'notification',
    });
    return environment.personality.messageIsList ? [id] : id;
  },
};

/** What a model with a chatter has in addition to its own fields and methods. */
export const chatterFields: Readonly<Record<string, FieldSpec>> = {
  activity_ids: one2many('Activities', 'mail.activity', 'res_id', {
    inverseModel: 'res_model',
    groups: 'base.group_user',
  }),
  message_ids: one2many('Messages', 'mail.message', 'res_id', { inverseModel: 'model' }),
};
export const chatterMethods: Readonly<Record<string, Method>> = {
  message_post: postMessage,
  activity_schedule: scheduleActivity,
};

export const message: ModelSpec = {
  name: 'mail.message',
  description: 'Message',
  order: 'id desc',
  recName: 'subject',
  // The user's own messages, and those of models that the user may read.
  rule: (environment) => [
    '|',
    ['author_id', '=', environment.user['partner_id'] ?? false],
    ['model', 'in', listReadableModels(environment)],
  ],
  fields: {
    subject: char('Subject'),
    date: datetime('Date', { default: (environment) => environment.now }),
    body: html('Contents'),
    model: char('Related Document Model'),
    res_id: many2oneReference('Related Document ID'),
    message_type: selection('Type', messageTypes, { required: true, default: 'email' }),
    author_id: many2one('Author', 'res.partner', {
      default: (environment) => environment.user['partner_id'] ?? null,
    }),
  },
};
