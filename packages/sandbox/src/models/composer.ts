/** Templates of messages, and the dialog that posts a message to records (`action_quotation_send` opens it). */
import type { Json } from '../json/value.ts';
import { valueError } from '../orm/fault.ts';
import { char, html, many2one, selection, text } from '../orm/field.ts';
import { listRows } from '../orm/methods/record-methods.ts';
import type { Environment, ModelSpec } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import { runMethod } from '../orm/run-method.ts';
import { nameRow } from '../orm/values.ts';

export const template: ModelSpec = {
  name: 'mail.template',
  description: 'Email Templates',
  order: 'name, id',
  access: { create: ['base.group_system'], write: ['base.group_system'], unlink: ['base.group_system'] },
  fields: {
    name: char('Name', { translate: true }),
    model: char('Related Document Model', { readonly: true }),
    subject: char('Subject', { translate: true }),
    body_html: html('Body', { translate: true }),
  },
};

const modes = [
  ['comment', 'Post on a document'],
  ['mass_mail', 'Email Mass Mailing'],
] as const;

export const composer: ModelSpec = {
  name: 'mail.compose.message',
  description: 'Email composition wizard',
  recName: 'subject',
  fields: {
    composition_mode: selection('Composition mode', modes, { default: 'comment' }),
    model: char('Related Document Model'),
    res_ids: text('Related Document IDs'),
    template_id: many2one('Use template', 'mail.template'),
    subject: char('Subject'),
    body: html('Contents'),
  },
  afterCreate: (environment, id) => {
    const row = environment.store.get('mail.compose.message', id) as Row;
    const filled = fillFromTemplate(environment, row, String(row['model']), listRecords(row)[0]);
    environment.store.put('mail.compose.message', id, filled);
  },
  methods: {
    action_send_mail: {
      owner: 'MailComposer',
      kind: 'record',
      parameters: '',
      run: (call) => {
        for (const row of listRows(call)) {
          const { model, subject = null, body = null } = row;
          for (const id of listRecords(row))
            runMethod(call.environment, String(model), [id], 'message_post', {
              subject,
              body,
              body_is_html: true,
              message_type: 'comment',
            });
        }
        return { type: 'ir.actions.act_window_close' };
      },
    },
  },
};

/**
 * Returns the row with a subject and a body: those of the row, or else those of its template, filled with the record's
 * name.
 */
export function fillFromTemplate(
  environment: Environment,
  row: Row,
  modelName: string,
  recordId: Json | undefined,
): Row {
  const found = environment.store.get('mail.template', row['template_id'] as number);
  const model = environment.models.get(modelName);
  const record = model && environment.store.get(modelName, recordId as number);
  if (!found || !record) return row;
  const name = nameRow(environment, model, record);
  const render = (content: Json = null) =>
    (content as string | null)?.replaceAll('{{ object.name }}', name) ?? null;
  return {
    ...row,
    subject: row['subject'] ?? render(found['subject']),
    body: row['body'] ?? render(found['body_html']),
  };
}

/**
 * The ids of the records to which the message is posted: one in `res_id` (up to 16), or a list in the text `res_ids`.
 */
function listRecords({ res_id = null, res_ids = null }: Row): number[] {
  if (res_ids === null) return res_id === null ? [] : [res_id as number];
  try {
    return [JSON.parse(res_ids as string) as number | number[]].flat();
  } catch {
    throw valueError(`Invalid res_ids: ${String(res_ids)}`);
  }
}
