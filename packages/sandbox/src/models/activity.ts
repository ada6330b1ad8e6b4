/**
 * Activities: what a user has to do for a record by a certain day. Once done, an activity becomes a message of the
 * record.
 */
import type { Json, JsonObject } from '../json/value.ts';
import { listReadableModels } from '../orm/access.ts';
import { char, date, html, integer, many2one, many2oneReference, selection } from '../orm/field.ts';
import { listRows } from '../orm/methods/record-methods.ts';
import type { Call, Environment, Method, ModelSpec } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import { runMethod } from '../orm/run-method.ts';
import { showRecordset } from '../orm/show-recordset.ts';
import { nameRow } from '../orm/values.ts';
import { createRow, unlinkRows } from '../orm/write.ts';

export const activityType: ModelSpec = {
  name: 'mail.activity.type',
  description: 'Activity Type',
  order: 'sequence, id',
  access: {
    write: ['base.group_system'],
    create: ['base.group_system'],
    unlink: ['base.group_system'],
  },
  fields: {
    name: char('Name', { required: true, translate: true }),
    summary: char('Default Summary', { translate: true }),
    sequence: integer('Sequence', { default: 10 }),
  },
  lateFields: { create_uid: many2one('Created by', 'res.users') },
};

const states = [
  ['overdue', 'Overdue'],
  ['today', 'Today'],
  ['planned', 'Planned'],
] as const;

const method = (parameters: string, run: Method['run']): Method => ({
  owner: '$class',
  kind: 'record',
  parameters,
  run,
});

export const activity: ModelSpec = {
  name: 'mail.activity',
  description: 'Activity',
  order: 'date_deadline, id',
  recName: 'summary',
  checks: [
    {
      holds: (row) => Boolean(row['res_id']),
      message: 'Activities have to be linked to records with a not null res_id.',
    },
  ],
  // The user's own activities, and activities of models that the user may read.
  rule: (environment) => [
    '|',
    ['user_id', '=', environment.uid],
    ['res_model', 'in', listReadableModels(environment)],
  ],
  fields: {
    res_model_id: many2one('Document Model', 'ir.model', { required: true, ondelete: 'cascade' }),
    res_model: char('Related Document Model', { readonly: true }),
    res_id: many2oneReference('Related Document ID'),
    res_name: char('Document Name', { readonly: true, store: true, compute: nameRecord }),
    activity_type_id: many2one('Activity Type', 'mail.activity.type', { ondelete: 'restrict' }),
    summary: char('Summary'),
    note: html('Note'),
    date_deadline: date('Due Date', { required: true, default: today }),
    user_id: many2one('Assigned to', 'res.users', {
      required: true,
      default: (environment) => environment.uid,
    }),
    state: selection('State', states, { readonly: true, compute: compareDeadline }),
  },
  beforeCreate: addModel,
  methods: {
    action_done: method('', (call) => finish(call)),
    action_feedback: method('feedback=False, attachment_ids=None', (call) => finish(call)),
  },
};

const toDo = 'mail.mail_activity_data_todo';

/** A method of models with a chatter. Returns the recordset of the new activities. */
export const scheduleActivity: Method = {
  owner: 'MailActivityMixin',
  kind: 'record',
  parameters: "act_type_xmlid='', date_deadline=None, summary='', note='', **act_values",
  run: (call) => {
    const { environment, model } = call;
    const { act_type_xmlid, date_deadline, ...values } = call.values;
    const [type] = environment.store.table('mail.activity.type').where('xml_id', act_type_xmlid || toDo);
    const ids = listRows(call).map(({ id }) =>
      createRow(environment, environment.model('mail.activity'), {
        activity_type_id: (type?.['id'] as number | undefined) ?? false,
        ...values,
        date_deadline: date_deadline || today(environment),
        res_model: model.name,
        res_id: id as number,
      }),
    );
    return showRecordset(environment, 'mail.activity', ids);
  },
};

/** An activity gives its model by the id of the record in ir.model, or by name. */
function addModel({ store }: Environment, values: JsonObject): JsonObject {
  const models = store.table('ir.model');
  const res_model_id =
    values['res_model_id'] || models.where('model', values['res_model'] ?? null)[0]?.['id'];
  if (!res_model_id) return values;
  const res_model = store.get('ir.model', res_model_id as number)?.['model'] ?? false;
  return { ...values, res_model_id, res_model };
}

function nameRecord(environment: Environment, row: Row): Json {
  const model = environment.models.get(String(row['res_model']));
  const record = model && environment.store.get(model.name, row['res_id'] as number);
  return record ? nameRow(environment, model, record) : null;
}

function today({ now }: Environment): string {
  return now.slice(0, 10);
}

function compareDeadline(environment: Environment, row: Row): string {
  const [deadline, day] = [String(row['date_deadline']), today(environment)];
  if (deadline === day) return 'today';
  return deadline < day ? 'overdue' : 'planned';
}

/** Posts what was done to the record of each activity, deletes the activities, and returns the first message posted. */
function finish(call: Call): Json {
  const { environment, model, values } = call;
  const rows = listRows(call);
  const posted = rows.map(({ res_model, res_id = null, activity_type_id, summary = null }) => {
    const type = environment.store.get('mail.activity.type', activity_type_id as number)?.['name'] ?? null;
    const title = [type, summary].filter((text) => text !== null).join(': ');
    const feedback = values['feedback'] ? `<p>${String(values['feedback'])}</p>` : '';
    const body = `<p>${title} done</p>${feedback}`;
    return runMethod(environment, String(res_model), [res_id], 'message_post', {
      body,
      body_is_html: true,
    });
  });
  const ids = rows.map(({ id }) => id as number);
  unlinkRows(environment, model, ids);
  return posted.flat()[0] ?? false;
}
