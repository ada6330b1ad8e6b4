/** The sales pipeline: tags, stages and leads. */
import {
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
import type { ModelSpec } from '../orm/model.ts';
import { postMessage } from './post-message.ts';

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

export const stage: ModelSpec = {
  name: 'crm.stage',
  description: 'CRM Stages',
  order: 'sequence, name, id',
  fields: { name: char('Stage Name', { required: true }), sequence: integer('Sequence', { default: 1 }) },
};

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
    description: html('Notes'),
    probability: float('Probability'),
    expected_revenue: monetary('Expected Revenue'),
    date_deadline: date('Expected Closing'),
    tag_ids: many2many('Tags', 'crm.tag'),
    stage_id: many2one('Stage', 'crm.stage', { ondelete: 'restrict', default: 1 }),
    priority: selection('Priority', priorities, { default: '0' }),
    partner_id: many2one('Customer', 'res.partner'),
    lead_properties: properties('Properties'),
    source_ref: reference('Source'),
  },
  methods: { message_post: postMessage },
};
