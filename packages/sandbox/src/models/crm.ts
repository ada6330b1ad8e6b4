/** The sales pipeline: tags, stages and leads. */
import type { JsonObject } from '../json/value.ts';
import {
  boolean,
  char,
  date,
  float,
  html,
  integer,
  many2many,
  many2one,
  monetary,
  properties,
  reference,
  selection,
} from '../orm/field.ts';
import { listIds } from '../orm/methods/record-methods.ts';
import type { Call, Environment, ModelSpec } from '../orm/model.ts';
import { searchIds } from '../orm/search.ts';
import { writeRows } from '../orm/write.ts';
import { chatterFields, chatterMethods } from './chatter.ts';

const managers = ['sales_team.group_sale_manager', 'sales_team.group_sale_salesman'];

export const tag: ModelSpec = {
  name: 'crm.tag',
  description: 'CRM Tag',
  access: { read: managers, write: managers, create: managers, unlink: managers },
  unique: [{ fields: ['name'], message: 'Tag name already exists!' }],
  fields: {
    name: char('Tag Name', { required: true, translate: true }),
    color: integer('Color', { default: 5 }),
  },
};

export const team: ModelSpec = {
  name: 'crm.team',
  description: 'Sales Team',
  order: 'sequence ASC, create_date DESC, id DESC',
  access: { write: managers, create: managers, unlink: managers },
  fields: {
    name: char('Sales Team', { required: true, translate: true }),
    sequence: integer('Sequence', { default: 10 }),
    active: boolean('Active', { default: true }),
    company_id: many2one('Company', 'res.company'),
    user_id: many2one('Team Leader', 'res.users'),
    invoiced_target: float('Invoicing Target', { unrounded: true }),
  },
};

export const stage: ModelSpec = {
  name: 'crm.stage',
  description: 'CRM Stages',
  order: 'sequence, name, id',
  fields: {
    name: char('Stage Name', { required: true }),
    sequence: integer('Sequence', { default: 1 }),
    is_won: boolean('Is Won Stage?'),
  },
};

const types = [
  ['lead', 'Lead'],
  ['opportunity', 'Opportunity'],
] as const;

const priorities = [
  ['0', 'Low'],
  ['1', 'Medium'],
  ['2', 'High'],
  ['3', 'Very High'],
] as const;

export const lead: ModelSpec = {
  name: 'crm.lead',
  description: 'Lead/Opportunity',
  order: 'priority desc, id desc',
  access: { read: managers, write: managers, create: managers, unlink: managers },
  fields: {
    name: char('Opportunity', { required: true }),
    type: selection('Type', types, { required: true, default: 'opportunity' }),
    active: boolean('Active', { default: true }),
    description: html('Notes'),
    probability: float('Probability'),
    expected_revenue: monetary('Expected Revenue'),
    date_deadline: date('Expected Closing'),
    tag_ids: many2many('Tags', 'crm.tag'),
    stage_id: many2one('Stage', 'crm.stage', { ondelete: 'restrict', default: 1 }),
    priority: selection('Priority', priorities, { default: '0' }),
    partner_id: many2one('Customer', 'res.partner'),
    lead_properties: properties('Properties'),
    x_source_ref: reference('Source'),
  },
  lateFields: chatterFields,
  beforeWrite: completeWon,
  methods: {
    ...chatterMethods,
    action_set_lost: {
      owner: 'Lead',
      kind: 'record',
      parameters: '**additional_values',
      run: (call) => changeLeads(call, { active: false, probability: 0, ...call.values }),
    },
    action_set_won: {
      owner: 'Lead',
      kind: 'record',
      parameters: '',
      run: (call) => {
        const { environment } = call;
        const [stage_id = false] = searchIds(environment, environment.model('crm.stage'), [
          ['is_won', '=', true],
        ]);
        changeLeads(call, { active: true, stage_id, probability: 100 });
        return true;
      },
    },
  },
};

/** Completes a lead that is moved to a won stage. */
function completeWon({ store }: Environment, values: JsonObject): JsonObject {
  const stage = store.get('crm.stage', values['stage_id'] as number);
  return stage?.['is_won'] ? { ...values, probability: 100 } : values;
}

function changeLeads(call: Call, values: JsonObject): undefined {
  writeRows(call.environment, call.model, listIds(call), values);
}
