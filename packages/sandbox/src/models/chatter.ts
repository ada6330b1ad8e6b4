/** The chatter: the messages and activities of a record. message_post writes a mail.message. */

import { printPython } from '../json/print-python.ts';
import { isTrue, type JsonObject, toNumber } from '../json/value.ts';
import { listReadableModels } from '../orm/access.ts';
import { valueError } from '../orm/fault.ts';
import {
  char,
  datetime,
  html,
  many2many,
  many2one,
  many2oneReference,
  one2many,
  selection,
} from '../orm/field.ts';
import { ensureOne } from '../orm/methods/record-methods.ts';
import type { Call, Environment, FieldSpec, Method, ModelSpec } from '../orm/model.ts';
import { parseSignature } from '../orm/parse-signature.ts';
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
    checkNames(call);
    const author_id = toNumber(values['author_id']) ?? (environment.user['partner_id'] as number);
    const author = environment.store.get('res.partner', author_id);
    const id = createRow(environment.sudo(), message, {
      model: model.name,
      res_id,
      body: writeBody(environment, values),
      author_id,
      email_from: values['email_from'] || (author ? `"${author['name']}" <${author['email']}>` : false),
      subject: values['subject'] ?? false,
      message_type: values['message_type'] ?? 'notification',
    });
    return environment.personality.messageIsList ? [id] : id;
  },
};

/** The names that `**kwargs` takes from 17 on. The sandbox ignores their values. */
const furtherNames = new Set([
  ...['author_guest_id', 'create_date', 'date', 'email_add_signature', 'email_layout_xmlid', 'is_internal'],
  ...['mail_activity_type_id', 'mail_server_id', 'message_id', 'record_alias_domain_id', 'record_company_id'],
  ...['record_name', 'reply_to', 'reply_to_force_new', 'tracking_value_ids', 'force_email_company'],
  ...['force_email_lang', 'force_send', 'mail_auto_delete', 'model_description', 'notify_author'],
  ...['resend_existing', 'scheduled_date', 'send_after_commit', 'skip_existing', 'subtitles'],
]);

function checkNames({ environment, values }: Call): void {
  if (!environment.personality.escapesMessages) return;
  const own = parseSignature(postMessage.parameters).map(({ name }) => name);
  const unknown = Object.keys(values).filter((name) => !own.includes(name) && !furtherNames.has(name));
  if (unknown.length > 0)
    throw valueError(`Those values are not supported when posting or notifying: ${unknown.join(', ')}`);
}

/** From 17 on, the body is plain text, unless `body_is_html` says that it is HTML. */
function writeBody({ personality }: Environment, values: JsonObject): string {
  const { body = '' } = values;
  const text = typeof body === 'string' ? body : printPython(body);
  if (!personality.escapesMessages || isTrue(values['body_is_html'])) return text;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The fields and methods of a model with a chatter, in addition to its own. */
export const chatterFields: Readonly<Record<string, FieldSpec>> = {
  activity_ids: one2many('Activities', 'mail.activity', 'res_id', {
    inverseModel: 'res_model',
    groups: 'base.group_user',
  }),
  // In Odoo, this field is computed from mail.followers, and can be written.
  message_partner_ids: many2many('Followers (Partners)', 'res.partner', {
    groups: 'base.group_user',
    store: false,
    searchable: true,
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
  // The user's own messages, and messages of models that the user may read.
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
    email_from: char('From'),
    message_type: selection('Type', messageTypes, { required: true, default: 'email' }),
    author_id: many2one('Author', 'res.partner', {
      default: (environment) => environment.user['partner_id'] ?? null,
    }),
  },
};
